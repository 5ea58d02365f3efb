"""Parametrizations: parameters and buffers of modules that are computed from others whenever they are asked for."""

from __future__ import annotations

import contextlib
import copy
from typing import Any, Iterator, Sequence, cast

import keyway
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.nn.modules.container import ModuleDict, ModuleList
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter

__all__ = ["ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
           "transfer_parametrizations_and_params", "type_before_parametrizations"]

_cached_blocks = 0
_cache: dict[tuple[int, str], Any] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Within the block, each parametrized tensor is computed once, when it is first asked for."""
    global _cached_blocks
    _cached_blocks += 1
    try:
        yield
    finally:
        _cached_blocks -= 1
        if _cached_blocks == 0:
            _cache.clear()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _set_data(tensor: Tensor, value: Tensor) -> None:
    """Makes a parameter or buffer one of the memory of `value`."""
    if tensor is not value:
        tensor.set_data(value.detach())


class ParametrizationList(ModuleList):
    """What computes one tensor of a module: the modules, in the order they are called in, and what the first of them is
    called with, `original`, or `original0`, `original1`, ... if it takes several tensors.

    The originals are what the right_inverse() of the modules, last to first, makes of the tensor; without one it is
    the tensor itself. Raises ValueError, unless `unsafe`, if the modules change the tensor's dtype or shape.
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            new: Any = original
            for module in reversed(list(self)):
                new = _inverted(module, new)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...), not "
                             f"{type(new).__name__}")
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            if new.dtype != original.dtype:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype: the original "
                                 f"one is {original.dtype}, the new one {new.dtype}")
            _set_data(original, new)
            _register(self, "original", original)
        else:
            self._register_all(new, original)
        if not unsafe:
            self._check(shape, dtype)

    def _register_all(self, values: Sequence[Any], original: Tensor) -> None:
        for i, value in enumerate(values):
            if not isinstance(value, Tensor):
                raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...): "
                                 f"element {i} is a {type(value).__name__}")
            if isinstance(original, Parameter):
                value = Parameter(value.detach(), original.requires_grad)
            _register(self, f"original{i}", value)

    def _check(self, shape: Sequence[int], dtype: Any) -> None:
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        if result.dtype != dtype:
            raise ValueError(f"Registering a parametrization may not change the dtype of the tensor, unless `unsafe` "
                             f"flag is enabled: it was {dtype}, and is {result.dtype}")
        if result.shape != shape:
            raise ValueError("Registering a parametrization may not change the shape of the tensor, unless `unsafe` "
                             f"flag is enabled: it was {tuple(shape)}, and is {tuple(result.shape)}")

    def originals(self) -> list[Tensor]:
        """What the first module is called with."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Changes the originals such that the tensor becomes `value`: what an assignment to it does."""
        with no_grad():
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise keyway.Error(f"parametrization {type(module).__name__} does not implement right_inverse.")
                new = module.right_inverse(new)
            values = [new] if self.is_tensor else list(new)
            if len(values) != self.ntensors or not all(isinstance(each, Tensor) for each in values):
                raise ValueError(f"'right_inverse' must return {self.ntensors} tensors, as it has before")
            for original, each in zip(self.originals(), values):
                if original.dtype != each.dtype:
                    raise ValueError(f"The tensor returned by `right_inverse` is {each.dtype}, while the original one "
                                     f"is {original.dtype}")
                _set_data(original, each)

    def forward(self) -> Any:
        first, *others = self
        result = first(*self.originals())
        for module in others:
            result = module(result)
        return result


def _inverted(module: Module, value: Any) -> Any:
    """What a parametrization is to be called with to give `value`; `value` if it does not say."""
    if not hasattr(module, "right_inverse"):
        return value
    try:
        return module.right_inverse(value)
    except NotImplementedError:
        return value


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a tensor of the module, or if no name is given, any, is parametrized."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def _property(name: str) -> property:
    def get(self: Module) -> Any:
        compute = self.parametrizations[name]
        if _cached_blocks == 0:
            return compute()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = compute()
        return _cache[key]

    def set(self: Module, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(get, set)


def _inject_class(module: Module) -> None:
    """Gives the module a class of its own, for properties in the place of members."""
    base: Any = type(module)

    def __deepcopy__(self: Module, memo: dict[int, Any]) -> Module:
        known: Module | None = memo.get(id(self))
        if known is None:
            known = cast(Module, base.__new__(base))
            memo[id(self)] = known
            known.__dict__.update(copy.deepcopy(self.__dict__, memo))
            _inject_class(known)
            for name in known.parametrizations:
                setattr(type(known), name, _property(name))
        return known

    def __reduce_ex__(self: Module, protocol: int) -> Any:
        raise keyway.Error("Serialization of parametrized modules is only supported through state_dict().")

    members: dict[str, Any] = {"__reduce_ex__": __reduce_ex__}
    if not hasattr(base, "__deepcopy__"):
        members["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), members)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Has a parameter or buffer of a module computed by another module: `module.weight` becomes
    `parametrization(original)`, and the original is `module.parametrizations.weight.original`.

    If it is parametrized already, `parametrization` is called with the result of what is there. With
    `parametrization.right_inverse(tensor)`, which gives the original, or a sequence of such, the tensor can be set;
    registration calls it with the tensor there is. Returns the module.
    Raises ValueError for a name of neither a parameter nor a buffer, and, unless `unsafe`, for a parametrization that
    changes dtype or shape.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        parametrizations = module.parametrizations[tensor_name]
        if not unsafe:
            _check_next(getattr(module, tensor_name), parametrization)
        parametrizations.append(parametrization)
        parametrizations.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_class(module)
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _property(tensor_name))
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")
    return module


def _check_next(now: Tensor, parametrization: Module) -> None:
    """That one more parametrization keeps dtype and shape, and its right_inverse does."""
    results = [("A parametrization", parametrization(now))]
    if hasattr(parametrization, "right_inverse"):
        try:
            results.append(("parametrization.right_inverse", parametrization.right_inverse(results[0][1])))
        except NotImplementedError:
            pass
    for what, result in results:
        if not isinstance(result, Tensor):
            raise ValueError(f"{what} must return a tensor. Got {type(result).__name__}.")
        if result.dtype != now.dtype or result.shape != now.shape:
            raise ValueError(f"{what} may not change dtype or shape of the tensor, unless the `unsafe` flag is enabled:"
                             f" they were {now.dtype} and {tuple(now.shape)}, and are {result.dtype} and "
                             f"{tuple(result.shape)}")


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Takes the parametrizations of a tensor away. It keeps the value it has, or if not `leave_parametrized`, becomes
    the original again, of which there has to be one. Returns the module; raises ValueError for what is not
    parametrized."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if not parametrizations.is_tensor and not leave_parametrized:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
                         "terms of a sequence of tensors.")
    tensor = getattr(module, tensor_name) if leave_parametrized else parametrizations.original
    if parametrizations.is_tensor:
        original = parametrizations.original
        _set_data(original, tensor)
    else:
        original = Parameter(tensor.detach()) if tensor.requires_grad else tensor
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before anything of it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Registers the parametrizations of one tensor, or of all, of a module with another one, with copies of their
    originals. Returns that one; raises ValueError if the first has none."""
    if not is_parametrized(from_module):
        raise ValueError(f"`from_module` {from_module} has no parametrizations")
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        given = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for parametrization in given:
            register_parametrization(to_module, name, parametrization, unsafe=given.unsafe)
        taken = to_module.parametrizations[name]
        with no_grad():
            for original, value in zip(taken.originals(), given.originals()):
                _set_data(original, value.clone())
    return to_module
