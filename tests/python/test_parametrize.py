"""keyway.nn.utils: parametrizations, weight and spectral normalisation, fused batch normalisation."""

import copy
import pickle

import keyway
import pytest
from keyway import nn
from keyway.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).t()

    def right_inverse(self, x):
        return x.triu()


class Exponential(nn.Module):
    def forward(self, x):
        return x.exp()


class FirstRow(nn.Module):
    def forward(self, x):
        return x[:1]


def make_layer():
    layer = nn.Linear(2, 2)
    with keyway.no_grad():
        layer.weight.copy_(keyway.tensor([[1.0, 2.0], [3.0, 4.0]]))
        layer.bias.zero_()
    return layer


def values(tensor):
    return [round(x, 5) for x in tensor.detach().reshape(-1).tolist()]


def test_a_parametrized_weight_is_computed_from_the_original_and_trains_it():
    layer = parametrize.register_parametrization(make_layer(), "weight", Symmetric())
    assert values(layer.weight) == [1.0, 2.0, 2.0, 4.0]
    assert values(layer(keyway.tensor([1.0, 1.0]))) == [3.0, 6.0]
    assert sorted(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    layer.weight.sum().backward()
    assert values(layer.parametrizations.weight.original.grad) == [1.0, 2.0, 0.0, 1.0]


def test_an_assignment_goes_through_right_inverse():
    layer = parametrize.register_parametrization(make_layer(), "weight", Symmetric())
    layer.weight = keyway.tensor([[5.0, 6.0], [6.0, 7.0]])
    assert values(layer.parametrizations.weight.original) == [5.0, 6.0, 0.0, 7.0]
    parametrize.register_parametrization(layer, "bias", Exponential())
    with pytest.raises(keyway.Error, match="Exponential does not implement right_inverse"):
        layer.bias = keyway.ones(2)


def test_parametrizations_of_one_tensor_are_called_in_order():
    layer = parametrize.register_parametrization(make_layer(), "bias", Exponential())
    parametrize.register_parametrization(layer, "bias", Exponential())
    assert values(layer.bias) == [2.71828, 2.71828]
    assert len(layer.parametrizations.bias) == 2


def test_without_parametrizations_the_tensor_and_the_class_are_plain_again():
    layer = parametrize.register_parametrization(make_layer(), "weight", Symmetric())
    assert type(layer).__name__ == "ParametrizedLinear" and parametrize.is_parametrized(layer, "weight")
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and not parametrize.is_parametrized(layer)
    assert isinstance(layer.weight, nn.Parameter) and values(layer.weight) == [1.0, 2.0, 2.0, 4.0]
    parametrize.register_parametrization(layer, "weight", FirstRow(), unsafe=True)
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert values(layer.weight) == [1.0, 2.0, 2.0, 4.0]


def test_a_copy_keeps_its_parametrizations_when_the_first_loses_them():
    layer = parametrize.register_parametrization(make_layer(), "weight", Symmetric())
    other = copy.deepcopy(layer)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(other).__name__ == "ParametrizedLinear" and values(other.weight) == [1.0, 2.0, 2.0, 4.0]
    assert other.parametrizations.weight.original is not layer.weight


def test_within_cached_a_tensor_is_computed_once():
    layer = parametrize.register_parametrization(make_layer(), "weight", Symmetric())
    assert layer.weight is not layer.weight
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight


def test_what_cannot_be_parametrized_is_refused():
    layer = make_layer()
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(layer, "weight", FirstRow())
    with pytest.raises(ValueError, match="with name 'none'"):
        parametrize.register_parametrization(layer, "none", FirstRow())
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and sorted(layer.state_dict()) == ["bias", "weight"]
    parametrize.register_parametrization(layer, "weight", Symmetric())
    with pytest.raises(keyway.Error, match="only supported through state_dict"):
        pickle.dumps(layer)


def test_parametrizations_go_over_to_another_module_with_copies():
    layer = parametrize.register_parametrization(make_layer(), "weight", Symmetric())
    other = parametrize.transfer_parametrizations_and_params(layer, nn.Linear(2, 2))
    assert values(other.weight) == [1.0, 2.0, 2.0, 4.0]
    assert other.parametrizations.weight.original is not layer.parametrizations.weight.original


def test_weight_norm_is_length_times_direction_in_both_forms():
    new = parametrizations.weight_norm(make_layer())
    old = nn.utils.weight_norm(make_layer())
    for g, v in ((new.parametrizations.weight.original0, new.parametrizations.weight.original1),
                 (old.weight_g, old.weight_v)):
        assert g.shape == (2, 1) and values(g) == [2.23607, 5.0]
        with keyway.no_grad():
            g.fill_(10.0)
            v.mul_(7)
    old(keyway.ones(2))
    assert values(new.weight) == values(old.weight) == [4.47214, 8.94427, 6.0, 8.0]
    assert "weight" not in dict(old.named_parameters())


def test_the_new_weight_norm_loads_what_the_old_one_saved():
    old = nn.utils.weight_norm(make_layer(), dim=None)
    new = parametrizations.weight_norm(nn.Linear(2, 2), dim=None)
    assert old.weight_g.shape == () and values(old.weight_g) == [5.47723]
    new.load_state_dict(old.state_dict())
    assert values(new.weight) == [1.0, 2.0, 3.0, 4.0]


def test_remove_weight_norm_leaves_a_parameter_of_the_same_value():
    layer = nn.utils.weight_norm(make_layer())
    with pytest.raises(keyway.Error, match="Cannot register two weight_norm hooks"):
        nn.utils.weight_norm(layer)
    nn.utils.remove_weight_norm(layer)
    assert values(layer.weight) == [1.0, 2.0, 3.0, 4.0] and sorted(layer.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        nn.utils.remove_weight_norm(layer)


# The singular values of [[1, 2], [3, 4]] are the roots of x^4 - 30 x^2 + 4.
GREATEST = 5.46499


def test_spectral_norm_divides_by_the_greatest_singular_value():
    new = parametrizations.spectral_norm(make_layer())
    old = nn.utils.spectral_norm(make_layer(), n_power_iterations=20)
    old(keyway.ones(2))
    expected = [x / GREATEST for x in (1.0, 2.0, 3.0, 4.0)]
    assert values(new.weight) == pytest.approx(expected, abs=2e-5)
    assert values(old.weight) == pytest.approx(expected, abs=2e-5)
    assert sorted(new.state_dict()) == ["bias", "parametrizations.weight.0._u", "parametrizations.weight.0._v",
                                        "parametrizations.weight.original"]
    assert sorted(old.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]


def test_spectral_norm_iterates_while_training_only():
    layer = nn.utils.spectral_norm(nn.ConvTranspose1d(3, 2, 4))
    assert layer.weight_u.shape == (2,) and layer.weight_v.shape == (12,)
    before = values(layer.weight_u)
    layer.eval()(keyway.ones(1, 3, 5))
    assert values(layer.weight_u) == before
    layer.train()(keyway.ones(1, 3, 5))
    assert values(layer.weight_u) != before
    nn.utils.remove_spectral_norm(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight"]


def make_norm():
    norm = nn.BatchNorm1d(2)
    with keyway.no_grad():
        norm.running_mean.copy_(keyway.tensor([1.0, -2.0]))
        norm.running_var.copy_(keyway.tensor([4.0, 0.25]))
        norm.weight.copy_(keyway.tensor([3.0, 0.5]))
        norm.bias.copy_(keyway.tensor([0.0, 10.0]))
    return norm.eval()


def test_a_fused_layer_computes_layer_and_normalisation():
    layer, norm = make_layer().eval(), make_norm()
    fused = nn.utils.fuse_linear_bn_eval(layer, norm)
    # (w x - mean) / sqrt(var) * weight + bias, with deviations of 2 and 0.5
    assert fused.weight.tolist() == [pytest.approx([1.5, 3.0], rel=1e-4), pytest.approx([3.0, 4.0], rel=1e-4)]
    assert fused.bias.tolist() == pytest.approx([-1.5, 12.0], rel=1e-4)
    conv = nn.Conv1d(2, 2, 1, bias=False).eval()
    with keyway.no_grad():
        conv.weight.copy_(layer.weight.unsqueeze(-1))
    fused = nn.utils.fuse_conv_bn_eval(conv, norm)
    assert values(fused.weight) == pytest.approx([1.5, 3.0, 3.0, 4.0], rel=1e-4)
    assert values(layer.weight) == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match="only for modules in evaluation mode"):
        nn.utils.fuse_conv_bn_eval(conv.train(), norm)
