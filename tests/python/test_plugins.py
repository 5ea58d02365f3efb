"""Plug-ins: shared libraries whose operators are called as any other, and go again."""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import keyway
import pytest

needs_plugins = pytest.mark.skipif("KEYWAY_TEST_PLUGINS" not in os.environ, reason="ctest says where the plug-ins are")


def plugin_file(name):
    return str(Path(os.environ["KEYWAY_TEST_PLUGINS"]) / f"libkeyway_test_{name}.so")


def test_load_plugin_refuses_what_is_no_plug_in(tmp_path):
    text = tmp_path / "text.so"
    text.write_text("not a library")
    with pytest.raises(keyway.RegistrationError, match="text.so"):
        keyway.load_plugin(str(text))
    with pytest.raises(keyway.RegistrationError, match="exports no keyway_plugin"):
        keyway.load_plugin(keyway._C.__file__)


@needs_plugins
def test_load_plugin_refuses_what_is_built_against_other_headers():
    with pytest.raises(keyway.RegistrationError, match="built against other headers.*rebuild it"):
        keyway.load_plugin(plugin_file("other_tensor_impl"))


@needs_plugins
def test_operators_of_a_plug_in_are_there_until_it_is_unloaded():
    assert "doubling" not in dir(keyway.ops)
    plugin = keyway.load_plugin(Path(plugin_file("twice")))
    assert (plugin.name, plugin.path, plugin.loaded) == ("twice", plugin_file("twice"), True)

    twice = keyway.ops.doubling.twice
    assert dir(keyway.ops.doubling) == ["twice"]
    assert twice.overloads() == ["default"]
    assert twice.default.schema == "doubling::twice(Tensor self, *, int times=1) -> Tensor"
    assert twice.default.tags == ["pointwise"]
    assert twice.__doc__.startswith("doubling::twice(Tensor self, *, int times=1) -> Tensor")

    x = keyway.tensor([1.0, 2.0], requires_grad=True)
    y = twice(x, times=2)
    assert y.tolist() == [4.0, 8.0]
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]
    with pytest.raises(keyway.TypeError, match=r"twice.*'times'"):
        twice(x, times="2")
    assert keyway.explain(twice, x).op == "doubling::twice"
    with pytest.raises(keyway.RegistrationError, match="twice is loaded already"):
        keyway.load_plugin(plugin_file("twice"))

    default = twice.default
    plugin.unload()
    assert not plugin.loaded
    for gone in (twice, default):
        with pytest.raises(keyway.NotImplementedError, match="doubling::twice.*is no longer defined"):
            gone(x)
    with pytest.raises(AttributeError, match="there is no operator doubling::thrice"):
        keyway.ops.doubling.thrice  # noqa: B018
    again = keyway.load_plugin(plugin_file("twice"))
    assert twice(x).tolist() == default(x).tolist() == [2.0, 4.0]
    again.unload()


HELD = """
import sys, keyway
plugin = keyway.load_plugin(sys.argv[1])
x = keyway.empty(2, 3, device="dev3")
view = x[0]
del x
try:
    plugin.unload()
except keyway.RegistrationError as error:
    print(str(error).split("unloaded: ")[1], plugin.loaded)
del view
plugin.unload()
print(plugin.loaded)
again = keyway.load_plugin(sys.argv[1])
left = keyway.empty(3, device="dev3")
try:
    again.unload()
except keyway.RegistrationError:
    print("refused")
"""


@needs_plugins
def test_a_plug_in_whose_tensors_live_is_not_unloaded():
    done = subprocess.run([sys.executable, "-c", HELD, plugin_file("fragile4")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "its devices still have 1 tensor of 24 bytes; let go of them first True", "False", "refused"]


@needs_plugins
def test_unload_waits_for_calls_that_end_in_time():
    plugin = keyway.load_plugin(plugin_file("waits"))
    x = keyway.ones(1)
    ops = keyway.ops.waits
    with ThreadPoolExecutor(2) as pool:
        call = pool.submit(ops.wait, x)
        while ops.waiting(x) == 0:
            time.sleep(0.001)
        for wait in (0, 0.02):
            with pytest.raises(keyway.RegistrationError, match="1 call of its kernels is under way$"):
                plugin.unload(wait=wait)
        with pytest.raises(keyway.ValueError, match="wait is a number of seconds from 0 up, not -1"):
            plugin.unload(wait=-1)
        assert plugin.loaded and ops.waiting(x) == 1
        pool.submit(lambda: (time.sleep(0.02), ops.end(x)))
        plugin.unload(wait=60)
        assert not plugin.loaded
        assert call.result() == 0


@needs_plugins
def test_a_plug_in_that_calls_exit_is_named():
    program = "import sys, keyway; keyway.load_plugin(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", program, plugin_file("fragile2")], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert f"plug-in {plugin_file('fragile2')} ended the program while it was being loaded" in done.stderr


BROUGHT = """
import keyway
x = keyway.ones(2, device="meta")
for what in (lambda: keyway.ones(2, device="npu"), lambda: x.to("npu:1"), lambda: keyway.device("npu"),
             lambda: keyway.autocast("npu")):
    try:
        what()
        print("brought", keyway.ops.npu.number() > 2)
    except keyway.Error as error:
        print(error)
"""


@needs_plugins
def test_a_device_type_is_brought_by_the_file_of_its_name(tmp_path):
    def run():
        environment = {**os.environ, "KEYWAY_PLUGIN_PATH": f"/nowhere:{tmp_path}"}
        done = subprocess.run([sys.executable, "-c", BROUGHT], capture_output=True, text=True, check=True, env=environment)
        return done.stdout.splitlines()

    for line in run():
        assert "there is no device type 'npu'. The types are cpu, cuda, meta" in line
        assert "there is no libkeyway_npu.so in " in line and f"none in KEYWAY_PLUGIN_PATH: /nowhere, {tmp_path}" in line
    shutil.copy(plugin_file("backend"), tmp_path / "libkeyway_npu.so")
    *_, device, autocast = run()
    assert (device, autocast) == ("brought True", "brought True")


OUTLIVED = """
import sys, keyway
keyway.load_plugin(sys.argv[1])
print(keyway.ops.doubling.twice(keyway.ones(1)).item())
"""


@needs_plugins
def test_a_plug_in_stays_when_its_object_goes():
    done = subprocess.run([sys.executable, "-c", OUTLIVED, plugin_file("twice")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2.0\n", "")


@needs_plugins
def test_load_library_loads_a_plug_in_too():
    program = OUTLIVED.replace("keyway.load_plugin", "keyway.ops.load_library")
    done = subprocess.run([sys.executable, "-c", program, plugin_file("twice")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2.0\n", "")
