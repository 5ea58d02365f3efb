"""Dirichlet and Beta."""

from __future__ import annotations

from collections.abc import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway._tensor.type_info import finfo
from keyway.distributions import constraints
from keyway.distributions._gamma_draws import exp_within, log_standard_gamma, sigmoid_within
from keyway.distributions.distribution import Distribution
from keyway.distributions.utils import broadcast_all

__all__ = ["Beta", "Dirichlet"]


class Dirichlet(Distribution):
    """Probabilities of categories, weighted by `concentration`, whose last dimension is that of the categories."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise _C.ValueError("Dirichlet: argument 'concentration' has one dimension or more, not 0")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        """Of concentrations that are all below 1, whose density is infinite at each corner, the first corner."""
        above = (self.concentration - 1).clamp(min=0)
        corner = (_C.arange(above.shape[-1], device=above.device) == 0).to(dtype=above.dtype)
        no_maximum = (self.concentration < 1).all(-1).unsqueeze(-1)
        return _C.where(no_maximum, corner, above / above.sum(-1, keepdim=True))

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        dtype = self.concentration.dtype
        drawn = log_standard_gamma(self.concentration.expand(self._extended_shape(sample_shape)))
        return exp_within(drawn.log_softmax(-1), dtype, low=finfo(dtype).tiny, high=1 - finfo(dtype).eps / 2)

    def log_prob(self, value: Tensor) -> Tensor:
        a = self.concentration
        return _C.xlogy(a - 1, self._checked(value)).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        a = self.concentration
        total = a.sum(-1)
        logarithm = a.lgamma().sum(-1) - total.lgamma()
        return logarithm - (a.shape[-1] - total) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)


class Beta(Distribution):
    """The first of two probabilities that are Dirichlet-distributed with these concentrations."""

    has_rsample = True
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval

    def __init__(self, concentration1: Tensor | float, concentration0: Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    def _both(self) -> Dirichlet:
        return Dirichlet(_C.stack([self.concentration1, self.concentration0], -1), validate_args=False)

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        """As Dirichlet's: 1 where both concentrations are below 1."""
        return self._both().mode.select(-1, 0)

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        logit = (log_standard_gamma(self.concentration1.expand(shape))
                 - log_standard_gamma(self.concentration0.expand(shape)))
        return sigmoid_within(logit, self.concentration1.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return self._both().log_prob(_C.stack([value, 1 - value], -1))

    def entropy(self) -> Tensor:
        return self._both().entropy()
