"""Backward on several threads of Python at once."""

import gc
import threading
import time

import keyway
from keyway.autograd import Function


class Cubes(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.itself = ctx
        return x.pow(3)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad.mul(x).mul(x).mul(3)


def on_threads(work, count=4):
    errors = []

    def run():
        try:
            work()
        except BaseException as error:  # noqa: B902
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_each_thread_has_its_own_graph():
    def work():
        for _ in range(50):
            x = keyway.full((3,), 2.0).requires_grad_()
            y = Cubes.apply(x.mul(1))
            y.register_hook(lambda grad: grad.mul(2))
            y.sum().backward()
            assert x.grad.sum().item() == 72

    on_threads(work)


def test_threads_share_one_graph():
    x = keyway.full((3,), 2.0).requires_grad_()
    calls = []
    y = Cubes.apply(Cubes.apply(x))
    y.register_hook(lambda grad: calls.append(1))
    z = y.mul(1).sum()

    def work():
        for _ in range(50):
            (found,) = keyway.autograd.grad(z, x, retain_graph=True)
            assert found.sum().item() == 3 * 9 * 2**8

    on_threads(work)
    assert len(calls) == 200


def test_the_garbage_collector_runs_beside_backward():
    stop = threading.Event()

    def collect():
        while not stop.is_set():
            gc.collect()

    collector = threading.Thread(target=collect)
    collector.start()
    try:
        def work():
            for _ in range(50):
                x = keyway.full((3,), 2.0).requires_grad_()
                y = Cubes.apply(x)
                y.retain_grad()
                y.register_hook(lambda grad, y=y: None)
                y.grad_fn.metadata["y"] = y
                y.sum().backward()
                assert x.grad.sum().item() == 36 and y.grad.sum().item() == 3

        on_threads(work, count=2)
    finally:
        stop.set()
        collector.join()


def test_backward_frees_a_graph_whose_objects_another_thread_made():
    graphs = [Cubes.apply(keyway.ones(2, requires_grad=True)).mul(2) for _ in range(100)]

    def work():
        while graphs:
            try:
                graphs.pop().sum().backward()
            except IndexError:
                return

    on_threads(work)
    assert graphs == []


def test_the_interpreter_lock_is_free_while_the_engine_runs():
    seen = []
    inside, checked = threading.Event(), threading.Event()

    class Waits(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            inside.set()
            assert checked.wait(10)
            return grad

    def look():
        assert inside.wait(10)
        seen.append(keyway.ones(2).sum().item())
        checked.set()

    watcher = threading.Thread(target=look)
    watcher.start()
    Waits.apply(keyway.ones(1, requires_grad=True)).sum().backward()
    watcher.join()
    assert seen == [2.0]


def test_no_retained_gradient_is_lost_where_threads_run_one_graph():
    x = keyway.full((3,), 2.0).requires_grad_()
    y = x.mul(1)
    y.retain_grad()
    z = y.sum()

    def work():
        for _ in range(300):
            z.backward(retain_graph=True)

    on_threads(work)
    assert y.grad.tolist() == x.grad.tolist() == [1200.0] * 3


def test_hooks_may_be_added_while_threads_run_the_graph():
    x = keyway.full((3,), 2.0).requires_grad_()
    calls = []

    def work():
        for _ in range(30):
            y = x.mul(1)
            z = y.sum()
            adder = threading.Thread(target=lambda: [y.register_hook(lambda grad: calls.append(1)) for _ in range(5)])
            adder.start()
            z.backward(retain_graph=True)
            y.grad_fn.register_prehook(lambda grads: None)
            adder.join()
            z.backward()

    on_threads(work)
    assert len(calls) >= 4 * 30 * 5


class Runs(Function):
    """The identity, whose backward calls a function first."""

    @staticmethod
    def forward(ctx, x, function):
        ctx.function = function
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        ctx.function()
        return grad, None


def test_a_thread_that_waits_for_a_node_sleeps():
    inside, first = threading.Event(), [True]

    def sleep():
        if first:
            first.clear()
            inside.set()
            time.sleep(0.5)

    y = Runs.apply(keyway.ones(1, requires_grad=True), sleep).sum()
    other = threading.Thread(target=lambda: y.backward(retain_graph=True))
    other.start()
    assert inside.wait(10)
    before = time.thread_time()
    y.backward(retain_graph=True)
    assert time.thread_time() - before < 0.1
    other.join()


def test_backwards_that_run_each_others_graph_end_with_one_refused():
    both = threading.Barrier(2, timeout=10)
    outer, roots, errors = [2], {}, []

    def run(name):
        if outer[0] > 0:
            outer[0] -= 1
            both.wait()
            roots[name].backward(retain_graph=True)

    roots["a"] = Runs.apply(keyway.ones(1, requires_grad=True), lambda: run("b")).sum()
    roots["b"] = Runs.apply(keyway.ones(1, requires_grad=True), lambda: run("a")).sum()

    def work(name):
        try:
            roots[name].backward(retain_graph=True)
        except keyway.AutogradError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work, args=(name,), daemon=True) for name in roots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert len(errors) == 1 and "two backwards that run each other's graph" in errors[0]
    for root in roots.values():
        root.backward()  # nothing stays locked


def test_a_mode_of_the_thread_sees_the_calls_of_backward():
    seen = []

    def log(op, *args, **kwargs):
        seen.append(op)
        with keyway.ExcludeDispatchKeyGuard("Tracer"):
            return op(*args, **kwargs)

    y = keyway.ones(1, requires_grad=True).sin()
    with keyway.library.Library("_", "IMPL", "Tracer") as lib:
        lib.fallback(log)
        with keyway.IncludeDispatchKeyGuard("Tracer"):
            y.backward()
    assert keyway.ops.keyway.cos.default in seen
