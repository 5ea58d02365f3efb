"""What is asked about dtypes."""

import struct

import keyway
import pytest


def test_the_default_dtype_is_that_of_new_floating_tensors():
    assert keyway.get_default_dtype() is keyway.float32
    keyway.set_default_dtype(keyway.float64)
    try:
        assert keyway.ones(1).dtype is keyway.get_default_dtype() is keyway.float64
    finally:
        keyway.set_default_dtype(keyway.float32)
    for refused in (keyway.int64, "float32", None):
        with pytest.raises(keyway.TypeError):
            keyway.set_default_dtype(refused)


@pytest.mark.parametrize("a, b, result", [
    ("int8", "uint8", "int16"), ("int64", "float16", "float16"), ("float16", "bfloat16", "float32"),
    ("bool", "uint8", "uint8"), ("complex64", "float64", "complex128"), ("float32", "float32", "float32"),
])
def test_dtypes_promote_to_the_smallest_that_holds_both(a, b, result):
    a, b, result = (getattr(keyway, name) for name in (a, b, result))
    assert keyway.promote_types(a, b) is keyway.promote_types(b, a) is result


def test_dtypes_that_do_not_meet_are_refused():
    with pytest.raises(keyway.TypeError, match="float8_e5m2"):
        keyway.promote_types(keyway.float8_e5m2, keyway.float32)


def test_result_type_ranks_tensors_before_those_without_dimensions_before_numbers():
    x = keyway.ones(2, dtype=keyway.float16)
    assert keyway.result_type(x, keyway.tensor(1.0, dtype=keyway.float64)) is keyway.float16
    assert keyway.result_type(x, 2.5) is keyway.float16
    assert keyway.result_type(keyway.ones(1, dtype=keyway.int8), 300) is keyway.int8
    assert keyway.result_type(keyway.ones(1, dtype=keyway.int8), 2.5) is keyway.float32
    assert keyway.result_type(1, True) is keyway.int64
    with pytest.raises(keyway.TypeError, match="tensor2"):
        keyway.result_type(x, "a")


def test_results_may_be_stored_in_dtypes_of_their_kind_or_a_higher_one():
    assert keyway.can_cast(keyway.float64, keyway.float16)
    assert keyway.can_cast(keyway.int64, keyway.float16)
    assert not keyway.can_cast(keyway.float32, keyway.int64)
    assert not keyway.can_cast(keyway.complex64, keyway.float64)
    assert not keyway.can_cast(keyway.uint8, keyway.bool)


def test_finfo_of_float32_is_that_of_ieee_754():
    info = keyway.finfo(keyway.float32)
    assert info.bits == 32
    assert info.eps == 2.0**-23
    assert info.max == -info.min == struct.unpack("<f", bytes.fromhex("ffff7f7f"))[0]
    assert info.tiny == info.smallest_normal == 2.0**-126
    assert info.resolution == 1e-6
    assert info.dtype == "float32"
    assert repr(info) == ("finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
                          "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_limits_are_numbers_of_the_dtype_and_eps_is_the_next_after_one(dtype):
    dtype = getattr(keyway, dtype)
    info = keyway.finfo(dtype)
    for number in (info.max, info.min, info.tiny, 1 + info.eps):
        assert keyway.tensor(number, dtype=keyway.float64).to(dtype).double().item() == number
    assert keyway.tensor(1 + info.eps / 4, dtype=keyway.float64).to(dtype).double().item() == 1.0


def test_finfo_knows_the_8_bit_floats():
    assert keyway.finfo(keyway.float8_e4m3fn).max == 448.0
    assert keyway.finfo(keyway.float8_e5m2).max == 57344.0


def test_finfo_of_a_complex_dtype_is_that_of_its_parts_and_without_argument_of_the_default():
    assert keyway.finfo(keyway.complex128) == keyway.finfo(keyway.float64)
    assert keyway.finfo().dtype == "float32"
    with pytest.raises(keyway.TypeError, match="iinfo"):
        keyway.finfo(keyway.int64)


@pytest.mark.parametrize("dtype, bits, low, high", [
    ("int8", 8, -128, 127), ("uint8", 8, 0, 255), ("int64", 64, -(2**63), 2**63 - 1), ("uint64", 64, 0, 2**64 - 1),
])
def test_iinfo_has_the_limits_of_integers(dtype, bits, low, high):
    info = keyway.iinfo(getattr(keyway, dtype))
    assert (info.bits, info.min, info.max, info.dtype) == (bits, low, high, dtype)
    assert repr(info) == f"iinfo(min={low:g}, max={high:g}, dtype={dtype})"


def test_iinfo_refuses_other_dtypes():
    for refused in (keyway.float32, keyway.bool, None):
        with pytest.raises(keyway.TypeError):
            keyway.iinfo(refused)


def test_parts_of_complex_dtypes_and_complex_dtypes_of_parts():
    assert keyway.complex64.to_real() is keyway.float32 and keyway.int8.to_real() is keyway.int8
    assert keyway.float64.to_complex() is keyway.complex128 and keyway.complex32.to_complex() is keyway.complex32
    with pytest.raises(keyway.TypeError, match="int8"):
        keyway.int8.to_complex()
