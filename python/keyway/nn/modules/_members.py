"""Members: the parameters, buffers and submodules of a module: how attributes become such, and walks over all of
them."""

from __future__ import annotations

from typing import Any, Callable, Iterator, TypeVar, cast

from keyway._C import Tensor
from keyway.nn.modules import _changes
from keyway.nn.parameter import Buffer, Parameter

T = TypeVar("T")
_TABLES = ("_parameters", "_buffers", "_modules")
_KINDS = (("_parameters", "parameter", "Parameter"), ("_modules", "module", "Module"), ("_buffers", "buffer", "Tensor"))


class Members:
    """What of a module has names. Attributes that are Parameters or modules are registered when they are set."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def __init__(self) -> None:
        for table in _TABLES:
            object.__setattr__(self, table, {})
        object.__setattr__(self, "_non_persistent_buffers_set", set())

    # ---- registering -------------------------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter, reachable as an attribute of this name; None reserves the name.

        Raises AttributeError before Module.__init__, KeyError for a name that is taken or no name, TypeError for what
        is no Parameter, ValueError for one that was computed.
        """
        self._check_name(name, "_parameters", "parameter")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot register a {type(param).__name__} as parameter '{name}': it is no Parameter or "
                            "None")
        if param is not None and not param.is_leaf:
            raise ValueError(f"cannot register '{name}': it was computed from other tensors; a Parameter is a leaf. "
                             "Compute it in forward() instead")
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that belongs to the module's state and is not trained. One that is not persistent is left out
        of state_dict(). Raises as register_parameter does."""
        self._check_name(name, "_buffers", "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot register a {type(tensor).__name__} as buffer '{name}': it is no Tensor or None")
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Any) -> None:
        """Adds a submodule, or None, reachable as an attribute of this name. Raises as register_parameter does."""
        self._check_name(name, "_modules", "module")
        if module is not None and not isinstance(module, Members):
            raise TypeError(f"{type(module).__name__} is no Module subclass: it cannot be registered as module "
                            f"'{name}'")
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, name: str, table: str, kind: str) -> None:
        _changes.note()
        self._check_ready(kind)
        if not isinstance(name, str):
            raise TypeError(f"the name of a {kind} is a str, not {type(name).__name__}")
        if name == "" or "." in name:
            raise KeyError(f"the name of a {kind} has at least one character and no '.': {name!r}")
        if name not in self.__dict__[table] and hasattr(self, name):
            raise KeyError(f"attribute '{name}' exists already")

    def _check_ready(self, kind: str) -> None:
        if "_modules" not in self.__dict__:
            raise AttributeError(f"cannot assign a {kind} before Module.__init__() was called")

    # ---- attributes --------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:  # called where nothing else has the name
        for table in _TABLES:
            members = self.__dict__.get(table)
            if members is not None and name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        _changes.note()
        if isinstance(value, Parameter):
            self._claim(name, "_parameters", "parameter")
            self.register_parameter(name, value)
        elif isinstance(value, Members) and name not in self.__dict__.get("_parameters", ()):
            self._claim(name, "_modules", "module")
            self.add_module(name, value)
        elif isinstance(value, Tensor) and isinstance(value, Buffer) and name not in self.__dict__.get("_parameters", ()):
            self._claim(name, "_buffers", "buffer")
            self.register_buffer(name, cast(Tensor, value), value.persistent)
        elif not self._set_member(name, value):
            object.__setattr__(self, name, value)

    def _claim(self, name: str, table: str, kind: str) -> None:
        """Takes the name from whatever else has it."""
        self._check_ready(kind)
        self.__dict__.pop(name, None)
        self._non_persistent_buffers_set.discard(name)
        for other in _TABLES:
            if other != table:
                self.__dict__[other].pop(name, None)

    def _set_member(self, name: str, value: Any) -> bool:
        """Sets a registered member to what is neither Parameter nor module; False if there is none of this name."""
        for table, kind, allowed in _KINDS:
            members = self.__dict__.get(table, {})
            if name not in members:
                continue
            if value is not None and not (kind == "buffer" and isinstance(value, Tensor)):
                raise TypeError(f"cannot assign a {type(value).__name__} as {kind} '{name}': a {allowed} or None is "
                                "expected")
            members[name] = value
            return True
        return False

    def __delattr__(self, name: str) -> None:
        _changes.note()
        for table in _TABLES:
            if name in self.__dict__.get(table, {}):
                del self.__dict__[table][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = set(super().__dir__()).union(*(self.__dict__.get(table, {}) for table in _TABLES))
        return sorted(name for name in names if not name[:1].isdigit())

    # ---- walks -------------------------------------------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The submodules of this module itself, each once, with their names."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """The submodules of this module itself, each once."""
        return (module for _, module in self.named_children())

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This module and all below it, parents first, with names like "block.0.norm"; the module's own is `prefix`."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all below it, parents first, each once unless `remove_duplicate` is false."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters of this module and, unless `recurse` is false, of all below it, with their full names."""
        return self._named_members(lambda module: module._parameters, prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, unless `recurse` is false, of all below it, each once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers of this module and, unless `recurse` is false, of all below it, with their full names."""
        return self._named_members(lambda module: module._buffers, prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and, unless `recurse` is false, of all below it, each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _named_members(
        self, table: Callable[[Any], dict[str, T | None]], prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, T]]:
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for where, module in modules:
            for name, member in table(module).items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{where}.{name}" if where else name), member

    def get_submodule(self, target: str) -> Any:
        """The module of this full name, as named_modules() has it. Raises AttributeError if there is none."""
        module = self
        for name in target.split(".") if target else []:
            module = getattr(module, name)
            if not isinstance(module, Members):
                raise AttributeError(f"'{name}' of '{target}' is no module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Puts a module at this full name: where one is, or if `strict` is false, at a new name in a module that is.

        Raises ValueError for no name, AttributeError for a name in no module, and if `strict`, for a new name.
        """
        if not target:
            raise ValueError("set_submodule cannot set the submodule without a target name")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute '{name}'")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Members):
            raise AttributeError(f"'{name}' of '{target}' is no module")
        if not isinstance(module, Members):
            raise ValueError(f"set_submodule takes a Module, not {type(module).__name__}")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of this full name. Raises AttributeError if there is none."""
        parameter: Parameter = self._get_member(target, "_parameters", "parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of this full name. Raises AttributeError if there is none."""
        buffer: Tensor = self._get_member(target, "_buffers", "buffer")
        return buffer

    def _get_member(self, target: str, table: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        member = getattr(self.get_submodule(path), table).get(name)
        if member is None:
            raise AttributeError(f"there is no {kind} '{target}' in {type(self).__name__}")
        return member
