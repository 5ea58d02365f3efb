"""What classes of the extension have that is written in Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType


def attach(to: type, /, *methods: Callable[..., object], **attributes: object) -> None:
    """Gives a class methods and attributes, which the extension's stubs declare. Methods have their functions' names.

    A function `_name` becomes `name`; without a text of its own it has that of the function `name` beside it. Raises
    TypeError where neither has one, unless Python leaves out all texts (-OO).
    """
    attributes |= {method.__name__.removeprefix("_"): method for method in methods}
    for name, attribute in attributes.items():
        if isinstance(attribute, FunctionType) and attribute.__name__ == f"_{name}":
            attribute.__name__ = attribute.__qualname__ = name
            attribute.__doc__ = attribute.__doc__ or getattr(attribute.__globals__.get(name), "__doc__", None)
            if attribute.__doc__ is None and sys.flags.optimize < 2:
                raise TypeError(f"{to.__name__}.{name} has no docstring: write one in _{name} of "
                                f"{attribute.__module__}, or in a function {name} there")
        setattr(to, name, attribute)
