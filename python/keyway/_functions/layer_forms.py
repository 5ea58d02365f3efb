"""Layers as functions of their weights, under the names that PyTorch has at the top: what nn.functional or nn's modules
compute, with the operators' order of arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from keyway import _C
from keyway._C import Tensor

if TYPE_CHECKING:
    Lengths = Tensor | Sequence[int]


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths, blank: int = 0,
    reduction: int = 1, zero_infinity: bool = False,
) -> Tensor:
    """nn.functional.ctc_loss with a reduction of 0 for none, 1 for the mean, 2 for the sum."""
    from keyway.nn.functional._ctc import ctc_losses

    return ctc_losses(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity, reduction)


def instance_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Tensor:
    """nn.functional.instance_norm with its arguments in another order."""
    from keyway.nn import functional as F

    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norms of order `pow` of the slices of a dimension, the first or the last one, of size 1 in all others; of -1,
    that of the whole tensor."""
    others = [i for i in range(v.dim()) if i != dim]
    if dim == -1 or not others:
        return _C.linalg_vector_norm(v, pow) if dim == -1 else v.abs()
    return _C.linalg_vector_norm(v, pow, others, True)
