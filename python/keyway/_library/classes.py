"""keyway.classes: the classes that libraries of C++ register, as keyway.classes.<namespace>.<class>."""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Iterable
from typing import Any

from keyway import _C
from keyway._library.ops import operator_function, ops

# Kind, name, operator, operator that sets a property, and documentation: ClassMember of core/base/custom_class.h.
Member = tuple[str, str, str, str, str]


def make_class(name: str, doc: str, members: Iterable[Member]) -> type[_C.ScriptObject]:
    """The Python class of a registered one, "my.Foo". Its functions call the operators that those of C++ are."""
    namespace, _, short = name.rpartition(".")
    body: dict[str, Any] = {
        "__slots__": (), "__doc__": doc or f"A class that a library of C++ registered as {name}.",
        "__module__": f"keyway.classes.{namespace}", "__new__": _new(name, None),
        "__init__": _init, "__reduce_ex__": _cannot_be_pickled,
    }  # fmt: skip
    for kind, member, op, setter, text in members:
        function = operator_function(op)
        if kind == "constructor":
            body["__new__"] = _new(name, function)
            body["__doc__"] = doc or text or function.__doc__
        elif kind == "property":
            written = _method(f"{member}", operator_function(setter), text) if setter else None
            body[member] = property(_method(member, function, text), written, doc=text)
        elif member == "__setstate__":  # takes no object, but gives one
            body["_of_state"] = staticmethod(_function(member, function, text))
        elif kind == "static":
            body[member] = staticmethod(_function(member, function, text))
        else:
            body[member] = _method(member, function, text)
        if member == "__getstate__":
            body["__reduce_ex__"] = _reduce
            body["_has_tuple_state"] = function.schema.rpartition(" -> ")[2].startswith("(")
    return type(short, (_C.ScriptObject,), body)


def _new(name: str, function: _C.OperatorFunction | None) -> Callable[..., Any]:
    def __new__(cls: type, /, *args: Any, **kwargs: Any) -> Any:
        if function is None:
            raise _C.TypeError(f"the library that registered class {name} gave it no constructor")
        return function(*args, **kwargs)

    return __new__


def _init(self: Any, /, *args: Any, **kwargs: Any) -> None:
    """The object is whole."""


def _function(name: str, function: _C.OperatorFunction, doc: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    call.__name__, call.__doc__ = name, doc or function.__doc__
    return call


def _method(name: str, function: _C.OperatorFunction, doc: str) -> Callable[..., Any]:
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    call.__name__, call.__doc__ = name, doc or function.__doc__
    return call


def _name_of(cls: type) -> str:
    return f"{cls.__module__.removeprefix('keyway.classes.')}.{cls.__name__}"


def _cannot_be_pickled(self: Any, protocol: int) -> Any:
    name = _name_of(type(self))
    raise _C.TypeError(f"objects of class {name} cannot be copied or pickled: its library has no def_pickle for it")


def _reduce(self: Any, protocol: int) -> tuple[Any, ...]:
    return _of_state, (_name_of(type(self)), self.__getstate__())


def _of_state(name: str, state: Any) -> Any:
    """What a pickled object is read as. Operators give several results, and take so many arguments, for a tuple."""
    cls: Any = _C._custom_class(name)
    if cls is None:
        raise _C.NotImplementedError(f"there is no class {name}, or its library is not loaded")
    return cls._of_state(*(state if cls._has_tuple_state else (state,)))


class ClassNamespace(types.ModuleType):
    """The classes of a namespace: keyway.classes.my."""

    def __init__(self, name: str) -> None:
        super().__init__("keyway.classes." + name)

    @property
    def _namespace(self) -> str:
        return self.__name__.removeprefix("keyway.classes.")

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("__") else _C._custom_class(f"{self._namespace}.{name}")
        if found is None:
            raise AttributeError(f"there is no class {self._namespace}.{name}, or its library is not loaded")
        return found

    def __dir__(self) -> list[str]:
        prefix = self._namespace + "."
        return [name.removeprefix(prefix) for name in _C._custom_class_names() if name.startswith(prefix)]

    def __repr__(self) -> str:
        return f"<classes of {self._namespace}>"


class Classes(types.ModuleType):
    """keyway.classes."""

    def __init__(self) -> None:
        super().__init__("keyway.classes", "Every registered class: keyway.classes.<namespace>.<class>.")

    def __getattr__(self, name: str) -> ClassNamespace:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = ClassNamespace(name)  # what is in it may come later
        setattr(self, name, namespace)
        return namespace

    def __dir__(self) -> list[str]:
        return sorted({"load_library", *(name.partition(".")[0] for name in _C._custom_class_names())})

    @property
    def loaded_libraries(self) -> set[str]:
        """The files that load_library, this or that of keyway.ops, has loaded."""
        return ops.loaded_libraries

    def load_library(self, path: str | os.PathLike[str]) -> None:
        """As keyway.ops.load_library: what a library registers are operators, kernels and classes."""
        ops.load_library(path)


classes = Classes()
