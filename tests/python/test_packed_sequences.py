"""keyway.nn.utils.rnn, recurrent layers over packed sequences, and recurrences as functions of their weights."""

import keyway
import pytest
from keyway import nn
from keyway.nn.utils.rnn import (
    PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence, unpack_sequence,
)


def make_sequences():
    return [keyway.tensor([1.0, 2.0]), keyway.tensor([3.0, 4.0, 5.0]), keyway.tensor([6.0])]


def test_packing_lays_sequences_side_by_side_from_the_longest_on():
    packed = pack_sequence(make_sequences(), enforce_sorted=False)
    assert packed.data.tolist() == [3, 1, 6, 4, 2, 5] and packed.batch_sizes.tolist() == [3, 2, 1]
    assert packed.sorted_indices.tolist() == [1, 0, 2] and packed.unsorted_indices.tolist() == [1, 0, 2]
    padded, lengths = pad_packed_sequence(packed, batch_first=True, padding_value=-1, total_length=4)
    assert padded.tolist() == [[1, 2, -1, -1], [3, 4, 5, -1], [6, -1, -1, -1]] and lengths.tolist() == [2, 3, 1]
    assert [s.tolist() for s in unpack_sequence(packed)] == [[1, 2], [3, 4, 5], [6]]
    assert packed.double().data.dtype is keyway.float64 and isinstance(packed.to("cpu"), PackedSequence)


def test_lengths_that_do_not_fit_are_refused():
    x = keyway.ones(3, 2)
    for lengths, text in (([2, 3], "sorted in decreasing order"), ([3, 0], "greater than 0"),
                          ([3], r"got 1 \(batch_size=2\)"), ([4, 3], "at most the sequences' size")):
        with pytest.raises(ValueError, match=text):
            pack_padded_sequence(x, lengths)
    with pytest.raises(ValueError, match="total_length to be at least"):
        pad_packed_sequence(pack_sequence([keyway.ones(3)]), total_length=2)
    with pytest.raises(keyway.ValueError, match="the packed sequence is empty"):
        pad_packed_sequence(PackedSequence(keyway.zeros(0, 3), keyway.zeros(0, dtype=keyway.int64)))


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_packed_batch_gives_what_each_sequence_gives_alone(kind, bidirectional):
    layer = kind(2, 3, num_layers=2, bidirectional=bidirectional)
    sequences = [keyway.randn(n, 2) for n in (2, 4, 1)]
    packed, last = layer(pack_sequence(sequences, enforce_sorted=False))
    states = last if kind is nn.LSTM else (last,)
    for i, (sequence, result) in enumerate(zip(sequences, unpack_sequence(packed))):
        alone, end = layer(sequence)
        keyway.testing.assert_close(result, alone)
        for state, one in zip(states, end if kind is nn.LSTM else (end,)):
            keyway.testing.assert_close(state[:, i], one)


def test_gradients_flow_through_packing():
    x = keyway.ones(3, 2, 1, requires_grad=True)
    padded, _ = pad_packed_sequence(pack_padded_sequence(x, [1, 3], enforce_sorted=False))
    padded.sum().backward()
    assert x.grad.squeeze(-1).t().tolist() == [[1, 0, 0], [1, 1, 1]]


def test_functions_of_the_weights_compute_what_the_layers_do():
    x, h, c = keyway.randn(4, 2, 3), keyway.randn(2, 2, 5), keyway.randn(2, 2, 5)
    for layer, function in ((nn.GRU(3, 5, 2), keyway.gru), (nn.RNN(3, 5, 2), keyway.rnn_tanh),
                            (nn.RNN(3, 5, 2, "relu"), keyway.rnn_relu)):
        for result, expected in zip(function(x, h, list(layer.parameters()), True, 2, 0.0, False, False, False),
                                    layer(x, h)):
            keyway.testing.assert_close(result, expected)
    layer = nn.LSTM(3, 5, 2)
    expected, (hidden, cell) = layer(x, (h, c))
    packed = keyway.lstm(x.reshape(8, 3), keyway.tensor([2] * 4), [h, c], list(layer.parameters()), True, 2, 0.0, False,
                         False)
    for result, wanted in zip(packed, (expected.reshape(8, 5), hidden, cell)):
        keyway.testing.assert_close(result, wanted)
    with pytest.raises(TypeError, match="gru"):
        keyway.gru(x, h)
    with pytest.raises(ValueError, match="2 layers in 1 directions have 8 parameters, not 2"):
        keyway.gru(x, h, list(layer.parameters())[:2], True, 2, 0.0, False, False, False)


def test_cells_are_single_steps():
    x, h, c = keyway.randn(2, 3), keyway.randn(2, 5), keyway.randn(2, 5)
    for cell, function in ((nn.GRUCell(3, 5), keyway.gru_cell), (nn.RNNCell(3, 5), keyway.rnn_tanh_cell),
                           (nn.RNNCell(3, 5, nonlinearity="relu"), keyway.rnn_relu_cell)):
        keyway.testing.assert_close(function(x, h, *cell.parameters()), cell(x, h))
    cell = nn.LSTMCell(3, 5)
    keyway.testing.assert_close(keyway.lstm_cell(x, (h, c), *cell.parameters()), cell(x, (h, c)))


def test_the_bases_are_public():
    assert issubclass(nn.LSTM, nn.RNNBase) and issubclass(nn.GRUCell, nn.RNNCellBase)
    base = nn.RNNBase("GRU", 3, 4, 2)
    assert base.weight_hh_l1.shape == (12, 4) and [len(w) for w in base.all_weights] == [4, 4]
    assert nn.RNNCellBase(3, 4, True, 2).weight_ih.shape == (8, 3)
    assert repr(nn.RNNCell(3, 4, nonlinearity="relu")) == "RNNCell(3, 4, nonlinearity=relu)"
    with pytest.raises(ValueError, match="Unrecognized RNN mode: LTSM"):
        nn.RNNBase("LTSM", 3, 4)


@pytest.mark.parametrize("sizes", [[1, 2, 3], [2, 3, 1], [3, 3, 0], [3, 4, -1], [3, 3, 3], [3, 2]])
def test_batch_sizes_that_belong_to_no_sequences_are_refused(sizes):
    with pytest.raises(keyway.ValueError, match="must be positive, must not grow and must add up to the 6 rows"):
        nn.utils.rnn.PackedSequence(keyway.zeros(6, 2), keyway.tensor(sizes))
