"""Dropout: noise while a module is being trained."""

from __future__ import annotations

from typing import Callable, ClassVar

from keyway._C import Tensor
from keyway.nn import functional as F
from keyway.nn.modules.module import Module


class _Dropout(Module):
    _function: ClassVar[Callable[..., Tensor]]
    _shown_members = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return type(self)._function(input, self.p, self.training, self.inplace)


class Dropout(_Dropout):
    """While training, zeroes each element with probability p and divides the others by 1 - p."""

    _function = staticmethod(F.dropout)


class Dropout1d(_Dropout):
    """Dropout of whole channels: [N, C, L] or [C, L]."""

    _function = staticmethod(F.dropout1d)


class Dropout2d(_Dropout):
    """Dropout of whole channels: [N, C, H, W] or [C, H, W]."""

    _function = staticmethod(F.dropout2d)


class Dropout3d(_Dropout):
    """Dropout of whole channels: [N, C, D, H, W] or [C, D, H, W]."""

    _function = staticmethod(F.dropout3d)


class AlphaDropout(_Dropout):
    """While training, gives each element with probability p the least value of selu, and scales and shifts all of them
    such that mean 0 and variance 1 stay."""

    _function = staticmethod(F.alpha_dropout)


class FeatureAlphaDropout(_Dropout):
    """AlphaDropout of whole channels: [N, C, ...]."""

    _function = staticmethod(F.feature_alpha_dropout)
