"""How near tensors are to each other."""

from __future__ import annotations

from keyway._C import Tensor
from keyway.nn import functional as F
from keyway.nn.modules.module import Module


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along a dimension; their lengths count as at least eps."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm over the last dimension of the differences between vectors, to which `eps` is added."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
