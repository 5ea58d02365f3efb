"""Flatten and Unflatten: dimensions made one, and one made several."""

from __future__ import annotations

import math
from typing import Sequence

from keyway._C import Tensor
from keyway.nn.modules.module import Module


def _wrapped(dim: int, dims: int) -> int:
    if not -dims <= dim < dims:
        raise IndexError(f"dimension {dim} is out of range: there are {dims}")
    return dim % dims


class Flatten(Module):
    """Makes dimensions `start_dim` to `end_dim` one: [N, C, H, W] to [N, C * H * W]."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        dims = max(input.dim(), 1)
        first, last = _wrapped(self.start_dim, dims), _wrapped(self.end_dim, dims)
        if first > last:
            raise ValueError(f"Flatten: start_dim {self.start_dim} comes after end_dim {self.end_dim}")
        shape = list(input.shape)
        return input.reshape([*shape[:first], math.prod(shape[first:last + 1]), *shape[last + 1:]])

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Makes dimension `dim` several, of `unflattened_size`, one of which may be -1."""

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        dim = _wrapped(self.dim, input.dim())
        known = math.prod(size for size in self.unflattened_size if size != -1)
        sizes = [input.size(dim) // max(known, 1) if size == -1 else size for size in self.unflattened_size]
        if math.prod(sizes) != input.size(dim):
            raise ValueError(f"Unflatten: {self.unflattened_size} does not divide dimension {dim} of size {input.size(dim)}")
        return input.reshape([*input.shape[:dim], *sizes, *input.shape[dim + 1:]])

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
