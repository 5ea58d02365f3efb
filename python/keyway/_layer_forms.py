"""Layers as functions of their weights, under the names that PyTorch has at the top: what nn.functional or nn's modules
compute, with the operators' order of arguments."""

from __future__ import annotations

from keyway import _C
from keyway._C import Tensor

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Lengths = Tensor | Sequence[int]

_PADDED = ("input", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional", "batch_first")
_PACKED = ("data", "batch_sizes", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional")


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Convolution of [time, batch, C_in] with a weight [kernel, C_in, C_out] and a bias [C_out]: to [time', batch,
    C_out]."""
    if input.dim() != 3 or weight.dim() != 3 or bias.dim() != 1:
        raise _C.ValueError("conv_tbc: input and weight have 3 dimensions and bias 1, but there are "
                            f"{input.dim()}, {weight.dim()} and {bias.dim()}")
    return _C.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad).permute(2, 0, 1)


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths, blank: int = 0,
    reduction: int = 1, zero_infinity: bool = False,
) -> Tensor:
    """nn.functional.ctc_loss with a reduction of 0 for none, 1 for the mean, 2 for the sum."""
    from keyway.nn.functional._ctc import ctc_losses

    return ctc_losses(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity, reduction)


def instance_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool,
) -> Tensor:
    """nn.functional.instance_norm with its arguments in another order."""
    from keyway.nn import functional as F

    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norms of order `pow` of the slices of a dimension, the first or the last one, of size 1 in all others; of -1,
    that of the whole tensor."""
    others = [i for i in range(v.dim()) if i != dim]
    if dim == -1 or not others:
        return _C.linalg_vector_norm(v, pow) if dim == -1 else v.abs()
    return _C.linalg_vector_norm(v, pow, others, True)


def _cell(mode: str, input: Tensor, state: tuple[Tensor, ...], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None,
          b_hh: Tensor | None) -> tuple[Tensor, ...]:
    from keyway.nn.functional._recurrent import STEPS, check_begin

    check_begin(mode, input, state)
    inputs, hidden = _C._nn.linear(input, w_ih, b_ih), _C._nn.linear(state[0], w_hh, b_hh)
    return STEPS[mode](inputs, state, hidden)


def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
                  b_hh: Tensor | None = None) -> Tensor:
    """tanh(x w_ih^T + b_ih + h w_hh^T + b_hh): [batch, input] and [batch, hidden] to [batch, hidden]."""
    return _cell("RNN_TANH", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
                  b_hh: Tensor | None = None) -> Tensor:
    """rnn_tanh_cell with relu in the place of tanh."""
    return _cell("RNN_RELU", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
             b_hh: Tensor | None = None) -> Tensor:
    """What nn.GRUCell computes, of weights [3 * hidden, ...]."""
    return _cell("GRU", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def lstm_cell(input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
              b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """What nn.LSTMCell computes, of weights [4 * hidden, ...]: the next h and c of `hx`, which is h and c."""
    if len(hx) != 2:
        raise _C.ValueError(f"lstm_cell expects two hidden states, not {len(hx)}")
    hidden, cell = _cell("LSTM", input, tuple(hx), w_ih, w_hh, b_ih, b_hh)
    return hidden, cell


def _layers(name: str, mode: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Tensor, ...]:
    """One of the functions below: binds the arguments of one of the two forms, and runs the layers."""
    from keyway.nn.functional._recurrent import grouped, over_layers

    is_packed = "batch_sizes" in kwargs or (len(args) > 3 and isinstance(args[3], (list, tuple)))
    names = _PACKED if is_packed else _PADDED
    given = {**dict(zip(names, args)), **kwargs}
    if len(args) > len(names) or set(given) != set(names) or len(given) != len(args) + len(kwargs):
        raise _C.TypeError(f"{name}() takes {', '.join(_PADDED)}; or {', '.join(_PACKED)}")
    state = tuple(given["hx"]) if mode == "LSTM" else (given["hx"],)
    if mode == "LSTM" and len(state) != 2:
        raise _C.ValueError(f"lstm expects two hidden states, not {len(state)}")
    is_projected = mode == "LSTM" and state[0].size(-1) != state[1].size(-1)
    layers = grouped(given["params"], given["has_biases"], given["num_layers"], given["bidirectional"], is_projected)
    if is_packed:
        sizes = [int(size) for size in given["batch_sizes"].tolist()]
        result, states = over_layers(mode, given["data"], sizes, state, layers, given["dropout"], given["train"])
        return result, *states
    x = given["input"].transpose(0, 1) if given["batch_first"] else given["input"]
    if x.dim() != 3:
        raise _C.ValueError(f"{name}: input has 3 dimensions, not {x.dim()}")
    length, batch = x.shape[:2]
    result, states = over_layers(mode, x.reshape(length * batch, x.size(-1)), [batch] * length, state, layers,
                                 given["dropout"], given["train"])
    result = result.reshape(length, batch, result.size(-1))
    return result.transpose(0, 1) if given["batch_first"] else result, *states


def lstm(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """What nn.LSTM computes: lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
    batch_first), or of packed sequences lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train,
    bidirectional). `hx` is h and c, `params` are the weights in the order of the module's. Returns the results, and the
    last h and c."""
    result, hidden, cell = _layers("lstm", "LSTM", args, kwargs)
    return result, hidden, cell


def gru(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """What nn.GRU computes: as lstm, with one tensor `hx`, and the last h."""
    result, hidden = _layers("gru", "GRU", args, kwargs)
    return result, hidden


def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """What nn.RNN computes: as gru."""
    result, hidden = _layers("rnn_tanh", "RNN_TANH", args, kwargs)
    return result, hidden


def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """What nn.RNN with nonlinearity="relu" computes: as gru."""
    result, hidden = _layers("rnn_relu", "RNN_RELU", args, kwargs)
    return result, hidden
