"""Modules without initial values."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from keyway import _C
from keyway.nn.modules.module import Module

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """A module of this class and these arguments whose parameters and buffers are not initialised, on the device that
    `device` says. Raises keyway.Error for what is no Module class, or takes no `device`."""
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise _C.Error(f"skip_init: Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise _C.Error(f"skip_init: {module_cls.__name__} takes no argument 'device'")
    device = kwargs.pop("device", "cpu")
    kwargs["device"] = "meta"
    return module_cls(*args, **kwargs).to_empty(device=device)
