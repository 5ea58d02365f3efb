"""Logarithms of gamma-distributed numbers, with their gradient.

Marsaglia and Tsang's rejection draws them. A draw x of the shape parameter a moves with a at its fixed probability F,
so that dx/da = -(dF/da) / F': the implicit reparameterisation. Logarithms, because of a small a most draws are below
the smallest float.
"""

from __future__ import annotations

import math
from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway._tensor.type_info import finfo
from keyway.autograd.function import Function, FunctionCtx, once_differentiable

_SERIES_BELOW = 10.0
_STEP = 0.125


def exp_within(logarithm: Tensor, dtype: _C.dtype, low: float = 0.0, high: float = math.inf) -> Tensor:
    """exp, from `low` to `high`. Its gradient is the result, at the bounds too: where a draw is kept from what the
    dtype cannot hold, the gradient of its logarithm is still that of the draw's own."""
    result: Tensor = _ExpWithin.apply(logarithm, dtype, low, high)
    return result


def sigmoid_within(logit: Tensor, dtype: _C.dtype) -> Tensor:
    """sigmoid, kept from 0 and 1. Its gradient is that of the result, as in exp_within."""
    result: Tensor = _SigmoidWithin.apply(logit, dtype)
    return result


class _ExpWithin(Function):
    @staticmethod
    def forward(ctx: FunctionCtx, logarithm: Tensor, dtype: _C.dtype, low: float, high: float) -> Tensor:
        result = logarithm.exp().clamp(low, high).to(dtype=dtype)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        (result,) = ctx.saved_tensors
        return grad.to(dtype=_C.float64) * result, None, None, None


class _SigmoidWithin(Function):
    @staticmethod
    def forward(ctx: FunctionCtx, logit: Tensor, dtype: _C.dtype) -> Tensor:
        info = finfo(dtype)
        result = logit.sigmoid().clamp(info.tiny, 1 - info.eps / 2).to(dtype=dtype)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        result = ctx.saved_tensors[0].to(dtype=_C.float64)
        return grad.to(dtype=_C.float64) * result * (1 - result), None


def log_standard_gamma(concentration: Tensor, generator: _C.Generator | None = None) -> Tensor:
    """The logarithm of a number for each shape parameter, of scale 1; computed in float64. It waits for the device."""
    drawn: Tensor = _LogStandardGamma.apply(concentration.to(dtype=_C.float64), generator)
    return drawn


class _LogStandardGamma(Function):
    @staticmethod
    def forward(ctx: FunctionCtx, concentration: Tensor, generator: _C.Generator | None) -> Tensor:
        drawn = _draw(concentration.reshape([-1]), generator).view(concentration.shape)
        ctx.save_for_backward(concentration, drawn)
        return drawn

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        concentration, drawn = ctx.saved_tensors
        return grad * slope(concentration, drawn), None


def _draw(a: Tensor, generator: _C.Generator | None) -> Tensor:
    options: dict[str, Any] = {"dtype": a.dtype, "device": a.device, "generator": generator}
    is_small = a < 1
    d = _C.where(is_small, a + 1, a) - 1 / 3
    result = _C.empty_like(a)
    pending = _C.arange(a.numel(), device=a.device)
    while pending.numel() > 0:
        width = d[pending]
        normal, uniform = _C.randn(width.shape, **options), _C.rand(width.shape, **options)
        root = 1 + normal / (9 * width).sqrt()
        v = root.pow(3)
        accepted = (v > 0) & (uniform.log() < normal.pow(2) / 2 + width - width * v + width * v.log())
        accepted = accepted | ~width.isfinite() | (width <= 0)  # NaN comes out of these
        result[pending[accepted]] = (width * v).log()[accepted]
        pending = pending[~accepted]
    return _C.where(is_small, result - _C.empty_like(a).exponential_(generator=generator) / a, result)


def slope(a: Tensor, log_x: Tensor) -> Tensor:
    """d log(x) / d a at a fixed probability, to some ten digits."""
    return _C.where(log_x < math.log(_SERIES_BELOW), _by_series(a, log_x.clamp(max=math.log(_SERIES_BELOW))),
                    _by_quadrature(a, log_x.clamp(min=math.log(_SERIES_BELOW))))


def _by_series(a: Tensor, log_x: Tensor) -> Tensor:
    """F is x^a exp(-x) / gamma(a) times the sum of x^k / (a (a + 1) ... (a + k)), whose derivative is taken by term."""
    x = log_x.exp()
    distance = a.digamma() - log_x
    term = harmonic = a.reciprocal()
    total = term * (distance + harmonic)
    for k in range(1, 64):
        term = term * x / (a + k)
        harmonic = harmonic + 1 / (a + k)
        total = total + term * (distance + harmonic)
    return total


def _by_quadrature(a: Tensor, log_x: Tensor) -> Tensor:
    """The integral of |log(t) - digamma(a)| times the density at t = x exp(s) over that at x: below x, or above it,
    where the factor keeps its sign. Equal steps of r in s = width exp(r - exp(-r)) reach all digits."""
    x = log_x.exp()
    distance = log_x - a.digamma()
    side = _C.where(distance < 0, -1.0, 1.0).to(dtype=a.dtype)
    width = 1 / ((a - x).abs() + x.sqrt())
    total = _C.zeros_like(x)
    for i in range(-30, 40):
        r = i * _STEP
        s = width * math.exp(r - math.exp(-r))
        ratio = (side * a * s - x * _C.expm1(side * s)).exp()
        total = total + (distance.abs() + s) * ratio * s * (1 + math.exp(-r))
    return total * _STEP
