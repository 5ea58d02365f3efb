"""Hooks of tensors and nodes, and of what is saved."""

import keyway
import pytest
from keyway.autograd.graph import saved_tensors_hooks


def leaf(value=2.0):
    return keyway.full((2,), value).requires_grad_()


@pytest.mark.parametrize("of", ["leaf", "result"])
def test_a_hook_of_a_tensor_may_replace_its_gradient(of):
    x = leaf()
    y = x.mul(3)
    seen = []
    handle = (x if of == "leaf" else y).register_hook(lambda grad: seen.append(grad) or grad.mul(10))
    y.sum().backward(retain_graph=True)
    assert len(seen) == 1 and x.grad.sum().item() == 60
    handle.remove()
    handle.remove()
    x.grad = None
    y.sum().backward()
    assert len(seen) == 1 and x.grad.sum().item() == 6


def test_hooks_run_in_order_and_see_what_those_before_left():
    x = leaf()
    x.register_hook(lambda grad: grad.add(1))
    x.register_hook(lambda grad: grad.mul(2))
    x.register_hook(lambda grad: None)
    x.sum().backward()
    assert x.grad.sum().item() == 8


def test_a_hook_that_a_hook_adds_waits_for_the_next_backward():
    x = leaf()
    calls = []
    x.register_hook(lambda grad: x.register_hook(lambda grad: calls.append(1)) and None)
    x.sum().backward()
    assert calls == []
    x.sum().backward()
    assert calls == [1]


def test_hooks_of_a_leaf_survive_its_object():
    x = leaf()
    calls = []
    x.register_hook(lambda grad: calls.append(1))
    y = x.mul(2)
    del x
    y.sum().backward()
    assert calls == [1]


def test_handles_end_with_their_block():
    x = leaf()
    with x.register_hook(lambda grad: grad.mul(0)):
        x.sum().backward()
    x.sum().backward()
    assert x.grad.sum().item() == 2


def test_hooks_need_a_gradient_and_a_function():
    with pytest.raises(keyway.AutogradError, match="does not require grad"):
        keyway.ones(1).register_hook(print)
    with pytest.raises(keyway.TypeError, match="register_hook: a int cannot be called"):
        leaf().register_hook(5)


@pytest.mark.parametrize("result, error", [(5, keyway.TypeError), (keyway.ones(3), keyway.AutogradError),
                                           (keyway.ones(2, dtype=keyway.float64), keyway.AutogradError)])
def test_a_hook_may_not_replace_a_gradient_by_what_is_not_like_it(result, error):
    for tensor in (leaf(), leaf().mul(1)):
        tensor.register_hook(lambda grad: result)
        with pytest.raises(error, match="hook"):
            tensor.sum().backward()


def test_an_exception_in_a_hook_comes_out_with_its_traceback():
    def fails(grad):
        raise KeyError("in a hook")

    x = leaf()
    x.mul(2).register_hook(fails)
    y = x.mul(2)
    y.register_hook(fails)
    with pytest.raises(KeyError, match="in a hook") as caught:
        y.sum().backward()
    assert caught.traceback[-1].name == "fails"


def test_grad_sees_what_hooks_leave():
    x = leaf()
    x.register_hook(lambda grad: grad.mul(5))
    assert keyway.autograd.grad(x.sum(), x)[0].sum().item() == 10


def test_a_post_accumulate_hook_gets_the_leaf_with_its_grad():
    x = leaf()
    seen = []

    def take(tensor):
        seen.append((tensor is x, tensor.grad.sum().item()))
        tensor.grad = None

    handle = x.register_post_accumulate_grad_hook(take)
    x.mul(3).sum().backward()
    assert seen == [(True, 6.0)] and x.grad is None
    handle.remove()
    x.mul(3).sum().backward()
    assert len(seen) == 1 and x.grad.sum().item() == 6
    with pytest.raises(keyway.AutogradError, match="no leaf"):
        x.mul(2).register_post_accumulate_grad_hook(take)


def test_hooks_of_a_node_see_and_replace_its_gradients():
    x = leaf()
    y = x.mul(keyway.full((2,), 3.0))
    log = []

    def before(grad_outputs):
        log.append(("before", len(grad_outputs)))
        return (grad_outputs[0].mul(2),)

    def after(grad_inputs, grad_outputs):
        log.append(("after", grad_inputs[1], grad_outputs[0].sum().item()))
        return (grad_inputs[0].add(1), None)

    handles = [y.grad_fn.register_prehook(before), y.grad_fn.register_hook(after)]
    y.sum().backward(retain_graph=True)
    assert log == [("before", 1), ("after", None, 4.0)]
    assert x.grad.sum().item() == 14
    for handle in handles:
        handle.remove()
    x.grad = None
    y.sum().backward()
    assert len(log) == 2 and x.grad.sum().item() == 6


@pytest.mark.parametrize("result", [(), (None, None, None), 5, "ab"])
def test_hooks_of_a_node_return_none_or_as_many_gradients(result):
    y = leaf().mul(keyway.ones(2))
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: result)
    with pytest.raises(keyway.AutogradError, match="None or a tuple of 2 gradients"):
        y.sum().backward()


def test_saved_tensors_are_packed_and_unpacked():
    log = []

    def pack(tensor):
        assert not tensor.requires_grad
        log.append("pack")
        return tensor.neg()

    def unpack(packed):
        log.append("unpack")
        return packed.neg()

    x = leaf(3.0)
    with saved_tensors_hooks(pack, unpack):
        y = x.mul(x)
    z = y.exp()
    assert log == ["pack", "pack"]
    (first,) = keyway.autograd.grad(y.sum(), x, create_graph=True)
    assert log == ["pack", "pack", "unpack", "unpack"]
    assert first.sum().item() == 12
    assert keyway.autograd.grad(first.sum(), x)[0].sum().item() == 4
    assert z.requires_grad


def test_hooks_of_what_is_saved_nest_and_end_with_their_block():
    log = []
    x = leaf()

    def hooks(name):
        return saved_tensors_hooks(lambda tensor: log.append(name) or tensor, lambda tensor: tensor)

    with hooks("outer"):
        with hooks("inner"):
            x.exp()
        x.exp()
    x.exp()
    assert log == ["inner", "outer"]


def test_an_unpack_hook_has_to_return_a_tensor():
    with saved_tensors_hooks(lambda tensor: 5, lambda packed: packed):
        y = leaf().exp()
    with pytest.raises(keyway.TypeError, match="returned a int, not a Tensor"):
        y.sum().backward()
