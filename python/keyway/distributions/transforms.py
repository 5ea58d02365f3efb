"""Transforms: elementwise monotone functions with their inverses and the logarithms of their slopes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway.distributions import constraints
from keyway.distributions.constraints import Constraint

__all__ = [
    "AffineTransform", "ComposeTransform", "ExpTransform", "SigmoidTransform", "TanhTransform", "Transform",
]


def _softplus(x: Tensor) -> Tensor:
    return _C.logaddexp(x, _C.zeros_like(x))


class Transform:
    """A function of each element. A subclass writes `_call`, `_inverse`, `log_abs_det_jacobian`, and `sign`."""

    domain: Constraint = constraints.real
    codomain: Constraint = constraints.real
    bijective = True
    sign: Tensor | int = 1

    @property
    def inv(self) -> Transform:
        """The inverse."""
        return _Inverse(self)

    def __call__(self, x: Tensor) -> Tensor:
        return self._call(x)

    def _call(self, x: Tensor) -> Tensor:
        raise _C.NotImplementedError(f"{type(self).__name__}: there is no _call of this transform")

    def _inverse(self, y: Tensor) -> Tensor:
        raise _C.NotImplementedError(f"{type(self).__name__}: there is no _inverse of this transform")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy / dx|, where y is the transformed x."""
        raise _C.NotImplementedError(f"{type(self).__name__}: there is no log_abs_det_jacobian of this transform")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, of: Transform) -> None:
        self.of = of
        self.domain, self.codomain = of.codomain, of.domain
        self.sign = of.sign

    @property
    def inv(self) -> Transform:
        return self.of

    def _call(self, x: Tensor) -> Tensor:
        return self.of._inverse(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.of(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self.of.log_abs_det_jacobian(y, x)

    def __repr__(self) -> str:
        return f"{self.of!r}.inv"


class ExpTransform(Transform):
    """y = exp(x)"""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x))"""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return x.sigmoid()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -_softplus(-x) - _softplus(x)


class TanhTransform(Transform):
    """y = tanh(x)"""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2 * (math.log(2) - x - _softplus(-2 * x))


class AffineTransform(Transform):
    """y = loc + scale * x"""

    def __init__(self, loc: Tensor | float, scale: Tensor | float) -> None:
        self.loc = loc
        self.scale = scale
        self.sign = scale.sign() if isinstance(scale, Tensor) else (scale > 0) - (scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (_C.ones_like(x) * self.scale).abs().log()

    def __repr__(self) -> str:
        return f"AffineTransform(loc={self.loc}, scale={self.scale})"


class ComposeTransform(Transform):
    """The transforms of `parts`, the first of them first."""

    def __init__(self, parts: Sequence[Transform]) -> None:
        self.parts = list(parts)
        if self.parts:
            self.domain, self.codomain = self.parts[0].domain, self.parts[-1].codomain
        for part in self.parts:
            self.sign = self.sign * part.sign

    def _call(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inverse(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        total = _C.zeros_like(x)
        for part in self.parts:
            after = part(x)
            total = total + part.log_abs_det_jacobian(x, after)
            x = after
        return total

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts!r})"
