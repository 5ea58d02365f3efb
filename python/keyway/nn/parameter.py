"""Parameter: a tensor that modules count among their parameters; and Buffer, among their buffers."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway._printing import tensor_text


class Parameter(Tensor):
    """A tensor that a module which gets it as an attribute trains.

    Shares the memory of `data` and has no history. Without `data` it is empty.
    Raises keyway.Error if `requires_grad` is true and the dtype is neither a floating-point nor a complex one.
    """

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
