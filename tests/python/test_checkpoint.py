"""keyway.utils.checkpoint.checkpoint."""

import keyway
import pytest
from keyway.utils.checkpoint import checkpoint, checkpoint_sequential


def leaf(value=0.5, size=4):
    return keyway.full((size,), value).requires_grad_()


def total(tensor):
    return tensor.sum().item()


class Counted:
    def __init__(self, function):
        self.calls = 0
        self.function = function

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


def test_gradients_are_those_without_it_and_the_function_runs_twice():
    w, x = leaf(2.0), leaf()
    function = Counted(lambda a: a.mul(w).exp().sin())
    y = checkpoint(function, x)
    assert function.calls == 1
    y.sum().backward()
    assert function.calls == 2
    expected = keyway.autograd.grad(x.mul(w).exp().sin().sum(), [x, w])
    assert [total(x.grad.sub(expected[0]).abs()), total(w.grad.sub(expected[1]).abs())] == [0.0, 0.0]


def test_nothing_is_kept_until_backward():
    import weakref

    alive = []

    def function(a):
        middle = a.exp()
        alive.append(weakref.ref(middle))
        middle.kept = True  # else the graph would hold the tensor, not its object
        return middle.mul(middle)

    y = checkpoint(function, leaf())
    assert alive[0]() is None
    y.sum().backward()
    assert len(alive) == 2 and alive[1]() is None


def test_it_needs_no_input_that_requires_grad():
    w = leaf(3.0)
    checkpoint(lambda a: a.mul(w), keyway.ones(4)).sum().backward()
    assert total(w.grad) == 4


def test_grad_and_second_derivatives_work():
    x = leaf(2.0)
    (first,) = keyway.autograd.grad(checkpoint(lambda a: a.pow(3), x).sum(), x, create_graph=True)
    (second,) = keyway.autograd.grad(first.sum(), x)
    assert (total(first), total(second)) == (48.0, 48.0)


def test_a_retained_graph_computes_again_each_time():
    x = leaf(2.0)
    function = Counted(lambda a: a.mul(a))
    y = checkpoint(function, x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert function.calls == 3 and total(x.grad) == 32


def test_keyword_arguments_and_several_results():
    x = leaf(2.0)
    first, second = checkpoint(lambda a, *, by: (a.mul(by), a.exp()), x, by=5)
    first.sum().add(second.sum().mul(0)).backward()
    assert total(x.grad) == 20


def test_it_nests():
    x = leaf()
    inner = Counted(lambda a: a.exp().mul(a))
    y = checkpoint(lambda a: checkpoint(inner, a).sin(), x)
    y.sum().backward()
    expected = keyway.autograd.grad(x.exp().mul(x).sin().sum(), x)[0]
    assert total(x.grad.sub(expected).abs()) == 0
    assert inner.calls >= 2


def test_the_same_random_numbers_are_drawn_again():
    x = keyway.ones(1000).requires_grad_()
    keyway.manual_seed(3)
    y = checkpoint(lambda a: a.mul(keyway.rand(1000)).mul(a), x)
    before = keyway.default_generator.get_state()
    y.sum().backward()
    assert keyway.default_generator.get_state() == before
    # d(a * a * r) = 2 * a * r at a = 1
    assert total(x.grad.sub(y.detach().mul(2)).abs()) == 0


def test_without_the_state_others_are_drawn():
    x = keyway.ones(1000).requires_grad_()
    y = checkpoint(lambda a: a.mul(keyway.rand(1000)).mul(a), x, preserve_rng_state=False)
    y.sum().backward()
    assert total(x.grad.sub(y.detach().mul(2)).abs()) > 0


def test_arguments_that_change_in_place_are_noticed():
    x = leaf()
    a = x.mul(2)
    y = checkpoint(lambda a: a.exp().sin(), a)
    a.add_(1)
    with pytest.raises(keyway.AutogradError, match="checkpoint: an argument .* changed in place"):
        y.sum().backward()


def test_a_function_that_does_something_else_is_noticed():
    sizes = iter([4, 2])
    y = checkpoint(lambda a: a.narrow(0, 0, next(sizes)).exp(), leaf())
    with pytest.raises(keyway.AutogradError, match="checkpoint: the function saved .* but when it was called again"):
        y.sum().backward()

    counts = iter([3, 1])

    def chain(a):
        for _ in range(next(counts)):
            a = a.exp()
        return a

    y = checkpoint(chain, leaf())
    with pytest.raises(keyway.AutogradError, match="saved fewer tensors"):
        y.sum().backward()


def test_exceptions_of_the_second_call_come_out():
    outcomes = iter([True, False])

    def function(a):
        if not next(outcomes):
            raise LookupError("the second time")
        return a.exp()

    y = checkpoint(function, leaf())
    with pytest.raises(LookupError, match="the second time"):
        y.sum().backward()


def test_the_older_form_gives_the_same_gradients_by_backward_and_no_others():
    x, weight = leaf(), leaf()

    def function(a, factor):
        return (a * weight).exp() * factor, 3

    y, number = checkpoint(function, x, 2.0, use_reentrant=True)
    assert number == 3 and y.requires_grad
    y.sum().backward()
    expected = (x * weight).exp() * 2
    assert x.grad.tolist() == (expected * weight).tolist() and weight.grad.tolist() == (expected * x).tolist()
    for refused in (lambda z: keyway.autograd.grad(z, x), lambda z: z.backward(inputs=[x])):
        with pytest.raises(keyway.AutogradError, match="use_reentrant=True"):
            refused(checkpoint(function, x, 2.0, use_reentrant=True)[0].sum())


def test_the_older_form_takes_positional_arguments_of_which_one_requires_grad():
    with pytest.raises(keyway.ValueError, match="positional arguments only, but got k"):
        checkpoint(lambda a, k: a, leaf(), k=1, use_reentrant=True)
    with pytest.warns(UserWarning, match="none of the arguments requires grad"):
        assert not checkpoint(lambda a: a * 2, leaf().detach(), use_reentrant=True).requires_grad


def test_contexts_are_entered_for_each_call():
    entered = []

    class Noted:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            entered.append(self.name)

        def __exit__(self, *exception):
            pass

    y = checkpoint(lambda a: a.exp(), leaf(), context_fn=lambda: (Noted("first"), Noted("second")))
    assert entered == ["first"]
    y.sum().backward()
    assert entered == ["first", "second"]


def test_the_second_call_ends_early_unless_told_otherwise():
    for early_stop in (True, False):
        calls = []

        def function(a):
            y = a.exp()
            calls.append(1)
            return y.detach() * 0 + y

        checkpoint(function, leaf(), early_stop=early_stop).sum().backward()
        assert len(calls) == (1 if early_stop else 2)
    with pytest.raises(keyway.ValueError, match="determinism_check"):
        checkpoint(lambda a: a, leaf(), determinism_check="some")


def test_a_sequence_is_checkpointed_in_segments():
    calls = []

    def step(a):
        calls.append(1)
        return a.sin()

    x = leaf()
    y = checkpoint_sequential([step] * 5, 2, x)
    assert len(calls) == 5 and y.tolist() == x.sin().sin().sin().sin().sin().tolist()
    y.sum().backward()
    assert len(calls) == 7
    with pytest.raises(keyway.ValueError, match="6 segments of 5"):
        checkpoint_sequential([step] * 5, 6, x)


def test_the_older_form_refuses_a_jacobian():
    w = keyway.ones(2, requires_grad=True)
    with pytest.raises(keyway.AutogradError, match="use_reentrant=True"):
        keyway.autograd.functional.jacobian(
            lambda a: checkpoint(lambda b: b * w, a, use_reentrant=True), keyway.ones(2))
    assert w.grad is None
