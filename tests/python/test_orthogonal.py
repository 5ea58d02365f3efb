"""parametrizations.orthogonal: weights with orthonormal columns or rows."""

import math

import keyway
import pytest
from keyway import nn, optim
from keyway.nn.utils.parametrizations import orthogonal

MAPS = ["matrix_exp", "cayley", "householder"]


def check_is_orthogonal(weight):
    tall = weight if weight.size(-2) >= weight.size(-1) else weight.mT
    product = tall.mH @ tall
    keyway.testing.assert_close(product, keyway.eye(tall.size(-1), dtype=tall.dtype).expand_as(product), rtol=0, atol=1e-12)


@pytest.mark.parametrize("has_base", [True, False])
@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 5)])
def test_a_weight_is_orthogonal_before_and_after_training(kind, shape, has_base):
    keyway.manual_seed(0)
    layer = nn.Linear(shape[1], shape[0], bias=False, dtype=keyway.float64)
    begin = layer.weight.detach().clone()
    orthogonal(layer, orthogonal_map=kind, use_trivialization=has_base)
    check_is_orthogonal(layer.weight)
    if has_base or kind == "householder":  # the orthogonal factor of the weight: what is left of it has positive pivots
        tall, weight = (begin, layer.weight) if shape[0] >= shape[1] else (begin.mT, layer.weight.mT)
        R = weight.mT @ tall
        assert R.tril(-1).abs().max() < 1e-12 and (R.diagonal() > 0).all()
    first = layer.weight.detach().clone()
    optimizer = optim.SGD(layer.parameters(), lr=0.1)
    target = keyway.randn(shape, dtype=keyway.float64)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = (layer.weight - target).square().sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    check_is_orthogonal(layer.weight)
    assert losses[-1] < losses[0] and not keyway.equal(layer.weight, first)


@pytest.mark.parametrize("kind, has_base", [(kind, True) for kind in MAPS] + [("householder", False)])
def test_an_orthogonal_weight_can_be_set(kind, has_base):
    layer = orthogonal(nn.Linear(2, 3, dtype=keyway.float64), orthogonal_map=kind, use_trivialization=has_base)
    for turned in ([[0.6, -0.8], [0.8, 0.6], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0], [-1.0, 0.0]]):
        weight = keyway.tensor(turned, dtype=keyway.float64)
        layer.weight = weight
        keyway.testing.assert_close(layer.weight.detach(), weight, rtol=0, atol=1e-12)
    other = orthogonal(nn.Linear(2, 3, dtype=keyway.float64), orthogonal_map=kind, use_trivialization=has_base)
    other.load_state_dict(layer.state_dict())
    assert keyway.equal(other.weight, layer.weight)


@pytest.mark.parametrize("kind, angle", [("matrix_exp", 0.5), ("cayley", 2 * math.atan(0.25))])
def test_maps_of_two_dimensions_are_rotations(kind, angle):
    """exp of [[0, -a], [a, 0]] turns by a, its Cayley transform by 2 atan(a / 2)."""
    layer = nn.Linear(2, 2, dtype=keyway.float64)
    with keyway.no_grad():
        layer.weight.copy_(keyway.eye(2))
    orthogonal(layer, orthogonal_map=kind)
    with keyway.no_grad():
        layer.parametrizations.weight.original[1, 0] = 0.5
    wanted = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    keyway.testing.assert_close(layer.weight.detach(), keyway.tensor(wanted, dtype=keyway.float64))


def test_complex_weights_are_unitary_and_what_is_no_matrix_is_refused():
    layer = nn.Module()
    layer.weight = nn.Parameter(keyway.randn(2, 4, 3, dtype=keyway.complex128))
    check_is_orthogonal(orthogonal(layer).weight)
    other = nn.Module()
    other.weight = nn.Parameter(keyway.randn(3, 3, dtype=keyway.complex128))
    with pytest.raises(ValueError, match="does not support complex"):
        orthogonal(other, orthogonal_map="householder")
    with pytest.raises(ValueError, match="orthogonal_map has to be one of"):
        orthogonal(nn.Linear(2, 2), orthogonal_map="givens")
    with pytest.raises(ValueError, match="Expected a matrix"):
        orthogonal(nn.LayerNorm(3))
