"""Element-wise functions of the array API: operators under the standard's names, and what can be made of them."""

from __future__ import annotations

from keyway import _C
from keyway._C import cos, exp, expm1, isinf, isnan, log, log1p, maximum, minimum, sgn, sin, sqrt, square

bitwise_invert = _C.bitwise_not
divide = _C.div
equal = _C.eq
greater = _C.gt
greater_equal = _C.ge
less = _C.lt
less_equal = _C.le
multiply = _C.mul
negative = _C.neg
not_equal = _C.ne
positive = _C.clone
sign = sgn
subtract = _C.sub


def _real(x: _C.Tensor, name: str) -> _C.Tensor:
    if not x.is_floating_point():
        raise _C.TypeError(f"{name}(): argument 'x' must have a real floating-point dtype, not {x.dtype}")
    return x


def clip(x: _C.Tensor, /, min: float | _C.Tensor | None = None, max: float | _C.Tensor | None = None) -> _C.Tensor:
    """Each element, or the bound that it lies beyond. Bounds are numbers or arrays, in the dtype of `x`."""
    for bound, nearer in ((min, maximum), (max, minimum)):
        if bound is not None:
            x = nearer(x, _C.as_tensor(bound, dtype=x.dtype, device=x.device))
    return x.clone() if min is None and max is None else x


def isfinite(x: _C.Tensor, /) -> _C.Tensor:
    """Whether each element is neither infinite nor NaN."""
    return isinf(x).logical_or(isnan(x)).logical_not()


def signbit(x: _C.Tensor, /) -> _C.Tensor:
    """Whether each element has a minus sign, zeros included; a NaN counts as having none."""
    return _C.where(_real(x, "signbit").eq(0), x.reciprocal().lt(0), x.lt(0))


def copysign(x1: _C.Tensor, x2: _C.Tensor, /) -> _C.Tensor:
    """Elements of x1 with the signs of those of x2."""
    return _C.where(signbit(x2), x1.abs().neg(), x1.abs())


def log2(x: _C.Tensor, /) -> _C.Tensor:
    """The logarithm to base 2."""
    return log(x).mul(1.4426950408889634)


def log10(x: _C.Tensor, /) -> _C.Tensor:
    """The logarithm to base 10."""
    return log(x).mul(0.4342944819032518)


def logaddexp(x1: _C.Tensor, x2: _C.Tensor, /) -> _C.Tensor:
    """log(exp(x1) + exp(x2)) without overflow."""
    larger, smaller = maximum(x1, x2), minimum(x1, x2)
    # Where both are the same infinity, their difference would be NaN.
    gap = _C.where(larger.eq(smaller), larger.mul(0).masked_fill(isinf(larger), 0), smaller.sub(larger))
    return larger.add(log1p(exp(gap)))


def hypot(x1: _C.Tensor, x2: _C.Tensor, /) -> _C.Tensor:
    """sqrt(x1**2 + x2**2) without overflow; infinite where either is."""
    larger, smaller = maximum(x1.abs(), x2.abs()), minimum(x1.abs(), x2.abs())
    ratio = smaller.div(larger).masked_fill(larger.eq(0), 0)
    length = larger.mul(sqrt(square(ratio).add(1)))
    return length.masked_fill(isinf(x1).logical_or(isinf(x2)), float("inf"))


def tan(x: _C.Tensor, /) -> _C.Tensor:
    """The tangent of angles in radians."""
    return sin(x).div(cos(x))


def cosh(x: _C.Tensor, /) -> _C.Tensor:
    """The hyperbolic cosine."""
    half = exp(x.abs().mul(0.5) if not x.is_complex() else x.mul(0.5))  # squared last, to overflow as late as cosh does
    return half.mul(0.5).mul(half).add(half.reciprocal().mul(0.5).mul(half.reciprocal()))


def sinh(x: _C.Tensor, /) -> _C.Tensor:
    """The hyperbolic sine of real numbers."""
    size = _real(x, "sinh").abs()
    small = expm1(size)
    half = exp(size.mul(0.5))
    large = half.mul(0.5).mul(half)
    return sgn(x).mul(_C.where(size.lt(20), small.add(small.div(small.add(1))).mul(0.5), large))


def asinh(x: _C.Tensor, /) -> _C.Tensor:
    """The inverse hyperbolic sine of real numbers."""
    size = _real(x, "asinh").abs()
    near = minimum(size, _C.full_like(size, 1e8))
    small = log1p(near.add(square(near).div(sqrt(square(near).add(1)).add(1))))
    return sgn(x).mul(_C.where(size.gt(near), log(size).add(0.6931471805599453), small))


def atanh(x: _C.Tensor, /) -> _C.Tensor:
    """The inverse hyperbolic tangent of real numbers."""
    size = _real(x, "atanh").abs()
    return sgn(x).mul(log1p(size.mul(2).div(size.neg().add(1))).mul(0.5))


def acosh(x: _C.Tensor, /) -> _C.Tensor:
    """The inverse hyperbolic cosine of real numbers."""
    above = minimum(_real(x, "acosh").sub(1), _C.full_like(x, 1e8))
    small = log1p(above.add(sqrt(above.mul(2).add(square(above)))))
    return _C.where(x.gt(1e8), log(x).add(0.6931471805599453), small)
