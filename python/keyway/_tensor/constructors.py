"""Tensor(...) of numbers or sizes, and kinds of tensors of one dtype that make and recognise such: FloatTensor(...)."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor, dtype
from keyway._tensor.methods import _TYPE_NAMES


def _made(function: str, kind: dtype, given: tuple[Any, ...], device: Any) -> Tensor:
    """The tensor of what a constructor gets: nothing, sizes, or a sequence of numbers."""
    if device is not None and _C.device(device).type != "cpu":
        raise _C.ValueError(f"{function}(): makes tensors in the host's memory, not on {device}")
    if len(given) == 1:
        one = given[0]
        if isinstance(one, _C.Size):
            return _C.empty(one, dtype=kind, device="cpu")
        if hasattr(one, "__len__") and not isinstance(one, (str, bytes, Tensor)):
            return _C.tensor(one, dtype=kind, device="cpu")
    if not all(isinstance(size, SupportsIndex) for size in given):
        raise _C.TypeError(f"{function}(): takes sizes, or one sequence of numbers, not "
                           f"({', '.join(type(size).__name__ for size in given)})")
    return _C.empty([operator.index(size) for size in given] if given else [0], dtype=kind, device="cpu")


def _new(cls: type[Tensor], *given: Any, device: Any = None) -> Tensor:
    """Tensor(tensor): the memory of a tensor, without its history.

    Tensor(numbers): a tensor of the default dtype of a sequence of numbers.
    Tensor(*sizes), Tensor(keyway.Size): a tensor of the default dtype with any elements.

    Raises keyway.TypeError for other arguments.
    """
    if len(given) == 1 and isinstance(given[0], Tensor) and device is None:
        return Tensor._make_subclass(cls, given[0])
    return Tensor._make_subclass(cls, _made(cls.__name__, _C.get_default_dtype(), given, device))


_new.__name__ = "__new__"


class TensorKind(type):
    """The class of classes like FloatTensor, which have no objects: calls make a Tensor, and isinstance asks for the
    dtype, and for the host's memory."""

    dtype: dtype

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype and instance.is_cpu

    def __call__(cls, *given: Any, device: Any = None) -> Any:
        if len(given) == 1 and isinstance(given[0], Tensor):
            if given[0].dtype is not cls.dtype:
                raise _C.TypeError(f"{cls.__name__}(): takes a tensor of {cls.dtype}, not {given[0].dtype}")
            return given[0].detach()
        return _made(cls.__name__, cls.dtype, given, device)


def _kind(of: dtype) -> Any:
    name = _TYPE_NAMES[of]
    doc = f"Tensors of {of} in the host's memory: {name}(numbers) or {name}(*sizes), and isinstance."
    return TensorKind(name, (), {"dtype": of, "__doc__": doc, "__module__": "keyway"})


DoubleTensor = _kind(_C.float64)
FloatTensor = _kind(_C.float32)
HalfTensor = _kind(_C.float16)
BFloat16Tensor = _kind(_C.bfloat16)
LongTensor = _kind(_C.int64)
IntTensor = _kind(_C.int32)
ShortTensor = _kind(_C.int16)
CharTensor = _kind(_C.int8)
ByteTensor = _kind(_C.uint8)
BoolTensor = _kind(_C.bool)

attach(Tensor, __new__=staticmethod(_new))
