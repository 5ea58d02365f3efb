"""Activations as modules."""

from __future__ import annotations

import warnings
from typing import Any, Callable, ClassVar

from keyway import _C
from keyway._C import Tensor
from keyway.nn import functional as F
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter


class _InPlace(Module):
    """What activations that may overwrite their input share."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return ", ".join(filter(None, (super().extra_repr(), "inplace=True" if self.inplace else "")))


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

    def extra_repr(self) -> str:
        return ""


class Hardtanh(_InPlace):
    """min(max(min_val, x), max_val), elementwise."""

    _shown_members: ClassVar[tuple[str, ...]] = ("min_val", "max_val")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False,
                 min_value: float | None = None, max_value: float | None = None) -> None:
        super().__init__(inplace)
        if min_value is not None or max_value is not None:
            warnings.warn("Hardtanh: min_value and max_value are old names of min_val and max_val", FutureWarning,
                          stacklevel=2)
            min_val = min_val if min_value is None else min_value
            max_val = max_val if max_value is None else max_value
        if min_val >= max_val:
            raise ValueError(f"Hardtanh: min_val {min_val} is not below max_val {max_val}")
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """min(max(0, x), 6), elementwise."""

    _shown_members = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class LeakyReLU(_InPlace):
    """x where it is positive, else negative_slope * x."""

    _shown_members = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(_InPlace):
    """x where it is positive, else alpha * (exp(x) - 1)."""

    _shown_members = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(ELU):
    """x where it is positive, else alpha * (exp(x / alpha) - 1)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class SELU(_InPlace):
    """ELU with the constants of self-normalizing networks."""

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class Mish(_InPlace):
    """x * tanh(log(1 + exp(x))), elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardswish(_InPlace):
    """x * min(max(0, x + 3), 6) / 6, elementwise."""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Threshold(_InPlace):
    """x where it exceeds threshold, else value."""

    _shown_members = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x exceeds threshold."""

    _shown_members = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class _Shrink(Module):
    """What both of the following share."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """x where it is farther than lambd from 0, else 0."""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved by lambd towards 0, and not beyond."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class PReLU(Module):
    """x where it is positive, else a weight that is learned times x: one weight, or one for each channel."""

    _shown_members = ("num_parameters",)

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: _C.dtype | None = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(_C.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The initial value for every weight."""
        self.weight.detach().fill_(self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)


class GLU(Module):
    """The first half along a dimension times the sigmoid of the second."""

    _shown_members = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


class GELU(Module):
    """x times the normal distribution's probability of a value below x; with approximate="tanh", nearly so."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

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


class RReLU(_InPlace):
    """x where it is positive, else a slope times x, which is drawn between `lower` and `upper` while training."""

    _shown_members = ("lower", "upper")

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


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

    _function: ClassVar[Callable[..., Tensor]]
    _shown_members = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return type(self)._function(input, self.dim, _stacklevel=5)


class Softmax(_OverDim):
    """exp(x) / sum of exp(x), over a dimension."""

    _function = staticmethod(F.softmax)


class Softmax2d(Module):
    """softmax over the channels of images. Raises ValueError unless the input has 3 or 4 dimensions."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: the input has 3 or 4 dimensions, not {input.dim()}")
        return F.softmax(input, -3)


class LogSoftmax(_OverDim):
    """The logarithm of softmax, over a dimension."""

    _function = staticmethod(F.log_softmax)


class Softmin(_OverDim):
    """softmax of -x, over a dimension."""

    _function = staticmethod(F.softmin)
