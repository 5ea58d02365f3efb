"""Exponential and Laplace."""

from __future__ import annotations

import math
from collections.abc import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway._tensor.type_info import finfo
from keyway.distributions import constraints
from keyway.distributions.distribution import Distribution, LocScale
from keyway.distributions.utils import broadcast_all

__all__ = ["Exponential", "Laplace"]


class Exponential(Distribution):
    """The time between events of which there are `rate` in a unit of time."""

    has_rsample = True
    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    stddev = mean

    @property
    def mode(self) -> Tensor:
        return _C.zeros_like(self.rate)

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = _C.empty(self._extended_shape(sample_shape), dtype=self.rate.dtype, device=self.rate.device)
        return noise.exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        return self.rate.log() - self.rate * self._checked(value)

    def cdf(self, value: Tensor) -> Tensor:
        return -_C.expm1(-self.rate * self._checked(value))

    def icdf(self, value: Tensor) -> Tensor:
        return -_C.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1 - self.rate.log()


class Laplace(LocScale):
    """An exponential density on both sides of `loc`, of the mean distance `scale`."""

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return self.scale * math.sqrt(2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        eps = finfo(self.loc.dtype).eps
        noise = _C.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        noise = noise.uniform_(eps - 1, 1)
        return self.loc - self.scale * noise.sign() * _C.log1p(-noise.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        return -(2 * self.scale).log() - (self._checked(value) - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        distance = self._checked(value) - self.loc
        return 0.5 - 0.5 * distance.sign() * _C.expm1(-distance.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        centred = value - 0.5
        return self.loc - self.scale * centred.sign() * _C.log1p(-2 * centred.abs())

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()
