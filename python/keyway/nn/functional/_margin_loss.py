"""Losses of distances, margins and likelihoods. `reduction`, `size_average` and `reduce` are as in _loss.py."""

from __future__ import annotations

import math
from typing import Callable

from keyway import _C
from keyway._C import Tensor, _nn
from keyway._tensor.methods import checked
from keyway.autograd.grad_mode import no_grad
from keyway.nn.functional._reduction import chosen_name, number, reduced


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:
    """1 minus the cosine of the angle between vectors [N, D] (or [D]) where the target [N] (or []) is 1; where it is
    -1, what the cosine exceeds `margin` by."""
    kind = number(chosen_name(size_average, reduce, reduction))
    return _C.cosine_embedding_loss(input1, input2, target, margin, kind)


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Distances where the target is 1; where it is -1, what they fall short of `margin` by."""
    return _C.hinge_embedding_loss(input, target, margin, number(chosen_name(size_average, reduce, reduction)))


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:
    """max(0, margin - target * (input1 - input2)), of tensors of as many dimensions each."""
    kind = number(chosen_name(size_average, reduce, reduction))
    if not input1.dim() == input2.dim() == target.dim():
        raise _C.ValueError(f"margin_ranking_loss: the tensors have {input1.dim()}, {input2.dim()} and {target.dim()} "
                            "dimensions, but must have as many each")
    return _C.margin_ranking_loss(input1, input2, target, margin, kind)


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-target * input)), for targets 1 and -1."""
    return _nn.soft_margin_loss(input, target, number(chosen_name(size_average, reduce, reduction)))


def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
    size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:
    """max(0, margin - x[class] + x[i])^p of each other class i of rows [N, C] (or [C]), added up and divided by C;
    classes are [N] (or []). `weight` is that of each class, [C]."""
    kind = number(chosen_name(size_average, reduce, reduction))
    if p not in (1, 2):
        raise _C.ValueError(f"multi_margin_loss: only p == 1 and p == 2 are there, not {p}")
    if weight is not None and weight.dim() != 1:
        raise _C.ValueError(f"multi_margin_loss: weight must have one dimension, not {weight.dim()}")
    return _nn.multi_margin_loss(input, target, p, margin, weight, kind)


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """max(0, 1 - x[class] + x[i]) of each class that a row [N, C] (or [C]) of targets has up to the first -1 and each
    class i that it has not, added up and divided by C."""
    return _nn.multilabel_margin_loss(input, target, number(chosen_name(size_average, reduce, reduction)))


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:
    """The cross entropy of sigmoid(input) and probabilities, averaged over the classes in the last dimension. `weight`
    is that of each class."""
    name = chosen_name(size_average, reduce, reduction)
    held = target.mul(_nn.log_sigmoid(input)).add(target.neg().add(1).mul(_nn.log_sigmoid(input.neg())))
    loss = held.neg() if weight is None else held.neg().mul(weight)
    return reduced(loss.sum(input.dim() - 1).div(input.size(-1)), name)


def _check_margin(name: str, margin: float) -> None:
    if not margin > 0:
        raise _C.ValueError(f"{name}(): margin must be greater than 0, but is {margin}")


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:
    """max(0, margin + d(anchor, positive) - d(anchor, negative)) for the p-norm d of vectors in the last dimension;
    with `swap`, d(positive, negative) takes the place of the last if it is less. Raises keyway.ValueError for a margin
    that is not greater than 0."""
    _check_margin("triplet_margin_loss", margin)
    kind = number(chosen_name(size_average, reduce, reduction))
    return _C.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, kind)


def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0, swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """triplet_margin_loss with another distance, by default pairwise_distance."""
    _check_margin("triplet_margin_with_distance_loss", margin)
    number(reduction)
    for name, tensor in (("anchor", anchor), ("positive", positive), ("negative", negative)):
        checked(tensor, "triplet_margin_with_distance_loss", name)
    if not anchor.dim() == positive.dim() == negative.dim():
        raise _C.ValueError(f"triplet_margin_with_distance_loss: the tensors have {anchor.dim()}, {positive.dim()} and "
                            f"{negative.dim()} dimensions, but must have as many each")
    distance = _C.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _C.minimum(far, distance(positive, negative))
    return reduced(near.sub(far).add(margin).clamp(min=0), reduction)


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: bool | None = None,
    eps: float = 1e-8, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:
    """exp(input) - target * input, or if not `log_input`, input - target * log(input + eps); with `full`, about the
    logarithm of the target's factorial is added."""
    kind = number(chosen_name(size_average, reduce, reduction))
    return _C.poisson_nll_loss(input, target, log_input, full, eps, kind)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """(log(var) + (input - target)^2 / var) / 2, where the variances count as `eps` at least; with `full`, half of
    log(2 pi) is added. There is a variance for each element, or one for each vector in the last dimension or another
    one, where their size is 1; a float is that of all.

    Raises keyway.ValueError for variances of another shape, and for negative ones.
    """
    if not isinstance(var, Tensor):
        if not isinstance(var, float):
            raise _C.TypeError(f"gaussian_nll_loss: var is a Tensor or a float, not {type(var).__name__}")
        var = _C.full_like(input, var)
    if var.shape != input.shape:
        others = [size for size, whole in zip(var.shape, input.shape) if size != whole]
        if var.shape == input.shape[:-1]:
            var = var.unsqueeze(-1)
        elif var.dim() != input.dim() or others != [1]:
            raise _C.ValueError(f"gaussian_nll_loss: var has shape {tuple(var.shape)}, which does not fit an input "
                                f"{tuple(input.shape)}")
    number(reduction)
    if bool(var.lt(0).any()):
        raise _C.ValueError("gaussian_nll_loss: var has negative elements")
    held = var.clone()
    with no_grad():
        held.clamp_(min=eps)
    loss = held.log().add(input.sub(target).square().div(held)).mul(0.5)
    return reduced(loss.add(0.5 * math.log(2 * math.pi)) if full else loss, reduction)
