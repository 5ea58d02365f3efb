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


def test_a_program_with_a_limit_of_sizes_is_decomposed_below_it() -> None:
    table = kw.randn(32, 4)

    def function(x: kw.Tensor) -> kw.Tensor:
        assert x.shape[0] <= 32
        return nn.functional.silu(x) + table[: x.shape[0]]

    program = export.export(function, (kw.ones(32, 4),), dynamic_shapes={"x": {0: "length"}})
    file = io.BytesIO()
    export.save(program, file)
    for one in (program, export.load(file.getvalue()), program.run_decompositions()):
        core = one.run_decompositions()
        assert operators_of(core) <= CORE and core.metadata == {}
        for length in (1, 17, 32):
            x = kw.randn(length, 4)
            assert_close(core(x), function(x))


def floats(*numbers: float, dtype: Any = kw.float32) -> kw.Tensor:
    return kw.tensor(list(numbers), dtype=dtype)


HARD = {  # a call, its tensors, and what it gives
    "a norm of small numbers": (kw.linalg.vector_norm, (kw.full((3,), 1e-30),), 3**0.5 * 1e-30),
    "a norm of great numbers": (kw.linalg.vector_norm, (floats(1e20),), 1e20),
    "a deviation of small numbers": (kw.std, (floats(1e-25, 3e-25),), 2**0.5 * 1e-25),
    "a deviation of great numbers": (kw.std, (floats(1e25, -1e25),), 2**0.5 * 1e25),
    "a mean of great numbers": (lambda x: kw.var_mean(x)[1], (floats(3e38, 3e38),), 3e38),
    "the end of a way": (lambda a, b: a.lerp(b, 1.0), (floats(1e8), floats(1.0)), [1.0]),
    "the end of a way by a tensor": (kw.lerp, (floats(1e8), floats(1.0), floats(1.0)), [1.0]),
    "elu's slope at NaN": (kw.ops.keyway.elu_backward, (floats(1), 1, 1, 1, False, floats(kw.nan)), [kw.nan]),
    "gelu's slopes": (lambda grad, x: kw.ops.keyway.gelu_backward(grad, x, approximate="tanh"),
                      (floats(2, 2), floats(1e30, -1e30)), [2.0, 0.0]),
    "a product by a factor": (lambda *x: kw.addcmul(*x, value=1e-30), (floats(0), floats(1e30), floats(1e30)), [1e30]),
    "a quotient by a factor": (lambda *x: kw.addcdiv(*x, value=1e-30), (floats(0), floats(1e30), floats(1e-10)), [1e10]),
    "half of a product": (lambda *x: kw.baddbmm(*x, alpha=0.5),
                          (kw.zeros(1, 1, 1).half(), kw.full((1, 1, 1), 300).half(), kw.full((1, 1, 1), 300).half()),
                          [[[45000.0]]]),
    "none of a product": (lambda *x: kw.baddbmm(*x, alpha=0),
                          (kw.ones(1, 1, 1), kw.full((1, 1, 1), kw.nan), kw.ones(1, 1, 1)), [[[1.0]]]),
    "a sum of bools": (lambda *x: x[0].index_add(0, *x[1:]),
                       (kw.tensor([False, True]), kw.tensor([0, 1]), kw.tensor([True, True])), [True, True]),
    "no sum of bools": (lambda *x: x[0].index_add(0, *x[1:], alpha=False),
                        (kw.tensor([False, True]), kw.tensor([0, 1]), kw.tensor([True, True])), [False, True]),
    "a sum of halves": (lambda *x: x[0].index_add(0, *x[1:], alpha=2),
                        (floats(-60000, dtype=kw.float16), kw.tensor([0]), floats(50000, dtype=kw.float16)), [40000.0]),
    "attention without keys": (kw.ops.keyway._scaled_dot_product_attention_forward,
                               (kw.ones(1, 1, 2, 3), kw.ones(1, 1, 0, 3), kw.ones(1, 1, 0, 1), None, False, 1.0),
                               ([[[[0.0], [0.0]]]], [[[kw.inf, kw.inf]]])),
    "a loss without classes": (lambda *x: nn.functional.cross_entropy(*x, reduction="none"),
                               (kw.zeros(2, 0), kw.tensor([-100, -100])), [0.0, 0.0]),
    "the sign of a probability's logarithm": (nn.functional.logsigmoid, (floats(200.0),), [0.0]),
    "the sign of no information": (lambda x, y: x.xlogy(y), (floats(0), floats(0.5)), [0.0]),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_numbers_are_those_of_the_operator(case: str) -> None:
    function, arguments, expected = HARD[case]
    tensors = [argument for argument in arguments if isinstance(argument, kw.Tensor)]

    def call(*given: kw.Tensor) -> Any:
        rest = iter(given)
        return function(*(next(rest) if isinstance(argument, kw.Tensor) else argument for argument in arguments))

    with kw.no_grad():
        results = graph.capture(call, *tensors).decomposed()(*tensors)
    for result, number in zip(results, expected) if isinstance(results, tuple) else [(results, expected)]:
        number = kw.tensor(number, dtype=result.dtype)
        kw.testing.assert_close(result, number, rtol=1e-3, atol=0, equal_nan=True)
        if number.dtype != kw.bool:
            assert kw.equal(result.signbit() & ~result.isnan(), number.signbit() & ~number.isnan())


def test_a_call_by_a_decomposition_has_the_errors_of_the_operator() -> None:
    table, ops = export.default_decompositions(), kw.ops.keyway
    x, index = kw.ones(2, 3), kw.tensor([0])
    for op, arguments in [
        (ops.transpose.int, (x, 0, 100000)),
        (ops.index_copy.default, (x, 100000, index, kw.ones(1, 3))),
        (ops.index_add.default, (x, -100000, index, kw.ones(1, 3))),
        (ops.diagonal_scatter.default, (x, kw.ones(2), 0, 0, 7)),
        (ops.unbind.int, (x, 9)),
        (ops.im2col.default, (x, [1], [1], [0], [1])),
    ]:
        with pytest.raises(kw.Error) as expected:
            op(*arguments)
        with pytest.raises(kw.Error, match=re.escape(str(expected.value).split(";")[0])):
            table[op](*arguments)


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
        (lambda x: x.as_strided((3,), (1,)) * 1, "as_strided is called for an argument, which may have other strides"),
        (lambda x: x.view(3, 1).as_strided((3,), (1,)) * 1, "as_strided is called for an argument"),
        (lambda x: SILU(x) * 1, "decompose: the decomposition of silu ends in itself"),
    ]:
        with pytest.raises(kw.Error, match=error):
            captured.decomposed({SILU: function})
    with pytest.raises(kw.Error, match="sigmoid_ writes to its arguments"):
        captured.decomposed({kw.ops.keyway.sigmoid_.default: lambda x: x})


def test_a_view_becomes_no_copy() -> None:
    """What is written to it would be lost."""
    t = kw.ops.keyway.t.default

    def function(x: kw.Tensor) -> kw.Tensor:
        t(x).mul_(2)
        return x + 1

    captured = graph.capture(function, kw.ones(2, 2), level="program")
    for copy in (lambda x: x.permute(1, 0).clone(), lambda x: x.new_ones(2, 2).permute(1, 0)):
        with pytest.raises(kw.Error, match="decomposition of t gives a tensor in other memory in the place of a view"):
            captured.decomposed({t: copy})
    view = captured.decomposed({t: lambda x: x.permute(1, 0)})
    assert kw.equal(view(kw.ones(2, 2)), kw.full((2, 2), 3.0))
    raveled = graph.capture(lambda x: x.ravel().mul_(2).sum() + x, kw.ones(3), level="program").decomposed()
    assert kw.equal(raveled(kw.ones(3)), kw.full((3,), 8.0))
    own = graph.capture(nn.functional.silu, kw.ones(3)).decomposed(
        {SILU: lambda x: (x * x.sigmoid()).as_strided((3,), (1,))})
    assert_close(own(kw.ones(3)), nn.functional.silu(kw.ones(3)))


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
