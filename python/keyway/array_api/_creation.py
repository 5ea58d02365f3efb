"""Creation functions of the array API."""

from __future__ import annotations

import cmath
import contextlib
from typing import Any

from keyway import _C
from keyway._C import empty, empty_like, from_dlpack, full_like, ones, ones_like, zeros, zeros_like
from keyway.types import Device

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def asarray(obj: Any, /, *, dtype: _C.dtype | None = None, device: Device | None = None,
            copy: bool | None = None) -> _C.Tensor:  # fmt: skip
    """An array of numbers, sequences, arrays, buffers: over the memory of `obj` if `copy` allows and it has some."""
    has_interface = isinstance(obj, _C.Tensor) or hasattr(obj, "__dlpack__") or hasattr(obj, "__array_interface__")
    if not has_interface and not isinstance(obj, (list, tuple, int, float, complex)):
        with contextlib.suppress(TypeError):  # it has no buffer
            obj = _C._tensor_of_buffer(obj)
    return _C.asarray(obj, dtype=dtype, device=device, copy=copy)


def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: _C.dtype | None = None,
           device: Device | None = None) -> _C.Tensor:  # fmt: skip
    """Numbers from `start` (0 if only one is given) to before `stop`; none if `step` leads away from it."""
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        are_integers = all(isinstance(n, int) for n in (start, stop, step))
        dtype = _C.int64 if are_integers else _C.get_default_dtype()
    if step != 0 and (stop - start) * step < 0:
        stop = start
    return _C.arange(start, stop, step, dtype=dtype, device=device)


def full(shape: int | tuple[int, ...], fill_value: complex, *, dtype: _C.dtype | None = None,
         device: Device | None = None) -> _C.Tensor:  # fmt: skip
    """An array of one number everywhere, rounded to the dtype. Raises keyway.ValueError for one beyond its range."""
    sizes = (shape,) if isinstance(shape, int) else shape
    if isinstance(fill_value, (float, complex)) and cmath.isfinite(fill_value):
        exact = _C.tensor(fill_value, dtype=_C.complex128 if isinstance(fill_value, complex) else _C.float64)
        wanted = dtype or _C.promote_types(_C.get_default_dtype(), _C.complex32 if exact.is_complex() else _C.bool)
        rounded = exact.to(dtype=wanted)
        if (wanted.is_floating_point or wanted.is_complex) and rounded.isfinite().item():
            fill_value = rounded.item()
    return _C.full(sizes, fill_value, dtype=dtype, device=device)


def tril(x: _C.Tensor, /, *, k: int = 0) -> _C.Tensor:
    """Matrices with zeros above the k-th diagonal."""
    return _C.tril(x, k)


def triu(x: _C.Tensor, /, *, k: int = 0) -> _C.Tensor:
    """Matrices with zeros below the k-th diagonal."""
    return _C.triu(x, k)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: _C.dtype | None = None,
        device: Device | None = None) -> _C.Tensor:  # fmt: skip
    """Ones on the k-th diagonal, zeros elsewhere."""
    matrix = _C.zeros(n_rows, n_rows if n_cols is None else n_cols, dtype=dtype, device=device)
    matrix.diagonal(k).fill_(1)
    return matrix


def linspace(start: complex, stop: complex, /, num: int, *, dtype: _C.dtype | None = None, device: Device | None = None,
             endpoint: bool = True) -> _C.Tensor:  # fmt: skip
    """`num` numbers, evenly apart, from `start` to `stop`, which is the last one if `endpoint`."""
    if num < 0:
        raise _C.ValueError(f"linspace(): argument 'num' must not be negative, not {num}")
    if endpoint:
        return _C.linspace(start, stop, num, dtype=dtype, device=device)
    return _C.linspace(start, stop, num + 1, dtype=dtype, device=device).narrow(0, 0, num)


def meshgrid(*arrays: _C.Tensor, indexing: str = "xy") -> list[_C.Tensor]:
    """Coordinates of a grid from those of its axes, one array an axis; "xy" swaps the first two dimensions of "ij"."""
    if not arrays:
        return []
    return [grid.clone() for grid in _C.meshgrid([array.reshape(-1) for array in arrays], indexing=indexing)]
