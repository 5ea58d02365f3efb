"""What asks for an object while it goes, and what asks anything while another thing is read, gets an object that lives."""

import gc
import subprocess
import sys
import textwrap
import weakref

import pytest

import keyway
from keyway import _C
from keyway.autograd.graph import saved_tensors_hooks


def run(program: str) -> subprocess.CompletedProcess:
    """The program in an interpreter of its own, which it may bring down."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False
    )


def with_gradient() -> keyway.Tensor:
    leaf = keyway.ones(2, requires_grad=True)
    leaf.sum().backward()
    return leaf


def test_a_tensor_that_the_callback_of_its_weak_reference_asks_for():
    leaf, found = with_gradient(), []
    grad = leaf.grad
    reference = weakref.ref(grad, lambda _: found.append(leaf.grad))
    del grad
    assert reference() is None
    assert found[0] is leaf.grad
    assert found[0].tolist() == [1.0, 1.0]


def test_it_has_the_attributes_of_the_one_that_went():
    leaf, found = with_gradient(), []
    grad = leaf.grad
    grad.note = "kept"
    reference = weakref.ref(grad, lambda _: (gc.collect(), found.append(leaf.grad)))
    del grad
    assert reference() is None
    assert found.pop().note == "kept"
    assert leaf.grad.note == "kept"


def test_a_node_that_the_callback_of_its_weak_reference_asks_for():
    result, found = (keyway.ones(2, requires_grad=True) * 2).sum(), []
    node = result.grad_fn
    reference = weakref.ref(node, lambda _: found.append(result.grad_fn))
    del node
    assert reference() is None
    assert found[0] is result.grad_fn
    assert found[0].name() == "SumBackward0"


def test_objects_that_are_made_while_the_garbage_collector_asks_for_them():
    leaf, busy = with_gradient(), []

    def collecting(_phase, _info):
        if busy:
            return
        busy.append(True)
        busy.append(leaf.grad)
        busy.clear()

    threshold = gc.get_threshold()
    gc.callbacks.append(collecting)
    gc.set_threshold(1)
    try:
        assert all(leaf.grad is leaf.grad for _ in range(200))
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(collecting)


def test_tolist_of_a_tensor_that_a_callback_of_the_garbage_collector_resizes():
    program = """
        import gc, keyway
        x, grown = keyway.ones(300, 100), keyway.zeros(2000, 1000)
        gc.callbacks.append(lambda *_: keyway.mul(grown, 1, out=x))
        gc.set_threshold(1)
        rows = x.tolist()
        assert len(rows) == 300 and all(row == [1.0] * 100 for row in rows) or len(rows) == 2000, len(rows)
    """
    result = run(program)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("link", ["x.next = last", "x.register_hook(lambda grad, last=last: None)"])
def test_a_long_chain_of_tensors_is_freed(link):
    result = run(f"""
        import keyway
        class Linked(keyway.Tensor):
            __slots__ = ("next",)
        last = None
        for _ in range(100_000):
            x = Linked(keyway.zeros(1)).requires_grad_()
            {link}
            last = x
        del x, last
    """)
    assert result.returncode == 0, result.stderr


def test_an_attribute_of_a_node_that_is_no_utf8():
    node = (keyway.ones(2, requires_grad=True) * 2).grad_fn
    with pytest.raises(AttributeError):
        getattr(node, "\ud800")  # noqa: B009


@pytest.mark.parametrize("descriptor", ["device", "dtype", "layout", "memory_format"])
def test_a_descriptor_that_only_new_has_made_is_none(descriptor):
    cls = getattr(keyway, descriptor)
    made = cls.__new__(cls)
    with pytest.raises(keyway.TypeError):
        keyway.empty_like(keyway.ones(2), **{descriptor: made})
    assert keyway.device("cpu") != made


def test_saved_tensors_hooks_are_not_left_while_one_is_run():
    hooks = saved_tensors_hooks(lambda x: hooks.__exit__(), lambda x: x)
    with hooks, pytest.raises(keyway.Error, match="left by one of the hooks"):
        keyway.ones(2, requires_grad=True).sin()


def test_a_profiler_is_stopped_once():
    profiling = _C._Profiling(False, False, False)
    profiling.start(True)
    profiling.stop()
    with pytest.raises(keyway.Error, match="not running"):
        profiling.stop()


def test_a_kernel_that_wraps_itself():
    def kernel(x):
        return x

    kernel.__wrapped__ = kernel
    library = keyway.library.Library("lifetime_test", "DEF")
    library.define("wraps(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="wrapper loop"):
        library.impl("wraps", kernel, "CPU")


def test_an_error_text_goes_on_after_a_zero_byte():
    with pytest.raises(keyway.ValueError, match=r"'cp\\x00u' is not a device: there is no device type"):
        keyway.device("cp\0u")


@pytest.mark.parametrize(
    "work",
    [
        "x + x; x.tolist(); x[0]",
        "(leaf * leaf).sum().backward()",
        "keyway.ops.lifetime_test.slow(x)",
    ],
)
def test_the_interpreter_ends_while_daemon_threads_work(work):
    result = run(f"""
        import keyway, threading, time
        library = keyway.library.Library("lifetime_test", "DEF")
        library.define("slow(Tensor x) -> Tensor")
        library.impl("slow", lambda x: (time.sleep(0.001), x + 1)[1], "CPU")
        x, leaf = keyway.ones(20, 20), keyway.ones(20, 20, requires_grad=True)
        leaf.register_hook(lambda grad: grad * 1)
        def run():
            while True:
                {work}
        for _ in range(4):
            threading.Thread(target=run, daemon=True).start()
        time.sleep(0.2)
    """)
    assert result.returncode == 0, result.stderr
