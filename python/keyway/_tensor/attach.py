"""What classes of the extension have that is written in Python."""

from __future__ import annotations


def attach(to: type, /, **attributes: object) -> None:
    """Gives a class methods and attributes. The extension's stubs declare them."""
    for name, attribute in attributes.items():
        setattr(to, name, attribute)
