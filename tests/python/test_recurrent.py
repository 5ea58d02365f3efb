"""Recurrent layers and attention: against single steps, formulas written out, and one another."""

import copy
import math
import pickle

import keyway
import pytest
from keyway import nn

FLOAT64 = keyway.float64


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def with_values(module, *names_and_values):
    with keyway.no_grad():
        for name, value in names_and_values:
            getattr(module, name).copy_(keyway.tensor(value, dtype=FLOAT64))
    return module


def number(x):
    return keyway.tensor([[x]], dtype=FLOAT64)


def test_steps_by_hand():
    x, h, c = 0.5, -0.25, 2.0
    for nonlinearity, expected in (("tanh", math.tanh(0.5 * 2 + 1 - 0.25 * 3 - 0.5)), ("relu", 0.75)):
        cell = with_values(nn.RNNCell(1, 1, nonlinearity=nonlinearity, dtype=FLOAT64), ("weight_ih", [[2.0]]),
                           ("weight_hh", [[3.0]]), ("bias_ih", [1.0]), ("bias_hh", [-0.5]))
        assert cell(number(x), number(h)).item() == pytest.approx(expected)
    cell = with_values(nn.LSTMCell(1, 1, bias=False, dtype=FLOAT64), ("weight_ih", [[1.0], [2.0], [3.0], [4.0]]),
                       ("weight_hh", [[1.0], [-1.0], [2.0], [-2.0]]))
    i, f, g, o = (a * x + b * h for a, b in ((1, 1), (2, -1), (3, 2), (4, -2)))
    cell_state = sigmoid(f) * c + sigmoid(i) * math.tanh(g)
    hidden, state = cell(number(x), (number(h), number(c)))
    assert state.item() == pytest.approx(cell_state)
    assert hidden.item() == pytest.approx(sigmoid(o) * math.tanh(cell_state))
    cell = with_values(nn.GRUCell(1, 1, dtype=FLOAT64), ("weight_ih", [[1.0], [2.0], [3.0]]),
                       ("weight_hh", [[1.0], [-1.0], [2.0]]), ("bias_ih", [0.0, 0.0, 0.1]),
                       ("bias_hh", [0.0, 0.0, 0.2]))
    r, z = sigmoid(x + h), sigmoid(2 * x - h)
    n = math.tanh(3 * x + 0.1 + r * (2 * h + 0.2))
    assert cell(number(x), number(h)).item() == pytest.approx((1 - z) * n + z * h)


KINDS = [(nn.RNN, nn.RNNCell), (nn.LSTM, nn.LSTMCell), (nn.GRU, nn.GRUCell)]


def run_steps(cell, inputs, reverse=False):
    """The results of each step, and the last state as a tuple."""
    state, results = None, []
    for x in reversed(inputs) if reverse else inputs:
        state = cell(x, state)
        results.append(state[0] if isinstance(state, tuple) else state)
    return results[::-1] if reverse else results, state if isinstance(state, tuple) else (state,)


def cell_of(layer, cell_type, suffix, width):
    cell = cell_type(width, layer.hidden_size, dtype=FLOAT64)
    cell.load_state_dict({name: getattr(layer, name + suffix) for name in cell.state_dict()})
    return cell


@pytest.mark.parametrize(("kind", "cell_type"), KINDS)
def test_layers_are_steps_along_the_sequence(kind, cell_type):
    layer = kind(2, 3, num_layers=2, bidirectional=True, dtype=FLOAT64)
    x = keyway.randn(4, 5, 2, dtype=FLOAT64)
    result, state = layer(x)
    states, here = [], x
    for i, width in enumerate((2, 6)):
        both = []
        for suffix in (f"_l{i}", f"_l{i}_reverse"):
            steps, last = run_steps(cell_of(layer, cell_type, suffix, width), here.unbind(0), "reverse" in suffix)
            both.append(keyway.stack(steps))
            states.append(last)
        here = keyway.cat(both, -1)
    keyway.testing.assert_close(result, here)
    for part, expected in zip(state if isinstance(state, tuple) else (state,), zip(*states)):
        keyway.testing.assert_close(part, keyway.stack(expected))


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_a_batch_may_come_first_and_may_be_absent(kind):
    layer = kind(2, 3, dtype=FLOAT64)
    first = kind(2, 3, batch_first=True, dtype=FLOAT64)
    first.load_state_dict(layer.state_dict())
    x = keyway.randn(4, 5, 2, dtype=FLOAT64)
    expected = layer(x)[0]
    keyway.testing.assert_close(first(x.transpose(0, 1))[0].transpose(0, 1), expected)
    single, state = layer(x[:, 2])
    keyway.testing.assert_close(single, expected[:, 2])
    assert (state[0] if kind is nn.LSTM else state).shape == (1, 3)
    half, state = layer(x[:2])
    keyway.testing.assert_close(layer(x[2:], state)[0], expected[2:])


def test_a_projection_shortens_the_state():
    layer = nn.LSTM(2, 4, 2, proj_size=3, dtype=FLOAT64)
    result, (hidden, cell) = layer(keyway.randn(5, 2, dtype=FLOAT64))
    assert (result.shape, hidden.shape, cell.shape) == ((5, 3), (2, 3), (2, 4))
    assert layer.weight_hh_l1.shape == (16, 3) and layer.weight_hr_l0.shape == (3, 4)
    result.sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="nonlinearity"):
        nn.RNN(2, 3, nonlinearity="sin")
    with pytest.raises(ValueError, match="proj_size"):
        nn.LSTM(2, 3, proj_size=3)
    with pytest.raises(keyway.ValueError, match="of which the last has size 2"):
        nn.GRU(2, 3)(keyway.zeros(4, 5, 3))
    with pytest.raises(keyway.ValueError, match=r"must have \(1, 5, 3\)"):
        nn.GRU(2, 3)(keyway.zeros(4, 5, 2), keyway.zeros(1, 4, 3))
    with pytest.raises(ValueError, match="divisible"):
        nn.MultiheadAttention(5, 2)
    assert repr(nn.LSTM(3, 4, 2, batch_first=True)) == "LSTM(3, 4, num_layers=2, batch_first=True)"


def attention(module, q, k, v):
    """The weights of each head, and the result, of one sequence, written out."""
    (wq, wk, wv), (bq, bk, bv) = module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3)
    q, k, v = q @ wq.t() + bq, k @ wk.t() + bk, v @ wv.t() + bv
    weights, mixed = [], []
    for head in range(module.num_heads):
        part = slice(head * module.head_dim, (head + 1) * module.head_dim)
        weights.append(keyway.softmax(q[:, part] @ k[:, part].t() / math.sqrt(module.head_dim), -1))
        mixed.append(weights[-1] @ v[:, part])
    return keyway.stack(weights), module.out_proj(keyway.cat(mixed, -1))


def make_attention(**options):
    module = nn.MultiheadAttention(4, 2, dtype=FLOAT64, **options)
    with keyway.no_grad():
        module.in_proj_bias.normal_()
    return module


def test_attention_is_what_its_formula_says():
    module = make_attention()
    q, k, v = (keyway.randn(n, 4, dtype=FLOAT64) for n in (3, 5, 5))
    weights, expected = attention(module, q, k, v)
    result, mean = module(q, k, v)
    keyway.testing.assert_close(result, expected)
    keyway.testing.assert_close(mean, weights.mean(0))
    keyway.testing.assert_close(module(q, k, v, average_attn_weights=False)[1], weights)
    assert module(q, k, v, need_weights=False)[1] is None


def test_a_masked_key_counts_as_absent():
    module = make_attention(batch_first=True)
    x = keyway.randn(2, 5, 4, dtype=FLOAT64)
    padding = keyway.tensor([[False] * 5, [False] * 3 + [True] * 2])
    result = module(x, x, x, key_padding_mask=padding)[0]
    keyway.testing.assert_close(result[0], attention(module, x[0], x[0], x[0])[1])
    keyway.testing.assert_close(result[1], attention(module, x[1], x[1, :3], x[1, :3])[1])
    causal = keyway.ones(5, 5, dtype=keyway.bool).triu(1)
    keyway.testing.assert_close(module(x, x, x, attn_mask=causal)[0][0, :1], attention(module, *[x[0, :1]] * 3)[1])


def test_keys_may_be_added_to_all_sequences():
    x = keyway.randn(3, 4, dtype=FLOAT64)
    module = make_attention(add_bias_kv=True, add_zero_attn=True)
    result, weights = module(x, x, x, attn_mask=keyway.zeros(3, 3, dtype=keyway.bool))
    assert result.shape == (3, 4) and weights.shape == (3, 5)
    keyway.testing.assert_close(weights.sum(-1), keyway.ones(3, dtype=FLOAT64))
    other = nn.MultiheadAttention(4, 2, kdim=2, vdim=3)
    result = other(keyway.zeros(3, 4), keyway.zeros(5, 2), keyway.zeros(5, 3))[0]
    assert other.in_proj_weight is None and result.shape == (3, 4)


def test_encoder_layers_add_and_normalise():
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, activation="gelu", norm_first=True, dtype=FLOAT64)
    x = keyway.randn(5, 3, 4, dtype=FLOAT64)
    y = layer.norm1(x)
    expected = x + layer.self_attn(y, y, y)[0]
    expected = expected + layer.linear2(nn.functional.gelu(layer.linear1(layer.norm2(expected))))
    keyway.testing.assert_close(layer(x), expected)
    layer.norm_first = False
    after = layer.norm1(x + layer.self_attn(x, x, x)[0])
    keyway.testing.assert_close(layer(x), layer.norm2(after + layer.linear2(nn.functional.gelu(layer.linear1(after)))))
    encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(4, dtype=FLOAT64))
    keyway.testing.assert_close(encoder(x), encoder.norm(layer(layer(x))))
    assert len({id(p) for p in encoder.parameters()}) == 2 * len(list(layer.parameters())) + 2


def test_decoder_layers_look_up_what_the_encoder_made():
    layer = nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0, batch_first=True, dtype=FLOAT64)
    x, memory = keyway.randn(2, 3, 4, dtype=FLOAT64), keyway.randn(2, 5, 4, dtype=FLOAT64)
    causal = nn.Transformer.generate_square_subsequent_mask(3, dtype=FLOAT64)
    y = layer.norm1(x + layer.self_attn(x, x, x, attn_mask=causal)[0])
    y = layer.norm2(y + layer.multihead_attn(y, memory, memory)[0])
    expected = layer.norm3(y + layer.linear2(layer.linear1(y).relu()))
    keyway.testing.assert_close(layer(x, memory, causal, tgt_is_causal=True), expected)
    with pytest.raises(keyway.Error, match="Need attn_mask"):
        layer(x, memory, tgt_is_causal=True)
    assert list(layer._modules) == ["self_attn", "multihead_attn", "linear1", "dropout", "linear2", "norm1", "norm2",
                                    "norm3", "dropout1", "dropout2", "dropout3"]


def test_a_transformer_is_its_encoder_and_its_decoder():
    model = nn.Transformer(4, 2, 2, 1, 8, dropout=0.0, norm_first=True, dtype=FLOAT64)
    src, tgt = keyway.randn(5, 3, 4, dtype=FLOAT64), keyway.randn(2, 3, 4, dtype=FLOAT64)
    keyway.testing.assert_close(model(src, tgt), model.decoder(tgt, model.encoder(src)))
    model(src, tgt).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    with pytest.raises(keyway.Error, match="batch number"):
        model(src, tgt[:, :1])
    with pytest.raises(keyway.Error, match="feature number"):
        model(src[..., :2], tgt)


def test_keys_and_values_may_be_projected_before():
    module = make_attention()
    x = keyway.randn(3, 1, 4, dtype=FLOAT64)
    weights, biases = module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3)
    k, v = (nn.functional.linear(x, weights[i], biases[i]).reshape(3, 2, 2).transpose(0, 1) for i in (1, 2))
    args = [x, x, x, 4, 2, module.in_proj_weight, module.in_proj_bias, None, None, False, 0.0, module.out_proj.weight,
            module.out_proj.bias]
    forward = nn.functional.multi_head_attention_forward
    expected, weights = module(x, x, x)
    given, given_weights = forward(*args, static_k=k, static_v=v)
    keyway.testing.assert_close(given, expected)
    keyway.testing.assert_close(given_weights, weights)
    keyway.testing.assert_close(forward(*args, need_weights=False)[0], expected)
    with pytest.raises(keyway.ValueError, match="static_k has shape"):
        forward(*args, static_k=k[:1], static_v=v)
    with pytest.raises(keyway.ValueError, match="attn_mask has shape"):
        forward(*args, attn_mask=keyway.zeros(2, 3, dtype=FLOAT64))
    with pytest.raises(keyway.ValueError, match="embedding dimension of 6"):
        forward(*args[:3], 6, *args[4:])
    with pytest.raises(keyway.ValueError, match="q_proj_weight is None"):
        forward(*args, use_separate_proj_weight=True)


def test_operators_are_copied_as_themselves_and_pickled_by_name():
    assert copy.deepcopy(nn.functional.gelu) is nn.functional.gelu
    assert pickle.loads(pickle.dumps(keyway.add)) is keyway.add


def test_the_parameters_of_layers_and_directions_are_listed():
    layer = nn.LSTM(3, 4, 2, bidirectional=True)
    layer.flatten_parameters()
    assert [len(weights) for weights in layer.all_weights] == [4] * 4
    assert layer.all_weights[3][1] is layer.weight_hh_l1_reverse
    assert (layer.mode, nn.GRU(1, 1).mode, nn.RNN(1, 1, nonlinearity="relu").mode) == ("LSTM", "GRU", "RNN_RELU")


def test_a_batch_may_be_empty_and_states_belong_to_it():
    for layer in (nn.RNN(2, 3), nn.GRU(2, 3), nn.LSTM(2, 3)):
        assert layer(keyway.ones(4, 0, 2))[0].shape == (4, 0, 3)
        with pytest.raises(keyway.ValueError, match="no elements"):
            layer(keyway.ones(0, 1, 2))
    with pytest.raises(keyway.ValueError, match="does not belong"):
        nn.RNNCell(2, 3)(keyway.ones(4, 2), keyway.zeros(1, 3))
    weights = [w for w in nn.GRU(2, 3).parameters()]
    with pytest.raises(keyway.ValueError, match=r"must begin with the sizes \[1, 3\]"):
        keyway.gru(keyway.ones(4, 3, 2), keyway.zeros(1, 5, 3), weights, True, 1, 0.0, False, False, False)
    with pytest.raises(keyway.ValueError, match="layers have more than 0 parameters"):
        keyway.gru(keyway.ones(4, 3, 2), keyway.zeros(0, 3, 3), [], True, 2**62, 0.0, False, True, False)
