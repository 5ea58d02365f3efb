"""Backward on several threads of Python at once."""

import gc
import threading

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
