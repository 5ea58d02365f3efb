"""What views are of, in memory of its own: functions that are named after a view and end in `_copy`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor
from keyway._tensor.methods import checked, stored


def _kept(viewed: Tensor, out: Tensor | None, function: str) -> Tensor:
    """What a view looks at, in memory of its own or of `out`."""
    return stored(viewed.clone(memory_format=_C.contiguous_format), out, function)


def _copy_of(view: str) -> Any:
    name = f"{view}_copy"

    def copy(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
        viewed: Tensor = getattr(checked(input, name), view)(*args, **kwargs)
        return _kept(viewed, out, name)

    copy.__name__ = copy.__qualname__ = name
    copy.__doc__ = f"What Tensor.{view} is a view of, in memory of its own. Takes and refuses what that does."
    return copy


def _copies_of(view: str) -> Any:
    name = f"{view}_copy"

    def copy(
        input: Tensor, *args: Any, out: Sequence[Tensor] | None = None, **kwargs: Any
    ) -> tuple[Tensor, ...] | None:
        viewed: Sequence[Tensor] = getattr(checked(input, name), view)(*args, **kwargs)
        copied = tuple(part.clone(memory_format=_C.contiguous_format) for part in viewed)
        if out is None:
            return copied
        if len(out) != len(copied):
            raise _C.ValueError(f"{name}(): argument 'out' has {len(out)} tensors, but must have {len(copied)}")
        for part, target in zip(copied, out):
            stored(part, target, name)
        return None

    copy.__name__ = copy.__qualname__ = name
    copy.__doc__ = (f"What the tensors of Tensor.{view} are views of, each in memory of its own; nothing is returned "
                    "if\ntensors for them are given as `out`. Takes and refuses what Tensor." + view + " does.")
    return copy


as_strided_copy = _copy_of("as_strided")
detach_copy = _copy_of("detach")
diagonal_copy = _copy_of("diagonal")
permute_copy = _copy_of("permute")
select_copy = _copy_of("select")
squeeze_copy = _copy_of("squeeze")
t_copy = _copy_of("t")
transpose_copy = _copy_of("transpose")
unfold_copy = _copy_of("unfold")
unsqueeze_copy = _copy_of("unsqueeze")
narrow_copy = _copy_of("narrow")
split_copy = _copies_of("split")
split_with_sizes_copy = _copies_of("split_with_sizes")
unbind_copy = _copies_of("unbind")


def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tensor in memory of its own."""
    return _kept(checked(input, "alias_copy"), out, "alias_copy")


def expand_copy(
    input: Tensor, size: Sequence[int], *, implicit: bool = False, out: Tensor | None = None
) -> Tensor:
    """The tensor repeated to a size that it broadcasts to, in memory of its own. `implicit` changes nothing."""
    return _kept(checked(input, "expand_copy").expand(size, implicit=implicit), out, "expand_copy")


def slice_copy(
    input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1, *,
    out: Tensor | None = None,
) -> Tensor:
    """The elements from `start` to `end`, which may count from the end, in memory of their own: every `step`th along a
    dimension."""
    return _kept(checked(input, "slice_copy").slice(dim, start, end, step), out, "slice_copy")


def view_copy(
    input: Tensor, size: Sequence[int] | None = None, *, dtype: _C.dtype | None = None, out: Tensor | None = None
) -> Tensor:
    """The elements in order in another shape, or their bytes as numbers of another dtype, in memory of their own.

    Raises keyway.TypeError unless one of size and dtype is given, and what Tensor.reshape and Tensor.view raise.
    """
    given = checked(input, "view_copy")
    if isinstance(size, _C.dtype):
        size, dtype = None, size
    if size is not None and dtype is None:
        return _kept(given.reshape(size), out, "view_copy")
    if dtype is not None and size is None:
        return _kept(given.view(dtype), out, "view_copy")
    raise _C.TypeError("view_copy(): a size or a dtype is wanted, one of both")


def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex numbers whose parts are the last dimension, in memory of their own."""
    return _kept(_C.view_as_complex(checked(input, "view_as_complex_copy")), out, "view_as_complex_copy")


def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The parts of complex numbers as a last dimension of 2, in memory of their own."""
    return _kept(_C.view_as_real(checked(input, "view_as_real_copy")), out, "view_as_real_copy")


attach(Tensor, narrow_copy)
