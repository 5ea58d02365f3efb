"""keyway.library.infer_schema: schemas from type hints."""

from collections.abc import Sequence
from numbers import Number
from typing import List, Optional, Tuple, Union

import keyway
import pytest
from keyway import Tensor
from keyway.library import infer_schema


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (Tensor, "Tensor"),
        (Optional[Tensor], "Tensor?"),
        (Tensor | None, "Tensor?"),
        (Sequence[Tensor], "Tensor[]"),
        (List[Tensor], "Tensor[]"),
        (Sequence[Optional[Tensor]], "Tensor?[]"),
        (int, "SymInt"),
        (Optional[int], "SymInt?"),
        (list[int], "SymInt[]"),
        (Optional[Sequence[int]], "SymInt[]?"),
        (float, "float"),
        (Optional[List[float]], "float[]?"),
        (bool, "bool"),
        (Sequence[bool], "bool[]"),
        (str, "str"),
        (Optional[str], "str?"),
        (Number, "Scalar"),
        (Union[int, float, bool], "Scalar"),
        (Union[int, float, bool, None], "Scalar?"),
        (Sequence[Number], "Scalar[]"),
        (keyway.dtype, "ScalarType"),
        (Optional[keyway.dtype], "ScalarType?"),
        (keyway.device, "Device"),
    ],
)
def test_a_type_hint_of_a_parameter_has_its_schema_type(hint, text):
    def f(x) -> Tensor: ...

    f.__annotations__["x"] = hint
    assert infer_schema(f, mutates_args=()) == f"({text} x) -> Tensor"


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (None, "()"),
        (Tensor, "Tensor"),
        (List[Tensor], "Tensor[]"),
        (int, "SymInt"),
        (float, "float"),
        (bool, "bool"),
        (Number, "Scalar"),
        (Tuple[Tensor, int], "(Tensor, SymInt)"),
        (tuple[Tensor, Tensor, bool], "(Tensor, Tensor, bool)"),
    ],
)
def test_a_type_hint_of_the_result_has_its_schema_type(hint, text):
    def f(x: Tensor): ...

    f.__annotations__["return"] = hint
    assert infer_schema(f, mutates_args=()) == f"(Tensor x) -> {text}"


def test_defaults_keyword_only_parameters_and_the_name():
    def f(x: Tensor, n: int = 3, *, by: float = 0.5, mode: str = 'a"b', flag: bool = True, y: Optional[Tensor] = None,
          dtype: keyway.dtype = keyway.float32) -> Tensor: ...  # fmt: skip

    assert infer_schema(f, mutates_args=(), op_name="my::f") == (
        'my::f(Tensor x, SymInt n=3, *, float by=0.5, str mode="a\\"b", bool flag=True, Tensor? y=None, '
        "ScalarType dtype=float32) -> Tensor"
    )


def test_arguments_that_are_written_to():
    def f(x: Tensor, ys: Sequence[Tensor], z: Optional[Tensor], n: int) -> None: ...

    assert infer_schema(f, mutates_args=["x", "z"]) == (
        "(Tensor(a0!) x, Tensor[] ys, Tensor(a2!)? z, SymInt n) -> ()"
    )
    assert infer_schema(f, mutates_args="unknown") == (
        "(Tensor(a0!) x, Tensor(a1!)[] ys, Tensor(a2!)? z, SymInt n) -> ()"
    )


def test_type_hints_may_be_text():
    def f(x: "Tensor", n: "int") -> "Tensor": ...

    assert infer_schema(f, mutates_args=()) == "(Tensor x, SymInt n) -> Tensor"


def _without_hint(x) -> Tensor: ...
def _without_result(x: Tensor): ...
def _dictionary(x: dict) -> Tensor: ...
def _mixed(x: Union[Tensor, int]) -> Tensor: ...
def _open(*xs: Tensor) -> Tensor: ...
def _positional(x: Tensor, /) -> Tensor: ...
def _default(x: Tensor, y: Tensor = keyway.ones([1])) -> Tensor: ...  # noqa: B008
def _text_result(x: Tensor) -> str: ...
def _unknown_name(x: "Nowhere") -> Tensor: ...  # noqa: F821


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (_without_hint, "_without_hint.*parameter 'x' needs a type hint"),
        (_without_result, "the result needs a type hint"),
        (_dictionary, "parameter 'x' has the type hint .*dict"),
        (_mixed, "parameter 'x' has the type hint"),
        (_open, "parameter 'xs' is variadic positional"),
        (_positional, "parameter 'x' is positional-only"),
        (_default, "parameter 'y' has the default"),
        (_text_result, "the result has the type hint <class 'str'>"),
        (_unknown_name, "Nowhere"),
    ],
)
def test_what_no_schema_can_say_is_refused(function, text):
    with pytest.raises(keyway.ValueError, match=text):
        infer_schema(function, mutates_args=())


@pytest.mark.parametrize(
    ("mutates_args", "text"),
    [
        (["n"], "'n' is in mutates_args, and is no tensor"),
        (["y"], "names y, which is no parameter"),
        ("x", "list of names"),
    ],
)
def test_mutates_args_that_cannot_be_are_refused(mutates_args, text):
    def f(x: Tensor, n: int) -> None: ...

    with pytest.raises(keyway.ValueError, match=text):
        infer_schema(f, mutates_args=mutates_args)
