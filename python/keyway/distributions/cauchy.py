"""Cauchy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway.distributions import constraints
from keyway.distributions.distribution import Distribution
from keyway.distributions.utils import broadcast_all

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """The Cauchy distribution with median `loc` and half width `scale` at half its height: it has no mean."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return _C.full_like(self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

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
