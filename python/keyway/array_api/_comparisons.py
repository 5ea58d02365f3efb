"""Comparisons of values: of 64-bit integers with and without a sign, and of large integers with floating numbers, no
dtype holds both, so that what one is converted to may compare otherwise than it does."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway.array_api._data_types import KINDS, promoted


def _is_large_integer(dtype: _C.dtype) -> bool:
    return dtype in (_C.int32, _C.int64, _C.uint32, _C.uint64)


def _has_no_common_dtype(a: Any, b: Any) -> bool:
    """Whether two arrays are of a 64-bit integer dtype with a sign and without, or of large integers and floating."""
    if not isinstance(a, _C.Tensor) or not isinstance(b, _C.Tensor):
        return False
    if a.is_floating_point() or b.is_floating_point():
        return _is_large_integer(a.dtype) or _is_large_integer(b.dtype)
    return (a.dtype is _C.uint64 and b.dtype in KINDS["signed integer"]
            or b.dtype is _C.uint64 and a.dtype in KINDS["signed integer"])  # fmt: skip


def _range(dtype: _C.dtype) -> tuple[float, float]:
    """The least integer of 64 bits, and the one behind the greatest, which floating numbers hold exactly."""
    return (0.0, 2.0**64) if dtype is _C.uint64 else (-(2.0**63), 2.0**63)


def _of_64_bits(integers: _C.Tensor) -> _C.Tensor:
    return integers if integers.dtype is _C.uint64 else integers.to(dtype=_C.int64)


def _whole(numbers: _C.Tensor, like: _C.Tensor) -> tuple[_C.Tensor, _C.Tensor]:
    """Whole floating numbers as integers of the dtype of `like`, and which of them there are; the others are 0."""
    low, high = _range(like.dtype)
    inside = numbers.ge(low).logical_and(numbers.lt(high))
    return _C.where(inside, numbers, 0).to(dtype=like.dtype), inside


def _less(a: _C.Tensor, b: _C.Tensor) -> _C.Tensor:
    if a.is_floating_point():
        numbers, integers = a.to(dtype=_C.float64), _of_64_bits(b)
        floors, inside = _whole(numbers.floor(), integers)
        return _C.where(inside, floors.lt(integers), numbers.lt(_range(integers.dtype)[0]))
    if b.is_floating_point():
        integers, numbers = _of_64_bits(a), b.to(dtype=_C.float64)
        ceilings, inside = _whole(numbers.ceil(), integers)
        return _C.where(inside, integers.lt(ceilings), numbers.ge(_range(integers.dtype)[1]))
    if a.dtype is _C.uint64:
        return b.ge(0).logical_and(a.lt(b.to(dtype=_C.uint64)))
    return a.lt(0).logical_or(a.to(dtype=_C.uint64).lt(b))


def _equal(a: _C.Tensor, b: _C.Tensor) -> _C.Tensor:
    if a.is_floating_point():
        a, b = b, a
    if b.is_floating_point():
        integers, numbers = _of_64_bits(a), b.to(dtype=_C.float64)
        floors, inside = _whole(numbers.floor(), integers)
        return inside.logical_and(numbers.eq(numbers.floor())).logical_and(integers.eq(floors))
    if a.dtype is _C.uint64:
        a, b = b, a
    return a.ge(0).logical_and(a.to(dtype=_C.uint64).eq(b))


def compared(name: str, a: Any, b: Any) -> _C.Tensor:
    """`equal`, `less` and so on of arrays or numbers; NaN is unequal to all, and neither less nor greater."""
    if not _has_no_common_dtype(a, b):
        return getattr(_C, {"equal": "eq"}.get(name, name))(*promoted(a, b))  # type: ignore[no-any-return]
    a, b = _C.broadcast_tensors([a, b])
    if name in ("equal", "not_equal"):
        equal = _equal(a, b)
        return equal if name == "equal" else equal.logical_not()
    less = _less(a, b) if name.startswith("less") else _less(b, a)
    return less.logical_or(_equal(a, b)) if name.endswith("_equal") else less
