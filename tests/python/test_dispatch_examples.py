"""The examples of modes and wrapper tensors: what they say of models is so, and models train through them."""

import importlib.util
import pathlib
import subprocess
import sys

import keyway
import numpy as np
import pytest
from keyway import nn, ops

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["count_operations", "deferred_init", "shadowed"])
def test_the_example_runs(name):
    run = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and run.stdout, run.stderr


def train(model, x, steps=20):
    optimizer = keyway.optim.SGD(model.parameters(), lr=0.02, momentum=0.5)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return losses


def test_operations_are_counted_forward_and_backward():
    count_operations = example("count_operations")
    model, x = nn.Sequential(nn.Linear(8, 16, bias=False), nn.Tanh(), nn.Linear(16, 4, bias=False)), keyway.randn(5, 8)
    with count_operations.OperationCounter() as counter:
        model(x).sum().backward()
    forward = 2 * 5 * 8 * 16 + 2 * 5 * 16 * 4
    backward = 2 * forward - 2 * 5 * 8 * 16  # nobody wants the gradient of x
    assert sum(counter.flops.values()) == forward + backward
    assert counter.calls[ops.keyway.mm.default] == 5 and counter.calls[ops.keyway.tanh.default] == 1
    with counter:
        losses = train(model, x)
    assert losses[-1].item() < losses[0].item()


def test_deferred_modules_get_the_numbers_that_they_would_have_had():
    deferred_init = example("deferred_init")

    def made():
        return nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.GRU(12, 3, batch_first=True))

    keyway.manual_seed(11)
    plain = made()
    after = keyway.rand(3)
    keyway.manual_seed(11)
    with deferred_init.DeferredInit() as deferred:
        model = made()
    assert all(type(p) is deferred_init.Deferred and isinstance(p, nn.Parameter) for p in model.parameters())
    keyway.rand(100)
    deferred.materialize(model)
    state = plain.state_dict()
    assert state.keys() == model.state_dict().keys()
    for name, value in model.state_dict().items():
        assert type(value) is keyway.Tensor and value.equal(state[name]), name
    assert keyway.rand(3).equal(after)


def test_deferred_modules_train_once_they_are_there():
    deferred_init = example("deferred_init")
    with deferred_init.DeferredInit() as deferred:
        model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
    losses = train(deferred.materialize(model), keyway.randn(32, 6))
    assert losses[-1].item() < 0.8 * losses[0].item()


def test_a_module_with_shadows_trains_in_both_precisions():
    shadowed = example("shadowed")
    keyway.manual_seed(2)
    plain = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
    keyway.manual_seed(2)
    model = shadowed.shadowed(nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1)))
    x = keyway.randn(32, 6)
    losses, plain_losses = train(model, x), train(plain, x)
    assert all(type(loss) is shadowed.Shadowed for loss in losses)
    assert [loss.value.item() for loss in losses] == [loss.item() for loss in plain_losses]
    assert losses[-1].value.item() < 0.8 * losses[0].value.item()
    for parameter, same in zip(model.parameters(), plain.parameters()):
        assert parameter.value.equal(same) and parameter.shadow.dtype == keyway.float64
        np.testing.assert_allclose(parameter.value.numpy(), parameter.shadow.numpy(), rtol=1e-3, atol=1e-5)
        assert 0 < parameter.error() < 1e-4
