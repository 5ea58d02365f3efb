"""The CTC loss: of all ways to spread a sequence of labels over a longer one, the probability together."""

from __future__ import annotations

import math
from typing import Any, Sequence, Union

from keyway import _C
from keyway._C import Tensor
from keyway._tensor.methods import checked
from keyway.autograd.function import Function, once_differentiable

Lengths = Union[Tensor, Sequence[int]]


def ctc_losses(log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths, blank: int,
               zero_infinity: bool, reduction: int) -> Tensor:
    """ctc_loss with the reduction as a number: 0 for none, 1 for the mean, 2 for the sum."""
    is_single = checked(log_probs, "ctc_loss", "log_probs").dim() == 2
    if is_single:
        log_probs = log_probs.unsqueeze(1)
    _check(log_probs, targets, blank)
    lengths = _numbers(input_lengths, log_probs, log_probs.size(0), "input_lengths")
    counts = _numbers(target_lengths, log_probs, None, "target_lengths")
    labels = _padded(targets, counts, is_single).to(device=log_probs.device)
    device = log_probs.device
    sizes = _C.tensor(counts, dtype=_C.int64, device=device)
    losses: Tensor = _Ctc.apply(log_probs, labels, _C.tensor(lengths, dtype=_C.int64, device=device), sizes, blank)
    if zero_infinity:
        losses = losses.masked_fill(losses.detach().eq(math.inf), 0)
    if reduction == 1:
        return losses.div(sizes.clamp(min=1)).mean()
    if reduction == 2:
        return losses.sum()
    return losses.squeeze(0) if is_single else losses


def _check(log_probs: Tensor, targets: Tensor, blank: int) -> None:
    if log_probs.dim() != 3:
        raise _C.ValueError(f"ctc_loss: log_probs have 2 or 3 dimensions, not {log_probs.dim()}")
    if log_probs.dtype not in (_C.float32, _C.float64):
        raise _C.DtypeError(f"ctc_loss: log_probs are float32 or float64, not {log_probs.dtype}")
    if checked(targets, "ctc_loss", "targets").dim() not in (1, 2):
        raise _C.ValueError(f"ctc_loss: targets have 1 or 2 dimensions, not {targets.dim()}")
    if not 0 <= blank < log_probs.size(2):
        raise _C.ValueError(f"ctc_loss: blank must be in label range, 0 to {log_probs.size(2) - 1}, not {blank}")


def _numbers(lengths: Lengths, log_probs: Tensor, most: int | None, name: str) -> list[int]:
    if isinstance(lengths, Tensor):
        if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype is _C.bool:
            raise _C.DtypeError(f"ctc_loss: {name} must be integral, not {lengths.dtype}")
        lengths = lengths.reshape(-1).tolist()
    elif not isinstance(lengths, (list, tuple)):
        raise _C.TypeError(f"ctc_loss: {name} are a Tensor or a tuple of ints, not {type(lengths).__name__}")
    numbers = [int(length) for length in lengths]
    if len(numbers) != log_probs.size(1):
        raise _C.ValueError(f"ctc_loss: {name} must be of size batch_size, {log_probs.size(1)}, not {len(numbers)}")
    if any(number < 0 or (most is not None and number > most) for number in numbers):
        limit = "" if most is None else f" and at most {most}"
        raise _C.ValueError(f"ctc_loss: {name} must be at least 0{limit}, but are {numbers}")
    return numbers


def _padded(targets: Tensor, counts: list[int], is_single: bool) -> Tensor:
    """The labels as [batch, longest]."""
    longest = max(counts, default=0)
    targets = targets.detach().to(dtype=_C.int64)
    if targets.dim() == 2 or is_single:
        rows = targets if targets.dim() == 2 else targets.unsqueeze(0)
        if rows.size(0) != len(counts) or rows.size(1) < longest:
            raise _C.ValueError(f"ctc_loss: targets have shape {tuple(targets.shape)}, but there are {len(counts)} "
                                f"sequences of up to {longest} labels")
        return rows.narrow(1, 0, longest)
    if targets.numel() != sum(counts):
        raise _C.ValueError(f"ctc_loss: target_lengths sum up to {sum(counts)}, but there are {targets.numel()} "
                            "targets")
    rows = targets.new_zeros([len(counts), longest])
    at = 0
    for row, count in zip(rows.unbind(0), counts):
        row.narrow(0, 0, count).copy_(targets.narrow(0, at, count))
        at += count
    return rows


class _Ctc(Function):
    """Losses [batch] of log-probabilities [time, batch, classes] and labels [batch, longest]. States are the labels
    with blanks between and around them, [batch, 2 * longest + 1]. The gradient is that by what log_softmax was
    given."""

    @staticmethod
    def forward(ctx: Any, log_probs: Tensor, labels: Tensor, lengths: Tensor, counts: Tensor, blank: int) -> Tensor:
        batch, longest = labels.shape
        indices = _C.arange(longest, device=labels.device)
        labels = labels.masked_fill(indices.ge(counts.unsqueeze(1)), blank)
        states = labels.new_full([batch, 2 * longest + 1], blank)
        states[:, 1::2] = labels
        skips = _C.zeros_like(states, dtype=_C.bool)
        skips[:, 2:] = states[:, 2:].ne(states[:, :-2])
        scores = log_probs.gather(2, states.expand(log_probs.size(0), *states.shape))
        alpha = scores.new_full(list(states.shape), -math.inf)
        alpha[:, 0] = 0
        alphas = []
        for t, score in enumerate(scores.unbind(0)):
            moved = _sum_of(alpha, _shifted(alpha, 1), _shifted(alpha, 2).masked_fill(skips.logical_not(), -math.inf))
            alpha = _C.where(lengths.gt(t).unsqueeze(1), moved.add(score), alpha)
            alphas.append(alpha)
        end = counts.mul(2).unsqueeze(1)
        before = alpha.gather(1, end.sub(1).clamp(min=0)).masked_fill(end.eq(0), -math.inf)
        losses = _sum_of(alpha.gather(1, end), before).squeeze(1).neg()
        ctx.save_for_backward(log_probs, scores, states, skips, lengths, end, losses, *alphas)
        return losses

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        log_probs, scores, states, skips, lengths, end, losses, *alphas = ctx.saved_tensors
        numbers = _C.arange(states.size(1), device=states.device)
        last = _C.where(numbers.eq(end).logical_or(numbers.eq(end.sub(1))), 0.0, -math.inf).to(dtype=scores.dtype)
        may_skip = _C.zeros_like(skips)
        may_skip[:, :-2] = skips[:, 2:]
        beta = last
        gradients = []
        for t in range(len(alphas) - 1, -1, -1):
            if t + 1 < len(alphas):
                after = beta.add(scores[t + 1])
                moved = _sum_of(after, _shifted(after, -1),
                                _shifted(after, -2).masked_fill(may_skip.logical_not(), -math.inf))
                beta = _C.where(lengths.gt(t + 1).unsqueeze(1), moved, last)
            shares = alphas[t].add(beta).add(losses.unsqueeze(1)).exp()
            gradient = log_probs[t].exp().scatter_add(1, states, shares.neg()).mul(grad.unsqueeze(1))
            used = lengths.gt(t).logical_and(grad.ne(0)).unsqueeze(1)
            gradient = gradient.masked_fill(losses.eq(math.inf).unsqueeze(1), math.nan)
            gradients.append(gradient.masked_fill(used.logical_not(), 0))
        found = _C.stack(gradients[::-1]) if gradients else _C.zeros_like(log_probs)
        return found, None, None, None, None


def _shifted(values: Tensor, by: int) -> Tensor:
    """Of each state, the value of the one that is `by` before it; minus infinity where there is none."""
    shifted = _C.full_like(values, -math.inf)
    if by > 0:
        shifted[:, by:] = values[:, :-by]
    else:
        shifted[:, :by] = values[:, -by:]
    return shifted


def _sum_of(*values: Tensor) -> Tensor:
    """log(sum of exp), also where all are minus infinity."""
    stacked = _C.stack(list(values))
    greatest = stacked.amax(0)
    base = greatest.masked_fill(greatest.eq(-math.inf), 0)
    return stacked.sub(base).exp().sum(0).log().add(base)
