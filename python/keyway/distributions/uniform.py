"""Uniform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.distributions import constraints
from keyway.distributions.distribution import Distribution
from keyway.distributions.utils import broadcast_all

__all__ = ["Uniform"]


class Uniform(Distribution):
    """Equally likely everywhere in [low, high)."""

    has_rsample = True
    arg_constraints = {"low": constraints.dependent, "high": constraints.dependent}

    def __init__(self, low: Tensor | float, high: Tensor | float, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not (self.low < self.high).all():
            raise _C.ValueError(f"Uniform: argument 'low' must be less than 'high', but low is {self.low} and high "
                                f"{self.high}")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return _C.full_like(self.low, float("nan"))

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = _C.rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + noise * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        inside = (value >= self.low) & (value < self.high)
        return inside.to(dtype=self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        return ((self._checked(value) - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()
