"""Layers and functions of keyway.nn that have no file of their own."""

import math

import keyway
import keyway.nn.functional as F
import pytest
from keyway import nn


def test_the_adaptive_softmax_is_a_distribution_over_all_classes():
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2.0, head_bias=True)
    assert sorted(layer.state_dict()) == ["head.bias", "head.weight", "tail.0.0.weight", "tail.0.1.weight",
                                          "tail.1.0.weight", "tail.1.1.weight"]
    assert layer.tail[1][0].weight.shape == (2, 8) and layer.tail[1][1].weight.shape == (5, 2)
    x, target = keyway.randn(6, 8), keyway.tensor([0, 2, 3, 6, 7, 11])
    log_probs = layer.log_prob(x)
    keyway.testing.assert_close(log_probs.exp().sum(1), keyway.ones(6))
    output, loss = layer(x, target)
    keyway.testing.assert_close(output, log_probs[keyway.arange(6), target])
    assert loss.item() == pytest.approx(-output.mean().item())
    assert layer.predict(x).tolist() == log_probs.argmax(1).tolist()
    assert layer(x[3], target[3]).output.item() == pytest.approx(output[3].item())


def test_the_adaptive_softmax_refuses_what_does_not_fit():
    for cutoffs in ([], [5, 3], [0, 3], [3, 12], [3, 3]):
        with pytest.raises(ValueError, match="cutoffs should be a sequence"):
            nn.AdaptiveLogSoftmaxWithLoss(8, 12, cutoffs)
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3])
    with pytest.raises(IndexError, match=r"Target values should be in \[0, 11\]"):
        layer(keyway.ones(1, 8), keyway.tensor([12]))
    with pytest.raises(ValueError, match="same size in the batch dimension"):
        layer(keyway.ones(2, 8), keyway.tensor([1]))


def test_cross_map_normalisation_divides_by_the_squares_of_the_channels_around():
    x = keyway.tensor([1.0, 2.0, 3.0, 4.0]).reshape(1, 4, 1, 1)
    result = nn.CrossMapLRN2d(3, alpha=3.0, beta=0.5, k=1.0)(x)
    sums = [1 + 4, 1 + 4 + 9, 4 + 9 + 16 + 1, 9 + 16 + 1]  # the first channel counts for all behind it
    assert result.reshape(-1).tolist() == pytest.approx([v / math.sqrt(1 + s) for v, s in zip((1, 2, 3, 4), sums)])
    assert repr(nn.CrossMapLRN2d(3)) == "CrossMapLRN2d(3, alpha=0.0001, beta=0.75, k=1)"


def test_older_names_warn_and_compute_the_same():
    x = keyway.arange(4.0).reshape(1, 1, 2, 2)
    with pytest.warns(UserWarning, match="Use `nn.functional.interpolate`"):
        assert F.upsample(x, scale_factor=2).tolist() == F.interpolate(x, scale_factor=2).tolist()
    with pytest.warns(UserWarning, match="upsample_nearest"):
        assert F.upsample_nearest(x, 3).shape == (1, 1, 3, 3)
    with pytest.warns(UserWarning, match="upsample_bilinear"):
        assert F.upsample_bilinear(x, 3)[0, 0].tolist() == [[0.0, 0.5, 1.0], [1.0, 1.5, 2.0], [2.0, 2.5, 3.0]]
    with pytest.warns(FutureWarning, match="NLLLoss2d has been deprecated"):
        loss = nn.NLLLoss2d()
    assert loss(x.neg(), keyway.zeros(1, 2, 2, dtype=keyway.int64)).item() == 1.5


def test_pools_with_indices_have_these_whatever_is_asked():
    x = keyway.tensor([[[1.0, 4.0, 2.0, 3.0]]])
    values, indices = F.adaptive_max_pool1d_with_indices(x, 2, False)
    assert (values.tolist(), indices.tolist()) == ([[[4.0, 3.0]]], [[[1, 3]]])
    assert len(F.fractional_max_pool2d_with_indices(keyway.ones(1, 1, 4, 4), 2, output_size=2)) == 2


def test_rrelu_changes_its_input_in_place():
    x = keyway.tensor([-8.0, 2.0])
    assert F.rrelu_(x, 0.25, 0.75) is x and x.tolist() == [-4.0, 2.0]


def test_a_convolution_over_time_has_its_channels_last():
    x = keyway.tensor([1.0, 2.0, 3.0]).reshape(3, 1, 1)
    weight = keyway.tensor([10.0, 1.0]).reshape(2, 1, 1)
    assert keyway.conv_tbc(x, weight, keyway.tensor([0.5]), 1).reshape(-1).tolist() == [1.5, 12.5, 23.5, 30.5]


def test_norms_except_a_dimension():
    x = keyway.tensor([[3.0, 4.0], [6.0, 8.0]])
    assert keyway.norm_except_dim(x).tolist() == [[5.0], [10.0]]
    assert keyway.norm_except_dim(x, 1, 1).tolist() == [[9.0, 12.0]]
    assert keyway.norm_except_dim(x, 2, -1).item() == pytest.approx(math.sqrt(125))


def test_instance_norm_has_its_operators_order_of_arguments():
    x = keyway.randn(2, 3, 5)
    result = keyway.instance_norm(x, None, None, None, None, True, 0.1, 1e-5, True)
    keyway.testing.assert_close(result.mean(2), keyway.zeros(2, 3))


def test_texts_and_attributes_of_layers_are_what_users_of_pytorch_know():
    assert repr(nn.Upsample(scale_factor=2)) == "Upsample(scale_factor=2.0, mode='nearest')"
    assert repr(nn.LayerNorm(3)) == "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)"
    assert repr(nn.MultiheadAttention(4, 2).out_proj).startswith("NonDynamicallyQuantizableLinear(in_features=4")
    assert nn.ConvTranspose1d(1, 1, 1).transposed and not nn.Conv2d(1, 1, 1).transposed
