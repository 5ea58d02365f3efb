"""Linear algebra of the array API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from keyway import _C
from keyway._functions.products import tensordot as keyway_tensordot
from keyway.array_api._axes import axis_number
from keyway.array_api._data_types import promoted

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: _C.Tensor, x2: _C.Tensor, /) -> _C.Tensor:
    """Products of matrices, or of vectors, in the dtype that both are promoted to."""
    return _C.matmul(*promoted(x1, x2))


def matrix_transpose(x: _C.Tensor, /) -> _C.Tensor:
    """The last two dimensions swapped: a view."""
    if x.ndim < 2:
        raise _C.ValueError(f"matrix_transpose(): needs at least 2 dimensions, not {x.ndim}")
    return x.transpose(-2, -1)


def tensordot(x1: _C.Tensor, x2: _C.Tensor, /, *,
              axes: Union[int, tuple[Sequence[int], Sequence[int]]] = 2) -> _C.Tensor:  # fmt: skip
    """Sums of products over pairs of axes: the last of x1 with the first of x2 if `axes` is their number."""
    x1, x2 = promoted(x1, x2)
    return keyway_tensordot(x1, x2, axes)


def vecdot(x1: _C.Tensor, x2: _C.Tensor, /, *, axis: int = -1) -> _C.Tensor:
    """Products summed along an axis, the first conjugated, the others broadcast."""
    if x1.shape[axis_number(axis, x1.ndim)] != x2.shape[axis_number(axis, x2.ndim)]:
        raise _C.ValueError(f"vecdot(): shapes {list(x1.shape)} and {list(x2.shape)} differ along axis {axis}")
    x1, x2 = promoted(x1, x2)
    products = x1.conj().mul(x2)
    return products.sum(axis if axis < 0 else axis - max(x1.ndim, x2.ndim), dtype=products.dtype)
