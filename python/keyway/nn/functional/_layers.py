"""What layers compute: embeddings, dropout."""

from __future__ import annotations

from typing import Any

import keyway
from keyway import _C
from keyway._C import Tensor
from keyway._tensor.methods import checked
from keyway.autograd.grad_mode import no_grad


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:
    """Rows of a table: indices [...] of int64 or int32 and a weight [rows, width] to [..., width].

    The row `padding_idx` gets no gradient. With `max_norm`, rows that are looked up and longer are shortened to that
    norm first, in the table. Raises keyway.Error for `sparse`, which is not there.
    """
    rows = checked(weight, "embedding", "weight").size(0)
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise _C.ValueError(f"embedding: padding_idx is {padding_idx}, but the table has {rows} rows")
    row = -1 if padding_idx is None else padding_idx % rows
    if max_norm is not None:
        with no_grad():
            _shorten_rows(weight, input.reshape(-1), max_norm, norm_type)
    return _C.embedding(weight, input, row, scale_grad_by_freq, sparse)


_BAG_MODES = {"sum": 0, "mean": 1, "max": 2}


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or greatest elements of the rows of a table that each bag of indices names.

    Bags are the rows of an input of two dimensions, or begin at `offsets` of one of one dimension, the last of which is
    the end with `include_last_offset`. `per_sample_weights` weigh rows before they are added up. The row `padding_idx`
    does not count. Raises keyway.Error for `sparse`, which is not there.
    """
    _check_bags(input, offsets, mode, scale_grad_by_freq, per_sample_weights)
    if input.dim() == 2:
        offsets = _C.arange(input.size(0), device=input.device, dtype=input.dtype).mul(input.size(1))
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    assert offsets is not None
    if max_norm is not None:
        with no_grad():
            _shorten_rows(weight, input, max_norm, norm_type)
    return _C.embedding_bag(weight, input, offsets, scale_grad_by_freq, _BAG_MODES[mode], sparse, per_sample_weights,
                            include_last_offset, padding_idx)[0]


def _check_bags(
    input: Tensor, offsets: Tensor | None, mode: str, scale_grad_by_freq: bool, per_sample_weights: Tensor | None
) -> None:
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise _C.ValueError(f"embedding_bag: per_sample_weights {tuple(per_sample_weights.shape)} must have the shape "
                            f"of the input, {tuple(input.shape)}")
    if input.dim() not in (1, 2):
        raise _C.ValueError(f"embedding_bag: input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if input.dim() == 2 and offsets is not None:
        raise _C.ValueError("embedding_bag: if input is 2D, then offsets has to be None: its rows are the bags")
    if input.dim() == 1 and (offsets is None or offsets.dim() != 1):
        raise _C.ValueError("embedding_bag: offsets has to be a 1D Tensor, as input is")
    if mode not in _BAG_MODES:
        raise _C.ValueError("embedding_bag: mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise _C.ValueError("embedding_bag: max mode does not support scaling the gradient by the frequency")
    if per_sample_weights is not None and mode != "sum":
        raise _C.NotImplementedError(f"embedding_bag: per_sample_weights are for mode='sum', not mode='{mode}'")


def _shorten_rows(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    looked_up = weight.index_select(0, indices)
    norms = _C.linalg_vector_norm(looked_up, norm_type, 1, True)
    scale = _C.where(norms.gt(max_norm), norms.add(1e-7).reciprocal().mul(max_norm), _C.ones_like(norms))
    weight.index_copy_(0, indices, looked_up.mul(scale))


def check_probability(p: float) -> None:
    """Raises ValueError for what is none."""
    if not 0 <= p <= 1:
        raise _C.ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """While training, zeroes each element with probability p and divides the others by 1 - p."""
    check_probability(p)
    return (_C.dropout_ if inplace else _C.dropout)(input, p, training)


def _channel_dropout(dims: int) -> Any:
    def channel_dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        check_probability(p)
        if dims == 1 and checked(input, "dropout1d").dim() not in (2, 3):
            raise _C.ValueError(f"dropout1d: an input has 2 or 3 dimensions, not {input.dim()}")
        checked(input, f"dropout{dims}d")
        if not training or p == 0:
            return input
        if dims == 2 and input.dim() < 2:
            raise _C.ValueError(f"dropout2d: an input has 2 dimensions or more, not {input.dim()}")
        channels = 2 if dims == 2 or input.dim() == dims + 2 else 1  # dropout2d reads [N, C, L] too, as PyTorch's
        kept = [*input.shape[:channels], *[1] * (input.dim() - channels)]
        mask = input.new_empty(kept).bernoulli_(1 - p)
        return (input.mul_ if inplace else input.mul)(mask.div(1 - p) if p < 1 else mask)

    channel_dropout.__name__ = channel_dropout.__qualname__ = f"dropout{dims}d"
    channel_dropout.__doc__ = (f"While training, zeroes whole channels of an input [N, C, ...]" + (
        "" if dims == 2 else " or [C, ...]") + f" of {dims}\nmore dimensions, each with probability p, and divides the "
        "others by 1 - p.")
    return channel_dropout


dropout1d = _channel_dropout(1)
dropout2d = _channel_dropout(2)
dropout3d = _channel_dropout(3)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Classes [...] of int64 to [..., num_classes] of int64: 1 at the class, 0 elsewhere. -1: as many classes as the
    largest one says."""
    if checked(tensor, "one_hot", "tensor").dtype is not _C.int64:
        raise keyway.TypeError(f"one_hot: classes are int64, not {tensor.dtype}")
    if tensor.numel() == 0 and num_classes <= 0:
        raise keyway.ValueError("one_hot: without classes, num_classes must be given")
    flat = tensor.reshape(-1)
    largest = int(flat.amax()) if tensor.numel() > 0 else -1
    if bool(flat.lt(0).sum().gt(0)):
        raise keyway.ValueError("one_hot: classes are not negative")
    if num_classes == -1:
        num_classes = largest + 1
    if num_classes < 1 or largest >= num_classes:
        raise keyway.ValueError(f"one_hot: there are {num_classes} classes, but the largest in the tensor is {largest}")
    return tensor.new_zeros([*tensor.shape, num_classes]).scatter_(-1, tensor.unsqueeze(-1), 1)
