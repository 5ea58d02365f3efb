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
    factor = bn_rv.detach().add(bn_eps).rsqrt()
    if bn_w is not None:
        factor = factor.mul(bn_w.detach())
    begin = bn_rm.detach().neg() if conv_b is None else conv_b.detach().sub(bn_rm.detach())
    new_bias = begin.mul(factor)
    if bn_b is not None:
        new_bias = new_bias.add(bn_b.detach())
    new_weight = conv_w.detach().mul(factor.reshape([1] * channels + [-1] + [1] * (conv_w.dim() - 1 - channels)))
    kept_bias = conv_w.requires_grad if conv_b is None else conv_b.requires_grad
    return (Parameter(new_weight.to(conv_w.dtype), conv_w.requires_grad),
            Parameter(new_bias.to(conv_w.dtype if conv_b is None else conv_b.dtype), kept_bias))


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
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _copied(layer: M, bn: Any, what: str) -> M:
    if layer.training or bn.training:
        raise ValueError(f"{what}: fusion is only for modules in evaluation mode: call eval() first")
    if bn.running_mean is None or bn.running_var is None:
        raise ValueError(f"{what}: the batch normalisation has no running_mean and running_var")
    return copy.deepcopy(layer)
