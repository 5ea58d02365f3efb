"""Special functions under PyTorch's names, as far as there are operators: most are operators under another name."""

from __future__ import annotations

import math

from keyway import _C
from keyway._C import (
    Tensor, digamma, digamma as psi, erf, erfc, erfinv, exp2, expm1, i0, igamma as gammainc, igammac as gammaincc,
    lgamma as gammaln, log1p, log_softmax, logit, logsumexp, polygamma, round, sigmoid as expit, sinc, softmax,
    special_erfcx as erfcx, special_i0e as i0e, special_i1 as i1, special_i1e as i1e, special_log_ndtr as log_ndtr,
    special_ndtri as ndtri, xlogy,
)
from keyway._tensor.methods import checked
from keyway._functions.polynomials import (
    chebyshev_polynomial_t, chebyshev_polynomial_u, chebyshev_polynomial_v, chebyshev_polynomial_w,
    hermite_polynomial_h, hermite_polynomial_he, laguerre_polynomial_l, legendre_polynomial_p, operand,
    shifted_chebyshev_polynomial_t, shifted_chebyshev_polynomial_u, shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
)  # fmt: skip

__all__ = [
    "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc",
    "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e", "i1", "i1e", "laguerre_polynomial_l",
    "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr",
    "ndtri", "polygamma", "psi", "round", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "sinc", "softmax", "xlog1py", "xlogy",
    "zeta",
]


def _float(input: Tensor, name: str) -> Tensor:
    """Integers as floats."""
    given = checked(input, name)
    if given.is_complex():
        raise _C.DtypeError(f"{name}(): there is none of {given.dtype}")
    return given if given.is_floating_point() else given.to(dtype=_C.get_default_dtype())


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


def xlog1py(input: Tensor | float, other: Tensor | float, *, out: Tensor | None = None) -> Tensor:
    """x log(1 + y), elementwise, and 0 where x is 0 unless y is NaN; one of both may be a number."""
    x, y = operand("xlog1py", input, other), operand("xlog1py", other, input)
    infinite = _C.logical_or(y <= -1, y == math.inf)  # or NaN, and 0 times that would not be 0
    logarithm = y.log1p().masked_fill(_C.logical_and(x == 0, infinite), 0)
    return _C.mul(x, logarithm, out=out)


def zeta(input: Tensor | float, other: Tensor | float, *, out: Tensor | None = None) -> Tensor:
    """The Hurwitz zeta function: the sum of (other + k) ** -input over all k from 0 on, elementwise; one of both may be a
    number. Its gradient is that of `other` alone."""
    return _C.special_zeta(operand("zeta", input, other), operand("zeta", other, input), out=out)
