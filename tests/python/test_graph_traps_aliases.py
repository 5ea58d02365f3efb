"""What a compiled function could get wrong of errors, kinds of tensors, memory that is shared, and what it keeps alive."""

import gc
import weakref

import keyway as kw
import pytest
from graph_traps import T3, P, Traps, X, compare, marked, tried
from keyway import graph, nn

TRAPS = Traps()
trap = TRAPS.add
# Those that fail, and the finding that says why.
FAILING = {
    "embedding_out_of_range": "finding 19",
    "keeps_a_module_that_its_parameter_refers_to": "finding 17",
    "linear_of_a_vector": "finding 18",
}


class W:
    pass


@trap
def embedding_out_of_range(run):
    w = kw.arange(12.0).view(4, 3)

    def f(x, i):
        x.add_(1)
        return nn.functional.embedding(i, w) * 2
    f = run(f)
    out = []
    for i in (0, 1, 2, 9, 3, 9, 1):
        x = X()
        out += [tried(f, x, kw.tensor([i])), x]
    return out


@trap
def cholesky_fails(run):
    f = run(lambda a: kw.linalg.cholesky(a) + 1)
    out = []
    for s in (1.0, 2.0, -1.0, 3.0, -1.0, 1.0):
        out.append(tried(f, kw.eye(3) * s))
    return out


@trap
def dtypes(run):
    f = run(lambda x: (x + x, x * 2, x == x, -x if x.dtype != kw.bool else ~x, x.sum()))
    out = []
    for d in (kw.float16, kw.bfloat16, kw.complex64, kw.bool, kw.int8, kw.uint8, kw.int64, kw.float64):
        for _ in range(3):
            out.append(tried(f, kw.ones(3, dtype=d)))
    return [o if isinstance(o, tuple) else type(o).__name__ for o in out]


@trap
def empty_and_scalar(run):
    f = run(lambda x: (x * 2, x.sum(), x.reshape(-1), x.exp().mean()))
    return [f(s) for s in (kw.ones(0), kw.ones(0), kw.ones(()), kw.ones(()), kw.ones(0, 3), kw.ones(3, 0), kw.ones(3,
            0))]


@trap
def meta(run):
    f = run(lambda x: (x @ x.t()).exp())
    return [f(kw.ones(3, 2, device="meta")).shape for _ in range(3)]


@trap
def strides_change(run):
    f = run(lambda x: (x * 2, x.t() + 1))
    b = kw.arange(24.0).view(4, 6)
    return [f(v) for v in (b, b, b.t(), b.t(), b[:, ::2], b[1:], b[1:], kw.ones(1, 6).expand(4, 6))]


@trap
def overlapping_arguments(run):
    f = run(lambda a, b: (a.add_(1), b * 2)[1])
    out = []
    for i in range(3):
        x = kw.arange(6.0)
        out += [f(x[:4], x[2:]), x]
    for i in range(3):
        out += [f(kw.arange(4.0), kw.arange(4.0))]
    x = kw.arange(6.0)
    return out + [f(x[:4], x[2:]), x]


@trap
def argument_aliases_state(run):
    s = kw.arange(6.0)
    f = run(lambda a: (a.add_(1), s * 2)[1])
    out = []
    for i in range(3):
        out += [tried(f, s[:3]), s.clone()]
    for i in range(2):
        out += [tried(f, kw.zeros(3)), s.clone()]
    return out + [tried(f, s[:3]), s.clone()]


@trap
def results_alias(run):
    s = kw.zeros(2)
    f = run(lambda a: (a, a[0], s, s[0], a))
    out = []
    for i in range(4):
        a = kw.zeros(2)
        r = f(a)
        r[1].add_(1)
        r[3].add_(1)
        out += [a, s.clone(), r[0] is a, r[4] is a, r[2] is s]
    return out


@trap
def results_alias_each_other(run):

    def f(a):
        y = a * 2
        return (y, y.view(-1), y[0], y, y.t())
    f = run(f)
    out = []
    for i in range(4):
        r = f(kw.ones(2, 3))
        r[1].add_(i)
        out += [list(r), r[0] is r[3]]
    return out


@trap
def results_of_runs_are_their_own(run):

    def f(a):
        y = a * 2
        return (y, y + 1, kw.zeros(2))
    f = run(f)
    rs = [f(X() * i) for i in range(5)]
    rs[1][0].zero_()
    rs[2][2].add_(5)
    return rs


@trap
def state_changes_between(run):
    s = kw.zeros(2)
    f = run(lambda a: a + s)
    out = []
    for i in range(4):
        s.add_(1)
        out.append(f(kw.zeros(2)))
    s.t_ if False else None
    s.unsqueeze_(0)
    out.append(f(kw.zeros(2)))
    s.data = kw.full((2,), 9.0)
    return out + [f(kw.zeros(2)), f(kw.zeros(2))]


@trap
def module_collected(run):
    m = nn.Linear(2, 2)
    m.run = run(m.forward)
    m.run(kw.ones(2))
    m.run(kw.ones(2))
    r = weakref.ref(m)
    del m
    gc.collect()
    return r() is None


@trap
def module_with_hook_collected(run):
    m = nn.Linear(2, 2)
    m.weight.owner = m
    m.run = run(m.forward)
    m.run(kw.ones(2))
    m.run(kw.ones(2))
    r = weakref.ref(m)
    del m
    gc.collect()
    return r() is None


@trap
def argument_is_let_go(run):
    f = run(lambda x: x * 2)
    x = kw.ones(3)
    x.k = W()
    f(x)
    f(x)
    r = weakref.ref(x.k)
    del x
    gc.collect()
    return r() is None


@trap
def interrupted(run):
    n = [0]

    def f(x):
        n[0] += 1
        if n[0] == 1:
            raise KeyboardInterrupt
        return x * 2
    f = run(f)
    try:
        f(X())
    except KeyboardInterrupt:
        pass
    return [graph.is_capturing(), f(X()), f(X() * 2)]


@trap
def many_calls(run):

    def f(x):
        for _ in range(3000):
            x = x * 1.0001 + 0.1
        return x
    f = run(f)
    r = [f(X() * i) for i in range(3)]
    return r


@trap
def deep_structure(run):

    def f(x):
        y = x * 2
        for _ in range(300):
            y = [y]
        return y
    f = run(f)
    out = []
    for i in range(2):
        r = tried(f, X() * i)
        while isinstance(r, list):
            r = r[0]
        out.append(r)
    return out


@trap
def keeps_a_module_that_its_parameter_refers_to(run):
    m = nn.Linear(2, 2)
    m.weight.owner = m
    m.run = run(m.forward)
    m.run(kw.ones(3, 2))
    m.run(kw.ones(3, 2))
    r = weakref.ref(m)
    del m
    gc.collect()
    return r() is None


@trap
def linear_of_a_vector(run):
    kw.manual_seed(0)
    m = nn.Linear(2, 2)
    f = run(m)
    out = [f(kw.ones(2) * i) for i in range(3)]
    return out + ["0 graphs" in getattr(f, "explain", lambda: "")()]


@trap
def out_of_a_slice(run):

    def f(x):
        y = kw.zeros(4)
        kw.add(x, x, out=y[:3])
        kw.mul(x, y[1:], out=y[1:])
        return y
    f = run(f)
    return [f(X() * i) for i in range(4)]


@trap
def views_chained(run):

    def f(x):
        y = x * 1
        a = y[::2]
        b = a.flip(0)
        c = y.view(2, 3).t().reshape(-1)
        a.add_(1)
        return (y, a, b, c, y.view(3, 2).transpose(0, 1)[0].expand(2, 3))
    f = run(f)
    return [f(kw.arange(6.0) * i) for i in range(4)]


@trap
def argument_resized_between(run):
    f = run(lambda x: x * 2)
    x = kw.ones(3)
    out = [f(x), f(x)]
    x.resize_(2)
    return out + [f(x), f(x)]


@trap
def state_shrinks_between(run):
    s = kw.ones(3)
    f = run(lambda x: x + s)
    out = [f(X()), f(X())]
    s.resize_(1)
    return out + [f(X()), f(X())]


@trap
def custom_operator_is_a_call(run):

    @kw.library.custom_op("traps::twice", mutates_args=())
    def twice(x: kw.Tensor) -> kw.Tensor:
        return x * (2 if x.sum().item() > 0 else 3)
    f = run(lambda x: twice(x) + 1)
    r = [f(X() + i) for i in (0, 5, -5, 2)]
    return r + [twice(X())]


@trap
def results_change_between_runs_of_threads(run):
    import threading
    f = run(lambda x: x.exp().sum(0) @ x)
    f(kw.ones(50, 50))
    r = {}

    def go(i):
        for k in range(20):
            r[i] = f(kw.ones(50, 50) * (i / 10))
    ts = [threading.Thread(target=go, args=(i,)) for i in range(6)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    return [r[i] for i in range(6)]


@trap
def many_kinds(run):
    f = run(lambda x, k: x * k)
    return [f(X(), float(k % 23)) for k in range(60)]


@trap
def nested_compiled(run):
    a = run(lambda x: x * 2)
    b = run(lambda x: a(x) + a(x + 1))
    c = run(lambda x: b(x) * a(x))
    return [f(X() * i) for i in range(3) for f in (a, b, c, b, a)]


@pytest.mark.parametrize("name", marked(TRAPS, FAILING))
def test_what_is_compiled_does_what_the_program_does(name):
    compare(TRAPS[name])
