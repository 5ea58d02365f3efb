"""Modified Bessel functions of order 0 and 1, in double precision: a power series near 0, an asymptotic one beyond."""

from __future__ import annotations

import math

from keyway import _C
from keyway._attach import attach
from keyway._C import Tensor
from keyway._methods import _checked

_FAR = 30.0  # where the series of 50 and of 24 terms both are as exact as the numbers


def as_float(input: Tensor, name: str) -> Tensor:
    """Integers as floats. Raises keyway.NotImplementedError for complex numbers."""
    given = _checked(input, name)
    if given.is_complex():
        raise _C.NotImplementedError(f"{name}(): there is none of {given.dtype}")
    return given if given.is_floating_point() else given.to(dtype=_C.get_default_dtype())


def _near(x: Tensor, order: int) -> Tensor:
    """The sum of (x^2 / 4)^k / (k! (k + order)!), which is I0, or I1 divided by x / 2."""
    t = x.square().div(4)
    total = _C.ones_like(t)
    for k in range(50, 0, -1):
        total = total.mul(t).div(k * (k + order)).add(1)
    return total


def _far(x: Tensor, order: int) -> Tensor:
    """exp(-x) times the function, for large x."""
    total = _C.ones_like(x)
    for k in range(24, 0, -1):
        total = total.mul((2 * k - 1) ** 2 - 4 * order).div(x.mul(8 * k)).add(1)
    return total.div(x.mul(2 * math.pi).sqrt())


def _bessel(input: Tensor, order: int, scaled: bool, name: str, out: Tensor | None) -> Tensor:
    given = as_float(input, name)
    x = given.to(dtype=_C.float64)
    size = x.abs()
    near = _near(x.clamp(-_FAR, _FAR), order)
    far = _far(size.clamp(min=_FAR), order)
    if order == 1:
        near, far = near.mul(x.clamp(-_FAR, _FAR)).div(2), far.mul(x.detach().sign())
    if scaled:
        near = near.mul(size.clamp(max=_FAR).neg().exp())
    else:
        far = far.mul(size.exp())
    made = _C.where(size <= _FAR, near, far).to(dtype=given.dtype)
    return made if out is None else _C.mul(made, 1, out=out)


def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0, elementwise; of integers as floats."""
    return _bessel(input, 0, False, "i0", out)


def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """i0 times exp(-|x|), elementwise."""
    return _bessel(input, 0, True, "i0e", out)


def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1, elementwise; of integers as floats."""
    return _bessel(input, 1, False, "i1", out)


def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """i1 times exp(-|x|), elementwise."""
    return _bessel(input, 1, True, "i1e", out)


def i0_(input: Tensor) -> Tensor:
    """i0 in place. Raises keyway.TypeError for integers."""
    if not _checked(input, "i0_").is_floating_point():
        raise _C.TypeError(f"i0_(): the result is a floating-point one, which {input.dtype} does not hold")
    return input.copy_(i0(input))


def _i0(self: Tensor) -> Tensor:
    return i0(self)


_i0.__name__, _i0.__doc__ = "i0", i0.__doc__

attach(Tensor, i0=_i0, i0_=i0_)
