"""Gamma and Chi2."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway._tensor.type_info import finfo
from keyway.autograd.grad_mode import no_grad
from keyway.distributions import constraints
from keyway.distributions._gamma_draws import exp_within, log_standard_gamma
from keyway.distributions.distribution import Distribution
from keyway.distributions.utils import broadcast_all

__all__ = ["Chi2", "Gamma"]


class Gamma(Distribution):
    """The gamma distribution with the shape parameter `concentration`, divided by `rate`."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def sample(self, sample_shape: Sequence[int] = (), *, generator: _C.Generator | None = None) -> Tensor:
        with no_grad():
            return self.rsample(sample_shape, generator)

    def rsample(self, sample_shape: Sequence[int] = (), generator: _C.Generator | None = None) -> Tensor:
        dtype = self.rate.dtype
        drawn = log_standard_gamma(self.concentration.expand(self._extended_shape(sample_shape)), generator)
        return exp_within(drawn - self.rate.to(dtype=drawn.dtype).log(), dtype, low=finfo(dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value).to(dtype=self.rate.dtype)
        a = self.concentration
        return _C.xlogy(a, self.rate) + _C.xlogy(a - 1, value) - self.rate * value - a.lgamma()

    def cdf(self, value: Tensor) -> Tensor:
        value = self._checked(value).to(dtype=self.rate.dtype)
        return _C.igamma(*broadcast_all(self.concentration, self.rate * value))

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal numbers."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        (degrees,) = broadcast_all(df)
        super().__init__(0.5 * degrees, _C.full_like(degrees, 0.5), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Chi2:
        new = copy.copy(self)
        new.concentration, new.rate = self.concentration.expand(batch_shape), self.rate.expand(batch_shape)
        new._batch_shape = new.concentration.shape
        return new

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2
