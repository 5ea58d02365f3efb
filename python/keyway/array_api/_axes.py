"""Axes: numbers of dimensions as callers give them, and reductions over several of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from keyway import _C

Axis = Union[int, Sequence[int], None]


def axis_number(axis: int, rank: int) -> int:
    """Counts `axis` from the front. Raises keyway.IndexError for one that is not there."""
    if not -rank <= axis < rank:
        raise _C.IndexError(f"axis {axis} is out of range for an array of {rank} dimensions")
    return axis % rank


def axis_numbers(axis: Axis, rank: int) -> tuple[int, ...]:
    """All axes for None. Raises keyway.ValueError for one that is named twice."""
    if axis is None:
        return tuple(range(rank))
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    numbers = tuple(axis_number(a, rank) for a in given)
    if len(set(numbers)) != len(numbers):
        raise _C.ValueError(f"an axis is named twice in {given}")
    return numbers


def axes_last(x: _C.Tensor, axis: Axis) -> tuple[_C.Tensor, tuple[int, ...]]:
    """A tensor with the elements of some axes in its last dimension, and the shape with these axes kept as 1."""
    numbers = axis_numbers(axis, x.ndim)
    kept = tuple(a for a in range(x.ndim) if a not in numbers)
    count = 1
    for a in numbers:
        count *= x.shape[a]
    rows = x.permute(kept + numbers).reshape(tuple(x.shape[a] for a in kept) + (count,))
    return rows, tuple(1 if a in numbers else n for a, n in enumerate(x.shape))


def with_axes(result: _C.Tensor, sizes: tuple[int, ...], keepdims: bool) -> _C.Tensor:
    """The result of a reduction of axes_last's rows."""
    return result.reshape(sizes) if keepdims else result
