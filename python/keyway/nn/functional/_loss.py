"""Losses: a number that training makes small. `reduction` says whether the losses of all elements come out ("none"),
their mean or their sum; `size_average` and `reduce` are older ways to say so."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from keyway import _C
from keyway._C import Tensor
from keyway.nn.functional._ctc import Lengths, ctc_losses
from keyway.nn.functional._reduction import chosen_name, number, reduced
from keyway.nn.functional._wide import widened


def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy between logits [N, C, ...] (or [C]) and classes, int64 [N, ...] (or []), or the probabilities
    of all classes, of the input's shape and dtype. `weight` is [C]; a target of `ignore_index` counts nothing."""
    kind = number(chosen_name(size_average, reduce, reduction))
    if ignore_index >= 0 and target.is_floating_point():
        raise _C.ValueError(f"cross_entropy: ignore_index={ignore_index} is there for targets that are classes, not "
                            "for probabilities")
    return _C.cross_entropy_loss(input, target, weight, kind, ignore_index, label_smoothing)


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:
    """The negative of the log-probability [N, C, ...] (or [C]) that the input gives each class, int64 [N, ...] (or []).
    `weight` is [C]; a target of `ignore_index` counts nothing."""
    return _C.nll_loss_nd(input, target, weight, number(chosen_name(size_average, reduce, reduction)), ignore_index)


def mse_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:
    """(input - target)^2, of tensors of one shape, times weights of that shape."""
    _warn_of_shapes(input, target)
    return _distance("mse_loss", input, target, weight, chosen_name(size_average, reduce, reduction))


def l1_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:
    """|input - target|, of tensors of one shape, times weights of that shape."""
    _warn_of_shapes(input, target)
    return _distance("l1_loss", input, target, weight, chosen_name(size_average, reduce, reduction))


def _distance(function: str, input: Tensor, target: Tensor, weight: Tensor | None, reduction: str,
              *options: float) -> Tensor:
    """The reduction of a loss of two tensors, times weights. A mean with weights of squares and of absolute differences is
    divided by the sum of the weights, that of Huber's losses by their number."""
    loss: Callable[..., Tensor] = getattr(_C, function)
    if weight is None:
        return loss(input, target, number(reduction), *options)
    if weight.shape != input.shape:
        raise _C.ValueError(f"{function}(): argument 'weight' has shape {list(weight.shape)}, but the input has "
                            f"{list(input.shape)}")
    weighted = loss(input, target, 0, *options).mul(weight)
    if reduction == "mean" and function != "huber_loss":
        return weighted.sum().div(weight.sum())
    return reduced(weighted, reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", beta: float = 1.0,
) -> Tensor:
    """d^2 / (2 beta) where d = |input - target| is below beta, else d - beta / 2."""
    _warn_of_shapes(input, target)
    kind = number(chosen_name(size_average, reduce, reduction))
    return _C.l1_loss(input, target, kind) if beta == 0 else _C.smooth_l1_loss(input, target, kind, beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """d^2 / 2 where d = |input - target| is below delta, else delta * (d - delta / 2), times weights of that shape."""
    _warn_of_shapes(input, target)
    return _distance("huber_loss", input, target, weight, reduction, delta)


def kl_div(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", log_target: bool = False,
) -> Tensor:
    """target * (log(target) - input), of log-probabilities and probabilities, or if `log_target`, of log-probabilities
    both. A reduction "batchmean", which is what the name promises, is the sum divided by the first size."""
    name = chosen_name(size_average, reduce, reduction)
    if name == "mean":
        warnings.warn("reduction='mean' divides the total loss by both the batch size and the support size; "
                      "'batchmean' divides only by the batch size, and aligns with the KL math definition",
                      stacklevel=2)
    batch_mean = name == "batchmean"
    if not batch_mean or input.dim() == 0:
        return _C.kl_div(input, target, number("sum" if batch_mean else name), log_target=log_target)
    total = _C.kl_div(widened(input), widened(target), number("sum"), log_target=log_target)
    return total.div(input.size(0)).to(_C.promote_types(input.dtype, target.dtype))


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:
    """The cross entropy of probabilities, of one shape. `weight` is the weight of each element, and is broadcast."""
    kind = number(chosen_name(size_average, reduce, reduction))
    _check_shapes(input, target)
    return _C._nn.binary_cross_entropy(input, target, weight, kind)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean", pos_weight: Tensor | None = None,
) -> Tensor:
    """The cross entropy of sigmoid(input) and probabilities, of one shape. `weight` is the weight of each element,
    `pos_weight` that of its positive part; both are broadcast."""
    _check_shapes(input, target)
    kind = number(chosen_name(size_average, reduce, reduction))
    return _C.binary_cross_entropy_with_logits(input, target, weight, pos_weight, kind)


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Tensor:
    """Minus the log-probability of all ways to read a sequence of labels out of log_probs [T, N, C] (or [T, C]) of
    log_softmax, where equal labels in a row are one unless a `blank` is between them, and blanks are left out.

    `targets` are [N, S], or one behind the other [sum of target_lengths]; the first `input_lengths` elements and
    `target_lengths` labels of each count. "mean" divides each loss by its number of labels first. A loss is infinite
    where the input is too short; with `zero_infinity` it is zero, as is its gradient.
    """
    return ctc_losses(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity, number(reduction))


def _check_shapes(input: Tensor, target: Tensor) -> None:
    if target.shape != input.shape:
        raise _C.ValueError(f"Target size {tuple(target.shape)} must be the same as input size {tuple(input.shape)}")


def _warn_of_shapes(input: Tensor, target: Tensor) -> None:
    if target.shape != input.shape:
        warnings.warn(f"Using a target size {tuple(target.shape)} that is different to the input size "
                      f"{tuple(input.shape)}. This will likely lead to incorrect results due to broadcasting. "
                      "Please ensure they have the same size.", stacklevel=3)
