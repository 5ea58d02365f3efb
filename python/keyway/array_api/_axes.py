"""Axes: numbers of dimensions as callers give them, and reductions over several of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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


def reduced(
    x: _C.Tensor, axis: Axis, keepdims: bool, reduce: Callable[[_C.Tensor], _C.Tensor]
) -> _C.Tensor:  # fmt: skip
    """What `reduce` makes of a tensor that has the elements of some axes in its last dimension; these are kept with the
    size 1 if `keepdims`."""
    numbers = axis_numbers(axis, x.ndim)
    kept = tuple(a for a in range(x.ndim) if a not in numbers)
    rows = x.permute(kept + numbers).reshape(*(x.shape[a] for a in kept), math.prod(x.shape[a] for a in numbers))
    result = reduce(rows)
    return result.reshape(tuple(1 if a in numbers else n for a, n in enumerate(x.shape))) if keepdims else result
