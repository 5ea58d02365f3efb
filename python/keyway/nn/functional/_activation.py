"""Activations."""

from __future__ import annotations

import warnings

from keyway import _C
from keyway._C import Tensor, _nn


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x), elementwise."""
    return _C.relu_(input) if inplace else _C.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(0, x), 6), elementwise."""
    return hardtanh(input, 0.0, 6.0, inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x), elementwise."""
    return _nn.silu_(input) if inplace else _nn.silu(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(0, x + 3), 6) / 6, elementwise."""
    return _nn.hardsigmoid_(input) if inplace else _nn.hardsigmoid(input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """min(max(min_val, x), max_val), elementwise. Raises keyway.ValueError if `min_val` is greater."""
    if min_val > max_val:
        raise _C.ValueError(f"hardtanh: min_val is {min_val}, more than max_val, {max_val}")
    return (_nn.hardtanh_ if inplace else _nn.hardtanh)(input, min_val, max_val)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where it is positive, else negative_slope * x."""
    return (_nn.leaky_relu_ if inplace else _nn.leaky_relu)(input, negative_slope)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it exceeds threshold, else value."""
    return (_C.threshold_ if inplace else _C.threshold)(input, threshold, value)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, else alpha * (exp(x) - 1)."""
    return (_nn.elu_ if inplace else _nn.elu)(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the constants of self-normalizing networks."""
    return _C.selu_(input) if inplace else _C.selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, else alpha * (exp(x / alpha) - 1)."""
    return (_C.celu_ if inplace else _C.celu)(input, alpha)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(log(1 + exp(x))), elementwise."""
    return _nn.mish_(input) if inplace else _nn.mish(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * min(max(0, x + 3), 6) / 6, elementwise."""
    return _nn.hardswish_(input) if inplace else _nn.hardswish(input)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)), elementwise."""
    return _C.sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent, elementwise."""
    return _C.tanh(input)


def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(1 / (1 + exp(-x))), elementwise, without overflow."""
    return _nn.log_sigmoid(input, out=out)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|), elementwise."""
    return input.div(input.abs().add(1))


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x), elementwise."""
    return input.sub(input.tanh())


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _C.dtype | None = None
) -> Tensor:
    """exp(x) / sum of exp(x) over a dimension; in `dtype` if that is given.

    Without `dim`, which warns: over the first dimension of inputs of 0, 1 or 3 dimensions, over the second of others.
    """
    return _C.softmax(input, _chosen_dim("softmax", input, dim, _stacklevel), dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _C.dtype | None = None
) -> Tensor:
    """The logarithm of softmax, without overflow. `dim` is as there."""
    return _C.log_softmax(input, _chosen_dim("log_softmax", input, dim, _stacklevel), dtype=dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: _C.dtype | None = None
) -> Tensor:
    """softmax of -x. `dim` is as there."""
    return _C.softmax(input.neg(), _chosen_dim("softmin", input, dim, _stacklevel), dtype=dtype)


def _chosen_dim(name: str, input: Tensor, dim: int | None, stacklevel: int) -> int:
    if dim is not None:
        return dim
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Give dim=X.", stacklevel=stacklevel)
    return 0 if input.dim() in (0, 1, 3) else 1
