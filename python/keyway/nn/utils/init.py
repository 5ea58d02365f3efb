"""skip_init: a module without the work of drawing its parameters."""

from __future__ import annotations

import inspect
from typing import Any, Callable


def skip_init(module_cls: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``module_cls(*args, **kwargs)`` on the keyword `device` ("cpu" by default), its parameters and buffers without
    values. Raises RuntimeError for a class that takes no `device`."""
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError(f"skip_init: {getattr(module_cls, '__name__', module_cls)} takes no argument 'device'")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
