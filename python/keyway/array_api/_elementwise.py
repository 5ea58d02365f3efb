"""Element-wise functions of the array API: operators under the standard's names, and what can be made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Union

from keyway import _C
from keyway.array_api._data_types import KINDS, promoted

Operand = Union[_C.Tensor, complex]
Function = Callable[[Operand, Operand], _C.Tensor]

bitwise_invert = _C.bitwise_not


def _of_two(name: str) -> Function:
    operator = getattr(_C, name)

    def function(x1: Operand, x2: Operand, /) -> _C.Tensor:
        return operator(*promoted(x1, x2))  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`keyway.{name}` of two arrays, or of one and a number, in the dtype that both are promoted to."
    return function


def _comparison(name: str) -> Function:
    operator = getattr(_C, {"equal": "eq"}.get(name, name))

    def function(x1: Operand, x2: Operand, /) -> _C.Tensor:
        # Operators compare integers as they are; the dtype that they would be promoted to may not have them all.
        has_integers = any(isinstance(x, _C.Tensor) and x.dtype in KINDS["integral"] for x in (x1, x2))
        return operator(x1, x2) if has_integers else operator(*promoted(x1, x2))  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (f"`keyway.{name}` of two arrays, or of one and a number: of their values, also where no dtype "
                        "holds both.")
    return function


add = _of_two("add")
atan2 = _of_two("atan2")
bitwise_and = _of_two("bitwise_and")
bitwise_left_shift = _of_two("bitwise_left_shift")
bitwise_or = _of_two("bitwise_or")
bitwise_right_shift = _of_two("bitwise_right_shift")
bitwise_xor = _of_two("bitwise_xor")
copysign = _of_two("copysign")
divide = _of_two("divide")
equal = _comparison("equal")
floor_divide = _of_two("floor_divide")
greater = _comparison("greater")
greater_equal = _comparison("greater_equal")
hypot = _of_two("hypot")
less = _comparison("less")
less_equal = _comparison("less_equal")
logaddexp = _of_two("logaddexp")
logical_and = _of_two("logical_and")
logical_or = _of_two("logical_or")
logical_xor = _of_two("logical_xor")
maximum = _of_two("maximum")
minimum = _of_two("minimum")
multiply = _of_two("multiply")
not_equal = _comparison("not_equal")
pow = _of_two("pow")
remainder = _of_two("remainder")
subtract = _of_two("subtract")


def sign(x: _C.Tensor, /) -> _C.Tensor:
    """-1, 0 or 1; of complex numbers x / |x|, or 0; NaN of NaN, where `keyway.sign` has 0."""
    signs = _C.sgn(x)
    return _C.where(_C.isnan(x), x, signs) if x.is_floating_point() else signs


def clip(x: _C.Tensor, /, min: float | _C.Tensor | None = None, max: float | _C.Tensor | None = None) -> _C.Tensor:
    """Each element, or the bound that it lies beyond. Bounds are numbers or arrays, in the dtype of `x`."""
    for bound, nearer in ((min, maximum), (max, minimum)):
        if bound is not None:
            x = nearer(x, _C.as_tensor(bound, dtype=x.dtype, device=x.device))
    return x.clone() if min is None and max is None else x
