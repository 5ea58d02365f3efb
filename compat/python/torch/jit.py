"""TorchScript does not exist here: what it would compile stays Python's, and what needs it is an AttributeError."""

from collections import namedtuple
from typing import Final

from keyway.futures import fork, wait

__all__ = ["Attribute", "Final", "annotate", "export", "fork", "ignore", "is_scripting", "is_tracing", "script", "script_method", "unused", "wait"]

Attribute = namedtuple("Attribute", ["value", "type"])


def script(obj=None, *args, **kwargs):
    """The function, class or module itself."""
    return obj


def script_method(fn):
    return fn


def ignore(fn=None, **kwargs):
    return fn if callable(fn) else ignore


unused = export = _overload = _overload_method = ignore


def is_scripting():
    return False


def is_tracing():
    return False


def annotate(the_type, the_value):
    return the_value


def __getattr__(name):
    raise AttributeError(f"module 'torch.jit' is that of Keyway, which has no TorchScript, and so no '{name}'")
