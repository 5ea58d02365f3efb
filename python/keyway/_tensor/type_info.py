"""`keyway.finfo` and `keyway.iinfo`: what the numbers of a dtype are like."""

from __future__ import annotations

import math

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import dtype

# Bits of the fraction, exponents of the least and greatest normal number, and where it is not that of IEEE 754 the
# greatest number.
_FLOATS: dict[dtype, tuple[int, int, int, float | None]] = {
    _C.float16: (10, -14, 15, None),
    _C.bfloat16: (7, -126, 127, None),
    _C.float32: (23, -126, 127, None),
    _C.float64: (52, -1022, 1023, None),
    _C.float8_e5m2: (2, -14, 15, None),
    _C.float8_e4m3fn: (3, -6, 8, 448.0),
    _C.float8_e5m2fnuz: (2, -15, 15, None),
    _C.float8_e4m3fnuz: (3, -7, 7, None),
}
_PARTS = {_C.complex32: _C.float16, _C.complex64: _C.float32, _C.complex128: _C.float64}
_SIGNED = (_C.int8, _C.int16, _C.int32, _C.int64)
_UNSIGNED = (_C.uint8, _C.uint16, _C.uint32, _C.uint64)


def _name(type: dtype) -> str:
    return str(type).removeprefix("keyway.")


class finfo:
    """The numbers of a floating-point dtype, or of the parts of a complex one; without argument of the default dtype.

    bits: their size. eps: from 1 to the next greater number. max, min: the greatest number and its negative.
    tiny, smallest_normal: the least positive number of full precision. resolution: 10 to the power of minus the decimal
    digits that survive. dtype: the name.

    Raises keyway.TypeError for other dtypes.
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: dtype | None = None) -> None:
        given = _C.get_default_dtype() if type is None else type
        part = _PARTS.get(given, given)
        if part not in _FLOATS:
            raise _C.TypeError(f"finfo() takes a floating-point dtype, not {given}; iinfo() is for integers")
        fraction, least, greatest, maximum = _FLOATS[part]
        self.bits: int = part.itemsize * 8
        self.eps: float = 2.0**-fraction
        self.max: float = (2.0 - self.eps) * 2.0**greatest if maximum is None else maximum
        self.min: float = -self.max
        self.tiny: float = 2.0**least
        self.smallest_normal: float = self.tiny
        self.resolution: float = float(f"1e-{math.floor(fraction * math.log10(2))}")
        self.dtype: str = _name(part)

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


class iinfo:
    """The numbers of an integer dtype.

    bits: their size. min, max: the least and the greatest. dtype: the name.

    Raises keyway.TypeError for other dtypes.
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: dtype) -> None:
        if type not in _SIGNED and type not in _UNSIGNED:
            raise _C.TypeError(f"iinfo() takes an integer dtype, not {type}; finfo() is for floating-point ones")
        signed = type in _SIGNED
        self.bits: int = type.itemsize * 8
        self.min: int = -(1 << self.bits - 1) if signed else 0
        self.max: int = (1 << self.bits - signed) - 1
        self.dtype: str = _name(type)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


def _to_real(self: dtype) -> dtype:
    """The dtype of the parts of a complex one; itself of others."""
    return _PARTS.get(self, self)


def _to_complex(self: dtype) -> dtype:
    """The complex dtype whose parts are of this one; itself if it is complex.

    Raises keyway.TypeError if there is none."""
    wholes = {part: whole for whole, part in _PARTS.items()}
    if self not in wholes and self not in _PARTS:
        raise _C.TypeError(f"to_complex(): there are no complex numbers of {self}")
    return wholes.get(self, self)


attach(dtype, _to_real, _to_complex)
