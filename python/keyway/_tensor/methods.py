"""Methods of Tensor that are no operators: conversions in PyTorch's forms, transposed attributes, compositions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

from keyway import _C
from keyway._backends import with_device_methods
from keyway._tensor.attach import attach
from keyway._C import Tensor, device, dtype, memory_format
from keyway.overrides import handle_keyway_function, has_keyway_function

_to_by_schema = Tensor.to


def _to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor with another dtype or on another device; itself if nothing changes and `copy` is not set.

    to(dtype, non_blocking=False, copy=False, *, memory_format=None)
    to(device=None, dtype=None, non_blocking=False, copy=False, *, memory_format=None)
    to(other, non_blocking=False, copy=False, *, memory_format=None): dtype and device of another tensor

    Raises keyway.TypeError for other arguments, keyway.Error for a device that is not there.
    """
    if args and isinstance(args[0], (Tensor, dtype, type)):
        return _to_by_schema(self, *args, **kwargs)
    if "other" in kwargs:
        return _to_by_schema(self, *args, **kwargs)
    return _to_options(self, *args, **kwargs)


def _to_options(
    self: Tensor,
    device: device | str | int | None = None,
    dtype: dtype | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    *,
    memory_format: memory_format | None = None,
) -> Tensor:
    return _to_by_schema(
        self, dtype=dtype, device=device, non_blocking=non_blocking, copy=copy, memory_format=memory_format
    )


_to_options.__name__ = _to_options.__qualname__ = "to"  # in errors about the arguments


def _conversion(name: str, target: dtype) -> Any:
    def convert(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        if memory_format is None:
            return _to_by_schema(self, target)
        return _to_by_schema(self, target, memory_format=memory_format)

    convert.__name__ = name
    convert.__doc__ = f"The tensor as {target}; itself if it is that."
    return convert


# Dtypes and the old names of their tensors, which Tensor.type() gives, by the methods that convert to them.
_KINDS = {
    "double": (_C.float64, "DoubleTensor"),
    "float": (_C.float32, "FloatTensor"),
    "half": (_C.float16, "HalfTensor"),
    "bfloat16": (_C.bfloat16, "BFloat16Tensor"),
    "long": (_C.int64, "LongTensor"),
    "int": (_C.int32, "IntTensor"),
    "short": (_C.int16, "ShortTensor"),
    "char": (_C.int8, "CharTensor"),
    "byte": (_C.uint8, "ByteTensor"),
    "bool": (_C.bool, "BoolTensor"),
    "cdouble": (_C.complex128, "ComplexDoubleTensor"),
    "cfloat": (_C.complex64, "ComplexFloatTensor"),
    "chalf": (_C.complex32, "ComplexHalfTensor"),
}
_TYPE_NAMES = dict(_KINDS.values())


def _cpu(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
    """The tensor in the host's memory; itself if it lies there."""
    return _to_by_schema(self, device="cpu", memory_format=memory_format)


def _cuda(
    self: Tensor,
    device: device | str | int | None = None,
    non_blocking: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """The tensor on a CUDA device, by default the current one. Raises keyway.Error where there is none."""
    where = _C.device("cuda" if device is None else device)
    if where.type != "cuda":
        raise _C.ValueError(f"cuda(): {where} is no CUDA device")
    return _to_by_schema(self, device=where, non_blocking=non_blocking, memory_format=memory_format)


def _type(self: Tensor, dtype: dtype | str | None = None, non_blocking: bool = False) -> Tensor | str:
    """The tensor with another dtype, given as such or as "keyway.FloatTensor"; without argument the name of that kind.

    Raises keyway.ValueError for another name.
    """
    prefix = "keyway." if self.is_cpu else f"keyway.{self.device.type}."
    if dtype is None:
        return prefix + _TYPE_NAMES.get(self.dtype, str(self.dtype).removeprefix("keyway."))
    if isinstance(dtype, type) and hasattr(dtype, "dtype"):  # FloatTensor and the like
        dtype = dtype.dtype
    if isinstance(dtype, str):
        found = [known for known, name in _TYPE_NAMES.items() if prefix + name == dtype]
        if not found:
            raise _C.ValueError(f"type(): there is no {dtype!r} on {self.device}")
        dtype = found[0]
    return _to_by_schema(self, dtype=dtype, non_blocking=non_blocking)


def _transposed(self: Tensor) -> Tensor:
    """A view with the dimensions in reverse order."""
    return self.permute(tuple(reversed(range(self.dim()))))


def _matrix_transposed(self: Tensor) -> Tensor:
    """A view with the last two dimensions exchanged. Raises keyway.ValueError with fewer than two."""
    if self.dim() == 1:
        raise _C.ValueError("mT is there for matrices and batches of them, not for a tensor of 1 dimension")
    return self.transpose(-2, -1) if self.dim() > 1 else self


def _adjoint(self: Tensor) -> Tensor:
    """The matrix transposed and, if it is complex, conjugated. Raises keyway.ValueError unless there are two dimensions,
    or none."""
    if self.dim() not in (0, 2):
        raise _C.ValueError(f"H is there for matrices, not for a tensor of {self.dim()} dimensions")
    return _matrix_adjoint(self)


def _matrix_adjoint(self: Tensor) -> Tensor:
    """The matrices transposed and, if they are complex, conjugated. Raises keyway.ValueError for 1 dimension."""
    return _matrix_transposed(self.conj_physical())


def conj(input: Tensor) -> Tensor:
    """The complex conjugate, in memory of its own; of a real tensor itself."""
    return checked(input, "conj").conj_physical()


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor: none is conjugated only when it is read."""
    return checked(input, "resolve_conj")


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor: none is negated only when it is read."""
    return checked(input, "resolve_neg")


def is_conj(input: Tensor) -> bool:
    """False: conjugates are computed at once."""
    return checked(input, "is_conj") is None


def is_neg(input: Tensor) -> bool:
    """False: negatives are computed at once."""
    return checked(input, "is_neg") is None


def adjoint(input: Tensor) -> Tensor:
    """The matrices transposed and, if they are complex, conjugated; a tensor without dimensions is itself. Raises
    keyway.ValueError for 1 dimension."""
    return _matrix_adjoint(checked(input, "adjoint"))


def _part(function: Any) -> property:
    def write(self: Tensor, value: Any) -> None:
        function(self).copy_(value if isinstance(value, Tensor) else _C.as_tensor(value, device=self.device))

    return property(lambda self: function(self), write, doc=function.__doc__)


def checked(given: object, function: str, argument: str = "input") -> Tensor:
    """What a function was given as an argument. Raises keyway.TypeError unless it is a Tensor."""
    if not isinstance(given, Tensor):
        raise _C.TypeError(f"{function}(): argument '{argument}' must be Tensor, not {type(given).__name__}")
    return given


def put(made: Tensor, out: Tensor | None, function: str) -> Tensor:
    """A result, or what was given for it, which takes its shape."""
    return made if out is None else checked(out, function, "out").resize_(made.shape).copy_(made)


def stored(made: Tensor, out: Tensor | None, function: str) -> Tensor:
    """A result, or what was given for it, which takes its shape and must have its dtype."""
    if out is not None and checked(out, function, "out").dtype is not made.dtype:
        raise _C.TypeError(f"{function}(): argument 'out' is {out.dtype}, but must be {made.dtype}")
    return put(made, out, function)


_nonzero_by_schema = _C.nonzero


def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """Where the elements are that are not zero: their indices, one row each, int64; with `as_tuple` one tensor for each
    dimension, which index the tensor. A tensor without dimensions counts as one of 1 there.

    Raises keyway.TypeError for `out` with `as_tuple`.
    """
    if not as_tuple:
        return _nonzero_by_schema(input, out=out)
    if out is not None:
        raise _C.TypeError("nonzero(): argument 'out' is not there with as_tuple=True")
    return _nonzero_by_schema(input if checked(input, "nonzero").dim() else input.reshape(1)).unbind(1)


def _nonzero(self: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    return nonzero(self, as_tuple=as_tuple)


def get_device(input: Tensor) -> int:
    """The index of the device; -1 in the host's memory."""
    return -1 if checked(input, "get_device").is_cpu else input.device.index or 0


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return checked(input, "is_inference").is_inference()


def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return checked(input, "is_signed").dtype.is_signed


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether another tensor has the same shape."""
    return checked(input, "is_same_size").shape == checked(other, "is_same_size", "other").shape


def _is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether another tensor is the same memory in the same shape."""
    return (_C._storage_address(self) == _C._storage_address(checked(tensor, "is_set_to", "tensor"))
            and self.shape == tensor.shape and self.stride() == tensor.stride()
            and self.storage_offset() == tensor.storage_offset())


def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """The element of the tensor where the condition holds, else that of `other`, a tensor or a number."""
    return _C.where(condition, self, other)


def _sum_to_size(self: Tensor, *given: Any, size: Any = None) -> Tensor:
    """Sums over dimensions such that the tensor has a size that broadcasts to its own.

    Raises keyway.ValueError for one that does not, keyway.TypeError for what is none.
    """
    asked = size if size is not None else given[0] if len(given) == 1 else given
    asked = (asked,) if isinstance(asked, SupportsIndex) else asked
    if not isinstance(asked, Sequence) or not all(isinstance(n, SupportsIndex) for n in asked) or (given and size):
        raise _C.TypeError("sum_to_size(): argument 'size' must be a tuple of ints")
    wanted, sizes = tuple(map(operator.index, asked)), tuple(self.shape)
    extra = len(sizes) - len(wanted)
    if extra < 0 or any(w not in (1, n) for w, n in zip(wanted, sizes[extra:])):
        raise _C.ValueError(f"sum_to_size(): size {list(wanted)} does not broadcast to {list(sizes)}")
    if not wanted:
        return self.sum()
    over = [*range(extra), *(extra + i for i, w in enumerate(wanted) if w == 1 and sizes[extra + i] != 1)]
    return self.sum(over, True).reshape(wanted) if over else self.reshape(wanted)


def _new_empty_strided(
    self: Tensor, size: Any, stride: Any, *, dtype: dtype | None = None, layout: _C.layout | None = None,
    device: device | str | int | None = None, pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:
    """A tensor of these sizes and strides that is like this one in dtype and device, with any elements."""
    return _C.empty_strided(
        size, stride, dtype=self.dtype if dtype is None else dtype, layout=layout,
        device=self.device if device is None else device, pin_memory=pin_memory, requires_grad=requires_grad)


def _reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the shape of another: a view where it can be. Raises keyway.ValueError if the elements differ in
    number."""
    return self.reshape(checked(other, "reshape_as", "other").shape)


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
    """Gives the tensor the size of another, as resize_ does."""
    size = checked(the_template, "resize_as_", "the_template").shape
    return checked(input, "resize_as_").resize_(size, memory_format=memory_format)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """chunk by another name."""
    return tuple(_C.chunk(input, chunks, dim))


def _record_stream(self: Tensor, stream: _C.Stream) -> None:
    """Says that work of `stream`, which is not the one that the tensor was made for, uses its memory: once freed, that is
    given out again only after this work.

    Raises keyway.ValueError for a stream of another type of device than the tensor's.
    """
    _C._devices.record_stream(self, stream)


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """split by another name."""
    return tuple(_C.split(input, split_size, dim))


def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """split_with_sizes by another name."""
    return tuple(_C.split_with_sizes(input, split_sizes, dim))


def typename(obj: object) -> str:
    """The name of a tensor's kind, as Tensor.type() gives it; of other objects that of their class."""
    if isinstance(obj, Tensor):
        return str(_type(obj))
    return f"{type(obj).__module__}.{type(obj).__qualname__}".removeprefix("builtins.")


def is_tensor(obj: object) -> bool:
    """Whether an object is a keyway.Tensor."""
    return isinstance(obj, Tensor)


def numel(input: Tensor) -> int:
    """The number of elements."""
    if has_keyway_function((input,)):
        return int(handle_keyway_function(numel, (input,), input))
    return checked(input, "numel").numel()


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating-point one."""
    return checked(input, "is_floating_point").is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex one."""
    return checked(input, "is_complex").is_complex()


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero. Raises keyway.ValueError unless there is one element."""
    return bool(checked(input, "is_nonzero"))


_ABSENT_KINDS = ("is_mkldnn", "is_mps", "is_nested", "is_quantized", "is_sparse", "is_sparse_csr", "is_xpu")


def _no(self: Tensor) -> bool:
    return False


attach(
    Tensor, _to, _cpu, _cuda, _type, conj, resolve_conj, resolve_neg, adjoint, is_conj, is_neg, is_nonzero, _nonzero,
    get_device, is_signed, is_same_size, _is_set_to, _new_empty_strided, _record_stream, _reshape_as, resize_as_,
    _sum_to_size, unsafe_chunk, unsafe_split, unsafe_split_with_sizes, _where,
    T=property(_transposed),
    mT=property(_matrix_transposed),
    H=property(_adjoint),
    mH=property(_matrix_adjoint),
    real=_part(_C.real),
    imag=_part(_C.imag),
    nelement=Tensor.numel,
    ndimension=Tensor.dim,
    **{name: property(_no, doc="False: there are no such tensors.") for name in _ABSENT_KINDS},
    **{name: _conversion(name, target) for name, (target, _) in _KINDS.items()},
)
with_device_methods(Tensor)
