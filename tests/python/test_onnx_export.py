"""Programs as ONNX models. The oracles are the function that was exported, run eagerly, and onnxruntime where this Python has
it; a model is run by Keyway's importer, which ONNX's own cases hold to (test_onnx_cases.py)."""

import io
import re
from pathlib import Path

import numpy as np
import onnx_files
import onnx_models
import pytest
from onnx_export_cases import CASES, OPERATORS_THAT_NO_CASE_HAS

import keyway as kw
from keyway import nn
from keyway.library import operator_function

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


def exported(function, args, **options):
    file = io.BytesIO()
    program = kw.onnx.export(function, args, file, **options)
    return program, file.getvalue()


def run_by_onnxruntime(data, args):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    inputs = {value.name: arg.detach().numpy() for value, arg in zip(session.get_inputs(), args)}
    return session.run(None, inputs)


def assert_same(found, expected, bound):
    expected = expected.detach().numpy()
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=bound, atol=bound)


def check(data, function, args, bound=2e-5):
    expected = function(*args)
    expected = expected if isinstance(expected, (tuple, list)) else [expected]
    model = kw.onnx.load_bytes(data)
    found = model.run(dict(zip(model.inputs, args)))
    for one, other in zip(found.values(), expected, strict=True):
        assert_same(one.numpy() if isinstance(one, kw.Tensor) else np.asarray(one), other, bound)
    if onnxruntime is not None:
        for one, other in zip(run_by_onnxruntime(data, args), expected, strict=True):
            assert_same(one, other, bound)


def names_in(data, *path):
    """The texts of a field of messages within messages."""
    if len(path) == 1:
        return [value.decode() for number, value in onnx_files.fields(data) if number == path[0]]
    return [name for number, value in onnx_files.fields(data) if number == path[0] for name in names_in(value, *path[1:])]


MODELS = onnx_models.models()


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_the_benchmarks_agrees_for_every_batch(name):
    make, shape = MODELS[name]
    kw.manual_seed(0)
    model = make().eval()
    program, data = exported(model, (kw.randn(*shape),), dynamic_shapes=({0: "batch"},))
    assert program.dimensions == ["batch"]
    for batch in (1, 3, shape[0]):
        with kw.no_grad():
            check(data, model, (kw.randn(batch, *shape[1:]),), 2e-4)


def operators_of(program):
    return set(re.findall(r"keyway::([\w.]+)\(", str(program)))


@pytest.mark.parametrize("name", CASES)
def test_a_call_agrees(name):
    case = CASES[name]
    program, data = exported(case.function, case.args, opset_version=case.opset, dynamic_shapes=case.dynamic_shapes)
    with kw.no_grad():
        check(data, case.function, case.args, case.bound)


def test_there_is_a_case_for_each_operator_that_is_exportable():
    covered = set().union(*(operators_of(kw.export.export(case.function, case.args)) for case in CASES.values()))
    exportable = set(kw.onnx.exportable_operators())
    assert exportable - covered == OPERATORS_THAT_NO_CASE_HAS


def is_forward(name):
    """Whether it is no gradient, and writes to nothing."""
    return "backward" not in name and "!" not in str(operator_function(name).schema)


def test_the_list_of_operators_without_nodes_is_up_to_date():
    exported(lambda x: x.relu(), (kw.ones(1),))  # registers those of control flow
    forward = {name.removeprefix("keyway::") for name in kw._C._operator_names() if is_forward(name)}
    listed = (Path(__file__).parent / "onnx_operators_without_nodes.txt").read_text().splitlines()
    assert sorted(forward - set(kw.onnx.exportable_operators())) == listed


def test_a_model_says_who_made_it_its_opset_and_its_names():
    _, data = exported(nn.Linear(3, 4), (kw.randn(2, 3),), input_names=["x"], output_names=["y"], opset_version=20,
                       dynamic_shapes=({0: "batch"},))
    assert names_in(data, 2) == ["keyway"]
    assert [value for number, value in onnx_files.fields(data) if number == 1] == [9]
    assert names_in(data, 7, 5, 8) == ["weight", "bias"]
    model = kw.onnx.load_bytes(data)
    assert model.inputs == {"x": "float32[batch, 3]"} and model.outputs == {"y": "float32[batch, 4]"}


def test_sizes_that_follow_from_dimensions_are_computed_in_the_model():
    def function(x):
        batch, height, width = x.shape
        y = x.reshape(batch * height, width // 2, 2)[: batch * 2 + 1]
        return kw.zeros(batch + 1, 2), y, x.sum() * batch

    _, data = exported(function, (kw.randn(3, 5, 8),), dynamic_shapes=({0: "batch", 1: "height", 2: "2 * half"},))
    for shape in ((1, 2, 2), (4, 7, 6)):
        check(data, function, (kw.randn(*shape),))


def test_a_change_in_place_of_what_the_program_made_is_exported():
    def function(x):
        y = x * 2
        y[:, 0].add_(1)
        return y.relu_()

    _, data = exported(function, (kw.randn(3, 4),), dynamic_shapes=({0: "n"},))
    check(data, function, (kw.randn(5, 4),))


def test_a_change_of_an_argument_is_refused():
    with pytest.raises(kw.ValueError, match="writes to its argument 'x'"):
        exported(lambda x: x.add_(1), (kw.randn(3),))


def test_a_module_in_training_is_refused():
    with pytest.raises(kw.ValueError, match="to its state .*call eval"):
        exported(nn.BatchNorm1d(3), (kw.randn(4, 3),))


def test_a_call_that_onnx_does_not_have_is_named_with_its_line():
    with pytest.raises(kw.NotImplementedError, match=r"lgamma, test_onnx_export.py:\d+ has no nodes of ONNX"):
        exported(lambda x: x.lgamma(), (kw.randn(3),))


def test_an_argument_that_onnx_does_not_have_is_named():
    with pytest.raises(kw.NotImplementedError, match="avg_pool2d, .*: 'divisor_override'"):
        exported(lambda x: nn.functional.avg_pool2d(x, 2, divisor_override=3), (kw.randn(1, 1, 4, 4),))


def test_operators_that_are_written_with_others_are_exported_as_these():
    def function(x, y):
        return kw.hstack([x, y]), kw.tensordot(x, y, [[0, 1], [0, 1]])

    _, data = exported(function, (kw.randn(3, 4), kw.randn(3, 4)), dynamic_shapes=({0: "n"}, {0: "n"}))
    check(data, function, (kw.randn(5, 4), kw.randn(5, 4)))


def test_state_lies_beside_the_model_where_that_is_asked_for(tmp_path):
    model = nn.Linear(32, 64)
    x = kw.randn(2, 32)
    kw.onnx.export(model, (x,), tmp_path / "model.onnx", external_data=True)
    assert (tmp_path / "model.onnx.data").stat().st_size == 32 * 64 * 4
    assert (tmp_path / "model.onnx").stat().st_size < 2000
    assert kw.allclose(kw.onnx.load(tmp_path / "model.onnx")(x), model(x), atol=1e-6)


def test_a_program_of_a_file_is_exported(tmp_path):
    model = nn.Linear(3, 4)
    model_program = kw.export.export(model, (kw.randn(2, 3),), dynamic_shapes=({0: "batch"},))
    kw.export.save(model_program, tmp_path / "model.safetensors")
    file = io.BytesIO()
    kw.onnx.export(kw.export.load(tmp_path / "model.safetensors"), f=file)
    with kw.no_grad():
        check(file.getvalue(), model, (kw.randn(7, 3),))


def test_opsets_that_are_not_written_are_refused():
    with pytest.raises(kw.ValueError, match="18 to 23"):
        exported(lambda x: x.relu(), (kw.randn(3),), opset_version=17)
