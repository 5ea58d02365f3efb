"""Comparisons of integers with integers of other dtypes, floats and numbers, against Python's, which are exact."""

import itertools
import math
import operator

import keyway
import numpy as np
import pytest

INTEGERS = {
    "int8": (7, True), "uint8": (8, False), "int16": (15, True), "uint16": (16, False),
    "int32": (31, True), "uint32": (32, False), "int64": (63, True), "uint64": (64, False),
}  # fmt: skip
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
AROUND = [0, 1, 3, 127, 128, 255, 256, 300, 2048, 2049, 65504, 65520, 2**16, 2**24, 2**31, 2**32, 2**53, 2**63, 2**64]
EDGES = sorted({sign * n + step for n in AROUND for sign in (1, -1) for step in (-1, 0, 1)})
FRACTIONS = [0.5, -0.5, 1.5, 2.0**24 + 2, 2.0**53 + 2, 9.5e18, 1.8e19, 1e30, -1e30, math.inf, -math.inf, math.nan]


def integers_of(name):
    bits, signed = INTEGERS[name]
    return [n for n in EDGES if (-(2**bits) if signed else 0) <= n < 2**bits]


def tensor_of(name):
    """Elements of all sizes, and what they are as Python's numbers."""
    dtype = getattr(keyway, name)
    if name in INTEGERS:
        numbers = integers_of(name)
        return keyway.tensor(numbers, dtype=dtype), numbers
    floats = keyway.tensor([float(n) for n in EDGES] + FRACTIONS, dtype=keyway.float64).to(dtype)
    return floats, [float(x) for x in floats.to(keyway.float64).numpy()]


def exact(name, a, b):
    return getattr(operator, name)(a, b)


DTYPES = [*INTEGERS, *FLOATS]
PAIRS = [(a, b) for a, b in itertools.product(DTYPES, DTYPES) if a != b and (a in INTEGERS or b in INTEGERS)]


@pytest.mark.parametrize("a, b", PAIRS)
def test_tensors_of_two_dtypes_compare_by_their_values(a, b):
    x, xs = tensor_of(a)
    y, ys = tensor_of(b)
    for name in COMPARISONS:
        expected = [[exact(name, m, n) for n in ys] for m in xs]
        assert getattr(keyway, name)(x.unsqueeze(1), y).tolist() == expected
        assert getattr(x.unsqueeze(1), name)(y.expand(len(xs), len(ys))).tolist() == expected


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_integers_compare_with_numbers_by_their_values(name, dtype):
    x, xs = tensor_of(dtype)
    for number in [*(n for n in EDGES if -(2**63) <= n < 2**64), *FRACTIONS, 0.1, 1.0000000001, True]:
        expected = [exact(name, n, number) for n in xs]
        assert getattr(x, name)(number).tolist() == expected, number
        if type(number) is not bool:
            assert getattr(operator, name)(x, number).tolist() == expected, number
            assert getattr(operator, name)(number, x).tolist() == [exact(name, number, n) for n in xs], number


def test_a_number_is_rounded_as_the_floats_that_it_is_compared_with():
    assert keyway.tensor([0.1], dtype=keyway.float16).eq(0.1).all()
    assert keyway.tensor([2.0**24]).eq(2**24 + 1).all()
    assert keyway.tensor([0.1]).eq(keyway.tensor(0.1, dtype=keyway.float64)).all()


@pytest.mark.parametrize("a, b", [
    ("int64", "uint64"), ("uint64", "int64"), ("int64", "float32"), ("float64", "uint64"),
])  # fmt: skip
def test_what_a_tensor_has_no_dimensions_does_not_matter(a, b):
    x, xs = tensor_of(a)
    y, ys = tensor_of(b)
    for name, (i, number) in itertools.product(COMPARISONS, enumerate(ys)):
        assert getattr(x, name)(y[i]).tolist() == [exact(name, n, number) for n in xs]
        assert getattr(y[i], name)(x).tolist() == [exact(name, number, n) for n in xs]
    small = keyway.tensor([1, 44, 255], dtype=keyway.uint8)
    assert small.lt(keyway.tensor(300)).all()
    assert not keyway.tensor(257).eq(small).any()
    assert small.gt(keyway.tensor(-1)).all()


def test_results_go_where_they_are_asked_for():
    x, y = keyway.tensor([2**53 + 1, -1, 5]), keyway.tensor([2.0**53, 0.5, 5.0], dtype=keyway.float64)
    for out in (keyway.empty(3, dtype=keyway.bool), keyway.empty(0, dtype=keyway.int64), keyway.empty(3)):
        assert keyway.gt(x, y, out=out) is out
        assert out.to(keyway.bool).tolist() == [True, False, False]
        keyway.le(x, 0.5, out=out)
        assert out.to(keyway.bool).tolist() == [False, True, False]
    assert x.clone().eq_(y).tolist() == [0, 0, 1]
    assert y.clone().ne_(x).tolist() == [1, 1, 0]
    assert x.clone().ge_(2**63).tolist() == [0, 0, 0]


def test_layouts_of_what_is_compared_do_not_matter():
    rng = np.random.default_rng(0)
    a = rng.integers(-(2**63), 2**63, (7, 130), dtype=np.int64)
    b = np.where(rng.random((7, 130)) < 0.5, a, rng.integers(-(2**63), 2**63, (7, 130))).astype(np.float64)
    expected = np.array([[m < int(n) for m, n in zip(r, s)] for r, s in zip(a.tolist(), b.tolist())])
    x, y = keyway.tensor(a), keyway.tensor(b)
    assert (x.lt(y).numpy() == expected).all()
    assert (x.t().lt(y.t()).numpy() == expected.T).all()
    assert (x[:, ::3].lt(y[:, ::3]).numpy() == expected[:, ::3]).all()
    assert (y.gt(x.to(keyway.int64).flip(0).flip(0)).numpy() == expected).all()
    assert x[:0].lt(y[:0]).shape == (0, 130)
    with pytest.raises(keyway.ValueError, match="lt.Tensor: .*do not broadcast"):
        x.lt(y[:, :5])


def test_three_way_comparisons_give_the_sign_of_the_difference():
    compare = keyway.ops.keyway._three_way_compare
    floats = keyway.tensor([2.0**53, 2.0**53, -(2.0**64), math.nan])
    signs = compare(keyway.tensor([2**53 + 1, 2**53, -(2**63), 3]), floats).tolist()
    assert signs[:3] == [1, 0, 1]
    assert math.isnan(signs[3])
    assert compare(keyway.tensor([-1, 5]), keyway.tensor([2**64 - 1, 5], dtype=keyway.uint64)).tolist() == [-1, 0]


def test_equal_and_isclose_compare_values():
    a, b = keyway.tensor([2**53 + 1]), keyway.tensor([2.0**53], dtype=keyway.float64)
    assert not keyway.equal(a, b)
    assert keyway.equal(a - 1, b)
    assert keyway.equal(keyway.tensor([2**63], dtype=keyway.uint64), keyway.tensor([2.0**63]))
    assert not keyway.equal(keyway.tensor([2**64 - 1], dtype=keyway.uint64), keyway.tensor([-1]))


def test_comparisons_within_vmap_compare_values():
    x, y = keyway.tensor([[2**53 + 1, 1], [2, 3]]), keyway.tensor([2.0**53, 2.5], dtype=keyway.float64)
    assert keyway.vmap(lambda row: row.gt(y))(x).tolist() == [[True, False], [False, True]]
    assert keyway.vmap(lambda n, f: n.gt(f))(x[:, 0], y).tolist() == [True, False]
