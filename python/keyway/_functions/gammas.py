"""The multivariate gamma function under its older name, also as a method."""

from __future__ import annotations

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor
from keyway._tensor.methods import checked


def mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """special.multigammaln: the logarithm of the multivariate gamma function of dimension `p`.

    Raises keyway.ValueError for p below 1.
    """
    from keyway import special

    return special.multigammaln(input, p, out=out)


def _mvlgamma(self: Tensor, p: int) -> Tensor:
    return mvlgamma(self, p)


def _mvlgamma_(self: Tensor, p: int) -> Tensor:
    """mvlgamma in place. Raises keyway.DtypeError for integers."""
    if not checked(self, "mvlgamma_").is_floating_point():
        raise _C.DtypeError(f"mvlgamma_(): the result is a floating-point one, which {self.dtype} does not hold")
    return self.copy_(mvlgamma(self, p))


attach(Tensor, _mvlgamma, _mvlgamma_)
