"""Random numbers of examples: each has streams of its own, which follow from a seed and its position, whoever loads it.

keyway's default generators can be bound to a thread. Python's and NumPy's cannot: they are of the process. So the
functions of the modules `random` and `numpy.random` are replaced by ones that look which stream their thread draws from,
and outside of streams do what they did.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import random
import sys
import threading
from typing import Any, Callable

from keyway._C import _Seeded

_installing = threading.Lock()
_replaced: set[str] = set()  # modules


class _Drawing(threading.local):
    """What a thread draws from."""

    stream: Stream | None = None


_drawing = _Drawing()


class Stream:
    """A context in which the thread draws from streams that follow from a seed, a purpose and a position: keyway's
    default generators, `random` and `numpy.random` each from one."""

    def __init__(self, seed: int, purpose: str, position: int) -> None:
        name = f"{seed} {purpose} {position}".encode()
        self.seed = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")
        self._generators: dict[str, Any] = {}
        self._seeded = _Seeded(self.seed)

    def generator(self, module: str) -> Any:
        """The object whose methods stand for the functions of a module: made where the first number is drawn."""
        if module not in self._generators:
            self._generators[module] = _MAKERS[module](self.seed)
        return self._generators[module]

    def __enter__(self) -> Stream:
        _install()
        self._outer = _drawing.stream
        _drawing.stream = self
        self._seeded.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._seeded.__exit__(*exception)
        _drawing.stream = self._outer


def _of_numpy(seed: int) -> Any:
    import numpy

    return numpy.random.RandomState([seed & 0xFFFFFFFF, seed >> 32])


_MAKERS: dict[str, Callable[[int], Any]] = {"random": random.Random, "numpy.random": _of_numpy}
# Functions of NumPy's that are no methods of its hidden generator, by the methods that they call.
_PLAIN = {"seed": "seed", "sample": "random_sample", "ranf": "random_sample"}


def _install() -> None:
    """Replaces the functions of those modules that are imported, once; `import numpy` alone may leave numpy.random to
    its first use."""
    if len(_replaced) == len(_MAKERS):
        return
    with _installing:
        for name in _MAKERS:
            if name not in _replaced and name.partition(".")[0] in sys.modules:
                _replace(importlib.import_module(name), name)
                _replaced.add(name)


def _replace(module: Any, name: str) -> None:
    """Replaces a module's functions that draw from its hidden generator."""
    hidden = module.random.__self__
    for function_name, function in list(vars(module).items()):
        if callable(function) and getattr(function, "__self__", None) is hidden:
            setattr(module, function_name, _by_thread(function, name, function_name, function.__name__))
        elif name == "numpy.random" and function_name in _PLAIN:
            setattr(module, function_name, _by_thread(function, name, function_name, _PLAIN[function_name]))


def _by_thread(function: Callable[..., Any], module: str, name: str, method: str) -> Callable[..., Any]:
    """`function`, or in a stream the method of its generator."""

    @functools.wraps(function)
    def drawn(*args: Any, **kwargs: Any) -> Any:
        stream = _drawing.stream
        if stream is None:
            return function(*args, **kwargs)
        return getattr(stream.generator(module), method)(*args, **kwargs)

    drawn.__module__, drawn.__qualname__ = module, name  # by which it is pickled
    return drawn
