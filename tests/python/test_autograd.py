"""backward, grad and what tensors say of the graph."""

import math

import keyway
import pytest


def leaf(*values):
    x = keyway.empty(len(values))
    for i, value in enumerate(values):
        x.select(0, i).fill_(value)
    return x.requires_grad_()


def values(tensor):
    return [tensor.select(0, i).item() for i in range(tensor.size(0))]


def test_backward_adds_to_the_grad_of_leaves():
    x = leaf(1, 2)
    for times in (1, 2):
        x.mul(x).sum().backward()
        assert values(x.grad) == [2.0 * times, 4.0 * times]


def test_backward_takes_the_gradient_of_its_result():
    x = leaf(1, 2)
    x.mul(3).backward(keyway.full((2,), 2.0))
    assert values(x.grad) == [6.0, 6.0]
    with pytest.raises(keyway.AutogradError, match=r"shape \[2\], but its gradient has shape \[3\]"):
        x.mul(3).backward(keyway.ones(3))


def test_backward_of_many_elements_needs_a_gradient():
    with pytest.raises(keyway.AutogradError, match="has no gradient given"):
        leaf(1, 2).mul(2).backward()


def test_backward_without_a_graph_says_so():
    with pytest.raises(keyway.AutogradError, match="does not require grad and has no graph"):
        keyway.ones(1).backward()


def test_a_graph_serves_once_unless_it_is_retained():
    x = leaf(2)
    y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(keyway.AutogradError, match="a second time"):
        y.backward()


def test_inputs_restrict_what_gets_gradients():
    x, w = leaf(1), leaf(2)
    hidden = x.mul(w)
    hidden.mul(w).sum().backward(inputs=[w, hidden])
    assert x.grad is None
    assert values(w.grad) == [4.0]
    assert values(hidden.grad) == [2.0]
    with pytest.raises(keyway.AutogradError, match="'inputs' is empty"):
        x.sum().backward(inputs=[])


def test_backward_of_several_tensors_sums_their_gradients():
    x = leaf(1, 2)
    keyway.autograd.backward([x.sum(), x.mul(2)], [None, keyway.ones(2)])
    assert values(x.grad) == [3.0, 3.0]


def test_grad_returns_gradients_and_leaves_grad_alone():
    x, w = leaf(3), leaf(4)
    found = keyway.autograd.grad(x.mul(w).sum(), (x, w))
    assert isinstance(found, tuple)
    assert [values(g) for g in found] == [[4.0], [3.0]]
    assert x.grad is None and w.grad is None


def test_grad_of_grad():
    x = leaf(2)
    (first,) = keyway.autograd.grad(x.pow(3).sum(), x, create_graph=True)
    (second,) = keyway.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = keyway.autograd.grad(second.sum(), x)
    assert [values(g) for g in (first, second, third)] == [[12.0], [12.0], [6.0]]


def test_unused_inputs_are_errors_none_or_zeros():
    x, other = leaf(1), leaf(5, 6)

    def grads(**options):
        return keyway.autograd.grad(x.sum(), [x, other], **options)

    with pytest.raises(keyway.AutogradError, match="input 1 was not used"):
        grads()
    assert grads(allow_unused=True)[1] is None
    zeros = grads(materialize_grads=True)[1]
    assert values(zeros) == [0.0, 0.0] and not zeros.requires_grad
    with pytest.raises(keyway.ValueError, match="allow_unused=False"):
        grads(allow_unused=False, materialize_grads=True)


def test_batched_gradients_need_their_weights():
    x = leaf(1)
    with pytest.raises(keyway.ValueError, match="is_grads_batched=True each output needs weights"):
        keyway.autograd.grad(x.sum(), x, is_grads_batched=True)


@pytest.mark.parametrize("wrong", [5, "x", [None], object()])
def test_what_is_no_tensor_is_refused_by_name(wrong):
    with pytest.raises(keyway.TypeError, match="argument 'tensors' must be a Tensor"):
        keyway.autograd.backward(wrong)
    with pytest.raises(keyway.TypeError, match="argument 'inputs' must be a Tensor"):
        keyway.autograd.grad(leaf(1).sum(), wrong)


def test_grad_can_be_set_and_deleted():
    x = leaf(1, 2)
    x.grad = keyway.ones(2)
    x.sum().backward()
    assert values(x.grad) == [2.0, 2.0]
    assert x.grad is x.grad
    del x.grad
    assert x.grad is None
    for wrong, error in ((5, keyway.TypeError), (keyway.ones(3), keyway.AutogradError), (x, keyway.AutogradError),
                         (keyway.ones(2, dtype=keyway.float64), keyway.AutogradError)):
        with pytest.raises(error):
            x.grad = wrong


def test_what_a_tensor_says_of_itself():
    x = leaf(1)
    y = x.mul(2)
    assert (x.is_leaf, y.is_leaf, y.detach().is_leaf) == (True, False, True)
    assert (x.requires_grad, y.requires_grad, y.detach().requires_grad) == (True, True, False)
    assert x.grad_fn is None
    assert (x.output_nr, keyway.sort(x)[0].output_nr, keyway.max(x, 0)[0].output_nr) == (0, 0, 0)
    assert [piece.output_nr for piece in leaf(1, 2).unbind()] == [0, 1]
    assert not y.retains_grad
    y.retain_grad()
    assert y.retains_grad
    y.mul(3).sum().backward()
    assert values(y.grad) == [3.0]


def test_data_is_the_memory_without_history_and_can_be_exchanged():
    x = leaf(1, 2)
    x.data.fill_(5)
    assert values(x) == [5.0, 5.0] and not x.data.requires_grad
    x.data = keyway.ones(3)
    assert x.shape == (3,) and x.requires_grad


def test_nodes_know_where_gradients_go():
    x = leaf(1)
    y = x.mul(x).exp()
    node = y.grad_fn
    assert (node.name(), repr(node)) == ("ExpBackward0", "<ExpBackward0>")
    assert y.grad_fn is node
    ((product, number),) = node.next_functions
    assert (product.name(), number) == ("MulBackward0", 0)
    ends = [end for end, _ in product.next_functions]
    assert ends[0] is ends[1] and ends[0].variable is x and ends[0].next_functions == ()
    with pytest.raises(AttributeError, match="'ExpBackward0' has no attribute 'variable'"):
        node.variable  # noqa: B018


def test_a_constant_has_no_next_function():
    x = leaf(1)
    assert x.add(keyway.ones(1)).grad_fn.next_functions[1] == (None, 0)


def test_metadata_lives_as_long_as_the_node():
    y = leaf(1).exp()
    y.grad_fn.metadata["name"] = "first"
    z = y.sum()
    del y
    assert z.grad_fn.next_functions[0][0].metadata == {"name": "first"}


def test_jacobian_and_hessian_of_a_cubic():
    x = leaf(1, 2)
    rows = keyway.autograd.functional.jacobian(lambda a: a.pow(3), x)
    assert [values(row) for row in rows.unbind()] == [[3.0, 0.0], [0.0, 12.0]]
    rows = keyway.autograd.functional.hessian(lambda a: a.pow(3).sum(), x)
    assert [values(row) for row in rows.unbind()] == [[6.0, 0.0], [0.0, 12.0]]


def test_vjp_weights_results_and_gives_zeros_for_unused_inputs():
    outputs, (product, unused) = keyway.autograd.functional.vjp(lambda a, b: a.mul(a), (leaf(2, 3), leaf(1)),
                                                               keyway.full((2,), 10.0))
    assert (values(outputs), values(product), values(unused)) == ([4.0, 9.0], [40.0, 60.0], [0.0])
    with pytest.raises(keyway.ValueError, match="shapes of the results"):
        keyway.autograd.functional.vjp(lambda a: a, leaf(1), keyway.ones(2))


def test_the_arguments_of_grad_stand_in_pytorchs_order():
    x, unused = keyway.ones(2, requires_grad=True), keyway.ones(2, requires_grad=True)
    found = keyway.autograd.grad(x.sum(), [x, unused], None, None, False, True, True)
    assert found[0].tolist() == [1.0, 1.0] and found[1] is None


@pytest.mark.parametrize("change, gradient", [
    (lambda x: keyway.nn.functional.celu(x, 2.0, inplace=True), [math.exp(-0.5), 1.0]),
    (lambda x: keyway.nn.functional.selu(x, inplace=True), [1.0507009874 * 1.6732632423 * math.exp(-1), 1.0507009874]),
    (lambda x: x.clamp_min_(0.5), [0.0, 1.0]),
    (lambda x: x.xlogy_(math.e), [1.0, 1.0]),
    (lambda x: x.nan_to_num_(), [1.0, 1.0]),
])
def test_an_in_place_change_of_several_operators_keeps_what_its_gradient_needs(change, gradient):
    leaf = keyway.tensor([-1.0, 2.0], dtype=keyway.float64, requires_grad=True)
    x = leaf * 1
    assert change(x) is x
    x.sum().backward()
    assert leaf.grad.tolist() == pytest.approx(gradient)


def test_a_view_of_a_leaf_is_not_changed_where_gradients_are_recorded():
    x = keyway.ones(3, requires_grad=True)
    with keyway.no_grad():
        view = x[:2]
        view.add_(1)
    assert x.tolist() == [2, 2, 1]
    with pytest.raises(keyway.AutogradError, match="view"):
        view.add_(1)
    base = keyway.ones(3)
    early = base[:2]
    early.mul_(2)
    base.requires_grad_()
    with pytest.raises(keyway.AutogradError, match="a view of a leaf that requires grad"):
        early.mul_(2)
    assert base.tolist() == [2, 2, 1]


def test_only_of_leaves_requires_grad_can_be_set():
    y = keyway.ones(2, requires_grad=True) * 2
    for wish in (True, False):
        with pytest.raises(keyway.AutogradError, match="leaves only"):
            y.requires_grad = wish
    assert y.requires_grad_() is y
