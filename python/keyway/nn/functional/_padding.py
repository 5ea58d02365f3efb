"""Padding: a border around a tensor."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from keyway import _C
from keyway._C import Tensor


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Adds to (or, if negative, removes from) both ends of the last dimensions: `pad` is (before, after) of the last
    one, then of the one before it, and so on.

    `mode` is "constant" (elements of `value`, or 0), "reflect" (mirrored at the edge, which is not repeated),
    "replicate" (the edge again) or "circular" (from the other end). The latter three pad the last one to three
    dimensions of inputs that have two more, or but for "circular", one.
    """
    borders = list(pad)
    if len(borders) % 2 != 0 or len(borders) > 2 * input.dim():
        raise _C.ValueError(f"pad: a padding of {len(borders)} numbers does not fit an input of {input.dim()} "
                         "dimensions: it has two for each padded dimension")
    if mode != "constant":
        if mode not in _SOURCES:
            raise _C.NotImplementedError(f"pad: unrecognised padding mode '{mode}'")
        if value is not None and value != 0:
            raise _C.ValueError(f"pad: mode '{mode}' takes no value")
        _check_spatial(input, borders, mode)
    for i in range(0, len(borders), 2):
        dim = input.dim() - 1 - i // 2
        before, after = borders[i], borders[i + 1]
        if mode == "constant":
            input = _pad_constant(input, dim, before, after, 0 if value is None else value)
        elif before != 0 or after != 0:
            input = input.index_select(dim, _SOURCES[mode](input, dim, before, after))
    return input if any(borders) else input.clone()


def _check_spatial(input: Tensor, borders: list[int], mode: str) -> None:
    dims = len(borders) // 2
    more = (2,) if mode == "circular" else (1, 2)
    if not 1 <= dims <= 3 or input.dim() - dims not in more:
        raise _C.NotImplementedError(f"pad: mode '{mode}' pads the last one to three dimensions of an input that has "
                                     f"{' or '.join(map(str, more))} more, not {dims} of {input.dim()}")


def _pad_constant(input: Tensor, dim: int, before: int, after: int, value: Any) -> Tensor:
    size = input.size(dim)
    if size + before + after < 0:
        raise _C.ValueError(f"pad: dimension {dim} of size {size} cannot have {before} and {after} elements more")
    first, last = max(0, -before), size - max(0, -after)
    if first != 0 or last != size:
        input = input.narrow(dim, min(first, size), max(0, last - first))

    def border(count: int) -> Tensor:
        return input.new_full([count if i == dim else n for i, n in enumerate(input.shape)], value)

    parts = [border(before)] if before > 0 else []
    parts.append(input)
    if after > 0:
        parts.append(border(after))
    return _C.cat(parts, dim) if len(parts) > 1 else input


def _positions(input: Tensor, dim: int, before: int, after: int) -> Tensor:
    return _C.arange(-before, input.size(dim) + after, device=input.device)


def _reflected(input: Tensor, dim: int, before: int, after: int) -> Tensor:
    size = input.size(dim)
    if before >= size or after >= size:
        raise _C.ValueError(f"pad: a reflection of dimension {dim}, size {size}, is shorter than it, not {before} and "
                         f"{after}")
    at = _positions(input, dim, before, after).abs()
    return at.sub(at.sub(size - 1).clamp(min=0), alpha=2)


def _replicated(input: Tensor, dim: int, before: int, after: int) -> Tensor:
    if input.size(dim) == 0:
        raise _C.ValueError(f"pad: dimension {dim} has no edge to repeat: it is empty")
    return _positions(input, dim, before, after).clamp(0, input.size(dim) - 1)


def _wrapped(input: Tensor, dim: int, before: int, after: int) -> Tensor:
    size = input.size(dim)
    if before > size or after > size:
        raise _C.ValueError(f"pad: dimension {dim}, size {size}, is not wrapped around more than once: {before} and "
                         f"{after}")
    at = _positions(input, dim, before, after).add(size)
    return at.sub(_C.floor_divide(at, _C.scalar_tensor(size, dtype=_C.int64)).mul(size))


_SOURCES: dict[str, Callable[[Tensor, int, int, int], Tensor]] = {
    "reflect": _reflected, "replicate": _replicated, "circular": _wrapped
}
