"""keyway.utils.checkpoint.checkpoint."""

import keyway
import pytest
from keyway.utils.checkpoint import checkpoint


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


def test_the_older_form_is_refused():
    with pytest.raises(keyway.NotImplementedError, match="use_reentrant"):
        checkpoint(lambda a: a, leaf(), use_reentrant=True)
