"""Attention with several heads."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.nn import functional as F
from keyway.nn import init
from keyway.nn.modules.linear import NonDynamicallyQuantizableLinear
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter


class MultiheadAttention(Module):
    """softmax(q k^T / sqrt(head)) v for each of `num_heads` heads, whose q, k and v are parts of products of query, key
    and value with `in_proj_weight`; the heads together go through `out_proj`.

    Sequences are [length, batch, embed_dim], [batch, length, embed_dim] if `batch_first`, or [length, embed_dim]. Where
    `key_padding_mask` [batch, keys] or `attn_mask` ([queries, keys], or [batch * heads, queries, keys]) holds, a key is
    not looked at; masks of numbers are added. `is_causal` says that `attn_mask` is causal. Returns the result and, if
    `need_weights`, the weights of the keys: their mean over the heads, or those of each.
    """

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
                 vdim: int | None = None, batch_first: bool = False, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim must be divisible by num_heads, both greater than 0, but got {embed_dim} and "
                             f"{num_heads}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout = dropout
        self.batch_first = batch_first
        self.add_zero_attn = add_zero_attn

        def empty(*sizes: int) -> Parameter:
            return Parameter(_C.empty(*sizes, device=device, dtype=dtype))

        together = self.kdim == self.vdim == embed_dim
        self.register_parameter("in_proj_weight", empty(3 * embed_dim, embed_dim) if together else None)
        for name, width in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
            self.register_parameter(f"{name}_proj_weight", None if together else empty(embed_dim, width))
        self.register_parameter("in_proj_bias", empty(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, empty(1, 1, embed_dim) if add_bias_kv else None)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
                need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
        swaps = self.batch_first and query.dim() == 3
        if swaps:
            query, key, value = (each.transpose(0, 1) if each.dim() == 3 else each for each in (query, key, value))
        result, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, self.in_proj_weight is None, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, None, None, average_attn_weights, is_causal)
        return result.transpose(0, 1) if swaps else result, weights
