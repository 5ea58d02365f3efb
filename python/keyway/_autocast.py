"""Regions of a thread whose calls run in short dtypes, and functions of autograd within them."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.autograd.grad_mode import Mode

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def is_autocast_available(device_type: str) -> bool:
    """Whether calls on devices of the type can be autocast: so it is of every type that there is."""
    try:
        _C.is_autocast_enabled(device_type)
    except _C.ValueError:
        return False
    return True


class autocast(Mode):  # noqa: N801
    """Calls of this thread on devices of a type are autocast until the end of the block; a decorator too.

    Products of matrices and convolutions run in ``dtype`` (float16 or bfloat16; by default bfloat16 on the CPU, else
    float16), what needs the range of float32 in float32. Tensors of other dtypes than these three are left alone, and
    so are in-place and out= calls. With ``cache_enabled``, the default, a weight is converted once in an outermost
    block. Backward is never autocast, and belongs behind the block.

    Raises keyway.ValueError for an unknown device type and keyway.TypeError for another dtype. Where there is no
    device of the type it warns and changes nothing.
    """

    def __init__(self, device_type: str, dtype: _C.dtype | None = None, enabled: bool = True,
                 cache_enabled: bool | None = None) -> None:
        super().__init__()
        if not isinstance(device_type, str):
            raise _C.TypeError(f"autocast: device_type is a str such as 'cuda', not {type(device_type).__name__}")
        self.device = _C.device(device_type).type  # a library may bring it
        self.fast_dtype = _C.get_autocast_dtype(device_type) if dtype is None else dtype
        _check_dtype(self.fast_dtype)
        self.enabled = bool(enabled) and _is_there(device_type)
        self.cache_enabled = cache_enabled

    def clone(self) -> autocast:
        return type(self)(self.device, self.fast_dtype, self.enabled, self.cache_enabled)

    def _enter(self) -> Any:
        before = (_C.is_autocast_enabled(self.device), _C.get_autocast_dtype(self.device),
                  _C.is_autocast_cache_enabled())
        self._set(self.enabled, self.fast_dtype, before[2] if self.cache_enabled is None else self.cache_enabled)
        _C.autocast_increment_nesting()
        return before

    def _leave(self, before: Any) -> None:
        self._set(*before)
        _C.autocast_decrement_nesting()

    def _set(self, enabled: bool, dtype: _C.dtype, cache: bool) -> None:
        _C.set_autocast_enabled(self.device, enabled)
        _C.set_autocast_dtype(self.device, dtype)
        _C.set_autocast_cache_enabled(cache)


def _is_there(device_type: str) -> bool:
    if device_type in ("cpu", "meta") or _C._devices.device_count(device_type) > 0:
        return True
    warnings.warn(f"autocast: device_type is '{device_type}', but there is no such device; nothing is autocast",
                  stacklevel=3)
    return False


def as_now(arguments: Iterable[Any]) -> Callable[[], AbstractContextManager[Any]]:
    """Makes context managers in which this thread's calls are autocast as they are now, on the CPU and on the devices of
    the tensors among `arguments`."""
    types = {"cpu"} | {value.device.type for value in arguments if isinstance(value, Tensor)}
    cache = _C.is_autocast_cache_enabled()
    now = [(name, _C.get_autocast_dtype(name), _C.is_autocast_enabled(name), cache) for name in types]

    def again() -> AbstractContextManager[Any]:
        stack = contextlib.ExitStack()
        for settings in now:
            stack.enter_context(autocast(*settings))
        return stack

    return again


def cast_arguments(value: Any, device_type: str, dtype: _C.dtype) -> Any:
    """Tensors that autocast converts, in lists, tuples and dicts too, in `dtype`; all else as it is."""
    if isinstance(value, Tensor):
        takes_part = value.is_floating_point() and value.device.type == device_type and value.dtype != _C.float64
        return value.to(dtype) if takes_part else value
    if isinstance(value, dict):
        return type(value)((key, cast_arguments(item, device_type, dtype)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        items = [cast_arguments(item, device_type, dtype) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def autocast_kernel(op: Callable[..., Any], device_type: str, dtype: _C.dtype) -> Callable[..., Any]:
    """A kernel for an operator at the autocast key of a device type."""
    _check_dtype(dtype)
    if not is_autocast_available(device_type):
        raise _C.ValueError(f"autocast: there is no device type {device_type!r}")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        enabled = _C.is_autocast_enabled(device_type)
        with autocast(device_type, enabled=False):
            if enabled:
                args, kwargs = cast_arguments((args, kwargs), device_type, dtype)
            return op(*args, **kwargs)

    return kernel


def _check_dtype(dtype: _C.dtype) -> None:
    if dtype not in (_C.float16, _C.bfloat16, _C.float32):
        raise _C.TypeError(f"autocast: dtype is {dtype}, but calls are autocast to float16 or bfloat16")


def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: _C.dtype | None = None) -> Any:
    """Decorates forward of a Function. Its backward, decorated with custom_bwd, is autocast as forward was. With
    ``cast_inputs``, where calls are autocast, tensors are converted to that dtype and forward is not autocast."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        enabled = _C.is_autocast_enabled(device_type)
        ctx._autocast = (enabled and cast_inputs is None, _C.get_autocast_dtype(device_type))
        if cast_inputs is None or not enabled:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *cast_arguments(args, device_type, cast_inputs),
                       **cast_arguments(kwargs, device_type, cast_inputs))

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorates backward of a Function whose forward is decorated with custom_fwd."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        enabled, dtype = ctx._autocast
        with autocast(device_type, dtype, enabled):
            return bwd(ctx, *args, **kwargs)

    return decorated
