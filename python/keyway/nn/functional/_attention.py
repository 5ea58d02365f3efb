"""Attention with several heads."""

from __future__ import annotations

import math

from keyway import _C
from keyway._C import Tensor
from keyway._tensor.methods import checked
from keyway.nn.functional._layers import dropout

_NAME = "multi_head_attention_forward"


def _as_scores(mask: Tensor | None, dtype: _C.dtype) -> Tensor | None:
    """A mask to be added to scores: -inf where one of bools holds."""
    if mask is None or mask.dtype != _C.bool:
        return mask
    return _C.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(mask, -math.inf)


def _mask(attention: Tensor | None, padding: Tensor | None, query: Tensor, keys: int, heads: int) -> Tensor | None:
    """What is added to the scores [batch, heads, queries, keys] of `query` [queries, batch, embed_dim]."""
    queries, batch = query.size(0), query.size(1)
    attention, padding = _as_scores(attention, query.dtype), _as_scores(padding, query.dtype)
    if attention is not None:
        shapes = (queries, keys), (batch * heads, queries, keys)
        if tuple(attention.shape) not in shapes:
            raise _C.ValueError(f"{_NAME}: attn_mask has shape {tuple(attention.shape)}, but must have {shapes[0]} or "
                                f"{shapes[1]}")
        attention = attention if attention.dim() == 2 else attention.unflatten(0, (batch, heads))
    if padding is not None:
        if tuple(padding.shape) != (batch, keys):
            raise _C.ValueError(f"{_NAME}: key_padding_mask has shape {tuple(padding.shape)}, but must have "
                                f"{(batch, keys)}")
        padding = padding.reshape(batch, 1, 1, keys)
    if attention is None or padding is None:
        return attention if padding is None else padding
    return attention.add(padding)


def _with_row(sequence: Tensor, row: Tensor) -> Tensor:
    """A sequence [length, batch, width] and behind it a row [1, 1, width]."""
    return _C.cat([sequence, row.expand(1, sequence.size(1), -1)])


def _of_heads(projected: Tensor, heads: int) -> Tensor:
    """[length, batch, embed_dim] to [batch, heads, length, head]."""
    return projected.unflatten(-1, (heads, projected.size(-1) // heads)).permute(1, 2, 0, 3)


def _given_heads(given: Tensor, name: str, query: Tensor, heads: int) -> Tensor:
    """Keys or values [batch * heads, length, head] that were projected before as [batch, heads, length, head]."""
    batch, head = query.size(1), query.size(-1) // heads
    if given.dim() != 3 or given.size(0) != batch * heads or given.size(2) != head:
        raise _C.ValueError(f"{_NAME}: {name} has shape {tuple(given.shape)}, but must have ({batch * heads}, length, "
                            f"{head})")
    return given.unflatten(0, (batch, heads))


def _check_sequences(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, heads: int) -> None:
    for name, sequence in (("query", query), ("key", key), ("value", value)):
        if checked(sequence, _NAME, name).dim() != query.dim() or query.dim() not in (2, 3):
            raise _C.ValueError(f"{_NAME}: query, key and value have 2 dimensions each, or 3, but {name} has "
                                f"{sequence.dim()}")
    if query.size(-1) != embed_dim:
        raise _C.ValueError(f"{_NAME}: was expecting embedding dimension of {embed_dim}, but got {query.size(-1)}")
    if heads <= 0 or embed_dim % heads != 0:
        raise _C.ValueError(f"{_NAME}: embed_dim {embed_dim} is not divisible by num_heads {heads}")
    if key.shape[:-1] != value.shape[:-1]:
        raise _C.ValueError(f"{_NAME}: key {tuple(key.shape)} and value {tuple(value.shape)} differ in length or batch")


def _projected(
    sequences: tuple[Tensor, Tensor, Tensor], weights: tuple[Tensor | None, Tensor | None, Tensor | None],
    in_proj_bias: Tensor | None,
) -> list[Tensor]:
    projected = []
    for i, (name, sequence, weight) in enumerate(zip("qkv", sequences, weights)):
        if weight is None:
            raise _C.ValueError(f"{_NAME}: {name}_proj_weight is None, but use_separate_proj_weight is True")
        bias = None if in_proj_bias is None else in_proj_bias.chunk(3)[i]
        projected.append(_C._nn.linear(sequence, weight, bias))
    return projected


def _attended(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, need_weights: bool
) -> tuple[Tensor | None, Tensor]:
    """The weights of the keys [batch, heads, queries, keys], if they are needed, and the values they weigh, added up."""
    if not need_weights:
        return None, _C._nn.scaled_dot_product_attention(q, k, v, mask, dropout_p)
    scores = _C.matmul(q.mul(1 / math.sqrt(q.size(-1))), k.transpose(-2, -1))
    kept = dropout(_C.softmax(scores if mask is None else scores.add(mask), -1), dropout_p)
    return kept, _C.matmul(kept, v)


def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True,
    key_padding_mask: Tensor | None = None, need_weights: bool = True, attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """softmax(q k^T / sqrt(head)) v for each of `num_heads` heads, whose q, k and v are parts of products of query, key
    and value with the weights; the heads together go through a linear layer of `out_proj_weight`.

    query is [L, N, embed_dim] or [L, embed_dim], key and value have length S. The products are with thirds of
    `in_proj_weight` [3 * embed_dim, embed_dim], or with weights of their own; `static_k` and `static_v` [N * num_heads,
    S, head] stand for those of key and value. `bias_k` and `bias_v` [1, 1, embed_dim], and a row of zeros if
    `add_zero_attn`, follow all keys and values. Where `key_padding_mask` [N, S] or `attn_mask` ([L, S] or
    [N * num_heads, L, S]) holds, a key is not looked at; masks of numbers are added. `is_causal` says that `attn_mask`
    is causal. Returns the result, shaped like query, and the weights of the keys if `need_weights`: their mean over the
    heads, [N, L, S], or those of each, [N, num_heads, L, S].
    """
    _check_sequences(query, key, value, embed_dim_to_check, num_heads)
    if is_causal and attn_mask is None:
        raise _C.Error(f"{_NAME}: Need attn_mask if specifying the is_causal hint.")
    is_batched = query.dim() == 3
    if not is_batched:
        query, key, value = (sequence.unsqueeze(1) for sequence in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    if use_separate_proj_weight:
        weights = q_proj_weight, k_proj_weight, v_proj_weight
    elif in_proj_weight is None:
        raise _C.ValueError(f"{_NAME}: in_proj_weight is None, but use_separate_proj_weight is False")
    else:
        thirds = in_proj_weight.chunk(3)
        weights = thirds[0], thirds[1], thirds[2]
    q, k, v = _projected((query, key, value), weights, in_proj_bias)
    mask = _mask(attn_mask, key_padding_mask, q, key.size(0) if static_k is None else static_k.size(1), num_heads)
    if bias_k is not None and bias_v is not None:
        k, v = _with_row(k, bias_k), _with_row(v, bias_v)
    q, k, v = (_of_heads(projected, num_heads) for projected in (q, k, v))
    k = k if static_k is None else _given_heads(static_k, "static_k", query, num_heads)
    v = v if static_v is None else _given_heads(static_v, "static_v", query, num_heads)
    if add_zero_attn:
        k, v = (_C.constant_pad_nd(rows, [0, 0, 0, 1]) for rows in (k, v))
    if mask is not None:
        mask = _C.constant_pad_nd(mask, [0, k.size(-2) - mask.size(-1)])

    kept, mixed = _attended(q, k, v, mask, dropout_p if training else 0.0, need_weights)
    result = _C._nn.linear(mixed.permute(2, 0, 1, 3).flatten(2), out_proj_weight, out_proj_bias)
    if kept is not None:
        kept = kept.mean(1) if average_attn_weights else kept
        kept = kept if is_batched else kept.squeeze(0)
    return result if is_batched else result.squeeze(1), kept
