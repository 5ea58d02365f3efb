"""Embedding: a table of vectors."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.nn import functional as F
from keyway.nn import init
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter


class Embedding(Module):
    """Rows of a table: indices [...] to [..., embedding_dim].

    `weight` is [num_embeddings, embedding_dim] and begins normal; the row `padding_idx` begins zero and gets no
    gradient. With `max_norm`, rows that are looked up are shortened to that norm first. A sparse gradient is not there.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
        _freeze: bool = False, device: Any = None, dtype: _C.dtype | None = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"Embedding: padding_idx is {padding_idx}, but the table has {num_embeddings} rows")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            table = _C.empty(num_embeddings, embedding_dim, device=device, dtype=dtype)
            self.weight = Parameter(table, requires_grad=not _freeze)
            self.reset_parameters()
        elif tuple(_weight.shape) == (num_embeddings, embedding_dim):
            self.weight = Parameter(_weight, requires_grad=not _freeze)
        else:
            raise ValueError(f"Embedding: the weight is {tuple(_weight.shape)}, not {(num_embeddings, embedding_dim)}")

    def reset_parameters(self) -> None:
        """Draws the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight.select(0, self.padding_idx).zero_()

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
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text + (", sparse=True" if self.sparse else "")
