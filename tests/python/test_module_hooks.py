"""Hooks of modules: around backward, and around saving and loading their state."""

import copy

import keyway
import pytest
from keyway import nn


def doubler():
    """A layer that doubles."""
    layer = nn.Linear(1, 1, bias=False)
    nn.init.constant_(layer.weight, 2.0)
    return layer


def test_a_full_backward_hook_sees_the_gradients_of_inputs_and_results():
    layer, seen = doubler(), []
    layer.register_full_backward_hook(lambda module, *grads: seen.append((module is layer, *grads)))
    x = keyway.tensor([[3.0]], requires_grad=True)
    layer(x).mul(5).sum().backward()
    ((is_layer, (grad_input,), (grad_output,)),) = seen
    assert is_layer and grad_input.item() == 10 and grad_output.item() == 5 and x.grad.item() == 10


def test_what_hooks_return_replaces_gradients_in_their_order():
    layer, order = doubler(), []
    layer.register_full_backward_pre_hook(lambda module, grads: (order.append("pre"), (grads[0] * 10,))[1])
    layer.register_full_backward_hook(lambda module, inputs, outputs: (order.append("second"), inputs[0] + 1)[1])
    first = layer.register_full_backward_hook(
        lambda module, inputs, outputs: (order.append("first"), (inputs[0] * 100,))[1], prepend=True)
    x = keyway.tensor([[3.0]], requires_grad=True)
    layer(x).sum().backward()
    assert order == ["pre", "first", "second"]
    assert x.grad.item() == 2 * 10 * 100 + 1 and layer.weight.grad.item() == 3 * 10
    first.remove()
    x.grad = None
    layer(x).sum().backward()
    assert x.grad.item() == 2 * 10 + 1


def test_without_an_input_that_requires_grad_hooks_get_none_and_return_nothing():
    layer, seen = doubler(), []
    handle = layer.register_full_backward_hook(lambda module, inputs, outputs: seen.append((inputs, outputs[0].item())))
    with pytest.warns(UserWarning, match="none of its inputs requires grad"):
        layer(keyway.ones(1, 1)).sum().backward()
    assert seen == [((None,), 1.0)]
    handle.remove()
    layer.register_full_backward_hook(lambda module, inputs, outputs: outputs)
    with pytest.warns(UserWarning), pytest.raises(keyway.Error, match="returns None"):
        layer(keyway.ones(1, 1)).sum().backward()


def test_arguments_that_are_no_tensors_have_no_gradients():
    class Scaled(nn.Module):
        def forward(self, x, by, other):
            return x * by, other * 3

    module, seen = Scaled(), []
    module.register_full_backward_hook(lambda module, inputs, outputs: seen.append((inputs, outputs)))
    x = keyway.ones(2, requires_grad=True)
    first, second = module(x, 4, keyway.ones(1))
    first.sum().backward()
    ((inputs, outputs),) = seen
    assert [g.tolist() if g is not None else None for g in inputs] == [[4.0, 4.0], None, [0.0]]
    assert outputs[0].tolist() == [1.0, 1.0] and outputs[1] is None


def test_a_wrong_number_of_gradients_is_refused():
    layer = doubler()
    layer.register_full_backward_hook(lambda module, inputs, outputs: (None, None))
    with pytest.raises(keyway.Error, match="returned 2 gradients where 1 are expected"):
        layer(keyway.ones(1, 1, requires_grad=True)).sum().backward()


def test_results_in_a_list_are_warned_of():
    class Listed(nn.Module):
        def forward(self, x):
            return [x * 2]

    module = Listed()
    module.register_full_backward_hook(lambda module, inputs, outputs: None)
    with pytest.warns(UserWarning, match="a Tensor or a tuple of Tensors, not a list"):
        module(keyway.ones(1, requires_grad=True))


def test_hooks_around_saving_may_change_the_state():
    net, seen = nn.Sequential(doubler()), []
    net.register_state_dict_pre_hook(lambda module, prefix, keep_vars: seen.append((prefix, keep_vars)))
    net.register_state_dict_post_hook(
        lambda module, state, prefix, metadata: state.update({prefix + "more": metadata["version"]}))
    assert list(net.state_dict(prefix="a.", keep_vars=True)) == ["a.0.weight", "a.more"] and seen == [("a.", True)]
    net[0].register_state_dict_post_hook(lambda *args: {})
    with pytest.raises(keyway.Error, match="post-hook returns None"):
        net.state_dict()


def test_hooks_around_loading_may_change_the_state_and_what_is_missing():
    net, seen = nn.Sequential(doubler()), []

    def before(module, state, prefix, metadata, strict, missing, unexpected, errors):
        seen.append((type(module).__name__, prefix, metadata, strict))
        state[prefix + "weight"] = state.pop(prefix + "old")

    net[0].register_load_state_dict_pre_hook(before)
    net[0].register_load_state_dict_post_hook(lambda module, keys: keys.unexpected_keys.append("seen"))
    state = net.state_dict()
    state["0.old"] = state.pop("0.weight").mul(4)
    keys = net.load_state_dict(state, strict=False)
    assert keys == ([], ["seen"]) and net[0].weight.item() == 8
    assert seen == [("Linear", "0.", {"version": 1}, False)] and list(state) == ["0.old"]


def test_hooks_of_old_around_loading_get_the_module_only_if_asked_for():
    layer, seen = doubler(), []
    layer._register_load_state_dict_pre_hook(lambda *args: seen.append(args[1]))
    layer._register_load_state_dict_pre_hook(lambda *args: seen.append(args[0] is layer), with_module=True)
    layer.load_state_dict(layer.state_dict())
    assert seen == ["", True]


def test_states_say_the_versions_of_their_modules():
    class Newer(nn.Module):
        _version = 3

        def _load_from_state_dict(self, state, prefix, metadata, *rest):
            seen.append(metadata.get("version"))
            super()._load_from_state_dict(state, prefix, metadata, *rest)

    seen = []
    net = nn.Sequential(Newer())
    state = net.state_dict()
    assert dict(state._metadata) == {"": {"version": 1}, "0": {"version": 3}}
    net.load_state_dict(state)
    net.load_state_dict(dict(state))
    assert seen == [3, None]


def test_a_state_of_no_version_may_lack_the_number_of_batches():
    norm = nn.BatchNorm1d(2)
    norm.num_batches_tracked.fill_(5)
    state = {name: value for name, value in norm.state_dict().items() if name != "num_batches_tracked"}
    assert norm.load_state_dict(state) == ([], []) and norm.num_batches_tracked.item() == 5
    of_this_version = norm.state_dict()
    del of_this_version["num_batches_tracked"]
    with pytest.raises(keyway.Error, match="num_batches_tracked"):
        norm.load_state_dict(of_this_version)


def test_a_copied_module_has_hooks_of_its_own():
    layer, seen = doubler(), []
    handle = layer.register_full_backward_hook(lambda *args: seen.append(1))
    other = copy.deepcopy(layer)
    handle.remove()
    for module in (layer, other):
        module(keyway.ones(1, 1, requires_grad=True)).sum().backward()
    assert seen == [1]


def test_submodules_are_set_by_their_full_names():
    net = nn.Sequential(nn.Sequential(nn.ReLU()))
    net.set_submodule("0.0", nn.Tanh())
    net.set_submodule("0.1", nn.ReLU())
    assert [type(module).__name__ for module in net[0]] == ["Tanh", "ReLU"]
    with pytest.raises(AttributeError, match="no attribute '2'"):
        net.set_submodule("0.2", nn.ReLU(), strict=True)
    with pytest.raises(ValueError, match="without a target name"):
        net.set_submodule("", nn.ReLU())


def test_to_empty_keeps_shapes_and_dtypes():
    layer = nn.Linear(3, 2, dtype=keyway.float64).to_empty(device="cpu")
    assert tuple(layer.weight.shape) == (2, 3) and layer.weight.dtype is keyway.float64


def test_gradients_flow_where_a_result_has_no_place_for_backward_hooks():
    class Named(nn.Module):
        def forward(self, x):
            return {"twice": x * 2}

    module, seen = Named(), []
    module.register_full_backward_hook(lambda m, grad_in, grad_out: seen.append(grad_out))
    x = keyway.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="not a dict"):
        result = module(x)
    result["twice"].sum().backward()
    assert x.grad.tolist() == [2.0] and seen == []
