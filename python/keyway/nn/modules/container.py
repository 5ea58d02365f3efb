"""Containers: modules that hold others in order or by name."""

from __future__ import annotations

import operator
from collections import OrderedDict
from typing import Any, Callable, Iterable, Iterator, Mapping

import keyway
from keyway._C import Tensor
from keyway.nn.modules.module import Module, _indented
from keyway.nn.parameter import Parameter


class _List(Module):
    """What lists of modules share: members are named "0", "1", ..."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _name_at(self, index: int) -> str:
        """The name of the member at an index, which may count from the end."""
        i = operator.index(index)
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} is out of range: there are {len(self)} modules")
        return list(self._modules)[i]

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self._make(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def _make(self, members: OrderedDict[str, Any]) -> Any:
        """One of the same class of these members."""
        raise NotImplementedError

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        gone = set(names[index]) if isinstance(index, slice) else {self._name_at(index)}
        self._renumber([module for name, module in self._modules.items() if name not in gone])

    def _renumber(self, modules: list[Any]) -> None:
        self._modules.clear()
        for i, module in enumerate(modules):
            self.add_module(str(i), module)

    def append(self, module: Module) -> Any:
        """Adds a module at the end; returns this."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Adds modules at the end; returns this."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Adds a module before that of an index; returns this. Raises IndexError for an index out of range."""
        if not -len(self) <= index <= len(self):
            raise IndexError(f"index {index} is out of range: there are {len(self)} modules")
        if not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is no Module subclass")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, key: int | slice = -1) -> Any:
        """Removes the module of an index, and returns it."""
        module = self[key]
        del self[key]
        return module


class Sequential(_List):
    """Modules one after the other: each gets what the one before returned.

    Made from modules, or from one OrderedDict of names and modules.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def _make(self, members: OrderedDict[str, Any]) -> Any:
        return type(self)(members)

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self, *other) if isinstance(other, Sequential) else NotImplemented

    def __iadd__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            return NotImplemented
        self.extend(other)
        return self

    def __mul__(self, times: int) -> Sequential:
        _check_times(times)
        return Sequential(*list(self) * times)

    def __rmul__(self, times: int) -> Sequential:
        return self * times

    def __imul__(self, times: int) -> Sequential:
        _check_times(times)
        self.extend(list(self) * (times - 1))
        return self

    def forward(self, input: Any) -> Any:
        """`input` through all modules."""
        for module in self:
            input = module(input)
        return input


class ModuleList(_List):
    """Modules in a list that are submodules, each; it has no forward()."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _make(self, members: OrderedDict[str, Any]) -> Any:
        return type(self)(members.values())

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        self.extend(modules)
        return self

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Neighbours that read alike stand in one line: "(0-3): 4 x Linear(...)"."""
        runs: list[tuple[int, int, str]] = []
        for i, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        if not runs:
            return f"{self._get_name()}()"
        lines = [f"({a}): {_indented(t)}" if a == b else f"({a}-{b}): {b - a + 1} x {_indented(t)}" for a, b, t in runs]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class _Dict(Module):
    """What dictionaries of members share."""

    def _held(self) -> dict[str, Any]:
        """The members by name."""
        raise NotImplementedError

    def __getitem__(self, key: str) -> Any:
        return self._held()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        raise NotImplementedError

    def __delitem__(self, key: str) -> None:
        del self._held()[key]

    def __len__(self) -> int:
        return len(self._held())

    def __iter__(self) -> Iterator[str]:
        return iter(self._held())

    def __contains__(self, key: object) -> bool:
        return key in self._held()

    def clear(self) -> None:
        """Removes all members."""
        for key in list(self):
            del self[key]

    def pop(self, key: str) -> Any:
        """Removes the member of a name, and returns it."""
        value = self[key]
        del self[key]
        return value

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._held().keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and members."""
        return self._held().items()

    def values(self) -> Iterable[Any]:
        """The members."""
        return self._held().values()

    def update(self, members: Mapping[str, Any] | Iterable[tuple[str, Any]] | _Dict) -> None:
        """Adds members, also in place of those that have the names."""
        if not isinstance(members, (Mapping, _Dict, Iterable)):
            raise TypeError(f"{type(self).__name__}.update takes a dict or pairs, not {type(members).__name__}")
        for key, member in members.items() if isinstance(members, (Mapping, _Dict)) else members:
            self[key] = member


class ModuleDict(_Dict):
    """Modules by name that are submodules, each; it has no forward()."""

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def _held(self) -> dict[str, Any]:
        return self._modules

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)


class ParameterDict(_Dict):
    """Parameters by name; tensors that are none become such, and other values stay as they are. It has no forward()."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _held(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self._keys}

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"the keys of a ParameterDict are strings, not {type(key).__name__}")
        if key not in self._keys and hasattr(self, key):
            raise KeyError(f"attribute '{key}' exists already")
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __or__(self, other: ParameterDict) -> ParameterDict:
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        return other | self

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def popitem(self) -> tuple[str, Any]:
        """Removes the member that was added last, and returns its name and it."""
        key = next(reversed(self), None)
        if key is None:
            raise KeyError("popitem of an empty ParameterDict")
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter of a name, or `default`."""
        return self[key] if key in self else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter of a name, which becomes `default` if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def copy(self) -> ParameterDict:
        """One that holds the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """One that holds the same value under each of these names."""
        return ParameterDict((key, default) for key in keys)

    def extra_repr(self) -> str:
        return "\n".join(f"  ({key}): {_describe(value, keyway.typename)}" for key, value in self.items())


class ParameterList(Module):
    """Parameters in a list; tensors that are none become such, and other values stay as they are. It has no
    forward()."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _name_at(self, index: int) -> str:
        i = operator.index(index)
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} is out of range: there are {len(self)} parameters")
        return str(i % len(self))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, str(i)) for i in range(self._size)])

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, self._name_at(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name_at(index), _as_parameter(value))

    def append(self, value: Any) -> ParameterList:
        """Adds a parameter at the end; returns this."""
        setattr(self, str(self._size), _as_parameter(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Adds parameters at the end; returns this."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(f"ParameterList.extend takes an iterable of parameters, not {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def extra_repr(self) -> str:
        return "\n".join(f"  ({i}): {_describe(value)}" for i, value in enumerate(self))


def _check_times(times: Any) -> None:
    if not isinstance(times, int):
        raise TypeError(f"a Sequential is repeated an int of times, not {type(times).__name__}")
    if times <= 0:
        raise ValueError(f"a Sequential is repeated a positive number of times, not {times}")


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _describe(value: Any, name: Callable[[Tensor], Any] = lambda value: value.dtype) -> str:
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    return f"Parameter containing: [{name(value)} of size {'x'.join(map(str, value.shape))}]"
