"""Anomaly mode: which node's backward failed or returned a NaN, and where its call was made."""

import gc
import threading
import warnings
import weakref

import keyway
import pytest
from keyway.autograd import Function, anomaly_mode, detect_anomaly, set_detect_anomaly
from keyway.utils.checkpoint import checkpoint

nan = float("nan")


class Nans(Function):
    """The gradient of argument `which` is NaN."""

    @staticmethod
    def forward(ctx, a, b, which):
        ctx.which = which
        return a.add(b)

    @staticmethod
    def backward(ctx, grad):
        grads = [grad, None, None]
        grads[ctx.which] = grad.mul(nan)
        return tuple(grads)


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ZeroDivisionError("of the function")


class Witness:
    """Something to refer to weakly."""


@pytest.fixture(autouse=True)
def _off():
    assert not keyway.is_anomaly_enabled()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Anomaly Detection has been enabled")
        yield
    assert not keyway.is_anomaly_enabled()
    assert keyway.is_anomaly_check_nan_enabled()


def leaf(*values):
    return keyway.tensor(values, dtype=keyway.float64, requires_grad=True)


def texts_of(function, error, match):
    """What is warned while `function` raises."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(error, match=match):
            function()
    assert {warning.category for warning in caught} <= {UserWarning}
    return [str(warning.message) for warning in caught]


# --- The mode


def test_detect_anomaly_warns_and_lasts_for_a_block():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled") as caught:
        block = detect_anomaly()
    assert caught[0].filename == __file__
    assert not keyway.is_anomaly_enabled()
    with block:
        assert keyway.is_anomaly_enabled()
        assert keyway.is_anomaly_check_nan_enabled()
    assert not keyway.is_anomaly_enabled()


def test_blocks_nest_and_an_exception_ends_them():
    outer = detect_anomaly(check_nan=False)
    with outer:
        with pytest.raises(ZeroDivisionError), detect_anomaly():
            assert keyway.is_anomaly_check_nan_enabled()
            1 / 0
        assert keyway.is_anomaly_enabled()
        assert not keyway.is_anomaly_check_nan_enabled()
        with outer:
            pass
        assert keyway.is_anomaly_enabled()
        with set_detect_anomaly(False):
            assert not keyway.is_anomaly_enabled()
        assert keyway.is_anomaly_enabled()
        assert not keyway.is_anomaly_check_nan_enabled()


def test_set_detect_anomaly_is_a_function_and_a_block():
    set_detect_anomaly(True, check_nan=False)
    try:
        assert keyway.is_anomaly_enabled()
        assert not keyway.is_anomaly_check_nan_enabled()
    finally:
        set_detect_anomaly(False)
    with pytest.raises(ZeroDivisionError), set_detect_anomaly(True):
        assert keyway.is_anomaly_enabled()
        1 / 0
    assert not keyway.is_anomaly_enabled()


def test_the_names_are_where_pytorch_has_them():
    assert keyway.autograd.anomaly_mode is anomaly_mode
    assert keyway.autograd.detect_anomaly is anomaly_mode.detect_anomaly
    assert keyway.autograd.set_detect_anomaly is anomaly_mode.set_detect_anomaly


def test_the_mode_is_that_of_all_threads():
    seen = []
    with detect_anomaly():
        thread = threading.Thread(target=lambda: seen.append(keyway.is_anomaly_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


# --- NaN


def test_a_nan_is_an_error_and_the_warning_has_the_line_of_the_call():
    with detect_anomaly():
        y = leaf(0.0, 4.0).sqrt().mul(0.0)  # the call of the test
    with set_detect_anomaly(True):
        texts = texts_of(y.sum().backward, RuntimeError,
                         r"Function 'SqrtBackward0' returned nan values in its 0th output\.")
    assert len(texts) == 1
    assert texts[0].startswith("Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n")
    last = texts[0].rstrip().splitlines()[-2:]
    assert __file__ in last[0]
    assert last[1].strip() == "y = leaf(0.0, 4.0).sqrt().mul(0.0)  # the call of the test"


def test_the_error_of_a_nan_is_one_of_keyway():
    with detect_anomaly(), pytest.warns(UserWarning, match="Error detected"), pytest.raises(keyway.AutogradError):
        leaf(0.0).sqrt().mul(0.0).backward()


@pytest.mark.parametrize("which", [0, 1])
def test_the_output_with_the_nan_is_named(which):
    with detect_anomaly():
        y = Nans.apply(leaf(1.0), leaf(2.0), which)
        texts = texts_of(y.backward, RuntimeError, f"'NansBackward' returned nan values in its {which}th output")
    assert "y = Nans.apply(leaf(1.0), leaf(2.0), which)" in texts[0]


def test_without_the_check_a_nan_passes():
    with detect_anomaly(check_nan=False):
        x = leaf(0.0)
        x.sqrt().mul(0.0).backward()
    assert x.grad.isnan().all()


def test_a_complex_nan_is_one_and_integers_have_none():
    x = keyway.ones(2, dtype=keyway.complex64, requires_grad=True)
    with detect_anomaly():
        y = x.mul(2)
        y.grad_fn.register_hook(lambda grads, _: (keyway.complex(keyway.zeros(2), keyway.full((2,), nan)), *grads[1:]))
        texts = texts_of(lambda: y.backward(keyway.ones_like(y)), RuntimeError, "'MulBackward0' returned nan values")
        assert len(texts) == 1
        z = leaf(1.0).mul(2)
        z.grad_fn.register_hook(lambda grads, _: (grads[0].to(keyway.int64), *grads[1:]))
        z.backward()


# --- Errors


def test_an_error_of_a_function_goes_on_after_the_warning():
    with detect_anomaly():
        y = Fails.apply(leaf(1.0))
        texts = texts_of(y.backward, ZeroDivisionError, "of the function")
    assert len(texts) == 1
    assert "Error detected in FailsBackward. Traceback of forward call" in texts[0]
    assert "y = Fails.apply(leaf(1.0))" in texts[0]


def test_an_error_of_a_hook_names_the_node_it_is_run_with():
    def hook(grad):
        raise ZeroDivisionError("of the hook")

    with detect_anomaly():
        y = leaf(1.0).mul(2)
        y.register_hook(hook)
        assert "detected in MulBackward0" in texts_of(y.backward, ZeroDivisionError, "of the hook")[0]
        x = leaf(1.0)
        x.register_hook(hook)
        y = x.mul(2)  # where the leaf was used first
        texts = texts_of(y.backward, ZeroDivisionError, "of the hook")
    assert "detected in AccumulateGrad. Traceback of forward call" in texts[0]
    assert "where the leaf was used first" in texts[0]


def test_a_node_of_before_has_no_stack():
    y = Fails.apply(leaf(1.0))
    with detect_anomaly():
        texts = texts_of(y.backward, ZeroDivisionError, "of the function")
    assert texts == ["Error detected in FailsBackward. No forward pass information available. Enable detect anomaly "
                     "during forward pass for more information."]


def test_nothing_is_warned_or_kept_when_the_mode_is_off():
    y = Fails.apply(leaf(1.0))
    assert y.grad_fn.metadata == {}
    assert texts_of(y.backward, ZeroDivisionError, "of the function") == []


def test_a_warning_that_is_made_an_error_leaves_the_error_of_backward(monkeypatch):
    unraisable = []
    monkeypatch.setattr("sys.unraisablehook", lambda noted: unraisable.append(noted.exc_value))
    with detect_anomaly():
        y = Fails.apply(leaf(1.0))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ZeroDivisionError):
                y.backward()
    assert [type(error) for error in unraisable] == [UserWarning]


def test_what_a_user_puts_into_the_metadata_harms_nothing(monkeypatch):
    unraisable = []
    monkeypatch.setattr("sys.unraisablehook", lambda noted: unraisable.append(noted.exc_value))
    with detect_anomaly():
        y = Fails.apply(leaf(1.0))
        y.grad_fn.metadata["parent_"] = y.grad_fn
        assert len(texts_of(y.backward, ZeroDivisionError, "of the function")) == 1
        y = Fails.apply(leaf(1.0))
        y.grad_fn.metadata["parent_"] = 3
        assert len(texts_of(y.backward, ZeroDivisionError, "of the function")) == 1
        assert unraisable == []
        y = Fails.apply(leaf(1.0))
        y.grad_fn.metadata["traceback_"] = [3]
        assert texts_of(y.backward, ZeroDivisionError, "of the function") == []
    assert [type(error) for error in unraisable] == [TypeError]


# --- What nodes keep


def test_the_metadata_has_the_stack_as_traceback_formats_it():
    def calls(x):
        return x.exp()

    with detect_anomaly():
        stack = calls(leaf(1.0)).grad_fn.metadata["traceback_"]
    assert all(isinstance(frame, str) for frame in stack)
    assert "in calls\n    return x.exp()\n" in stack[-1]
    assert "in test_the_metadata_has_the_stack_as_traceback_formats_it\n" in stack[-2]


def test_what_a_backward_records_has_its_node_as_parent():
    with detect_anomaly():
        x = leaf(1.0)
        y = x.exp()
        (dy,) = keyway.autograd.grad(y, x, create_graph=True)
        metadata = dy.grad_fn.metadata
        assert metadata["parent_"] is y.grad_fn
        assert "in test_what_a_backward_records_has_its_node_as_parent" in "".join(metadata["traceback_"])
        assert "parent_" not in y.grad_fn.metadata


def test_the_warnings_of_a_second_derivative_lead_to_the_first_call():
    with detect_anomaly():
        x = leaf(0.0)
        y = x.pow(1.5)  # the first call
        (dy,) = keyway.autograd.grad(y, x, create_graph=True)  # the second
        texts = texts_of(dy.mul(0).backward, RuntimeError, "returned nan values")
    assert len(texts) == 2
    assert "(dy,) = keyway.autograd.grad(y, x, create_graph=True)  # the second" in texts[0]
    assert texts[1].startswith("\n\nPrevious calculation was induced by PowBackward0. Traceback of forward call that "
                               "induced the previous calculation:\n")
    assert "y = x.pow(1.5)  # the first call" in texts[1]


def test_a_function_that_records_in_its_backward_is_a_parent():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return Fails.apply(x.mul(grad))  # the call within backward

    with detect_anomaly():
        x = leaf(1.0)
        y = Twice.apply(x)  # the call without
        (dy,) = keyway.autograd.grad(y, x, create_graph=True)
        texts = texts_of(dy.backward, ZeroDivisionError, "of the function")
    assert len(texts) == 2
    assert "Error detected in FailsBackward" in texts[0] and "# the call within backward" in texts[0]
    assert "induced by TwiceBackward" in texts[1] and "# the call without" in texts[1]


def test_an_error_within_a_backward_within_a_backward_warns_of_both():
    def hook(grad):
        with keyway.enable_grad():
            Fails.apply(leaf(1.0)).backward()

    with detect_anomaly():
        y = leaf(1.0).mul(2)
        y.register_hook(hook)
        texts = texts_of(y.backward, ZeroDivisionError, "of the function")
    assert [text.split(".")[0].strip() for text in texts] == [
        "Error detected in FailsBackward", "Previous calculation was induced by MulBackward0",
        "Error detected in MulBackward0"]


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_a_checkpoint_is_computed_again_in_anomaly_mode(use_reentrant):
    x = leaf(0.0, 4.0)
    with detect_anomaly():
        y = checkpoint(lambda t: t.sqrt().exp(), x, use_reentrant=use_reentrant)
        y.sum().backward()
        assert x.grad.isinf().any()
        y = checkpoint(lambda t: t.sqrt().mul(0.0).exp(), x, use_reentrant=use_reentrant)
        texts = texts_of(y.sum().backward, RuntimeError, "'SqrtBackward0' returned nan values")
    assert "Error detected in SqrtBackward0" in texts[0]


def test_views_of_what_was_changed_in_place_are_recorded_when_they_are_asked_for():
    with detect_anomaly():
        base = leaf(1.0, 2.0).mul(2)
        view = base[0]
        base.mul_(3)
        function = view.grad_fn  # the question
        assert function.name() == "AsStridedBackward0"
        assert "# the question" in function.metadata["traceback_"][-1]
        view.backward()


# --- Lifetime


def test_a_graph_and_what_it_remembers_go_at_once():
    gc.disable()
    try:
        with detect_anomaly():
            y = leaf(1.0).exp().mul(2)
            witness = Witness()
            reference = weakref.ref(witness)
            y.grad_fn.metadata["witness"] = witness
            del witness
            assert reference() is not None
            del y
            assert reference() is None
    finally:
        gc.enable()


def test_parents_live_as_long_as_what_their_backward_recorded():
    gc.disable()
    try:
        with detect_anomaly():
            x = leaf(1.0)
            y = x.exp()
            (dy,) = keyway.autograd.grad(y, x, create_graph=True)
            reference = weakref.ref(y.grad_fn.metadata.setdefault("witness", Witness()))
        del y
        assert reference() is not None
        del dy
        assert reference() is None
    finally:
        gc.enable()


def test_a_cycle_through_the_parent_is_collected():
    class Keeps(Function):
        @staticmethod
        def forward(ctx, x, witness):
            ctx.witness = witness
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            ctx.result = x.mul(grad)
            return ctx.result, None

    gc.disable()
    try:
        witness = Witness()
        reference = weakref.ref(witness)
        with detect_anomaly():
            x = leaf(1.0)
            y = Keeps.apply(x, witness)
            (dy,) = keyway.autograd.grad(y, x, create_graph=True)
            assert dy.grad_fn.metadata["parent_"] is y.grad_fn
        del witness, y, dy
        assert reference() is not None
        gc.collect()
        assert reference() is None
    finally:
        gc.enable()


def test_an_error_leaves_nothing_behind():
    gc.collect()
    with detect_anomaly():
        y = Fails.apply(leaf(1.0))
        reference = weakref.ref(y.grad_fn.metadata.setdefault("witness", Witness()))
        texts_of(y.backward, ZeroDivisionError, "of the function")
    del y
    gc.collect()
    assert reference() is None


# --- Threads


def test_threads_record_while_the_mode_is_turned_on_and_off():
    errors = []
    stop = threading.Event()
    x = leaf(1.0, 2.0)

    def switch():
        while not stop.is_set():
            with set_detect_anomaly(True):
                pass

    def work():
        try:
            for _ in range(60):
                y = x.mul(2).exp().sum()
                (dy,) = keyway.autograd.grad(y, x, create_graph=True)
                (ddy,) = keyway.autograd.grad(dy.sum(), x)
                assert keyway.allclose(ddy, x.mul(2).exp().mul(4))
        except BaseException as error:  # noqa: B902
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    switching = threading.Thread(target=switch)
    for thread in [switching, *threads]:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    switching.join()
    assert errors == []


def test_threads_may_ask_for_one_view_s_node():
    names = []
    with detect_anomaly():
        for _ in range(20):
            base = leaf(1.0, 2.0).mul(2)
            view = base[0]
            base.mul_(3)
            threads = [threading.Thread(target=lambda: names.append(view.grad_fn.name())) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert names == ["AsStridedBackward0"] * 60


def test_each_thread_s_stack_is_its_own():
    found = {}

    def first(x):
        found["first"] = x.exp().grad_fn.metadata["traceback_"]

    def second(x):
        found["second"] = x.exp().grad_fn.metadata["traceback_"]

    with detect_anomaly():
        threads = [threading.Thread(target=function, args=(leaf(1.0),)) for function in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert "in first\n" in found["first"][-1]
    assert "in second\n" in found["second"][-1]
