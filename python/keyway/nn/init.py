"""Initial values of parameters. Each function fills a tensor in place, records nothing for autograd, and returns it."""

from __future__ import annotations

import math
import warnings
from typing import Literal

import keyway
from keyway._C import Generator, Tensor
from keyway.autograd.grad_mode import no_grad

Mode = Literal["fan_in", "fan_out"]

_GAINS = {"tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}
_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
           "sigmoid")


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """What keeps the variance of a signal through a nonlinearity; `param` is the slope of "leaky_relu", 0.01 by
    default."""
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform in [a, b); of complex numbers, both parts."""
    with no_grad():
        (keyway.view_as_real(tensor) if tensor.is_complex() else tensor).uniform_(a, b, generator=generator)
    return tensor


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal within [a, b]: values outside are drawn again.

    Raises ValueError for an interval that is hardly ever hit: one that lies more than four `std` from the mean.
    """
    if not a < b or a > mean + 4 * std or b < mean - 4 * std:
        raise ValueError(f"trunc_normal_: normal values of mean {mean} and std {std} do not fall into [{a}, {b}]")
    with no_grad():
        drawn = keyway.empty_like(tensor).normal_(mean, std, generator=generator)
        outside = drawn.lt(a).logical_or(drawn.gt(b))
        while bool(outside.sum().gt(0)):
            again = keyway.empty_like(tensor).normal_(mean, std, generator=generator)
            drawn = keyway.where(outside, again, drawn)
            outside = drawn.lt(a).logical_or(drawn.gt(b))
        return tensor.copy_(drawn)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One value everywhere."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """The identity, of a tensor of two dimensions."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        rows = keyway.arange(tensor.size(0), device=tensor.device).unsqueeze(1)
        return tensor.copy_(rows.eq(keyway.arange(tensor.size(1), device=tensor.device)))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Convolutions that keep their inputs, as many as there are outputs for: [outputs, inputs, kernel...], with one to
    three dimensions of the kernel. Each of `groups` keeps those of its own."""
    if not 3 <= tensor.dim() <= 5:
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if groups < 1 or tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    outputs = tensor.size(0) // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for i in range(min(outputs, tensor.size(1))):
                tensor[(group * outputs + i, i, *middle)] = 1
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Normal around 0, with a part `sparsity` of each column, rounded up, zero: a tensor of two dimensions."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    zeros = math.ceil(sparsity * tensor.size(0))
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(tensor.size(1)):
            tensor[keyway.randperm(tensor.size(0), generator=generator, device="cpu")[:zeros], column] = 0
    return tensor


def _is_empty(tensor: Tensor) -> bool:
    if 0 not in tensor.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


def _fans(tensor: Tensor) -> tuple[int, int]:
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    kernel = math.prod(tensor.shape[2:])
    return tensor.size(1) * kernel, tensor.size(0) * kernel


def _fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _fans(tensor)[0 if mode.lower() == "fan_in" else 1]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform, such that signals keep their variance forward and backward: [outputs, inputs, kernel...]."""
    bound = math.sqrt(3) * gain * math.sqrt(2 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal, such that signals keep their variance forward and backward: [outputs, inputs, kernel...]."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(_fans(tensor))), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: Mode = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform, for a layer that a nonlinearity follows, whose negative slope is `a` if it is "leaky_relu"."""
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3) * calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: Mode = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal, for a layer that a nonlinearity follows, whose negative slope is `a` if it is "leaky_relu"."""
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """A random matrix whose rows, or if there are more of them, whose columns are orthonormal, times `gain`. Dimensions
    behind the first count as one."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    with no_grad():
        rows, columns = tensor.size(0), tensor.numel() // tensor.size(0)
        drawn = keyway.empty(rows, columns, dtype=tensor.dtype, device=tensor.device).normal_(0, 1, generator=generator)
        is_wide = rows < columns
        q, r = keyway.linalg_qr(drawn.t() if is_wide else drawn)
        # With the signs that make R's diagonal positive Q is uniform.
        vectors = q.mul(r.diagonal().sign())
        return tensor.copy_((vectors.t() if is_wide else vectors).reshape(tensor.shape).mul(gain))
