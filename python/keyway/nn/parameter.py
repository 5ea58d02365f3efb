"""Parameter and Buffer: tensors that become members of a module that gets them as attributes, also without a shape."""

from __future__ import annotations

from typing import Any, Callable, Sequence, cast

import keyway
from keyway import _C
from keyway._C import Tensor
from keyway._tensor.printing import tensor_text
from keyway.overrides import DisableFunctionOverrides

# What may be called with uninitialised ones: dtype and device are known.
_ALLOWED = ("__hash__", "to", "half", "float", "double", "bfloat16", "char", "short", "int", "long", "cuda", "cpu",
            "get_device", "is_complex", "is_floating_point", "data", "set_data", "copy_")


class _ParameterClass(type):
    def __instancecheck__(cls, instance: object) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterClass):
    """A tensor that a module which gets it as an attribute trains.

    Shares the memory of `data` and has no history. Without `data` it is empty. Of a wrapper tensor it is a tensor of the
    same class, which counts as a Parameter.
    Raises keyway.Error if `requires_grad` is true and the dtype is neither a floating-point nor a complex one.
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = _C.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"a Parameter is made from a Tensor, not from {type(data).__name__}")
        if cls is Parameter and _C._is_wrapper(data):
            made: Any = _C._alias_of(data).requires_grad_(requires_grad)
            made._is_param = True
            return cast(Parameter, made)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        known = memo.get(id(self))
        if known is None:
            if _C._fills_storage(self):
                with keyway.no_grad():  # not of a detached tensor, which would be a second one over the storage
                    data = self._lazy_clone()
            else:
                data = self.detach().clone(memory_format=_C.preserve_format)
            known = memo[id(self)] = type(self)(data, self.requires_grad)
        return known

    def __repr__(self) -> str:
        return "Parameter containing:\n" + tensor_text(self, "tensor" if type(self) is Parameter else None)

    __str__ = __repr__


class _BufferClass(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferClass):
    """A Tensor that a module which gets it as an attribute registers as a buffer, `persistent` or not.

    Shares the memory of `data` and has no history. Without `data` it is empty.
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Tensor:  # type: ignore[misc]
        tensor = _C.empty(0) if data is None else data.detach().requires_grad_(data.requires_grad)
        tensor.persistent = persistent  # type: ignore[attr-defined]
        tensor._is_buffer = True  # type: ignore[attr-defined]
        return tensor


class _Uninitialized:
    """What uninitialised parameters and buffers share."""

    cls_to_become: type

    def materialize(self: Any, shape: Sequence[int], device: Any = None, dtype: _C.dtype | None = None) -> None:
        """Becomes a plain Parameter or Tensor of this shape, with memory that is not initialised. `device` and `dtype`
        are those it was made with unless they are given."""
        with DisableFunctionOverrides():
            now = self.detach()
            self.set_data(_C.empty(list(shape), device=now.device if device is None else device,
                                   dtype=now.dtype if dtype is None else dtype))
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise keyway.Error("Can't access the shape of an uninitialized parameter or buffer: call forward() of the "
                           "module, or load its state, first")

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise _C.ValueError("Attempted to use an uninitialized parameter: call forward() of the module with a batch, "
                            "or load its state, to initialize the parameters first")

    numel = nelement = dim = ndimension = size = stride = _refuse

    def share_memory_(self) -> Any:
        raise keyway.Error("Can't share memory on an uninitialized parameter or buffer: call forward() first")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        with DisableFunctionOverrides():
            now = self.detach()
        return type(self), (self.requires_grad, now.device, now.dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        known = memo.get(id(self))
        if known is None:
            make, arguments = self.__reduce_ex__(2)
            known = memo[id(self)] = make(*arguments)
        return known

    @classmethod
    def __keyway_function__(cls, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (),
                            kwargs: dict[str, Any] | None = None) -> Any:
        name = getattr(func, "__name__", str(func))
        if name not in _ALLOWED:
            raise _C.ValueError(f"Attempted to use an uninitialized parameter in {name}: call forward() of the module "
                                "with a batch, or load its state, to initialize the parameters first")
        with DisableFunctionOverrides():
            return func(*args, **(kwargs or {}))


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter without a shape, until materialize() gives it one. Its dtype and device are known and can be changed;
    other operators raise keyway.ValueError, and `shape` keyway.Error."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None,
                dtype: _C.dtype | None = None) -> UninitializedParameter:
        return Tensor._make_subclass(cls, _C.empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer without a shape, as UninitializedParameter is a parameter without one."""

    cls_to_become = Tensor
    persistent: bool
    _is_buffer: bool

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: _C.dtype | None = None,
                persistent: bool = True) -> UninitializedBuffer:
        made: UninitializedBuffer = Tensor._make_subclass(cls, _C.empty(0, device=device, dtype=dtype), requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


def is_lazy(param: Any) -> bool:
    """Whether it is a parameter or buffer without a shape."""
    return isinstance(param, _Uninitialized)
