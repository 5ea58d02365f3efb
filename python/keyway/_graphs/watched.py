"""What a captured program reads of Python: a graph holds only as long as that is as it was.

A graph has no numbers of Python. So a capture notes what the program could see: attributes and members of the modules
that it called, what functions use from around them, and the settings of optimizers. Watched.change() says what is not
as it was then.
"""

from __future__ import annotations

import dis
import functools
import itertools
import math
import operator
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from keyway.nn.modules import _changes
from keyway.nn.modules import module as modules
from keyway.nn.modules.module import Module


class _Objects:
    """Objects of which only that they are the same ones counts."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def __repr__(self) -> str:
        return f"<{', '.join(type(value).__name__ for value in self.values)}>"


# Values that are what they are: those that are equal are one.
_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None), _Objects))


class Watched:
    """What one capture has noted."""

    def __init__(self) -> None:
        self._functions = set[int]()
        self._readers: list[tuple[str, Callable[[], Any], Any]] = []  # what, how it is read, what it was
        self._modules: dict[int, tuple[Module, dict[str, Any]]] = {}
        self._whole = set[int]()  # of modules, those with all their parts
        self._changes = _changes.count()
        self.refusal: str | None = None  # what the program has done that a run would not do again

    def add(self, what: str, read: Callable[[], Any]) -> None:
        """Notes what `read` gives: a number, a text, a tuple of such, or an object, of which only that it is the same one
        counts."""
        self._readers.append((what, read, read()))

    def add_module(self, module: Module) -> None:
        if id(module) not in self._modules:
            self._modules[id(module)] = (module, _members_of(module))
            self.add_function(getattr(module.forward, "__func__", None))

    def add_function(self, function: Any) -> None:
        """What a function uses from around it, and the functions that it uses; a module with its parts."""
        if isinstance(function, Module):
            self._add_with_parts(function)
        elif isinstance(function, functools.partial):
            for used in (function.func, *function.args, *function.keywords.values()):
                self.add_function(used)
        elif isinstance(function, types.MethodType):
            self.add_function(function.__self__)
            self.add_function(function.__func__)
        elif isinstance(function, types.FunctionType) and id(function) not in self._functions:
            if function.__module__ is None or function.__module__.partition(".")[0] != "keyway":
                self._functions.add(id(function))
                self._add_used_by(function)

    def _add_with_parts(self, module: Module) -> None:
        if id(module) not in self._whole:
            self._whole.add(id(module))
            self.add_module(module)
            for part in module._modules.values():
                if part is not None:
                    self._add_with_parts(part)

    def _add_used_by(self, function: types.FunctionType) -> None:
        name = function.__qualname__
        self.add(f"the code of {name}", lambda: function.__code__)
        self.add(f"the defaults of {name}", lambda: function.__defaults__)
        for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            self._add_used(f"'{variable}' of {name}", _reader_of_cell(cell))
        for variable in sorted(_globals_of(function.__code__)):
            self._add_used(f"the global '{variable}'", _reader_of_global(function.__globals__, variable))

    def _add_used(self, what: str, read: Callable[[], Any]) -> None:
        value = read()
        self.add(what, read)
        self.add_function(value)

    def change(self) -> str | None:
        """What is not as it was; None if everything is."""
        for what, read, was in self._readers:
            now = read()
            if now is not was and not is_same(now, was):
                return f"{what} is {now!r}, but was {was!r} in the capture" if _is_plain(was) else f"{what} is another"
        if _changes.count() == self._changes:
            return None
        for module, members in self._modules.values():
            now = _members_of(module)
            if now.keys() != members.keys():
                return f"a {type(module).__name__} has other members than in the capture"
            for name, was in members.items():
                if not is_same(now[name], was):
                    return f"'{name}' of a {type(module).__name__} is not what it was in the capture"
        self._changes = _changes.count()
        return None


def _is_plain(value: Any) -> bool:
    return type(value) in _PLAIN or (type(value) is tuple and all(map(_is_plain, value)))


def is_same(now: Any, was: Any) -> bool:
    """Whether a program that reads only this cannot tell them apart: 0.0 is not -0.0, and 1 is not 1.0 or True."""
    if now is was:
        return True
    if not _is_plain(was) or type(now) is not type(was):
        return False
    if type(was) is _Objects:
        return len(now.values) == len(was.values) and all(map(operator.is_, now.values, was.values))
    if type(was) is tuple:
        return len(now) == len(was) and all(map(is_same, now, was))
    if type(was) is float:
        return (now == was and math.copysign(1.0, now) == math.copysign(1.0, was)) or (now != now and was != was)
    return repr(now) == repr(was) if type(was) is complex else bool(now == was)


@functools.lru_cache(maxsize=1024)  # to disassemble takes longer than to call a small model
def _globals_of(code: types.CodeType) -> frozenset[str]:
    """The global variables that a function reads, or functions and comprehensions within it."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return frozenset(names).union(*(_globals_of(part) for part in code.co_consts if isinstance(part, types.CodeType)))


def _members_of(module: Module) -> dict[str, Any]:
    """A module's attributes, and its parameters, buffers and modules, by name."""
    own = module.__dict__
    members = {**own, **own.get("_parameters", {}), **own.get("_buffers", {}), **own.get("_modules", {}),
               "its class": type(module)}
    # Dictionaries that are changed in place.
    for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"):
        members[name] = tuple(own.get(name, ()))
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
    """Has each call of a module note it, while any thread is in a capture."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._captures = 0
        self.of_thread = threading.local()

    def begin(self) -> None:
        with self._lock:
            self._captures += 1
            modules.listener = _note_module

    def end(self) -> None:
        with self._lock:
            self._captures -= 1
            if self._captures == 0:
                modules.listener = None


_noting = _Noting()


def current() -> Watched | None:
    """That of the capture that this thread is in."""
    return getattr(_noting.of_thread, "watched", None)


def _note_module(module: Module) -> None:
    watched = current()
    if watched is not None:
        watched.add_module(module)


def note_schedule() -> None:
    """A schedule of learning rates takes a step, which a run of a graph would not."""
    watched = current()
    if watched is not None:
        watched.refusal = "the program takes a step of a schedule, which is of Python: take it outside"


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


def add_optimizer(watched: Watched, optimizer: Any) -> None:
    """Notes the groups of an optimizer, with their settings, parameters and state, and its hooks."""
    watched.add("an optimizer", lambda: (_Objects((optimizer.state, *optimizer._pre_hooks, *optimizer._post_hooks)),
                                         len(optimizer.param_groups)))
    for number in range(len(optimizer.param_groups)):
        watched.add("the settings of an optimizer", functools.partial(_settings_of, optimizer, number))
        watched.add("the state of an optimizer", functools.partial(_state_of, optimizer, number))


def _settings_of(optimizer: Any, number: int) -> Any:
    """The settings of an optimizer's group."""
    if number >= len(optimizer.param_groups):
        return None
    settings = [value for name, value in optimizer.param_groups[number].items() if name != "params"]
    return tuple(value if _is_plain(value) else _Objects((value,)) for value in settings)


def _state_of(optimizer: Any, number: int) -> Any:
    """The parameters of an optimizer's group, and what it keeps for each."""
    if number >= len(optimizer.param_groups):
        return None
    parameters = optimizer.param_groups[number]["params"]
    kept = filter(None, map(optimizer.state.get, parameters))  # each run asks for this: without a loop of Python's
    return _Objects((*parameters, *itertools.chain.from_iterable(map(dict.values, kept))))
