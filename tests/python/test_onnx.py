"""ONNX models: what a user sees of them, captures, and files that are refused."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import onnx_make as make
import pytest

import keyway

X = make.argument("x", "float32", ["n", 3])
Y = make.argument("y", "float32", ["n", 3])


def of_nodes(*nodes, inputs=(X,), outputs=(Y,), initializers=(), **options):
    return make.model(make.graph(list(nodes), list(inputs), list(outputs), list(initializers)), **options)


def load(*nodes, **options):
    return keyway.onnx.load_bytes(of_nodes(*nodes, **options))


def test_a_model_names_its_inputs_and_outputs():
    bias = make.tensor("bias", np.float32([1, 2, 3]))
    model = load(make.node("Add", ["x", "bias"], ["y"]), inputs=[make.argument("bias", "float32", [3]), X], initializers=[bias])
    assert model.inputs == {"x": "float32[n, 3]"}
    assert model.optional_inputs == {"bias": "float32[3]"}
    assert model.outputs == {"y": "float32[n, 3]"}
    assert repr(model) == "keyway.onnx.Model(x: float32[n, 3]) -> (y: float32[n, 3])"
    x = keyway.zeros(2, 3)
    assert model(x).tolist() == model(x=x).tolist() == [[1, 2, 3], [1, 2, 3]]
    assert model(x, bias=keyway.ones(3)).tolist() == [[1, 1, 1], [1, 1, 1]]
    assert model.run({"x": x})["y"].tolist() == [[1, 2, 3], [1, 2, 3]]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({}, "the input 'x' is missing"),
        ({"x": keyway.zeros(2, 4)}, r"the input 'x' is float32\[2, 4\], but the model takes float32\[n, 3\]"),
        ({"x": keyway.zeros(2, 3, dtype=keyway.float64)}, "float64"),
        ({"x": keyway.zeros(2, 3), "z": keyway.zeros(1)}, "no input 'z'; it has 'x'"),
    ],
)
def test_inputs_that_the_model_does_not_take_are_refused(arguments, message):
    with pytest.raises(keyway.ValueError, match=message):
        load(make.node("Relu", ["x"], ["y"]))(**arguments)


def test_an_output_does_not_share_memory_with_the_values_of_the_file():
    model = load(make.node("Identity", ["w"], ["y"]), inputs=[], initializers=[make.tensor("w", np.float32([[1, 2, 3]]))])
    constant = load(make.node("Constant", [], ["y"], value=("tensor", make.tensor("", np.float32([[1, 2, 3]])))), inputs=[])
    for one in (model, constant):
        one().fill_(7)
        assert one().tolist() == [[1, 2, 3]]


def test_an_error_names_the_node():
    model = load(make.node("Reshape", ["x", "sizes"], ["y"]), initializers=[make.tensor("sizes", np.int64([5, 5]))])
    with pytest.raises(keyway.ValueError, match="ONNX Reshape, node the Reshape: "):
        model(keyway.zeros(2, 3))


def test_gradients_flow_through_a_model():
    x = keyway.ones(2, 3, requires_grad=True)
    load(make.node("Mul", ["x", "x"], ["y"]))(x).sum().backward()
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_a_function_of_the_model_runs_by_its_body():
    square = make.function("mine", "Square", ["a"], ["b"], [make.node("Mul", ["a", "a"], ["b"])])
    model = load(make.node("Square", ["x"], ["y"], domain="mine"), functions=[square], others={"mine": 1})
    assert model(keyway.full((1, 3), 3.0)).tolist() == [[9, 9, 9]]


def test_functions_that_call_each_other_without_end_are_refused():
    again = make.function("mine", "Again", ["a"], ["b"], [make.node("Again", ["a"], ["b"], domain="mine")])
    again = make.field(9, make.field(1, "mine") + make.field(2, 1)) + again
    with pytest.raises(keyway.ParseError, match="deep"):
        load(make.node("Again", ["x"], ["y"], domain="mine"), functions=[again], others={"mine": 1})


def test_functions_that_double_at_each_step_are_refused():
    functions = [
        make.function("mine", f"F{i}", ["a"], ["c"],
                      [make.node(f"F{i + 1}", ["a"], ["b"], "mine"), make.node(f"F{i + 1}", ["b"], ["c"], "mine")])
        for i in range(30)
    ]  # fmt: skip
    functions.append(make.function("mine", "F30", ["a"], ["c"], [make.node("Relu", ["a"], ["c"])]))
    with pytest.raises(keyway.ParseError, match="nodes"):
        load(make.node("F0", ["x"], ["y"], domain="mine"), functions=functions, others={"mine": 1})


# Sizes of the input are taken apart and put together, as exporters write x.reshape(x.shape[0], -1).
RESHAPES = [
    make.node("Shape", ["x"], ["sizes"]),
    make.node("Gather", ["sizes", "zero"], ["n"], axis=0),
    make.node("Unsqueeze", ["n", "axes"], ["first"]),
    make.node("Concat", ["first", "rest"], ["target"], axis=0),
    make.node("Relu", ["x"], ["positive"]),
    make.node("Reshape", ["positive", "target"], ["y"]),
]
NUMBERS = [make.tensor("zero", np.int64(0)), make.tensor("axes", np.int64([0])), make.tensor("rest", np.int64([-1]))]


def test_a_capture_has_no_arithmetic_on_sizes():
    model = load(*RESHAPES, initializers=NUMBERS)
    x = keyway.randn(2, 3)
    graph = keyway.graph.capture(model, x)
    assert [name for name, _ in graph.nodes()] == ["keyway::relu", "keyway::view"]
    assert graph(x).equal(x.relu())
    compiled = keyway.compile(model)
    for _ in range(2):
        assert compiled(x).equal(x.relu())


def test_a_capture_refuses_what_depends_on_elements():
    model = load(make.node("NonZero", ["x"], ["y"]), outputs=[make.argument("y", "int64", [2, "k"])])
    assert model(keyway.eye(3)).tolist() == [[0, 1, 2], [0, 1, 2]]
    with pytest.raises(keyway.ValueError, match="which a graph cannot follow"):
        keyway.graph.capture(model, keyway.eye(3))
    sized = load(make.node("Expand", ["x", "s"], ["y"]), inputs=[X, make.argument("s", "int64", [2])])
    with pytest.raises(keyway.ValueError, match="the elements of input 1 of ONNX's Expand"):
        keyway.graph.capture(sized, keyway.ones(1, 3), keyway.tensor([2, 3]))


def body_of_loop():
    """Doubles what it carries while it is less than 100."""
    return make.graph(
        [
            make.node("Add", ["v", "v"], ["w"]),
            make.node("ReduceMax", ["w"], ["most"], keepdims=0),
            make.node("Less", ["most", "limit"], ["on"]),
        ],
        [make.argument("i", "int64", []), make.argument("c", "bool", []), make.argument("v", "float32", ["n", 3])],
        [make.argument("on", "bool", []), make.argument("w", "float32", ["n", 3])],
    )


def test_a_loop_sees_the_values_around_it():
    model = load(make.node("Loop", ["", "", "x"], ["y"], body=("graph", body_of_loop())),
                 initializers=[make.tensor("limit", np.float32(100))])  # fmt: skip
    assert model(keyway.ones(1, 3)).tolist() == [[128, 128, 128]]


def test_a_number_is_a_constant_of_a_capture():
    branch = {}
    for name, op in (("then_branch", "Relu"), ("else_branch", "Neg")):
        branch[name] = ("graph", make.graph([make.node(op, ["x"], [name])], [], [make.argument(name, "float32", ["n", 3])]))
    model = load(make.node("If", ["c"], ["y"], **branch), inputs=[X, make.argument("c", "bool", [])])
    x = keyway.randn(2, 3)
    assert model(x, True).equal(x.relu()) and model(x, keyway.tensor(False)).equal(-x)
    graph = keyway.graph.capture(lambda x: model(x, False), x)
    assert [name for name, _ in graph.nodes()] == ["keyway::neg"]
    with pytest.raises(keyway.ValueError, match="the elements of input 0 of ONNX's If"):
        keyway.graph.capture(model, x, keyway.tensor(True))


@pytest.mark.parametrize(
    "nodes, options, message",
    [
        ([make.node("Foo", ["x"], ["y"])], {}, "no operator 'Foo' of version 17 of ai.onnx, which node 'the Foo' is"),
        ([make.node("Relu", ["x"], ["y"], "far")], {"others": {"far": 1}}, "no operators of the domain 'far'"),
        ([make.node("Relu", ["x"], ["y"], alpha=1)], {}, "has no attribute 'alpha'"),
        ([make.node("Mish", ["x"], ["y"])], {}, "no operator 'Mish' of version 17"),
        ([make.node("Relu", ["x"], ["y"])], {"version": 1000}, "version 1000 of the operators of ai.onnx"),
    ],
)
def test_what_is_not_there_is_refused_by_name(nodes, options, message):
    with pytest.raises(keyway.NotImplementedError, match=message):
        load(*nodes, **options)


@pytest.mark.parametrize(
    "nodes, message",
    [
        ([make.node("Relu", ["z"], ["y"])], "'z' is used, but nothing before gives it"),
        ([make.node("Relu", ["x"], ["y"]), make.node("Abs", ["x"], ["y"])], "'y' is given twice"),
        ([make.node("Relu", ["x", "x"], ["y"])], "2 inputs and 1 outputs; Relu has 1 and 1 at most"),
        ([make.node("Identity", ["x"], ["z"])], "'y' is used, but nothing before gives it"),
    ],
)
def test_what_is_no_graph_is_refused(nodes, message):
    with pytest.raises(keyway.ParseError, match=message):
        load(*nodes)


@pytest.mark.parametrize(
    "initializer, message",
    [
        (make.field(1, 1 << 40) + make.field(2, 1) + make.field(8, "w"), "has 0 numbers, but must have 1099511627776"),
        (make.field(1, 1 << 62) * 4 + make.field(2, 1) + make.field(8, "w"), "more elements than there can be"),
        (make.field(1, -1) + make.field(2, 1) + make.field(8, "w"), "a size is -1"),
        (make.field(1, 1) * 65 + make.field(2, 1) + make.field(8, "w"), "more than 64 dimensions"),
        (make.tensor("w", np.uint8([7])).replace(make.field(2, 2), make.field(2, 9), 1), "neither 0 nor 1"),
        (make.field(1, 1) + make.field(2, 77) + make.field(8, "w"), "no type of elements with the number 77"),
    ],
)
def test_a_tensor_is_made_only_if_the_file_has_its_elements(initializer, message):
    with pytest.raises(keyway.Error, match=message):
        load(make.node("Relu", ["x"], ["y"]), initializers=[initializer])


def test_external_data_lies_in_the_folder_of_the_model(tmp_path):
    def with_data(**entries):
        model = of_nodes(make.node("Add", ["x", "w"], ["y"]), initializers=[make.external("w", "float32", [3], **entries)])
        (tmp_path / "model.onnx").write_bytes(model)
        return keyway.onnx.load(tmp_path / "model.onnx")

    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "w.bin").write_bytes(bytes(8) + np.float32([1, 2, 3]).tobytes())
    os.symlink(tmp_path / "data", tmp_path / "link")
    os.symlink(tmp_path / "data" / "w.bin", tmp_path / "data" / "link.bin")
    assert with_data(location="data/w.bin", offset="8", length="12")(keyway.zeros(1, 3)).tolist() == [[1, 2, 3]]
    for location, rule in [
        ("../w.bin", "leave the model's folder"),
        ("data/../data/w.bin", "leave the model's folder"),
        ("/etc/passwd", "relative"),
        ("link/w.bin", "link|cannot open"),
        ("data/link.bin", "link"),
        ("data", "regular file"),
        ("", "relative"),
    ]:
        with pytest.raises(keyway.Error, match=rule):
            with_data(location=location, offset="8")
    with pytest.raises(keyway.ParseError, match="which has 20"):
        with_data(location="data/w.bin", offset="12")
    with pytest.raises(keyway.ParseError, match="has no folder"):
        keyway.onnx.load_bytes((tmp_path / "model.onnx").read_bytes())


def test_a_mutated_file_is_a_model_or_an_error():
    seeds = [of_nodes(*RESHAPES, initializers=NUMBERS),
             of_nodes(make.node("Loop", ["", "", "x"], ["y"], body=("graph", body_of_loop())),
                      initializers=[make.tensor("limit", np.float32(100))])]  # fmt: skip
    draw = random.Random(7)
    for _ in range(3000):
        data = bytearray(draw.choice(seeds))
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(data))
            draw.choice([lambda: data.__setitem__(at, draw.randrange(256)), lambda: data.__delitem__(at),
                         lambda: data.insert(at, draw.randrange(256))])()  # fmt: skip
        try:
            keyway.onnx.load_bytes(bytes(data))
        except keyway.Error as error:
            assert len(str(error)) < 1500


def test_the_library_is_opened_by_the_first_model():
    program = (
        "import keyway\n"
        "opened = lambda: 'libkeyway_onnx' in open('/proc/self/maps').read()\n"
        "keyway.onnx\n"
        "assert not opened()\n"
        "assert ('', 'Relu', 1) in keyway.onnx.operators()\n"
        "assert opened()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
