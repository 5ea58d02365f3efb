"""What draws numbers: dropout that keeps mean and variance, leaky ReLU with random slopes, samples of classes."""

from __future__ import annotations

import warnings

from keyway import _C
from keyway._C import Generator, Tensor
from keyway._tensor.methods import checked
from keyway.nn.functional._layers import check_probability

_LEAST = -1.7580993408473766  # what selu tends to for very negative numbers


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """While training, gives each element with probability p the least value of selu, and then scales and shifts all of
    them such that numbers of mean 0 and variance 1 keep these."""
    return _alpha_dropout(input, list(input.shape), p, training, inplace)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels of an input [N, C, ...]."""
    if training and p != 0 and input.dim() < 2:
        raise _C.Error("Feature dropout requires at least 2 dimensions in the input")
    return _alpha_dropout(input, [*input.shape[:2], *[1] * (input.dim() - 2)], p, training, inplace)


def _alpha_dropout(input: Tensor, shape: list[int], p: float, training: bool, inplace: bool) -> Tensor:
    check_probability(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input.mul(0)
    kept = input.new_empty(shape).bernoulli_(1 - p)
    scale = ((1 + _LEAST * _LEAST * p) * (1 - p)) ** -0.5
    shift = kept.sub(1).mul(-_LEAST * scale).sub(_LEAST * scale * p)
    kept = kept.mul(scale)
    return input.mul_(kept).add_(shift) if inplace else input.mul(kept).add(shift)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """x where it is positive, else a slope times x: while training one drawn between `lower` and `upper` for each
    element, else the middle of them."""
    if not lower <= upper:
        raise _C.Error(f"Lower bound should be less than or equal to the upper bound: {lower} and {upper}")
    if training:
        slopes = input.new_empty(list(input.shape)).uniform_(lower, upper, generator=generator)
        factor = slopes.masked_fill(input.detach().le(0).logical_not(), 1)
    else:
        factor = input.new_ones(list(input.shape)).masked_fill(input.detach().le(0), (lower + upper) / 2)
    return input.mul_(factor) if inplace else input.mul(factor)


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """rrelu in place."""
    return rrelu(checked(input, "rrelu_"), lower, upper, training, True, generator)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A sample of classes that gradients pass: softmax((logits + noise) / tau), the less smooth the smaller `tau` is.
    With `hard` 1 at the greatest and 0 elsewhere, with the gradient of the smooth one."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = _C.empty_like(logits.detach()).exponential_().log().neg()
    smooth = logits.add(noise).div(tau).softmax(dim)
    if not hard:
        return smooth
    greatest = smooth.detach().argmax(dim, True)
    chosen = _C.zeros_like(smooth.detach()).scatter_(dim, greatest, 1.0)
    return chosen.sub(smooth.detach()).add(smooth)
