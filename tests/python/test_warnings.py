"""Warnings of C++ are Python's: filters of `warnings` hear of them, ignore them, or make errors of them."""

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import keyway
import pytest
from keyway.library import Library

needs_plugins = pytest.mark.skipif("KEYWAY_TEST_PLUGINS" not in os.environ, reason="ctest says where the plug-ins are")


@pytest.fixture
def unraisable(monkeypatch):
    """What sys.unraisablehook gets: texts of errors that nobody could be told of."""
    texts = []
    monkeypatch.setattr(sys, "unraisablehook", lambda raised: texts.append(str(raised.exc_value)))
    return texts


@pytest.fixture
def warns():
    plugin = keyway.load_plugin(str(Path(os.environ["KEYWAY_TEST_PLUGINS"]) / "libkeyway_test_warns.so"))
    yield keyway.ops.warns
    plugin.unload()


def dangling(name):
    library = Library("keyway", "IMPL", "CPU")
    library.impl(name, lambda x: x)
    return library


def test_a_kernel_of_no_operator_is_warned_of_by_python_when_its_library_goes(capfd):
    library = dangling("rellu")
    with pytest.warns(RuntimeWarning, match="never defined, keyway::rellu: .*did you mean 'keyway::relu'") as caught:
        del library
    assert len(caught) == 1
    library = dangling("rellu")
    with pytest.warns(RuntimeWarning, match="keyway::rellu") as caught:
        library.destroy()
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dangling("rellu").destroy()
    assert capfd.readouterr().err == ""


def test_such_a_warning_can_be_an_error_when_all_is_undone(unraisable):
    library = dangling("rellu")
    library.impl("siggmoid", lambda x: x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="keyway::siggmoid"):
            library.destroy()
        library.destroy()  # there is nothing any more
        assert unraisable == []
        library = dangling("rellu")
        del library
    assert len(unraisable) == 1 and "keyway::rellu" in unraisable[0]
    again = dangling("rellu")  # the name is free: Python knows no kernel of it
    with pytest.warns(RuntimeWarning, match="keyway::rellu"):
        again.destroy()


def test_a_kernel_in_anothers_place_is_warned_of_and_not_registered_where_that_is_an_error():
    x = keyway.tensor([-1.0, 2.0])
    with Library("keyway", "IMPL", "CPU") as library:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match="keyway::relu for CPU at .*test_warnings.py.* takes the place"):
                library.impl("relu", lambda x: x + 1)
        assert keyway.relu(x).tolist() == [0.0, 2.0]
        with pytest.warns(RuntimeWarning, match="takes the place") as caught:
            library.impl("relu", lambda x: x + 1)
        assert [warning.filename for warning in caught] == [__file__]
        assert keyway.relu(x).tolist() == [0.0, 3.0]
    assert keyway.relu(x).tolist() == [0.0, 2.0]


@needs_plugins
@pytest.mark.parametrize("where", ["here", "elsewhere", "caught"])
def test_a_warning_of_a_kernel_goes_through_pythons_filters(warns, where, capfd):
    x = keyway.ones([2])
    with pytest.warns(UserWarning, match="it is late") as caught:
        assert getattr(warns, where)(x, "it is late").tolist() == [2.0, 2.0]
    assert len(caught) == 1
    if where != "elsewhere":
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(warns, where)(x, "it is late")
    assert capfd.readouterr().err == ""


@needs_plugins
def test_a_warning_that_is_an_error_reaches_the_caller_or_the_hook(warns, unraisable):
    x = keyway.ones([2], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="first"):
            warns.here(x, "first")
        with pytest.raises(UserWarning, match="second"):
            warns.here(keyway.ones([2]), "second")
        assert unraisable == []
        assert warns.elsewhere(x, "third").tolist() == [2.0, 2.0]  # Python has not called there
        assert warns.caught(x, "fourth").tolist() == [1.0, 1.0]
        assert unraisable == ["third", "fourth"]
        # In threads of Python's own too.
        raised = []

        def call():
            try:
                warns.here(x, "fifth")
            except UserWarning as warning:
                raised.append(str(warning))

        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        assert raised == ["fifth"]
    assert warns.here(x, "")[0].item() == 2


@needs_plugins
def test_a_warning_while_an_error_is_raised_leaves_it(warns, unraisable):
    class Late:
        def __del__(self):
            warns.here(keyway.ones([1]), "late")

    def fails():
        late = Late()  # noqa: F841
        raise ValueError("the first")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            fails()
        except ValueError as error:
            assert str(error) == "the first"
            error.__traceback__ = None
    assert unraisable == ["late"]


@needs_plugins
def test_what_warns_when_the_interpreter_has_ended_prints():
    program = """
import atexit, os, sys, warnings
import keyway
plugin = keyway.load_plugin(sys.argv[1])
warnings.simplefilter("error")

class Last:
    def __init__(self):
        self.call, self.x = keyway.ops.warns.here.default, keyway.ones([1])
    def __del__(self):
        self.call(self.x, "at the very end")

sys.last = Last()
atexit.register(lambda: keyway.ops.warns.elsewhere(keyway.ones([1]), "at exit"))
"""
    file = str(Path(os.environ["KEYWAY_TEST_PLUGINS"]) / "libkeyway_test_warns.so")
    ended = subprocess.run([sys.executable, "-c", program, file], timeout=60, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("UserWarning: at exit") == 1
    assert ended.stderr.count("at the very end") == 1


@needs_plugins
def test_a_thread_that_warns_as_the_interpreter_ends_waits():
    program = """
import sys, threading, time, warnings
import keyway
plugin = keyway.load_plugin(sys.argv[1])
warnings.simplefilter("error")
sys.unraisablehook = lambda raised: None
caught, x = keyway.ops.warns.caught, keyway.ones([1])

def run():
    while True:
        caught(x, "again")

for _ in range(2):
    threading.Thread(target=run, daemon=True).start()
time.sleep(0.2)
"""
    file = str(Path(os.environ["KEYWAY_TEST_PLUGINS"]) / "libkeyway_test_warns.so")
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", program, file], timeout=60, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        assert set(ended.stderr.splitlines()) <= {"[keyway] warning: again"}  # what C++ says when Python has ended
