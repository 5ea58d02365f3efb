"""Linear algebra under PyTorch's names: products, norms, decompositions, equations. On the CPU decompositions are
LAPACK's."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

from keyway import _C
from keyway._C import (
    LinAlgError, Tensor, linalg_cholesky as cholesky, linalg_cholesky_ex as cholesky_ex, linalg_cross as cross,
    linalg_det as det, linalg_eig as eig, linalg_eigh as eigh, linalg_eigvals as eigvals, linalg_eigvalsh as eigvalsh,
    linalg_householder_product as householder_product, linalg_inv as inv, linalg_inv_ex as inv_ex,
    linalg_lstsq as lstsq, linalg_lu as lu, linalg_lu_factor as lu_factor, linalg_lu_factor_ex as lu_factor_ex,
    linalg_lu_solve as lu_solve, linalg_matrix_exp as matrix_exp, linalg_matrix_rank as matrix_rank,
    linalg_pinv as pinv, linalg_qr as qr, linalg_slogdet as slogdet, linalg_solve as solve,
    linalg_solve_ex as solve_ex, linalg_solve_triangular as solve_triangular, linalg_svd as svd,
    linalg_svdvals as svdvals, matmul,
)  # fmt: skip
from keyway._tensor.methods import checked, put
from keyway._functions.products import matrix_power, with_dims_of_one

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "householder_product", "inv", "inv_ex", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve",
    "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet",
    "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot",
    "vector_norm",
]


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the elements of matrices whose column is their row plus `offset`."""
    return checked(A, "diagonal", "A").diagonal(offset, dim1, dim2)


def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of two or more matrices, in the order that needs the fewest multiplications; the first and the last
    may be vectors."""
    return _C.linalg_multi_dot(list(tensors), out=out)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Matrices [..., n, N] of the powers from 0 to N - 1 of the numbers of vectors [..., n]; N is by default n.

    Raises keyway.ValueError for N below 2, and keyway.NotImplementedError for flags.
    """
    if checked(x, "vander", "x").dtype is _C.bool:
        raise _C.DtypeError("vander(): there is none of bool")
    vectors = x.unsqueeze(0) if x.dim() == 0 else x
    count = vectors.size(-1) if N is None else N
    if count < 2:
        raise _C.ValueError(f"vander(): N is at least 2, not {count}")
    numbers = vectors.to(dtype=_C.int64) if not (x.is_floating_point() or x.is_complex()) else vectors
    rows = numbers.unsqueeze(-1).expand([*vectors.shape, count - 1])
    return _C.cat([_C.ones_like(rows.narrow(-1, 0, 1)), rows.cumprod(-1)], -1)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Products of vectors along a dimension, the first of them conjugated; the others broadcast."""
    if checked(x, "vecdot", "x").dtype is not checked(y, "vecdot", "y").dtype:
        raise _C.TypeError(f"vecdot(): both vectors have one dtype, not {x.dtype} and {y.dtype}")
    products = x.conj_physical().mul(y)
    return _C.sum(products, dim, dtype=products.dtype, out=out)


def vector_norm(
    x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: _C.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The norm of vectors over dimensions, or of all elements as one; `ord` is any number, inf and -inf too."""
    return _C.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype, out=out)


def _greatest(sizes: Tensor, dim: int, keepdim: bool) -> Tensor:
    return sizes.sum(dim, keepdim) if sizes.size(dim) == 0 else sizes.amax(dim, keepdim)


def matrix_norm(
    A: Tensor, ord: float | str = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *,
    dtype: _C.dtype | None = None, out: Tensor | None = None,
) -> Tensor:
    """The norm of matrices: "fro"; "nuc", the sum of the singular values; the greatest (2) or least (-2) of these; the
    greatest (1, inf) or least (-1, -inf) sum over columns (1) or rows (inf). The greatest of none is 0.

    Raises keyway.ValueError for the least of none.
    """
    rank = checked(A, "matrix_norm", "A").dim()
    if len(dim) == 2 and not all(-max(rank, 1) <= d < max(rank, 1) for d in dim):
        raise _C.IndexError(f"matrix_norm(): dim {tuple(dim)} is out of range for {rank} dimensions")
    if rank < 2 or len(dim) != 2 or dim[0] % rank == dim[1] % rank:
        raise _C.ValueError(f"matrix_norm(): dim names two dimensions of a matrix, not {tuple(dim)} of {rank}")
    if ord == "fro":
        return _C.linalg_vector_norm(A, 2, list(dim), keepdim, dtype=dtype, out=out)
    if ord in ("nuc", 2, -2):
        values = svdvals((A if dtype is None else A.to(dtype=dtype)).movedim(list(dim), [-2, -1]))
        if ord == -2 and values.size(-1) == 0:
            raise _C.ValueError(f"matrix_norm(): the norm {ord} is the least singular value, but matrices of "
                                f"{A.size(dim[0])} x {A.size(dim[1])} have none")
        result = values.amin(-1) if ord == -2 else _greatest(values, -1, False) if ord == 2 else values.sum(-1)
        return put(with_dims_of_one(result, dim, rank) if keepdim else result, out, "matrix_norm")
    if ord not in (1, -1, math.inf, -math.inf):
        raise _C.ValueError(f"matrix_norm(): ord is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, not {ord!r}")
    added, compared = (dim[0], dim[1]) if abs(ord) == 1 else (dim[1], dim[0])
    if ord < 0 and A.size(compared) == 0:
        what = "columns" if ord == -1 else "rows"
        raise _C.ValueError(f"matrix_norm(): the norm {ord} is the least sum over {what}, but matrices of "
                            f"{A.size(dim[0])} x {A.size(dim[1])} have none")
    sums = _C.linalg_vector_norm(A, 1, added, True, dtype=dtype)
    extreme = sums.amin(compared, True) if ord < 0 else _greatest(sums, compared, True)
    return put(extreme if keepdim else extreme.squeeze(list(dim)), out, "matrix_norm")


def cond(A: Tensor, p: float | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The condition numbers of matrices: the `p`-norm times that of the inverse, inf where there is none. `p` is what
    matrix_norm takes, 2 by default: the ratio of the greatest singular value to the least; -2 is that of the least.
    Those of matrices without elements are 0.

    Raises keyway.ValueError for matrices that have elements and are not square, unless p is 2 or -2.
    """
    if checked(A, "cond", "A").dim() < 2:
        raise _C.ValueError(f"cond(): A has {A.dim()} dimensions, but matrices have two or more")
    if p in (None, 2, -2):
        values = svdvals(A)
        if values.size(-1) == 0:
            return put(values.new_zeros(A.shape[:-2]), out, "cond")
        greatest, least = values.select(-1, 0), values.select(-1, -1)
        return put(least / greatest if p == -2 else greatest / least, out, "cond")
    if p in (1, -1, math.inf, -math.inf) and A.numel() == 0:
        return put(matrix_norm(A), out, "cond")
    if A.size(-2) != A.size(-1):
        raise _C.ValueError(f"cond(): matrices are square for p {p!r}, not {A.size(-2)} x {A.size(-1)}")
    order: Any = p
    inverse, info = inv_ex(A)
    product = matrix_norm(A, order) * matrix_norm(inverse, order)
    return put(product.masked_fill(info != 0, math.inf), out, "cond")


def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of what `tensordot(A, x, ind)` does: its first sizes are the last of A, its last the first `ind`.

    Raises keyway.ValueError where the products of both parts of A's sizes differ, or `ind` is not positive.
    """
    if ind <= 0:
        raise _C.ValueError(f"tensorinv(): ind is positive, not {ind}")
    sizes = list(checked(A, "tensorinv", "A").shape)
    rows, columns = math.prod(sizes[:ind]), math.prod(sizes[ind:])
    if rows != columns:
        raise _C.ValueError(f"tensorinv(): sizes {sizes[:ind]} and {sizes[ind:]} have the products {rows} and {columns}")
    return put(inv(A.reshape(rows, columns)).reshape(sizes[ind:] + sizes[:ind]), out, "tensorinv")


def tensorsolve(
    A: Tensor, B: Tensor, dims: Sequence[int] | None = None, *, out: Tensor | None = None
) -> Tensor:  # fmt: skip
    """The X for which `tensordot(A, X, X.dim())` is B; dimensions `dims` of A are moved to its end before.

    Raises keyway.ValueError where B has not as many elements as X.
    """
    moved = checked(A, "tensorsolve", "A") if dims is None else A.movedim(list(dims), list(range(-len(dims), 0)))
    sizes = list(moved.shape[checked(B, "tensorsolve", "B").dim() :])
    count = math.prod(sizes)
    if B.numel() != count:
        raise _C.ValueError(f"tensorsolve(): B has {B.numel()} elements, but the last sizes of A, {sizes}, are {count}")
    return put(solve(moved.reshape(count, count), B.reshape(count)).reshape(sizes), out, "tensorsolve")


def norm(
    A: Tensor, ord: float | str | None = None, dim: Any = None, keepdim: bool = False, *,
    out: Tensor | None = None, dtype: _C.dtype | None = None,
) -> Tensor:
    """The norm of vectors or matrices: of vectors if `dim` is one dimension, or absent for a tensor of one; of matrices
    if it is two, or absent for a tensor of two. Without `ord` the 2-norm of all of them."""
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype, out=out)
    all_dims = range(checked(A, "norm", "A").dim())
    dims = [operator.index(dim)] if isinstance(dim, SupportsIndex) else list(all_dims if dim is None else dim)
    if len(dims) == 2:
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype, out=out)
    if len(dims) != 1 or isinstance(ord, str):
        raise _C.ValueError(f"norm(): ord {ord!r} is not there for {len(dims)} dimensions")
    return vector_norm(A, ord, dims, keepdim, dtype=dtype, out=out)
