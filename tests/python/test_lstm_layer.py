"""An LSTM layer is one operator: its values and gradients are those of a cell that goes step after step."""

import keyway
import pytest
from keyway.autograd import gradcheck, gradgradcheck

LENGTH, BATCH, HIDDEN = 5, 3, 4


def drawn(*sizes, seed):
    generator = keyway.Generator().manual_seed(seed)
    return keyway.randn(*sizes, dtype=keyway.float64, generator=generator).requires_grad_()


def operands():
    return [drawn(LENGTH, BATCH, 4 * HIDDEN, seed=1), drawn(BATCH, HIDDEN, seed=2), drawn(BATCH, HIDDEN, seed=3),
            drawn(4 * HIDDEN, HIDDEN, seed=4)]


def step_by_step(inputs, hx, cx, weight, reverse):
    steps = range(LENGTH)[::-1] if reverse else range(LENGTH)
    output, cells, gates = ([None] * LENGTH for _ in range(3))
    for i in steps:
        entry, forget, fresh, out = (inputs[i] + hx @ weight.t()).chunk(4, 1)
        parts = [entry.sigmoid(), forget.sigmoid(), fresh.tanh(), out.sigmoid()]
        cx = parts[1] * cx + parts[0] * parts[2]
        hx = parts[3] * cx.tanh()
        output[i], cells[i], gates[i] = hx, cx, keyway.cat(parts, 1)
    return keyway.stack(output), keyway.stack(cells), keyway.stack(gates)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("used", [(0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_values_and_gradients_are_those_of_steps(reverse, used):
    given = operands()
    results = keyway._C._lstm_layer(*given, reverse)
    expected = step_by_step(*given, reverse)
    for result, wanted in zip(results, expected):
        keyway.testing.assert_close(result, wanted)
    weights = [drawn(*result.shape, seed=10 + i) for i, result in enumerate(expected)]
    loss = sum((results[i] * weights[i]).sum() for i in used)
    wanted = sum((expected[i] * weights[i]).sum() for i in used)
    found = keyway.autograd.grad(loss, given, allow_unused=True, materialize_grads=True)
    for gradient, right in zip(found, keyway.autograd.grad(wanted, given, allow_unused=True, materialize_grads=True)):
        keyway.testing.assert_close(gradient, right)


@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_have_gradients(reverse):
    def layer(*given):
        return keyway._C._lstm_layer(*given, reverse)

    assert gradcheck(layer, operands())
    assert gradgradcheck(layer, operands())


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_module_gives_what_cells_give(bidirectional):
    lstm = keyway.nn.LSTM(3, HIDDEN, num_layers=2, bidirectional=bidirectional, dtype=keyway.float64)
    x = drawn(LENGTH, BATCH, 3, seed=7)
    output, (h, c) = lstm(x)
    data, last = x, []
    for layer in range(2):
        sides = []
        for side in ["", "_reverse"][:1 + bidirectional]:
            w_ih, w_hh, b_ih, b_hh = (getattr(lstm, f"{name}_l{layer}{side}")
                                      for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
            state = (keyway.zeros(BATCH, HIDDEN, dtype=keyway.float64),) * 2
            results = [None] * LENGTH
            for i in range(LENGTH)[::-1] if side else range(LENGTH):
                state = keyway.lstm_cell(data[i], state, w_ih, w_hh, b_ih, b_hh)
                results[i] = state[0]
            sides.append(keyway.stack(results))
            last.append(state)
        data = keyway.cat(sides, -1)
    keyway.testing.assert_close(output, data)
    keyway.testing.assert_close(h, keyway.stack([state[0] for state in last]))
    keyway.testing.assert_close(c, keyway.stack([state[1] for state in last]))
    parameters = list(lstm.parameters())
    for found, wanted in zip(keyway.autograd.grad(output.square().sum() + c.sum(), [x, *parameters]),
                             keyway.autograd.grad(data.square().sum() + sum(s[1].sum() for s in last), [x, *parameters])):
        keyway.testing.assert_close(found, wanted)


def test_a_batch_of_none_and_one_step():
    lstm = keyway.nn.LSTM(3, HIDDEN)
    assert lstm(keyway.zeros(LENGTH, 0, 3))[0].shape == (LENGTH, 0, HIDDEN)
    assert lstm(keyway.zeros(1, BATCH, 3))[0].shape == (1, BATCH, HIDDEN)


def test_in_autocast_regions_and_for_each_example():
    lstm = keyway.nn.LSTM(3, HIDDEN)
    x = keyway.randn(LENGTH, BATCH, 3)
    with keyway.autocast("cpu", dtype=keyway.bfloat16):
        lower = lstm(x)[0]
    keyway.testing.assert_close(lower, lstm(x)[0], rtol=0.02, atol=0.02)
    batch = keyway.randn(2, LENGTH, BATCH, 3)
    results = keyway.vmap(lambda sequence: lstm(sequence)[0])(batch)
    keyway.testing.assert_close(results, keyway.stack([lstm(sequence)[0] for sequence in batch]))
