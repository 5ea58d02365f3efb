"""What a compiled function could get wrong of errors, kinds of tensors, memory that is shared, and what it keeps alive."""

import gc
import weakref

import keyway as kw
import numpy as np
import pytest
from graph_traps import P, Traps, X, compare, marked, tried
from keyway import graph, nn

TRAPS = Traps()
trap = TRAPS.add
BIG = 40000
# Those that fail, and the finding that says why.
FAILING = {
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
def argument_resized_by_out(run):

    def f(x, y):
        kw.add(x, 1, out=y)
        return y * 2
    f = run(f)
    out = []
    for size in (1, 1, 5, 5, 3):
        y = kw.ones(size)
        out += [f(X(), y), y]
    return out


@trap
def state_resized_by_out(run):
    state = kw.ones(1)
    f = run(lambda x: kw.add(x, 1, out=state) * 2)
    out = [f(X()), state.clone()]
    state.resize_(1)
    return [*out, f(X()), state]


@trap
def view_of_what_out_resizes(run):

    def f(x):
        y = x.sum().reshape(1)
        view = y.view(1, 1)
        kw.add(x, 1, out=y)
        return y * 2, view
    f = run(f)
    return [f(X() * i) for i in range(4)]


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


def message_of(function, *args):
    return str(tried(function, *args))


@trap
def errors_say_all(run):
    """Of kernels that are called directly: the operator, the arguments and the rule."""
    select = run(lambda x, i: (x + 1).index_select(0, i) * 2)
    gather = run(lambda x, i: x.gather(0, i).exp())
    cholesky = run(lambda x: kw.linalg.cholesky(x) * 1)
    divide = run(lambda x, y: kw.bitwise_left_shift(x, 1) // y)
    out = []
    for i in (0, 1, 7, 2, 7):
        index = kw.tensor([i])
        out += [message_of(select, X(), index), message_of(gather, X(), index)]
        out += [message_of(cholesky, kw.eye(2) * (3 - i)), message_of(divide, index, kw.tensor([i % 7]))]
    return out


@trap
def keeps_nothing_of_a_parameter_that_refers_to_its_graph(run):
    w = P(1, 2, 3)
    w.f = run(lambda x: x * w)
    w.f(X()), w.f(X())
    r = weakref.ref(w)
    del w
    gc.collect()
    return r() is None


@trap
def keeps_what_is_held_elsewhere(run):
    w = P(1, 2, 3)
    w.owner = W()
    w.owner.f = run(lambda x: (x * w).sum())
    w.owner.f(X())
    given = w.owner.f(X())
    r, part = weakref.ref(w.owner), w.view(3)
    del w
    gc.collect()
    return r() is not None, part, given.detach()


@trap
def layers_of_vectors(run):
    kw.manual_seed(0)
    modules = [nn.Linear(3, 2), nn.Bilinear(3, 3, 2), nn.GRUCell(3, 2), nn.LSTMCell(3, 2), nn.RNNCell(3, 2)]
    out = []
    for module in modules:
        count = 2 if isinstance(module, nn.Bilinear) else 1
        f = run(module)
        out += [f(*(X() * i for _ in range(count))) for i in range(3)]
        out.append("0 graphs" in getattr(f, "explain", lambda: "")())
    return out


@trap
def recurrent_layers(run):
    kw.manual_seed(0)
    out = []
    for module in (nn.GRU(3, 2), nn.LSTM(3, 2, batch_first=True), nn.RNN(3, 2, num_layers=2), nn.GRU(3, 2, bidirectional=True)):
        f = run(module)
        out += [f(kw.ones(4, 2, 3) * i) for i in range(3)]
        out += [f(kw.ones(4, 3) * i) for i in range(3)]
        out.append("0 graphs" in getattr(f, "explain", lambda: "")())
    return out


@trap
def spectral_norm_of_a_layer(run):
    kw.manual_seed(0)
    out = []
    for norm in (nn.utils.spectral_norm, nn.utils.parametrizations.spectral_norm):
        module = norm(nn.Linear(3, 2))
        f = run(module)
        out += [f(kw.ones(4, 3) * i) for i in range(3)]
        module.eval()
        out += [f(kw.ones(4, 3) * i) for i in range(3)]
        # The older one keeps the weight that it computes as an attribute.
        out.append(norm is not nn.utils.spectral_norm and "0 graphs" in getattr(f, "explain", lambda: "")())
    return out


@trap
def training_of_layers_of_vectors(run):
    kw.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))

    def step(x):
        model.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        return loss.detach(), [p.grad for p in model.parameters()]
    f = run(step)
    out = [f(X() * i) for i in range(3)]
    return out + ["0 graphs" in getattr(f, "explain", lambda: "")()]


@trap
def overlap_of_two_storages_in_a_chain(run):

    def f(a, b):
        a.mul_(2)
        c = b + 1
        return c * 2
    f = run(f)
    out = []
    for i in range(4):
        arr = np.arange(BIG + 1, dtype=np.float32)
        out.append(f(kw.from_numpy(arr[:-1]) if i else kw.arange(float(BIG)), kw.from_numpy(arr[1:])).sum())
        out.append(float(arr.sum()))
    return out


@trap
def overlap_by_dlpack_in_a_chain(run):

    def f(a, b):
        a.mul_(2)
        c = b + 1
        return c * 2
    f = run(f)
    out = []
    for i in range(4):
        t = kw.arange(float(BIG + 1))
        a = kw.from_dlpack(t[:-1].__dlpack__()) if i else kw.arange(float(BIG))
        r = f(a, t[1:] if i else kw.arange(float(BIG)))
        out.append(r.double().sum())
        out.append(r[-10000])
    return out


@trap
def overlap_of_two_storages_without_a_chain(run):

    def f(a, b):
        a.mul_(2)
        return b.cumsum(0)
    f = run(f)
    out = []
    for i in range(4):
        arr = np.arange(9, dtype=np.float32)
        out.append(f(kw.from_numpy(arr[:-1]) if i else kw.arange(8.0), kw.from_numpy(arr[1:])))
        out.append(float(arr.sum()))
    return out


@trap
def overlap_of_state(run):
    arr = np.zeros(4, np.float32)
    kept, same = kw.from_numpy(arr), kw.from_numpy(arr)

    def f(x):
        y = same * 2
        kept.add_(x)
        return y + same
    f = run(f)
    return [f(kw.ones(4) * i) for i in range(4)] + [float(arr.sum())]


@trap
def overlap_by_frombuffer(run):

    def f(a, b):
        a.copy_(b.flip(0))
        return a + b
    f = run(f)
    out = []
    for i in range(4):
        data = bytearray(np.arange(8, dtype=np.float32).tobytes())
        a = kw.frombuffer(data, dtype=kw.float32, count=6)
        b = kw.frombuffer(data, dtype=kw.float32, offset=8) if i else kw.arange(6.0)
        out += [f(a, b), bytes(data)]
    return out


def test_overlapping_memory_that_is_only_read_is_followed():
    arr = np.arange(6, dtype=np.float32)
    f = kw.compile(lambda a, b: a + b, fullgraph=True)
    for _ in range(3):
        given = f(kw.from_numpy(arr[:-1]), kw.from_numpy(arr[1:]))
        np.testing.assert_array_equal(given.numpy(), arr[:-1] + arr[1:])
    assert f.explain().startswith("1 graphs")


@pytest.mark.parametrize("name", marked(TRAPS, FAILING))
def test_what_is_compiled_does_what_the_program_does(name):
    compare(TRAPS[name])
