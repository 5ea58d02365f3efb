"""Linear algebra of the array API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from keyway import _C
from keyway._C import matmul
from keyway.array_api._axes import axis_number, axis_numbers

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matrix_transpose(x: _C.Tensor, /) -> _C.Tensor:
    """The last two dimensions swapped: a view."""
    if x.ndim < 2:
        raise _C.ValueError(f"matrix_transpose(): needs at least 2 dimensions, not {x.ndim}")
    return x.transpose(-2, -1)


def tensordot(x1: _C.Tensor, x2: _C.Tensor, /, *,
              axes: Union[int, tuple[Sequence[int], Sequence[int]]] = 2) -> _C.Tensor:  # fmt: skip
    """Sums of products over pairs of axes: the last of x1 with the first of x2 if `axes` is their number."""
    if isinstance(axes, int):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise _C.ValueError(f"tensordot(): arrays of {x1.ndim} and {x2.ndim} dimensions have no {axes} in common")
        axes = list(range(x1.ndim - axes, x1.ndim)), list(range(axes))
    mine, its = axis_numbers(tuple(axes[0]), x1.ndim), axis_numbers(tuple(axes[1]), x2.ndim)
    if [x1.shape[a] for a in mine] != [x2.shape[a] for a in its]:
        raise _C.ValueError(f"tensordot(): shapes {list(x1.shape)} and {list(x2.shape)} differ along the axes {axes}")
    rows = [a for a in range(x1.ndim) if a not in mine]
    columns = [a for a in range(x2.ndim) if a not in its]
    count = 1
    for a in mine:
        count *= x1.shape[a]
    height, width = [x1.shape[a] for a in rows], [x2.shape[a] for a in columns]
    left = x1.permute(rows + list(mine)).reshape((_product(height), count))
    right = x2.permute(list(its) + columns).reshape((count, _product(width)))
    return matmul(left, right).reshape(height + width)


def _product(sizes: Sequence[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product


def vecdot(x1: _C.Tensor, x2: _C.Tensor, /, *, axis: int = -1) -> _C.Tensor:
    """Products summed along an axis, the others broadcast. Raises keyway.NotImplementedError for complex x1."""
    if x1.is_complex():
        raise _C.NotImplementedError("vecdot(): there is no operator conj for complex arrays")
    if x1.shape[axis_number(axis, x1.ndim)] != x2.shape[axis_number(axis, x2.ndim)]:
        raise _C.ValueError(f"vecdot(): shapes {list(x1.shape)} and {list(x2.shape)} differ along axis {axis}")
    products = x1.mul(x2)
    return products.sum(axis if axis < 0 else axis - max(x1.ndim, x2.ndim), dtype=products.dtype)
