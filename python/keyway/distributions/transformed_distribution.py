"""TransformedDistribution."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from keyway import _C
from keyway._C import Size, Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.distributions import constraints
from keyway.distributions.distribution import Distribution
from keyway.distributions.independent import Independent
from keyway.distributions.transforms import ComposeTransform, Transform
from keyway.distributions.utils import sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """What transforms, one after the other, make of what `base_distribution` draws.

    The base is expanded to the shape of the transforms' parameters: each of these has draws of its own. Dimensions that
    a transform takes together (its `event_dim`) are a part of the event. Affine images have the whole line as their
    support.
    """

    def __init__(self, base_distribution: Distribution, transforms: Transform | Sequence[Transform],
                 validate_args: bool | None = None) -> None:
        parts = [transforms] if isinstance(transforms, Transform) else list(transforms)
        for part in parts:
            if not isinstance(part, Transform):
                raise _C.ValueError("TransformedDistribution: argument 'transforms' is a Transform or several of them, not "
                                    f"a {type(part).__name__}")
        transform = ComposeTransform(parts)
        events = len(base_distribution.event_shape)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(shape) < transform.domain.event_dim:
            raise _C.ValueError(f"TransformedDistribution: the transforms take {transform.domain.event_dim} dimensions "
                                f"together, and argument 'base_distribution' has the shape {tuple(shape)}")
        made = transform.forward_shape(shape)
        needed = transform.inverse_shape(made)
        if needed[len(needed) - events:] != base_distribution.event_shape:
            raise _C.ValueError("TransformedDistribution: the transforms need a base whose event_shape is "
                                f"{tuple(needed[len(needed) - events:])}, not {tuple(base_distribution.event_shape)}")
        if needed != shape:
            base_distribution = base_distribution.expand(needed[:len(needed) - events])
        if transform.domain.event_dim > events:
            base_distribution = Independent(base_distribution, transform.domain.event_dim - events)
        self.base_dist = base_distribution
        self.transforms = parts
        self._transform = transform
        taken, given = transform.domain.event_dim, transform.codomain.event_dim
        cut = len(made) - max(given, events + given - taken)
        super().__init__(made[:cut], made[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> TransformedDistribution:
        new = copy.copy(self)
        needed = self._transform.inverse_shape(Size(batch_shape) + self.event_shape)
        new.base_dist = self.base_dist.expand(needed[:len(needed) - len(self.base_dist.event_shape)])
        new._batch_shape = Size(batch_shape)
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]  # as the base has
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        codomain = self._transform.codomain
        missing = len(self.event_shape) - codomain.event_dim
        return constraints.independent(codomain, missing) if missing > 0 else codomain

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self._transform(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._transform(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        values = [self._checked(value)]
        for part in reversed(self.transforms):
            values.insert(0, part._inv_call(values[0]))
        event_dim = len(self.event_shape) - self._transform.codomain.event_dim + self._transform.domain.event_dim
        density = sum_rightmost(self.base_dist.log_prob(values[0]), event_dim - len(self.base_dist.event_shape))
        if not self.transforms:
            return density
        return density - sum_rightmost(self._transform._slopes(values), event_dim - self._transform.domain.event_dim)

    def cdf(self, value: Tensor) -> Tensor:
        return self._turned(self.base_dist.cdf(self._transform._inv_call(self._checked(value))))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transform(self.base_dist.icdf(self._turned(value)))

    def _turned(self, probability: Tensor) -> Tensor:
        """Of a falling transform the probability of the other side."""
        sign = self._transform.sign
        return probability if isinstance(sign, int) and sign == 1 else sign * (probability - 0.5) + 0.5

    def __repr__(self) -> str:
        return f"TransformedDistribution({self.base_dist!r}, {self.transforms!r})"
