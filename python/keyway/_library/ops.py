"""keyway.ops: every registered operator as keyway.ops.<namespace>.<operator>.<overload>, found when it is asked for."""

from __future__ import annotations

import errno
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from keyway import _C

_registry_generation = _C._registry_generation

# What keyway.explain and others take for an operator.
OperatorLike = Any


class OpPacket:
    """All overloads of an operator. A call means the first that takes its arguments; an attribute is one of them:
    `packet.Tensor`, and `packet.default` for the one without a name."""

    __slots__ = ("__weakref__", "_generation", "_function", "_qualified_name")

    def __init__(self, qualified_name: str) -> None:
        self._qualified_name = qualified_name
        self._function: _C.OperatorFunction | None = None
        self._generation = -1

    @property
    def __name__(self) -> str:
        return self._qualified_name.partition("::")[2]

    def __reduce__(self) -> tuple[Any, ...]:
        return _packet, tuple(self._qualified_name.split("::"))

    def __str__(self) -> str:
        return self._qualified_name.replace("::", ".")

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self._resolve().__doc__

    def _resolve(self) -> _C.OperatorFunction:
        """The function of the overloads that there are now. Raises keyway.NotImplementedError if there are none."""
        generation = _registry_generation()
        if self._generation != generation:
            self._function = _C._find_packet(self._qualified_name)
            self._generation = generation
        if self._function is None:
            raise _C.NotImplementedError(f"operator {self._qualified_name} is no longer defined")
        return self._function

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        function = self._function
        if function is None or self._generation != _registry_generation():
            function = self._resolve()
        return function(*args, **kwargs)

    def __getattr__(self, overload: str) -> Any:
        if overload.startswith("__"):
            raise AttributeError(overload)
        suffix = "" if overload == "default" else "." + overload
        found = _C._find_overload(self._qualified_name + suffix)
        if found is None:
            raise AttributeError(
                f"operator {self._qualified_name} has no overload '{overload}', but {', '.join(self.overloads())}"
            )
        return found

    def overloads(self) -> list[str]:
        """Names of the overloads; that of the one without a name is 'default'. Empty if the operator went."""
        named = [name.partition(".") for name in _C._operator_names()]
        return [overload or "default" for name, _, overload in named if name == self._qualified_name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.overloads()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.overloads())

    def __repr__(self) -> str:
        return f"<operator {self._qualified_name}: {', '.join(self.overloads()) or 'no longer defined'}>"


class OpNamespace(types.ModuleType):
    """The operators of a namespace: keyway.ops.my."""

    def __init__(self, name: str) -> None:
        super().__init__("keyway.ops." + name)

    @property
    def _namespace(self) -> str:
        return self.__name__.removeprefix("keyway.ops.")

    def __getattr__(self, name: str) -> OpPacket:
        if name.startswith("__") or _C._find_packet(f"{self._namespace}::{name}") is None:
            raise AttributeError(f"there is no operator {self._namespace}::{name}, or its library is not loaded")
        packet = OpPacket(f"{self._namespace}::{name}")
        setattr(self, name, packet)  # asked for once
        return packet

    def __dir__(self) -> list[str]:
        prefix = self._namespace + "::"
        names = (name.removeprefix(prefix) for name in _C._operator_names() if name.startswith(prefix))
        return sorted({name.partition(".")[0] for name in names})

    def __repr__(self) -> str:
        return f"<operators of {self._namespace}>"


class Ops(types.ModuleType):
    """keyway.ops."""

    def __init__(self) -> None:
        super().__init__("keyway.ops", "Every registered operator: keyway.ops.<namespace>.<operator>.<overload>.")
        self.loaded_libraries: set[str] = set()

    def __getattr__(self, name: str) -> OpNamespace:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = OpNamespace(name)  # what is in it may come later
        setattr(self, name, namespace)
        return namespace

    def __dir__(self) -> list[str]:
        return sorted({"load_library", *(name.partition("::")[0] for name in _C._operator_names())})

    def load_library(self, path: str | os.PathLike[str]) -> None:
        """Loads a shared library that registers operators or kernels, for good: one whose KEYWAY_LIBRARY blocks do so
        when it is loaded, or a plug-in (KEYWAY_PLUGIN). Raises FileNotFoundError if there is no such file, and
        keyway.RegistrationError, which names each problem, if it cannot be loaded or registers something wrongly: then
        nothing of its blocks is registered, and the file can be mended and loaded."""
        file = os.path.realpath(path)
        if file in self.loaded_libraries:
            return
        if not os.path.exists(file):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
        _C.load_library(file)
        self.loaded_libraries.add(file)


ops = Ops()


def unreachable_name(namespace: str, name: str, overload: str) -> str:
    """The part of an operator's name by which `keyway.ops` would find something else; empty if there is none."""
    taken = [(namespace, hasattr(Ops, namespace) or namespace == "loaded_libraries"), (name, hasattr(OpNamespace, name)),
             (overload, hasattr(OpPacket, overload) or overload == "default")]  # fmt: skip
    return next((text for text, is_taken in taken if is_taken or text.startswith("__")), "")


def _packet(namespace: str, name: str) -> OpPacket:
    """What a pickled packet is read as."""
    packet = getattr(getattr(ops, namespace), name)
    return packet if isinstance(packet, OpPacket) else OpPacket(f"{namespace}::{name}")


def _function_of(owner: str, name: str) -> Any:
    """What a pickled function or method is read as."""
    return getattr(_OWNERS[owner](), name)


_OWNERS: dict[str, Callable[[], Any]] = {
    "Tensor": lambda: _C.Tensor,
    "keyway": lambda: sys.modules["keyway"],
    "nn": lambda: _C._nn,
}


def _reduce_function(function: _C.OperatorFunction) -> tuple[Any, ...]:
    """How an OperatorFunction is pickled, and copied: by where it is found."""
    name = function.__name__
    for owner, found in _OWNERS.items():
        if getattr(found(), name, None) is function:
            return _function_of, (owner, name)
    names = function.overloads
    return operator_function, (names[0].partition(".")[0] if len(names) > 1 else names[0],)


def _key_set_of(raw: int) -> _C.DispatchKeySet:
    """What a pickled set of keys is read as."""
    return _C.DispatchKeySet.from_raw_repr(raw)


def operator_function(op: OperatorLike) -> _C.OperatorFunction:
    """The OperatorFunction that `op` means: itself, a packet's, or that of a name such as 'my::scale' or
    'keyway::add.Tensor'."""
    if isinstance(op, OpPacket):
        return op._resolve()
    if isinstance(op, str):
        name = op if "::" in op else "keyway::" + op
        named: _C.OperatorFunction | None = _C._find_overload(name) or _C._find_packet(name)
        if named is None:
            raise _C.NotImplementedError(f"there is no operator {name}, or its library is not loaded")
        return named
    found = getattr(op, "_opoverload", op)  # of a custom operator
    if not isinstance(found, _C.OperatorFunction):
        raise _C.TypeError(f"{op!r} is no operator")
    return found


def explain(op: OperatorLike, /, *args: Any, **kwargs: Any) -> _C.Explanation:
    """Why a call `op(*args, **kwargs)` on this thread would end where it ends: keys, the kernel, the rule that found
    it, and why others are passed. Calls nothing. `op` is an operator or its name.

    >>> print(keyway.explain("add.Tensor", x, y))
    """
    return _C._explain(operator_function(op), *args, **kwargs)


def what_if(op: OperatorLike, key: _C.DispatchKey | str) -> list[tuple[_C.DispatchKey, str, str]]:
    """What a kernel of the overload, registered to the key, would change: each slot as (key, before, after). Nothing is
    registered."""
    return _C._what_if(operator_function(op).name(), key)


def registry_snapshot(pattern: str = "") -> str:
    """All that is registered, as canonical JSON; of operators those whose full name has `pattern` in it."""
    return _C._registry_snapshot(pattern)
