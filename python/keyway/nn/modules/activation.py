"""Activations as modules."""

from __future__ import annotations

from typing import Any

from keyway._C import Tensor
from keyway.nn import functional as F
from keyway.nn.modules.module import Module


class _InPlace(Module):
    """What activations that may overwrite their input share."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ReLU(_InPlace):
    """max(0, x), elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class SiLU(_InPlace):
    """x * sigmoid(x), elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Hardsigmoid(_InPlace):
    """min(max(0, x + 3), 6) / 6, elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Hardtanh(_InPlace):
    """min(max(min_val, x), max_val), elementwise."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        if min_val >= max_val:
            raise ValueError(f"Hardtanh: min_val {min_val} is not below max_val {max_val}")
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class ReLU6(Hardtanh):
    """min(max(0, x), 6), elementwise."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class LeakyReLU(_InPlace):
    """x where it is positive, else negative_slope * x."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class GELU(Module):
    """x times the normal distribution's probability of a value below x; with approximate="tanh", nearly so."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = F.gelu(input, approximate=self.approximate)
        return result

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Sigmoid(Module):
    """1 / (1 + exp(-x)), elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent, elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class LogSigmoid(Module):
    """log(1 / (1 + exp(-x))), elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|), elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x), elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class _OverDim(Module):
    """What functions over one dimension share."""

    _function: Any

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = type(self)._function(input, self.dim, _stacklevel=5)
        return result

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_OverDim):
    """exp(x) / sum of exp(x), over a dimension."""

    _function = staticmethod(F.softmax)


class LogSoftmax(_OverDim):
    """The logarithm of softmax, over a dimension."""

    _function = staticmethod(F.log_softmax)


class Softmin(_OverDim):
    """softmax of -x, over a dimension."""

    _function = staticmethod(F.softmin)
