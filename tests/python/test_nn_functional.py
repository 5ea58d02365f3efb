"""keyway.nn.functional: what is not an operator as it is; known numbers and refusals."""

import math

import keyway
import keyway.nn.functional as F
import pytest
from keyway import nn


def test_every_operator_of_the_namespace_is_there():
    operators = [name for name in dir(keyway._C._nn) if not name.startswith("_")]
    assert "gelu" in operators and [name for name in operators if not hasattr(F, name)] == []
    assert F.gelu is keyway._C._nn.gelu and "linear" in dir(F)
    with pytest.raises(AttributeError, match="module 'keyway.nn.functional' has no attribute 'geluu'"):
        F.geluu


def test_activations_in_place_change_their_argument():
    for name in (
        "relu", "relu6", "silu", "hardsigmoid", "hardtanh", "leaky_relu", "elu", "selu", "celu", "mish", "hardswish",
    ):
        x = keyway.tensor([-1.5, 0.5, 7.0])
        expected = getattr(F, name)(x).tolist()
        assert x.tolist() == [-1.5, 0.5, 7.0]
        assert getattr(F, name)(x, inplace=True) is x and x.tolist() == expected


def test_threshold_in_place_changes_its_argument():
    x = keyway.tensor([-1.5, 0.5, 7.0])
    assert F.threshold(x, 0.5, 9.0).tolist() == [9.0, 9.0, 7.0] and x[0].item() == -1.5
    assert F.threshold(x, 0.5, 9.0, inplace=True) is x and x.tolist() == [9.0, 9.0, 7.0]


def test_softplus_and_mish_have_gradients_where_exponentials_overflow():
    for function in (F.softplus, F.mish, F.elu, F.hardswish):
        x = keyway.tensor([-1000.0, 1000.0], requires_grad=True)
        function(x).sum().backward()
        assert x.grad.tolist() == [0.0, 1.0]


def test_the_gradient_of_hardswish_is_that_outside_at_its_bends():
    x = keyway.tensor([-3.0, 3.0], requires_grad=True)
    F.hardswish(x).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]


def test_the_weight_of_prelu_gets_nothing_from_infinity():
    x, weight = keyway.tensor([[float("inf"), -2.0]]), keyway.tensor([0.5], requires_grad=True)
    F.prelu(x, weight).sum().backward()
    assert weight.grad.tolist() == [-2.0]


def test_logsigmoid_does_not_overflow():
    x = keyway.tensor([-1000.0, 0.0, 1000.0], requires_grad=True)
    y = F.logsigmoid(x)
    y.sum().backward()
    assert y.tolist() == pytest.approx([-1000.0, -math.log(2), 0.0]) and x.grad.tolist() == pytest.approx([1, 0.5, 0])


def test_softmax_without_a_dimension_warns_and_chooses_one():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        assert F.softmax(keyway.zeros(2, 4)).tolist() == [[0.25] * 4] * 2
    with pytest.warns(UserWarning):
        assert F.log_softmax(keyway.zeros(2, 4, 1))[0][0][0].item() == pytest.approx(-math.log(2))
    assert F.softmax(keyway.zeros(2, dtype=keyway.float16), 0, dtype=keyway.float64).dtype is keyway.float64
    assert F.softmin(keyway.tensor([0.0, math.log(3)]), 0).tolist() == pytest.approx([0.75, 0.25])


def test_older_names_of_reductions_still_work_and_warn():
    a, b = keyway.tensor([1.0, 3.0]), keyway.zeros(2)
    for arguments, expected in (({"size_average": False}, 10), ({"size_average": True}, 5), ({"reduce": True}, 5)):
        with pytest.warns(UserWarning, match="are deprecated"):
            assert F.mse_loss(a, b, **arguments).item() == expected
    with pytest.warns(UserWarning):
        assert F.mse_loss(a, b, reduce=False).tolist() == [1.0, 9.0]


def test_losses_of_other_shapes_warn_or_are_refused():
    with pytest.warns(UserWarning, match="a target size \\(2,\\) that is different"):
        F.l1_loss(keyway.zeros(3, 2), keyway.zeros(2))
    with pytest.raises(ValueError, match="must be the same as input size"):
        F.binary_cross_entropy_with_logits(keyway.zeros(3, 2), keyway.zeros(2))


def test_cross_entropy_takes_classes_and_probabilities():
    logits = keyway.tensor([[0.0, 1.0, 2.0], [2.0, 0.0, 1.0]])
    classes = keyway.tensor([2, -100])
    total = math.log(1 + math.e + math.e**2)
    assert F.cross_entropy(logits, classes).item() == pytest.approx(total - 2)
    probabilities = keyway.tensor([[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]])
    assert F.cross_entropy(logits, probabilities, reduction="sum").item() == pytest.approx(total - 1.5)


@pytest.mark.parametrize("mode, expected", [
    ("constant", [0, 0, 1, 2, 3, 0]), ("reflect", [3, 2, 1, 2, 3, 2]), ("replicate", [1, 1, 1, 2, 3, 3]),
    ("circular", [2, 3, 1, 2, 3, 1])])
def test_padding_by_hand(mode, expected):
    x = keyway.tensor([[[1.0, 2.0, 3.0]]])
    assert F.pad(x, (2, 1), mode=mode)[0][0].tolist() == expected


def test_a_circle_is_of_what_a_negative_border_leaves():
    x = keyway.arange(5).reshape(1, 1, 5)
    assert F.pad(x, (-1, 2), mode="circular")[0][0].tolist() == [1, 2, 3, 4, 1, 2]
    with pytest.raises(keyway.Error, match="wrapped around more than once"):
        F.pad(x, (-3, 3), mode="circular")


def test_padding_may_be_negative_and_gradients_pass_through_it():
    x = keyway.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    y = F.pad(x, (-1, 1, 1, 0), value=9)
    assert y.tolist() == [[9, 9, 9], [2, 3, 9], [5, 6, 9]]
    y.sum().backward()
    assert x.grad.tolist() == [[0, 1, 1], [0, 1, 1]]


@pytest.mark.parametrize("pad, mode, error, text", [
    ((1,), "constant", ValueError, "len.pad. % 2 == 0"), ((1, 1, 1, 1), "constant", ValueError, "len.pad. <= 2"),
    ((1, 1), "mirror", NotImplementedError, "mode 'mirror' is none of"),
    ((-2, -2), "constant", ValueError, "more"),
    ((1, 1), "reflect", NotImplementedError, "mode 'reflect' pads the last")])
def test_padding_that_does_not_fit_is_refused(pad, mode, error, text):
    with pytest.raises(error, match=text):
        F.pad(keyway.ones(3), pad, mode=mode)


def test_one_hot_puts_ones_at_the_classes():
    assert F.one_hot(keyway.tensor([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert F.one_hot(keyway.tensor([[1]]), 2).tolist() == [[[0, 1]]]
    for classes, count, text in (([3], 2, "the largest in the tensor is 3"), ([-1], -1, "not negative")):
        with pytest.raises(keyway.ValueError, match=text):
            F.one_hot(keyway.tensor(classes), count)
    with pytest.raises(keyway.TypeError, match="int64"):
        F.one_hot(keyway.tensor([1.0]))


def test_normalize_divides_by_the_norm_and_leaves_zero_alone():
    x = keyway.tensor([[3.0, 4.0], [0.0, 0.0]], requires_grad=True)
    y = F.normalize(x)
    assert y[0].tolist() == pytest.approx([0.6, 0.8]) and y[1].tolist() == [0.0, 0.0]
    y.sum().backward()
    assert all(math.isfinite(g) for row in x.grad.tolist() for g in row)
    assert F.normalize(x, p=1, dim=0)[0].tolist() == [1.0, 1.0]
    assert F.normalize(x, p=math.inf)[0].tolist() == [0.75, 1.0]
    assert F.normalize(x, p=0)[0].tolist() == [1.5, 2.0]
    assert F.normalize(x, p=-math.inf)[0].tolist() == pytest.approx([1.0, 4 / 3])


def test_attention_sees_what_its_mask_allows():
    value = keyway.tensor([[1.0], [3.0], [8.0]])
    query = key = keyway.zeros(3, 2)
    attend = F.scaled_dot_product_attention
    assert attend(query, key, value).reshape(-1).tolist() == pytest.approx([4.0] * 3)
    assert attend(query, key, value, is_causal=True).reshape(-1).tolist() == pytest.approx([1.0, 2.0, 4.0])
    mask = keyway.tensor([[True, False, True]])
    assert attend(query, key, value, mask).reshape(-1).tolist() == pytest.approx([4.5] * 3)
    added = keyway.tensor([[0.0, -math.inf, math.log(3)]])
    assert attend(query, key, value, added).reshape(-1).tolist() == pytest.approx([0.25 + 6] * 3)
    with pytest.raises(ValueError, match=r"requires !is_causal \|\| attn_mask == None"):
        attend(query, key, value, mask, is_causal=True)


def test_dropout_checks_its_probability_and_may_write_in_place():
    x = keyway.ones(4)
    assert F.dropout(x, 1.0, inplace=True) is x and x.tolist() == [0.0] * 4
    with pytest.raises(ValueError, match="has to be between 0 and 1, but got -0.1"):
        F.dropout(x, -0.1)


def test_a_stride_of_none_is_the_kernel_size():
    x = keyway.arange(6, dtype=keyway.float32).reshape(1, 1, 6)
    assert F.avg_pool1d(x, 3, None).tolist() == [[[1.0, 4.0]]]
    assert F.max_pool1d(x, 3, None).tolist() == [[[2.0, 5.0]]]


def test_functions_and_modules_agree():
    x = keyway.tensor([[-2.0, 0.3, 4.0]])
    for module, function in ((nn.GELU(), F.gelu), (nn.Sigmoid(), F.sigmoid), (nn.Tanhshrink(), F.tanhshrink),
                             (nn.Softsign(), F.softsign), (nn.Softmax(1), lambda v: F.softmax(v, 1))):
        assert module(x).tolist() == function(x).tolist()


def test_logsigmoid_of_infinite_numbers():
    x = keyway.tensor([math.inf, -math.inf, 0.0], requires_grad=True)
    y = F.logsigmoid(x)
    y.sum().backward()
    assert y.tolist() == pytest.approx([0.0, -math.inf, -math.log(2)]) and x.grad[2].item() == 0.5


def test_normalisation_of_an_empty_batch():
    assert F.group_norm(keyway.zeros(0, 4, 3), 2).shape == (0, 4, 3)
    mean, variance = keyway.zeros(4), keyway.ones(4)
    assert F.batch_norm(keyway.zeros(0, 4), mean, variance, training=True).shape == (0, 4)
    assert mean.tolist() == [0.0] * 4 and variance.tolist() == [1.0] * 4
    with pytest.raises(keyway.Error, match=r"group_norm: requires input.size\(1\) % num_groups == 0"):
        F.group_norm(keyway.zeros(2, 4), 3)


def test_a_query_that_sees_nothing_gets_zeros_and_no_gradient():
    query, key, value = (keyway.rand(2, 4, requires_grad=True) for _ in range(3))
    result = F.scaled_dot_product_attention(query, key, value, keyway.tensor([[False, False], [True, False]]))
    keyway.testing.assert_close(result.detach(), keyway.stack([keyway.zeros(4), value[0].detach()]))
    result.sum().backward()
    assert all(tensor.grad.isfinite().all() for tensor in (query, key, value))
    assert query.grad[0].count_nonzero().item() == 0


def test_heads_of_keys_serve_several_queries():
    query, key = keyway.rand(2, 4, 3, 8), keyway.rand(2, 2, 5, 8)
    value = keyway.rand(2, 2, 5, 6)
    shared = F.scaled_dot_product_attention(query, key, value, enable_gqa=True)
    each = [F.scaled_dot_product_attention(query[:, h], key[:, h // 2], value[:, h // 2]) for h in range(4)]
    assert keyway.allclose(shared, keyway.stack(each, 1))
    with pytest.raises(keyway.ValueError, match="the 4 heads of 'query' are no multiple of the 3 of 'key'"):
        F.scaled_dot_product_attention(query, keyway.rand(2, 3, 5, 8), value, enable_gqa=True)


def test_bounds_and_modes_that_make_no_sense_are_refused():
    with pytest.raises(keyway.ValueError, match="min_val is 0.5, more than max_val"):
        F.hardtanh(keyway.ones(2), 0.5, -0.5)
    with pytest.raises(keyway.ValueError, match="compute_mode 'fast' is none of"):
        keyway.cdist(keyway.ones(2, 2), keyway.ones(2, 2), compute_mode="fast")
    assert keyway.cdist(keyway.ones(1, 2), keyway.zeros(1, 2), 1.0, "donot_use_mm_for_euclid_dist").item() == 2.0


@pytest.mark.parametrize("height, width", [(2, 2), (5, 7), (6, 33), (8, 64)])
def test_max_pooling_of_two_by_two_takes_the_first_of_equal_values_and_the_last_nan(height: int, width: int) -> None:
    keyway.manual_seed(0)
    x = keyway.randint(0, 4, (2, 3, height, width)).to(keyway.float32)
    x[x == 0] = -math.inf
    x[keyway.rand(x.shape) < 0.05] = math.nan
    values, indices = F.max_pool2d(x, 2, return_indices=True)
    for plane, found, at in zip(x.reshape(6, -1).tolist(), values.flatten(0, 1).tolist(), indices.flatten(0, 1).tolist()):
        for i in range(height // 2):
            for j in range(width // 2):
                best = 2 * i * width + 2 * j
                for index in (best + 1, best + width, best + width + 1):
                    if plane[index] > plane[best] or math.isnan(plane[index]):
                        best = index
                assert at[i][j] == best
                assert found[i][j] == plane[best] or math.isnan(plane[best]) and math.isnan(found[i][j])
