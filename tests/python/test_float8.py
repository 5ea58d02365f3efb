"""Floats of 8 bits: what converts to them and back, and what moves them. Numbers are those of the formats' definitions."""
import math

import pytest

import keyway

# Bits of exponent and mantissa, the exponent's bias, and what is special.
FORMATS = {
    "float8_e4m3fn": (4, 3, 7, "nan is all ones"),
    "float8_e5m2": (5, 2, 15, "ieee"),
    "float8_e4m3fnuz": (4, 3, 8, "nan is minus zero"),
    "float8_e5m2fnuz": (5, 2, 16, "nan is minus zero"),
}
NAMES = [*FORMATS, "float8_e8m0fnu"]


def number_of(name, bits):
    if name == "float8_e8m0fnu":
        return math.nan if bits == 255 else 2.0 ** (bits - 127)
    exponents, mantissas, bias, special = FORMATS[name]
    sign = -1.0 if bits & 128 else 1.0
    exponent, mantissa = (bits & 127) >> mantissas, bits & ((1 << mantissas) - 1)
    if special == "nan is all ones" and bits & 127 == 127:
        return math.nan
    if special == "nan is minus zero" and bits == 128:
        return math.nan
    if special == "ieee" and exponent == (1 << exponents) - 1:
        return math.nan if mantissa else sign * math.inf
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissas)
    return sign * (1 + mantissa * 2.0 ** -mantissas) * 2.0 ** (exponent - bias)


def every_number(name):
    return keyway.tensor(list(range(256)), dtype=keyway.uint8).view(getattr(keyway, name))


def alike(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize("name", NAMES)
def test_all_numbers_are_those_of_the_format(name):
    given = every_number(name)
    for dtype in (keyway.float32, keyway.float64):
        values = given.to(dtype).tolist()
        assert all(alike(values[bits], number_of(name, bits)) for bits in range(256))
    back = given.to(keyway.float32).to(given.dtype).view(keyway.uint8).tolist()
    assert all(back[bits] == bits or math.isnan(number_of(name, bits)) for bits in range(256))
    assert [alike(given[i].item(), number_of(name, i)) for i in range(256)] == [True] * 256


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("dtype", [keyway.float64, keyway.float32, keyway.float16, keyway.bfloat16, keyway.int64, keyway.int16])
def test_numbers_between_are_rounded_once_to_the_nearest_even_one(name, dtype):
    keyway.manual_seed(1)
    numbers = {number_of(name, bits): bits for bits in range(256) if math.isfinite(number_of(name, bits))}
    ordered = sorted(numbers)
    greatest = ordered[-1]
    middles = [(a + b) / 2 for a, b in zip(ordered, ordered[1:])]
    tried = keyway.tensor(middles + [m * (1 + 2.0**-40) for m in middles] + [m * (1 - 2.0**-40) for m in middles],
                          dtype=keyway.float64)
    tried = keyway.cat([tried, (keyway.randn(500, dtype=keyway.float64) * 3).exp() * greatest / 1000]).to(dtype)
    rounded = tried.to(getattr(keyway, name))
    for x, y, bits in zip(tried.tolist(), rounded.to(keyway.float64).tolist(), rounded.view(keyway.uint8).tolist()):
        if abs(x) > greatest:
            continue
        nearest = min(abs(x - n) for n in ordered)
        candidates = [n for n in ordered if abs(x - n) == nearest]
        assert y in candidates
        if len(candidates) == 2:
            assert bits % 2 == 0


def test_what_is_too_large_is_what_the_format_has_for_it():
    large = keyway.tensor([449.0, 464.0, 465.0, 1e30, -1e30, math.inf, math.nan])
    values = large.to(keyway.float8_e4m3fn).to(keyway.float32).tolist()
    assert values[:2] == [448.0, 448.0] and all(math.isnan(v) for v in values[2:])
    values = large.to(keyway.float8_e5m2).to(keyway.float32).tolist()
    assert values[:3] == [448.0, 448.0, 448.0] and values[3:6] == [math.inf, -math.inf, math.inf]
    assert math.isnan(values[6])


def test_scales_are_powers_of_two():
    given = keyway.tensor([0.0, 1.0, 1.4, 1.5, 3.0, 5.9, -2.0, 2.0**-140, math.inf], dtype=keyway.float64)
    values = given.to(keyway.float8_e8m0fnu).to(keyway.float64).tolist()
    assert values[:8] == [2.0**-127, 1.0, 1.0, 2.0, 4.0, 4.0, 2.0, 2.0**-127] and math.isnan(values[8])


@pytest.mark.parametrize("name", FORMATS)
def test_elements_are_filled_and_moved(name):
    dtype = getattr(keyway, name)
    x = keyway.tensor([[1.0, 2.0, 3.0], [-4.0, 0.5, 0.0]], dtype=dtype)
    wide = x.to(keyway.float32)
    index = keyway.tensor([2, 0])
    same = [
        (x.t().contiguous(), wide.t()), (x.clone(), wide), (x.flip(1), wide.flip(1)),
        (keyway.cat([x, x]), keyway.cat([wide, wide])), (keyway.stack([x, x]), keyway.stack([wide, wide])),
        (x.index_select(1, index), wide.index_select(1, index)), (x[:, index], wide[:, index]),
        (x.gather(1, keyway.tensor([[0], [1]])), wide.gather(1, keyway.tensor([[0], [1]]))),
        (x.scatter(1, keyway.tensor([[2], [2]]), 7.0), wide.scatter(1, keyway.tensor([[2], [2]]), 7.0)),
        (x.repeat(2, 2), wide.repeat(2, 2)), (x.roll(1, 1), wide.roll(1, 1)),
        (keyway.full((2, 2), 1.5, dtype=dtype), keyway.full((2, 2), 1.5)),
        (keyway.zeros(3, dtype=dtype), keyway.zeros(3)), (keyway.ones(3, dtype=dtype), keyway.ones(3)),
    ]
    for got, expected in same:
        assert got.dtype is dtype and got.to(keyway.float32).tolist() == expected.tolist()
    x[0] = 2.0
    assert x.to(keyway.int32).tolist() == [[2, 2, 2], [-4, 0, 0]] and x.to(keyway.bool).tolist()[1] == [True, True, False]
    assert "0.5" in repr(x) and name in repr(x)
    assert x.to(keyway.complex64)[1, 0].item() == -4 + 0j


def test_gradients_pass_through_the_conversion():
    x = keyway.tensor([1.0, 2.1], requires_grad=True)
    (x.to(keyway.float8_e5m2).to(keyway.float32) * keyway.tensor([2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 3.0]


def test_scales_have_no_zero():
    with pytest.raises(keyway.ValueError, match="0 is outside the range of float8_e8m0fnu"):
        keyway.zeros(2, dtype=keyway.float8_e8m0fnu)
    assert keyway.full((2,), 0.25, dtype=keyway.float8_e8m0fnu).to(keyway.float32).tolist() == [0.25, 0.25]


def test_assert_close_compares_them():
    x = keyway.tensor([1.0, 2.0], dtype=keyway.float8_e4m3fn)
    keyway.testing.assert_close(x, x.clone())
    with pytest.raises(AssertionError, match="differ in 1 of 2"):
        keyway.testing.assert_close(x, keyway.tensor([1.0, 3.0], dtype=keyway.float8_e4m3fn))


@pytest.mark.parametrize("call", [lambda x: keyway.histc(x, 3), lambda x: x.cauchy_(), lambda x: x.matrix_exp()])
def test_what_is_composed_of_arithmetic_takes_none(call):
    with pytest.raises(keyway.TypeError, match="requires self.dtype"):
        call(keyway.ones(4, 4, dtype=keyway.float8_e4m3fn))


def test_there_is_no_arithmetic_and_errors_say_so():
    x = keyway.ones(2, dtype=keyway.float8_e4m3fn)
    with pytest.raises(keyway.TypeError, match="float8_e4m3fn"):
        x + x
    with pytest.raises(keyway.TypeError, match="float8_e4m3fn"):
        x.sum()
    with pytest.raises(keyway.TypeError, match="do not promote"):
        keyway.cat([x, keyway.ones(2)])
