"""Manipulation functions of the array API, and take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from keyway import _C
from keyway.array_api._axes import axis_number, axis_numbers
from keyway.array_api._data_types import promoted


def broadcast_to(x: _C.Tensor, /, shape: tuple[int, ...]) -> _C.Tensor:
    """The array repeated to a shape: a view, not to be written to."""
    return x.expand(shape)


def broadcast_arrays(*arrays: _C.Tensor) -> list[_C.Tensor]:
    """Arrays repeated to the shape that all of them broadcast to: views, not to be written to."""
    return list(_C.broadcast_tensors(list(arrays))) if arrays else []


def concat(arrays: Sequence[_C.Tensor], /, *, axis: int | None = 0) -> _C.Tensor:
    """Arrays one after the other along an axis; flat ones if that is None."""
    arrays = promoted(*arrays)
    if axis is None:
        return _C.cat([array.reshape(-1) for array in arrays])
    return _C.cat(arrays, axis)


def expand_dims(x: _C.Tensor, /, *, axis: int = 0) -> _C.Tensor:
    """A view with a dimension of size 1 at `axis`."""
    return x.unsqueeze(axis)


def flip(x: _C.Tensor, /, *, axis: int | Sequence[int] | None = None) -> _C.Tensor:
    """The elements in reverse order along axes, along all for None."""
    return _C.flip(x, axis_numbers(axis, x.ndim))


def moveaxis(x: _C.Tensor, source: int | Sequence[int], destination: int | Sequence[int], /) -> _C.Tensor:
    """A view with axes at other positions; the others stay in their order."""
    return x.movedim(source, destination)  # type: ignore[arg-type]


def permute_dims(x: _C.Tensor, /, axes: tuple[int, ...]) -> _C.Tensor:
    """A view with the dimensions in the order of `axes`."""
    return x.permute(axes)


def repeat(x: _C.Tensor, repeats: Union[int, _C.Tensor], /, *, axis: int | None = None) -> _C.Tensor:
    """Each element `repeats` times, along an axis or flat; an array of `repeats` says it for each index of the axis."""
    if isinstance(repeats, _C.Tensor):
        repeats = repeats.to(dtype=_C.int64)
    return x.repeat_interleave(repeats, axis)


def reshape(x: _C.Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> _C.Tensor:
    """The elements in another shape: a view where that can be, if `copy` is not True; False raises where it cannot."""
    if copy is False:
        return x.view(shape)
    return (x.clone() if copy else x).reshape(shape)


def roll(x: _C.Tensor, /, shift: int | Sequence[int], *, axis: int | Sequence[int] | None = None) -> _C.Tensor:
    """The elements moved along axes, those beyond the end to the beginning; in flat order for None."""
    if axis is None:
        return _C.roll(x, shift)
    axes = [axis] if isinstance(axis, int) else list(axis)
    shifts = [shift] * len(axes) if isinstance(shift, int) else list(shift)
    return _C.roll(x, shifts, axes)


def squeeze(x: _C.Tensor, /, axis: int | Sequence[int]) -> _C.Tensor:
    """A view without dimensions of size 1. Raises keyway.ValueError for those of another size."""
    axes = axis_numbers(axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            raise _C.ValueError(f"squeeze(): axis {a} has the size {x.shape[a]}, not 1")
    return x.squeeze(axes)


def stack(arrays: Sequence[_C.Tensor], /, *, axis: int = 0) -> _C.Tensor:
    """Arrays of one shape along a new axis."""
    return _C.stack(promoted(*arrays), axis)


def tile(x: _C.Tensor, repetitions: tuple[int, ...], /) -> _C.Tensor:
    """The array several times over along each axis."""
    return x.tile(repetitions)


def unstack(x: _C.Tensor, /, *, axis: int = 0) -> tuple[_C.Tensor, ...]:
    """The arrays along an axis: views."""
    return tuple(x.unbind(axis))


def take(x: _C.Tensor, indices: _C.Tensor, /, *, axis: int | None = None) -> _C.Tensor:
    """The slices at `indices` along an axis; of the only one for None."""
    if axis is None:
        if x.ndim != 1:
            raise _C.ValueError(f"take(): needs argument 'axis' for {x.ndim} dimensions")
        axis = 0
    size = x.shape[axis_number(axis, x.ndim)]
    return x.index_select(axis, _C.where(indices.lt(0), indices.add(size), indices))
