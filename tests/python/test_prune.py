"""keyway.nn.utils.prune: parameters some of whose elements are held at zero."""

import keyway
import pytest
from keyway import nn
from keyway.nn.utils import prune


def make_layer():
    layer = nn.Linear(3, 2)
    with keyway.no_grad():
        layer.weight.copy_(keyway.tensor([[1.0, -6.0, 3.0], [-2.0, 5.0, 4.0]]))
        layer.bias.copy_(keyway.tensor([0.5, -7.0]))
    return layer


def test_the_least_elements_are_held_at_zero_by_a_mask():
    layer = prune.l1_unstructured(make_layer(), "weight", 2)
    assert sorted(layer.state_dict()) == ["bias", "weight_mask", "weight_orig"] and prune.is_pruned(layer)
    assert layer.weight.tolist() == [[0, -6, 3], [0, 5, 4]]
    layer(keyway.ones(3)).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[0, 1, 1], [0, 1, 1]]
    with keyway.no_grad():
        layer.weight_orig.fill_(9.0)
    layer(keyway.ones(3))
    assert layer.weight.tolist() == [[0, 9, 9], [0, 9, 9]]


def test_pruning_again_prunes_of_what_is_left():
    layer = prune.l1_unstructured(make_layer(), "weight", 2)
    prune.l1_unstructured(layer, "weight", 0.5)
    assert layer.weight.tolist() == [[0, -6, 0], [0, 5, 0]]
    prune.ln_structured(layer, "weight", 1, n=1, dim=0)
    assert layer.weight.tolist() == [[0, -6, 0], [0, 0, 0]]


def test_whole_rows_or_columns_go_by_their_norm():
    layer = prune.ln_structured(make_layer(), "weight", amount=1, n=2, dim=1)
    assert layer.weight.tolist() == [[0, -6, 3], [0, 5, 4]]
    layer = prune.random_structured(make_layer(), "weight", amount=0.5, dim=0)
    assert sorted(layer.weight.abs().sum(1).gt(0).tolist()) == [False, True]
    with pytest.raises(ValueError, match="only be applied to multidimensional tensors"):
        prune.ln_structured(make_layer(), "bias", 1, 2, 0)


def test_scores_and_masks_can_be_given():
    scores = keyway.tensor([[9.0, 0.0, 9.0], [9.0, 9.0, 1.0]])
    assert prune.l1_unstructured(make_layer(), "weight", 2, scores).weight.tolist() == [[1, 0, 3], [-2, 5, 0]]
    layer = prune.custom_from_mask(make_layer(), "bias", keyway.tensor([0, 1]))
    assert layer.bias.tolist() == [0, -7]
    assert prune.identity(make_layer(), "bias").bias_mask.tolist() == [1, 1]


def test_several_parameters_are_pruned_as_one():
    layer = make_layer()
    prune.global_unstructured([(layer, "weight"), (layer, "bias")], prune.L1Unstructured, amount=3)
    assert layer.weight.tolist() == [[0, -6, 3], [0, 5, 4]] and layer.bias.tolist() == [0, -7]
    with pytest.raises(TypeError, match='Only "unstructured" PRUNING_TYPE supported'):
        prune.global_unstructured([(layer, "weight")], prune.RandomStructured, amount=1)


def test_without_pruning_the_parameter_keeps_its_zeros():
    layer = prune.random_unstructured(make_layer(), "weight", 0.5)
    original, values = layer.weight_orig, layer.weight.tolist()
    prune.remove(layer, "weight")
    assert layer.weight is original and layer.weight.tolist() == values and not prune.is_pruned(layer)
    assert sum(x == 0 for row in values for x in row) == 3
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(layer, "weight")


@pytest.mark.parametrize("amount", [7, 1.5, -1])
def test_amounts_that_are_none_are_refused(amount):
    with pytest.raises(ValueError, match=f"amount={amount} should"):
        prune.l1_unstructured(make_layer(), "weight", amount)
