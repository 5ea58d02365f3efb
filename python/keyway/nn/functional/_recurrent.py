"""Recurrences: single steps, and layers of them along sequences."""

from __future__ import annotations

from typing import Callable, NamedTuple, Sequence

from keyway import _C
from keyway._C import Tensor

State = tuple[Tensor, ...]
Step = Callable[[Tensor, State, Tensor], State]


def tanh_step(inputs: Tensor, state: State, hidden: Tensor) -> State:
    """h of the next step from products of the input and of h with their weights."""
    return (inputs.add(hidden).tanh(),)


def relu_step(inputs: Tensor, state: State, hidden: Tensor) -> State:
    """As tanh_step."""
    return (inputs.add(hidden).relu(),)


def lstm_step(inputs: Tensor, state: State, hidden: Tensor) -> State:
    """(h, c) of the next step."""
    entry, keep, content, exit_ = inputs.add(hidden).chunk(4, -1)
    cell = keep.sigmoid().mul(state[1]).add(entry.sigmoid().mul(content.tanh()))
    return exit_.sigmoid().mul(cell.tanh()), cell


def gru_step(inputs: Tensor, state: State, hidden: Tensor) -> State:
    """As tanh_step."""
    reset_x, keep_x, new_x = inputs.chunk(3, -1)
    reset_h, keep_h, new_h = hidden.chunk(3, -1)
    new = reset_x.add(reset_h).sigmoid().mul(new_h).add(new_x).tanh()
    return (new.add(keep_x.add(keep_h).sigmoid().mul(state[0].sub(new))),)


STEPS: dict[str, Step] = {"RNN_TANH": tanh_step, "RNN_RELU": relu_step, "LSTM": lstm_step, "GRU": gru_step}


class Weights(NamedTuple):
    """Of one layer in one direction: [gates * hidden, input], [gates * hidden, output], [gates * hidden] twice, and for
    projections [output, hidden]."""

    ih: Tensor
    hh: Tensor
    bias_ih: Tensor | None = None
    bias_hh: Tensor | None = None
    hr: Tensor | None = None


def check_begin(name: str, input: Tensor, state: State) -> None:
    """Raises keyway.ValueError unless each state of a single step belongs to a row of its input."""
    for part in state:
        if part.shape[:-1] != input.shape[:-1]:
            raise _C.ValueError(f"{name}: a state of shape {tuple(part.shape)} does not belong to an input of shape "
                                f"{tuple(input.shape)}: all sizes but the last are the same")


def over_layers(mode: str, data: Tensor, batch_sizes: Sequence[int], state: State, layers: list[list[Weights]],
                dropout: float, training: bool) -> tuple[Tensor, State]:
    """The results of the last layer, and the last states of all layers.

    `data` is [rows, input]: the first `batch_sizes[0]` rows are the first elements of all sequences, then come their
    second ones, ...; the sizes do not grow. `state` has what each layer and direction begins with,
    [layers * directions, batch, size]. `layers` has the weights of each direction.
    """
    if not batch_sizes:
        raise _C.ValueError(f"{mode}: the sequence has no elements")
    sizes = (sum(map(len, layers)), batch_sizes[0])
    if any(part.dim() != 3 or tuple(part.shape[:2]) != sizes for part in state):
        raise _C.ValueError(f"{mode}: states begin with sizes {sizes}, but have shapes {[tuple(p.shape) for p in state]}")
    last: list[State] = []
    for number, directions in enumerate(layers):
        results = []
        for direction, weights in enumerate(directions):
            begin = tuple(part[len(last)] for part in state)
            result, end = _along(STEPS[mode], data, batch_sizes, begin, weights, backward=direction == 1)
            results.append(result)
            last.append(end)
        data = results[0] if len(results) == 1 else _C.cat(results, -1)
        if number + 1 < len(layers) and dropout > 0:
            data = _C.dropout(data, dropout, training)
    return data, tuple(_C.stack(parts) for parts in zip(*last))


def _along(step: Step, data: Tensor, batch_sizes: Sequence[int], begin: State, weights: Weights,
           backward: bool) -> tuple[Tensor, State]:
    """One layer in one direction: what comes of each row, and the last state of each sequence."""
    inputs = _C._nn.linear(data, weights.ih, weights.bias_ih).split(list(batch_sizes))
    first = batch_sizes[-1 if backward else 0]
    state = begin if first == begin[0].size(0) else tuple(part.narrow(0, 0, first) for part in begin)
    ended: list[State] = []
    results = []
    for each in reversed(inputs) if backward else inputs:
        rows, now = each.size(0), state[0].size(0)
        if rows < now:
            ended.append(tuple(part.narrow(0, rows, now - rows) for part in state))
            state = tuple(part.narrow(0, 0, rows) for part in state)
        elif rows > now:
            state = tuple(_C.cat([part, new.narrow(0, now, rows - now)]) for part, new in zip(state, begin))
        state = step(each, state, _C._nn.linear(state[0], weights.hh, weights.bias_hh))
        if weights.hr is not None:
            state = (_C._nn.linear(state[0], weights.hr), *state[1:])
        results.append(state[0])
    if ended:
        state = tuple(_C.cat(list(parts)) for parts in zip(state, *reversed(ended)))
    return _C.cat(results[::-1] if backward else results), state


def grouped(params: Sequence[Tensor], has_biases: bool, num_layers: int, bidirectional: bool,
            has_projections: bool = False) -> list[list[Weights]]:
    """A flat list of parameters by layer and direction. Raises keyway.ValueError for another number of them."""
    each = 2 + (2 if has_biases else 0) + (1 if has_projections else 0)
    directions = 2 if bidirectional else 1
    if len(params) != each * directions * num_layers:
        raise _C.ValueError(f"{num_layers} layers in {directions} directions have {each * directions * num_layers} "
                            f"parameters, not {len(params)}")
    sets = []
    for at in range(0, len(params), each):
        ih, hh, *others = params[at:at + each]
        biases = others[:2] if has_biases else [None, None]
        sets.append(Weights(ih, hh, biases[0], biases[1], others[-1] if has_projections else None))
    return [sets[at:at + directions] for at in range(0, len(sets), directions)]
