"""cond and while_loop, eager and in graphs. The oracle is a program with `if` and `while`, and PyTorch's documents."""

import random

import numpy as np
import pytest

import keyway as kw
from keyway import graph, nn

LEVELS = ("executed", "program")


def same(a, b):
    if isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
        return
    assert a.dtype == b.dtype and a.shape == b.shape
    assert np.array_equal(a.detach().numpy(), b.detach().numpy(), equal_nan=a.is_floating_point())


def double_or_negate(p, x):
    return kw.cond(p, lambda x: x * 2, lambda x: -x, (x,))


def collatz(n):
    def step(n, count):
        odd = (n % 2 == 1).reshape(())
        return kw.cond(odd, lambda n: 3 * n + 1, lambda n: n // 2, (n,)), count + 1

    return kw.while_loop(lambda n, count: (n > 1).all(), step, (n, kw.zeros([], dtype=kw.int64)))


def test_outside_of_a_capture_one_function_is_called_with_the_operands():
    calls = []

    def noting(name, give):
        def function(x):
            calls.append(name)
            return give(x)

        return function

    x = kw.tensor([1.0, -2.0])
    yes, no = noting("yes", lambda x: x * 2), noting("no", lambda x: x + 1)
    same(kw.cond(kw.tensor(True), yes, no, (x,)), x * 2)
    same(kw.cond(kw.tensor([0]), yes, no, [x]), x + 1)
    same(kw.cond(False, yes, no, (x,)), x + 1)
    assert calls == ["yes", "no", "no"]
    same(kw.cond(kw.tensor(1.0), lambda: x + 1, lambda: x + 2), x + 1)
    given = kw.cond(kw.tensor(True), lambda d: {"a": d["x"] + 1, "n": 3}, lambda d: None, ({"x": x},))
    same(given["a"], x + 1)
    assert given["n"] == 3


def test_a_result_is_a_tensor_of_its_own():
    x = kw.ones(3)
    y, z = kw.cond(kw.tensor(True), lambda x: (x, x), lambda x: (x, x), (x,))
    y.add_(1)
    z.mul_(5)
    same([x, y, z], [kw.ones(3), kw.full([3], 2.0), kw.full([3], 5.0)])
    (y,) = kw.while_loop(lambda x: False, lambda x: (x,), (x,))
    y.add_(1)
    same([x, y], [kw.ones(3), kw.full([3], 2.0)])


def test_a_loop_calls_its_body_while_the_condition_holds():
    n, count = collatz(kw.tensor(27))
    assert (n.item(), count.item()) == (1, 111)
    same(kw.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (kw.tensor(0), kw.ones(2))),
         (kw.tensor(3), kw.full([2], 8.0)))


@pytest.mark.parametrize("wrong, message", [
    (lambda x: kw.cond(kw.tensor([True, False]), lambda x: x, lambda x: x, (x,)), "one element"),
    (lambda x: kw.cond(kw.tensor(True), 3, lambda x: x, (x,)), "must be functions"),
    (lambda x: kw.cond("yes", lambda x: x, lambda x: x, (x,)), "pred must be a tensor or a number, not a str"),
    (lambda x: kw.cond(kw.tensor(True), lambda x: x, lambda x: x, x), "must be a tuple or a list, not a Tensor"),
    (lambda x: kw.cond(kw.tensor(True), lambda x, n: x, lambda x, n: x, (x, 3)), "must be tensors, and hold a int"),
    (lambda x: kw.while_loop(lambda x: x > 0, lambda x: x, (x,)), "cond_fn"),
    (lambda x: kw.while_loop(lambda x: True, lambda x: x.sum(), (x,)), "result 0 of body_fn is float32\\[\\]"),
    (lambda x: kw.while_loop(lambda x: True, lambda x: x.double(), (x,)), "float64"),
    (lambda x: kw.while_loop(lambda x: True, lambda x: (x, x), (x,)), "what it is called with"),
    (lambda x: kw.while_loop(lambda x: "yes", lambda x: x, (x,)), "cond_fn must give a tensor or a number, not a str"),
])
def test_bad_arguments_are_refused(wrong, message):
    with pytest.raises(kw.Error, match=message):
        wrong(kw.ones(3))
    with pytest.raises(kw.Error, match=message):
        graph.capture(wrong, kw.ones(3))


@pytest.mark.parametrize("level", LEVELS)
def test_a_graph_follows_the_predicate(level):
    x = kw.tensor([1.0, -2.0, 3.0])
    captured = graph.capture(double_or_negate, kw.tensor(True), x, level=level)
    assert [name for name, _ in captured.nodes()] == ["keyway::cond"]
    for p in (False, True, False):
        other = kw.randn(3)
        same(captured(kw.tensor(p), other), other * 2 if p else -other)


def test_a_graph_within_a_graph_prints_and_is_read_again():
    captured = graph.capture(double_or_negate, kw.tensor(True), kw.ones(3))
    line = double_or_negate.__code__.co_firstlineno + 1
    site = f"  # test_control_flow.py:{line}\n"
    assert str(captured) == (
        "graph executed(%0 p: bool[], %1 x: float32[3]) {\n"
        "  [%2: float32[3]] = keyway::cond(%0, graph executed(%0: float32[3]) {\n"
        f"    %1: float32[3] = keyway::mul.Scalar(%0, 2){site}"
        "    return (%1)\n"
        "  }, graph executed(%0: float32[3]) {\n"
        f"    %1: float32[3] = keyway::neg(%0){site}"
        "    return (%1)\n"
        f"  }}, [%1]){site}"
        "  return (%2)\n}\n")
    again = graph.parse(str(captured))
    assert str(again) == str(captured)
    for p in (False, True):
        same(again(kw.tensor(p), kw.ones(3))[0], double_or_negate(kw.tensor(p), kw.ones(3)))
    loop = graph.capture(collatz, kw.tensor(3))
    assert str(graph.parse(str(loop))) == str(loop)
    same(graph.parse(str(loop))(kw.tensor(27)), collatz(kw.tensor(27)))


def test_what_the_functions_use_besides_is_state_of_the_graph():
    layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

    def program(x):
        return kw.cond(x.sum() > 0, layers[0], lambda x: layers[1](x) + x, (x,))

    with kw.no_grad():
        captured = graph.capture(program, kw.ones(2, 3))
        assert str(captured).count(" state") == 4
        for _ in range(2):
            for sign in (1.0, -1.0):
                same(captured(kw.full([2, 3], sign)), program(kw.full([2, 3], sign)))
            layers[1].weight.mul_(2)


@pytest.mark.parametrize("level", LEVELS)
def test_conds_in_conds_and_loops_with_conds(level):
    def program(p, q, x, y):
        def inner(x):
            z = x * 3
            return kw.cond(q, lambda x: x + z, lambda x: x - y, (x,))

        first = kw.cond(p, inner, lambda x: x.exp(), (x,))
        (last,) = kw.while_loop(lambda x: x.abs().max() < 100, lambda x: kw.cond(x.sum() > 0, lambda x: x * 2, lambda x: -x + y,
                                                                                  (x,)), (first,))
        return first, last

    values = [kw.tensor([1.0, 2.0]), kw.tensor([0.5, 0.25])]
    captured = graph.capture(program, kw.tensor(True), kw.tensor(True), *values, level=level)
    for p in (False, True):
        for q in (False, True):
            others = [kw.randn(2), kw.rand(2)]
            same(captured(kw.tensor(p), kw.tensor(q), *others), program(kw.tensor(p), kw.tensor(q), *others))


def test_random_programs_of_conds_and_loops_run_as_eagerly():
    choose = random.Random(5)
    pointwise = [lambda x: x * 1.5, lambda x: x.sin(), lambda x: x - 0.3, lambda x: x.abs() + 0.1, lambda x: x @ x,
                 lambda x: x.t() + x, lambda x: x.cumsum(0), lambda x: x.clone().mul_(0.5)]

    def made(depth):
        kind = choose.choice(["calls", "cond", "loop"]) if depth > 0 else "calls"
        if kind == "cond":
            bound, yes, no, after = choose.uniform(-1, 1), made(depth - 1), made(depth - 1), made(depth - 1)
            return lambda x: after(kw.cond(x.mean() > bound, yes, no, (x,)))
        if kind == "loop":
            body, times = made(depth - 1), choose.randint(0, 3)
            return lambda x: kw.while_loop(lambda i, x: i < times, lambda i, x: (i + 1, body(x).tanh()),
                                           (kw.tensor(0), x))[1]
        parts = choose.choices(pointwise, k=choose.randint(1, 4))

        def calls(x):
            for part in parts:
                x = part(x)
            return x.tanh()

        return calls

    for number in range(30):
        program = made(3)
        kw.manual_seed(number)
        x = kw.randn(3, 3)
        for level in LEVELS:
            captured = graph.capture(program, x, level=level)
            variants = [captured, captured.without_dead_code(), captured.without_common_subexpressions()]
            if level == "executed":
                variants += [captured.functionalized()]
                if " state" not in str(captured):
                    variants += [graph.parse(str(captured))]
            for _ in range(3):
                other = kw.randn(3, 3)
                expected = program(other)
                for variant in variants:
                    given = variant(other)
                    same(given[0] if isinstance(given, tuple) else given, expected)


@pytest.mark.parametrize("function, message", [
    (lambda x: x.add_(1), "true_fn: .*add_.Scalar writes in place to a tensor from outside"),
    (lambda x: OUTSIDE.add_(1), "writes in place to a tensor from outside"),
    (lambda x: OUTSIDE, "lies in the memory of a tensor from outside"),
    (lambda x: x.sum(), "result 0 of true_fn is float32\\[\\], but of false_fn float32\\[3\\]"),
    (lambda x: x.double(), "float64"),
    (lambda x: (x + 1, x), "true_fn"),
    (lambda x: x + 1 if x.sum() > 0 else x, "true_fn: .*gives numbers or sizes"),
    (lambda x: KEPT.append(x + 1) or x * 2, "keeps a result"),
    (lambda x: 1 / 0, "division by zero"),
    (lambda x: x.bernoulli(generator=kw.Generator()), "a generator is made"),
])
def test_what_a_graph_of_a_function_cannot_do_is_refused(function, message):
    KEPT.clear()
    was = OUTSIDE.clone()
    with pytest.raises(kw.ValueError, match=message):
        graph.capture(lambda p, x: kw.cond(p, function, lambda x: x + 1, (x,)), kw.tensor(False), kw.ones(3))
    same(OUTSIDE, was)
    # keyway.compile runs what cannot be captured as ever.
    compiled = kw.compile(lambda p, x: kw.cond(p, function, lambda x: x + 1, (x,)))
    for _ in range(2):
        same(compiled(kw.tensor(False), kw.ones(3)), kw.full([3], 2.0))


OUTSIDE = kw.ones(3)
KEPT: list[kw.Tensor] = []


@pytest.mark.parametrize("p", [False, True])
def test_a_capture_draws_the_random_numbers_that_the_program_draws(p):
    def program(p, x):
        return kw.cond(p, lambda x: x + kw.rand(3), lambda x: x - kw.randn(3), (x,)) + kw.rand(3)

    kw.manual_seed(3)
    expected = [program(kw.tensor(p), kw.ones(3)) for _ in range(3)]
    kw.manual_seed(3)
    with_capture = [graph.capture(program, kw.tensor(p), kw.ones(3)) and None]
    captured = graph.capture(program, kw.tensor(not p), kw.ones(3))
    kw.manual_seed(3)
    same([captured(kw.tensor(p), kw.ones(3)) for _ in range(3)], expected)
    kept = captured.without_dead_code()
    assert len(kept.nodes()) == len(captured.nodes()) and with_capture == [None]


def test_dead_conds_go_and_equal_ones_become_one():
    def program(p, x):
        double_or_negate(p, x)
        return double_or_negate(p, x) + double_or_negate(p, x)

    captured = graph.capture(program, kw.tensor(True), kw.ones(3))
    assert len(captured.nodes()) == 4
    fewer = captured.without_dead_code().without_common_subexpressions()
    assert [name for name, _ in fewer.nodes()] == ["keyway::cond", "keyway::add.Tensor"]
    same(fewer(kw.tensor(False), kw.ones(3)), kw.full([3], -2.0))


def test_functionalization_reaches_into_the_graphs():
    def program(p, x):
        def write(x):
            y = x.clone()
            y[0] = 5.0
            return y.add_(1)

        return kw.cond(p, write, lambda x: x + 1, (x,))

    captured = graph.capture(program, kw.tensor(True), kw.zeros(3))
    assert "add_" in str(captured)
    functional = captured.functionalized()
    assert "add_" not in str(functional) and "copy_" not in str(functional)
    for p in (False, True):
        same(functional(kw.tensor(p), kw.ones(3)), program(kw.tensor(p), kw.ones(3)))


def test_a_graph_with_a_cond_is_drawn_and_compared():
    first = graph.capture(double_or_negate, kw.tensor(True), kw.ones(3))
    second = graph.capture(lambda p, x: kw.cond(p, lambda x: x * 3, lambda x: -x, (x,)), kw.tensor(True), kw.ones(3))
    assert first.difference(first) == "" and "cond" in first.difference(second)
    assert "cond" in first.to_dot() and "cond" in first.to_html(first.measure(kw.tensor(True), kw.ones(3), runs=2))


# --- Gradients


def gradient_of(program, p, x, w):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    return kw.autograd.grad(program(p, x, w).sum(), [x, w], allow_unused=True)


def with_weight(p, x, w):
    return kw.cond(p, lambda x: (x * w).sin(), lambda x: x.exp() * 2, (x,)) * w


def test_gradients_flow_through_the_branch_that_is_taken():
    x, w = kw.randn(3), kw.randn(3)
    dx, dw = gradient_of(with_weight, kw.tensor(True), x, w)
    kw.testing.assert_close([dx, dw], [w * ((x * w).cos() * w), (x * w).sin() + w * ((x * w).cos() * x)])
    dx, dw = gradient_of(with_weight, kw.tensor(False), x, w)
    kw.testing.assert_close([dx, dw], [w * 2 * x.exp(), x.exp() * 2])


def test_a_graph_of_the_program_as_written_is_differentiable():
    w = kw.randn(3).requires_grad_()
    captured = graph.capture(lambda p, x: with_weight(p, x, w), kw.tensor(True), kw.randn(3), level="program")
    for p in (False, True):
        x = kw.randn(3)
        given = kw.autograd.grad(captured(kw.tensor(p), x).sum(), w, create_graph=True)
        expected = kw.autograd.grad(with_weight(kw.tensor(p), x, w).sum(), w, create_graph=True)
        same(given, expected)
        if p:
            same(kw.autograd.grad(given[0].sum(), w), kw.autograd.grad(expected[0].sum(), w))


def test_gradients_of_a_graph_of_what_is_executed_are_conds_as_well():
    def program(p, x, w):
        loss = with_weight(p, x, w).sum()
        return kw.autograd.grad(loss, [w])

    w = kw.randn(3).requires_grad_()
    captured = graph.capture(program, kw.tensor(True), kw.randn(3), w)
    assert [name for name, _ in captured.nodes()].count("keyway::cond") == 2
    for p in (False, True):
        x = kw.randn(3)
        (given,), (expected,) = captured(kw.tensor(p), x, w), program(kw.tensor(p), x, w)
        kw.testing.assert_close(given, expected)


def test_a_training_step_with_a_cond_is_one_graph():
    def train(run):
        kw.manual_seed(1)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        extra = nn.Linear(4, 4)
        optimizer = kw.optim.SGD([*model.parameters(), *extra.parameters()], lr=0.05)

        def step(x, y):
            optimizer.zero_grad()
            hidden = kw.cond(x.mean() > 0, lambda x: extra(x).relu(), lambda x: x * 2 + extra.bias, (x,))
            loss = ((model(hidden) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        data = [(kw.randn(5, 4) + shift, kw.randn(5, 1)) for shift in (1.0, 1.0, -1.0, 1.0, -1.0)]
        step = run(step)
        losses = [step(x, y) for x, y in data]
        return losses, [*model.parameters(), *extra.parameters()], step

    losses, parameters, _ = train(lambda step: step)
    other_losses, other_parameters, compiled = train(lambda step: kw.compile(step, fullgraph=True))
    for a, b in zip(losses + parameters, other_losses + other_parameters):
        kw.testing.assert_close(a, b)
    assert "refused" not in compiled.explain() and compiled.explain().count("captured:") <= 2


def test_a_loop_has_no_gradient_in_a_graph_of_what_is_executed():
    def program(x):
        (y,) = kw.while_loop(lambda x: x.sum() < 10, lambda x: (x * 2,), (x,))
        return y

    x = kw.ones(3).requires_grad_()
    same(kw.autograd.grad(program(x).sum(), x)[0], kw.full([3], 4.0))
    captured = graph.capture(program, x, level="program")
    other = kw.full([3], 0.5).requires_grad_()
    same(kw.autograd.grad(captured(other).sum(), other)[0], kw.full([3], 8.0))
    with pytest.raises(kw.ValueError, match="a while_loop has no gradient in a graph of what is executed"):
        graph.capture(lambda x: kw.autograd.grad(program(x).sum(), x)[0], x)


def test_random_numbers_in_a_cond_with_a_gradient_are_refused_where_they_would_be_drawn_again():
    def program(p, x):
        return kw.autograd.grad(kw.cond(p, lambda x: nn.functional.dropout(x), lambda x: x * 1, (x,)).sum(), x)[0]

    with pytest.raises(kw.ValueError, match="draw random numbers"):
        graph.capture(program, kw.tensor(True), kw.ones(3).requires_grad_())


# --- Transforms


def test_vmap_chooses_for_each_example():
    p, x = kw.tensor([True, False, True]), kw.randn(3, 2)
    same(kw.vmap(double_or_negate)(p, x), kw.where(p.unsqueeze(1), x * 2, -x))
    same(kw.vmap(lambda x: double_or_negate(kw.tensor(False), x))(x), -x)
    with pytest.raises(kw.Error):
        kw.vmap(lambda n: kw.while_loop(lambda n: n < 3, lambda n: n + 1, (n,)))(kw.tensor([1, 2]))
    captured = graph.capture(kw.vmap(double_or_negate), p, x)
    same(captured(~p, x), kw.where(p.unsqueeze(1), -x, x * 2))


def test_tangents_flow_through_the_branch_that_is_taken():
    x, t = kw.randn(3), kw.randn(3)
    for p in (False, True):
        value, tangent = kw.func.jvp(lambda x: kw.cond(kw.tensor(p), lambda x: x.sin(), lambda x: x * x, (x,)), (x,), (t,))
        same([value, tangent], [x.sin(), x.cos() * t] if p else [x * x, 2 * x * t])


def test_a_kind_of_call_that_is_compiled_once_serves_both_branches():
    compiled = kw.compile(double_or_negate, fullgraph=True)
    for p in (True, False, True):
        x = kw.randn(3)
        same(compiled(kw.tensor(p), x), x * 2 if p else -x)
    assert compiled.explain().startswith("1 graphs of 1 calls")


# --- Checks of elements


@pytest.mark.parametrize("level", LEVELS)
def test_a_check_is_made_in_each_run(level):
    def program(x):
        kw._assert_async((x > 0).all(), "all must be positive")
        return x * 2

    captured = graph.capture(program, kw.ones(3), level=level).without_dead_code()
    same(captured(kw.full([3], 3.0)), kw.full([3], 6.0))
    with pytest.raises(kw.ValueError, match="all must be positive"):
        captured(kw.zeros(3))
    within = graph.capture(lambda p, x: kw.cond(p, program, lambda x: -x, (x,)), kw.tensor(False), kw.ones(3), level=level)
    same(within(kw.tensor(False), kw.zeros(3)), kw.zeros(3) * -1)
    with pytest.raises(kw.ValueError, match="all must be positive"):
        within(kw.tensor(True), kw.zeros(3))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("function, bad, error", [
    (lambda x: kw.linalg.solve(x, kw.ones(2)), lambda: kw.zeros(2, 2), "the equations cannot be solved"),
    (kw.linalg.inv, lambda: kw.zeros(2, 2), "the matrix cannot be inverted"),
    (kw.linalg.cholesky, lambda: -kw.eye(2), "not positive-definite"),
    (kw.linalg.svdvals, lambda: kw.full([2, 2], float("nan")), "infinite or no numbers"),
    (kw.linalg.eigh, lambda: kw.full([2, 2], float("nan")), "infinite or no numbers"),
    (lambda x: kw.ones(3).quantile(x[0, 0] / 4), lambda: kw.full([2, 2], 8.0), r"q must be in \[0, 1\]"),
    (lambda x: x.histc(3), lambda: kw.full([2, 2], float("inf")), "not finite"),
    (lambda x: x.masked_scatter(x > 1, kw.tensor([7.0, 8.0])), lambda: kw.full([2, 2], 2.0), "more true elements"),
    (lambda x: kw.nn.functional.binary_cross_entropy(x / 4, kw.ones(2, 2)), lambda: kw.full([2, 2], 8.0), "between 0"),
    (lambda x: kw.normal(x, x), lambda: -kw.ones(2, 2), "must not be negative"),
])
def test_an_operator_that_refuses_elements_refuses_them_in_a_run(level, function, bad, error):
    x = kw.tensor([[2.0, 0.5], [0.5, 3.0]])
    captured = graph.capture(function, x, level=level)
    kw.manual_seed(2)
    given = captured(x * 1.25)
    kw.manual_seed(2)
    same(tuple(given) if isinstance(given, tuple) else given, function(x * 1.25))
    for run in (function, captured):
        with pytest.raises(kw.Error, match=error):
            run(bad())
