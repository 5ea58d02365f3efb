"""Normal, HalfNormal and LogNormal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway.distributions import constraints
from keyway.distributions.distribution import Distribution, LocScale
from keyway.distributions.transforms import AbsTransform, ExpTransform, Transform
from keyway.distributions.utils import broadcast_all

__all__ = ["HalfNormal", "LogNormal", "Normal"]


class Normal(LocScale):
    """The normal distribution with mean `loc` and standard deviation `scale`."""

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = _C.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return -((value - self.loc) / self.scale).pow(2) / 2 - self.scale.log() - math.log(2 * math.pi) / 2

    def cdf(self, value: Tensor) -> Tensor:
        return 0.5 * (1 + _C.erf((self._checked(value) - self.loc) / (self.scale * math.sqrt(2))))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * _C.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class HalfNormal(Distribution):
    """The distance from 0 of a normal distribution with mean 0 and standard deviation `scale`."""

    has_rsample = True
    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast_all(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def base_dist(self) -> Normal:
        """The distribution whose distances from 0 these are."""
        return Normal(_C.zeros_like(self.scale), self.scale, validate_args=False)

    @property
    def transforms(self) -> list[Transform]:
        """What makes its numbers of those of `base_dist`."""
        return [AbsTransform()]

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return _C.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = _C.randn(self._extended_shape(sample_shape), dtype=self.scale.dtype, device=self.scale.device)
        return noise.abs() * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        density = -(value / self.scale).pow(2) / 2 - self.scale.log() + math.log(2 / math.pi) / 2
        return _C.where(value >= 0, density, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        return _C.erf(self._checked(value) / (self.scale * math.sqrt(2))).clamp(min=0)

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * _C.erfinv(value) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + math.log(math.pi / 2) / 2 + 0.5


class LogNormal(LocScale):
    """exp of a normal distribution with mean `loc` and standard deviation `scale`."""

    support = constraints.positive

    @property
    def base_dist(self) -> Normal:
        """The distribution of the logarithm."""
        return Normal(self.loc, self.scale, validate_args=False)

    @property
    def transforms(self) -> list[Transform]:
        """What makes its numbers of those of `base_dist`."""
        return [ExpTransform()]

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.pow(2)).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.pow(2)
        return _C.expm1(square) * (2 * self.loc + square).exp()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        logarithm = self._checked(value).log()
        return self.base_dist.log_prob(logarithm) - logarithm

    def cdf(self, value: Tensor) -> Tensor:
        return self.base_dist.cdf(self._checked(value).log())

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf(value).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc
