"""Poisson, Binomial and Geometric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway._tensor.type_info import finfo
from keyway.autograd.grad_mode import no_grad
from keyway.distributions import _count_draws, constraints
from keyway.distributions.distribution import Distribution, Trials
from keyway.distributions.utils import broadcast_all, softplus

__all__ = ["Binomial", "Geometric", "Poisson"]


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

    variance = mean

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return _count_draws.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        rate, value = broadcast_all(self.rate, self._checked(value))
        return _C.xlogy(value, rate) - rate - (value + 1).lgamma()


class Binomial(Trials):
    """How many of `total_count` trials succeed, each with the probability `probs`."""

    has_enumerate_support = True
    arg_constraints = {"total_count": constraints.nonnegative_integer, **Trials.arg_constraints}

    def __init__(self, total_count: Tensor | int = 1, probs: Tensor | float | None = None,
                 logits: Tensor | float | None = None, validate_args: bool | None = None) -> None:
        count, given = self._set_given(probs, logits, total_count)
        self.total_count = count.to(dtype=given.dtype)
        super().__init__(given.shape, validate_args=validate_args)

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
        return ways + value * logits - n * softplus(logits)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = int(self.total_count.max().to(dtype=_C.int64))
        if not (self.total_count == count).all():
            raise _C.NotImplementedError("Binomial: enumerate_support needs the same total_count everywhere")
        return self._along_first(_C.arange(count + 1, dtype=self.probs.dtype, device=self.probs.device), expand)

    def entropy(self) -> Tensor:
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)


class Geometric(Trials):
    """How many trials fail before the first that succeeds, each with the probability `probs`."""

    support = constraints.nonnegative_integer

    def __init__(self, probs: Tensor | float | None = None, logits: Tensor | float | None = None,
                 validate_args: bool | None = None) -> None:
        (given,) = self._set_given(probs, logits)
        super().__init__(given.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise _C.ValueError(f"Geometric: argument 'probs' must be greater than 0, but it is {self.probs}")

    @property
    def mean(self) -> Tensor:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        return _C.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            probs = self.probs.expand(self._extended_shape(sample_shape))
            noise = _C.rand(probs.shape, dtype=probs.dtype, device=probs.device).clamp(min=finfo(probs.dtype).tiny)
            return (noise.log() / (-probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        value, probs = broadcast_all(self._checked(value), self.probs)
        fails = _C.where((probs == 1) & (value == 0), 0.0, probs)  # 0 log(0) is 0
        return value * (-fails).log1p() + probs.log()

    def entropy(self) -> Tensor:
        return _C.binary_cross_entropy_with_logits(self.logits, self.probs, None, None, 0) / self.probs
