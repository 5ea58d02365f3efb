"""Libraries over the stable C ABI from Python, in processes of their own: what they register stays."""

import os
import subprocess
import sys
from pathlib import Path

import keyway
import pytest

pytestmark = pytest.mark.skipif("KEYWAY_TEST_PLUGINS" not in os.environ, reason="ctest says where the libraries are")


def library(name: str) -> str:
    return str(Path(os.environ["KEYWAY_TEST_PLUGINS"]) / f"libkeyway_test_{name}.so")


def run(program: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_operators_of_a_library_are_called_from_python_and_get_gradients_there():
    program = """
import sys, keyway
keyway.ops.load_library(sys.argv[1])
keyway.library.register_autograd(
    "layer::scale", lambda ctx, grad: (grad * ctx.by, None),
    setup_context=lambda ctx, inputs, output: setattr(ctx, "by", inputs[1]))
x = keyway.tensor([1.0, 2.0], dtype=keyway.float64, requires_grad=True)
y = keyway.ops.layer.scale(x, by=3.0)
y.sum().backward()
print(y.tolist(), x.grad.tolist(), keyway.ops.layer.geometry(keyway.zeros(2, 3)))
try:
    keyway.ops.layer.scale(keyway.zeros(2), 1.0)
except keyway.ValueError as error:
    print(error)
"""
    said = run(program, library("layer"))
    assert said.startswith("[3.0, 6.0] [3.0, 3.0] (2, 3, 3, 1, 0)\nlayer::scale: layer::scale takes float64"), said


def test_a_library_is_a_plug_in_that_can_be_unloaded():
    before = keyway._C._operator_names()
    plugin = keyway.load_plugin(library("plain0"))
    assert keyway.ops.plain.scale(keyway.ones(2, dtype=keyway.float64), 2.0).tolist() == [2.0, 2.0]
    held = keyway.ops.plain.borrow()
    with pytest.raises(keyway.RegistrationError, match="1 tensor of 48 bytes"):
        plugin.unload()
    del held
    plugin.unload()
    assert keyway._C._operator_names() == before


def test_a_library_that_was_built_for_another_schema_is_refused():
    with pytest.raises(keyway.RegistrationError, match="keyway::relu is not what the library was built for"):
        keyway.ops.load_library(library("layer_changed"))
