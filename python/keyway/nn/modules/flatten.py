"""Flatten and Unflatten: dimensions made one, and one made several."""

from __future__ import annotations

from typing import Sequence

from keyway._C import Tensor
from keyway.nn.modules.module import Module


class Flatten(Module):
    """Makes dimensions `start_dim` to `end_dim` one: [N, C, H, W] to [N, C * H * W]."""

    _shown_members = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """Makes dimension `dim` several, of `unflattened_size`, one of which may be -1."""

    _shown_members = ("dim", "unflattened_size")

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)
