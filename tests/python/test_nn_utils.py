"""keyway.nn.utils: norms of gradients, sequences of different lengths, modules without values."""

import math

import keyway
import pytest
from keyway import nn
from keyway.nn import utils


def parameters():
    """Two parameters with gradients (3, -4) and (0,), and one without."""
    made = [keyway.zeros(2, requires_grad=True), keyway.zeros(1, requires_grad=True), keyway.zeros(1)]
    made[0].grad, made[1].grad = keyway.tensor([3.0, -4.0]), keyway.zeros(1)
    return made


@pytest.mark.parametrize(("order", "norm"), [(2, 5), (1, 7), (math.inf, 4), (-math.inf, 0), (0, 1)])
def test_the_norm_of_all_gradients_by_hand(order, norm):
    assert utils.clip_grad_norm_(parameters(), 100.0, order, foreach=False).item() == pytest.approx(norm)


def test_gradients_are_scaled_by_a_norm_that_is_known():
    some = parameters()
    utils.clip_grads_with_norm_(some, 1.0, utils.get_total_norm([some[0].grad]))
    assert some[0].grad.tolist() == pytest.approx([0.6, -0.8], rel=1e-5)
    utils.clip_grad_value_(some, 0.7, foreach=True)
    assert some[0].grad.tolist() == pytest.approx([0.6, -0.7], rel=1e-5)


def test_parameters_given_once_are_clipped_all():
    some = parameters()
    utils.clip_grad_norm_(iter(some), 2.5)
    assert some[0].grad.tolist() == pytest.approx([1.5, -2.0], rel=1e-5)


def test_sequences_are_filled_up_on_either_side_and_cut_again():
    sequences = [keyway.tensor([1.0]), keyway.tensor([2.0, 3.0])]
    padded = utils.rnn.pad_sequence(sequences, batch_first=True, padding_value=-1.0)
    assert padded.tolist() == [[1.0, -1.0], [2.0, 3.0]]
    assert utils.rnn.pad_sequence(sequences).tolist() == [[1.0, 2.0], [0.0, 3.0]]
    assert utils.rnn.pad_sequence(sequences, True, padding_side="left").tolist() == [[0.0, 1.0], [2.0, 3.0]]
    back = utils.rnn.unpad_sequence(padded, [1, 2], batch_first=True)
    assert [sequence.tolist() for sequence in back] == [[1.0], [2.0, 3.0]]
    for refused in (lambda: utils.rnn.pad_sequence([]), lambda: utils.rnn.pad_sequence(sequences, padding_side="up")):
        with pytest.raises(keyway.ValueError, match="pad_sequence"):
            refused()


def test_a_module_is_made_without_drawing_its_parameters():
    state = keyway.default_generator.get_state()
    layer = utils.skip_init(nn.Linear, 2, 3, bias=False)
    assert tuple(layer.weight.shape) == (3, 2) and layer.weight.device.type == "cpu"
    assert keyway.default_generator.get_state() == state
    with pytest.raises(RuntimeError, match="takes no argument 'device'"):
        utils.skip_init(nn.ReLU)


def test_dropout_between_recurrent_layers_needs_two():
    with pytest.warns(UserWarning, match="num_layers=1"):
        nn.GRU(2, 2, dropout=0.5)


def test_complex_gradients_count_by_their_absolute_values_and_are_clamped_in_parts():
    weight = keyway.zeros(1, dtype=keyway.complex64, requires_grad=True)
    weight.grad = keyway.tensor([3 - 4j])
    assert utils.clip_grad_norm_([weight], 100.0).item() == pytest.approx(5)
    utils.clip_grad_value_([weight], 2.0)
    assert weight.grad.tolist() == [2 - 2j]
    both = [keyway.tensor([3 + 4j, -5 + 12j], dtype=keyway.complex128), keyway.tensor([0.0, 2.0], dtype=keyway.float64)]
    for order, norm in ((1, 20), (2, math.sqrt(198)), (3, 2330 ** (1 / 3)), (math.inf, 13), (-math.inf, 0), (0, 2)):
        assert utils.get_total_norm(both, order).item() == pytest.approx(norm)
    half = keyway.tensor([60000 + 60000j], dtype=keyway.complex32)  # whose absolute value is above the greatest float16
    for order in (1, 2, math.inf):
        assert utils.get_total_norm([half], order).item() == pytest.approx(60000 * math.sqrt(2), rel=1e-3)


def test_norms_of_16_bit_gradients_are_computed_in_float32():
    for dtype in (keyway.float16, keyway.bfloat16):
        weight = nn.Parameter(keyway.zeros(4, dtype=dtype))
        weight.grad = keyway.full((4,), 40960.0, dtype=dtype)  # whose square is no float16, nor their norm
        for order, norm in ((2.0, 81920.0), (1.0, 163840.0), (float("inf"), 40960.0)):
            assert utils.get_total_norm([weight.grad], order).item() == norm
        assert utils.clip_grad_norm_([weight], 4.0).item() == 81920.0
        assert weight.grad.tolist() == [2.0] * 4
