"""Normalisation: tensors scaled to a norm, or to mean 0 and variance 1."""

from __future__ import annotations

import math
from typing import Sequence

from keyway import _C
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """input / max(its p-norm over a dimension, eps)."""
    return _C.div(input, _C.linalg_vector_norm(input, p, dim, True).clamp(min=eps), out=out)


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over the last dimensions, of `normalized_shape`, times weight plus bias."""
    return _C.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over each of `num_groups` groups of channels of an input [N, C, ...], times a
    weight [C] plus a bias [C]."""
    if input.dim() < 2 or num_groups < 1 or input.size(1) % num_groups != 0:
        raise _C.ValueError(f"group_norm: {num_groups} groups do not divide the channels of an input "
                            f"{tuple(input.shape)}")
    size = input.size(1) // num_groups * math.prod(input.shape[2:])
    groups = input.reshape(input.size(0), num_groups, size)
    return _scaled(_C.layer_norm(groups, [size], eps=eps).reshape(input.shape), weight, bias)


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) of each channel of an input [N, C, ...], times a weight [C] plus a bias [C].

    While training, mean and variance are those of the batch, and a part `momentum` of them (of the variance, of its
    unbiased estimate) goes into `running_mean` and `running_var`, if there are such; else they are these.
    """
    dtype = _C.float32 if input.itemsize < 4 else input.dtype
    x = input.to(dtype=dtype)
    if training:
        mean, variance = _moments(x)
        if running_mean is not None and running_var is not None and x.numel() > 0:
            count = input.numel() // input.size(1)
            with no_grad():
                running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
                running_var.mul_(1 - momentum).add_(variance, alpha=momentum * count / (count - 1))
    elif running_mean is None or running_var is None:
        raise _C.ValueError("batch_norm: running_mean and running_var are needed when not training")
    else:
        mean, variance = running_mean.to(dtype=dtype), running_var.to(dtype=dtype)
    scale = variance.add(eps).rsqrt()
    return _scaled(x.sub(_by_channel(mean, x)).mul(_by_channel(scale, x)), weight, bias).to(dtype=input.dtype)


def _moments(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of each channel."""
    if x.dim() < 2 or x.numel() == x.size(1):
        raise _C.ValueError(f"Expected more than 1 value per channel when training, got input size {tuple(x.shape)}")
    others = [dim for dim in range(x.dim()) if dim != 1]
    mean = x.mean(others)
    return mean, x.sub(_by_channel(mean, x)).square().mean(others)


def _by_channel(values: Tensor, x: Tensor) -> Tensor:
    """[C] such that it is broadcast over the channels of [N, C, ...]."""
    return values.reshape([-1] + [1] * (x.dim() - 2))


def _scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    x = x if weight is None else x.mul(_by_channel(weight, x))
    return x if bias is None else x.add(_by_channel(bias, x))
