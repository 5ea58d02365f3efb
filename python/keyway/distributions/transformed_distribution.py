"""TransformedDistribution."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.distributions import constraints
from keyway.distributions.distribution import Distribution
from keyway.distributions.transforms import ComposeTransform, Transform

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """What transforms, one after the other, make of numbers that `base_distribution` draws.

    Parameters of a transform fit in the batch's shape: they do not widen it. Affine images have the whole line as their
    support.
    """

    def __init__(self, base_distribution: Distribution, transforms: Transform | Sequence[Transform],
                 validate_args: bool | None = None) -> None:
        parts = [transforms] if isinstance(transforms, Transform) else list(transforms)
        for part in parts:
            if not isinstance(part, Transform):
                raise _C.ValueError("TransformedDistribution: argument 'transforms' is a Transform or several of them, not "
                                    f"a {type(part).__name__}")
        if len(base_distribution.event_shape) > 0:
            raise _C.NotImplementedError("TransformedDistribution: the base's events are numbers; of vectors, wrap the "
                                         "transformed distribution in Independent")
        self.base_dist = base_distribution
        self.transforms = parts
        self._transform = ComposeTransform(parts)
        super().__init__(base_distribution.batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> TransformedDistribution:
        new = copy.copy(self)
        new.base_dist = self.base_dist.expand(batch_shape)
        new._batch_shape = new.base_dist.batch_shape
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]  # as the base has
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self) -> Any:
        return self._transform.codomain if self.transforms else self.base_dist.support

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self._transform(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._transform(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        origin = self._transform._inverse(value)
        return self.base_dist.log_prob(origin) - self._transform.log_abs_det_jacobian(origin, value)

    def cdf(self, value: Tensor) -> Tensor:
        return self._turned(self.base_dist.cdf(self._transform._inverse(self._checked(value))))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transform(self.base_dist.icdf(self._turned(value)))

    def _turned(self, probability: Tensor) -> Tensor:
        """Of a falling transform the probability of the other side."""
        return self._transform.sign * (probability - 0.5) + 0.5

    def __repr__(self) -> str:
        return f"TransformedDistribution({self.base_dist!r}, {self.transforms!r})"
