"""Decompositions of programs. The oracles are the program as it was, run eagerly, and PyTorch's list of the Core ATen set
(core_aten.txt, which tools/oracle/core_aten.py writes); tests/ops/decompositions_test.cpp has every operator."""

import io
import re
from pathlib import Path
from typing import Any

import onnx_models
import pytest

import keyway as kw
from keyway import export, graph, nn
from keyway._C import _find_overload, _operator_names

CORE = set((Path(__file__).parent / "core_aten.txt").read_text().split())
SILU = kw.ops.keyway.silu.default
MODELS = onnx_models.models()


def operators_of(text: object) -> set[str]:
    return set(re.findall(r"keyway::([\w.]+)\(", str(text)))


def assert_close(given: Any, expected: Any) -> None:
    kw.testing.assert_close(given, expected, rtol=2e-4, atol=2e-5)


def test_the_tag_core_is_that_of_pytorch() -> None:
    functional = {name.removeprefix("keyway::"): _find_overload(name) for name in _operator_names()
                  if name.startswith("keyway::") and "!" not in _find_overload(name).schema}
    tagged = {name for name, op in functional.items() if "core" in op.tags}
    assert tagged == CORE & set(functional)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_becomes_one_of_core_operators_for_every_batch(name: str) -> None:
    make, shape = MODELS[name]
    kw.manual_seed(0)
    model = make().eval()
    program = export.export(model, (kw.randn(*shape),), dynamic_shapes=({0: "batch"},)).run_decompositions()
    assert program.dimensions == ["batch"]
    assert operators_of(program) <= CORE
    file = io.BytesIO()
    export.save(program, file)
    loaded = export.load(file.getvalue())
    for batch in (1, 3, shape[0]):
        x = kw.randn(batch, *shape[1:])
        with kw.no_grad():
            assert_close(loaded(x), model(x))
    assert set(loaded.state_dict) >= {key for key, _ in model.named_parameters()}


@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_a_decomposed_model_are_those_of_the_model(name: str) -> None:
    make, shape = MODELS[name]
    kw.manual_seed(0)
    model = make().eval()
    program = export.export(model, (kw.randn(*shape),), dynamic_shapes=({0: "batch"},)).run_decompositions()
    x = kw.randn(*shape)
    parameters = list(model.parameters())
    expected = kw.autograd.grad(model(x).square().mean(), parameters)
    given = kw.autograd.grad(program(x).square().mean(), parameters)
    for one, other in zip(given, expected, strict=True):
        kw.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_a_step_of_training_becomes_one_of_core_operators(name: str) -> None:
    make, shape = MODELS[name]
    kw.manual_seed(0)
    model, x = make(), kw.randn(*shape)
    model.train()
    parameters = list(model.parameters())

    def step(x: kw.Tensor) -> list[kw.Tensor]:
        return [grad.detach() for grad in kw.autograd.grad(model(x).square().mean(), parameters)]

    state = {key: value.clone() for key, value in model.state_dict().items()}
    captured = graph.capture(step, x).functionalized()
    model.load_state_dict(state)
    decomposed = captured.decomposed()
    assert operators_of(decomposed) - CORE <= {"copy_"}  # into what the model counts
    expected = captured(x)
    model.load_state_dict(state)
    for one, other in zip(decomposed(x), expected, strict=True):
        kw.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def test_a_table_says_what_is_decomposed_and_how() -> None:
    def function(x: kw.Tensor) -> kw.Tensor:
        return nn.functional.silu(x).square()

    x = kw.randn(3)
    captured = graph.capture(function, x)
    assert operators_of(captured.decomposed()) == {"sigmoid", "mul.Tensor"}
    table = export.default_decompositions()
    assert kw.ops.keyway.relu.default not in table
    kw.testing.assert_close(table[SILU](x), nn.functional.silu(x))
    del table[SILU]
    assert operators_of(captured.decomposed(table)) == {"silu", "mul.Tensor"}
    table[SILU] = lambda x: x / (1 + (-x).exp())
    own = captured.decomposed(table)
    assert operators_of(own) == {"neg", "exp", "add.Scalar", "div.Tensor", "mul.Tensor"}
    assert_close(own(x), function(x))
    assert operators_of(captured.decomposed({})) == {"silu", "square"}


def test_decompositions_are_registered_in_a_table_or_for_all() -> None:
    own: dict[Any, Any] = {}
    ops = [SILU, kw.ops.keyway.square.default]

    @export.register_decomposition(ops, own)
    def halved(x: kw.Tensor) -> kw.Tensor:
        return x * 0.5

    captured = graph.capture(nn.functional.silu, kw.ones(3))
    assert own == dict.fromkeys(ops, halved)
    assert operators_of(captured.decomposed(own)) == operators_of(graph.capture(halved, kw.ones(3)))
    lib = kw.library.Library("decomposed", "DEF")  # an operator that is not a composite
    lib.define("twice(Tensor x) -> Tensor")
    lib.impl("twice", lambda x: x * 2, "CPU")
    lib.impl("twice", lambda x: kw.empty_like(x), "Meta")
    twice = kw.ops.decomposed.twice.default
    captured = graph.capture(lambda x: twice(x), kw.ones(3))
    assert twice not in export.default_decompositions()
    export.register_decomposition(twice)(lambda x: x + x)
    try:
        assert operators_of(captured.decomposed()) == {"add.Tensor"}
    finally:
        from keyway._graphs import decompositions

        del decompositions._registered[twice]
        lib._destroy()


def test_what_is_no_decomposition_is_refused() -> None:
    captured = graph.capture(nn.functional.silu, kw.ones(3))
    for function, error in [
        (lambda x: x.sum(), r"decompose: the decomposition of silu gives float32\[\] in the place of float32\[3\]"),
        (lambda x: x.double(), r"gives float64\[3\] in the place of float32\[3\]"),
        (lambda x: x * x.sum().item(), "item gives numbers or sizes that depend on the elements of a tensor"),
        (lambda x: SILU(x) * 1, "decompose: the decomposition of silu ends in itself"),
    ]:
        with pytest.raises(kw.Error, match=error):
            captured.decomposed({SILU: function})
    with pytest.raises(kw.Error, match="sigmoid_ writes to its arguments"):
        captured.decomposed({kw.ops.keyway.sigmoid_.default: lambda x: x})


def test_graphs_within_calls_are_decomposed() -> None:
    def function(x: kw.Tensor) -> kw.Tensor:
        return kw.cond(x.sum() > 0, lambda x: nn.functional.silu(x), lambda x: nn.functional.mish(x), (x,))

    for level in ("executed", "program"):
        decomposed = graph.capture(function, kw.ones(3), level=level).decomposed()
        assert not operators_of(decomposed) & {"silu", "mish", "softplus"}
        for x in (kw.ones(3), -kw.ones(3)):
            assert_close(decomposed(x), function(x))


def test_random_numbers_are_those_of_the_program() -> None:
    def function(x: kw.Tensor) -> kw.Tensor:
        return nn.functional.dropout(x, 0.5, training=True)

    decomposed = graph.capture(function, kw.ones(50)).decomposed()
    kw.manual_seed(3)
    expected = function(kw.ones(50))
    kw.manual_seed(3)
    assert kw.equal(decomposed(kw.ones(50)), expected)
