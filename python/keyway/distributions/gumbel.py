"""Gumbel."""

from __future__ import annotations

import math
from collections.abc import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway._tensor.type_info import finfo
from keyway.distributions.distribution import LocScale
from keyway.distributions.transforms import AffineTransform, ExpTransform, Transform
from keyway.distributions.uniform import Uniform

__all__ = ["Gumbel"]

EULER = 0.5772156649015329


class Gumbel(LocScale):
    """The distribution of the largest of many values, with mode `loc` and width `scale`."""

    @property
    def base_dist(self) -> Uniform:
        """The distribution of the probabilities of its numbers."""
        info = finfo(self.loc.dtype)
        return Uniform(_C.full_like(self.loc, info.tiny), _C.full_like(self.loc, 1 - info.eps), validate_args=False)

    @property
    def transforms(self) -> list[Transform]:
        """What makes its numbers of those of `base_dist`."""
        return [ExpTransform().inv, AffineTransform(0.0, -_C.ones_like(self.scale)), ExpTransform().inv,
                AffineTransform(self.loc, -self.scale)]

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER

    @property
    def stddev(self) -> Tensor:
        return self.scale * (math.pi / math.sqrt(6))

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = _C.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc - self.scale * noise.exponential_().log()

    def log_prob(self, value: Tensor) -> Tensor:
        distance = (self._checked(value) - self.loc) / self.scale
        return -distance - (-distance).exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        return (-((self.loc - self._checked(value)) / self.scale).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + EULER)
