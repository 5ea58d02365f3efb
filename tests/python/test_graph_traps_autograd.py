"""What a compiled function could get wrong of autograd."""

import keyway as kw
import pytest
from graph_traps import P, Traps, X, compare, marked, tried

TRAPS = Traps()
trap = TRAPS.add
# Those that fail, and the finding that says why.
FAILING = {
}


def gradient_of(w):
    """A program that gives the gradient of w * x."""
    def f(x):
        w.grad = None
        (x * w).sum().backward()
        return w.grad.clone()
    return f


@trap
def backward_to_a_leaf_then_through_a_result(run):
    f = run(lambda x: (x * x).sum().backward())
    out = []
    for i in range(3):
        leaf = P(1, 2, 3)
        x = leaf if i == 0 else leaf * 2
        f(x)
        out.append((leaf.grad, x.is_leaf))
    return out


@trap
def backward_through_an_argument_with_history(run):
    f = run(lambda x: (x * x).sum().backward())
    out = []
    for i in range(3):
        leaf = P(1, 2, i)
        f(leaf.exp())
        out.append(leaf.grad)
    return out


@trap
def grad_to_an_argument_with_history(run):
    f = run(lambda x: kw.autograd.grad((x * x).sum(), x)[0])
    return [f(P(1, 2, i).exp()) for i in range(3)]


@trap
def backward_through_state_with_history(run):
    leaf = P(1, 2, 3)
    h = leaf.exp()
    f = run(lambda x: (x * h).sum().backward(retain_graph=True))
    out = []
    for i in range(3):
        f(X() * i)
        out.append(leaf.grad.clone())
        leaf.grad = None
    return out


@trap
def backward_through_state_twice_without_retaining(run):
    leaf = P(1, 2, 3)
    h = leaf.exp()
    f = run(lambda x: (x * h).sum().backward())
    return [tried(f, X()) for i in range(3)] + [leaf.grad]


@trap
def accumulates(run):
    w = P(1, 2, 3)
    f = run(lambda x: (x * w).sum().backward())
    out = []
    for i in range(4):
        f(X() * i)
        out.append(w.grad.clone())
    return out


@trap
def accumulates_in_place(run):
    w = P(1, 2, 3)
    w.grad = kw.ones(3)
    g = w.grad
    f = run(lambda x: (x * w).sum().backward())
    out = []
    for i in range(4):
        f(X() * i)
        out.append((g.clone(), g is w.grad))
    return out


@trap
def zero_grad_in_place(run):
    w = P(1, 2, 3)
    o = kw.optim.SGD([w], lr=0.1)

    def f(x):
        o.zero_grad(set_to_none=False)
        (x * w).sum().backward()
        o.step()
    f = run(f)
    out = []
    for i in range(4):
        f(X() * i)
        out.append((w.detach().clone(), w.grad.clone()))
    return out


@trap
def hook_of_a_parameter_added_between(run):
    w = P(1, 2, 3)
    f = run(gradient_of(w))
    out = [f(X()), f(X())]
    h = w.register_hook(lambda g: g * 10)
    out.append(f(X()))
    h.remove()
    out.append(f(X()))
    return out


@trap
def hook_of_a_parameter_removed_between(run):
    w = P(1, 2, 3)
    h = w.register_hook(lambda g: g * 10)
    f = run(gradient_of(w))
    out = [f(X()), f(X())]
    h.remove()
    out.append(f(X()))
    return out


@trap
def post_accumulate_hook_added_between(run):
    w = P(1, 2, 3)
    f = run(gradient_of(w))
    out = [f(X()), f(X())]
    w.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(3))
    out.append(f(X()))
    return out


@trap
def hook_of_an_intermediate(run):
    w = P(1, 2, 3)

    def f(x):
        y = x * w
        y.register_hook(lambda g: g * 10)
        return y.sum()
    f = run(f)
    return [kw.autograd.grad(f(X()), w)[0] for _ in range(3)]


@trap
def retained_grad_of_an_intermediate(run):
    w = P(1, 2, 3)

    def f(x):
        y = x * w
        y.retain_grad()
        return y
    f = run(f)
    out = []
    for _ in range(3):
        y = f(X())
        y.sum().backward()
        out.append(y.grad)
    return out


class Straight(kw.autograd.Function):

    @staticmethod
    def forward(ctx, x):
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        return g * 7


@trap
def function_of_python_at_program(run):
    w = P(1, 2, 3)
    f = run(lambda x: (Straight.apply(w * x) * x).sum())
    return [kw.autograd.grad(f(X()), w, allow_unused=True)[0] for _ in range(3)]


@trap
def function_of_python_in_a_step(run):
    w = P(1, 2, 3)
    f = run(lambda x: kw.autograd.grad((Straight.apply(w * x) * x).sum(), w)[0])
    return [f(X() * i) for i in range(3)]


@trap
def checkpoint_at_program(run):
    from keyway.utils.checkpoint import checkpoint
    w = P(1, 2, 3)
    f = run(lambda x: checkpoint(lambda y: (y * w).exp(), x, use_reentrant=False).sum())
    return [kw.autograd.grad(f(X() / i), w)[0] for i in (1, 2, 3)]


@trap
def checkpoint_in_a_step(run):
    from keyway.utils.checkpoint import checkpoint
    w = P(1, 2, 3)
    f = run(lambda x: kw.autograd.grad(checkpoint(lambda y: (y * w).exp(), x, use_reentrant=False,
            preserve_rng_state=False).sum(), w)[0])
    return [f(X() / i) for i in (1, 2, 3)]


@trap
def saved_tensor_hooks_within_at_program(run):
    w = P(1, 2, 3)

    def f(x):
        with kw.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
            return (w * w * x).sum()
    f = run(f)
    return [kw.autograd.grad(f(X()), w)[0] for i in range(3)]


@trap
def saved_tensor_hooks_around(run):
    w = P(1, 2, 3)
    f = run(lambda x: kw.autograd.grad((w * w * x).sum(), w)[0])
    out = [f(X()), f(X())]
    with kw.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
        out.append(f(X()))
    return out


@trap
def requires_grad_of_what_is_made_within(run):

    def f(x):
        w = kw.ones(3, requires_grad=True)
        return (x * w, w)
    f = run(f)
    out = []
    for i in range(3):
        y, w = f(X())
        out.append((y.requires_grad, w.requires_grad))
        tried(y.sum().backward)
        out.append(w.grad)
    return out


@trap
def requires_grad_set_within(run):

    def f(x):
        y = (x * 2).requires_grad_()
        return y
    f = run(f)
    return [f(X()) for i in range(3)]


@trap
def requires_grad_set_on_an_argument(run):

    def f(x):
        x.requires_grad_()
        return kw.autograd.grad((x * x).sum(), x)[0]
    f = run(f)
    out = []
    for i in range(3):
        x = X()
        out += [f(x), x.requires_grad]
    return out


@trap
def requires_grad_unset_on_state(run):
    w = P(1, 2, 3)

    def f(x):
        w.requires_grad_(False)
        return x * w
    f = run(f)
    out = []
    for i in range(3):
        w.requires_grad_(True)
        out += [f(X()), w.requires_grad]
    return out


@trap
def detached_in_place_argument(run):

    def f(x):
        y = x * 2
        x.detach_()
        return y.detach()
    f = run(f)
    out = []
    for i in range(3):
        x = P(1, 2, 3) * 1
        out += [f(x), x.requires_grad]
    return out


@trap
def history_written_to_an_argument(run):
    w = P(1, 2, 3)

    def f(x):
        x.add_(w)
    f = run(f)
    out = []
    for i in range(3):
        x = X()
        f(x)
        out += [x, x.requires_grad]
    return out


@trap
def history_written_to_state(run):
    w = P(1, 2, 3)
    out = []
    for i in range(1):
        s = [kw.zeros(3)]
        b = s[0]

        def f(x):
            b.add_(w)
        f = run(f)
        f(X())
        out.append(b.requires_grad)
        b.detach_()
        f(X())
        out.append(b.requires_grad)
        b.detach_()
        f(X())
        out.append(b.requires_grad)
    return out


@trap
def result_that_is_a_view_of_an_argument(run):
    w = P(4)
    f = run(lambda x: x[0])
    out = []
    for i in range(3):
        x = kw.ones(2, 1)
        v = f(x)
        v.mul_(w)
        out += [x.requires_grad, x.detach()]
    return out


@trap
def result_that_is_a_view_of_another_result(run):
    w = P(4)

    def f(x):
        y = x * 2
        return (y, y[0])
    f = run(f)
    out = []
    for i in range(3):
        y, v = f(kw.ones(2, 1))
        v.mul_(w)
        out += [y.requires_grad, y.detach()]
    return out


@trap
def detach_of_an_argument(run):
    f = run(lambda x: x.detach())
    out = []
    for i in range(3):
        x = P(1, 2, 3)
        y = x * x
        d = f(x)
        d.add_(1)
        out += [x, tried(y.sum().backward)]
    return out


@trap
def version_after_a_run(run):
    f = run(lambda x: x.add_(1))
    out = []
    for i in range(3):
        w = P(1, 2, 3)
        y = w * 1
        z = y * y
        f(y.detach())
        out += [tried(z.sum().backward), y._version]
    return out


@trap
def version_after_an_error(run):

    def f(x, i):
        x.add_(1)
        return x.index_select(0, i)
    f = run(f)
    out = []
    for i in (0, 1, 0, 7, 0, 7):
        w = P(1, 2, 3)
        y = w * 1
        z = y * y
        r = tried(f, y.detach(), kw.tensor([i]))
        out += [r if isinstance(r, Exception) else 0, tried(z.sum().backward), w.grad]
    return out


@trap
def hook_of_a_parameter_replaced_between(run):
    w = P(1, 2, 3)
    h = w.register_hook(lambda g: g * 10)
    f = run(gradient_of(w))
    out = [f(X()), f(X())]
    h.remove()
    w.register_hook(lambda g: g * 3)
    return out + [f(X()), f(X())]


@trap
def hook_of_an_accumulator_added_between(run):
    w = P(1, 2, 3)
    node = w.view_as(w).grad_fn.next_functions[0][0]
    f = run(gradient_of(w))
    out = [f(X()), f(X())]

    def triple(*grads):
        w.grad.mul_(3)
    h = node.register_hook(triple)
    out += [f(X()), f(X())]
    h.remove()
    return out + [f(X())]


@trap
def hook_of_an_argument(run):

    def f(w, x):
        return kw.autograd.grad((x * w).sum(), w)[0]
    f = run(f)
    out = []
    for i in range(5):
        w = P(1, 2, i)
        if i in (2, 4):
            w.register_hook(lambda g, i=i: g * i)
        out.append(f(w, X()))
    return out


@trap
def post_accumulate_hook_removed_between(run):
    w = P(1, 2, 3)
    h = w.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(3))
    f = run(gradient_of(w))
    out = [f(X()), f(X())]
    h.remove()
    return out + [f(X())]


@trap
def saved_tensor_hooks_left(run):
    w = P(1, 2, 3)
    f = run(lambda x: kw.autograd.grad((w * w * x).sum(), w)[0])
    with kw.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
        out = [f(X()), f(X())]
    return out + [f(X())]


@trap
def saved_tensor_hooks_within(run):
    w = P(1, 2, 3)

    def f(x):
        with kw.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t + 1):
            return kw.autograd.grad((w * w * x).sum(), w)[0]
    f = run(f)
    return [f(X() * i) for i in range(4)]


def test_a_leaf_with_hooks_is_followed_while_no_hooks_change():
    w = P(1, 2, 3)
    w.register_hook(lambda g: g * 10)
    f = kw.compile(lambda x: kw.autograd.grad((x * w).sum(), w)[0], fullgraph=True)
    for i in range(4):
        kw.testing.assert_close(f(X() * i), X() * i * 10)
    assert f.explain().startswith("1 graphs")


@pytest.mark.parametrize("name", marked(TRAPS, FAILING))
def test_what_is_compiled_does_what_the_program_does(name):
    compare(TRAPS[name])
