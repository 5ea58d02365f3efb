"""Searching, sorting and set functions of the array API."""

from __future__ import annotations

from typing import Any, NamedTuple

from keyway import _C
from keyway.array_api._axes import reduced
from keyway.array_api._data_types import promoted

__all__ = [
    "argmax", "argmin", "argsort", "nonzero", "searchsorted", "sort", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "where",
]  # fmt: skip


class UniqueAllResult(NamedTuple):
    """Distinct values, where each is first, for each element the number of its value, and how often each is there."""

    values: _C.Tensor
    indices: _C.Tensor
    inverse_indices: _C.Tensor
    counts: _C.Tensor


class UniqueCountsResult(NamedTuple):
    """Distinct values, and how often each is there."""

    values: _C.Tensor
    counts: _C.Tensor


class UniqueInverseResult(NamedTuple):
    """Distinct values, and for each element the number of its value."""

    values: _C.Tensor
    inverse_indices: _C.Tensor


def argmax(x: _C.Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> _C.Tensor:
    """Where the first of the largest elements is, along an axis or in flat order."""
    return reduced(x, axis, keepdims, lambda rows: rows.argmax(-1))


def argmin(x: _C.Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> _C.Tensor:
    """Where the first of the smallest elements is, along an axis or in flat order."""
    return reduced(x, axis, keepdims, lambda rows: rows.argmin(-1))


def nonzero(x: _C.Tensor, /) -> tuple[_C.Tensor, ...]:
    """The indices of the elements that are not 0: one array a dimension."""
    if x.ndim == 0:
        raise _C.ValueError("nonzero(): an array without dimensions has no indices")
    return tuple(_C.nonzero(x).unbind(1))


def argsort(x: _C.Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> _C.Tensor:
    """The indices that sort the array along an axis; equal elements stay in their order."""
    return _C.argsort(x, stable=True, dim=axis, descending=descending)


def sort(x: _C.Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> _C.Tensor:
    """The array sorted along an axis; equal elements stay in their order."""
    return _C.sort(x, stable=True, dim=axis, descending=descending)[0]


def searchsorted(x1: _C.Tensor, x2: _C.Tensor, /, *, side: str = "left",
                 sorter: _C.Tensor | None = None) -> _C.Tensor:  # fmt: skip
    """How many elements of x1, which is sorted or is by `sorter`, are less than each of x2; with side "right", less or
    equal."""
    if side not in ("left", "right"):
        raise _C.ValueError(f"searchsorted(): argument 'side' must be 'left' or 'right', not '{side}'")
    if x1.ndim != 1:
        raise _C.ValueError(f"searchsorted(): x1 must have one dimension, not {x1.ndim}")
    x1, x2 = promoted(x1, x2)
    x1 = x1 if sorter is None else x1.index_select(0, sorter)
    wanted = x2.reshape(-1)
    # All are sorted together; of equal ones those come first that are not to be counted, or are.
    parts = [wanted, x1] if side == "left" else [x1, wanted]
    start = 0 if side == "left" else x1.numel()
    order = _C.argsort(_C.cat(parts), stable=True, dim=0)
    is_wanted = order.ge(start).logical_and(order.lt(start + wanted.numel()))
    counts = is_wanted.logical_not().to(dtype=_C.int64).cumsum(0)
    positions = order.masked_select(is_wanted).sub(start)
    return _C.zeros_like(positions).scatter(0, positions, counts.masked_select(is_wanted)).reshape(x2.shape)


def where(condition: _C.Tensor, x1: Any, x2: Any, /) -> _C.Tensor:
    """The elements of x1 where the condition holds, else those of x2, in the dtype that both are promoted to."""
    x1, x2 = promoted(x1, x2)
    return _C.where(condition, x1, x2)


def _stable_order(flat: _C.Tensor) -> _C.Tensor:
    """The indices that sort a vector; complex numbers by their real parts, and those that are equal by the others."""
    if not flat.is_complex():
        return _C.argsort(flat, stable=True, dim=0)
    by_imaginary = _C.argsort(flat.imag, stable=True, dim=0)
    return by_imaginary.index_select(0, _C.argsort(flat.real.index_select(0, by_imaginary), stable=True, dim=0))


def unique_all(x: _C.Tensor, /) -> UniqueAllResult:
    """What UniqueAllResult says, in the order of the values; NaNs are distinct."""
    flat = x.reshape(-1)
    order = _stable_order(flat)
    values = flat.index_select(0, order)
    size = flat.numel()
    is_first = _C.ones(size, dtype=_C.bool, device=x.device)
    if size > 1:
        is_first.narrow(0, 1, size - 1).copy_(values.narrow(0, 1, size - 1).ne(values.narrow(0, 0, size - 1)))
    starts = _C.nonzero(is_first).reshape(-1)
    ends = _C.cat([starts.narrow(0, 1, starts.numel() - 1), starts.new_full((1,), size)]) if size else starts
    numbers = is_first.to(dtype=_C.int64).cumsum(0).sub(1)
    inverse = _C.zeros_like(order).scatter(0, order, numbers).reshape(x.shape)
    return UniqueAllResult(values.index_select(0, starts), order.index_select(0, starts), inverse, ends.sub(starts))


def unique_counts(x: _C.Tensor, /) -> UniqueCountsResult:
    """What UniqueCountsResult says, in the order of the values; NaNs are distinct."""
    every = unique_all(x)
    return UniqueCountsResult(every.values, every.counts)


def unique_inverse(x: _C.Tensor, /) -> UniqueInverseResult:
    """What UniqueInverseResult says, in the order of the values; NaNs are distinct."""
    every = unique_all(x)
    return UniqueInverseResult(every.values, every.inverse_indices)


def unique_values(x: _C.Tensor, /) -> _C.Tensor:
    """The distinct values in their order; NaNs are distinct."""
    return unique_all(x).values
