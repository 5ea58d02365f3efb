"""keyway.testing.make_tensor."""

import keyway
import pytest
from keyway.testing import make_tensor

NAN = float("nan")


@pytest.mark.parametrize(("dtype", "low", "high"), [
    (keyway.float32, -9, 9), (keyway.float64, -9, 9), (keyway.float16, -9, 9), (keyway.int64, -9, 9),
    (keyway.int8, -9, 9), (keyway.uint8, 0, 9), (keyway.bool, 0, 1)])
def test_values_fill_the_interval_of_the_dtype(dtype, low, high):
    made = make_tensor((40, 50), dtype=dtype, device="cpu")
    assert made.dtype is dtype and made.shape == (40, 50)
    least, most = made.double().min().item(), made.double().max().item()
    assert low <= least < low + 1 and high - 1 < most <= high


def test_shapes_are_sizes_or_one_sequence():
    for shape in ((2, 3), [2, 3], keyway.Size([2, 3])):
        assert make_tensor(shape, dtype=keyway.float32, device="cpu").shape == (2, 3)
    assert make_tensor(2, 3, dtype=keyway.float32, device="cpu").shape == (2, 3)
    assert make_tensor(dtype=keyway.complex64, device="cpu").shape == ()


def test_integers_lie_in_an_interval_whose_end_is_left_out_and_that_is_cut_to_the_range():
    made = make_tensor(500, dtype=keyway.int32, device="cpu", low=0.5, high=2.5)
    assert sorted(set(made.tolist())) == [1, 2]
    made = make_tensor(5000, dtype=keyway.uint8, device="cpu", low=-100, high=1000)
    assert (made.min().item(), made.max().item()) == (0, 255)
    wide = make_tensor(100, dtype=keyway.int64, device="cpu", low=-float("inf"), high=float("inf"))
    assert wide.min().item() < -(2**61) and wide.max().item() > 2**61


def test_layout_gradient_and_zeros_are_as_asked_for():
    made = make_tensor((3, 4), dtype=keyway.float32, device="cpu", noncontiguous=True, requires_grad=True)
    assert made.stride() == (8, 2) and made.requires_grad and made.is_leaf
    assert make_tensor(1, dtype=keyway.float32, device="cpu", noncontiguous=True).is_contiguous()
    made = make_tensor(2, 3, 4, 5, dtype=keyway.float32, device="cpu", memory_format=keyway.channels_last)
    assert made.stride() == (60, 1, 15, 3)
    assert make_tensor(100, dtype=keyway.bool, device="cpu", exclude_zero=True).all()
    made = make_tensor(3, dtype=keyway.float32, device="cpu", low=0, high=0, exclude_zero=True)
    assert made.tolist() == [2.0**-126] * 3


@pytest.mark.parametrize(("arguments", "text"), [
    ({"dtype": keyway.int64, "requires_grad": True}, "requires_grad=True is not supported for integers"),
    ({"dtype": keyway.int64, "low": 3, "high": 3}, "low must be less than high"),
    ({"dtype": keyway.float32, "low": NAN}, "cannot be NaN"),
    ({"dtype": keyway.uint8, "low": 300, "high": 400}, "has no values of keyway.uint8"),
    ({"dtype": keyway.float32, "noncontiguous": True, "memory_format": keyway.channels_last}, "not given together"),
])
def test_what_is_impossible_is_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        make_tensor(2, device="cpu", **arguments)
