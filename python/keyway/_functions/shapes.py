"""Functions of shapes in PyTorch's forms: several tensors as arguments or as a list, and other names."""

from __future__ import annotations

import builtins
import itertools
import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex, Union

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor
from keyway._tensor.methods import checked


def list_of(tensors: tuple[Any, ...], function: str) -> list[Tensor]:
    """Tensors that are given one by one, or as one sequence."""
    given = list(tensors[0]) if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else list(tensors)
    for tensor in given:
        if not isinstance(tensor, Tensor):
            raise _C.TypeError(f"{function}(): tensors are wanted, not {type(tensor).__name__}")
    return given


def _one_or_all(tensors: tuple[Any, ...], function: Any) -> Any:
    """What a function of one tensor makes of one, or a tuple of what it makes of several."""
    given = list_of(tensors, function.__name__)
    made = tuple(function(tensor) for tensor in given)
    return made[0] if len(tensors) == 1 and isinstance(tensors[0], Tensor) else made


def _row(tensor: Tensor) -> Tensor:
    return tensor.unsqueeze(0) if tensor.dim() == 0 else tensor


def _matrix(tensor: Tensor) -> Tensor:
    return _row(tensor).unsqueeze(0) if tensor.dim() < 2 else tensor


def _cube(tensor: Tensor) -> Tensor:
    return _matrix(tensor).unsqueeze(2) if tensor.dim() < 3 else tensor


def atleast_1d(*tensors: Any) -> Any:
    """A tensor with a dimension if it has none; of several, or a sequence of them, a tuple."""
    return _one_or_all(tensors, _row)


def atleast_2d(*tensors: Any) -> Any:
    """A tensor with two dimensions at least, the new ones in front; of several, or a sequence of them, a tuple."""
    return _one_or_all(tensors, _matrix)


def atleast_3d(*tensors: Any) -> Any:
    """A tensor with three dimensions at least: a vector is a row of a matrix, a matrix is one deep; of several, or a
    sequence of them, a tuple."""
    return _one_or_all(tensors, _cube)


def broadcast_shapes(*shapes: int | Sequence[int]) -> _C.Size:
    """The shape that all shapes broadcast to. Raises keyway.ValueError if there is none."""
    known = [_C.empty(shape, device="meta") for shape in shapes]
    return _C.broadcast_tensors(known)[0].shape if known else _C.Size([])


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of the tensors, expanded to the shape that all of them broadcast to."""
    return tuple(_C.broadcast_tensors(list_of(tensors, "broadcast_tensors")))


def cartesian_prod(*tensors: Any) -> Tensor:
    """All rows that have an element of each vector, the first one changing slowest."""
    return _C.cartesian_prod(list_of(tensors, "cartesian_prod"))


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinates of a grid from those of its axes, views, one an axis; "xy" exchanges the first two dimensions."""
    return tuple(_C.meshgrid(list_of(tensors, "meshgrid"), indexing="ij" if indexing is None else indexing))


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of `r` elements of a vector, in order, one a row."""
    if checked(input, "combinations").dim() != 1:
        raise _C.ValueError(f"combinations(): needs a vector, not {input.dim()} dimensions")
    if r < 0:
        raise _C.ValueError(f"combinations(): r must not be negative, not {r}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(input.numel()), r))
    if r == 0:
        return input.new_empty(0)
    indices = _C.tensor(rows, dtype=_C.int64, device=input.device).reshape(-1, r)
    return input.index_select(0, indices.reshape(-1)).reshape(indices.shape)


def block_diag(*tensors: Any) -> Tensor:
    """A matrix with matrices along its diagonal and 0 elsewhere; vectors are rows."""
    blocks = [_matrix(tensor) for tensor in list_of(tensors, "block_diag")]
    if not blocks:
        return _C.empty(1, 0)
    for i, block in enumerate(blocks):
        if block.dim() != 2:
            raise _C.ValueError(f"block_diag(): tensor {i} has {block.dim()} dimensions, but must have 2 at most")
    width = builtins.sum(block.size(1) for block in blocks)
    rows, before = [], 0
    for block in blocks:
        rows.append(_C.constant_pad_nd(block, [before, width - before - block.size(1)]))
        before += block.size(1)
    return _C.cat(rows)


def _cut_of(function: str, indices_or_sections: Any, others: dict[str, Any]) -> Any:
    """Where a tensor is cut, which may be given under one of several names."""
    given = [value for value in (indices_or_sections, *others.values()) if value is not None]
    unknown = set(others) - {"indices", "sections", "tensor_indices_or_sections"}
    if len(given) != 1 or unknown:
        more = "".join(f"; not {name!r}" for name in unknown)
        raise _C.TypeError(f"{function}(): indices or sections are wanted, once{more}")
    cut = given[0]
    if isinstance(cut, Tensor):
        return cut.tolist()
    if isinstance(cut, bool) or not isinstance(cut, (SupportsIndex, Sequence)) or isinstance(cut, str):
        raise _C.TypeError(f"{function}(): indices or sections must be int or a sequence of them, not "
                           f"{type(cut).__name__}")
    return operator.index(cut) if isinstance(cut, SupportsIndex) else cut


def tensor_split(
    input: Tensor, indices_or_sections: Union[int, Sequence[int], Tensor, None] = None, dim: int = 0, **others: Any
) -> tuple[Tensor, ...]:
    """Views of a tensor cut along a dimension: into so many parts, or before each of the indices. Either may be given
    by its own name too: `sections`, `indices`."""
    dim = others.pop("axis", dim)
    cut = _cut_of("tensor_split", indices_or_sections, others)
    parts: tuple[Tensor, ...] = _C.tensor_split(input, cut, dim)
    return tuple(parts)


def split(tensor: Tensor, split_size_or_sections: Union[int, Sequence[int]], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of a tensor cut along a dimension: into parts of one size, of which the last may be smaller, or of the sizes
    that a list holds."""
    return tuple(_C.split(checked(tensor, "split", "tensor"), split_size_or_sections, dim))


def _check_dims(input: Tensor, dims: int, function: str) -> None:
    if input.dim() < dims:
        raise _C.ValueError(f"{function}(): needs {dims} dimensions, not {input.dim()}")


def _check_even(input: Tensor, cut: Any, dim: int, function: str) -> None:
    if isinstance(cut, int) and (cut < 1 or input.size(dim) % cut != 0):
        raise _C.ValueError(f"{function}(): dimension {dim} of size {input.size(dim)} has no {cut} equal parts")


def _split_along(name: str, dims: int, dim: int) -> Any:
    def split(
        input: Tensor, indices_or_sections: Union[int, Sequence[int], None] = None, **others: Any
    ) -> tuple[Tensor, ...]:
        cut = _cut_of(name, indices_or_sections, others)
        _check_dims(checked(input, name), dims, name)
        along = min(dim, input.dim() - 1)
        _check_even(input, cut, along, name)
        return tensor_split(input, cut, along)

    split.__name__ = split.__qualname__ = name
    split.__doc__ = (f"Views of a tensor cut along dimension {dim}" + (", vectors along their only one" if dims == 1
                     else "") + ": into equal parts, or before each of the indices. Either may be given by its own name\n"
                     "too: `sections`, `indices`.")
    return split


hsplit = _split_along("hsplit", 1, 1)
vsplit = _split_along("vsplit", 2, 0)
dsplit = _split_along("dsplit", 3, 2)


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """transpose by another name."""
    return checked(input, "swapaxes").transpose(axis0, axis1)


def _swapaxes_(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """transpose_ by another name."""
    return self.transpose_(axis0, axis1)


def _swapdims_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """transpose_ by another name."""
    return self.transpose_(dim0, dim1)


attach(Tensor, tensor_split, hsplit, vsplit, dsplit, swapaxes, _swapaxes_, _swapdims_)
