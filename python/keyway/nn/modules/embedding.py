"""Embedding: a table of vectors, and bags of them."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.nn import functional as F
from keyway.nn import init
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter


class _Table(Module):
    """The base of modules that look up rows of a weight."""

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, max_norm: float | None,
                 norm_type: float, scale_grad_by_freq: bool, sparse: bool, weight: Tensor | None, freeze: bool,
                 device: Any, dtype: _C.dtype | None) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"{self._get_name()}: padding_idx is {padding_idx}, but the table has {num_embeddings} rows")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if weight is None:
            table = _C.empty(num_embeddings, embedding_dim, device=device, dtype=dtype)
            self.weight = Parameter(table, requires_grad=not freeze)
            self.reset_parameters()
        elif tuple(weight.shape) == (num_embeddings, embedding_dim):
            self.weight = Parameter(weight, requires_grad=not freeze)
        else:
            raise ValueError(f"{self._get_name()}: the weight is {tuple(weight.shape)}, not "
                             f"{(num_embeddings, embedding_dim)}")

    def reset_parameters(self) -> None:
        """Draws the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight.select(0, self.padding_idx).zero_()


class EmbeddingBag(_Table):
    """The sum, mean or greatest elements of the rows of a table that each bag of indices names.

    Bags are the rows of an input of two dimensions, or begin at the `offsets` that are given with one of one dimension.
    `weight` is [num_embeddings, embedding_dim] and begins normal; the row `padding_idx` begins zero and does not count.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None,
        dtype: _C.dtype | None = None,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
                         _weight, False, device, dtype)
        self.mode = mode
        self.include_last_offset = include_last_offset

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                               self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, max_norm: float | None = None,
                        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
                        sparse: bool = False, include_last_offset: bool = False,
                        padding_idx: int | None = None) -> EmbeddingBag:
        """One whose table is `embeddings`, [rows, width]; it is not trained if `freeze`."""
        if embeddings.dim() != 2:
            raise ValueError("Embeddings parameter is expected to be 2-dimensional")
        module = cls(embeddings.size(0), embeddings.size(1), max_norm, norm_type, scale_grad_by_freq, mode, sparse,
                     embeddings, include_last_offset, padding_idx)
        module.weight.requires_grad_(not freeze)
        return module

    def extra_repr(self) -> str:
        unusual = self._unusual_members(max_norm=None, norm_type=2, scale_grad_by_freq=False)
        return (f"{self.num_embeddings}, {self.embedding_dim}{unusual}, mode={self.mode!r}"
                + self._unusual_members(padding_idx=None))


class Embedding(_Table):
    """Rows of a table: indices [...] to [..., embedding_dim].

    `weight` is [num_embeddings, embedding_dim] and begins normal; the row `padding_idx` begins zero and gets no
    gradient. With `max_norm`, rows that are looked up are shortened to that norm first. A sparse gradient is not there.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
        _freeze: bool = False, device: Any = None, dtype: _C.dtype | None = None,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
                         _weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                           self.sparse)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None,
                        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                        sparse: bool = False) -> Embedding:
        """One whose table is `embeddings`, [rows, width]; it is not trained if `freeze`."""
        if embeddings.dim() != 2:
            raise ValueError("Embeddings parameter is expected to be 2-dimensional")
        return cls(embeddings.size(0), embeddings.size(1), padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
                   _weight=embeddings, _freeze=freeze)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}" + self._unusual_members(
            padding_idx=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, sparse=False)
