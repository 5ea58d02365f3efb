"""What a compiled function could get wrong of threads: a graph has the calls of one thread."""

import threading
from concurrent.futures import ThreadPoolExecutor

import keyway as kw
import pytest
from graph_traps import T3, P, Traps, X, big, compare, marked, tried
from keyway import graph, nn
from keyway.futures import collect_all, fork, wait, wait_all

TRAPS = Traps()
trap = TRAPS.add


# Those that fail, and the finding that says why.
FAILING = {
    "number_taken_in_a_thread": "finding 2",
}


def in_thread(function, *args):
    """Calls it in a thread of its own, and waits for that."""
    results = []
    thread = threading.Thread(target=lambda: results.append(tried(function, *args)))
    thread.start()
    thread.join()
    return results[0]


@trap
def thread_within(run):
    f = run(lambda x: in_thread(lambda: x * 2) + 1)
    return [f(T3(1, 2, 3)), f(T3(4, 5, 6)), f(T3(7, 8, 9))]


@trap
def pool_within(run):
    pool = ThreadPoolExecutor(1)
    f = run(lambda x: pool.submit(lambda: x * 2).result() + 1)
    r = [f(T3(1, 2, 3)), f(T3(4, 5, 6)), f(T3(7, 8, 9))]
    pool.shutdown()
    return r


@trap
def thread_that_was_there(run):
    pool = ThreadPoolExecutor(1)
    pool.submit(lambda: X() * 2).result()
    f = run(lambda x: pool.submit(lambda: x.sum()).result() + x)
    r = [f(T3(1, 2, 3)), f(T3(4, 5, 6))]
    pool.shutdown()
    return r


@trap
def thread_keeps_what_it_makes(run):
    made = []

    def f(x):
        in_thread(lambda: made.append(x * 2))
        return made[-1] + 1
    f = run(f)
    return [f(T3(1, 2, 3)), f(T3(4, 5, 6)), f(T3(7, 8, 9))]


@trap
def thread_writes_to_an_argument(run):

    def f(x):
        y = x * 2
        in_thread(lambda: x.add_(1))
        return x + y
    f = run(f)
    out = []
    for i in range(3):
        x = T3(i, 2, 3)
        out += [f(x), x]
    return out


@trap
def thread_writes_to_an_argument_at_last(run):

    def f(x):
        y = x * 2
        in_thread(lambda: x.add_(1))
        return y
    f = run(f)
    out = []
    for i in range(3):
        x = T3(i, 2, 3)
        out += [f(x), x]
    return out


@trap
def thread_writes_first(run):
    w = T3(1, 1, 1)

    def f(x):
        in_thread(lambda: w.mul_(2))
        return x * w
    f = run(f)
    return [f(X()), f(X()), w, f(X()), w]


@trap
def thread_writes_to_what_is_computed(run):

    def f(x):
        y = x * 2
        in_thread(lambda: y.add_(x))
        return y * 3
    f = run(f)
    return [f(T3(1, 2, i)) for i in range(3)]


@trap
def thread_writes_by_out(run):
    kept = kw.zeros(3)

    def f(x):
        in_thread(lambda: kw.mul(x, 2, out=kept))
        return kept + 1
    f = run(f)
    return [f(T3(1, 2, i)) for i in range(3)]


@trap
def both_write(run):

    def f(x):
        x.mul_(2)
        in_thread(lambda: x.add_(1))
        x.mul_(2)
        return x * 1
    f = run(f)
    return [f(T3(1, 2, i)) for i in range(3)]


@trap
def backward_in_a_thread(run):
    w = P(1, 2, 3)

    def f(x):
        w.grad = None
        in_thread(lambda: (w * x).sum().backward())
        return w.grad * 2
    f = run(f)
    return [f(T3(1, 2, i)) for i in range(3)]


@trap
def compiled_function_writes_in_a_thread(run):
    kept = kw.zeros(3)
    added = kw.compile(lambda x: kept.add_(x))
    added(X()), added(X())

    def f(x):
        in_thread(added, x)
        return kept * 1
    f = run(f)
    return [f(X()) for i in range(3)]


@trap
def view_made_in_a_thread(run):

    def f(x):
        row = in_thread(lambda: x[0])
        return row + x
    f = run(f)
    return [f(kw.arange(6.0).view(2, 3) * i) for i in range(3)]


@trap
def number_taken_in_a_thread(run):
    f = run(lambda x: x * in_thread(lambda: x.sum().item()))
    return [f(T3(1, 2, i)) for i in range(3)]


@trap
def fork_within(run):
    f = run(lambda x: wait(fork(lambda y: y * 2, x)) + 1)
    return [f(T3(1, 2, i)) for i in range(3)]


@trap
def forks_within(run):

    def f(x):
        tasks = [fork(lambda i=i: (x * i).tanh()) for i in range(5)]
        return sum(wait_all(tasks)) + collect_all(tasks).wait()[0].wait()
    f = run(f)
    return [f(T3(1, 2, i)) for i in range(3)]


@trap
def fork_that_writes(run):

    def f(x):
        task = fork(lambda: x.add_(1))
        task.wait()
        return x * 2
    f = run(f)
    out = []
    for i in range(3):
        x = T3(1, 2, i)
        out += [f(x), x]
    return out


@trap
def fork_that_fails(run):
    f = run(lambda x, y: fork(lambda: x + y).wait())
    return [type(tried(f, X(), kw.ones(2))).__name__ for i in range(3)]


@trap
def fork_in_a_fork(run):
    f = run(lambda x: fork(lambda: fork(lambda: x * 2).wait() + 1).then(lambda task: task.wait() * 3).wait())
    return [f(T3(1, 2, i)) for i in range(3)]


@trap
def overlapping_captures_of_threads(run):
    before = nn.Module.__call__
    a, b, c = (threading.Event() for _ in range(3))

    def one(x):
        a.set()
        b.wait(3)
        return x * 2

    def two(x):
        a.wait(3)
        b.set()
        c.wait(3)
        return x * 3
    f, g = (run(one), run(two))
    t1 = threading.Thread(target=f, args=(X(),))
    t2 = threading.Thread(target=g, args=(X(),))
    t1.start()
    t2.start()
    t1.join()
    c.set()
    t2.join()
    return nn.Module.__call__ is before


@pytest.mark.parametrize("name", marked(TRAPS, FAILING))
def test_what_is_compiled_does_what_the_program_does(name):
    compare(TRAPS[name])


@pytest.mark.parametrize("name", ["fork_within", "forks_within", "fork_that_writes", "fork_in_a_fork"])
def test_forks_within_are_in_the_graph(name):
    compiled = []

    def run(function):
        compiled.append(kw.compile(function, fullgraph=True))
        return compiled[-1]

    TRAPS[name](run)
    assert compiled[0].explain().startswith("1 graphs")


def test_what_other_threads_do_to_other_tensors_does_not_matter():
    is_over, x = threading.Event(), X()

    def others():
        w = kw.zeros(3)
        while not is_over.is_set():
            w.add_(kw.ones(3) * 2)

    thread = threading.Thread(target=others)
    thread.start()
    try:
        for _ in range(20):
            program = graph.capture(lambda x: (x * 2 + 1).add_(x).sum(), x)
            assert program(x).item() == (x * 3 + 1).sum().item()
    finally:
        is_over.set()
        thread.join()


def test_threads_capture_at_once():
    results = {}

    def work(number):
        w = kw.ones(3) * number

        def f(x):
            w.add_(1)
            return (x * w).sum()

        f = kw.compile(f, fullgraph=True)
        results[number] = [f(big(i, 3)).item() for i in range(10)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for number in range(4):
        expected = [(big(i, 3) * (number + 1.0 + i)).sum().item() for i in range(10)]
        assert results[number] == pytest.approx(expected, rel=1e-5)
