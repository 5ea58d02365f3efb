"""Recurrent layers, and single steps of them."""

from __future__ import annotations

import math
import warnings
from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.nn import init
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter
from keyway.nn.utils.rnn import PackedSequence

State = tuple[Tensor, ...]

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}
_LAYERS: dict[str, Any] = {"RNN_TANH": _C.rnn_tanh, "RNN_RELU": _C.rnn_relu, "LSTM": _C.lstm, "GRU": _C.gru}


def _draw(module: Module, hidden_size: int) -> None:
    bound = 1 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    for parameter in module.parameters():
        init.uniform_(parameter, -bound, bound)


class RNNCellBase(Module):
    """One step: `weight_ih` is [num_chunks * hidden_size, input_size], `weight_hh` [num_chunks * hidden_size,
    hidden_size]; all parameters begin uniform in +-1 / sqrt(hidden_size)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(_C.empty(rows, input_size, device=device, dtype=dtype))
        self.weight_hh = Parameter(_C.empty(rows, hidden_size, device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(_C.empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        _draw(self, self.hidden_size)

    def _begin(self, input: Tensor) -> Tensor:
        """What a state is that is not given."""
        return _C.zeros(*input.shape[:-1], self.hidden_size, dtype=input.dtype, device=input.device)

    def _checked(self, input: Tensor) -> Tensor:
        if input.dim() not in (1, 2):
            raise _C.ValueError(f"{type(self).__name__}: input has 1 or 2 dimensions, not {input.dim()}")
        return input

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else text + f", nonlinearity={nonlinearity}"


class RNNCell(RNNCellBase):
    """tanh(x weight_ih^T + bias_ih + h weight_hh^T + bias_hh), or relu of it; without `hx` h is 0."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
                 device: Any = None, dtype: _C.dtype | None = None) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity: {nonlinearity}")
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        step = _C.rnn_tanh_cell if self.nonlinearity == "tanh" else _C.rnn_relu_cell
        return step(self._checked(input), self._begin(input) if hx is None else hx, *self._weights())


class LSTMCell(RNNCellBase):
    """(h, c) of the next step from x and (h, c), which are 0 without `hx`: c = sigmoid(f) c + sigmoid(i) tanh(g), and
    h = sigmoid(o) tanh(c), with i, f, g, o = x weight_ih^T + bias_ih + h weight_hh^T + bias_hh."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        state = [self._begin(self._checked(input))] * 2 if hx is None else list(hx)
        hidden, cell = _C.lstm_cell(self._checked(input), state, *self._weights())
        return hidden, cell


class GRUCell(RNNCellBase):
    """h of the next step from x and h, which is 0 without `hx`: (1 - z) n + z h, with n = tanh(n_x + r n_h), r and z
    the sigmoids of r_x + r_h and z_x + z_h; of x and of h, r, z, n are products with the weights, plus the bias."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return _C.gru_cell(self._checked(input), self._begin(input) if hx is None else hx, *self._weights())


class RNNBase(Module):
    """Layers over sequences [length, batch, input_size], [batch, length, input_size] if `batch_first`, [length,
    input_size], or a PackedSequence. `mode` is "LSTM", "GRU", "RNN_TANH" or "RNN_RELU". Parameters are named
    weight_ih_l0, ..., those of the backward direction ..._reverse."""

    def __init__(self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
                 device: Any = None, dtype: _C.dtype | None = None) -> None:
        super().__init__()
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        if hidden_size <= 0 or num_layers <= 0:
            raise ValueError("hidden_size and num_layers must be greater than zero")
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout should be a number in range [0, 1], not {dropout}")
        if not 0 <= proj_size < hidden_size:
            raise ValueError("proj_size should be a positive integer, smaller than hidden_size, or zero to disable "
                             "projections")
        if proj_size > 0 and mode != "LSTM":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if dropout > 0 and num_layers == 1:
            warnings.warn("dropout is applied after all but the last recurrent layer, so with one layer there is none: "
                          f"dropout={dropout} and num_layers=1", stacklevel=3)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._make_parameters(device, dtype)
        self.reset_parameters()

    def _make_parameters(self, device: Any, dtype: _C.dtype | None) -> None:
        rows, out = _GATES[self.mode] * self.hidden_size, self.proj_size or self.hidden_size
        for layer in range(self.num_layers):
            width = self.input_size if layer == 0 else out * (2 if self.bidirectional else 1)
            for suffix in self._suffixes(layer):
                shapes = {"weight_ih": [rows, width], "weight_hh": [rows, out]}
                if self.bias:
                    shapes |= {"bias_ih": [rows], "bias_hh": [rows]}
                if self.proj_size > 0:
                    shapes["weight_hr"] = [out, self.hidden_size]
                for name, shape in shapes.items():
                    self.register_parameter(name + suffix, Parameter(_C.empty(shape, device=device, dtype=dtype)))

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        _draw(self, self.hidden_size)

    def flatten_parameters(self) -> None:
        """Does nothing: parameters need not lie one after the other."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        names = ["weight_ih", "weight_hh", *(["bias_ih", "bias_hh"] if self.bias else [])]
        names += ["weight_hr"] if self.proj_size > 0 else []
        return [[getattr(self, name + suffix) for name in names] for layer in range(self.num_layers)
                for suffix in self._suffixes(layer)]

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"] if self.bidirectional else [f"_l{layer}"]

    def _over(self, input: Any, state: State | None) -> tuple[Any, State]:
        """The results of the last layer, and the last states of all layers. `state` has what each layer begins with."""
        if isinstance(input, PackedSequence):
            return self._over_packed(input, state)
        if input.dim() not in (2, 3) or input.size(-1) != self.input_size:
            raise _C.ValueError(f"{type(self).__name__}: input has 2 or 3 dimensions, of which the last has size "
                                f"{self.input_size}; it has shape {tuple(input.shape)}")
        is_batched = input.dim() == 3
        if state is not None and not is_batched:
            state = tuple(part.unsqueeze(1) for part in state)
        batch_first = self.batch_first and is_batched
        x = input if is_batched else input.unsqueeze(1)
        result, states = self._run(x.size(0 if batch_first else 1), state, x, batch_first)
        return (result, states) if is_batched else (result.squeeze(1), tuple(part.squeeze(1) for part in states))

    def _over_packed(self, input: PackedSequence, state: State | None) -> tuple[PackedSequence, State]:
        data, batch_sizes, order, inverse = input
        if data.dim() != 2 or data.size(-1) != self.input_size:
            raise _C.ValueError(f"{type(self).__name__}: packed input has elements of shape {tuple(data.shape[1:])}, "
                                f"but must have {(self.input_size,)}")
        if state is not None and order is not None:
            state = tuple(part.index_select(1, order) for part in state)
        result, states = self._run(int(batch_sizes[0]) if len(batch_sizes) > 0 else 0, state, data, batch_sizes)
        if inverse is not None:
            states = tuple(part.index_select(1, inverse) for part in states)
        return PackedSequence(result, batch_sizes, order, inverse), states

    def _run(self, batch: int, state: State | None, data: Tensor, form: Tensor | bool) -> tuple[Tensor, State]:
        """`form` has the batch sizes of packed data; or says whether the batch comes first."""
        sizes = [self.proj_size or self.hidden_size, *([self.hidden_size] if self.mode == "LSTM" else [])]
        shapes = [(self.num_layers * (2 if self.bidirectional else 1), batch, size) for size in sizes]
        if state is None:
            state = tuple(_C.zeros(*shape, dtype=data.dtype, device=data.device) for shape in shapes)
        for part, shape in zip(state, shapes):
            if data.numel() > 0 and part.shape != shape:
                raise _C.ValueError(f"{type(self).__name__}: a state has shape {tuple(part.shape)}, but must have "
                                    f"{shape}")
        hx = list(state) if self.mode == "LSTM" else state[0]
        params = [parameter for set_ in self.all_weights for parameter in set_]
        asked = params, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional
        if isinstance(form, Tensor):
            result, *states = _LAYERS[self.mode](data, form, hx, *asked)
        else:
            result, *states = _LAYERS[self.mode](data, hx, *asked, form)
        return result, tuple(states)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + self._unusual_members(
            proj_size=0, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False)


class RNN(RNNBase):
    """RNNCell along sequences, in `num_layers` layers; `dropout` between them; both ways if `bidirectional`. Returns
    the results of the last layer and the last h of all layers. `hx` is the first h of all layers, 0 if absent."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
                 bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 device: Any = None, dtype: _C.dtype | None = None) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__("RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, 0, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        result, states = self._over(input, None if hx is None else (hx,))
        return result, states[0]


class LSTM(RNNBase):
    """LSTMCell along sequences, as RNN; with `proj_size` h is multiplied by a matrix that makes it so long. Returns the
    results and (h, c). `hx` is (h, c)."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
                 device: Any = None, dtype: _C.dtype | None = None) -> None:
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
                         proj_size, device, dtype)

    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, tuple[Tensor, Tensor]]:
        result, (hidden, cell) = self._over(input, hx)
        return result, (hidden, cell)


class GRU(RNNBase):
    """GRUCell along sequences, as RNN."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0,
                         device, dtype)

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        result, states = self._over(input, None if hx is None else (hx,))
        return result, states[0]
