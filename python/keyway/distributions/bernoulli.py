"""Bernoulli."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from keyway import _C
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.distributions import constraints
from keyway.distributions.distribution import Distribution
from keyway.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Bernoulli", "set_binary"]


def set_binary(distribution: Distribution, probs: Tensor | float | None, logits: Tensor | float | None) -> Tensor:
    """Gives a distribution the one of `probs` and `logits` that is given; returns it."""
    if (probs is None) == (logits is None):
        raise _C.ValueError(f"{type(distribution).__name__}: either 'probs' or 'logits' must be given, but not both")
    name, given = ("probs", probs) if logits is None else ("logits", logits)
    (value,) = broadcast_all(given)
    setattr(distribution, name, value)
    return value


class Bernoulli(Distribution):
    """1 with the probability `probs`, else 0; `logits` are log(probs / (1 - probs))."""

    has_enumerate_support = True
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    if TYPE_CHECKING:
        probs: Tensor
        logits: Tensor

    def __init__(self, probs: Tensor | float | None = None, logits: Tensor | float | None = None,
                 validate_args: bool | None = None) -> None:
        self._given = set_binary(self, probs, logits)
        super().__init__(self._given.shape, validate_args=validate_args)

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

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        probs = self.probs
        return _C.where(probs == 0.5, float("nan"), (probs >= 0.5).to(dtype=probs.dtype))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return _C.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        return -_C.binary_cross_entropy_with_logits(logits, value.to(dtype=logits.dtype), None, None, 0)

    def entropy(self) -> Tensor:
        return _C.binary_cross_entropy_with_logits(self.logits, self.probs, None, None, 0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._along_first(_C.arange(2, dtype=self.probs.dtype, device=self.probs.device), expand)
