"""Attention with several heads, and layers of transformers."""

from __future__ import annotations

import copy
import math
from typing import Any, Callable

from keyway import _C
from keyway._C import Tensor
from keyway.nn import functional as F
from keyway.nn import init
from keyway.nn.modules.container import ModuleList
from keyway.nn.modules.dropout import Dropout
from keyway.nn.modules.linear import Linear
from keyway.nn.modules.module import Module
from keyway.nn.modules.normalization import LayerNorm
from keyway.nn.parameter import Parameter


def _as_scores(mask: Tensor | None, dtype: _C.dtype) -> Tensor | None:
    """A mask to be added to scores: -inf where one of bools holds."""
    if mask is None or mask.dtype != _C.bool:
        return mask
    return _C.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(mask, -math.inf)


class MultiheadAttention(Module):
    """softmax(q k^T / sqrt(head)) v for each of `num_heads` heads, whose q, k and v are parts of products of query, key
    and value with `in_proj_weight`; the heads together go through `out_proj`.

    Sequences are [length, batch, embed_dim], [batch, length, embed_dim] if `batch_first`, or [length, embed_dim]. Where
    `key_padding_mask` [batch, keys] or `attn_mask` ([queries, keys], or [batch * heads, queries, keys]) holds, a key is
    not looked at; masks of numbers are added. Returns the result and, if `need_weights`, the weights of the keys:
    their mean over the heads, or those of each.
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
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
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
                need_weights: bool = True, attn_mask: Tensor | None = None,
                average_attn_weights: bool = True) -> tuple[Tensor, Tensor | None]:
        is_batched = query.dim() == 3
        if query.dim() not in (2, 3) or key.dim() != query.dim() or value.dim() != query.dim():
            raise _C.ValueError("MultiheadAttention: query, key and value have 2 dimensions each, or 3, not "
                                f"{query.dim()}, {key.dim()} and {value.dim()}")
        if not is_batched:
            query, key, value = (each.unsqueeze(0) for each in (query, key, value))
        elif not self.batch_first:
            query, key, value = (each.transpose(0, 1) for each in (query, key, value))
        q, k, v = self._projected(query, key, value)
        mask = self._mask(q, k, key_padding_mask, attn_mask)
        scores = _C.matmul(q.mul(1 / math.sqrt(self.head_dim)), k.transpose(-2, -1))
        weights = F.softmax(scores if mask is None else scores.add(mask), -1)
        mixed = _C.matmul(F.dropout(weights, self.dropout, self.training), v)
        result: Tensor = self.out_proj(mixed.transpose(1, 2).flatten(2))
        result = result.squeeze(0) if not is_batched else result if self.batch_first else result.transpose(0, 1)
        if not need_weights:
            return result, None
        weights = weights.mean(1) if average_attn_weights else weights
        return result, weights if is_batched else weights.squeeze(0)

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v of each head: [batch, heads, length, head]. What is added to all keys and values comes last."""
        if self.in_proj_weight is not None:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = (F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))
        batch = q.size(0)
        if self.bias_k is not None:
            k = _C.cat([k, self.bias_k.expand(batch, 1, -1)], 1)
            v = _C.cat([v, self.bias_v.expand(batch, 1, -1)], 1)
        if self.add_zero_attn:
            zero = _C.zeros(batch, 1, self.embed_dim, dtype=k.dtype, device=k.device)
            k, v = _C.cat([k, zero], 1), _C.cat([v, zero], 1)
        heads = [x.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2) for x in (q, k, v)]
        return heads[0], heads[1], heads[2]

    def _mask(self, q: Tensor, k: Tensor, padding: Tensor | None, attention: Tensor | None) -> Tensor | None:
        """What is added to the scores [batch, heads, queries, keys]; nothing to keys that all sequences have."""
        padding, attention = _as_scores(padding, q.dtype), _as_scores(attention, q.dtype)
        if attention is not None and attention.dim() == 3:
            attention = attention.unflatten(0, (q.size(0), self.num_heads))
        if padding is not None:
            padding = padding.reshape(q.size(0), 1, 1, padding.size(-1))
        if padding is None or attention is None:
            mask = attention if padding is None else padding
        else:
            mask = padding.add(attention)
        if mask is None:
            return None
        return _C.constant_pad_nd(mask, [0, k.size(-2) - mask.size(-1)])


class TransformerEncoderLayer(Module):
    """Attention of a sequence to itself, then two linear layers with `activation` between, each added to what it got
    and normalised; with `norm_first` normalised before instead."""

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: str | Callable[[Tensor], Tensor] = "relu", layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__()
        known = {"relu": F.relu, "gelu": F.gelu}
        if isinstance(activation, str) and activation not in known:
            raise ValueError(f"activation should be relu/gelu, not {activation}")
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, device=device,
                                            dtype=dtype)
        self.linear1 = Linear(d_model, dim_feedforward, bias, device=device, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device=device, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation: Any = known[activation] if isinstance(activation, str) else activation

    def forward(self, src: Tensor, src_mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None) -> Tensor:
        x = src
        if self.norm_first:
            x = x.add(self._attend(self.norm1(x), src_mask, src_key_padding_mask))
            return x.add(self._feed(self.norm2(x)))
        x = self.norm1(x.add(self._attend(x, src_mask, src_key_padding_mask)))
        result: Tensor = self.norm2(x.add(self._feed(x)))
        return result

    def _attend(self, x: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor:
        result: Tensor = self.dropout1(
            self.self_attn(x, x, x, key_padding_mask=padding, need_weights=False, attn_mask=mask)[0])
        return result

    def _feed(self, x: Tensor) -> Tensor:
        result: Tensor = self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        return result


class TransformerEncoder(Module):
    """`num_layers` copies of a layer, one after the other, and `norm` behind them."""

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(encoder_layer) for _ in range(num_layers))
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None) -> Tensor:
        x = src
        for layer in self.layers:
            x = layer(x, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return x if self.norm is None else self.norm(x)
