"""Operators that take and give lists of strings, dtypes, integers that may be None, and lists of lists."""

from __future__ import annotations

import inspect
import re
import warnings
from typing import List, Optional, Sequence

import keyway
import numpy as np
import pytest
from keyway import Tensor


@pytest.fixture
def lib():
    with keyway.library.Library("listed", "FRAGMENT") as made:
        yield made


def _define(lib, schema, kernel, key="CompositeExplicitAutograd"):
    name = lib.define(schema)
    lib.impl(name, kernel, key)
    return getattr(keyway.ops.listed, name.partition("::")[2])


def _leaf(*values):
    return keyway.tensor(values, dtype=keyway.float64, requires_grad=True)


ROUND_TRIPS = [
    ("str[]", ["a", "", "ä\0b"], ("a", "", "ä\0b")),
    ("str[]", (), ()),
    ("ScalarType[]", [keyway.float16, keyway.bool], (keyway.float16, keyway.bool)),
    ("int?[]", [None, 3, None], (None, 3, None)),
    ("SymInt?[]", (np.int64(4), True.__index__()), (4, 1)),
    ("int[][]", [[1, 2], (), [-3]], ((1, 2), (), (-3,))),
    ("int[2][]", [5, [6, 7]], ((5, 5), (6, 7))),
    ("str[]?", None, None),
    ("int[][]?", None, None),
    ("str[][]", [["a"], ("b", "c")], (("a",), ("b", "c"))),
    ("int?[2]", None, (None, None)),
]


@pytest.mark.parametrize(("type_", "given", "expected"), ROUND_TRIPS)
def test_values_come_to_python_kernels_as_tuples_and_back(lib, type_, given, expected):
    seen = []

    def kernel(x, by):
        seen.append(by)
        return given

    op = _define(lib, f"echo(Tensor x, {type_} by) -> {type_}", kernel)
    assert op(keyway.ones(1), given) == expected
    assert seen == [expected] and type(seen[0]) is type(expected)


def test_tuples_in_a_list_are_lists(lib):
    op = _define(lib, "edges((str, str)[] by) -> str", lambda by: "".join(f"{a}>{b} " for a, b in by))
    assert op([("a", "b"), ["c", "d"]]) == "a>b c>d "
    with pytest.raises(keyway.TypeError, match="tuple of tuples of strs, not list with an element of type str"):
        op(["ab"])


def test_lists_of_lists_of_tensors(lib):
    a, b = keyway.ones(1), keyway.zeros(2)
    op = _define(lib, "pairs(Tensor[][] xs) -> Tensor[][]", lambda xs: [list(reversed(x)) for x in xs])
    first, second, third = op([[a, b], (), [b]])
    assert first[0] is b and first[1] is a and second == () and third[0] is b
    where = _define(lib, "where(Tensor[][] xs) -> int", lambda xs: 1, "CPU")
    lib.impl("where", lambda xs: 2, "Meta")
    assert where([[], [a]]) == 1 and where([[b.to("meta")]]) == 2
    assert set(keyway.explain(where, [[], [a]]).arguments) == {"xs"}


WRONG = [
    ("str[]", "abc", "must be tuple of strs, not str"),
    ("str[2]", "abc", "must be tuple of strs, not str"),
    ("str[]", b"abc", "must be tuple of strs, not bytes"),
    ("str[]", ["a", 1], "must be tuple of strs, not list with an element of type int at position 1"),
    ("str[]", None, "must be tuple of strs, not NoneType"),
    ("ScalarType[]", keyway.float32, "must be tuple of keyway.dtypes, not .*dtype"),
    ("ScalarType[]", ("float32",), "not tuple with an element of type str at position 0"),
    ("int?[]", [None, 1.5], r"must be tuple of Optional\[int\]s, not list with an element of type float at position 1"),
    ("int?[]", 3, r"must be tuple of Optional\[int\]s, not int"),
    ("int[][]", [1, 2], "must be tuple of tuples of ints, not list with an element of type int at position 0"),
    ("int[][]", [[1], [2, "x"]], "an element of type list with an element of type str at position 1 at position 1"),
    ("int[][]", ["ab"], "an element of type str at position 0"),
    ("Tensor[][]", [keyway.ones(1)], "must be tuple of tuples of Tensors, not list with an element of type .*Tensor"),
    ("Tensor[][]", [[None]], "an element of type list with an element of type NoneType at position 0"),
]


@pytest.mark.parametrize(("type_", "given", "text"), WRONG)
def test_wrong_values_are_named(lib, type_, given, text):
    op = _define(lib, f"take({type_} by) -> ()", lambda by: None)
    with pytest.raises(TypeError, match=rf"take\.default\(\): argument 'by' \(position 1\) .*{text}"):
        op(given)


class Boasting(Sequence):
    """Says that it is far longer than it is."""

    def __len__(self):
        return 2**62

    def __getitem__(self, index):
        return [1, "x"][index]


def test_no_memory_is_taken_for_what_a_length_promises(lib):
    whole = _define(lib, "whole(int[] by) -> ()", lambda by: None)
    with pytest.raises(TypeError, match="an element of type str at position 1"):
        whole(Boasting())
    words = _define(lib, "words(str[] by) -> ()", lambda by: None)
    with pytest.raises(TypeError, match="an element of type int at position 0"):
        words(Boasting())
    pairs = _define(lib, "pairs(int[][] by) -> ()", lambda by: None)
    with pytest.raises(TypeError, match="an element of type str at position 1"):
        pairs([[1], Boasting()])


def test_an_integer_beyond_64_bits_is_refused(lib):
    op = _define(lib, "take(int[][] by, int?[] n) -> ()", lambda by, n: None)
    for by, n in (([[2**63]], []), ([], [None, 2**63])):
        with pytest.raises(ValueError, match="does not fit in 64 bits"):
            op(by, n)


def test_wrong_results_of_python_kernels_are_named(lib):
    op = _define(lib, "give() -> str[]", lambda: "abc")
    with pytest.raises(TypeError, match=r"returned str as result 0, which is str\[\]"):
        op()
    nested = _define(lib, "nested() -> int[][]", lambda: [[1], [None]])
    with pytest.raises(TypeError, match=r"returned list with an element of type list .* as result 0, which is int\[\]\["):
        nested()


def test_defaults(lib):
    schema = ("with_defaults(str[] s=['a', 'b'], ScalarType[] t=[float16], int?[] n=[None, 1], int[][] i=[[1], []], "
              "Tensor[][] m=[], str[]? o=None) -> int")
    seen = []
    op = _define(lib, schema, lambda s=("a", "b"), t=(keyway.float16,), n=(None, 1), i=((1,), ()), m=(), o=None: (
        seen.append((s, t, n, i, m, o)), 0)[1])
    op()
    op(s=[], i=[[]])
    op(s=["a', 'b"])
    assert seen == [
        (("a", "b"), (keyway.float16,), (None, 1), ((1,), ()), (), None),
        ((), (keyway.float16,), (None, 1), ((),), (), None),
        (("a', 'b",), (keyway.float16,), (None, 1), ((1,), ()), (), None),
    ]
    assert inspect.signature(op.default).parameters["n"].default == (None, 1)
    assert "int?[]n=[None,1],int[][]i=[[1],[]]" in op.default.schema.replace(" ", "")


def test_what_kernels_cannot_take_is_an_error_where_it_is_defined(lib):
    for type_ in ("float?[]", "float[][]", "bool[][]", "(str, int)[]", "int[][][]", "Tensor?[][]", "Device[]"):
        with pytest.raises(keyway.RegistrationError, match=re.escape(f"kernels cannot take values of schema type {type_}")):
            lib.define(f"no({type_} x) -> ()")


HINTS = [
    (list[str], "str[]"),
    (Optional[Sequence[str]], "str[]?"),
    (List[keyway.dtype], "ScalarType[]"),
    (list[Optional[int]], "SymInt?[]"),
    (list[int | None] | None, "SymInt?[]?"),
    (list[list[int]], "SymInt[][]"),
    (Sequence[Sequence[Tensor]], "Tensor[][]"),
]


@pytest.mark.parametrize(("hint", "text"), HINTS)
def test_hints_of_parameters_and_results(hint, text):
    def f(x): ...

    f.__annotations__.update(x=hint)
    f.__annotations__["return"] = Tensor
    assert keyway.library.infer_schema(f, mutates_args=()) == f"({text} x) -> Tensor"
    if not text.endswith("?"):
        f.__annotations__["return"] = hint
        assert keyway.library.infer_schema(f, mutates_args=()) == f"({text} x) -> {text}"


@pytest.mark.parametrize("hint", [list[list[str]], list[list[list[int]]], list[list[float]], list[Optional[float]]])
def test_hints_that_no_kernel_takes_are_refused(hint):
    def f(x) -> Tensor: ...

    f.__annotations__["x"] = hint
    with pytest.raises(keyway.ValueError, match="parameter 'x' has the type hint"):
        keyway.library.infer_schema(f, mutates_args=())


def test_custom_operators_by_hints():
    @keyway.library.custom_op("listed::named", mutates_args=())
    def named(x: Tensor, names: list[str], dims: list[Optional[int]], sizes: list[list[int]] = [[2], []],  # noqa: B006
              dtypes: Sequence[keyway.dtype] = (keyway.float32,)) -> list[str]:
        seen.append((names, dims, sizes, dtypes))
        return [*names, str(x.dtype)]

    seen = []
    assert named(keyway.ones(2), ("a", "b"), [None, 1]) == ["a", "b", "keyway.float32"]
    named(keyway.ones(2), [], [], ((1,),), [keyway.bool])
    assert seen == [(["a", "b"], [None, 1], [[2], []], (keyway.float32,)), ([], [], [[1]], [keyway.bool])]
    assert keyway.ops.listed.named.default.schema == (
        "listed::named(Tensor x, str[] names, SymInt?[] dims, SymInt[][] sizes=[[2],[]], ScalarType[] dtypes=[float32])"
        " -> str[]"
    )
    with pytest.raises(TypeError, match="argument 'names' .* must be tuple of strs, not str"):
        named(keyway.ones(2), "ab", [])


def _weighted():
    @keyway.library.custom_op("listed::weighted", mutates_args=())
    def weighted(groups: list[list[Tensor]], by: list[list[int]]) -> Tensor:
        assert isinstance(groups, list) and all(isinstance(group, list) for group in groups)
        return sum(x.mul(w) for xs, ws in zip(groups, by) for x, w in zip(xs, ws))

    @weighted.register_fake
    def _(groups, by):
        return keyway.empty_like(groups[0][0])

    return weighted


def test_gradients_of_lists_of_lists():
    weighted = _weighted()
    needs = []

    def backward(ctx, grad):
        needs.append(ctx.needs_input_grad)
        return [[grad.mul(w) if need else None for w, need in zip(ws, group)]
                for ws, group in zip(ctx.by, ctx.needs_input_grad[0])], None

    weighted.register_autograd(backward, setup_context=lambda ctx, inputs, output: setattr(ctx, "by", inputs[1]))
    x, y, z = _leaf(1.0, 2.0), _leaf(3.0, 4.0), keyway.ones(2, dtype=keyway.float64)
    out = weighted([[x, z], [], [y]], [[2, 3], [], [5]])
    assert out.tolist() == [20.0, 27.0]
    out.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and y.grad.tolist() == [5.0, 5.0] and z.grad is None
    assert needs == [([[True, False], [], [True]], False)]
    found = keyway.library.opcheck(weighted, ([[x, z], [], [y]], [[2, 3], [], [5]]))
    assert set(found.values()) == {"SUCCESS"}


def test_a_backward_that_gives_other_lists_is_an_error():
    weighted = _weighted()
    x = _leaf(1.0)
    for gave, text in (([], "gave 0 gradients for a list of 2 lists"), ([[None], [x]], "gave 1 gradients for a list of 0"),
                       ([x, []], "gave a Tensor for a list of 1 tensors")):
        weighted.register_autograd(lambda ctx, grad, gave=gave: (gave, None))
        with pytest.raises(keyway.ValueError, match=text):
            weighted([[x], []], [[1], []]).sum().backward()
    weighted.register_autograd(lambda ctx, grad: (None, None))
    weighted([[x], []], [[1], []]).sum().backward()
    assert x.grad is None


def test_a_list_of_lists_as_the_result_has_no_gradient():
    @keyway.library.custom_op("listed::split_twice", mutates_args=())
    def split_twice(x: Tensor) -> list[list[Tensor]]:
        return [[x.clone()], [x.mul(2), x.mul(3)]]

    found = split_twice(keyway.ones(1))
    assert [[t.item() for t in part] for part in found] == [[1.0], [2.0, 3.0]]
    assert isinstance(found, list) and isinstance(found[0], list)
    with pytest.raises(keyway.NotImplementedError, match=r"a list of lists as the result, Tensor\[\]\[\], cannot have a"):
        split_twice.register_autograd(lambda ctx, grads: None)
    with pytest.raises(keyway.AutogradError, match="lists of lists of tensors, which have no gradient"):
        split_twice(_leaf(1.0))
    with keyway.no_grad():
        split_twice(_leaf(1.0))


def test_a_gradient_that_is_lost_is_warned_of(lib):
    op = _define(lib, "loses(Tensor[][] xs) -> Tensor[][]", lambda xs: [[x.detach() for x in xs[1]]], "CPU")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        op([[], [keyway.ones(1)]])
    with pytest.warns(UserWarning, match="listed::loses has no kernel at Autograd"):
        op([[], [_leaf(1.0)]])


def test_arguments_that_are_written_to():
    @keyway.library.custom_op("listed::fill", mutates_args=["groups"])
    def fill(groups: list[list[Tensor]], value: float) -> None:
        for group in groups:
            for x in group:
                x.fill_(value)

    assert keyway.ops.listed.fill.default.schema.startswith("listed::fill(Tensor(a0!)[][] groups")
    x, y = keyway.zeros(2), keyway.zeros(1)
    version = y._version
    fill([[x], [y]], 3.0)
    assert x.tolist() == [3.0, 3.0] and y.item() == 3.0 and y._version > version
    with pytest.raises(keyway.AutogradError, match="writes to a tensor that requires a gradient"):
        fill([[], [_leaf(1.0)]], 3.0)


def test_vmap_runs_each_example(lib):
    op = _define(lib, "sums(Tensor[][] xs, int[][] by) -> Tensor[][]",
                 lambda xs, by: [[x.sum() * by[0][0] for x in group] for group in xs], "CPU")

    def f(x, y):
        (a,), (), (b, c) = op([[x], [], [y, x]], [[2]])
        return a, b, c

    x, y = keyway.arange(6.0).reshape(3, 2), keyway.ones(3)
    a, b, c = keyway.vmap(f)(x, y)
    assert a.tolist() == c.tolist() == [2.0, 10.0, 18.0] and b.tolist() == [2.0] * 3
    a, b, c = keyway.vmap(f, (0, None))(x, y)
    assert b.tolist() == [6.0] * 3


def test_vmap_calls_a_rule():
    weighted = _weighted()

    @weighted.register_vmap
    def _(info, in_dims, groups, by):
        dims.append(in_dims)
        return weighted(groups, by), 0

    dims = []
    x = keyway.arange(6.0).reshape(3, 2)
    assert keyway.vmap(lambda row: weighted([[row], [row]], [[2], [3]]))(x).tolist() == x.mul(5).tolist()
    assert len(dims) == 1 and [list(part) for part in dims[0][0]] == [[0], [0]]


def test_forward_mode_sees_tensors_in_lists_of_lists(lib):
    _define(lib, "scaled(Tensor[][] xs) -> Tensor", lambda xs: xs[0][0] * xs[1][0], "CompositeImplicitAutograd")
    op = keyway.ops.listed.scaled
    x, v = keyway.tensor([2.0, 3.0]), keyway.tensor([1.0, 0.5])
    value, tangent = keyway.func.jvp(lambda t: op([[t], [t, t]]), (x,), (v,))
    assert value.tolist() == [4.0, 9.0] and tangent.tolist() == [4.0, 3.0]


def test_autocast_and_the_profiler_see_tensors_in_lists_of_lists(lib):
    seen = []
    op = _define(lib, "short(Tensor[][] xs, str[] names) -> ()", lambda xs, names: seen.append(xs[0][0].dtype), "CPU")
    keyway.library.register_autocast("listed::short", "cpu", keyway.bfloat16, lib=lib)
    with keyway.autocast("cpu", dtype=keyway.bfloat16):
        op([[keyway.ones(1)]], ["a"])
    assert seen == [keyway.bfloat16]
    with keyway.profiler.profile(record_shapes=True) as profile:
        op([[keyway.ones(1)], []], ["a"])
    assert any("float32[1]" in str(event.args) for event in profile.events())


@pytest.mark.parametrize("nothing_at", [0, 1])
def test_a_result_for_some_examples_only_is_an_error_of_vmap(lib, nothing_at):
    op = _define(lib, "some(Tensor x) -> Tensor?", lambda x: None if x.item() == nothing_at else x.clone())
    with pytest.raises(keyway.Error, match="a result for some examples, and none for others"):
        keyway.vmap(op)(keyway.tensor([0.0, 1.0]))
