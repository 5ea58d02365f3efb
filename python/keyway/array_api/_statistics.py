"""Statistical functions of the array API, all and any."""

from __future__ import annotations

from keyway import _C
from keyway.array_api._axes import Axis, axis_number, reduced

_UNSIGNED = (_C.uint8, _C.uint16, _C.uint32, _C.uint64)


def sum_dtype(x: _C.Tensor, dtype: _C.dtype | None) -> _C.dtype:
    """What sums and products are made in, where nobody says: 64 bits of the kind for integers."""
    if dtype is not None or x.is_floating_point() or x.is_complex():
        return dtype or x.dtype
    return _C.uint64 if x.dtype in _UNSIGNED else _C.int64


def sum(x: _C.Tensor, /, *, axis: Axis = None, dtype: _C.dtype | None = None, keepdims: bool = False) -> _C.Tensor:
    """Sums; of integers as int64 or uint64, unless `dtype` says something else."""
    return reduced(x, axis, keepdims, lambda rows: rows.sum(-1, dtype=sum_dtype(x, dtype)))


def prod(x: _C.Tensor, /, *, axis: Axis = None, dtype: _C.dtype | None = None, keepdims: bool = False) -> _C.Tensor:
    """Products; of integers as int64 or uint64, unless `dtype` says something else. Of no elements 1."""
    return reduced(x, axis, keepdims, lambda rows: rows.prod(-1, dtype=sum_dtype(x, dtype)))


def max(x: _C.Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> _C.Tensor:
    """The largest elements; NaN where there is one."""
    return reduced(x, axis, keepdims, lambda rows: rows.max(-1)[0])


def min(x: _C.Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> _C.Tensor:
    """The smallest elements; NaN where there is one."""
    return reduced(x, axis, keepdims, lambda rows: rows.min(-1)[0])


def mean(x: _C.Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> _C.Tensor:
    """Means of floating or complex elements."""
    return reduced(x, axis, keepdims, lambda rows: rows.mean(-1))


def var(x: _C.Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> _C.Tensor:
    """Variances: sums of squared distances from the mean, divided by the count less `correction`."""
    return reduced(x, axis, keepdims, lambda rows: rows.var(-1, correction=correction))


def std(x: _C.Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> _C.Tensor:
    """Standard deviations: square roots of variances."""
    return reduced(x, axis, keepdims, lambda rows: rows.std(-1, correction=correction))


def cumulative_sum(x: _C.Tensor, /, *, axis: int | None = None, dtype: _C.dtype | None = None,
                   include_initial: bool = False) -> _C.Tensor:  # fmt: skip
    """Sums of the elements up to each index of an axis, which must be named if there are several; with
    `include_initial` after a 0."""
    if axis is None:
        if x.ndim != 1:
            raise _C.ValueError(f"cumulative_sum(): needs argument 'axis' for {x.ndim} dimensions")
        axis = 0
    axis = axis_number(axis, x.ndim)
    sums = x.cumsum(axis, dtype=sum_dtype(x, dtype))
    if not include_initial:
        return sums
    sizes = tuple(1 if a == axis else n for a, n in enumerate(x.shape))
    return _C.cat([sums.new_zeros(sizes), sums], axis)


def all(x: _C.Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> _C.Tensor:
    """Whether no element is 0."""
    return reduced(x, axis, keepdims, lambda rows: rows.all(-1).bool())


def any(x: _C.Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> _C.Tensor:
    """Whether an element is not 0."""
    return reduced(x, axis, keepdims, lambda rows: rows.any(-1).bool())
