"""What values parameters and samples of distributions may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyway import _C
from keyway._C import Tensor

__all__ = [
    "Constraint", "boolean", "dependent", "dependent_property", "greater_than", "greater_than_eq", "half_open_interval",
    "independent", "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "real", "real_vector",
    "simplex", "square", "symmetric", "unit_interval",
]


class Constraint:
    """A set of values. `event_dim` last dimensions make one value; `is_discrete` says that there are gaps between."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """Whether each value is in the set: booleans, of value's shape without its `event_dim` last dimensions."""
        raise _C.NotImplementedError(f"check of {type(self).__name__} is not written")

    def __repr__(self) -> str:
        return type(self).__name__.lstrip("_")


class _Dependent(Constraint):
    """A set that depends on other parameters: only an object's own property has it."""

    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete = is_discrete
        self.event_dim = event_dim

    def check(self, value: Tensor) -> Tensor:
        raise _C.ValueError("constraints: a class cannot tell whether a value satisfies a dependent constraint")


class dependent_property(property, _Dependent):  # noqa: N801
    """A property that is a dependent constraint in the class, and the constraint itself in an object."""

    def __init__(self, fn: Callable[[Any], Any] | None = None, *, is_discrete: bool = False,
                 event_dim: int = 0) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Callable[[Any], Any]) -> dependent_property:
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


def is_dependent(constraint: Any) -> bool:
    """Whether the set depends on other parameters."""
    return isinstance(constraint, _Dependent)


class independent(Constraint):  # noqa: N801
    """The values of `base_constraint` in all of the last dimensions."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        if value.dim() < self.event_dim:
            raise _C.ValueError(f"constraints: a value of {self!r} has {self.event_dim} dimensions or more, not "
                                f"{value.dim()}")
        inside = self.base_constraint.check(value)
        for _ in range(self.reinterpreted_batch_ndims):
            inside = inside.all(-1)
        return inside

    def __repr__(self) -> str:
        return f"independent({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value  # all but NaN


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _Bounded(Constraint):
    """Values on one side of a bound or between two, which may be tensors."""

    def __repr__(self) -> str:
        given = [f"{name}={value}" for name, value in vars(self).items()]
        return f"{type(self).__name__.lstrip('_')}({', '.join(given)})"


class greater_than(_Bounded):  # noqa: N801
    """More than `lower_bound`."""

    def __init__(self, lower_bound: Tensor | float) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Tensor) -> Tensor:
        return value > self.lower_bound


class greater_than_eq(greater_than):  # noqa: N801
    """At least `lower_bound`."""

    def check(self, value: Tensor) -> Tensor:
        return value >= self.lower_bound


class less_than(_Bounded):  # noqa: N801
    """Less than `upper_bound`."""

    def __init__(self, upper_bound: Tensor | float) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class interval(_Bounded):  # noqa: N801
    """From `lower_bound` to `upper_bound`, both included."""

    def __init__(self, lower_bound: Tensor | float, upper_bound: Tensor | float) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class half_open_interval(interval):  # noqa: N801
    """From `lower_bound`, which is included, to `upper_bound`, which is not."""

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class integer_interval(interval):  # noqa: N801
    """Whole numbers from `lower_bound` to `upper_bound`, both included."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & super().check(value)


class _IntegerGreaterThan(greater_than):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        lower = (value.tril() == value).all(-1).all(-1)
        return lower & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return _C.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=_C.bool, device=value.device)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return square
        return square & _C.isclose(value, value.mT, atol=1e-6).all(-1).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return symmetric & (_C.linalg_cholesky_ex(value)[1] == 0) if value.shape[-2] == value.shape[-1] else symmetric


dependent = _Dependent()
real = _Real()
real_vector = independent(real, 1)
boolean = _Boolean()
one_hot = _OneHot()
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
positive_integer = _IntegerGreaterThan(1)
nonnegative_integer = _IntegerGreaterThan(0)
unit_interval = interval(0.0, 1.0)
simplex = _Simplex()
lower_cholesky = _LowerCholesky()
square = _Square()
symmetric = _Symmetric()
positive_definite = _PositiveDefinite()
