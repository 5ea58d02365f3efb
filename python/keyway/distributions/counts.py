"""Poisson and Binomial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from keyway import _C
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.distributions import _count_draws, constraints
from keyway.distributions.distribution import Distribution
from keyway.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Binomial", "Poisson"]


class Poisson(Distribution):
    """How many independent events there are where `rate` are expected."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return _count_draws.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        rate, value = broadcast_all(self.rate, self._checked(value))
        return _C.xlogy(value, rate) - rate - (value + 1).lgamma()


class Binomial(Distribution):
    """How many of `total_count` trials succeed, each with the probability `probs`."""

    has_enumerate_support = True
    arg_constraints = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval,
                       "logits": constraints.real}
    if TYPE_CHECKING:
        probs: Tensor
        logits: Tensor

    def __init__(self, total_count: Tensor | int = 1, probs: Tensor | float | None = None,
                 logits: Tensor | float | None = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise _C.ValueError("Binomial: either 'probs' or 'logits' must be given, but not both")
        if probs is None:
            count, self.logits = broadcast_all(total_count, logits)
            given = self.logits
        else:
            count, self.probs = broadcast_all(total_count, probs)
            given = self.probs
        self.total_count = count.to(dtype=given.dtype)
        super().__init__(given.shape, validate_args=validate_args)

    if not TYPE_CHECKING:

        @lazy_property
        def logits(self):
            return probs_to_logits(self.probs, is_binary=True)

        @lazy_property
        def probs(self):
            return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of `probs`."""
        return self._batch_shape

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return _C.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return _count_draws.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        n, logits, value = broadcast_all(self.total_count, self.logits, self._checked(value))
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return ways + value * logits - n * _C.logaddexp(logits, _C.zeros_like(logits))

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = int(self.total_count.max().to(dtype=_C.int64))
        if not (self.total_count == count).all():
            raise _C.NotImplementedError("Binomial: enumerate_support needs the same total_count everywhere")
        return self._along_first(_C.arange(count + 1, dtype=self.probs.dtype, device=self.probs.device), expand)

    def entropy(self) -> Tensor:
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)
