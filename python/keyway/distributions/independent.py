"""Independent: dimensions of a batch as dimensions of an event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keyway import _C
from keyway._C import Size, Tensor
from keyway.distributions import constraints
from keyway.distributions.distribution import Distribution
from keyway.distributions.utils import sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """`base_distribution`, with the last `reinterpreted_batch_ndims` dimensions of its batch as a part of the event."""

    def __init__(self, base_distribution: Distribution, reinterpreted_batch_ndims: int,
                 validate_args: bool | None = None) -> None:
        batch = base_distribution.batch_shape
        if not 0 <= reinterpreted_batch_ndims <= len(batch):
            raise _C.ValueError(f"Independent: argument 'reinterpreted_batch_ndims' is from 0 to {len(batch)}, the "
                                f"dimensions of the batch, not {reinterpreted_batch_ndims}")
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        split = len(batch) - reinterpreted_batch_ndims
        super().__init__(batch[:split], batch[split:] + base_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int]) -> Independent:
        shape = Size(batch_shape)
        base = self.base_dist.expand(shape + self.event_shape[:self.reinterpreted_batch_ndims])
        return type(self)(base, self.reinterpreted_batch_ndims, validate_args=False)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]  # as the base has
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]  # not of vectors: there are too many
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        inner = self.base_dist.support
        dims = self.reinterpreted_batch_ndims
        return constraints.independent(inner, dims) if dims else inner

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def _summed(self, values: Tensor) -> Tensor:
        return sum_rightmost(values, self.reinterpreted_batch_ndims)

    def log_prob(self, value: Tensor) -> Tensor:
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        return self._summed(self.base_dist.entropy())

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims:
            raise _C.NotImplementedError("Independent: enumerate_support of vectors would have each combination of "
                                         "values")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
