"""Tensors and NumPy: `x.numpy()`, and what NumPy, and code for the array API, ask a tensor for.

NumPy and keyway.array_api are imported when they are first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keyway import _C
from keyway._tensor.attach import attach

if TYPE_CHECKING:
    import types

    import numpy

_DTYPES = frozenset({
    _C.bool, _C.uint8, _C.uint16, _C.uint32, _C.uint64, _C.int8, _C.int16, _C.int32, _C.int64, _C.float16, _C.float32,
    _C.float64, _C.complex64, _C.complex128,
})  # fmt: skip


def _numpy(self: _C.Tensor, *, force: bool = False) -> numpy.ndarray:
    """An array over the tensor's memory: what is written to one is in the other.

    With `force` it is, where that cannot be, an array over a copy: of a tensor that requires grad or is on another
    device. Raises keyway.TypeError for tensors on other devices and dtypes that NumPy does not have,
    keyway.AutogradError for tensors that require grad, but not where gradients are switched off (no_grad).
    """
    import numpy

    if force:
        self = self.detach().to(device="cpu")
    if self.device.type != "cpu":
        raise _C.TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
            "memory first."
        )
    if self.requires_grad and _C.is_grad_enabled():
        raise _C.AutogradError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if self.dtype not in _DTYPES:
        raise _C.TypeError(f"NumPy has no dtype {self.dtype}: convert the tensor first, as with .to(keyway.float32)")
    return numpy.asarray(memoryview(self.detach() if self.requires_grad else self))


def _array(self: _C.Tensor, dtype: Any = None, *, copy: bool | None = None) -> numpy.ndarray:
    """What numpy.asarray asks for, with NumPy 2's rules for `copy`: False raises ValueError where `dtype` needs one."""
    import numpy

    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"dtype {dtype} needs a copy of a tensor of {self.dtype}: not with copy=False")
        return array.astype(dtype)
    return numpy.array(array) if copy else array


def _array_wrap(self: _C.Tensor, array: numpy.ndarray, context: Any = None, return_scalar: bool = False) -> _C.Tensor:
    """What NumPy's functions of this tensor return: a tensor over their result."""
    return _C.from_numpy(array)


def _array_namespace(self: _C.Tensor, *, api_version: str | None = None) -> types.ModuleType:
    """The module of the array API's functions. Raises keyway.ValueError for a version that it is not of."""
    import keyway.array_api

    version = keyway.array_api.__array_api_version__
    if api_version not in (None, "2021.12", "2022.12", version):
        raise _C.ValueError(f"keyway.array_api is of version {version}, not {api_version}")
    return keyway.array_api


def _to_device(self: _C.Tensor, device: _C.device | str, /, *, stream: object = None) -> _C.Tensor:
    """The tensor on another device; itself if it is there. Raises keyway.NotImplementedError for a `stream`."""
    if stream is not None:
        raise _C.NotImplementedError("to_device(): argument 'stream' is not supported")
    return self.to(device=device)


attach(
    _C.Tensor, _numpy, _to_device,
    __array__=_array,
    __array_wrap__=_array_wrap,
    __array_priority__=1000,  # of two operands, the tensor's operator is asked first
    __array_namespace__=_array_namespace,
)
