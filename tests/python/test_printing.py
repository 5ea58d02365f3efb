"""The text of tensors. The texts are those that PyTorch prints for the same tensors."""

import keyway
import pytest


@pytest.fixture(autouse=True)
def default_options():
    keyway.set_printoptions(profile="default")
    yield
    keyway.set_printoptions(profile="default")


@pytest.mark.parametrize("values, text", [
    ([], "tensor([])"),
    (3, "tensor(3)"),
    (2.5, "tensor(2.5000)"),
    (True, "tensor(True)"),
    ([1, -20, 3], "tensor([  1, -20,   3])"),
    ([1.0, 2.0], "tensor([1., 2.])"),
    ([1.5, -2.0], "tensor([ 1.5000, -2.0000])"),
    ([True, False], "tensor([ True, False])"),
    ([1e-5, 1.0], "tensor([1.0000e-05, 1.0000e+00])"),
    ([1.0, 2e9], "tensor([1.0000e+00, 2.0000e+09])"),
    ([0.001, 100.5], "tensor([1.0000e-03, 1.0050e+02])"),
    ([float("inf"), 1.0, float("nan")], "tensor([inf, 1., nan])"),
    ([float("inf"), 1.5], "tensor([   inf, 1.5000])"),
    ([float("nan"), float("-inf")], "tensor([nan, -inf])"),
    ([0.0, -0.0], "tensor([0., -0.])"),
    ([1 + 2j, 3.5 - 1j], "tensor([1.0000+2.j, 3.5000-1.j])"),
    ([[1, 2], [3, 4]], "tensor([[1, 2],\n        [3, 4]])"),
    ([[[1.0], [2.0]], [[3.0], [4.0]]],
     "tensor([[[1.],\n         [2.]],\n\n        [[3.],\n         [4.]]])"),
], ids=str)
def test_values_are_aligned_and_have_the_digits_they_need(values, text):
    assert repr(keyway.tensor(values)) == text
    assert str(keyway.tensor(values)) == text


def test_what_the_numbers_do_not_show_stands_behind_them():
    assert repr(keyway.ones(2, dtype=keyway.float64)) == "tensor([1., 1.], dtype=keyway.float64)"
    assert repr(keyway.ones(2, dtype=keyway.int8)) == "tensor([1, 1], dtype=keyway.int8)"
    assert repr(keyway.ones(0, 3)) == "tensor([], size=(0, 3))"
    assert repr(keyway.ones(0, dtype=keyway.int64)) == "tensor([], dtype=keyway.int64)"
    assert repr(keyway.ones(2, requires_grad=True)) == "tensor([1., 1.], requires_grad=True)"
    assert repr(keyway.ones(2, 3, device="meta")) == "tensor(..., device='meta', size=(2, 3))"
    meta = keyway.ones(2, device="meta", dtype=keyway.int64)
    assert repr(meta) == "tensor(..., device='meta', size=(2,), dtype=keyway.int64)"


def test_dtypes_without_numbers_are_printed_without_elements():
    assert repr(keyway.empty(2, dtype=keyway.bits8)) == "tensor(..., size=(2,), dtype=keyway.bits8)"


def test_the_default_dtype_is_not_named():
    keyway.set_default_dtype(keyway.float64)
    try:
        assert repr(keyway.ones(1)) == "tensor([1.])"
        assert repr(keyway.ones(1, dtype=keyway.float32)) == "tensor([1.], dtype=keyway.float32)"
    finally:
        keyway.set_default_dtype(keyway.float32)


def test_long_dimensions_are_summarised_at_both_ends():
    assert repr(keyway.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    row = "[0., 0., 0.,  ..., 0., 0., 0.]"
    assert repr(keyway.zeros(2, 1000)) == f"tensor([{row},\n        {row}])"
    lines = repr(keyway.zeros(1000, 2)).split("\n")
    assert lines == ["tensor([[0., 0.],"] + 2 * ["        [0., 0.],"] + ["        ...,"] + 2 * ["        [0., 0.],"] + [
        "        [0., 0.]])"]


def test_the_width_of_a_summary_is_that_of_what_it_shows():
    x = keyway.zeros(2000)
    x[1000] = 1e9
    assert repr(x) == "tensor([0., 0., 0.,  ..., 0., 0., 0.])"


def test_lines_are_broken_at_the_width():
    assert repr(keyway.arange(30)) == (
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])")
    keyway.set_printoptions(linewidth=20)
    assert repr(keyway.arange(4)) == "tensor([0, 1, 2, 3])"
    assert repr(keyway.arange(5)) == "tensor([0, 1, 2, 3,\n        4])"
    assert repr(keyway.ones(2, dtype=keyway.int8)) == "tensor([1, 1],\n       dtype=keyway.int8)"


def test_options_change_digits_and_summaries():
    keyway.set_printoptions(precision=2)
    assert repr(keyway.tensor(2.5)) == "tensor(2.50)"
    keyway.set_printoptions(threshold=3, edgeitems=1)
    assert repr(keyway.arange(4)) == "tensor([0,  ..., 3])"
    keyway.set_printoptions(sci_mode=True)
    assert repr(keyway.tensor([1.0, 20.0])) == "tensor([1.00e+00, 2.00e+01])"
    keyway.set_printoptions(sci_mode=False)
    assert repr(keyway.tensor([1.5, 1e6])) == "tensor([      1.50, 1000000.00])"
    keyway.set_printoptions(profile="short")
    assert repr(keyway.tensor(2.5)) == "tensor(2.50)"


def test_options_that_are_none_are_refused():
    with pytest.raises(keyway.ValueError, match="wide"):
        keyway.set_printoptions(profile="wide")
    for wrong in ({"precision": -1}, {"edgeitems": 1.5}, {"linewidth": "80"}, {"threshold": "all"}, {"sci_mode": 1}):
        with pytest.raises(keyway.TypeError):
            keyway.set_printoptions(**wrong)
    assert repr(keyway.tensor(2.5)) == "tensor(2.5000)"


def test_the_full_profile_leaves_nothing_out():
    keyway.set_printoptions(profile="full")
    assert "..." not in repr(keyway.arange(1001))


def test_a_tensor_without_dimensions_is_formatted_as_its_number():
    assert f"{keyway.tensor(2.5):.2f}" == "2.50"
    assert f"{keyway.tensor(7):3d}" == "  7"
    assert f"{keyway.tensor([1, 2])}" == "tensor([1, 2])"
    with pytest.raises(TypeError):
        format(keyway.ones(2), ".2f")


def test_a_subclass_is_printed_with_its_name():
    class Mass(keyway.Tensor):
        pass

    assert repr(Mass(keyway.ones(2))) == "Mass([1., 1.])"
