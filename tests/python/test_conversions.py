"""Tensors as Python's values: truth, numbers, indices, iteration, lists."""

import math

import keyway
import pytest


def test_a_tensor_of_one_element_is_a_number():
    assert float(keyway.tensor(2.5)) == float(keyway.tensor([[2.5]])) == 2.5
    assert int(keyway.tensor(2.9)) == 2
    assert complex(keyway.tensor([1 + 2j])) == 1 + 2j
    assert int(keyway.tensor(1e20, dtype=keyway.float64)) == 10**20
    assert bool(keyway.tensor([3])) is True
    assert bool(keyway.tensor(0.0)) is False
    assert math.isnan(float(keyway.tensor(float("nan"))))


def test_the_truth_of_no_or_several_elements_is_ambiguous():
    with pytest.raises(RuntimeError, match="more than one value"):
        bool(keyway.ones(2))
    with pytest.raises(RuntimeError, match="no values"):
        bool(keyway.ones(0))


def test_several_elements_are_no_number():
    for convert in (int, float, complex):
        with pytest.raises(keyway.ValueError, match="2 elements"):
            convert(keyway.ones(2))


def test_numbers_that_python_cannot_convert_raise_its_errors():
    with pytest.raises(ValueError):
        int(keyway.tensor(float("nan")))
    with pytest.raises(OverflowError):
        int(keyway.tensor(float("inf")))
    with pytest.raises(RuntimeError):
        float(keyway.tensor(1j))


def test_an_integer_tensor_of_one_element_is_an_index():
    assert [10, 20][keyway.tensor(1)] == [10, 20][keyway.tensor([1], dtype=keyway.int8)] == 20
    assert list(range(keyway.tensor(2))) == [0, 1]
    for refused in (keyway.tensor(1.0), keyway.tensor([0, 1])):
        with pytest.raises(TypeError, match="only integer tensors of one element"):
            [10, 20][refused]


def test_len_is_the_size_of_the_first_dimension():
    assert len(keyway.ones(3, 2)) == 3
    assert len(keyway.ones(0)) == 0
    with pytest.raises(TypeError):
        len(keyway.tensor(1))


def test_iteration_gives_views_of_the_first_dimension():
    x = keyway.zeros(2, 2)
    for row in x:
        row += 1
    assert x.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    a, b = keyway.tensor([1, 2])
    assert (a.item(), b.item()) == (1, 2)
    assert list(keyway.ones(0, 2)) == []
    with pytest.raises(TypeError):
        iter(keyway.tensor(1))


def test_reversed_flips_the_first_dimension():
    assert reversed(keyway.tensor([[1], [2]])).tolist() == [[2], [1]]
    x = keyway.tensor(1)
    assert reversed(x) is x


def test_in_looks_for_an_equal_element():
    x = keyway.tensor([1, 2])
    assert 2 in x
    assert 2.5 not in x
    assert keyway.tensor(1) in x
    assert 1 not in keyway.ones(0)
    with pytest.raises(keyway.TypeError, match="str"):
        "a" in x


@pytest.mark.parametrize("values", [
    2, [], [1, 2], [[1, 2], [3, 4]], [[], []], True, [True, False], 2.5, [float("inf"), -0.0], [1 + 2j],
], ids=str)
def test_tolist_gives_nested_lists_of_pythons_numbers(values):
    made = keyway.tensor(values).tolist()
    assert made == values
    assert repr(made) == repr(values)


def test_tolist_follows_strides_and_takes_every_dtype():
    x = keyway.tensor([[1, 2], [3, 4]])
    assert x.transpose(0, 1).tolist() == [[1, 3], [2, 4]]
    for name in "uint8 int8 int16 int32 uint16 uint32 uint64 float16 bfloat16 float64 complex64".split():
        assert keyway.ones(2).to(getattr(keyway, name)).tolist() == [1, 1]
    assert len(keyway.empty(2, dtype=keyway.float8_e5m2).tolist()) == 2


def test_a_tensor_that_requires_a_gradient_still_has_values():
    x = keyway.tensor([1.0, 2.0], requires_grad=True)
    assert x.tolist() == [1.0, 2.0]
    assert float(x.sum()) == 3.0
