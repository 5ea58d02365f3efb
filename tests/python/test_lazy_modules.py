"""Lazy modules, parameters and buffers without shapes, and nn.Buffer."""

import copy
import pickle

import keyway
import pytest
from keyway import nn


def test_a_lazy_linear_takes_its_inputs_from_the_first_call_and_becomes_a_linear():
    layer = nn.LazyLinear(3)
    assert repr(layer) == "LazyLinear(in_features=0, out_features=3, bias=True)"
    assert layer.has_uninitialized_params() and isinstance(layer.weight, nn.UninitializedParameter)
    assert layer(keyway.ones(2, 5)).shape == (2, 3)
    assert type(layer) is nn.Linear and layer.in_features == 5
    assert type(layer.weight) is nn.Parameter and layer.weight.shape == (3, 5) and layer.bias.shape == (3,)
    assert 0 < layer.weight.abs().max().item() <= 5**-0.5


def test_an_optimizer_that_has_lazy_parameters_trains_them_after_the_first_call():
    net = nn.Sequential(nn.LazyConv1d(2, 1), nn.LazyBatchNorm1d(), nn.Flatten(), nn.LazyLinear(1))
    optimizer = keyway.optim.SGD(net.parameters(), lr=1.0)
    net(keyway.randn(2, 3, 4)).sum().backward()
    before = net[3].bias.item()
    optimizer.step()
    assert net[3].bias.item() == pytest.approx(before - 2)
    assert [type(module).__name__ for module in net] == ["Conv1d", "BatchNorm1d", "Flatten", "Linear"]


@pytest.mark.parametrize(("layer", "shape", "weight"), [
    (nn.LazyConv2d(4, 3, groups=2), (1, 6, 5, 5), (4, 3, 3, 3)),
    (nn.LazyConv3d(4, 2, bias=False), (6, 5, 5, 5), (4, 6, 2, 2, 2)),
    (nn.LazyConvTranspose1d(4, 3, groups=2), (1, 6, 5), (6, 2, 3)),
    (nn.LazyConvTranspose3d(4, 2), (1, 6, 3, 3, 3), (6, 4, 2, 2, 2)),
    (nn.LazyInstanceNorm1d(), (1, 6, 3), (6,)),
    (nn.LazyInstanceNorm2d(), (6, 3, 3), (6,)),
    (nn.LazyBatchNorm3d(), (1, 6, 3, 3, 3), (6,)),
])
def test_weights_fit_the_channels_of_the_first_input(layer, shape, weight):
    layer.eval()(keyway.ones(shape))
    assert layer.weight.shape == weight
    assert not type(layer).__name__.startswith("Lazy")


def test_lazy_normalisations_have_lazy_buffers_if_they_track():
    norm = nn.LazyBatchNorm1d()
    assert isinstance(norm.running_mean, nn.UninitializedBuffer) and norm.num_batches_tracked.item() == 0
    norm(keyway.tensor([[1.0, 2.0], [3.0, 6.0]]))
    assert norm.running_mean.tolist() == pytest.approx([0.2, 0.4]) and norm.num_batches_tracked.item() == 1
    assert list(nn.LazyInstanceNorm1d(affine=False, track_running_stats=False).state_dict()) == []
    with pytest.raises(ValueError, match="expected an input of 2 or 3 dimensions, got 4"):
        nn.LazyBatchNorm1d()(keyway.ones(1, 2, 3, 4))


def test_a_state_gives_lazy_parameters_their_shapes():
    lazy, layer = nn.LazyLinear(2), nn.Linear(3, 2)
    lazy.load_state_dict(layer.state_dict())
    assert type(lazy) is nn.LazyLinear and lazy.weight.tolist() == layer.weight.tolist()
    x = keyway.ones(1, 3)
    assert lazy(x).tolist() == layer(x).tolist()
    assert type(lazy) is nn.Linear and lazy.in_features == 3


def test_a_lazy_state_goes_into_lazy_modules_only():
    state = nn.LazyLinear(2).state_dict()
    assert isinstance(state["weight"], nn.UninitializedParameter)
    nn.LazyLinear(2).load_state_dict(state)
    with pytest.raises(keyway.Error, match='"weight" is uninitialized in the state, but has a shape'):
        nn.Linear(3, 2).load_state_dict(state)


def test_lazy_modules_are_converted_copied_and_pickled():
    layer = nn.LazyLinear(2, dtype=keyway.float64)
    for made in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), nn.LazyLinear(2).double()):
        assert made(keyway.ones(1, 3, dtype=keyway.float64)).dtype is keyway.float64
        assert made.weight.shape == (2, 3)
    assert layer.has_uninitialized_params()


def test_uninitialized_tensors_refuse_operators_and_have_no_shape():
    parameter = nn.UninitializedParameter()
    assert repr(parameter) == str(parameter) == "<UninitializedParameter>"
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in add"):
        parameter + 1
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
        parameter.numel()
    with pytest.raises(keyway.Error, match="Can't access the shape"):
        parameter.shape
    parameter.materialize((2, 3), dtype=keyway.float64)
    assert type(parameter) is nn.Parameter and parameter.shape == (2, 3) and parameter.dtype is keyway.float64


class Forgetful(nn.modules.lazy.LazyModuleMixin):
    def __init__(self):
        super().__init__()
        self.weight = nn.UninitializedParameter()

    def initialize_parameters(self, x):
        pass


def test_a_lazy_module_that_does_not_initialize_its_parameters_is_refused():
    with pytest.raises(keyway.Error, match="Forgetful has not been fully initialized"):
        Forgetful()(keyway.ones(1))


def test_a_buffer_is_registered_by_assignment():
    layer = nn.Linear(1, 1)
    buffer = nn.Buffer(keyway.ones(2))
    layer.kept, layer.passing = buffer, nn.Buffer(keyway.zeros(3), persistent=False)
    assert layer.kept is buffer and isinstance(buffer, nn.Buffer) and type(buffer) is keyway.Tensor
    assert not isinstance(keyway.ones(2), nn.Buffer)
    assert list(layer.state_dict()) == ["weight", "bias", "kept"]
    assert [name for name, _ in layer.named_buffers()] == ["kept", "passing"]
    layer.passing = nn.Buffer(keyway.zeros(3))
    assert list(layer.state_dict()) == ["weight", "bias", "kept", "passing"]
    with pytest.raises(TypeError, match="cannot assign a Tensor as parameter 'weight'"):
        layer.weight = nn.Buffer(keyway.ones(1))
    assert isinstance(copy.deepcopy(layer).kept, nn.Buffer)


def test_a_parameter_is_printed_as_a_tensor_that_it_contains():
    text = "Parameter containing:\ntensor([1., 2.], requires_grad=True)"
    parameter = nn.Parameter(keyway.tensor([1.0, 2.0]))
    assert repr(parameter) == str(parameter) == f"{parameter}" == text


def test_a_lazy_norm_may_be_moved_before_its_first_call():
    layer = nn.LazyBatchNorm1d().double()
    result = layer(keyway.arange(6.0, dtype=keyway.float64).view(3, 2))
    assert result.dtype is keyway.float64 and layer.running_mean.shape == (2,)
    assert layer.running_mean.dtype is keyway.float64
