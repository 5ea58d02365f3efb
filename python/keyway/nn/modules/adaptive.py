"""A softmax over many classes whose rare ones share few weights."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from keyway import _C
from keyway._C import Tensor
from keyway.nn import functional as F
from keyway.nn.modules.container import ModuleList, Sequential
from keyway.nn.modules.linear import Linear
from keyway.nn.modules.module import Module


class ASMoutput(NamedTuple):
    """The log-probability of each target, and the loss: the mean of their negatives."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of `n_classes` classes, which are sorted by how frequent they are, most frequent first.

    The first cutoffs[0] have scores of their own in `head`, a Linear of in_features; so has each cluster of classes
    between one cutoff and the next, whose classes are told apart by `tail`: two Linears, through in_features //
    div_value^i features for cluster i = 1, 2, ... Raises ValueError for cutoffs that are not increasing numbers of 1 to
    n_classes - 1.
    """

    def __init__(self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
                 head_bias: bool = False, device: Any = None, dtype: _C.dtype | None = None) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if len(cutoffs) == 0:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (cutoffs != sorted(set(cutoffs)) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1
                or any(int(c) != c for c in cutoffs)):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                             "where each value is between 1 and n_classes-1")
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = cutoffs + [n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            classes = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, hidden, False, device, dtype),
                                        Linear(hidden, classes, False, device, dtype)))

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> ASMoutput:
        """Of inputs [N, in_features] and classes [N], or [in_features] and []: `output`, [N] or [], and `loss`."""
        is_single = target_.dim() == 0
        if target_.dim() > 1:
            raise _C.ValueError("0D or 1D target tensor expected, multi-target not supported")
        if input_.dim() != (1 if is_single else 2):
            raise _C.ValueError(f"{'1D' if is_single else '2D'} input tensor expected for a target of "
                                f"{target_.dim()} dimensions, not {input_.dim()}D")
        if not is_single and input_.size(0) != target_.size(0):
            raise _C.ValueError("Input and target should have the same size in the batch dimension.")
        x, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if is_single else (input_, target_)
        self._check_target(target)
        head = F.log_softmax(self.head(x), dim=1)
        column = target
        total = x.new_zeros([x.size(0)])
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            inside = target.ge(low).logical_and(target.lt(high))
            column = _C.where(inside, self.shortlist_size + i, column)
            rows = inside.nonzero().squeeze(1)
            if rows.numel() > 0:
                scores = F.log_softmax(self.tail[i](x.index_select(0, rows)), dim=1)
                found = scores.gather(1, target.index_select(0, rows).sub(low).unsqueeze(1)).squeeze(1)
                total = total.index_add(0, rows, found)
        output = total.add(head.gather(1, column.unsqueeze(1)).squeeze(1))
        loss = output.neg().mean()
        return ASMoutput(output.squeeze(0) if is_single else output, loss)

    def _check_target(self, target: Tensor) -> None:
        if target.numel() > 0 and not (0 <= int(target.min()) and int(target.max()) < self.n_classes):
            raise _C.IndexError(f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                                f"[{int(target.min())}, {int(target.max())}] were found. ")

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes: [N, in_features] to [N, n_classes]."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, :self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            at = self.shortlist_size + i
            parts.append(F.log_softmax(tail(input), dim=1).add(head[:, at:at + 1]))
        return _C.cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class: [N, in_features] to [N]."""
        return self.log_prob(input).argmax(1)
