"""no_grad, enable_grad, set_grad_enabled and inference_mode, as context managers and decorators."""

import threading

import keyway
import pytest


def test_blocks_nest_and_end():
    assert keyway.is_grad_enabled()
    with keyway.no_grad():
        assert not keyway.is_grad_enabled()
        with keyway.enable_grad():
            assert keyway.is_grad_enabled()
        assert not keyway.is_grad_enabled()
    assert keyway.is_grad_enabled()


def test_one_object_can_be_entered_again_within_itself():
    mode = keyway.no_grad()
    with mode:
        with mode:
            pass
        assert not keyway.is_grad_enabled()
    assert keyway.is_grad_enabled()


def test_an_exception_ends_a_block():
    with pytest.raises(ZeroDivisionError), keyway.no_grad():
        1 / 0
    assert keyway.is_grad_enabled()


def test_nothing_is_recorded_in_no_grad():
    x = keyway.ones(1, requires_grad=True)
    with keyway.no_grad():
        assert not x.mul(2).requires_grad
        assert keyway.ones(1, requires_grad=True).requires_grad


@pytest.mark.parametrize("decorate", [keyway.no_grad, keyway.no_grad()])
def test_no_grad_decorates_with_and_without_parentheses(decorate):
    @decorate
    def enabled():
        """Its text."""
        return keyway.is_grad_enabled()

    assert not enabled()
    assert keyway.is_grad_enabled()
    assert (enabled.__name__, enabled.__doc__) == ("enabled", "Its text.")


def test_a_decorated_function_may_call_itself():
    @keyway.no_grad()
    def down(n):
        return [keyway.is_grad_enabled()] + (down(n - 1) if n else [])

    assert down(2) == [False] * 3
    assert keyway.is_grad_enabled()


def test_a_generator_runs_in_the_mode_and_its_consumer_does_not():
    log = []

    @keyway.no_grad()
    def numbers():
        try:
            got = yield keyway.is_grad_enabled()
            log.append((got, keyway.is_grad_enabled()))
            try:
                yield 2
            except KeyError:
                log.append(("thrown", keyway.is_grad_enabled()))
            yield 3
        finally:
            log.append(("closed", keyway.is_grad_enabled()))
        return "end"

    generator = numbers()
    assert next(generator) is False
    assert keyway.is_grad_enabled()
    assert generator.send("hello") == 2
    assert generator.throw(KeyError()) == 3
    assert keyway.is_grad_enabled()
    with pytest.raises(StopIteration) as end:
        next(generator)
    assert end.value.value == "end"
    assert log == [("hello", False), ("thrown", False), ("closed", False)]


def test_closing_a_generator_runs_its_end_in_the_mode():
    log = []

    @keyway.no_grad()
    def forever():
        try:
            while True:
                yield
        finally:
            log.append(keyway.is_grad_enabled())

    generator = forever()
    next(generator)
    generator.close()
    assert log == [False]


def test_a_class_becomes_a_function_with_a_warning():
    class Model:
        def __init__(self):
            self.enabled = keyway.is_grad_enabled()

    with pytest.warns(FutureWarning, match="__init__"):
        make = keyway.no_grad()(Model)
    assert make().enabled is False


def test_coroutines_are_refused():
    async def task():
        pass

    with pytest.raises(keyway.TypeError, match="one thread's"):
        keyway.no_grad()(task)


def test_set_grad_enabled_is_a_function_and_a_block_and_a_decorator():
    keyway.set_grad_enabled(False)
    assert not keyway.is_grad_enabled()
    keyway.set_grad_enabled(True)
    with keyway.set_grad_enabled(False):
        assert not keyway.is_grad_enabled()
    assert keyway.is_grad_enabled()

    @keyway.set_grad_enabled(False)
    def enabled():
        return keyway.is_grad_enabled()

    assert keyway.is_grad_enabled()
    assert not enabled()


def test_inference_mode_makes_inference_tensors():
    with keyway.inference_mode():
        assert keyway.is_inference_mode_enabled() and not keyway.is_grad_enabled()
        x = keyway.ones(1)
        with keyway.inference_mode(False):
            assert keyway.is_grad_enabled() and not keyway.is_inference_mode_enabled()
            assert not keyway.ones(1).is_inference()
        assert keyway.is_inference_mode_enabled()
    assert x.is_inference() and keyway.is_grad_enabled()
    with pytest.raises(keyway.AutogradError, match="inference mode"):
        x.requires_grad_()
    with pytest.raises(keyway.AutogradError, match="inference mode"):
        keyway.ones(1, requires_grad=True).mul(x)


@pytest.mark.parametrize("change", [
    lambda x: x.add_(1), lambda x: x.zero_(), lambda x: x.copy_(keyway.zeros(1)), lambda x: x.normal_(),
    lambda x: keyway.add(keyway.ones(1), 1, out=x)])
def test_a_tensor_of_inference_mode_is_changed_there_only(change):
    with keyway.inference_mode():
        x = keyway.ones(1)
        change(x)
    with pytest.raises(keyway.AutogradError, match="made in inference mode, and can be changed only there"):
        change(x)
    assert x.clone().add_(1).shape == (1,)


def test_inference_mode_within_no_grad_gives_that_back():
    with keyway.no_grad():
        with keyway.inference_mode():
            pass
        assert not keyway.is_grad_enabled() and not keyway.is_inference_mode_enabled()


@pytest.mark.parametrize("decorate", [keyway.inference_mode, keyway.inference_mode()])
def test_inference_mode_decorates(decorate):
    @decorate
    def enabled():
        return keyway.is_inference_mode_enabled()

    assert enabled()
    assert not keyway.is_inference_mode_enabled()


def test_modes_are_those_of_a_thread():
    found = []
    with keyway.no_grad():
        thread = threading.Thread(target=lambda: found.append(keyway.is_grad_enabled()))
        thread.start()
        thread.join()
    assert found == [True]
