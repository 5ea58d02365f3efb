"""What layers compute under PyTorch's names at the top: normalisation, and losses, whose reduction is none unless it is
given: 0 for none, 1 for the mean, 2 for the sum."""

from __future__ import annotations

from keyway import _C
from keyway._C import Tensor


def batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, training: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Tensor:
    """nn.functional.batch_norm with its arguments in another order."""
    from keyway.nn import functional as F

    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 0
) -> Tensor:
    """The cross entropy of sigmoid(input) and probabilities."""
    return _C.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """1 minus the cosine of the angle between vectors where target is 1; what the cosine exceeds the margin by where it
    is -1."""
    return _C.cosine_embedding_loss(input1, input2, target, margin, reduction)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """Distances where target is 1; what they fall short of the margin by where it is -1."""
    return _C.hinge_embedding_loss(input, target, margin, reduction)


def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """target * (log(target) - input)."""
    return _C.kl_div(input, target, reduction, log_target=log_target)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """max(0, margin - target * (input1 - input2))."""
    return _C.margin_ranking_loss(input1, input2, target, margin, reduction)


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0, eps: float = 1e-06,
    swap: bool = False, reduction: int = 0,
) -> Tensor:
    """max(0, margin + the distance of anchor and positive - that of anchor and negative)."""
    return _C.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)
