"""LogNormal."""

from __future__ import annotations

from collections.abc import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway.distributions import constraints
from keyway.distributions.distribution import LocScale
from keyway.distributions.normal import Normal
from keyway.distributions.transforms import ExpTransform, Transform

__all__ = ["LogNormal"]


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
