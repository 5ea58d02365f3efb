"""Cauchy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway.distributions.distribution import LocScale

__all__ = ["Cauchy"]


class Cauchy(LocScale):
    """The Cauchy distribution with median `loc` and half width `scale` at half its height: it has no mean."""

    @property
    def mean(self) -> Tensor:
        return _C.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        return _C.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = _C.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + noise.cauchy_() * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        ratio = (self._checked(value) - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - ratio.pow(2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return _C.atan((self._checked(value) - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return _C.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
