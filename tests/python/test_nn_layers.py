"""Layers and their initial values: known numbers, shapes, refusals."""

import math

import keyway
import pytest
import keyway.nn.functional as F
from keyway import nn


def filled(module):
    """A module whose parameters count 0, 1, 2, ... in tenths."""
    for parameter in module.parameters():
        numbers = keyway.arange(parameter.numel(), dtype=keyway.float32)
        parameter.detach().copy_(numbers.mul(0.1).reshape(parameter.shape))
    return module


def test_linear_is_weight_times_input_plus_bias():
    layer = filled(nn.Linear(2, 3))
    expected = [[0.1 * 2, 0.2 + 0.3 * 2 + 0.1, 0.4 + 0.5 * 2 + 0.2]]
    assert layer(keyway.tensor([[1.0, 2.0]])).tolist()[0] == pytest.approx(expected[0])
    assert nn.Linear(2, 3, bias=False).bias is None


def test_linear_begins_uniform_within_one_over_the_root_of_its_inputs():
    keyway.manual_seed(0)
    layer = nn.Linear(400, 300)
    for parameter in layer.parameters():
        assert 0.049 < parameter.detach().abs().amax().item() <= 0.05
    assert layer.weight.detach().square().mean().item() == pytest.approx(0.05**2 / 3, rel=0.02)


def test_embedding_looks_rows_up_and_keeps_its_padding_from_learning():
    table = nn.Embedding(4, 2, padding_idx=-1)
    assert table.weight[3].tolist() == [0.0, 0.0]
    table(keyway.tensor([[3, 1], [1, 0]])).sum().backward()
    assert table.weight.grad.tolist() == [[1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(ValueError, match="padding_idx is 9, but the table has 4 rows"):
        nn.Embedding(4, 2, padding_idx=9)


def test_embedding_shortens_rows_that_are_looked_up():
    table = nn.Embedding.from_pretrained(keyway.tensor([[3.0, 4.0], [30.0, 40.0], [0.3, 0.4]]), max_norm=1.0)
    seen = table(keyway.tensor([0, 0, 2]))
    assert seen[0].tolist() == pytest.approx([0.6, 0.8]) and seen[2].tolist() == pytest.approx([0.3, 0.4])
    assert table.weight[1].tolist() == [30.0, 40.0] and not table.weight.requires_grad


def test_layer_norm_gives_mean_zero_and_variance_one():
    row = nn.LayerNorm(4)(keyway.tensor([[1.0, 2.0, 3.0, 4.0]])).tolist()[0]
    root = math.sqrt(1.25 + 1e-5)
    assert row == pytest.approx([-1.5 / root, -0.5 / root, 0.5 / root, 1.5 / root])
    assert not list(nn.LayerNorm([2, 3], elementwise_affine=False).parameters())
    assert nn.LayerNorm(3, bias=False).bias is None


def test_rms_norm_gives_mean_square_one():
    layer = nn.RMSNorm(2, eps=0.0)
    assert layer(keyway.tensor([[1.0, 7.0], [-3.0, 4.0]])).tolist() == [pytest.approx([0.2, 1.4]),
                                                                       pytest.approx([-0.6 * 2**0.5, 0.8 * 2**0.5])]
    assert layer.weight.tolist() == [1, 1] and repr(layer) == "RMSNorm((2,), eps=0.0, elementwise_affine=True)"
    assert not list(nn.RMSNorm((2, 3), elementwise_affine=False).parameters())
    eps = keyway.finfo(keyway.float64).eps
    assert F.rms_norm(keyway.zeros(3, dtype=keyway.float64) + eps, [3])[0].item() == pytest.approx(eps**0.5)


def test_group_norm_normalises_each_group_of_channels():
    x = keyway.tensor([[1.0, 3.0, 10.0, 30.0]])
    assert nn.GroupNorm(2, 4, eps=0)(x).tolist()[0] == pytest.approx([-1, 1, -1, 1])
    with pytest.raises(ValueError, match="divisible"):
        nn.GroupNorm(3, 4)


def test_batch_norm_takes_the_batch_while_training_and_what_it_remembers_later():
    layer, x = nn.BatchNorm1d(1, eps=0), keyway.tensor([[0.0], [4.0]])
    assert layer(x).reshape(-1).tolist() == [-1.0, 1.0]
    assert layer.running_mean.item() == pytest.approx(0.2) and layer.num_batches_tracked.item() == 1
    assert layer.running_var.item() == pytest.approx(0.9 + 0.1 * 8)  # of the unbiased variance
    layer.eval()
    assert layer(x)[1].item() == pytest.approx(3.8 / math.sqrt(1.7)) and layer.num_batches_tracked.item() == 1
    mean = nn.BatchNorm2d(1, momentum=None)
    for value in (1.0, 3.0):
        mean(keyway.full((1, 1, 2, 2), value))
    assert mean.running_mean.item() == 2.0


def test_batch_norm_refuses_other_shapes_and_batches_of_one():
    with pytest.raises(ValueError, match="BatchNorm2d: expected an input of 4 dimensions, got 3"):
        nn.BatchNorm2d(2)(keyway.ones(1, 2, 3))
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        nn.BatchNorm1d(2)(keyway.ones(1, 2))


def test_dropout_zeroes_some_and_scales_the_others_while_training():
    keyway.manual_seed(1)
    layer, x = nn.Dropout(0.25), keyway.ones(10000)
    y = layer(x)
    assert sorted(set(y.tolist())) == pytest.approx([0, 4 / 3])
    assert y.mean().item() == pytest.approx(1, abs=0.03)
    assert layer.eval()(x).tolist() == x.tolist()
    with pytest.raises(ValueError, match="between 0 and 1, but got 2"):
        nn.Dropout(2)


def test_dropout_of_channels_zeroes_whole_channels():
    keyway.manual_seed(1)
    y = nn.Dropout2d(0.5)(keyway.ones(20, 10, 3, 3)).reshape(200, 9)
    sums = sorted(set(y.sum(1).tolist()))
    assert sums == [0.0, 18.0]
    y = keyway.nn.functional.dropout2d(keyway.ones(20, 30, 4))  # 3 dimensions are [N, C, L]
    assert set(y.sum(2).flatten().tolist()) == {0.0, 8.0} and len(set(y.sum((1, 2)).tolist())) > 2
    y = keyway.nn.functional.dropout3d(keyway.ones(50, 2, 2, 2))  # 4 are [C, D, H, W]
    assert set(y.sum((1, 2, 3)).tolist()) == {0.0, 16.0}
    with pytest.raises(keyway.ValueError, match="dropout2d"):
        keyway.nn.functional.dropout2d(keyway.ones(3))


def test_dropout_has_functions_without_defaults():
    keyway.manual_seed(2)
    x = keyway.ones(40, 50, 2)
    y = keyway.feature_dropout(x, 0.5, True)
    assert set(y.sum(2).flatten().tolist()) == {0.0, 4.0}
    assert keyway.feature_dropout(x, 0.5, False) is x and keyway.alpha_dropout(x, p=0.5, train=False) is x
    assert keyway.feature_dropout_(keyway.ones(2, 2), 1.0, True).tolist() == [[0, 0], [0, 0]]
    assert keyway.alpha_dropout_(keyway.ones(3), 1.0, True).tolist() == [0.0] * 3
    z = keyway.feature_alpha_dropout(x, 0.5, True)
    assert keyway.equal(z[..., 0], z[..., 1]) and len(set(z.flatten().tolist())) == 2
    assert keyway.feature_alpha_dropout_(x, 0.5, True) is x
    with pytest.raises(keyway.ValueError, match="2 dimensions"):
        keyway.feature_dropout(keyway.ones(3), 0.5, True)
    with pytest.raises(keyway.ValueError, match="1.5"):
        keyway.feature_dropout(x, 1.5, True)


def test_leaky_relu_with_random_slopes_has_functions_beside_those_of_layers():
    x = keyway.tensor([-1.0, 2.0])
    assert keyway.rrelu(x, 0.25, 0.75).tolist() == [-0.5, 2.0]
    drawn = keyway.rrelu(x, 0.25, 0.75, True, keyway.Generator().manual_seed(3))
    assert -0.75 <= drawn[0].item() <= -0.25 and drawn[1].item() == 2.0
    assert keyway.equal(drawn, keyway.rrelu(x, 0.25, 0.75, True, keyway.Generator().manual_seed(3)))
    assert keyway.rrelu_(x, 0.5, 0.5) is x and x.tolist() == [-0.5, 2.0]


def test_convolution_in_one_dimension_by_hand():
    layer = nn.Conv1d(1, 1, 3, padding=1, bias=False)
    layer.weight.detach().copy_(keyway.tensor([[[1.0, 10.0, 100.0]]]))
    assert layer(keyway.tensor([[1.0, 2.0, 3.0]])).tolist() == [[210.0, 321.0, 32.0]]


def test_padding_by_name_and_by_mode():
    for padding_mode, expected in (("zeros", [210.0, 321.0, 32.0]), ("reflect", [212.0, 321.0, 232.0]),
                                   ("replicate", [211.0, 321.0, 332.0])):
        layer = nn.Conv1d(1, 1, 3, padding="same", bias=False, padding_mode=padding_mode)
        layer.weight.detach().copy_(keyway.tensor([[[1.0, 10.0, 100.0]]]))
        assert layer(keyway.tensor([[1.0, 2.0, 3.0]])).tolist() == [expected]
    layer = nn.Conv1d(1, 1, 2, padding="same", bias=False)  # an even kernel has more padding behind
    layer.weight.detach().copy_(keyway.tensor([[[1.0, 10.0]]]))
    assert layer(keyway.tensor([[1.0, 2.0, 3.0]])).tolist() == [[21.0, 32.0, 3.0]]


def test_a_transposed_convolution_undoes_the_size():
    down, up = nn.Conv2d(2, 4, 3, stride=2, padding=1), nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1)
    x = keyway.ones(1, 2, 8, 7)
    assert tuple(up(down(x)).shape) == (1, 2, 7, 7)
    assert tuple(up(down(x), output_size=[8, 7]).shape) == (1, 2, 8, 7)
    with pytest.raises(ValueError, match="sizes of dimension 0 range from 7 to 8"):
        up(down(x), output_size=[9, 7])


@pytest.mark.parametrize("arguments", [
    {"groups": 3}, {"padding": "big"}, {"padding": "same", "stride": 2}, {"padding_mode": "odd"},
    {"kernel_size": [1, 2, 3]}])
def test_convolutions_refuse_what_does_not_fit(arguments):
    with pytest.raises(ValueError):
        nn.Conv2d(**{"in_channels": 4, "out_channels": 4, "kernel_size": 3, **arguments})


def test_pooling_by_hand():
    x = keyway.tensor([[[1.0, 5.0, 2.0, 4.0]]])
    assert nn.MaxPool1d(2)(x).tolist() == [[[5.0, 4.0]]]
    assert nn.AvgPool1d(2, stride=1)(x).tolist() == [[[3.0, 3.5, 3.0]]]
    assert nn.AdaptiveAvgPool1d(1)(x).tolist() == [[[3.0]]]
    values, indices = nn.MaxPool1d(2, return_indices=True)(x)
    assert values.tolist() == [[[5.0, 4.0]]] and indices.tolist() == [[[1, 3]]]
    assert tuple(nn.AdaptiveAvgPool2d((None, 2))(keyway.ones(1, 1, 5, 6)).shape) == (1, 1, 5, 2)


def test_flatten_and_unflatten_undo_each_other():
    x = keyway.ones(2, 3, 4, 5)
    assert tuple(nn.Flatten()(x).shape) == (2, 60) and tuple(nn.Flatten(1, 2)(x).shape) == (2, 12, 5)
    assert tuple(nn.Unflatten(1, (3, -1, 5))(nn.Flatten()(x)).shape) == (2, 3, 4, 5)
    assert tuple(nn.Flatten(0)(keyway.tensor(1.0)).shape) == (1,)
    with pytest.raises(ValueError, match="does not fit 60 elements"):
        nn.Unflatten(1, (7, 7))(nn.Flatten()(x))


@pytest.mark.parametrize("layer, text, values", [
    (nn.ELU(0.5), "ELU(alpha=0.5)", [0.5 * math.expm1(-2), 0.25, 3.0]),
    (nn.CELU(2.0, inplace=True), "CELU(alpha=2.0, inplace=True)", [2 * math.expm1(-1), 0.25, 3.0]),
    (nn.SELU(), "SELU()", [1.0507009874 * 1.6732632423 * math.expm1(-2), 0.2626752, 3.152103]),
    (nn.Mish(), "Mish()", [-2 * math.tanh(math.log1p(math.exp(-2))), 0.25 * math.tanh(math.log1p(math.exp(0.25))),
                           3 * math.tanh(math.log1p(math.exp(3)))]),
    (nn.Hardswish(inplace=True), "Hardswish()", [-1 / 3, 0.25 * 3.25 / 6, 3.0]),
    (nn.Threshold(0.5, 7.0), "Threshold(threshold=0.5, value=7.0)", [7.0, 7.0, 3.0]),
    (nn.Softplus(2, 5), "Softplus(beta=2, threshold=5)", [math.log1p(math.exp(-4)) / 2,
                                                          math.log1p(math.exp(0.5)) / 2, 3]),
    (nn.Hardshrink(0.25), "Hardshrink(0.25)", [-2.0, 0.0, 3.0]),
    (nn.Softshrink(0.5), "Softshrink(0.5)", [-1.5, 0.0, 2.5]),
    (nn.PReLU(), "PReLU(num_parameters=1)", [-0.5, 0.25, 3.0]),
])
def test_activations_by_hand(layer, text, values):
    x = keyway.tensor([-2.0, 0.25, 3.0])
    y = layer(x)
    assert y.tolist() == pytest.approx(values, rel=1e-6) and repr(layer) == text
    assert x.tolist() == (y.tolist() if getattr(layer, "inplace", False) else [-2.0, 0.25, 3.0])


def test_prelu_learns_a_weight_for_each_channel():
    layer = nn.PReLU(2, init=0.5, dtype=keyway.float64)
    x = keyway.tensor([[[-1.0, 2.0], [-3.0, -4.0]]], dtype=keyway.float64)
    y = layer(x)
    y.sum().backward()
    assert y.tolist() == [[[-0.5, 2.0], [-1.5, -2.0]]] and layer.weight.grad.tolist() == [-1.0, -7.0]


def test_glu_and_softmax2d_work_over_channels():
    x = keyway.tensor([[1.0, 2.0, 0.0, 0.0]])
    assert nn.GLU()(x).tolist() == [[0.5, 1.0]] and repr(nn.GLU(1)) == "GLU(dim=1)"
    assert nn.Softmax2d()(keyway.zeros(4, 1, 2)).tolist() == [[[0.25, 0.25]]] * 4
    with pytest.raises(ValueError, match="the input has 3 or 4 dimensions, not 2"):
        nn.Softmax2d()(x)


def test_cosine_similarity_is_that_of_directions():
    a, b = keyway.tensor([[3.0, 4.0], [0.0, 0.0]], requires_grad=True), keyway.tensor([[5.0, 0.0], [1.0, 1.0]])
    y = nn.CosineSimilarity()(a, b)
    y.sum().backward()
    assert y.tolist() == pytest.approx([0.6, 0.0])
    assert a.grad[0].tolist() == pytest.approx([0.128, -0.096]) and all(math.isfinite(g) for g in a.grad[1].tolist())


def test_losses_by_hand():
    logits = keyway.tensor([[0.0, math.log(3)]])
    target = keyway.tensor([1])
    assert nn.CrossEntropyLoss()(logits, target).item() == pytest.approx(math.log(4 / 3))
    assert nn.NLLLoss(reduction="none")(nn.LogSoftmax(1)(logits), target).tolist() == pytest.approx([math.log(4 / 3)])
    a, b = keyway.tensor([0.0, 3.0]), keyway.tensor([0.5, 1.0])
    assert nn.MSELoss()(a, b).item() == pytest.approx(2.125)
    assert nn.L1Loss(reduction="sum")(a, b).item() == pytest.approx(2.5)
    assert nn.SmoothL1Loss()(a, b).item() == pytest.approx((0.125 + 1.5) / 2)
    assert nn.HuberLoss(delta=0.5)(a, b).item() == pytest.approx((0.125 + 0.875) / 2)
    assert nn.BCEWithLogitsLoss()(keyway.zeros(3), keyway.ones(3)).item() == pytest.approx(math.log(2))
    half = keyway.full((2, 2), 0.5)
    assert nn.KLDivLoss(reduction="batchmean")(half.log(), half).item() == pytest.approx(0)
    assert "weight" in nn.CrossEntropyLoss(keyway.ones(2)).state_dict()


def test_an_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="'all' is not a valid value for reduction"):
        nn.MSELoss(reduction="all")(keyway.ones(1), keyway.ones(1))


def test_initial_values_have_the_spread_they_promise():
    keyway.manual_seed(2)
    w = keyway.empty(200, 300)
    for fill, variance in ((lambda: nn.init.xavier_uniform_(w), 2 / 500),
                           (lambda: nn.init.xavier_normal_(w, 2), 8 / 500),
                           (lambda: nn.init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu"), 2 / 200),
                           (lambda: nn.init.kaiming_uniform_(w, a=1), 1 / 300), (lambda: nn.init.normal_(w, 0, 3), 9)):
        assert fill() is w
        assert w.square().mean().item() == pytest.approx(variance, rel=0.03)
    nn.init.trunc_normal_(w, std=2.0, a=-1, b=1.5)
    assert -1 <= w.reshape(-1).neg().amax().neg().item() and w.reshape(-1).amax().item() <= 1.5
    with pytest.raises(ValueError, match="do not fall into"):
        nn.init.trunc_normal_(w, a=7, b=9)


def test_orthogonal_rows_are_orthonormal():
    keyway.manual_seed(3)
    w = nn.init.orthogonal_(keyway.empty(4, 3, 2), gain=2)
    product = w.reshape(4, 6).matmul(w.reshape(4, 6).t())
    for i, row in enumerate(product.tolist()):
        assert row == pytest.approx([4.0 if i == j else 0.0 for j in range(4)], abs=1e-5)


def test_initial_values_record_nothing():
    weight = nn.Parameter(keyway.empty(2, 2))
    assert nn.init.eye_(weight) is weight and weight.is_leaf and weight.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert nn.init.constant_(weight, 3.0).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_normal_(keyway.empty(3))
    with pytest.raises(ValueError, match="Unsupported nonlinearity swish"):
        nn.init.calculate_gain("swish")


def test_gradients_are_clipped_together():
    weights = [nn.Parameter(keyway.zeros(1)), nn.Parameter(keyway.zeros(2)), nn.Parameter(keyway.zeros(2))]
    weights[0].grad, weights[1].grad = keyway.tensor([3.0]), keyway.tensor([0.0, 4.0])
    assert nn.utils.clip_grad_norm_(weights, 1.0).item() == pytest.approx(5)
    assert weights[1].grad.tolist() == pytest.approx([0, 0.8], rel=1e-5)
    assert nn.utils.clip_grad_norm_(weights, 7.0, norm_type=math.inf).item() == pytest.approx(0.8)
    assert weights[1].grad.tolist() == pytest.approx([0, 0.8], rel=1e-5)
    nn.utils.clip_grad_value_(weights, 0.5)
    assert weights[0].grad.item() == pytest.approx(0.5) and weights[1].grad.tolist() == [0.0, 0.5]
    weights[0].grad = keyway.tensor([math.inf])
    with pytest.raises(keyway.Error, match="the total norm of order 2.0 is inf"):
        nn.utils.clip_grad_norm_(weights, 1.0, error_if_nonfinite=True)


def test_parameters_become_one_vector_and_come_back():
    layer = filled(nn.Linear(2, 2))
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.tolist() == pytest.approx([0, 0.1, 0.2, 0.3, 0, 0.1])
    nn.utils.vector_to_parameters(keyway.arange(6, dtype=keyway.float32), layer.parameters())
    assert layer.weight.tolist() == [[0.0, 1.0], [2.0, 3.0]] and layer.bias.tolist() == [4.0, 5.0]
    with pytest.raises(keyway.Error, match=r"the vector has shape \[5\], but the parameters have 6 elements"):
        nn.utils.vector_to_parameters(keyway.ones(5), layer.parameters())
    assert layer.weight.tolist() == [[0.0, 1.0], [2.0, 3.0]]


@pytest.mark.parametrize("layer, text, expected", [
    (nn.ConstantPad1d((1, 2), 5.0), "ConstantPad1d(padding=(1, 2), value=5.0)", [5.0, 1.0, 2.0, 4.0, 5.0, 5.0]),
    (nn.ReflectionPad1d(2), "ReflectionPad1d((2, 2))", [4.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0]),
    (nn.ReplicationPad1d((0, -1)), "ReplicationPad1d((0, -1))", [1.0, 2.0])])
def test_borders_of_one_dimension_by_hand(layer, text, expected):
    x = keyway.tensor([[1.0, 2.0, 4.0]])
    assert layer(x).tolist() == [expected] and layer(x.unsqueeze(0)).tolist() == [[expected]] and repr(layer) == text


def test_borders_of_more_dimensions_are_those_of_each():
    x = keyway.arange(24.0).reshape(1, 2, 3, 4)
    assert nn.ReflectionPad2d((1, 2, 0, 2))(x)[0, 1, 4].tolist() == [13, 12, 13, 14, 15, 14, 13]
    assert nn.ReplicationPad2d((1, 0, 2, 1))(x)[0, 0].tolist()[0] == [0, 0, 1, 2, 3]
    assert repr(nn.ZeroPad2d(1)) == "ZeroPad2d((1, 1, 1, 1))" and nn.ZeroPad2d(1)(x).sum().item() == x.sum().item()
    assert nn.ZeroPad1d((0, 1))(x[0]).shape == (2, 3, 5) and repr(nn.ZeroPad1d(1)) == "ZeroPad1d((1, 1))"
    assert nn.CircularPad2d((1, 0, 0, 1))(x)[0, 0, 3].tolist() == [3, 0, 1, 2, 3]
    assert nn.CircularPad1d((1, 1))(x[0])[1, 0].tolist() == [15, 12, 13, 14, 15, 12]
    volume = x.reshape(1, 1, 2, 3, 4)
    assert nn.ZeroPad3d(1)(volume).shape == nn.CircularPad3d(1)(volume).shape == (1, 1, 4, 5, 6)
    assert nn.ReflectionPad3d(1)(volume).shape == (1, 1, 4, 5, 6) == nn.ReplicationPad3d(1)(volume).shape
    assert nn.ConstantPad3d((0, 0, 0, 0, 1, 0), 7.0)(volume)[0, 0, 0, 0, 0].item() == 7
    assert nn.ReflectionPad3d(1)(volume)[0, 0, 0].tolist() == nn.ReflectionPad2d(1)(x)[0, 1].tolist()
    assert nn.ReplicationPad3d(1)(volume)[0, 0, 0].tolist() == nn.ReplicationPad2d(1)(x)[0, 0].tolist()
    with pytest.raises(keyway.Error, match="a reflection of dimension 3, size 4, is shorter than it"):
        nn.ReflectionPad2d((4, 0, 0, 0))(x)


def test_instance_norm_is_batch_norm_of_each_sample():
    keyway.manual_seed(5)
    x = keyway.randn(3, 2, 4)
    layer = nn.InstanceNorm1d(2, affine=True, track_running_stats=True)
    layer.weight.detach().copy_(keyway.tensor([2.0, 0.5]))
    each = keyway.cat([keyway.nn.functional.batch_norm(row.unsqueeze(0), None, None, layer.weight, layer.bias, True)
                       for row in x])
    keyway.testing.assert_close(layer(x), each)
    keyway.testing.assert_close(layer.running_mean, x.mean(2).mean(0).mul(0.1))
    keyway.testing.assert_close(layer.running_var, x.var(2).mean(0).mul(0.1).add(0.9))
    layer.eval()
    scale = layer.running_var.add(1e-5).rsqrt().mul(layer.weight)
    keyway.testing.assert_close(layer(x), x.sub(layer.running_mean.reshape(2, 1)).mul(scale.reshape(2, 1)))
    keyway.testing.assert_close(layer(x[0]), layer(x)[0])
    plain = nn.InstanceNorm2d(2)
    assert not list(plain.parameters()) and not plain.state_dict()
    keyway.testing.assert_close(plain.eval()(x.unsqueeze(3)).squeeze(3), nn.InstanceNorm1d(2)(x))
    with pytest.raises(ValueError, match="Expected more than 1 spatial element"):
        nn.InstanceNorm1d(2)(x[:, :, :1])
    with pytest.raises(ValueError, match="expected an input of 2 or 3 dimensions, got 4"):
        nn.InstanceNorm1d(2)(x.unsqueeze(3))


def test_batch_norm_of_narrow_floats_is_computed_in_float32():
    keyway.manual_seed(5)
    x, layer = keyway.randn(64, 3, dtype=keyway.bfloat16).add(30), nn.BatchNorm1d(3)
    y = layer(x)
    exact = nn.BatchNorm1d(3)(x.float())
    assert y.dtype is keyway.bfloat16
    keyway.testing.assert_close(y.float(), exact.detach(), rtol=1e-2, atol=1e-2)
    result, mean, rstd = keyway._C._native_batch_norm_legit(x, layer.weight, layer.bias, True, 0.1, 1e-5)
    assert mean.dtype is keyway.float32 and rstd.dtype is keyway.float32
    result, mean, rstd = keyway._C._native_batch_norm_legit(x, None, None, True, 0.1, 1e-5)
    assert mean.dtype is keyway.bfloat16


def test_the_backward_operator_of_group_norm_is_its_gradient():
    keyway.manual_seed(6)
    x, weight = (keyway.randn(*shape, dtype=keyway.float64, requires_grad=True) for shape in ((2, 4, 3), (4,)))
    bias = keyway.zeros(4, dtype=keyway.float64, requires_grad=True)
    grad = keyway.randn(2, 4, 3, dtype=keyway.float64)
    y, mean, rstd = keyway._C.native_group_norm(x, weight, bias, 2, 4, 3, 2, 1e-5)
    wanted = keyway.autograd.grad(y, (x, weight, bias), grad)
    with keyway.no_grad():
        given = keyway._C.native_group_norm_backward(grad, x, mean, rstd, weight, 2, 4, 3, 2, [True] * 3)
        some = keyway._C.native_group_norm_backward(grad, x, mean, rstd, weight, 2, 4, 3, 2, [False, True, False])
    for a, b in zip(given, wanted):
        keyway.testing.assert_close(a, b)
    assert some[0] is None and some[2] is None


def test_local_response_norm_divides_by_neighbouring_channels():
    x = keyway.tensor([[[1.0], [2.0], [3.0], [4.0]]])
    sums = [1 + 4, 1 + 4 + 9, 4 + 9 + 16, 9 + 16]
    expected = [v / (2 + 0.5 * s / 3) ** 0.75 for v, s in zip([1, 2, 3, 4], sums)]
    layer = nn.LocalResponseNorm(3, alpha=0.5, k=2.0)
    assert layer(x).reshape(-1).tolist() == pytest.approx(expected)
    assert repr(layer) == "LocalResponseNorm(3, alpha=0.5, beta=0.75, k=2.0)"
    assert layer(x.reshape(1, 4, 1, 1, 1)).reshape(-1).tolist() == pytest.approx(expected)
    with pytest.raises(ValueError, match="Expected 3D or higher"):
        layer(x[0])


def test_pooling_by_powers_and_adaptive_maxima_by_hand():
    x = keyway.tensor([[[3.0, 4.0, 6.0, 8.0, 0.0]]])
    assert nn.LPPool1d(2, 2)(x).tolist() == [[pytest.approx([5.0, 10.0])]]
    assert nn.LPPool2d(1, (1, 2), stride=1)(x).tolist() == [[[7.0, 10.0, 14.0, 8.0]]]
    values, indices = nn.AdaptiveMaxPool1d(3, return_indices=True)(x)
    assert values.tolist() == [[[4.0, 8.0, 8.0]]] and indices.tolist() == [[[1, 3, 3]]]
    image = keyway.arange(12.0).reshape(1, 3, 4)
    values, indices = nn.AdaptiveMaxPool2d((None, 2), return_indices=True)(image)
    assert values.tolist() == [[[1, 3], [5, 7], [9, 11]]] and indices.tolist() == [[[1, 3], [5, 7], [9, 11]]]
    assert nn.AdaptiveMaxPool3d(1)(image.unsqueeze(0)).tolist() == [[[[11.0]]]]
    assert nn.AdaptiveMaxPool1d(0)(x).shape == (1, 1, 0)
    with pytest.raises(keyway.Error, match="adaptive_max_pool1d: requires all"):
        nn.AdaptiveMaxPool1d(1)(x[:, :, :0])


def test_fractional_pooling_spreads_windows_by_samples():
    x = keyway.tensor([[[1.0, 2.0, 3.0, 4.0], [8.0, 7.0, 6.0, 5.0]]])
    samples = keyway.tensor([[[0.5, 0.1]]])
    values, indices = F.fractional_max_pool2d(x, 1, (2, 3), return_indices=True, _random_samples=samples)
    assert values.tolist() == [[[1, 3, 4], [8, 6, 5]]] and indices.tolist() == [[[0, 2, 3], [4, 6, 7]]]
    volume = keyway.rand(2, 3, 5, 6, 7, requires_grad=True)
    values, indices = nn.FractionalMaxPool3d(2, output_ratio=0.5, return_indices=True)(volume)
    assert values.shape == (2, 3, 2, 3, 3)
    keyway.testing.assert_close(volume.flatten(2).gather(2, indices.flatten(2)), values.flatten(2))
    values.sum().backward()
    assert volume.grad.sum().item() == values.numel()
    with pytest.raises(ValueError, match="either an output size"):
        nn.FractionalMaxPool2d(2)
    with pytest.raises(ValueError, match="between 0 and 1"):
        nn.FractionalMaxPool2d(2, output_ratio=1.5)
    with pytest.raises(keyway.ValueError, match="neither"):
        F.fractional_max_pool2d(x, 1)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_unpooling_puts_maxima_back(dims):
    x = keyway.rand(2, 3, *(6, 4, 8)[:dims]) + 1
    values, indices = getattr(nn, f"MaxPool{dims}d")(2, return_indices=True)(x)
    unpool = getattr(nn, f"MaxUnpool{dims}d")(2)
    back = unpool(values, indices)
    assert back.shape == x.shape and keyway.equal(back, keyway.where(back == x, x, 0))
    assert back.count_nonzero().item() == values.numel()
    assert unpool(values, indices, output_size=x.shape).shape == x.shape
    longer = [n + 1 for n in x.shape[2:]]
    assert unpool(values, indices, output_size=longer).shape[2:] == tuple(longer)
    assert repr(unpool) == f"MaxUnpool{dims}d(kernel_size={(2,) * dims}, stride={(2,) * dims}, padding={(0,) * dims})"


def test_what_unpooling_refuses():
    values, indices = nn.MaxPool2d(2, return_indices=True)(keyway.rand(1, 4, 4))
    with pytest.raises(keyway.ValueError, match="output_size is"):
        F.max_unpool2d(values, indices, 2, output_size=(6, 4))
    with pytest.raises(keyway.ValueError, match="has 1 sizes"):
        F.max_unpool2d(values, indices, 2, output_size=(4,))
    with pytest.raises(keyway.ValueError, match="kernel_size 3 numbers"):
        F.max_unpool3d(values[0], indices[0], 2)
    with pytest.raises(keyway.Error, match="indices"):
        F.max_unpool2d(values, indices.int(), 2)


def test_alpha_dropout_keeps_mean_and_variance():
    keyway.manual_seed(2)
    x, layer = keyway.randn(20000), nn.AlphaDropout(0.3)
    y = layer(x)
    assert abs(y.mean().item()) < 0.03 and y.std().item() == pytest.approx(1, abs=0.03)
    assert layer.eval()(x) is x
    channels = nn.FeatureAlphaDropout(0.5)(keyway.ones(50, 4, 3)).reshape(200, 3)
    assert all(row[0] == row[1] == row[2] for row in channels.tolist()) and len(set(channels[:, 0].tolist())) == 2
    assert keyway.nn.functional.alpha_dropout(x, 1.0, True).abs().sum().item() == 0


def test_random_leaky_relu_draws_slopes_while_training():
    keyway.manual_seed(2)
    layer, x = nn.RReLU(0.1, 0.3), keyway.tensor([-1.0] * 100 + [2.0], requires_grad=True)
    y = layer(x)
    y.sum().backward()
    slopes = [-v for v in y.tolist()[:100]]
    assert all(0.1 <= s <= 0.3 for s in slopes) and len(set(slopes)) > 50 and y[100].item() == 2
    assert x.grad.tolist() == pytest.approx([*slopes, 1.0])
    assert layer.eval()(x)[0].item() == pytest.approx(-0.2) and repr(layer) == "RReLU(lower=0.1, upper=0.3)"
    with pytest.raises(keyway.Error, match="Lower bound"):
        nn.RReLU(2, 1)(x)


def test_gumbel_softmax_draws_classes_by_their_odds():
    keyway.manual_seed(2)
    logits = keyway.tensor([1.0, 3.0]).log().expand(4000, 2).clone().requires_grad_()
    hard = keyway.nn.functional.gumbel_softmax(logits, hard=True)
    assert sorted(set(hard.detach().round().reshape(-1).tolist())) == [0, 1]
    assert hard.mean(0)[1].item() == pytest.approx(0.75, abs=0.03)
    hard[:, 0].sum().backward()
    assert logits.grad.abs().sum().item() > 0
    soft = keyway.nn.functional.gumbel_softmax(logits, tau=0.5, dim=0)
    assert soft.sum(0).tolist() == pytest.approx([1, 1], rel=1e-4)


def test_distances_by_hand():
    a, b = keyway.tensor([[0.0, 0.0], [1.0, 1.0]]), keyway.tensor([[3.0, 4.0], [1.0, 1.0]])
    assert nn.PairwiseDistance(eps=0)(a, b).tolist() == [5.0, 0.0]
    assert nn.PairwiseDistance(1, eps=0, keepdim=True)(a, b).tolist() == [[7.0], [0.0]]
    rows = keyway.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 4.0], [3.0, 0.0]])
    assert keyway.nn.functional.pdist(rows).tolist() == [5.0, 4.0, 3.0, 3.0, 4.0, 5.0]
    assert keyway.pdist(rows, 0).tolist() == [2, 1, 1, 1, 1, 2] and keyway.pdist(rows, math.inf)[0].item() == 4
    assert keyway.pdist(rows[:1]).shape == (0,) == keyway.pdist(rows[:0]).shape
    assert keyway.pdist(rows[:, :0]).tolist() == [0.0] * 6
    with pytest.raises(keyway.Error, match="requires p >= 0"):
        keyway.pdist(rows, -1)


@pytest.mark.parametrize("make", [
    lambda **o: nn.BatchNorm1d(2, **o), lambda **o: nn.InstanceNorm1d(2, affine=True, **o),
    lambda **o: nn.GroupNorm(1, 2, **o), lambda **o: nn.LazyBatchNorm1d(**o),
])
def test_normalisation_may_have_a_weight_and_no_bias(make):
    layer = make(bias=False)
    x = keyway.arange(12.0).reshape(2, 2, 3)
    assert layer(x).tolist() == make()(x).tolist()
    assert layer.bias is None and list(dict(layer.named_parameters())) == ["weight"] and "bias=False" in repr(layer)


def test_hardtanh_takes_its_old_names():
    with pytest.warns(FutureWarning, match="min_value and max_value"):
        assert nn.Hardtanh(min_value=-2.0, max_value=0.5)(keyway.tensor([-3.0, 3.0])).tolist() == [-2.0, 0.5]


def test_dirac_keeps_as_many_channels_as_there_are():
    layer = nn.Conv1d(2, 3, 3, padding=1, bias=False)
    nn.init.dirac_(layer.weight)
    x = keyway.arange(8.0).reshape(1, 2, 4)
    assert layer(x)[0].tolist() == [*x[0].tolist(), [0.0] * 4]
    weight = nn.init.dirac_(keyway.ones(4, 2, 1), groups=2)
    assert weight.reshape(4, 2).tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    with pytest.raises(ValueError, match="3, 4, or 5 dimensions"):
        nn.init.dirac_(keyway.ones(2, 2))


def test_sparse_zeroes_a_part_of_each_column():
    weight = nn.init.sparse_(keyway.ones(10, 4), 0.35, std=2.0)
    assert weight.eq(0).sum(0).tolist() == [4] * 4


def test_initial_values_of_nothing_are_warned_of():
    with pytest.warns(UserWarning, match="no-op"):
        nn.Linear(0, 3)


def test_layers_of_complex_numbers_begin_uniform_in_both_parts():
    weight = nn.Linear(16, 64, dtype=keyway.complex64).weight.detach()
    for part in (weight.real, weight.imag):
        assert 0.2 < part.abs().max().item() <= 0.25 and part.min().item() < 0 < part.max().item()
