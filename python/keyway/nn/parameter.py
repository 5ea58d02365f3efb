"""Parameter and Buffer: tensors that become members of a module that gets them as attributes."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._C import Tensor


class Parameter(Tensor):
    """A tensor that a module which gets it as an attribute trains.

    Shares the memory of `data` and has no history. Without `data` it is empty.
    Raises keyway.Error if `requires_grad` is true and the dtype is neither a floating-point nor a complex one.
    """

    _is_printed_as_tensor = True

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = _C.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"a Parameter is made from a Tensor, not from {type(data).__name__}")
        made: Parameter = Tensor._make_subclass(cls, data, requires_grad)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        known = memo.get(id(self))
        if known is None:
            known = type(self)(self.detach().clone(memory_format=_C.preserve_format), self.requires_grad)
            memo[id(self)] = known
        return known

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    __str__ = __repr__


def is_buffer(value: Any) -> bool:
    """Whether it is a tensor that Buffer() has made."""
    return isinstance(value, Tensor) and getattr(value, "_is_buffer", False)


class _BufferMeta(type):
    """Which tensors are buffers: those that Buffer() has made, of whatever class they are."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return is_buffer(instance)


class Buffer(metaclass=_BufferMeta):
    """A tensor that a module which gets it as an attribute registers as a buffer.

    Shares the memory of `data` and has no history; requires a gradient if `data` does. Without `data` it is empty. One
    that is not persistent is left out of state_dict().
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        data = _C.empty(0) if data is None else data
        made: Any = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made
