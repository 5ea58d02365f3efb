"""What a compiled function could get wrong of modes and transforms, within it and around it."""

import keyway as kw
import pytest
from graph_traps import T3, P, Traps, X, compare, marked, tried
from keyway import nn

TRAPS = Traps()
trap = TRAPS.add
# Those that fail, and the finding that says why.
FAILING = {
}


@trap
def inference_within(run):

    def f(x):
        with kw.inference_mode():
            return x * 2
    f = run(f)
    return [f(X()).is_inference() for i in range(3)]


@trap
def inference_around(run):
    f = run(lambda x: x * 2)
    out = []
    for i in range(3):
        with kw.inference_mode():
            out.append(f(X()).is_inference())
    for i in range(3):
        out.append(f(X()).is_inference())
    return out


@trap
def inference_argument(run):
    f = run(lambda x: x.add_(1))
    out = [f(X()), f(X())]
    with kw.inference_mode():
        x = X()
    return out + [tried(f, x), x]


@trap
def inference_argument_viewed(run):
    f = run(lambda x: x.view(3))
    out = [f(X()).is_inference()] * 2
    with kw.inference_mode():
        x = X()
    return out + [f(x).is_inference()]


@trap
def default_dtype_set_within(run):

    def f(x):
        kw.set_default_dtype(kw.float64)
        return x + 1
    f = run(f)
    out = []
    for i in range(3):
        kw.set_default_dtype(kw.float32)
        f(X())
        out.append(kw.get_default_dtype())
    kw.set_default_dtype(kw.float32)
    return out


@trap
def grad_mode_set_within(run):

    def f(x):
        kw.set_grad_enabled(False)
        return x + 1
    f = run(f)
    out = []
    for i in range(3):
        kw.set_grad_enabled(True)
        f(X())
        out.append(kw.is_grad_enabled())
    kw.set_grad_enabled(True)
    return out


@trap
def default_device(run):
    f = run(lambda x: kw.zeros(3))
    out = [f(X()).device, f(X()).device]
    with kw.device("meta"):
        out.append(f(X()).device)
    return out + [f(X()).device]


@trap
def vmap_of_compiled(run):
    f = run(lambda x: (x * 2).sum())
    out = []
    for i in range(3):
        out.append(tried(kw.vmap(f), kw.ones(2, 3) * i))
    return out + [f(X())]


@trap
def vmap_of_compiled_run_before(run):
    f = run(lambda x: (x * 2).sum())
    out = [f(X()), f(X())]
    for i in range(3):
        out.append(tried(kw.vmap(f), kw.ones(2, 3) * i))
    return out + [f(X())]


@trap
def vmap_with_random_within(run):
    f = run(lambda x: x + kw.rand(3))
    f(X())
    f(X())
    w = X()
    return [type(tried(kw.vmap(lambda y: f(w) * y), kw.ones(2, 3))).__name__ for i in range(2)]


@trap
def vmap_within(run):
    f = run(lambda x: kw.vmap(lambda y: (y * y).sum())(x))
    return [f(kw.ones(2, 3) * i) for i in range(4)]


@trap
def grad_within(run):
    f = run(lambda x: kw.func.grad(lambda y: (y ** 3).sum())(x))
    return [f(X() * i) for i in range(4)]


@trap
def grad_of_compiled(run):
    f = run(lambda x: (x ** 3).sum())
    f(X())
    f(X())
    return [tried(kw.func.grad(f), X() * i) for i in range(4)] + [tried(kw.func.hessian(f), X()) for i in range(2)]


@trap
def jvp_of_compiled(run):
    f = run(lambda x: (x ** 3).sum())
    f(X())
    f(X())
    return [tried(kw.func.jvp, f, (X() * i,), (kw.ones(3),)) for i in range(4)]


@trap
def jvp_within(run):
    f = run(lambda x: kw.func.jvp(lambda y: (y ** 3).sum(), (x,), (x,)))
    return [tried(f, X() * i) for i in range(4)]


@trap
def per_sample_gradients_within(run):
    w = P(1, 2, 3)
    f = run(lambda x: kw.vmap(kw.func.grad(lambda u, y: (u * y).exp().sum()), in_dims=(None, 0))(w.detach(), x))
    return [f(kw.ones(2, 3) * i) for i in range(4)]


@trap
def hessian_within(run):
    f = run(lambda x: kw.func.hessian(lambda y: (y ** 3).sum())(x))
    return [tried(f, X() * i) for i in range(4)]


@trap
def functional_jacobian_within(run):
    f = run(lambda x: kw.autograd.functional.jacobian(lambda y: y ** 3, x))
    return [tried(f, X() * i) for i in range(4)]


@trap
def double_backward_within(run):
    w = P(1, 2, 3)

    def f(x):
        g, = kw.autograd.grad((w ** 3 * x).sum(), w, create_graph=True)
        return kw.autograd.grad((g * g).sum(), w)[0]
    f = run(f)
    return [f(X() * i) for i in range(4)]


@trap
def create_graph_result(run):
    w = P(1, 2, 3)

    def f(x):
        g, = kw.autograd.grad((w ** 3 * x).sum(), w, create_graph=True)
        return g
    f = run(f)
    return [kw.autograd.grad(f(X() * i).sum(), w)[0] for i in range(1, 4)]


@trap
def grad_of_outside_graph(run):
    out = []
    f = run(lambda y, w: kw.autograd.grad(y, w)[0])
    for i in range(3):
        w = P(1, 2, i)
        out.append(f((w ** 3).sum(), w))
    return out


@trap
def autocast_around(run):
    a = kw.randn(4, 4)
    f = run(lambda x: x @ a)
    out = [f(kw.ones(4, 4)).dtype]
    for i in range(2):
        with kw.autocast("cpu", dtype=kw.bfloat16):
            out.append(f(kw.ones(4, 4)))
    return out + [f(kw.ones(4, 4))]


@trap
def autocast_within_step(run):
    l = nn.Linear(4, 4)

    def f(x):
        l.zero_grad()
        with kw.autocast("cpu", dtype=kw.bfloat16):
            y = l(x).float().sum()
        y.backward()
        return y.detach()
    f = run(f)
    out = []
    for i in range(4):
        out.append(f(kw.ones(2, 4) * i))
        out.append(l.weight.grad.clone())
        with kw.no_grad():
            l.weight.add_(1)
    return out


@trap
def leaf_grad_is_returned(run):
    w = P(1, 2, 3)

    def f(x):
        w.grad = None
        (w * x).sum().backward()
        return w.grad
    f = run(f)
    return [(lambda g: (g, g is w.grad))(f(X() * i)) for i in range(4)]


@trap
def grad_is_read(run):
    w = P(1, 2, 3)

    def f(x):
        return x if w.grad is None else x * w.grad
    f = run(f)
    out = [f(X()), f(X())]
    w.grad = kw.full((3,), 5.0)
    out += [f(X())]
    w.grad = kw.full((3,), 6.0)
    out += [f(X()), f(X())]
    w.grad = None
    return out + [f(X())]


@trap
def grad_is_an_argument(run):
    w = P(1, 2, 3)
    w.grad = kw.zeros(3)

    def f(x):
        (w * x).sum().backward()
        return x * 1
    f = run(f)
    return [f(w.grad) for i in range(3)] + [f(kw.ones(3))] + [w.grad]


@trap
def is_leaf_asked(run):
    f = run(lambda x: x.detach() * (2 if x.is_leaf else 3))
    l = P(1, 2, 3)
    return [f(l), f(l * 1), f(l)]


@trap
def subclass_of_argument(run):

    class S(kw.Tensor):

        @classmethod
        def __keyway_function__(cls, func, types, args=(), kwargs=None):
            return 7
    f = run(lambda x: x * 2)
    out = [f(X()), f(X())]
    return out + [f(kw.Tensor._make_subclass(S, X()))]


@trap
def plain_subclass_of_argument(run):

    class S(kw.Tensor):
        pass
    f = run(lambda x: x * 2)
    out = [type(f(kw.Tensor._make_subclass(S, X()))).__name__ for _ in range(3)] + [type(f(X())).__name__]
    return out


@trap
def parameter_argument(run):
    f = run(lambda x: x.detach() * (2 if isinstance(x, nn.Parameter) else 3))
    return [f(nn.Parameter(X())), f(P(1, 2, 3)), f(nn.Parameter(X()))]


@trap
def dispatch_mode_around(run):
    from keyway.utils.python_dispatch import KeywayDispatchMode

    class M(KeywayDispatchMode):

        def __keyway_dispatch__(s, func, types, args=(), kwargs=None):
            r = func(*args, **kwargs or {})
            return r * 10 if "mul" in str(func) else r
    f = run(lambda x: x * 2)
    out = [f(X()), f(X()), f(X())]
    with M():
        out += [f(X()), f(X())]
    return out + [f(X())]


@trap
def dispatch_mode_within(run):
    from keyway.utils.python_dispatch import KeywayDispatchMode

    class M(KeywayDispatchMode):

        def __keyway_dispatch__(s, func, types, args=(), kwargs=None):
            r = func(*args, **kwargs or {})
            return r + 10 if "mul" in str(func) else r

    def f(x):
        with M():
            return x * 2
    f = run(f)
    return [tried(f, X() * i) for i in range(4)]


@trap
def anomaly_around(run):
    w = P(0, 1)
    f = run(lambda x: kw.autograd.grad((w * x).sqrt().sum(), w)[0])
    z = T3(-1, -1)
    out = [f(z), f(z)]
    with kw.autograd.detect_anomaly():
        r = tried(f, z)
        out.append(type(r).__name__)
    return out


@trap
def inference_left_within(run):

    def f(x):
        with kw.inference_mode(False):
            return x * 2
    f = run(f)
    with kw.inference_mode():
        return [f(X()).is_inference() for i in range(3)]


@trap
def inference_state(run):
    with kw.inference_mode():
        w = X()

    def f(x):
        with kw.inference_mode():
            w.add_(x)
        return w * 2
    f = run(f)
    return [f(X()) for i in range(3)] + [w.is_inference()]


@trap
def anomaly_within(run):
    w = P(0, 1)

    def f(x):
        with kw.autograd.detect_anomaly():
            return kw.autograd.grad((w * x).sqrt().sum(), w)[0]
    f = run(f)
    return [type(tried(f, kw.ones(2) * i)).__name__ for i in (1, 1, -1, 1)]


@trap
def leaf_grads_are_returned(run):
    v, w = P(1, 2, 3), P(4, 5, 6)

    def f(x):
        v.grad = w.grad = None
        loss = (v * w * x).sum()
        loss.backward()
        return {"v": v.grad, "w": w.grad, "again": w.grad, "loss": loss.detach()}
    f = run(f)
    out = []
    for i in range(4):
        given = f(X() * i)
        out.append((given, given["v"] is v.grad, given["w"] is w.grad, given["again"] is w.grad))
    return out


@trap
def accumulated_grad_is_returned(run):
    w = P(1, 2, 3)

    def f(x):
        (w * x).sum().backward()
        return w.grad
    f = run(f)
    return [(lambda g: (g.clone(), g is w.grad))(f(X() * i)) for i in range(4)]


@trap
def view_of_a_leaf_grad_is_returned(run):
    w = P(1, 2, 3)

    def f(x):
        w.grad = None
        (w * x).sum().backward()
        return w.grad[1:], w.grad
    f = run(f)
    out = []
    for i in range(4):
        part, grad = f(X() * i)
        part.add_(1)
        out.append((part, grad, grad is w.grad))
    return out


@trap
def grad_is_an_argument_that_is_read(run):
    w = P(1, 2, 3)
    w.grad = kw.ones(3)

    def f(g):
        return g + w.grad
    f = run(f)
    return [f(w.grad), f(w.grad), f(kw.zeros(3)), f(w.grad)]


def test_gradients_are_given_beside_their_leaves():
    f = kw.compile(lambda w, g: (w.detach() - g * 0.5).sum(), fullgraph=True)
    for i in range(3):
        w = P(1, 2, i)
        w.grad = kw.ones(3)
        assert f(w, w.grad).item() == 1.5 + i
    assert f.explain().startswith("1 graphs")


@pytest.mark.parametrize("name", marked(TRAPS, FAILING))
def test_what_is_compiled_does_what_the_program_does(name):
    compare(TRAPS[name])
