"""Normalisation: tensors scaled to a norm, or to mean 0 and variance 1."""

from __future__ import annotations

import math
from typing import Sequence

from keyway import _C
from keyway._C import Tensor, _nn
from keyway.autograd.grad_mode import no_grad
from keyway.nn.functional._wide import narrowed, widened


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """input / max(its p-norm over a dimension, eps)."""
    wide = widened(input)
    result = _C.div(wide, _C.linalg_vector_norm(wide, p, dim, True).clamp(min=eps), out=out)
    return result if out is not None else narrowed(result, input)


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over the last dimensions, of `normalized_shape`, times weight plus bias."""
    return _C.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """x / sqrt(mean of x^2 + eps) over the last dimensions, of `normalized_shape`, times weight; eps is by default the
    difference between 1 and the next number of the dtype, of float32 for 16 bits."""
    return _C.rms_norm(input, normalized_shape, weight, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over each of `num_groups` groups of channels of an input [N, C, ...], times a
    weight [C] plus a bias [C]."""
    if input.dim() >= 2 and num_groups > 0:
        _check_more_than_one(input, input.size(0) * input.size(1) // num_groups * math.prod(input.shape[2:]),
                             "value per channel")
    return _C.group_norm(input, num_groups, weight, bias, eps)


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) of each channel of an input [N, C, ...], times a weight [C] plus a bias [C].

    While training, mean and variance are those of the batch, and a part `momentum` of them (of the variance, of its
    unbiased estimate) goes into `running_mean` and `running_var`, if there are such; else they are these.
    """
    if training:
        count = math.prod(input.shape[:1]) * math.prod(input.shape[2:])
        _check_more_than_one(input, count, "value per channel")
    return _by_batch(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _by_batch(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None, bias: Tensor | None,
    training: bool, momentum: float, eps: float,
) -> Tensor:
    if running_mean is not None and running_var is not None:
        normalise = _C._native_batch_norm_legit
        return normalise(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]
    if not training:
        raise _C.ValueError("batch_norm: running_mean and running_var are needed when not training")
    return _C._native_batch_norm_legit(input, weight, bias, True, momentum, eps)[0]


def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
    weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """batch_norm of each sample of an input [N, C, ...] by itself: what goes into `running_mean` and `running_var` is
    the mean over samples; they are what is taken without `use_input_stats`."""
    if use_input_stats:
        _check_more_than_one(input, math.prod(input.shape[2:]), "spatial element")
    samples, channels = input.size(0), input.size(1)

    def of_each(values: Tensor | None) -> Tensor | None:
        return None if values is None else values.repeat(samples)

    means, variances = of_each(running_mean), of_each(running_var)
    rows = input.reshape(1, samples * channels, *input.shape[2:])
    result = _by_batch(rows, means, variances, of_each(weight), of_each(bias), use_input_stats, momentum, eps)
    if use_input_stats and samples > 0:
        with no_grad():
            for running, each in ((running_mean, means), (running_var, variances)):
                if running is not None and each is not None:
                    running.copy_(each.reshape(samples, channels).mean(0))
    return result.reshape(input.shape)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """x / (k + alpha * the mean of the squares of `size` channels around each) ** beta, of an input [N, C, ...]."""
    if input.dim() < 3:
        raise _C.ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = widened(input).square().reshape(input.size(0), 1, input.size(1), math.prod(input.shape[2:]))
    padded = _nn.pad(squares, [0, 0, size // 2, (size - 1) // 2])
    means = _nn.avg_pool2d(padded, [size, 1], 1).reshape(input.shape)
    return narrowed(input.div(means.mul(alpha).add(k).pow(beta)), input)


def _check_more_than_one(input: Tensor, count: int, what: str) -> None:
    if count == 1:
        raise _C.ValueError(f"Expected more than 1 {what} when training, got input size {tuple(input.shape)}")
