"""Functions of functions: modules called with other parameters than their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import keyway
from keyway._C import Tensor
from keyway.nn.modules.module import Module
from keyway.nn.utils import stateless

__all__ = ["functional_call"]


def functional_call(
    module: Module, parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]], args: Any = None,
    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True, strict: bool = False,
) -> Any:
    """nn.utils.stateless.functional_call, with one dictionary of tensors or several, which have no name in common: that
    is a keyway.ValueError.

    >>> layer = keyway.nn.Linear(1, 1, bias=False)
    >>> keyway.func.functional_call(layer, {"weight": keyway.full((1, 1), 3.0)}, keyway.ones(1)).item()
    3.0
    """
    if isinstance(parameter_and_buffer_dicts, Mapping):
        dicts: list[Mapping[str, Tensor]] = [parameter_and_buffer_dicts]
    else:
        dicts = list(parameter_and_buffer_dicts)
    names = [name for each in dicts for name in each]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise keyway.ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
                                "ambiguous")
    merged = {name: tensor for each in dicts for name, tensor in each.items()}
    return stateless.functional_call(module, merged, args, kwargs, tie_weights=tie_weights, strict=strict)
