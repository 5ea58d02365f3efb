"""Geometric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from keyway import _C
from keyway._C import Tensor
from keyway._tensor.type_info import finfo
from keyway.autograd.grad_mode import no_grad
from keyway.distributions import constraints
from keyway.distributions.bernoulli import set_binary
from keyway.distributions.distribution import Distribution
from keyway.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Geometric"]


class Geometric(Distribution):
    """How many trials fail before the first that succeeds, each with the probability `probs`."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    if TYPE_CHECKING:
        probs: Tensor
        logits: Tensor

    def __init__(self, probs: Tensor | float | None = None, logits: Tensor | float | None = None,
                 validate_args: bool | None = None) -> None:
        given = set_binary(self, probs, logits)
        super().__init__(given.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise _C.ValueError(f"Geometric: argument 'probs' must be greater than 0, but it is {self.probs}")

    if not TYPE_CHECKING:

        @lazy_property
        def logits(self):
            return probs_to_logits(self.probs, is_binary=True)

        @lazy_property
        def probs(self):
            return logits_to_probs(self.logits, is_binary=True)

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
