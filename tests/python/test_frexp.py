"""Numbers as a fraction times a power of 2."""

import math

import pytest

import keyway


@pytest.mark.parametrize("dtype", [keyway.float64, keyway.float32, keyway.float16, keyway.bfloat16])
def test_a_number_is_its_mantissa_times_a_power_of_2(dtype):
    x = keyway.tensor([1.0, -0.75, 6.5, 1 / 3, 0.0, -0.0, 1000.0], dtype=dtype)
    mantissa, exponent = keyway.frexp(x)
    assert mantissa.dtype is dtype and exponent.dtype is keyway.int32
    assert list(zip(mantissa.tolist(), exponent.tolist())) == [math.frexp(value) for value in x.tolist()]


def test_the_smallest_and_the_greatest_numbers_have_parts():
    for values, dtype in (([5e-324, 1e-310, 1.7e308], keyway.float64), ([1e-45, 1e-40, 3e38], keyway.float32)):
        x = keyway.tensor(values, dtype=dtype)
        made = x.frexp()
        assert list(zip(made.mantissa.tolist(), made.exponent.tolist())) == [math.frexp(v) for v in x.tolist()]


def test_what_is_not_finite_is_its_mantissa():
    mantissa, exponent = keyway.frexp(keyway.tensor([math.inf, -math.inf, math.nan]))
    assert mantissa[:2].tolist() == [math.inf, -math.inf] and mantissa[2].isnan() and exponent.tolist() == [0, 0, 0]


def test_the_parts_go_into_tensors_and_gradients_pass():
    outs = keyway.empty(0), keyway.empty(0, dtype=keyway.int32)
    made = keyway.frexp(keyway.tensor([6.0]), out=outs)
    assert made.mantissa is outs[0] and outs[0].tolist() == [0.75] and outs[1].tolist() == [3]
    x = keyway.tensor([6.0], requires_grad=True)
    keyway.frexp(x).mantissa.backward()
    assert x.grad.tolist() == [0.125]
    with pytest.raises(keyway.NotImplementedError, match="int64"):
        keyway.frexp(keyway.tensor([1]))
