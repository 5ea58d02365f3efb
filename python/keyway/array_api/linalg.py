"""The linear algebra extension of the array API: matrices are the last two axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from keyway import _C, linalg as _linalg
from keyway.array_api._axes import Axis, axis_numbers
from keyway.array_api._data_types import promoted
from keyway.array_api._linalg import matmul, matrix_transpose, tensordot, vecdot
from keyway.array_api._statistics import sum_dtype

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip


def cholesky(x: _C.Tensor, /, *, upper: bool = False) -> _C.Tensor:
    """The triangular factors of Hermitian positive-definite matrices."""
    return _linalg.cholesky(x, upper=upper)


def cross(x1: _C.Tensor, x2: _C.Tensor, /, *, axis: int = -1) -> _C.Tensor:
    """The cross products along an axis of size 3; the others broadcast."""
    for x in (x1, x2):
        if x.shape[axis_numbers(axis, x.ndim)[0]] != 3:
            raise _C.ValueError(f"cross(): axis {axis} of shape {list(x.shape)} must have the size 3")
    dim = axis if axis < 0 else axis - max(x1.ndim, x2.ndim)
    return _linalg.cross(*_C.broadcast_tensors(promoted(x1, x2)), dim=dim)


def det(x: _C.Tensor, /) -> _C.Tensor:
    """Determinants of matrices."""
    return _linalg.det(x)


def diagonal(x: _C.Tensor, /, *, offset: int = 0) -> _C.Tensor:
    """A view of the elements of matrices whose column is their row plus `offset`."""
    return _linalg.diagonal(x, offset=offset)


def eigh(x: _C.Tensor, /) -> Any:
    """Eigenvalues of Hermitian matrices in ascending order, and eigenvectors as columns."""
    return _linalg.eigh(x)


def eigvalsh(x: _C.Tensor, /) -> _C.Tensor:
    """Eigenvalues of Hermitian matrices in ascending order."""
    return _linalg.eigvalsh(x)


def inv(x: _C.Tensor, /) -> _C.Tensor:
    """Inverses of matrices."""
    return _linalg.inv(x)


def matrix_norm(x: _C.Tensor, /, *, keepdims: bool = False, ord: Union[float, str, None] = "fro") -> _C.Tensor:
    """Norms of matrices: keyway.linalg.matrix_norm says which."""
    return _linalg.matrix_norm(x, "fro" if ord is None else ord, keepdim=keepdims)


def matrix_power(x: _C.Tensor, n: int, /) -> _C.Tensor:
    """Products of matrices with themselves, or of their inverses."""
    return _linalg.matrix_power(x, n)


def matrix_rank(x: _C.Tensor, /, *, rtol: Union[float, _C.Tensor, None] = None) -> _C.Tensor:
    """How many singular values of matrices are above `rtol` times the greatest."""
    return _linalg.matrix_rank(x, rtol=rtol)


def outer(x1: _C.Tensor, x2: _C.Tensor, /) -> _C.Tensor:
    """The products of all pairs of elements of two vectors."""
    return _C.outer(*promoted(x1, x2))


def pinv(x: _C.Tensor, /, *, rtol: Union[float, _C.Tensor, None] = None) -> _C.Tensor:
    """Pseudoinverses of matrices, for which singular values up to `rtol` times the greatest are 0."""
    return _linalg.pinv(x, rtol=rtol)


def qr(x: _C.Tensor, /, *, mode: str = "reduced") -> Any:
    """Matrices as products of one with orthonormal columns and an upper triangle."""
    return _linalg.qr(x, mode)


def slogdet(x: _C.Tensor, /) -> Any:
    """Determinants of matrices as their signs and the logarithms of their sizes."""
    return _linalg.slogdet(x)


def solve(x1: _C.Tensor, x2: _C.Tensor, /) -> _C.Tensor:
    """Solutions X of x1 X = x2; x2 is a vector for all matrices if it has one axis, else matrices."""
    x1, x2 = promoted(x1, x2)
    if x2.ndim == 1:
        return _linalg.solve(x1, x2.unsqueeze(-1)).squeeze(-1)
    # keyway.linalg.solve takes for vectors what has one axis less than the matrices.
    return _linalg.solve(x1, x2.expand(*x1.shape[: max(x1.ndim - x2.ndim, 0)], *x2.shape))


def svd(x: _C.Tensor, /, *, full_matrices: bool = True) -> Any:
    """Matrices as products of orthonormal columns, singular values and orthonormal rows."""
    return _linalg.svd(x, full_matrices)


def svdvals(x: _C.Tensor, /) -> _C.Tensor:
    """Singular values of matrices in descending order."""
    return _linalg.svdvals(x)


def trace(x: _C.Tensor, /, *, offset: int = 0, dtype: _C.dtype | None = None) -> _C.Tensor:
    """Sums of the diagonals of matrices; of integers as int64 or uint64, unless `dtype` says something else."""
    return diagonal(x, offset=offset).sum(-1, dtype=sum_dtype(x, dtype))


def vector_norm(
    x: _C.Tensor, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2
) -> _C.Tensor:  # fmt: skip
    """Norms of vectors over axes, or of all elements."""
    axes: Sequence[int] | None = None if axis is None else axis_numbers(axis, x.ndim)
    return _linalg.vector_norm(x, ord, axes, keepdims)
