"""Recurrent layers, and single steps of them."""

from __future__ import annotations

import math
import warnings
from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.nn import functional as F
from keyway.nn import init
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter

_State = tuple[Tensor, ...]


def _plain_step(inputs: Tensor, state: _State, hidden: Tensor, nonlinearity: str) -> _State:
    total = inputs.add(hidden)
    return (total.tanh() if nonlinearity == "tanh" else total.relu(),)


def _lstm_step(inputs: Tensor, state: _State, hidden: Tensor, nonlinearity: str) -> _State:
    entry, keep, content, exit_ = inputs.add(hidden).chunk(4, -1)
    cell = keep.sigmoid().mul(state[1]).add(entry.sigmoid().mul(content.tanh()))
    return exit_.sigmoid().mul(cell.tanh()), cell


def _gru_step(inputs: Tensor, state: _State, hidden: Tensor, nonlinearity: str) -> _State:
    reset_x, keep_x, new_x = inputs.chunk(3, -1)
    reset_h, keep_h, new_h = hidden.chunk(3, -1)
    new = reset_x.add(reset_h).sigmoid().mul(new_h).add(new_x).tanh()
    return (new.add(keep_x.add(keep_h).sigmoid().mul(state[0].sub(new))),)


_STEPS = {"RNN": (_plain_step, 1), "LSTM": (_lstm_step, 4), "GRU": (_gru_step, 3)}


def _draw(module: Module, hidden_size: int) -> None:
    bound = 1 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    for parameter in module.parameters():
        init.uniform_(parameter, -bound, bound)


class _Cell(Module):
    """One step: `weight_ih` is [gates * hidden_size, input_size], `weight_hh` [gates * hidden_size, hidden_size]; all
    parameters begin uniform in +-1 / sqrt(hidden_size)."""

    kind: str

    def __init__(self, input_size: int, hidden_size: int, bias: bool, device: Any, dtype: _C.dtype | None) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = _STEPS[self.kind][1] * hidden_size
        self.weight_ih = Parameter(_C.empty(rows, input_size, device=device, dtype=dtype))
        self.weight_hh = Parameter(_C.empty(rows, hidden_size, device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(_C.empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        _draw(self, self.hidden_size)

    def _step(self, input: Tensor, state: _State | None, nonlinearity: str = "tanh") -> _State:
        if input.dim() not in (1, 2):
            raise _C.ValueError(f"{type(self).__name__}: input has 1 or 2 dimensions, not {input.dim()}")
        if state is None:
            zero = _C.zeros(*input.shape[:-1], self.hidden_size, dtype=input.dtype, device=input.device)
            state = (zero, zero)
        inputs = F.linear(input, self.weight_ih, self.bias_ih)
        hidden = F.linear(state[0], self.weight_hh, self.bias_hh)
        return _STEPS[self.kind][0](inputs, state, hidden, nonlinearity)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(_Cell):
    """tanh(x weight_ih^T + bias_ih + h weight_hh^T + bias_hh), or relu of it; without `hx` h is 0."""

    kind = "RNN"

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
                 device: Any = None, dtype: _C.dtype | None = None) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity: {nonlinearity}")
        self.nonlinearity = nonlinearity
        super().__init__(input_size, hidden_size, bias, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(input, None if hx is None else (hx,), self.nonlinearity)[0]


class LSTMCell(_Cell):
    """(h, c) of the next step from x and (h, c), which are 0 without `hx`: c = sigmoid(f) c + sigmoid(i) tanh(g), and
    h = sigmoid(o) tanh(c), with i, f, g, o = x weight_ih^T + bias_ih + h weight_hh^T + bias_hh."""

    kind = "LSTM"

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        hidden, cell = self._step(input, hx)
        return hidden, cell


class GRUCell(_Cell):
    """h of the next step from x and h, which is 0 without `hx`: (1 - z) n + z h, with n = tanh(n_x + r n_h), r and z
    the sigmoids of r_x + r_h and z_x + z_h; of x and of h, r, z, n are products with the weights, plus the bias."""

    kind = "GRU"

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(input, None if hx is None else (hx,))[0]


_KINDS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


class _Recurrent(Module):
    """Layers over sequences [length, batch, input_size], [batch, length, input_size] if `batch_first`, or [length,
    input_size]. Parameters are named weight_ih_l0, ..., those of the backward direction ..._reverse."""

    kind: str
    nonlinearity = "tanh"
    proj_size = 0

    def __init__(self, input_size: int, hidden_size: int, num_layers: int, bias: bool, batch_first: bool,
                 dropout: float, bidirectional: bool, device: Any, dtype: _C.dtype | None) -> None:
        super().__init__()
        if hidden_size <= 0 or num_layers <= 0:
            raise ValueError("hidden_size and num_layers must be greater than zero")
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout should be a number in range [0, 1], not {dropout}")
        if dropout > 0 and num_layers == 1:
            warnings.warn(f"dropout stands between recurrent layers: dropout={dropout} does nothing for num_layers=1",
                          stacklevel=3)
        self.mode = self.kind
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        rows, out = _STEPS[self.kind][1] * hidden_size, self.proj_size or hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else out * (2 if bidirectional else 1)
            for suffix in self._suffixes(layer):
                shapes = {"weight_ih": [rows, width], "weight_hh": [rows, out]}
                if bias:
                    shapes |= {"bias_ih": [rows], "bias_hh": [rows]}
                if self.proj_size > 0:
                    shapes["weight_hr"] = [out, hidden_size]
                for name, shape in shapes.items():
                    self.register_parameter(name + suffix, Parameter(_C.empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        _draw(self, self.hidden_size)

    def flatten_parameters(self) -> None:
        """Does nothing: parameters are used where they lie."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each direction of each layer."""
        return [[getattr(self, kind + suffix) for kind in _KINDS if hasattr(self, kind + suffix)]
                for layer in range(self.num_layers) for suffix in self._suffixes(layer)]

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"] if self.bidirectional else [f"_l{layer}"]

    def _over(self, input: Tensor, state: tuple[Tensor, ...] | None) -> tuple[Tensor, _State]:
        """The results of the last layer, and the last states of all layers. `state` has what each layer begins with."""
        if input.dim() not in (2, 3) or input.size(-1) != self.input_size:
            raise _C.ValueError(f"{type(self).__name__}: input has 2 or 3 dimensions, of which the last has size "
                                f"{self.input_size}; it has shape {tuple(input.shape)}")
        is_batched = input.dim() == 3
        x = input.transpose(0, 1) if is_batched and self.batch_first else input if is_batched else input.unsqueeze(1)
        directions = 2 if self.bidirectional else 1
        sizes = [self.proj_size or self.hidden_size, *([self.hidden_size] if self.kind == "LSTM" else [])]
        if state is None:
            state = tuple(_C.zeros(self.num_layers * directions, x.size(1), size, dtype=x.dtype, device=x.device)
                          for size in sizes)
        elif not is_batched:
            state = tuple(part.unsqueeze(1) for part in state)
        for part, size in zip(state, sizes):
            if part.shape != (self.num_layers * directions, x.size(1), size):
                raise _C.ValueError(f"{type(self).__name__}: a state has shape {tuple(part.shape)}, but must have "
                                    f"{(self.num_layers * directions, x.size(1), size)}")
        last: list[_State] = []
        for layer in range(self.num_layers):
            results = []
            for direction, suffix in enumerate(self._suffixes(layer)):
                begin = tuple(part[len(last)] for part in state)
                result, end = self._along(x, begin, suffix, backward=direction == 1)
                results.append(result)
                last.append(end)
            x = results[0] if len(results) == 1 else _C.cat(results, -1)
            if layer + 1 < self.num_layers:
                x = F.dropout(x, self.dropout, self.training)
        states = tuple(_C.stack(parts) for parts in zip(*last))
        if not is_batched:
            return x.squeeze(1), tuple(part.squeeze(1) for part in states)
        return (x.transpose(0, 1) if self.batch_first else x), states

    def _along(self, x: Tensor, state: _State, suffix: str, backward: bool) -> tuple[Tensor, _State]:
        """One layer in one direction: what comes of each place, and the last state."""
        weight, bias = getattr(self, "weight_hh" + suffix), getattr(self, "bias_hh" + suffix, None)
        project = getattr(self, "weight_hr" + suffix, None)
        step = _STEPS[self.kind][0]
        inputs = F.linear(x, getattr(self, "weight_ih" + suffix), getattr(self, "bias_ih" + suffix, None)).unbind(0)
        results = []
        for each in reversed(inputs) if backward else inputs:
            state = step(each, state, F.linear(state[0], weight, bias), self.nonlinearity)
            if project is not None:
                state = (F.linear(state[0], project), *state[1:])
            results.append(state[0])
        if not results:
            raise _C.ValueError(f"{type(self).__name__}: the sequence has no elements")
        return _C.stack(results[::-1] if backward else results), state

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        for name, default in (("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False),
                              ("dropout", 0.0), ("bidirectional", False)):
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return text


class RNN(_Recurrent):
    """RNNCell along sequences, in `num_layers` layers; `dropout` between them; both ways if `bidirectional`. Returns
    the results of the last layer and the last h of all layers. `hx` is the first h of all layers, 0 if absent."""

    kind = "RNN"

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
                 bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 device: Any = None, dtype: _C.dtype | None = None) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)
        self.nonlinearity = nonlinearity
        self.mode = f"RNN_{nonlinearity.upper()}"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        result, states = self._over(input, None if hx is None else (hx,))
        return result, states[0]


class LSTM(_Recurrent):
    """LSTMCell along sequences, as RNN; with `proj_size` h is multiplied by a matrix that makes it so long. Returns the
    results and (h, c). `hx` is (h, c)."""

    kind = "LSTM"

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
                 device: Any = None, dtype: _C.dtype | None = None) -> None:
        if not 0 <= proj_size < hidden_size:
            raise ValueError("proj_size should be a positive integer, smaller than hidden_size, or zero to disable "
                             "projections")
        self.proj_size = proj_size
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
                ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        result, (hidden, cell) = self._over(input, hx)
        return result, (hidden, cell)


class GRU(_Recurrent):
    """GRUCell along sequences, as RNN."""

    kind = "GRU"

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: Any = None,
                 dtype: _C.dtype | None = None) -> None:
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        result, states = self._over(input, None if hx is None else (hx,))
        return result, states[0]
