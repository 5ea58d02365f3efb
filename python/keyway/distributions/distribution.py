"""Distribution: what all distributions have."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from keyway import _C
from keyway._C import Size, Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.distributions import constraints
from keyway.distributions.constraints import Constraint
from keyway.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

Self = TypeVar("Self", bound="Distribution")

__all__ = ["Distribution"]


class Distribution:
    """`batch_shape` independent distributions over values of `event_shape`.

    A subclass says in `arg_constraints` what its parameters may be, and in `support` what values have a density. With
    `validate_args`, which is the default unless Python runs with -O, both are checked: keyway.ValueError.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: Mapping[str, Constraint] = {}
    support: Any = None
    _validates: ClassVar[bool] = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their arguments from now on, unless they were told by `validate_args`."""
        if value not in (True, False):
            raise _C.ValueError(f"set_default_validate_args: the value is True or False, not {value!r}")
        Distribution._validates = value

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (),
                 validate_args: bool | None = None) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    @property
    def _validate_args(self) -> bool:
        given: bool | None = vars(self).get("_validates_args")
        return Distribution._validates if given is None else given

    @_validate_args.setter
    def _validate_args(self, value: bool) -> None:
        vars(self)["_validates_args"] = value

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            is_computed = name not in vars(self) and isinstance(getattr(type(self), name, None), lazy_property)
            if constraints.is_dependent(constraint) or is_computed:
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise _C.ValueError(f"{type(self).__name__}: argument '{name}' of shape {tuple(value.shape)} must "
                                    f"satisfy {constraint!r}, but it is {value}")

    def _checked(self, value: Any) -> Tensor:
        """The value of a density's argument, a tensor; checked with `validate_args`. Without, it may be a number too."""
        name = type(self).__name__
        if not self._validate_args and isinstance(value, (int, float)):
            return _C.tensor(float(value))
        if not isinstance(value, Tensor):
            raise _C.ValueError(f"{name}: argument 'value' is a Tensor, not a {type(value).__name__}")
        if not self._validate_args:
            return value
        events = len(self._event_shape)
        expected = self._batch_shape + self._event_shape
        if value.shape[value.dim() - events:] != self._event_shape or any(
                i != j and 1 not in (i, j) for i, j in zip(reversed(value.shape), reversed(expected))):
            raise _C.ValueError(f"{name}: argument 'value' of shape {tuple(value.shape)} does not fit batch_shape "
                                f"{tuple(self._batch_shape)} and event_shape {tuple(self._event_shape)}")
        support = self.support
        if support is not None and not support.check(value).all():
            raise _C.ValueError(f"{name}: argument 'value' must be within the support, {support!r}, but it is {value}")
        return value

    def expand(self: Self, batch_shape: Sequence[int]) -> Self:
        """The same distribution with a larger batch; its parameters are expanded, not copied.

        A subclass whose tensors are not all named in `arg_constraints` writes its own.
        """
        shape = Size(batch_shape)
        new = copy.copy(self)
        state = vars(new)
        for name in list(state):
            constraint = self.arg_constraints.get(name)
            if constraint is not None:
                value = state[name]
                state[name] = value.expand(shape + value.shape[value.dim() - constraint.event_dim:])
            elif isinstance(getattr(type(self), name, None), lazy_property):
                del state[name]
        new._batch_shape = shape
        return new

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters: of distributions that are independent."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one sample of one distribution."""
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        return self._lacks("mean")

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self._lacks("mode")

    @property
    def variance(self) -> Tensor:
        """The expected square of the distance from the mean."""
        return self._lacks("variance")

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random values, of shape sample_shape + batch_shape + event_shape, without history."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random values as `sample` gives, through which gradients reach the parameters."""
        return self._lacks("rsample")

    def sample_n(self, n: int) -> Tensor:
        """sample((n,)) under an older name; warns."""
        warnings.warn("sample_n(n) is deprecated: use sample((n,))", FutureWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at `value`."""
        return self._lacks("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of at most `value`."""
        return self._lacks("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The value whose `cdf` is `value`."""
        return self._lacks("icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a first dimension; with `expand` for each distribution of the batch."""
        return self._lacks("enumerate_support")

    def entropy(self) -> Tensor:
        """The expected -log_prob, in nats."""
        return self._lacks("entropy")

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return self.entropy().exp()

    def _lacks(self, what: str) -> Tensor:
        raise _C.NotImplementedError(f"{type(self).__name__}: there is no {what} of this distribution")

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        return Size([*sample_shape, *self._batch_shape, *self._event_shape])

    def _along_first(self, values: Tensor, expand: bool) -> Tensor:
        """Values of a support as `enumerate_support` returns them."""
        values = values.view([-1] + [1] * len(self._batch_shape))
        return values.expand([-1, *self._batch_shape]) if expand else values

    def __repr__(self) -> str:
        given = [name for name in self.arg_constraints if name in vars(self)]
        texts = [f"{name}: {value if value.numel() == 1 else tuple(value.shape)}"
                 for name, value in ((name, getattr(self, name)) for name in given)]
        return f"{type(self).__name__}({', '.join(texts)})"


class LocScale(Distribution):
    """The base of distributions with a location `loc` and a `scale`, real numbers and positive ones."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mode(self) -> Tensor:
        return self.loc

    mean = mode  # of symmetric densities


class Trials(Distribution):
    """The base of distributions of trials that succeed with the probability `probs`; `logits` are
    log(probs / (1 - probs)). One of both is given, and the other computed."""

    arg_constraints: Mapping[str, Constraint] = {"probs": constraints.unit_interval, "logits": constraints.real}

    def _set_given(self, probs: Tensor | float | None, logits: Tensor | float | None, *others: Any) -> list[Tensor]:
        """Keeps the one of `probs` and `logits` that is given; returns other parameters and it, of one shape."""
        if (probs is None) == (logits is None):
            raise _C.ValueError(f"{type(self).__name__}: either 'probs' or 'logits' must be given, but not both")
        name, given = ("probs", probs) if logits is None else ("logits", logits)
        values = list(broadcast_all(*others, given))
        setattr(self, name, values[-1])
        return values

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits, is_binary=True)
