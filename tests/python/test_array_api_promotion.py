"""keyway.array_api: dtypes that meet, comparisons of values, and the numbers at the ends of ranges."""

import itertools
import math

import numpy as np
import pytest

import keyway
import keyway.array_api as xp

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
PAIRS = [(a, b) for a, b in itertools.product(["bool", *INTEGERS], repeat=2)]


def of(name):
    return getattr(xp, name)


@pytest.mark.parametrize("a, b", PAIRS)
def test_integers_promote_as_numpys_do(a, b):
    expected = getattr(keyway, np.result_type(a, b).name)
    assert xp.result_type(of(a), of(b)) is expected
    assert xp.can_cast(of(a), of(b)) == (expected is of(b))
    x, y = xp.ones((2,), dtype=of(a)), xp.ones((2,), dtype=of(b))
    for left, right in ((x, y), (x, y[0]), (x[0], y), (x[0], y[0])):
        assert xp.add(left, right).dtype is expected
        assert xp.multiply(left, right).dtype is expected
        assert xp.maximum(left, right).dtype is expected
        assert xp.where(xp.asarray([True, True]), left, right).dtype is expected
    assert (x + y).dtype is expected
    assert (x * y).tolist() == [1, 1]
    assert xp.concat([x, y]).dtype is xp.stack([x, y]).dtype is expected
    if expected is not xp.bool:
        assert xp.tensordot(x, y, axes=1).dtype is xp.matmul(x, y).dtype is xp.linalg.outer(x, y).dtype is expected


@pytest.mark.parametrize("b", ["bool", *INTEGERS])
def test_operators_in_place_take_other_integers(b):
    for a in INTEGERS:
        if xp.result_type(of(a), of(b)) is not xp.float64:
            x = xp.ones((2,), dtype=of(a))
            x += xp.ones((2,), dtype=of(b))
            assert x.dtype is of(a)
            assert x.tolist() == [2, 2]


def test_an_array_without_dimensions_promotes_like_any_other():
    assert xp.greater(xp.asarray(-1, dtype=xp.int32), xp.asarray([0], dtype=xp.uint8)).tolist() == [False]
    assert xp.pow(xp.asarray(2, dtype=xp.uint16), xp.asarray([3], dtype=xp.uint8)).dtype is xp.uint16
    for name in ("add", "subtract", "divide", "hypot", "atan2", "logaddexp", "copysign", "maximum", "pow"):
        got = getattr(xp, name)(xp.asarray(2.0, dtype=xp.float64), xp.asarray([3.0], dtype=xp.float32))
        assert got.dtype is xp.float64
    assert xp.add(xp.asarray([1], dtype=xp.uint8), 1).dtype is xp.uint8


EDGES = {
    "int8": [-128, 0, 127], "int32": [-(2**31), -1, 0, 2**24 + 1, 2**31 - 1], "uint32": [0, 2**24 + 1, 2**32 - 1],
    "int64": [-(2**63), -(2**53) - 1, -1, 0, 1, 2**53 + 1, 2**63 - 1],
    "uint64": [0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1],
    "float32": [-math.inf, -(2.0**63), -1.5, 0.0, 0.5, 2.0**24, 2.0**31, 2.0**63, 2.0**64, math.inf, math.nan],
    "float64": [-math.inf, -(2.0**63), -(2.0**53), -0.5, 0.0, 1.0, 2.0**53, 2.0**63, 2.0**64, 1e300, math.inf, math.nan],
}  # fmt: skip

COMPARISONS = {
    "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b, "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("a, b", list(itertools.product(EDGES, repeat=2)))
def test_comparisons_are_of_values(name, a, b):
    x, y = xp.asarray(EDGES[a], dtype=of(a)), xp.asarray(EDGES[b], dtype=of(b))
    expected = [[COMPARISONS[name](m, n) for n in EDGES[b]] for m in EDGES[a]]  # Python compares numbers exactly
    assert getattr(xp, name)(xp.expand_dims(x, axis=1), y).tolist() == expected


def test_sign_of_nan_is_nan():
    got = xp.sign(xp.asarray([math.nan, -0.0, -3.0, 2.0])).tolist()
    assert math.isnan(got[0]) and got[1:] == [0.0, -1.0, 1.0]
    assert xp.sign(xp.asarray([3 + 4j, 0])).tolist() == pytest.approx([0.6 + 0.8j, 0])


inf, nan = math.inf, math.nan


@pytest.mark.parametrize("z, real, imag", [
    (complex(0, 0), 0, 0), (complex(1.5, inf), nan, nan), (complex(1.5, nan), nan, nan), (complex(inf, 0), inf, 0),
    (complex(-inf, 1.0), -1, 0), (complex(inf, 2.0), -inf, inf), (complex(-inf, inf), -1, 0), (complex(inf, inf), inf, nan),
    (complex(-inf, nan), -1, 0), (complex(inf, nan), inf, nan), (complex(nan, 0), nan, 0), (complex(nan, 1), nan, nan),
    (complex(nan, nan), nan, nan),
])  # fmt: skip
@pytest.mark.parametrize("dtype", [xp.complex64, xp.complex128])
def test_expm1_of_what_is_not_finite_is_the_standards(z, real, imag, dtype):
    got = xp.expm1(xp.asarray([z], dtype=dtype)).tolist()[0]
    if z == complex(inf, inf) or (z.real == inf and math.isnan(z.imag)):  # the sign is left open
        assert math.isinf(got.real) and math.isnan(got.imag)
        return
    for part, expected in ((got.real, real), (got.imag, imag)):
        assert math.isnan(part) if math.isnan(expected) else part == expected


@pytest.mark.parametrize("values", [[1j, 2, 1j, 2, 1, complex(2, -1)], [0j], []])
def test_sets_of_complex_numbers(values):
    x = xp.asarray(values, dtype=xp.complex128)
    expected = np.unique(np.asarray(values, dtype=np.complex128), return_index=True, return_inverse=True, return_counts=True)
    for got, its in zip(xp.unique_all(x), expected):
        assert got.tolist() == its.reshape(-1).tolist()
    assert xp.unique_values(x).tolist() == expected[0].tolist()
    assert xp.unique_inverse(x).inverse_indices.tolist() == expected[2].reshape(-1).tolist()


def test_cross_broadcasts():
    a, b = np.arange(6.0).reshape(2, 1, 3), np.arange(12.0).reshape(4, 3) ** 2
    expected = np.cross(a, b)
    assert xp.linalg.cross(xp.asarray(a), xp.asarray(b)).tolist() == expected.tolist()
    assert xp.linalg.cross(xp.asarray(a[0, 0]), xp.asarray(b)).tolist() == np.cross(a[0, 0], b).tolist()
    with pytest.raises(keyway.ValueError, match="must have the size 3"):
        xp.linalg.cross(xp.ones((1,)), xp.ones((3,)))


@pytest.mark.parametrize("name", [*INTEGERS, "float32", "float64", "complex64", "complex128"])
def test_sums_of_products_take_every_numeric_dtype(name):
    x, wide = xp.ones((3, 3), dtype=of(name)), name
    if name in INTEGERS:
        wide = "uint64" if name[0] == "u" else "int64"
    assert xp.linalg.trace(x).dtype is of(wide)
    assert xp.linalg.trace(x).item() == 3
    for made in (xp.matmul(x, x), xp.tensordot(x, x, axes=1), xp.vecdot(x, x), xp.linalg.outer(x[0], x[0]),
                 xp.repeat(x, xp.asarray([1, 2, 0]), axis=0), xp.concat([x, x])):
        assert made.dtype is of(name)
    assert xp.vecdot(x, x).tolist() == [3, 3, 3]


def test_ranges_that_are_empty_keep_their_dtype():
    got = xp.arange(-1.0, step=2)
    assert got.dtype is xp.float32 and got.shape == (0,)
    assert xp.arange(3).dtype is xp.int64
    assert xp.arange(1, 5, 2.0).tolist() == [1.0, 3.0]


@pytest.mark.parametrize("value, dtype", [
    (3.402823466385289e38, "float32"), (-3.402823466385289e38, "float32"), (3.402823466385289e38j, "complex64"),
    (1.7976931348623157e308, "float64"), (1.7976931348623157e308j, "complex128"), (1e-46, "float32"),
])  # fmt: skip
def test_full_takes_what_rounds_to_a_number_of_the_dtype(value, dtype):
    got = xp.full((), value, dtype=of(dtype))
    assert got.item() == np.dtype(dtype).type(value).item()


def test_full_at_the_bounds_of_each_dtype():
    for name in INTEGERS:
        for bound in (np.iinfo(name).min, np.iinfo(name).max):
            assert xp.full((2,), int(bound), dtype=of(name)).tolist() == [int(bound)] * 2
    assert xp.full((), 3.402823466385289e38j).dtype is xp.complex64
    assert xp.full((), inf).item() == inf
    with pytest.raises(keyway.ValueError):
        xp.full((), 3.5e38, dtype=xp.float32)


def test_triangles_and_dimensions_have_the_standards_names():
    x = np.arange(9.0).reshape(3, 3)
    assert xp.tril(xp.asarray(x), k=-1).tolist() == np.tril(x, -1).tolist()
    assert xp.triu(xp.asarray(x), k=1).tolist() == np.triu(x, 1).tolist()
    assert xp.expand_dims(xp.ones((3,)), axis=1).shape == (3, 1)
