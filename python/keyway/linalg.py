"""Linear algebra under PyTorch's names, as far as there are operators: products, and norms without decompositions."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

from keyway import _C
from keyway._C import Tensor, matmul
from keyway._methods import _checked
from keyway._products import matrix_power

__all__ = [
    "cross", "diagonal", "matmul", "matrix_norm", "matrix_power", "multi_dot", "norm", "vander", "vecdot",
    "vector_norm",
]


def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The cross products along a dimension of size 3; the others broadcast."""
    return _C.linalg_cross(input, other, dim=dim, out=out)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the elements of matrices whose column is their row plus `offset`."""
    return _checked(A, "diagonal").diagonal(offset, dim1, dim2)


def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of two or more matrices, in the order that needs the fewest multiplications; the first and the last
    may be vectors."""
    return _C.linalg_multi_dot(list(tensors), out=out)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Matrices [..., n, N] of the powers from 0 to N - 1 of the numbers of vectors [..., n]; N is by default n.

    Raises keyway.ValueError for N below 2, and keyway.NotImplementedError for flags.
    """
    if _checked(x, "vander").dtype is _C.bool:
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
    if _checked(x, "vecdot").dtype is not _checked(y, "vecdot").dtype:
        raise _C.TypeError(f"vecdot(): both vectors have one dtype, not {x.dtype} and {y.dtype}")
    products = x.conj_physical().mul(y)
    return _C.sum(products, dim, dtype=products.dtype, out=out)


def vector_norm(
    x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: _C.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The norm of vectors over dimensions, or of all elements as one; `ord` is any number, inf and -inf too."""
    return _C.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype, out=out)


def matrix_norm(
    A: Tensor, ord: float | str = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *,
    dtype: _C.dtype | None = None, out: Tensor | None = None,
) -> Tensor:
    """The norm of matrices: "fro", or the greatest (1, inf) or least (-1, -inf) sum over columns (1) or rows (inf).

    Raises keyway.NotImplementedError for those that need singular values: 2, -2 and "nuc".
    """
    if len(dim) == 2 and not all(-max(_checked(A, "matrix_norm").dim(), 1) <= d < max(A.dim(), 1) for d in dim):
        raise _C.IndexError(f"matrix_norm(): dim {tuple(dim)} is out of range for {A.dim()} dimensions")
    if _checked(A, "matrix_norm").dim() < 2 or len(dim) != 2 or dim[0] % A.dim() == dim[1] % A.dim():
        raise _C.ValueError(f"matrix_norm(): dim names two dimensions of a matrix, not {tuple(dim)} of {A.dim()}")
    if ord == "fro":
        return _C.linalg_vector_norm(A, 2, list(dim), keepdim, dtype=dtype, out=out)
    if ord not in (1, -1, math.inf, -math.inf):
        raise _C.NotImplementedError(f"matrix_norm(): ord is 'fro', 1, -1, inf or -inf, not {ord!r}")
    added, compared = (dim[0], dim[1]) if abs(ord) == 1 else (dim[1], dim[0])
    sums = _C.linalg_vector_norm(A, 1, added, True, dtype=dtype)
    extreme = (_C.amax if ord > 0 else _C.amin)(sums, compared, True)
    return _put(extreme if keepdim else extreme.squeeze(list(dim)), out)


def _put(result: Tensor, out: Tensor | None) -> Tensor:
    return result if out is None else out.resize_(result.shape).copy_(result)


def norm(
    A: Tensor, ord: float | str | None = None, dim: Any = None, keepdim: bool = False, *,
    out: Tensor | None = None, dtype: _C.dtype | None = None,
) -> Tensor:
    """The norm of vectors or matrices: of vectors if `dim` is one dimension, or absent for a tensor of one; of matrices
    if it is two, or absent for a tensor of two. Without `ord` the 2-norm of all of them."""
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype, out=out)
    all_dims = range(_checked(A, "norm").dim())
    dims = [operator.index(dim)] if isinstance(dim, SupportsIndex) else list(all_dims if dim is None else dim)
    if len(dims) == 2:
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype, out=out)
    if len(dims) != 1 or isinstance(ord, str):
        raise _C.ValueError(f"norm(): ord {ord!r} is not there for {len(dims)} dimensions")
    return vector_norm(A, ord, dims, keepdim, dtype=dtype, out=out)
