"""Calls like a given one, with one argument of another kind: what people pass without thinking about it, right or wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch

Call = tuple[str, list[Any], dict[str, Any]]


def mutated(args: list[Any], kwargs: dict[str, Any]) -> Iterator[Call]:
    """What was changed, positional arguments and keywords of each call. Arguments are not shared with the given ones."""
    for index, value in enumerate(args):
        for what, other in _other_kinds(value):
            yield f"#{index} {what}", [*args[:index], other, *args[index + 1 :]], kwargs
    for name, value in kwargs.items():
        for what, other in _other_kinds(value):
            yield f"{name} {what}", args, {**kwargs, name: other}
    yield "one more argument", [*args, 1], kwargs
    yield "an unknown keyword", args, {**kwargs, "no_such_argument": 1}
    if len(args) > 1:
        yield "one argument less", args[:-1], kwargs


def by_name(args: list[Any], kwargs: dict[str, Any], packet: Any) -> Iterator[Call]:
    """The call with its arguments named as in those overloads of PyTorch's operator that have as many."""
    for overload in packet.overloads():
        names = [argument.name for argument in getattr(packet, overload)._schema.arguments]
        if len(names) >= len(args):
            for first in range(min(2, len(args))):
                yield f"by name as {overload or 'default'}", args[:first], {**dict(zip(names[first:], args[first:])), **kwargs}


def _other_kinds(value: Any) -> list[tuple[str, Any]]:
    for kind, others in _KINDS:
        if type(value) is kind or (kind is torch.Tensor and isinstance(value, kind)):
            return [(what, change(value)) for what, change in others.items() if _applies(change, value)]
    return []


def _applies(change: Callable[[Any], Any], value: Any) -> bool:
    try:
        change(value)
    except Exception:  # there is no such form of this value
        return False
    return True


_KINDS: list[tuple[type, dict[str, Callable[[Any], Any]]]] = [
    (bool, {"as int": int, "as text": str, "None": lambda v: None, "as array number": numpy.bool_}),
    (int, {
        "as float": float, "as bool": bool, "as text": str, "None": lambda v: None, "as array number": numpy.int64,
        "as tensor": torch.tensor, "in a list": lambda v: [v], "complex": complex, "negative": lambda v: -1 - v,
        "huge": lambda v: 2**62, "beyond int64": lambda v: 2**70,
    }),
    (float, {
        "as int": int, "as text": str, "None": lambda v: None, "as array number": numpy.float32, "complex": complex,
        "as tensor": torch.tensor, "nan": lambda v: float("nan"), "inf": lambda v: float("inf"),
    }),
    (complex, {"as text": str, "as tensor": torch.tensor, "real": lambda v: v.real}),
    (str, {"another": lambda v: v + "x", "as int": lambda v: 1, "None": lambda v: None}),
    (list, {
        "as tuple": tuple, "its first item": lambda v: v[0], "empty": lambda v: [], "one item less": lambda v: v[:-1],
        "twice": lambda v: v + v, "None": lambda v: None, "as floats": lambda v: list(map(float, v)),
        "as tensor": lambda v: torch.tensor(v), "as array": lambda v: numpy.array(v),
    }),
    (tuple, {
        "as list": list, "its first item": lambda v: v[0], "empty": lambda v: (), "one item less": lambda v: v[:-1],
        "twice": lambda v: v + v, "None": lambda v: None, "as floats": lambda v: tuple(map(float, v)),
        "as tensor": lambda v: torch.tensor(v),
    }),
    (torch.Tensor, {
        "as int": lambda v: 2, "as float": lambda v: 0.5, "as bool": lambda v: True, "None": lambda v: None,
        "as list": lambda v: v.tolist(), "as array": lambda v: v.detach().numpy().copy(), "as text": lambda v: "a",
        "0-dim": lambda v: v.detach().flatten()[0].clone(), "no elements": lambda v: v.detach()[:0].clone(),
        "one dimension more": lambda v: v.detach().clone().unsqueeze(0), "transposed": lambda v: v.detach().clone().mT,
        "every other": lambda v: v.detach().repeat_interleave(2, -1)[..., ::2],
        "float64": lambda v: v.detach().to(torch.float64, copy=True), "int32": lambda v: v.detach().to(torch.int32, copy=True),
        "uint8": lambda v: v.detach().abs().to(torch.uint8), "bool": lambda v: v.detach().to(torch.bool, copy=True),
        "complex64": lambda v: v.detach().to(torch.complex64, copy=True), "float16": lambda v: v.detach().to(torch.float16, copy=True),
        "nan": lambda v: v.detach().clone().fill_(float("nan")), "channels last": lambda v: v.detach().clone(
            memory_format=torch.channels_last),
    }),
]
