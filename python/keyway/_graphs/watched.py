"""What a captured program reads of Python: a graph holds only as long as that is as it was.

A graph has no numbers of Python. So a capture notes what the program could see: attributes and members of the modules
that it called, what functions use from around them, and the settings of optimizers. Watched.change() says what is not
as it was then.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from keyway._C import Tensor
from keyway.nn.modules import _changes
from keyway.nn.modules.module import Module

# Values that are what they are: those that are equal are one.
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class Watched:
    """What one capture has noted."""

    def __init__(self) -> None:
        self._functions = set[int]()
        self._readers: list[tuple[str, Callable[[], Any], Any]] = []  # what, how it is read, what it was
        self._modules: dict[int, tuple[Module, dict[str, Any]]] = {}
        self._changes = _changes.count()

    def add(self, what: str, read: Callable[[], Any]) -> None:
        """Notes what `read` gives: a number, a text, a tuple of such, or an object, of which only that it is the same one
        counts."""
        self._readers.append((what, read, read()))

    def add_module(self, module: Module) -> None:
        if id(module) not in self._modules:
            self._modules[id(module)] = (module, _members_of(module))

    def add_function(self, function: Any) -> None:
        """What a function uses from around it, and the functions that it uses."""
        function = getattr(function, "__func__", function)
        if isinstance(function, Module):
            self.add_module(function)
            return
        if not isinstance(function, types.FunctionType) or id(function) in self._functions:
            return
        if function.__module__.partition(".")[0] == "keyway":
            return
        self._functions.add(id(function))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            self._add_used(f"'{name}' of {function.__qualname__}", _reader_of_cell(cell))
        for name in function.__code__.co_names:
            if name in function.__globals__:
                self._add_used(f"the global '{name}'", _reader_of_global(function.__globals__, name))

    def _add_used(self, what: str, read: Callable[[], Any]) -> None:
        value = read()
        self.add(what, read)
        self.add_function(value)

    def change(self) -> str | None:
        """What is not as it was; None if everything is."""
        for what, read, was in self._readers:
            now = read()
            if not _is_same(now, was):
                return f"{what} is {now!r}, but was {was!r} in the capture" if _is_plain(was) else f"{what} is another"
        if _changes.count() == self._changes:
            return None
        for module, members in self._modules.values():
            now = _members_of(module)
            if now.keys() != members.keys():
                return f"a {type(module).__name__} has other members than in the capture"
            for name, was in members.items():
                if not _is_same(now[name], was):
                    return f"'{name}' of a {type(module).__name__} is not what it was in the capture"
        self._changes = _changes.count()
        return None


def _is_plain(value: Any) -> bool:
    return type(value) in _PLAIN or (type(value) is tuple and all(map(_is_plain, value)))


def _is_same(now: Any, was: Any) -> bool:
    if now is was:
        return True
    if not _is_plain(was) or type(now) is not type(was):
        return False
    return bool(now == was) or (now != now and was != was)


def _members_of(module: Module) -> dict[str, Any]:
    """A module's attributes, and its parameters, buffers and modules, by name."""
    members = dict(module.__dict__)
    for table in ("_parameters", "_buffers", "_modules"):
        members.update(members.pop(table, {}))
    for name in ("_forward_hooks", "_forward_pre_hooks"):  # dictionaries that are changed in place
        members[name] = tuple(members.get(name, ()))
    return members


def _reader_of_cell(cell: Any) -> Callable[[], Any]:
    def read() -> Any:
        try:
            return cell.cell_contents
        except ValueError:  # it is empty
            return None

    return read


def _reader_of_global(names: dict[str, Any], name: str) -> Callable[[], Any]:
    return lambda: names.get(name)


class _Noting:
    """Has each call of a module note it, while any thread is in a capture: calls cost nothing more without one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._captures = 0
        self._call: Any = None  # Module.__call__ without a capture
        self.of_thread = threading.local()

    def begin(self) -> None:
        with self._lock:
            self._captures += 1
            if self._captures > 1:
                return
            call = self._call = Module.__call__

            def noting(module: Module, *args: Any, **kwargs: Any) -> Any:
                watched = current()
                if watched is not None:
                    watched.add_module(module)
                return call(module, *args, **kwargs)

            Module.__call__ = noting  # type: ignore[assignment, method-assign]

    def end(self) -> None:
        with self._lock:
            self._captures -= 1
            if self._captures == 0:
                Module.__call__ = self._call  # type: ignore[method-assign]


_noting = _Noting()


def current() -> Watched | None:
    """That of the capture that this thread is in."""
    return getattr(_noting.of_thread, "watched", None)


@contextmanager
def watching() -> Iterator[Watched]:
    """Notes what modules and optimizers this thread calls within it."""
    outer = current()
    watched = _noting.of_thread.watched = Watched()
    _noting.begin()
    try:
        yield watched
    finally:
        _noting.end()
        _noting.of_thread.watched = outer


def settings_of(group: dict[str, Any]) -> tuple[Any, ...]:
    """The settings of an optimizer's group: numbers; tensors by which they are."""
    return tuple(value if not isinstance(value, Tensor) else id(value) for name, value in group.items() if name != "params")
