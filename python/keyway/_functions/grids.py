"""Points of a grid: coordinates of numbered ones, and how a function that is known at them changes."""

from __future__ import annotations

import itertools
import numbers
import operator
from collections.abc import Sequence
from typing import Any, Union

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor
from keyway._tensor.methods import checked
from keyway._functions.numbers import listed


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1, out: Tensor | None = None) -> Tensor:
    """The indices of the first `size` elements that are not zero, one row each, int64; rows that are missing are
    `fill_value`. Raises keyway.ValueError for `size` below 0."""
    if size < 0:
        raise _C.ValueError(f"nonzero_static(): argument 'size' is not negative, but {size}")
    found = _C.nonzero(checked(input, "nonzero_static"))[:size]
    missing = _C.full([size - found.size(0), found.size(1)], fill_value, dtype=_C.int64, device=input.device)
    return _C.cat([found, missing], out=out)


def _nonzero_static(self: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    return nonzero_static(self, size=size, fill_value=fill_value)


def unravel_index(indices: Tensor, shape: Union[int, Sequence[int]]) -> tuple[Tensor, ...]:
    """The coordinates of numbered elements of a tensor of `shape`: for each dimension a tensor of int64 of the shape of
    `indices`.

    Raises keyway.TypeError unless `indices` are integers, and keyway.ValueError for sizes below 0.
    """
    given = checked(indices, "unravel_index", "indices")
    if given.is_floating_point() or given.is_complex() or given.dtype == _C.bool:
        raise _C.TypeError(f"unravel_index(): indices are integers, not {given.dtype}")
    sizes = listed(shape)
    if any(size < 0 for size in sizes):
        raise _C.ValueError(f"unravel_index(): sizes are at least 0, not {sizes}")
    steps = list(itertools.accumulate(reversed(sizes[1:]), operator.mul, initial=1))
    wide = given.to(dtype=_C.int64)
    return tuple(wide.floor_divide(step).remainder(size) for step, size in zip(reversed(steps), sizes))


def gradient(
    input: Tensor, *, spacing: Any = 1, dim: Union[int, Sequence[int], None] = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """The partial derivatives along `dim` (by default all dimensions) of a function whose values at the points of a
    grid are the elements, of the shape of `input`.

    Inside, by second-order differences of both neighbours; at the edges by those of the first `edge_order` + 1 points.
    `spacing` is the distance of neighbours, or a list with one for each dimension, or of vectors of coordinates.
    Raises keyway.ValueError for an `edge_order` other than 1 and 2, and where a dimension has too few points for it.
    """
    values = checked(input, "gradient")
    dims = list(range(values.dim())) if dim is None else [_wrapped(d, values.dim()) for d in listed(dim)]
    if len(set(dims)) < len(dims):
        raise _C.ValueError(f"gradient(): dim names a dimension twice: {dims}")
    if edge_order not in (1, 2):
        raise _C.ValueError(f"gradient(): edge_order is 1 or 2, not {edge_order}")
    for d in dims:
        if values.size(d) <= edge_order:
            raise _C.ValueError(
                f"gradient(): dimension {d} has {values.size(d)} points, but edge_order {edge_order} takes more"
            )
    return tuple(_derivative(values, d, space, edge_order) for d, space in zip(dims, _spacings(spacing, len(dims))))


def _wrapped(dim: int, dims: int) -> int:
    if not -dims <= dim < dims:
        raise _C.IndexError(f"gradient(): dim is in [{-dims}, {dims}), not {dim}")
    return dim % dims


def _spacings(spacing: Any, count: int) -> list[Any]:
    """One for each dimension: a number, or a vector of coordinates."""
    if spacing is None or isinstance(spacing, numbers.Number):
        return [1 if spacing is None else spacing] * count
    if isinstance(spacing, Tensor):
        raise _C.TypeError("gradient(): spacing is a number or a list, not a tensor")
    spacings = list(spacing)
    if len(spacings) != count:
        raise _C.ValueError(f"gradient(): spacing has {len(spacings)} entries for {count} dimensions")
    return spacings


def _derivative(values: Tensor, dim: int, spacing: Any, edge_order: int) -> Tensor:
    size = values.size(dim)
    if isinstance(spacing, Tensor) and (spacing.dim() != 1 or spacing.size(0) != size):
        raise _C.ValueError(
            f"gradient(): spacing has shape {list(spacing.shape)}, but dimension {dim} has {size} coordinates"
        )

    def at(start: int, count: int = 1) -> Tensor:
        return values.narrow(dim, start, count)

    def apart(start: int, count: int = 1) -> Any:
        """How far points from `start` on are from the next ones."""
        if not isinstance(spacing, Tensor):
            return spacing
        return spacing.diff().narrow(0, start, count).reshape([-1] + [1] * (values.dim() - 1 - dim))

    n = size - 2
    inner = [_inside(at(0, n), at(1, n), at(2, n), apart(0, n), apart(1, n))] if n > 0 else []
    if edge_order == 1:
        first, last = (at(1) - at(0)) / apart(0), (at(n + 1) - at(n)) / apart(n)
    else:
        first = _at_edge(at(0), at(1), at(2), apart(0), apart(1))
        last = -_at_edge(at(n + 1), at(n), at(n - 1), apart(n), apart(n - 1))
    return _C.cat([first, *inner, last], dim)


def _inside(before: Tensor, here: Tensor, behind: Tensor, left: Any, right: Any) -> Tensor:
    """The slope in the middle of the parabola through three points that are `left` and `right` apart."""
    slope: Tensor
    if isinstance(left, Tensor):
        far = behind * (left / (right * (left + right))) - before * (right / (left * (left + right)))
        slope = far + here * ((right - left) / (left * right))
    else:
        slope = (behind - before) / left / 2
    return slope


def _at_edge(here: Tensor, second: Tensor, third: Tensor, near: Any, far: Any) -> Tensor:
    """The slope at the first point of the parabola through three."""
    both = near + far
    outer = here * ((near + both) / (near * both)) + third * (near / (far * both))
    slope: Tensor = second * (both / (near * far)) - outer
    return slope


attach(Tensor, _nonzero_static)
