"""Bernoulli."""

from __future__ import annotations

from collections.abc import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.distributions import constraints
from keyway.distributions.distribution import Trials
from keyway.distributions.utils import broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(Trials):
    """1 with the probability `probs`, else 0; `logits` are log(probs / (1 - probs))."""

    has_enumerate_support = True
    support = constraints.boolean

    def __init__(self, probs: Tensor | float | None = None, logits: Tensor | float | None = None,
                 validate_args: bool | None = None) -> None:
        (given,) = self._set_given(probs, logits)
        super().__init__(given.shape, validate_args=validate_args)

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
