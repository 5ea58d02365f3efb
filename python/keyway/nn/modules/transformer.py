"""Layers of transformers, and transformers."""

from __future__ import annotations

import copy
import math
from functools import partial
from typing import Any, Callable, ClassVar, Union

from keyway import _C
from keyway._C import Tensor
from keyway.nn import functional as F
from keyway.nn import init
from keyway.nn.modules.attention import MultiheadAttention
from keyway.nn.modules.container import ModuleList
from keyway.nn.modules.dropout import Dropout
from keyway.nn.modules.linear import Linear
from keyway.nn.modules.module import Module
from keyway.nn.modules.normalization import LayerNorm

Activation = Union[str, Callable[[Tensor], Tensor]]


class _Layer(Module):
    """Attentions, then two linear layers with `activation` between, each added to what it got and normalised; with
    `norm_first` normalised before instead."""

    _attentions: ClassVar[tuple[str, ...]]

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: Activation = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
                 norm_first: bool = False, bias: bool = True, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__()
        known = {"relu": F.relu, "gelu": F.gelu}
        if isinstance(activation, str) and activation not in known:
            raise ValueError(f"activation should be relu/gelu, not {activation}")
        for name in self._attentions:
            self.add_module(name, MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first,
                                                     device=device, dtype=dtype))
        self.linear1 = Linear(d_model, dim_feedforward, bias, device=device, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device=device, dtype=dtype)
        self.norm_first = norm_first
        steps = range(1, len(self._attentions) + 2)
        for i in steps:
            self.add_module(f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype))
        for i in steps:
            self.add_module(f"dropout{i}", Dropout(dropout))
        self.activation: Any = known[activation] if isinstance(activation, str) else activation

    def _step(self, i: int, x: Tensor, branch: Callable[[Tensor], Tensor]) -> Tensor:
        """The i-th step, counted from 1: a branch, and what it is added to."""
        norm, dropout = getattr(self, f"norm{i}"), getattr(self, f"dropout{i}")
        result: Tensor = x.add(dropout(branch(norm(x)))) if self.norm_first else norm(x.add(dropout(branch(x))))
        return result

    def _attend(self, attention: str, memory: Tensor | None, mask: Tensor | None, padding: Tensor | None,
                is_causal: bool, x: Tensor) -> Tensor:
        """Attention of x to a memory, or without one to itself."""
        keys = x if memory is None else memory
        result: Tensor = getattr(self, attention)(x, keys, keys, key_padding_mask=padding, need_weights=False,
                                                  attn_mask=mask, is_causal=is_causal)[0]
        return result

    def _feed(self, x: Tensor) -> Tensor:
        result: Tensor = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return result


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then two linear layers with `activation` between, each added to what it got
    and normalised; with `norm_first` normalised before instead."""

    _attentions = ("self_attn",)

    def forward(self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                is_causal: bool = False) -> Tensor:
        attend = partial(self._attend, "self_attn", None, src_mask, src_key_padding_mask, is_causal)
        return self._step(2, self._step(1, src, attend), self._feed)


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself, then to `memory`, then two linear layers with `activation` between, each added
    to what it got and normalised; with `norm_first` normalised before instead."""

    _attentions = ("self_attn", "multihead_attn")

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                tgt_is_causal: bool = False, memory_is_causal: bool = False) -> Tensor:
        attend = partial(self._attend, "self_attn", None, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        look_up = partial(self._attend, "multihead_attn", memory, memory_mask, memory_key_padding_mask,
                          memory_is_causal)
        return self._step(3, self._step(2, self._step(1, tgt, attend), look_up), self._feed)


class _Stack(Module):
    """`num_layers` copies of a layer, one after the other, and `norm` behind them."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(layer) for _ in range(num_layers))
        self.num_layers = num_layers
        self.norm = norm

    def _through(self, x: Tensor, *args: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *args)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """`num_layers` copies of a layer, one after the other, and `norm` behind them. `is_causal` says that `mask` is
    causal. `enable_nested_tensor` and `mask_check` are PyTorch's and change nothing."""

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None,
                 enable_nested_tensor: bool = True, mask_check: bool = True) -> None:
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                is_causal: bool | None = None) -> Tensor:
        return self._through(src, mask, src_key_padding_mask, bool(is_causal))


class TransformerDecoder(_Stack):
    """`num_layers` copies of a layer, one after the other, and `norm` behind them. `tgt_is_causal` and
    `memory_is_causal` say that masks are causal."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                tgt_is_causal: bool | None = None, memory_is_causal: bool = False) -> Tensor:
        return self._through(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                             bool(tgt_is_causal), memory_is_causal)


class Transformer(Module):
    """An encoder of `src` and a decoder of `tgt` that looks up what the encoder made: Vaswani et al., "Attention Is All
    You Need", 2017.

    Sequences are [length, batch, d_model], [batch, length, d_model] if `batch_first`, or [length, d_model].
    """

    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
                 dim_feedforward: int = 2048, dropout: float = 0.1, activation: Activation = "relu",
                 custom_encoder: Any = None, custom_decoder: Any = None, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias,
                   device, dtype)

        def norm() -> Module:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)

        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, norm())
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, norm())
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False) -> Tensor:
        batch = 0 if self.batch_first else 1
        if src.dim() == tgt.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise _C.Error("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise _C.Error("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        result: Tensor = self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal)
        return result

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: _C.dtype | None = None) -> Tensor:
        """[sz, sz]: -inf above the diagonal, 0 elsewhere."""
        return _C.full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)
