"""Batch normalisation that is not trained any more, computed by the layer in front of it."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from keyway._C import Tensor
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter

M = TypeVar("M", bound=Module)


def fuse_conv_bn_eval(conv: M, bn: Any, transpose: bool = False) -> M:
    """A convolution that computes bn(conv(x)), of copies of the weights; `transpose` for a transposed one.

    Raises ValueError unless both are in evaluation mode and `bn` has tracked its statistics.
    """
    fused = _copied(conv, bn, "fuse_conv_bn_eval")
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps,
                                                    bn.weight, bn.bias, transpose)
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None,
    bn_b: Tensor | None, transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight [C_out, C_in, kernel...], or if `transpose` [C_in, C_out, kernel...], and the bias [C_out] of the
    fused convolution."""
    channels = 1 if transpose else 0
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, channels)


def fuse_linear_bn_eval(linear: M, bn: Any) -> M:
    """A linear layer that computes bn(linear(x)), of copies of the weights.

    Raises ValueError unless both are in evaluation mode, `bn` has tracked its statistics, and there are as many
    features as `linear` has outputs, or one.
    """
    fused = _copied(linear, bn, "fuse_linear_bn_eval")
    if fused.out_features != bn.num_features and bn.num_features != 1:
        raise ValueError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps,
                                                      bn.weight, bn.bias)
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """The weight [out, in] and the bias [out] of the fused linear layer."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _copied(layer: M, bn: Any, what: str) -> M:
    if layer.training or bn.training:
        raise ValueError(f"{what}: fusion is only for modules in evaluation mode: call eval() first")
    if bn.running_mean is None or bn.running_var is None:
        raise ValueError(f"{what}: the batch normalisation has no running_mean and running_var")
    return copy.deepcopy(layer)


def _fused(weight: Tensor, bias: Tensor | None, mean: Tensor, variance: Tensor, eps: float, scale: Tensor | None,
           shift: Tensor | None, channels: int) -> tuple[Parameter, Parameter]:
    factor = variance.detach().add(eps).rsqrt()
    if scale is not None:
        factor = factor.mul(scale.detach())
    begin = mean.detach().neg() if bias is None else bias.detach().sub(mean.detach())
    new_bias = begin.mul(factor)
    if shift is not None:
        new_bias = new_bias.add(shift.detach())
    new_weight = weight.detach().mul(factor.reshape([1] * channels + [-1] + [1] * (weight.dim() - 1 - channels)))
    kept_bias = weight.requires_grad if bias is None else bias.requires_grad
    return (Parameter(new_weight.to(weight.dtype), weight.requires_grad),
            Parameter(new_bias.to(weight.dtype if bias is None else bias.dtype), kept_bias))
