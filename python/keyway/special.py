"""Special functions under PyTorch's names, as far as there are operators: most are operators under another name."""

from __future__ import annotations

import math

from keyway import _C
from keyway._bessel import as_float as _float, i0, i0e, i1, i1e
from keyway._C import (
    Tensor, digamma, digamma as psi, erf, erfc, erfinv, exp2, expm1, lgamma as gammaln, log1p, log_softmax, logit,
    logsumexp, polygamma, round, sigmoid as expit, sinc, softmax, special_ndtri as ndtri, xlogy,
)

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammaln", "i0", "i0e", "i1", "i1e",
    "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri", "polygamma", "psi",
    "round", "sinc", "softmax", "xlog1py", "xlogy",
]


def _beside(number: float, tensor: Tensor) -> Tensor:
    """A number as a tensor without dimensions."""
    dtype = tensor.dtype if tensor.is_floating_point() else _C.get_default_dtype()
    return _C.scalar_tensor(number, dtype=dtype, device=tensor.device)


def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-x log(x), elementwise; -inf of numbers below 0."""
    x = _float(input, "entr")
    return _C.where(x < 0, _beside(-math.inf, x), _beside(0, x).sub(_C.xlogy(x, x)), out=out)


def multigammaln(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`: p (p - 1) / 4 log(pi) and the sum of lgamma at
    x, x - 1/2, ..., x - (p - 1) / 2.

    Raises keyway.ValueError for p below 1.
    """
    if p < 1:
        raise _C.ValueError(f"multigammaln(): p is greater than 0, not {p}")
    x = _float(input, "multigammaln")
    steps = _C.arange(p, dtype=x.dtype, device=x.device).div(-2)
    return _C.add(x.unsqueeze(-1).add(steps).lgamma().sum(-1), p * (p - 1) / 4 * math.log(math.pi), out=out)


def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """How much of the standard normal distribution is below x, elementwise."""
    return _C.mul(_float(input, "ndtr").mul(-math.sqrt(0.5)).erfc(), 0.5, out=out)


def _scaled_erfc(x: Tensor) -> Tensor:
    """exp(x^2) erfc(x) of numbers of float64: as it says, but far above 0, where both leave the range, by a series."""
    far = x.clamp(min=25.0)
    u = far.square().mul(2).reciprocal()
    series = _C.ones_like(u)
    for k in range(6, 0, -1):
        series = series.mul(u).mul(1 - 2 * k).add(1)
    near = x.clamp(max=25.0)
    return _C.where(x < 25.0, near.square().exp().mul(near.erfc()), series.div(far.mul(math.sqrt(math.pi))))


def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x^2) erfc(x), elementwise."""
    given = _float(input, "erfcx")
    made = _scaled_erfc(given.to(dtype=_C.float64)).to(dtype=given.dtype)
    return made if out is None else _C.mul(made, 1, out=out)


def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of how much of the standard normal distribution is below x, elementwise."""
    given = _float(input, "log_ndtr")
    x = given.to(dtype=_C.float64)
    below, above = x.clamp(max=-1.0), x.clamp(min=-1.0)
    left = _scaled_erfc(below.mul(-math.sqrt(0.5))).mul(0.5).log().sub(below.square().mul(0.5))
    right = above.mul(math.sqrt(0.5)).erfc().mul(-0.5).log1p()
    made = _C.where(x < -1.0, left, right).to(dtype=given.dtype)
    return made if out is None else _C.mul(made, 1, out=out)


def _as_tensor(value: Tensor | float, beside: Tensor | float, dtype: _C.dtype) -> Tensor:
    if isinstance(value, Tensor):
        return value.to(dtype=dtype)
    return _C.scalar_tensor(value, dtype=dtype, device=beside.device if isinstance(beside, Tensor) else None)


def xlog1py(input: Tensor | float, other: Tensor | float, *, out: Tensor | None = None) -> Tensor:
    """x log(1 + y), elementwise, and 0 where x is 0 unless y is NaN; one of both may be a number."""
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        raise _C.TypeError("xlog1py(): one of both is a tensor")
    common = _C.result_type(input, other)
    if common.is_complex:
        raise _C.NotImplementedError(f"xlog1py(): there is none of {common}")
    if not common.is_floating_point:
        common = _C.get_default_dtype()
    x, y = _as_tensor(input, other, common), _as_tensor(other, input, common)
    infinite = _C.logical_or(y <= -1, y == math.inf)  # or NaN, and 0 times that would not be 0
    logarithm = y.log1p().masked_fill(_C.logical_and(x == 0, infinite), 0)
    return _C.mul(x, logarithm, out=out)
