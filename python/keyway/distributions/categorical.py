"""Categorical and OneHotCategorical."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keyway import _C
from keyway._C import Size, Tensor
from keyway._functions.shapes import broadcast_shapes
from keyway._tensor.type_info import finfo
from keyway.autograd.grad_mode import no_grad
from keyway.distributions import constraints
from keyway.distributions.distribution import Distribution
from keyway.distributions.utils import lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Categorical", "OneHotCategorical"]


class _Categories(Distribution):
    """Categories along the last dimension of `probs`, which are normalised, or of `logits`, their logarithms."""

    has_enumerate_support = True
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _is_one_hot = False

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        name = type(self).__name__
        if (probs is None) == (logits is None):
            raise _C.ValueError(f"{name}: either 'probs' or 'logits' must be given, but not both")
        given: Any = logits if probs is None else probs
        argument = "logits" if probs is None else "probs"
        if not isinstance(given, Tensor) or given.dim() < 1:
            raise _C.ValueError(f"{name}: argument '{argument}' is a Tensor of one dimension or more")
        if probs is None:
            self.logits = given - given.logsumexp(-1, keepdim=True)
        else:
            self.probs = given / given.sum(-1, keepdim=True)
        self._num_events = given.shape[-1]
        events = given.shape[-1:] if self._is_one_hot else Size()
        super().__init__(given.shape[:-1], events, validate_args=validate_args)

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits)

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of `probs`."""
        return self._batch_shape + Size([self._num_events])

    def _draw(self, sample_shape: Sequence[int]) -> Tensor:
        """Indices of categories."""
        shape = Size(sample_shape)
        with no_grad():
            drawn = _C.multinomial(self.probs.reshape([-1, self._num_events]), shape.numel(), True)
            return drawn.T.reshape(shape + self._batch_shape)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)


class Categorical(_Categories):
    """The index of a category along the last dimension of `probs`, which are normalised, or of `logits`."""

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return _C.full_like(self.probs.select(-1, 0), float("nan"))

    variance = mean

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._draw(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        index = self._checked(value).to(dtype=_C.int64)
        shape = broadcast_shapes(index.shape, self._batch_shape)
        logits = self.logits.expand(shape + self.logits.shape[-1:])
        return logits.gather(-1, index.expand(shape).unsqueeze(-1)).squeeze(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        device = self.probs.device
        return self._along_first(_C.arange(self._num_events, dtype=_C.int64, device=device), expand)


class OneHotCategorical(_Categories):
    """A vector that is 1 at one category's index and 0 elsewhere, of the categories of `probs` or `logits`."""

    support = constraints.one_hot
    _is_one_hot = True

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._one_hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def _one_hot(self, index: Tensor) -> Tensor:
        categories = _C.arange(self._num_events, device=index.device)
        return (index.unsqueeze(-1) == categories).to(dtype=self.probs.dtype)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._one_hot(self._draw(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return _C.where(value == 0, 0.0, self.logits).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._num_events
        values = _C.eye(count, dtype=self.probs.dtype, device=self.probs.device)
        values = values.view([count] + [1] * len(self._batch_shape) + [count])
        return values.expand([count, *self._batch_shape, count]) if expand else values
