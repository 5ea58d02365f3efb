"""Transforms: functions of each element with their inverses and the logarithms of their slopes, and chains of them."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from keyway import _C
from keyway._C import Size, Tensor
from keyway._functions.shapes import broadcast_shapes
from keyway._tensor.type_info import finfo
from keyway.distributions import constraints
from keyway.distributions.constraints import Constraint
from keyway.distributions.utils import broadcast_all, softplus, sum_rightmost

if TYPE_CHECKING:
    from keyway.distributions.distribution import Distribution

__all__ = [
    "AbsTransform", "AffineTransform", "ComposeTransform", "CumulativeDistributionTransform", "ExpTransform",
    "IndependentTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftplusTransform",
    "TanhTransform", "Transform", "identity_transform",
]


def _within_unit(x: Tensor) -> Tensor:
    """Neither 0 nor 1, where the logit is infinite."""
    info = finfo(x.dtype)
    return x.clamp(min=info.tiny, max=1 - info.eps)


class Transform:
    """A function from `domain` to `codomain`. A subclass writes `_call`, `_inverse`, `log_abs_det_jacobian`, and
    `sign`: 1 of a rising function, -1 of a falling one.

    With `cache_size=1` the latest argument and its result are kept, so that the inverse of the very tensor that came
    out is the one that went in, where rounding has lost it.
    """

    domain: Constraint = constraints.real
    codomain: Constraint = constraints.real
    bijective = False
    _cache_size = 0
    _latest: tuple[Tensor | None, Tensor | None] = (None, None)

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise _C.ValueError(f"{type(self).__name__}: argument 'cache_size' is 0 or 1, not {cache_size!r}")
        self._cache_size = cache_size

    @property
    def event_dim(self) -> int:
        """How many of the last dimensions are transformed together."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise _C.ValueError(f"{type(self).__name__}: domain and codomain have different event_dim")
        return self.domain.event_dim

    @property
    def inv(self) -> Transform:
        """The inverse."""
        return _Inverse(self)

    @property
    def sign(self) -> Tensor | int:
        """1 where the function rises, -1 where it falls."""
        raise _C.NotImplementedError(f"{type(self).__name__}: there is no sign of this transform")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with a cache of this size."""
        if self._cache_size == cache_size:
            return self
        new = copy.copy(self)
        Transform.__init__(new, cache_size)
        new._latest = (None, None)
        return new

    def __call__(self, x: Tensor) -> Tensor:
        known_x, known_y = self._latest
        if known_y is not None and x is known_x:
            return known_y
        y = self._call(x)
        if self._cache_size:
            self._latest = (x, y)
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        known_x, known_y = self._latest
        if known_x is not None and y is known_y:
            return known_x
        x = self._inverse(y)
        if self._cache_size:
            self._latest = (x, y)
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise _C.NotImplementedError(f"{type(self).__name__}: there is no _call of this transform")

    def _inverse(self, y: Tensor) -> Tensor:
        raise _C.NotImplementedError(f"{type(self).__name__}: there is no _inverse of this transform")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy / dx|, where y is the transformed x; of `event_dim` dimensions together that of the determinant."""
        raise _C.NotImplementedError(f"{type(self).__name__}: there is no log_abs_det_jacobian of this transform")

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """The shape of the result for an argument of this one."""
        return Size(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """The shape of the argument for a result of this one."""
        return Size(shape)

    def _state(self) -> tuple[Any, ...] | None:
        """What makes transforms of one class equal; None: nothing but that they are one object."""
        return None

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or not isinstance(other, Transform):
            return False
        own, others = self._state(), other._state()
        return own is not None and others is not None and all(_are_equal(a, b) for a, b in zip(own, others))

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _are_equal(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return bool((a == b).all())
    return bool(a == b)


class _Inverse(Transform):
    def __init__(self, of: Transform) -> None:
        self.of = of
        self.domain, self.codomain = of.codomain, of.domain
        self.bijective = of.bijective

    @property
    def sign(self) -> Tensor | int:
        return self.of.sign

    @property
    def inv(self) -> Transform:
        return self.of

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self.of.with_cache(cache_size).inv

    def __call__(self, x: Tensor) -> Tensor:
        return self.of._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self.of(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self.of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return self.of.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return self.of.forward_shape(shape)

    def _state(self) -> tuple[Any, ...]:
        return (self.of,)

    def __repr__(self) -> str:
        return f"{self.of!r}.inv"


class _Fixed(Transform):
    """A transform that rises and has no parameters."""

    bijective = True
    sign = 1

    def _state(self) -> tuple[Any, ...]:
        return ()


class ExpTransform(_Fixed):
    """y = exp(x)"""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class SigmoidTransform(_Fixed):
    """y = 1 / (1 + exp(-x)), which is kept from 0 and 1, where the inverse is infinite."""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _within_unit(x.sigmoid())

    def _inverse(self, y: Tensor) -> Tensor:
        y = _within_unit(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Fixed):
    """y = log(1 + exp(x))"""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-_C.expm1(-y)).log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Fixed):
    """y = tanh(x). Of a large x it is 1 or -1, whose inverse is infinite: `cache_size=1` keeps the x."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2 * (math.log(2) - x - softplus(-2 * x))


class AbsTransform(Transform):
    """y = |x|. What `inv` gives is the x that is not negative."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y

    def _state(self) -> tuple[Any, ...]:
        return ()


class PowerTransform(Transform):
    """y = x ** exponent, of positive numbers"""

    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Tensor | float, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Tensor:
        return self.exponent.sign()

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return Size(broadcast_shapes(shape, self.exponent.shape))

    inverse_shape = forward_shape

    def _state(self) -> tuple[Any, ...]:
        return (self.exponent,)

    def __repr__(self) -> str:
        return f"PowerTransform(exponent={self.exponent})"


class AffineTransform(Transform):
    """y = loc + scale * x. With `event_dim` that many of the last dimensions count as one value."""

    bijective = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc = loc
        self.scale = scale
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

    @property
    def sign(self) -> Tensor | int:
        scale = self.scale
        return scale.sign() if isinstance(scale, Tensor) else (scale > 0) - (scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return sum_rightmost((_C.ones_like(x) * self.scale).abs().log(), self.event_dim)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        given = [value.shape for value in (self.loc, self.scale) if isinstance(value, Tensor)]
        return Size(broadcast_shapes(shape, *given))

    inverse_shape = forward_shape

    def _state(self) -> tuple[Any, ...]:
        return (self.event_dim, self.loc, self.scale)

    def __repr__(self) -> str:
        return f"AffineTransform(loc={self.loc}, scale={self.scale})"


class CumulativeDistributionTransform(Transform):
    """y = distribution.cdf(x), of a distribution of numbers"""

    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution
        self.domain = distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)

    def __repr__(self) -> str:
        return f"CumulativeDistributionTransform({self.distribution!r})"


class IndependentTransform(Transform):
    """`base_transform`, with `reinterpreted_batch_ndims` more of the last dimensions as a part of one value."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.domain = constraints.independent(base_transform.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base_transform.codomain, reinterpreted_batch_ndims)
        self.bijective = base_transform.bijective

    @property
    def sign(self) -> Tensor | int:
        return self.base_transform.sign

    def with_cache(self, cache_size: int = 1) -> Transform:
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return self.base_transform(self._checked(x))

    def _inverse(self, y: Tensor) -> Tensor:
        return self.base_transform._inv_call(self._checked(y))

    def _checked(self, value: Tensor) -> Tensor:
        if value.dim() < self.event_dim:
            raise _C.ValueError(f"IndependentTransform: a value has {self.event_dim} dimensions or more, not "
                                f"{value.dim()}")
        return value

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return self.base_transform.inverse_shape(shape)

    def _state(self) -> tuple[Any, ...]:
        return (self.reinterpreted_batch_ndims, self.base_transform)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """The last dimensions, which are `in_shape`, as `out_shape`."""

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise _C.ValueError("ReshapeTransform: arguments 'in_shape' and 'out_shape' have as many elements, but "
                                f"they are {tuple(in_shape)} and {tuple(out_shape)}")
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _C.zeros(x.shape[:x.dim() - len(self.in_shape)], dtype=x.dtype, device=x.device)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return _replaced(Size(shape), self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return _replaced(Size(shape), self.out_shape, self.in_shape)

    def _state(self) -> tuple[Any, ...]:
        return (self.in_shape, self.out_shape)

    def __repr__(self) -> str:
        return f"ReshapeTransform({tuple(self.in_shape)}, {tuple(self.out_shape)})"


def _replaced(shape: Size, before: Size, after: Size) -> Size:
    cut = len(shape) - len(before)
    if cut < 0 or tuple(shape[cut:]) != tuple(before):
        raise _C.ValueError(f"ReshapeTransform: a value's shape ends with {tuple(before)}, but it is {tuple(shape)}")
    return Size([*shape[:cut], *after])


def _event_dim_of(chain: Sequence[tuple[Constraint, Constraint]]) -> int:
    """How many dimensions at the chain's end make one value, of (start, end) of its links."""
    count = chain[0][0].event_dim
    for start, end in chain:
        count = max(count + end.event_dim - start.event_dim, end.event_dim)
    return count


def _of_event_dim(constraint: Constraint, event_dim: int) -> Constraint:
    missing = event_dim - constraint.event_dim
    return constraints.independent(constraint, missing) if missing > 0 else constraint


class ComposeTransform(Transform):
    """The transforms of `parts`, the first of them first."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)
        self.bijective = all(part.bijective for part in self.parts)
        if self.parts:
            ways = [(part.domain, part.codomain) for part in self.parts]
            back = [(end, start) for start, end in reversed(ways)]
            self.domain = _of_event_dim(self.parts[0].domain, _event_dim_of(back))
            self.codomain = _of_event_dim(self.parts[-1].codomain, _event_dim_of(ways))

    @property
    def sign(self) -> Tensor | int:
        sign: Tensor | int = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return _C.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        return self._slopes([*values, y])

    def _slopes(self, values: Sequence[Tensor]) -> Tensor:
        """log_abs_det_jacobian of the numbers before, between and after the parts."""
        event_dim = self.domain.event_dim
        total: Tensor | float = 0.0
        for part, x, y in zip(self.parts, values, values[1:]):
            total = total + sum_rightmost(part.log_abs_det_jacobian(x, y), event_dim - part.domain.event_dim)
            event_dim += part.codomain.event_dim - part.domain.event_dim
        assert isinstance(total, Tensor)
        return total

    def forward_shape(self, shape: Sequence[int]) -> Size:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return Size(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return Size(shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts!r})"


identity_transform = ComposeTransform([])
