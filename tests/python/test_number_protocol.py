"""Python's operators on tensors: values, dtypes against numbers, reflected and in-place forms, foreign types."""

import math
import operator

import keyway
import pytest

INT_OPERATORS = {
    operator.add: [9, 6],
    operator.sub: [5, 2],
    operator.mul: [14, 8],
    operator.floordiv: [3, 2],
    operator.mod: [1, 0],
    operator.and_: [2, 0],
    operator.or_: [7, 6],
    operator.xor: [5, 6],
}


@pytest.mark.parametrize("function, values", INT_OPERATORS.items(), ids=lambda p: getattr(p, "__name__", ""))
def test_an_operator_takes_a_tensor_or_a_number_and_keeps_the_integer_dtype(function, values):
    x = keyway.tensor([7, 4])
    for other in (keyway.tensor([2, 2]), keyway.tensor(2), 2):
        result = function(x, other)
        assert result.tolist() == values
        assert result.dtype is keyway.int64


@pytest.mark.parametrize("function, values", [
    (operator.add, [9, 6]), (operator.sub, [-5, -2]), (operator.mul, [14, 8]), (operator.floordiv, [0, 0]),
    (operator.mod, [2, 2]), (operator.and_, [2, 0]), (operator.or_, [7, 6]), (operator.xor, [5, 6]),
])
def test_a_number_may_stand_on_the_left(function, values):
    assert function(2, keyway.tensor([7, 4])).tolist() == values


def test_true_division_and_powers_are_floating_where_they_must_be():
    x = keyway.tensor([1, 4])
    assert (x / 2).tolist() == [0.5, 2.0]
    assert (2 / x).tolist() == [2.0, 0.5]
    assert (x**2).tolist() == [1, 16]
    assert (x**0.5).dtype is keyway.float32
    assert (2**x).tolist() == [2, 16]
    assert (x**x).tolist() == [1, 256]
    assert (x ** keyway.tensor(0.5)).tolist() == [1.0, 2.0]
    assert (keyway.ones(2) ** keyway.tensor(2.0, dtype=keyway.float64)).dtype is keyway.float32
    assert x.__pow__(2, 3) is NotImplemented


def test_a_number_divided_by_a_tensor_is_the_reciprocal_times_the_number():
    x = keyway.tensor([3.0, 49.0, 7.0], dtype=keyway.float64)
    assert (5 / x).tolist() == [(1 / 3.0) * 5, (1 / 49.0) * 5, (1 / 7.0) * 5]


@pytest.mark.parametrize("dtype, number, result", [
    ("int64", 2.5, "float32"), ("int64", True, "int64"), ("int64", 2, "int64"), ("int64", 1j, "complex64"),
    ("float16", 2.5, "float16"), ("float16", 2, "float16"), ("bfloat16", 2.5, "bfloat16"),
    ("float64", 2.5, "float64"), ("float64", 1j, "complex128"), ("bool", 1, "int64"), ("bool", True, "bool"),
    ("bool", 2.5, "float32"), ("uint8", 1, "uint8"), ("uint8", 2.5, "float32"), ("int8", 1, "int8"),
    ("complex64", 2.5, "complex64"),
])
@pytest.mark.parametrize("shape", [(), (2,)], ids=["0-dim", "1-dim"])
def test_a_number_changes_the_dtype_only_if_it_is_of_a_higher_kind(dtype, number, result, shape):
    x = keyway.ones(shape, dtype=getattr(keyway, dtype))
    assert (x + number).dtype is getattr(keyway, result)
    assert (number * x).dtype is getattr(keyway, result)


def test_a_tensor_without_dimensions_counts_less_than_one_with():
    assert (keyway.ones(2, dtype=keyway.int8) + keyway.tensor(3)).dtype is keyway.int8
    assert (keyway.ones(2) * keyway.tensor(2.0, dtype=keyway.float64)).dtype is keyway.float32
    assert (keyway.ones(2, dtype=keyway.int64) ** keyway.tensor(2.0, dtype=keyway.float64)).dtype is keyway.float64


def test_a_number_for_which_there_is_no_overload_is_computed_in_the_dtype_of_the_result():
    x = keyway.tensor([1.0, 2.0], dtype=keyway.float64)
    assert (x % 0.3).tolist() == [1.0 % 0.3, 2.0 % 0.3]
    assert (keyway.tensor([7, 5], dtype=keyway.int16) % 4).dtype is keyway.int16
    assert (keyway.tensor([7, 5]) // 2.0).dtype is keyway.float32
    assert (keyway.tensor([True, False]) & True).dtype is keyway.bool


def test_functions_and_methods_take_numbers_where_operators_do():
    x = keyway.tensor([7, 4])
    assert keyway.remainder(x, 4).tolist() == x.remainder(4).tolist() == [3, 0]
    assert x.bitwise_and(3).tolist() == keyway.bitwise_and(3, x).tolist() == [3, 0]
    assert keyway.floor_divide(9, x).tolist() == [1, 2]
    assert keyway.fmod(x, other=4).tolist() == [3, 0]
    assert keyway.sub(10, x, alpha=2).tolist() == [-4, 2]
    assert keyway.add(2, 3).item() == 5
    assert x.copy_(9).tolist() == [9, 9]


def test_where_no_argument_is_a_tensor_operators_that_need_one_say_so():
    with pytest.raises(keyway.TypeError, match="no overload takes \\(int, int\\)"):
        keyway.remainder(7, 4)


def test_numbers_beside_bits_and_remainders_wrap_into_the_dtype():
    x = keyway.tensor([5, 6], dtype=keyway.uint8)
    assert (x & -2).tolist() == (-2 & x).tolist() == [4, 6] and (x & -2).dtype is keyway.uint8
    assert (x ^ 0x101).tolist() == [4, 7] and (x % 258).tolist() == [1, 0]
    x &= 260
    assert x.tolist() == [4, 4]


def test_numbers_beside_integers_that_become_floats_are_floats():
    x = keyway.tensor([2], dtype=keyway.int8)
    assert x.xlogy(300).tolist() == pytest.approx([2 * math.log(300)]) and x.copysign(-0.0).tolist() == [-2.0]
    with pytest.raises(keyway.Error, match="rsub.Scalar: requires"):
        keyway.rsub(x, True)


def test_bits_are_shifted():
    x = keyway.tensor([1, -3])
    assert (x << 2).tolist() == keyway.bitwise_left_shift(x, 2).tolist() == [4, -12]
    assert (x >> 1).tolist() == (x >> keyway.tensor([1, 1])).tolist() == [0, -2]
    assert (5 << keyway.tensor([0, 1])).tolist() == [5, 10] and (5 >> keyway.tensor([0, 1])).tolist() == [5, 2]
    assert (keyway.tensor([True]) << 1).dtype is keyway.int64
    same = x
    x <<= 3
    assert same is x and x.tolist() == [8, -24]
    x >>= keyway.tensor(2)
    assert x.tolist() == [2, -6]
    with pytest.raises(keyway.TypeError):
        x << 1.5


def test_operators_that_take_tensors_only_refuse_numbers():
    with pytest.raises(keyway.TypeError, match="must be Tensor, not int"):
        keyway.logical_and(keyway.ones(2), 1)
    with pytest.raises(keyway.TypeError, match="must be Tensor, not int"):
        keyway.maximum(keyway.ones(2), 1)


def test_an_integer_beyond_the_dtype_wraps_around_as_an_operand_and_is_refused_elsewhere():
    x = keyway.tensor([44, 7], dtype=keyway.uint8)
    assert (x * 300).tolist() == [44 * 300 % 256, 7 * 300 % 256] and (x + 300).tolist() == [88, 51]
    assert (300 - x).tolist() == [0, 37] and (x // 300).tolist() == [1, 0] and (300 ** x)[1].item() == 300**7 % 256
    assert (x == 300).tolist() == [False, False] and (x < 300).tolist() == [True, True]  # values are compared
    assert (x ** 300).tolist() == [pow(44, 300, 256), pow(7, 300, 256)]
    assert (keyway.tensor([44], dtype=keyway.int32) + 2**40).tolist() == [44]
    for refused in (lambda: x.fill_(300), lambda: x.add(1, alpha=300), lambda: x.masked_fill(x > 7, 300)):
        with pytest.raises(keyway.ValueError, match="300 is outside the range of uint8"):
            refused()
    with pytest.raises(keyway.Error, match="does not fit in 64 bits"):
        keyway.ones(2) + 2**80


@pytest.mark.parametrize("function, values", [
    (operator.iadd, [9, 6]), (operator.isub, [5, 2]), (operator.imul, [14, 8]), (operator.ifloordiv, [3, 2]),
    (operator.imod, [1, 0]), (operator.ipow, [49, 16]), (operator.iand, [2, 0]), (operator.ior, [7, 6]),
    (operator.ixor, [5, 6]),
])
def test_an_in_place_form_changes_the_tensor_itself(function, values):
    x = keyway.tensor([7, 4])
    y = x
    x = function(x, 2)
    assert x is y
    assert y.tolist() == values


def test_in_place_division_of_integers_is_refused_and_changes_nothing():
    x = keyway.tensor([7, 4])
    with pytest.raises(keyway.TypeError):
        x /= 2
    assert x.tolist() == [7, 4]


def test_unary_operators():
    x = keyway.tensor([-2, 3])
    assert (-x).tolist() == [2, -3]
    assert abs(x).tolist() == [2, 3]
    assert (~x).tolist() == [1, -4]
    assert +x is x
    with pytest.raises(keyway.TypeError):
        +keyway.tensor([True])


def test_matrix_products():
    x = keyway.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert (x @ x).tolist() == [[7.0, 10.0], [15.0, 22.0]]
    with pytest.raises(TypeError):
        x @ 2
    with pytest.raises(TypeError):
        2 @ x


def test_comparisons_are_element_by_element():
    x = keyway.tensor([1, 2, 3])
    assert (x < 2).tolist() == (2 > x).tolist() == [True, False, False]
    assert (x <= 2.0).tolist() == [True, True, False]
    assert (x == keyway.tensor([1, 0, 3])).tolist() == [True, False, True]
    assert (x != 2).tolist() == [True, False, True]
    assert (x >= keyway.tensor(2)).tolist() == [False, True, True]
    assert (x == 2).dtype is keyway.bool


@pytest.mark.parametrize("foreign", [None, "2", [1, 2], {}, object()], ids=lambda p: type(p).__name__)
def test_a_foreign_type_is_unequal_and_otherwise_refused(foreign):
    x = keyway.tensor([1, 2])
    assert (x == foreign) is False
    assert (x != foreign) is True
    for function in (operator.add, operator.truediv, operator.pow, operator.lt, operator.matmul):
        with pytest.raises(TypeError):
            function(x, foreign)
        with pytest.raises(TypeError):
            function(foreign, x)
    with pytest.raises(TypeError):
        x += foreign


def test_a_foreign_type_gets_its_turn():
    class Meter:
        def __radd__(self, other):
            return "meter"

        def __gt__(self, other):
            return "longer"

    assert keyway.ones(2) + Meter() == "meter"
    assert (keyway.ones(2) < Meter()) == "longer"


def test_an_object_with_an_override_is_an_operand():
    class Answering:
        @classmethod
        def __keyway_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    assert keyway.ones(2) + Answering() == "add"
    assert Answering() - keyway.ones(2) == "sub"


def test_tensors_are_keys_of_dictionaries_by_identity():
    x, y = keyway.ones(2), keyway.ones(2)
    assert {x: 1, y: 2}[x] == 1
    assert hash(x) == id(x)


def test_gradients_flow_through_operators():
    x = keyway.tensor([1.0, 2.0], requires_grad=True)
    y = ((2 - x) * x / 2 + 3 / x) ** 2
    y.sum()._backward([])
    expected = []
    for v in (1.0, 2.0):
        inner = (2 - v) * v / 2 + 3 / v
        expected.append(2 * inner * ((2 - 2 * v) / 2 - 3 / v**2))
    assert x.grad.tolist() == pytest.approx(expected)


def test_an_object_whose_index_raises_passes_its_exception_on():
    class Bad:
        def __index__(self):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        keyway.ones(2) + Bad()


def test_a_method_belongs_to_a_tensor_and_a_function_may_begin_with_a_number():
    with pytest.raises(keyway.TypeError):
        keyway.Tensor.sub(3, keyway.tensor(4))
    assert keyway.sub(3, keyway.tensor(4)).item() == -1
    assert (3 - keyway.tensor(4)).item() == -1


@pytest.mark.parametrize("dtype, other, result", [
    ("float32", "complex128", "complex64"), ("float16", "complex128", "complex32"),
    ("bfloat16", "complex128", "complex64"), ("float64", "complex64", "complex128"),
    ("int64", "complex128", "complex128"),
])
def test_a_complex_tensor_without_dimensions_keeps_the_precision_of_a_floating_one(dtype, other, result):
    x = keyway.ones(2, dtype=getattr(keyway, dtype))
    y = keyway.tensor(1j, dtype=getattr(keyway, other))
    assert keyway.result_type(x, y) is getattr(keyway, result)
    assert (x + y).dtype is getattr(keyway, result)


def test_bools_are_not_subtracted_and_integers_have_no_negative_powers():
    with pytest.raises(keyway.ValueError, match="is_bool"):
        keyway.tensor([1.0]) - True
    with pytest.raises(keyway.ValueError, match="exponent"):
        keyway.tensor([2]) ** -1


def test_an_array_divided_by_a_tensor_is_a_tensor():
    numpy = pytest.importorskip("numpy")
    result = numpy.array([1.0, 2.0]) / keyway.tensor(4.0)
    assert isinstance(result, keyway.Tensor)
    assert result.tolist() == [0.25, 0.5]


def test_a_float_beyond_the_range_of_the_dtype_is_infinity_as_an_operand():
    x, inf = keyway.ones(2), math.inf
    assert (x + 1e39).tolist() == (1e39 * x).tolist() == (1e39 / x).tolist() == [inf, inf]
    assert (x - 1e39).tolist() == [-inf, -inf] and (x / 1e39).tolist() == [0.0, 0.0]
    assert (x < 1e39).tolist() == [True, True] and (x == 1e39).tolist() == [False, False]
    assert (keyway.tensor([inf]) == 1e39).tolist() == [True]
    assert (x % 1e39).tolist() == keyway.fmod(x, 1e39).tolist() == [1.0, 1.0]
    assert (x.to(keyway.float16) * 1e39).tolist() == [inf, inf]
    assert (x.to(keyway.complex64) + complex(0, 1e39)).tolist() == [complex(1, inf)] * 2


@pytest.mark.parametrize("call", [
    lambda x: x.fill_(1e39), lambda x: x.clamp(max=1e39), lambda x: x.add(x, alpha=1e39),
    lambda x: x.masked_fill(x > 0, 1e39), lambda x: keyway.full_like(x, 1e39)])
def test_a_float_that_is_no_operand_must_fit(call):
    with pytest.raises(keyway.ValueError, match="outside the range of float32"):
        call(keyway.ones(2))


@pytest.mark.parametrize("call", [keyway.add, keyway.sub])
def test_a_bool_scales_bools_only(call):
    for x in (keyway.ones(2), keyway.ones(2, dtype=keyway.int64)):
        with pytest.raises(keyway.ValueError, match="alpha"):
            call(x, x, alpha=True)
    b = keyway.tensor([True, False])
    assert keyway.add(b, b, alpha=True).tolist() == [True, False]
