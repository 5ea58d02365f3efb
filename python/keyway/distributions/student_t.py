"""StudentT."""

from __future__ import annotations

import math
from collections.abc import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway._tensor.type_info import finfo
from keyway.distributions import constraints
from keyway.distributions._gamma_draws import exp_within, log_standard_gamma
from keyway.distributions.distribution import LocScale
from keyway.distributions.utils import broadcast_all

__all__ = ["StudentT"]


class StudentT(LocScale):
    """Student's distribution of `df` degrees of freedom around `loc`, of the width `scale`."""

    arg_constraints = {"df": constraints.positive, **LocScale.arg_constraints}

    def __init__(self, df: Tensor | float, loc: Tensor | float = 0.0, scale: Tensor | float = 1.0,
                 validate_args: bool | None = None) -> None:
        self.df, loc, scale = broadcast_all(df, loc, scale)
        super().__init__(loc, scale, validate_args)

    @property
    def mean(self) -> Tensor:
        return _C.where(self.df <= 1, math.nan, self.loc)

    @property
    def variance(self) -> Tensor:
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return _C.where(self.df <= 1, math.nan, _C.where(self.df <= 2, math.inf, finite))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        df = self.df.expand(self._extended_shape(sample_shape))
        noise = _C.randn(df.shape, dtype=df.dtype, device=df.device)
        chi2 = log_standard_gamma(df / 2) + math.log(2)  # its logarithm
        # With noise, which is below 16, a number whose square the dtype holds: log_prob is finite.
        spread = df.sqrt() * exp_within(-chi2 / 2, df.dtype, high=math.sqrt(finfo(df.dtype).max) / 16)
        return self.loc + self.scale * noise * spread

    def log_prob(self, value: Tensor) -> Tensor:
        ratio = (self._checked(value) - self.loc) / self.scale
        return -0.5 * (self.df + 1) * (ratio.pow(2) / self.df).log1p() - self._log_norm()

    def _log_norm(self) -> Tensor:
        half = self.df / 2
        return self.scale.log() + 0.5 * (self.df * math.pi).log() + half.lgamma() - (half + 0.5).lgamma()

    def entropy(self) -> Tensor:
        half = self.df / 2
        return self._log_norm() + (half + 0.5) * ((half + 0.5).digamma() - half.digamma())
