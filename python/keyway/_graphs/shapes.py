"""Dimensions with names: which sizes a program is captured with, and tensors of these sizes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from keyway import _C, arange
from keyway._C import Tensor, _graph
from keyway._transforms.trees import children, leaves_of

Sizes = dict[str, int]
Formulas = dict[int, str]  # of dimensions


def dynamic_formulas(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
                     dynamic_shapes: Any) -> list[Formulas]:
    """Of each tensor among the arguments, the formulas of its dimensions that may have other sizes."""
    names = list(inspect.signature(function).bind(*args, **kwargs).arguments)[: len(args)]
    names += [f"argument {i}" for i in range(len(names), len(args))] + list(kwargs)
    values = [*args, *kwargs.values()]
    if dynamic_shapes is None:
        specs: list[Any] = [None] * len(values)
    elif isinstance(dynamic_shapes, Mapping):
        unknown = set(dynamic_shapes) - set(names)
        if unknown:
            raise _C.ValueError(f"export: dynamic_shapes has {unknown.pop()!r}, and the arguments are {', '.join(names)}")
        specs = [dynamic_shapes.get(name) for name in names]
    else:
        specs = list(dynamic_shapes)
        if len(specs) != len(values):
            raise _C.ValueError(f"export: dynamic_shapes has {len(specs)} items, and there are {len(values)} arguments")
    formulas = []
    for name, value, spec in zip(names, values, specs):
        formulas += _formulas_in(name, value, spec)
    return formulas


def _formulas_in(name: str, value: Any, spec: Any) -> list[Formulas]:
    if isinstance(value, Tensor):
        return [_formulas_of(name, value, spec)]
    parts = children(value)
    if parts is None or spec is None:
        if spec is not None:
            raise _C.TypeError(f"export: dynamic_shapes has an item for {name}, which is no tensor")
        return [{} for leaf in leaves_of(value) if isinstance(leaf, Tensor)]
    if isinstance(value, dict):
        specs = [spec.get(key) for key in value] if isinstance(spec, Mapping) else [None] * (len(parts) + 1)
    else:
        specs = list(spec) if isinstance(spec, (list, tuple)) else [None] * (len(parts) + 1)
    if len(specs) != len(parts):
        raise _C.ValueError(f"export: the item of dynamic_shapes for {name} is not nested as that is")
    return [found for part, its_spec in zip(parts, specs) for found in _formulas_in(f"a part of {name}", part, its_spec)]


def _formulas_of(name: str, tensor: Tensor, spec: Any) -> Formulas:
    items = spec.items() if isinstance(spec, Mapping) else enumerate(spec or ())
    formulas = {}
    for dim, formula in items:
        if formula is None:
            continue
        if not isinstance(dim, int) or not -tensor.dim() <= dim < tensor.dim():
            raise _C.ValueError(f"export: dynamic_shapes has dimension {dim} of {name}, which has {tensor.dim()}")
        if not isinstance(formula, str):
            raise _C.TypeError(f"export: in dynamic_shapes, dimension {dim} of {name} has no name but {formula!r}")
        formulas[dim % tensor.dim()] = formula
    return formulas


def example_sizes(named: list[tuple[str, Tensor]], formulas: list[Formulas]) -> Sizes:
    """The sizes that the dimensions have in these arguments. Raises keyway.ValueError if one has two."""
    sizes: Sizes = {}
    for (name, tensor), its_formulas in zip(named, formulas):
        for dim, formula in its_formulas.items():
            solved = _graph.solve(formula, tensor.size(dim), sizes)
            if solved is None:
                known = ", ".join(f"{other} = {size}" for other, size in sizes.items())
                raise _C.ValueError(f"export: size {dim} of {name or 'an argument'} is {tensor.size(dim)}, which is not "
                                    f"{formula!r}{' with ' + known if known else ' for one name'}")
            sizes = solved
    return sizes


_OFFSETS = (0, 1, 3, 6, 12, 18, 27, 40, 9, 22, 33, 46)
_STEPS = (1, 5, 7, 11)  # through the offsets, so that the sizes of one dimension tell nothing of those of others


def sizes_to_capture(example: Sizes, above: bool) -> list[Sizes]:
    """Sizes above or below those of the example, wide apart, odd and even; none if there are too few."""
    count = min(4 + 2 * len(example), len(_OFFSETS))
    columns = {}
    for number, (name, size) in enumerate(example.items()):
        if above:
            sizes = [max(size, 4) + 1 + offset for offset in _OFFSETS]
        else:
            sizes = [2 + round((size - 3) * i / (len(_OFFSETS) - 1)) for i in range(len(_OFFSETS))]
        order = [sizes[(i * _STEPS[number % 4] + number) % len(sizes)] for i in range(count)]
        if len(set(order)) < count or min(order) < 1:
            return []
        columns[name] = order
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def limits(example: Sizes, above: bool) -> tuple[Sizes, Sizes]:
    """The lowest and the highest sizes to look for differences at."""
    if above:
        return {name: max(size, 4) + 1 for name, size in example.items()}, {n: max(s, 4) + 160 for n, s in example.items()}
    return {name: 2 for name in example}, {name: size - 1 for name, size in example.items()}


def resized(tensor: Tensor, formulas: Formulas, sizes: Sizes) -> Tensor:
    """A copy of the tensor, with its elements once more where it is longer."""
    copy = tensor.detach().clone()
    for dim, formula in formulas.items():
        size, was = _graph.evaluate(formula, sizes), tensor.size(dim)
        if was == 0:
            copy = copy.new_zeros([*copy.shape[:dim], size, *copy.shape[dim + 1 :]])
        else:
            copy = copy.index_select(dim, arange(size, device=tensor.device) % was)
    return copy
