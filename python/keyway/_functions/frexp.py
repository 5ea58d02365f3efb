"""Floating-point numbers as a fraction times a power of 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor
from keyway._tensor.methods import checked, stored


class Frexp(NamedTuple):
    """What frexp returns."""

    mantissa: Tensor
    exponent: Tensor


def _power_of_2(exponent: Tensor) -> Tensor:
    return exponent.add(1023).bitwise_left_shift(52).view(_C.float64)


def frexp(input: Tensor, *, out: Sequence[Tensor] | None = None) -> Frexp:
    """Numbers as mantissa * 2^exponent: mantissas of the input's dtype whose size is in [0.5, 1), and exponents of
    int32. Zeros, infinities and NaN are their mantissa, with exponent 0.

    Raises keyway.DtypeError for what is no floating-point dtype.
    """
    if not checked(input, "frexp").is_floating_point():
        raise _C.DtypeError(f"frexp(): there is none of {input.dtype}")
    x = input.to(dtype=_C.float64)
    least = 2.0**-1022
    subnormal = x.detach().abs() < least
    bits = _C.where(subnormal, x.detach() * 2.0**54, x.detach()).view(_C.int64)
    exponent = bits.bitwise_right_shift(52).bitwise_and(2047).sub(1022).sub(subnormal.to(dtype=_C.int64) * 54)
    exponent = exponent.masked_fill(_C.logical_or(x.detach() == 0, x.detach().isfinite().logical_not()), 0)
    half = exponent.floor_divide(2)  # as 2^exponent itself may be no number
    mantissa = x.mul(_power_of_2(half.neg())).mul(_power_of_2(half.sub(exponent))).to(dtype=input.dtype)
    made = Frexp(mantissa, exponent.to(dtype=_C.int32))
    if out is None:
        return made
    return Frexp(*(stored(part, target, "frexp") for target, part in zip(out, made)))


def _frexp(self: Tensor) -> Frexp:
    return frexp(self)


attach(Tensor, _frexp)
