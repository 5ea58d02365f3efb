"""What classes of the extension have that is written in Python."""

from __future__ import annotations

from types import FunctionType


def attach(to: type, /, **attributes: object) -> None:
    """Gives a class methods and attributes, which the extension's stubs declare.

    A function `_name` becomes `name`; without a text of its own it has that of the function `name` beside it.
    """
    for name, attribute in attributes.items():
        if isinstance(attribute, FunctionType) and attribute.__name__ == f"_{name}":
            attribute.__name__ = attribute.__qualname__ = name
            attribute.__doc__ = attribute.__doc__ or attribute.__globals__[name].__doc__
        setattr(to, name, attribute)
