"""Graphs: captures, what they refuse, and keyway.compile. The oracle is the same program run eagerly."""

import gc

import numpy as np
import pytest

import keyway as kw
from keyway import graph, nn


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, kw.Tensor):
        assert a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride()
        assert np.array_equal(a.detach().numpy(), b.detach().numpy(), equal_nan=a.is_floating_point())
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            same(a[key], b[key])
    else:
        assert a == b


def test_a_graph_prints_with_names_and_lines_and_gives_what_the_function_gives():
    def loss(x, weight):
        return (x @ weight).relu().sum()

    x, weight = kw.randn(2, 3), kw.randn(3, 4)
    captured = graph.capture(loss, x, weight)
    line = loss.__code__.co_firstlineno + 1
    assert str(captured) == (
        "graph executed(%0 x: float32[2, 3], %1 weight: float32[3, 4]) {\n"
        f"  %2: float32[2, 4] = keyway::mm(%0, %1)  # test_graph.py:{line}\n"
        f"  %3: float32[2, 4] = keyway::relu(%2)  # test_graph.py:{line}\n"
        f"  %4: float32[] = keyway::sum(%3)  # test_graph.py:{line}\n"
        "  return (%4)\n}\n")
    assert repr(captured) == "<keyway.graph.Graph of 3 calls>"
    other = kw.randn(2, 3)
    same(captured(other, weight), loss(other, weight))
    same(graph.parse(str(captured))(other, weight), (loss(other, weight),))


def test_the_text_of_a_graph_has_strides_of_dimensions_of_size_1():
    x = kw.ones(3, 4)
    captured = graph.capture(lambda x: x[:1, ::2].t() * 1, x)
    same(graph.parse(str(captured))(x), (captured(x),))


def test_arguments_and_results_may_be_nested():
    def function(x, options, *, scale):
        y = x * scale
        y[0] = options["row"]
        return {"y": y, "pair": (y.sum(), scale), "none": None}

    x, row = kw.randn(2, 3), kw.randn(3)
    captured = graph.capture(function, x, {"row": row}, scale=2.0)
    same(captured(row.expand(2, 3).clone(), {"row": row * 2}, scale=2.0),
         function(row.expand(2, 3).clone(), {"row": row * 2}, scale=2.0))
    assert captured.mismatch(x, {"row": row}, scale=3.0) == "an argument is 3.0, but was 2.0 in the capture"
    assert captured.mismatch(x, {"col": row}, scale=2.0) == "the arguments have another structure than in the capture"
    with pytest.raises(kw.ValueError, match="argument 0 'x' is float64"):
        captured(x.double(), {"row": row}, scale=2.0)


REFUSED = {
    "a condition": lambda x: x if x.sum() > 0 else -x,
    "a loop over a value": lambda x: sum(x for _ in range(int(x.abs().sum()))),
    "item": lambda x: x * x.sum().item(),
    "float": lambda x: x * float(x.sum()),
    "index": lambda x: [x, x * 2][x.sum().long() * 0],
    "tolist": lambda x: kw.tensor(x.tolist()) + x,
    "numpy": lambda x: kw.tensor(x.numpy()) + x,
    "array": lambda x: x + float(np.asarray(x).sum()),
    "memoryview": lambda x: x * len(memoryview(x)),
    "dlpack": lambda x: kw.from_dlpack(x.__dlpack__()) * 2,
    "data_ptr": lambda x: x * (x.data_ptr() % 2),
    "repr": lambda x: x * len(repr(x)),
    "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 0],
    "unique": lambda x: x.unique(),
    "equal": lambda x: x if x.equal(x) else -x,
    "allclose": lambda x: x if kw.allclose(x, x) else -x,
    "in": lambda x: x if 3.0 in x else -x,
    "any": lambda x: x if (x > 0).any() else -x,
    "from_numpy": lambda x: x + kw.from_numpy(np.ones(3, np.float32)),
    "as_tensor of an array": lambda x: x + kw.as_tensor(np.ones(3, np.float32)),
    "frombuffer": lambda x: x + kw.frombuffer(bytearray(12), dtype=kw.float32),
    "seed": lambda x: (kw.manual_seed(1), kw.rand_like(x))[1],
    "state of a generator": lambda x: (kw.set_rng_state(kw.get_rng_state()), kw.rand_like(x))[1],
    "resized argument": lambda x: x.unsqueeze_(0) * 2,
    "set_": lambda x: setattr(x, "data", kw.zeros(3)) or x * 2,
    "pickle": lambda x: __import__("pickle").dumps(x) and x * 2,
    "deepcopy into a list": lambda x: KEPT.append(x * 2) or x + 1,
    "attribute of a module": lambda x: setattr(MODULE, "kept", x * 2) or x + 1,
    "caught error": lambda x: caught(x),
    "requires grad": lambda x: x * kw.ones(3, requires_grad=True),
}
KEPT: list = []
MODULE = nn.Module()


def caught(x):
    try:
        return x.index_select(0, kw.tensor([7]))
    except IndexError:
        return x * 2


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_graph_cannot_follow_is_refused(name):
    with pytest.raises(kw.Error, match="capture: "):
        graph.capture(REFUSED[name], kw.tensor([1.0, 2.0, -3.0]))
    assert not graph.is_capturing()
    KEPT.clear()


def test_a_refusal_names_the_line():
    def function(x):
        if x.sum() > 0:
            return x
        return -x

    with pytest.raises(kw.ValueError, match=f"at test_graph.py:{function.__code__.co_firstlineno + 1}"):
        graph.capture(function, kw.ones(3))


def test_a_program_as_written_is_differentiated_when_it_runs():
    weight = kw.randn(3, 2, requires_grad=True)

    def function(x):
        with kw.no_grad():
            scale = weight.abs().max()
        return ((x @ weight) / scale).tanh().sum()

    captured = graph.capture(function, kw.randn(4, 3), level="program")
    x = kw.randn(4, 3)
    (expected,) = kw.autograd.grad(function(x), [weight])
    (given,) = kw.autograd.grad(captured(x), [weight])
    same(given, expected)


def models():
    return {
        "mlp": (nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), (5, 8)),
        "batch norm": (nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.GELU(), nn.Flatten(),
                                     nn.Linear(4 * 36, 4)), (2, 3, 8, 8)),
        "dropout": (nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.Linear(16, 4)), (5, 8)),
        "transformer": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (2, 5, 8)),
        "layer norm": (nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 4)), (5, 8)),
    }


OPTIMIZERS = {
    "sgd": lambda p: kw.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: kw.optim.Adam(p, lr=0.01),
    "adamw": lambda p: kw.optim.AdamW(p, lr=0.01),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", models())
def test_compiled_training_steps_are_those_of_eager_training(name, optimizer):
    trained = []
    for compiled in (False, True):
        kw.manual_seed(0)
        model, shape = models()[name]
        steps = OPTIMIZERS[optimizer](list(model.parameters()))

        def step(x):
            steps.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            steps.step()
            return loss.detach()

        run = kw.compile(step) if compiled else step
        losses = [run(kw.randn(*shape)) for _ in range(6)]
        if compiled:
            assert "1 graphs" in run.explain(), run.explain()
        grads = [p.grad for p in model.parameters()]
        trained.append((losses, list(model.state_dict().values()), grads))
    same(trained[1], trained[0])


def test_a_compiled_model_trains_through_a_backward_outside_of_it():
    trained = []
    for compiled in (False, True):
        kw.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
        run = kw.compile(model) if compiled else model
        steps = kw.optim.SGD(run.parameters(), lr=0.1)
        for _ in range(4):
            steps.zero_grad()
            run(kw.randn(3, 8)).square().sum().backward()
            steps.step()
        if compiled:
            assert run.explain().startswith("1 graphs of"), run.explain()
        trained.append(list(model.state_dict().values()))
    same(trained[1], trained[0])


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0
        self.drop = nn.Dropout(0.5)
        self.weight = nn.Parameter(kw.ones(3))

    def forward(self, x):
        return self.drop(x * self.weight).detach() * self.scale


FACTOR = 3.0


def helper(x):
    return x * FACTOR


def changes():
    """Pairs of a function and what changes something that it sees."""
    module, offset, options = Scaled(), 1.0, {"lr": 0.1}
    parameter = kw.ones(3, requires_grad=True)
    optimizer = kw.optim.SGD([parameter], lr=0.1)

    def closes_over(x):
        return x + offset

    def change_offset():
        nonlocal offset
        offset = 2.0

    def change_factor():
        global FACTOR
        FACTOR = 4.0

    global FACTOR
    FACTOR = 3.0

    def train(x):
        optimizer.zero_grad()
        (parameter * x).sum().backward()
        optimizer.step()
        return parameter.detach().clone()

    def change_lr():
        optimizer.param_groups[0]["lr"] = 0.5

    def hook():
        module.register_forward_hook(lambda module, args, result: result + 1)

    return {
        "eval": (module, module.eval),
        "training of a part": (module, lambda: setattr(module.drop, "training", False)),
        "a number of a module": (module, lambda: setattr(module, "scale", 5.0)),
        "another parameter": (module, lambda: setattr(module, "weight", nn.Parameter(kw.full((3,), 4.0)))),
        "another part": (module, lambda: setattr(module, "drop", nn.Identity())),
        "probability of dropout": (module, lambda: setattr(module.drop, "p", 0.9)),
        "a hook": (module, hook),
        "a variable around": (closes_over, change_offset),
        "a global of a helper": (lambda x: helper(x), change_factor),
        "the learning rate": (train, change_lr),
        "the default dtype": (lambda x: x + kw.zeros(3).to(x.dtype), lambda: kw.set_default_dtype(kw.float64)),
    }


@pytest.mark.parametrize("name", changes())
def test_a_compiled_function_sees_what_changes_around_it(name):
    results = []
    for compiled in (False, True):
        function, change = changes()[name]
        run = kw.compile(function) if compiled else function
        x = kw.tensor([1.0, 2.0, 3.0])
        try:
            given = []
            for i in range(6):
                kw.manual_seed(i)
                if i == 3:
                    change()
                given.append(run(x))
        finally:
            kw.set_default_dtype(kw.float32)
        results.append(given)
    same(results[1], results[0])


def test_a_compiled_function_has_a_graph_for_each_kind_of_call():
    calls = []

    @kw.compile
    def function(x, factor=2.0):
        calls.append(x.shape)
        return x * factor

    for shape in [(2,), (3,), (2,), (3,), (2,)]:
        same(function(kw.ones(*shape)), kw.ones(*shape) * 2)
    same(function(kw.ones(2), factor=3.0), kw.ones(2) * 3)
    assert calls == [(2,), (3,), (2,)]
    assert "argument 0 'x' is float32[3], but was float32[2] in the capture" in function.explain()


def test_what_cannot_be_captured_runs_as_ever():
    @kw.compile
    def function(x):
        return x * 2 if x.sum() > 0 else x * 3

    for sign in (1.0, -1.0, 1.0):
        x = kw.full((3,), sign)
        same(function(x), x * 2 if sign > 0 else x * 3)
    assert "refused: " in function.explain()
    with pytest.raises(kw.ValueError, match="item gives numbers"):
        kw.compile(lambda x: x.sum().item(), fullgraph=True)(kw.ones(2))


def test_a_function_that_raises_leaves_no_capture_behind():
    @kw.compile
    def function(x):
        raise KeyError("no")

    with pytest.raises(KeyError):
        function(kw.ones(2))
    assert not graph.is_capturing()
    gc.collect()


def test_text_that_is_no_graph_raises():
    with pytest.raises(kw.ParseError, match="line 1"):
        graph.parse("graf()")
