"""What layers compute under PyTorch's names: convolutions with padding by name, normalisation, and losses, whose
reduction is none unless it is given: 0 for none, 1 for the mean, 2 for the sum."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway._numbers import expanded


def _conv(dims: int) -> Any:
    operator = getattr(_C, f"conv{dims}d")

    def conv(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        if isinstance(padding, str):
            input, padding = _pad_by_name(input, weight, stride, padding, dilation, dims)
        result: Tensor = operator(input, weight, bias, stride, padding, dilation, groups)
        return result

    conv.__name__ = conv.__qualname__ = f"conv{dims}d"
    conv.__doc__ = (f"Convolution over the last {dims} dimensions of an input [N, C, ...] (or [C, ...]) with a weight\n"
                    "[C_out, C / groups, kernel...] and a bias [C_out]. `padding` is one number, one for each "
                    "dimension,\n"
                    "'valid' (none) or 'same' (the result has the input's size; for a stride of 1).")
    return conv


def _pad_by_name(
    input: Tensor, weight: Tensor, stride: Any, padding: str, dilation: Any, dims: int
) -> tuple[Tensor, list[int]]:
    """The input, padded where both ends differ, and the padding that is left to do."""
    if padding == "valid":
        return input, [0] * dims
    if padding != "same":
        raise _C.ValueError(f"conv{dims}d: padding is 'valid', 'same' or numbers, not '{padding}'")
    if any(s != 1 for s in expanded(stride, dims)):
        raise _C.ValueError(f"conv{dims}d: padding='same' is not supported for strided convolutions")
    totals = [d * (size - 1) for d, size in zip(expanded(dilation, dims), weight.shape[2:])]
    if any(total % 2 for total in totals):
        input = _C._nn.pad(input, [n for total in reversed(totals) for n in (0, total % 2)])
    return input, [total // 2 for total in totals]


conv1d = _conv(1)
conv2d = _conv(2)
conv3d = _conv(3)


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
