"""keyway.futures: tasks, and what waits for them. What futures do is PyTorch's, noted from torch.futures of PyTorch 2."""

import gc
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy
import pytest

import keyway
from keyway.futures import Future, collect_all, fork, wait, wait_all
from keyway.utils.python_dispatch import KeywayDispatchMode


@pytest.fixture
def one_thread():
    before = keyway.get_num_interop_threads()
    keyway.set_num_interop_threads(1)
    yield
    keyway.set_num_interop_threads(before)


def fibonacci(n):
    if n < 2:
        return n
    one = fork(fibonacci, n - 1)
    return fibonacci(n - 2) + one.wait()


def test_a_task_gives_what_the_function_returns():
    x = numpy.arange(6.0).reshape(2, 3)
    future = fork(lambda a, *, by: (keyway.from_numpy(a) * by).sum(), x, by=2)
    assert wait(future).item() == 2 * x.sum()
    assert future.done()
    assert future.value() is future.wait()


def test_the_exception_of_a_task_is_raised_where_it_is_waited_for():
    error = KeyError("lost")

    def fails():
        raise error

    future = fork(fails)
    for _ in range(2):
        with pytest.raises(KeyError) as raised:
            future.wait()
        assert raised.value is error
    with pytest.raises(keyway.Error, match="do not broadcast"):
        fork(keyway.add, keyway.ones(2), keyway.ones(3)).wait()


def test_tasks_that_fork_and_wait_end_with_one_thread(one_thread):
    assert fork(fibonacci, 12).wait() == 144


def test_tasks_run_at_once():
    before = keyway.get_num_interop_threads()
    keyway.set_num_interop_threads(3)
    meet = threading.Barrier(3, timeout=20)
    assert sorted(wait_all(fork(meet.wait) for _ in range(3))) == [0, 1, 2]
    keyway.set_num_interop_threads(before)


def test_the_number_of_threads_is_checked():
    for number, error in ((0, ValueError), (1025, ValueError), (1.5, TypeError), (True, TypeError), (None, TypeError)):
        with pytest.raises(error, match="set_num_interop_threads"):
            keyway.set_num_interop_threads(number)
    assert keyway.get_num_interop_threads() >= 1


def test_a_task_has_the_modes_of_the_thread_that_forked_it():
    def modes():
        x = keyway.ones(2, 2, device="cpu", requires_grad=True)
        made = keyway.ones(1)
        return keyway.is_grad_enabled(), keyway.is_inference_mode_enabled(), (x @ x).dtype, made.device.type

    plain = (True, False, keyway.float32, "cpu")
    with keyway.no_grad():
        of_no_grad = fork(modes)
    with keyway.inference_mode():
        of_inference = fork(modes)
    with keyway.autocast("cpu", dtype=keyway.bfloat16):
        of_autocast = fork(modes)
    with keyway.device("meta"):
        of_meta = fork(modes)
    assert of_no_grad.wait() == (False, *plain[1:])
    assert of_inference.wait() == (False, True, *plain[2:])
    assert of_autocast.wait() == (True, False, keyway.bfloat16, "cpu")
    assert of_meta.wait() == (*plain[:3], "meta")
    assert fork(modes).wait() == plain


@pytest.fixture(params=["in the pool", "by who waits"])
def runner(request, one_thread):
    stop = threading.Event()
    busy = fork(stop.wait) if request.param == "by who waits" else None
    yield
    stop.set()
    if busy is not None:
        busy.wait()


def test_a_task_draws_from_the_generator_of_the_process(runner):
    keyway.manual_seed(7)
    expected = [keyway.rand(1).item() for _ in range(4)]
    keyway.manual_seed(7)
    with keyway._C._Seeded(5):
        assert [fork(lambda: keyway.rand(1).item()).wait() for _ in range(4)] == expected


def test_a_task_meets_no_mode_and_no_hook(runner):
    seen = []

    class Calls(KeywayDispatchMode):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    def task():
        x = keyway.ones(2, requires_grad=True)
        (x * x).sum().backward()
        return x.grad.tolist()

    def packed(x):
        seen.append(x)
        return x

    with keyway.autograd.graph.saved_tensors_hooks(packed, lambda x: x), Calls():
        assert fork(task).wait() == [2, 2]
        assert seen == []
        task()
    assert len(seen) > 4


def test_a_callback_has_the_default_device_of_the_thread_that_added_it():
    promised = Future()
    with keyway.device("meta"):
        then = promised.then(lambda f: keyway.ones(1).device.type)
    promised.set_result(1)
    assert then.value() == "meta"
    assert keyway.ones(1).device.type == "cpu"


def test_as_many_tasks_run_at_once_as_loops_have_threads_until_it_is_set():
    program = """
import keyway
numbers = []
for n in (2, 5):
    keyway.set_num_threads(n)
    keyway.futures.fork(int).wait()
    numbers.append(keyway.get_num_interop_threads())
keyway.set_num_interop_threads(3)
keyway.set_num_threads(4)
print(numbers, keyway.get_num_interop_threads())
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "[2, 5] 3\n", "")


def test_backward_runs_in_tasks():
    x = keyway.ones(3, requires_grad=True)
    grads = wait_all(fork(lambda i=i: keyway.autograd.grad((x * i).sum(), x)[0]) for i in range(1, 5))
    assert [grad.tolist() for grad in grads] == [[i] * 3 for i in range(1, 5)]


def test_callbacks_come_in_their_order_and_late_ones_at_once():
    future, called = Future(), []
    future.add_done_callback(lambda f: called.append(f.value()))
    then = future.then(lambda f: called.append("then") or f.value() + 1)
    assert not future.done() and called == []
    future.set_result(1)
    future.add_done_callback(lambda f: called.append("late"))
    assert called == [1, "then", "late"]
    assert then.wait() == 2


def test_an_exception_passes_through_then():
    future = Future()
    passed, caught = future.then(lambda f: f.wait()), future.then(lambda f: "caught")
    future.set_exception(ZeroDivisionError("no"))
    with pytest.raises(ZeroDivisionError):
        passed.wait()
    assert caught.wait() == "caught"


def test_what_a_callback_raises_is_a_warning():
    future, called = Future(), []
    future.add_done_callback(lambda f: 1 / 0)
    future.add_done_callback(lambda f: called.append(f))
    with pytest.warns(UserWarning, match="a callback of a future failed: ZeroDivisionError"):
        future.set_result(None)
    assert called == [future]


def test_a_future_is_completed_once():
    future = Future()
    with pytest.raises(RuntimeError, match="before there is one"):
        future.value()
    future.set_result(3)
    with pytest.raises(RuntimeError, match="completed already"):
        future.set_result(4)
    with pytest.raises(RuntimeError, match="completed already"):
        future.set_exception(ValueError())
    with pytest.raises(TypeError, match="takes an exception, not str"):
        Future().set_exception("no")
    assert future.wait() == 3


def test_collect_all_is_done_when_all_are_by_the_first_in_the_list_that_failed():
    one, two, three, four = (Future() for _ in range(4))
    both = collect_all([one, two])
    two.set_result(2)
    assert not both.done()
    one.set_result(1)
    assert both.wait() == [one, two]
    failing = collect_all([one, three, four])
    four.set_exception(ValueError("four"))
    assert not failing.done()
    three.set_exception(KeyError("three"))
    with pytest.raises(KeyError):
        failing.wait()
    assert collect_all([]).wait() == [] and wait_all([]) == []


def test_a_task_may_wait_for_what_a_later_one_completes(one_thread):
    promised = Future()
    waits = fork(promised.wait)
    completes = fork(promised.set_result, 7)
    assert waits.wait() == 7 and completes.wait() is None


def test_what_a_task_held_is_let_go_of():
    class Held:
        pass

    held = Held()
    watched = weakref.ref(held)
    future = fork(lambda h: None, held)
    del held
    future.wait()
    end = time.monotonic() + 10
    while watched() is not None and time.monotonic() < end:  # the thread lets go of it when it is done
        time.sleep(0.001)
    assert watched() is None
    pending = Future()
    pending.add_done_callback(print)
    watched = weakref.ref(pending)
    del pending
    gc.collect()
    assert watched() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_tasks_of_its_own():
    assert fork(fibonacci, 5).wait() == 5
    child = os.fork()
    if child == 0:
        os._exit(0 if fork(fibonacci, 6).wait() == 8 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("task", [
    "time.sleep(0.2)", "[keyway.ones(100) + i for i in range(20000)]", "fork(time.sleep, 0.1).wait()"])
def test_a_program_ends_while_tasks_run(task):
    program = f"""
import time, keyway
from keyway.futures import fork
keyway.set_num_interop_threads(2)
for _ in range(8):
    fork(lambda: {task})
time.sleep(0.05)
print("end")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\n", "")
