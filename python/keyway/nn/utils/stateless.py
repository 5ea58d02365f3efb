"""Calls of modules with other parameters and buffers than their own."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Mapping

import keyway
from keyway._C import Tensor
from keyway.nn.modules.module import Module
from keyway.nn.utils.parametrize import is_parametrized

_Location = tuple[dict[str, Any], str]


def functional_call(
    module: Module, parameters_and_buffers: Mapping[str, Tensor], args: Any = None,
    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True, strict: bool = False,
) -> Any:
    """module(*args, **kwargs), or module(args) for what is no tuple, with the tensors of `parameters_and_buffers` in
    the place of its parameters and buffers of these full names. The module is as before then.

    With `tie_weights` a tensor stands for all members that are the same as the one it is given for. Names that the
    module does not have are passed over; with `strict` they, and those that are not given, are a keyway.Error. That of
    a parametrized tensor is a keyway.NotImplementedError.
    """
    locations = _locations(module)
    if strict:
        _check_names(module, locations, parameters_and_buffers)
    chosen: list[tuple[_Location, Tensor]] = []
    for name, tensor in parameters_and_buffers.items():
        if name not in locations:
            _refuse_parametrized(module, name)
            continue
        members, leaf = locations[name]
        own = members[leaf]
        tied = [location for other, location in locations.items()
                if tie_weights and other not in parameters_and_buffers and location[0][location[1]] is own]
        chosen += [(location, tensor) for location in ((members, leaf), *tied)]
    with _exchanged(chosen):
        positional = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*positional, **(kwargs or {}))


def _locations(module: Module) -> dict[str, _Location]:
    """Where each member is, by its full name."""
    locations: dict[str, _Location] = {}
    for prefix, owner in module.named_modules(remove_duplicate=False):
        for members in (owner._parameters, owner._buffers):
            for leaf, member in members.items():
                if member is not None:
                    locations[f"{prefix}.{leaf}" if prefix else leaf] = (members, leaf)
    return locations


def _refuse_parametrized(module: Module, name: str) -> None:
    """Raises keyway.NotImplementedError for the name of a tensor that is computed from others."""
    path, _, leaf = name.rpartition(".")
    owner = dict(module.named_modules(remove_duplicate=False)).get(path)
    if owner is not None and is_parametrized(owner, leaf):
        raise keyway.NotImplementedError(f"functional_call: {name!r} is computed by its parametrization: give the "
                                         f"tensors that it is computed from")


def _check_names(module: Module, locations: dict[str, _Location], given: Mapping[str, Tensor]) -> None:
    texts = []
    for what, names in (("Unexpected", set(given) - set(locations)), ("Missing", set(locations) - set(given))):
        if names:
            texts.append(f"{what} key(s): " + ", ".join(map(repr, sorted(names))) + ".")
    if texts:
        raise keyway.Error(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(texts))


@contextlib.contextmanager
def _exchanged(chosen: list[tuple[_Location, Tensor]]) -> Iterator[None]:
    before = [(members, leaf, members[leaf]) for (members, leaf), _ in chosen]
    try:
        for (members, leaf), tensor in chosen:
            members[leaf] = tensor
        yield
    finally:
        for members, leaf, tensor in before:
            members[leaf] = tensor
