"""Hooks of keyway.nn.Module around backward, state_dict and load_state_dict."""

import keyway
import pytest
from keyway import nn


class Twice(nn.Module):
    """(a * 2, a * b)."""

    def forward(self, a, b):
        return a.mul(2), a.mul(b)


def test_a_full_backward_hook_sees_the_gradients_of_arguments_and_results():
    seen = []
    module = Twice()
    module.register_full_backward_hook(lambda m, grad_in, grad_out: seen.append((m, grad_in, grad_out)))
    a, b = keyway.tensor([3.0], requires_grad=True), keyway.tensor([5.0])
    twice, product = module(a, b)
    twice.mul(10).add(product).sum().backward()
    [(who, (grad_a, grad_b), (grad_twice, grad_product))] = seen
    assert who is module and grad_b.tolist() == [0.0] and b.grad is None
    assert grad_a.tolist() == [25.0] == a.grad.tolist()
    assert (grad_twice.tolist(), grad_product.tolist()) == ([10.0], [1.0])


def test_backward_hooks_replace_gradients_on_the_way():
    layer = nn.Identity()
    layer.register_full_backward_pre_hook(lambda m, grads: (grads[0].mul(3),))
    handle = layer.register_full_backward_hook(lambda m, grad_in, grad_out: (grad_in[0].add(grad_out[0]),))
    x = keyway.tensor([1.0], requires_grad=True)
    layer(x).sum().backward()
    assert x.grad.tolist() == [6.0]
    handle.remove()
    x.grad = None
    layer(x).sum().backward()
    assert x.grad.tolist() == [3.0]


def test_a_backward_hook_is_called_where_no_argument_requires_a_gradient():
    seen = []
    layer = nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda m, grad_in, grad_out: seen.append((grad_in, grad_out[0].tolist())))
    layer(keyway.ones(1, 2)).sum().backward()
    assert seen == [((None,), [[1.0]])]


def test_a_backward_hook_that_returns_too_many_gradients_is_refused():
    layer = nn.Identity()
    layer.register_full_backward_hook(lambda m, grad_in, grad_out: (grad_in[0], None))
    with pytest.raises(keyway.Error, match="invalid number of grad_input: got 2, but expected 1"):
        layer(keyway.ones(1, requires_grad=True)).sum().backward()


def test_hooks_of_state_dict_run_before_and_after_a_module_and_may_change_the_state():
    calls = []
    net = nn.Sequential(nn.Linear(1, 1))
    net[0].register_state_dict_pre_hook(lambda m, prefix, keep_vars: calls.append((prefix, keep_vars)))
    net[0].register_state_dict_post_hook(lambda m, state, prefix, meta: state.update({prefix + "scale": 7}))
    assert list(net.state_dict()) == ["0.weight", "0.bias", "0.scale"]
    assert calls == [("0.", False)]


def test_a_load_pre_hook_may_rename_entries_and_a_post_hook_forgive_missing_ones():
    layer = nn.Linear(1, 1)

    def rename(module, state, prefix, *rest):
        state[prefix + "weight"] = state.pop(prefix + "kernel")

    layer.register_load_state_dict_pre_hook(rename)
    layer.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    given = {"kernel": keyway.tensor([[4.0]])}
    assert layer.load_state_dict(given).missing_keys == []
    assert layer.weight.tolist() == [[4.0]] and list(given) == ["kernel"]


def test_set_submodule_puts_a_module_in_a_place_by_its_full_name():
    net = nn.Sequential(nn.Sequential(nn.ReLU()))
    net.set_submodule("0.0", nn.Tanh())
    assert isinstance(net[0][0], nn.Tanh)
    net.set_submodule("0.extra", nn.Tanh())
    with pytest.raises(AttributeError, match="has no attribute `none`"):
        net.set_submodule("0.none", nn.Tanh(), strict=True)
    with pytest.raises(ValueError, match="is not an nn.Module, found int"):
        net.set_submodule("0.0", 3)


def test_to_empty_keeps_shapes_and_dtypes_of_members_whose_values_are_nowhere():
    layer = nn.Linear(3, 2, device="meta", dtype=keyway.float64)
    assert layer.to_empty(device="cpu") is layer
    assert layer.weight.is_cpu and layer.weight.shape == (2, 3) and layer.weight.dtype is keyway.float64


def test_gradients_flow_where_a_result_has_no_place_for_backward_hooks():
    class Named(nn.Module):
        def forward(self, x):
            return {"twice": x * 2}

    module, seen = Named(), []
    module.register_full_backward_hook(lambda m, grad_in, grad_out: seen.append(grad_out))
    x = keyway.ones(1, requires_grad=True)
    module(x)["twice"].sum().backward()
    assert x.grad.tolist() == [2.0] and seen == []
