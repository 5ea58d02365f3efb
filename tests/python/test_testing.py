"""keyway.testing.assert_close."""

import keyway
import pytest
from keyway.testing import assert_close


def pair(*values, dtype=None):
    """Tensors of one element each."""
    return [keyway.full((1,), value, dtype=dtype) for value in values]


@pytest.mark.parametrize(("dtype", "near", "far"), [
    (keyway.float32, 1 + 1e-6, 1 + 2e-5),
    (keyway.float64, 1 + 1e-7, 1 + 3e-7),
    (keyway.float16, 1 + 1e-3, 1 + 3e-3),
    (keyway.bfloat16, 1 + 1e-2, 1 + 3e-2),
    (keyway.int64, 1, 2),
    (keyway.bool, True, False),
])
def test_tolerances_are_those_of_the_dtype(dtype, near, far):
    one, is_near, is_far = pair(1, near, far, dtype=dtype)
    assert_close(is_near, one)
    with pytest.raises(AssertionError, match="differ in 1 of 1 elements"):
        assert_close(is_far, one)


def test_given_tolerances_count_instead():
    a, b = pair(1.0, 1.5)
    assert_close(a, b, rtol=0, atol=0.5)
    assert_close(a, b, rtol=0.34, atol=0)
    with pytest.raises(AssertionError):
        assert_close(a, b, rtol=0.3, atol=0)
    with pytest.raises(ValueError, match="given both, or neither"):
        assert_close(a, b, rtol=1)


def test_infinities_are_close_to_themselves_and_nan_to_nothing_unless_it_is_said():
    inf, minus_inf, nan, one = pair(float("inf"), float("-inf"), float("nan"), 1.0)
    assert_close(inf, inf)
    for other in (minus_inf, nan, one):
        for a, b in ((inf, other), (other, inf)):
            with pytest.raises(AssertionError):
                assert_close(a, b)
    with pytest.raises(AssertionError):
        assert_close(nan, nan)
    assert_close(nan, nan, equal_nan=True)
    with pytest.raises(AssertionError):
        assert_close(nan, one, equal_nan=True)


def test_metadata_is_compared_unless_it_is_said():
    a = keyway.ones(2, 2)
    for other, what in ((keyway.ones(2), "shape"), (a.to(keyway.float64), "dtype"), (a.to(device="meta"), "device")):
        with pytest.raises(AssertionError, match=f"attribute '{what}' differs"):
            assert_close(a, other)
    assert_close(a, a.to(keyway.float64), check_dtype=False)
    assert_close(a, a.to(device="meta"), check_device=False)
    assert_close(a, a.t())
    with pytest.raises(AssertionError, match="stride"):
        assert_close(a, a.t(), check_stride=True)


def test_numbers_sequences_and_mappings_are_compared_with_the_item():
    assert_close([1.0, {"a": (2, None)}], [1.0 + 1e-9, {"a": (2, None)}])
    for actual, expected, text in [
        ([1, 2], [1, 3], r"numbers 2 and 3 differ by 1.*\n.*item \[1\]"),
        ({"a": [1.0]}, {"a": [2.0]}, r"item \['a'\]\[0\]"),
        ([1], [1, 2], "lengths differ: 1 and 2"),
        ({"a": 1}, {"b": 1}, "keys differ"),
        (None, 1, "One is None"),
        (1, 1.0, "types differ: int and float"),
        (float("inf"), 1e300, "differ by inf"),
    ]:
        with pytest.raises(AssertionError, match=text):
            assert_close(actual, expected)
    for actual, expected in (("a", "a"), (keyway.ones(()), 1.0), (object(), object())):
        with pytest.raises(TypeError, match="cannot compare"):
            assert_close(actual, expected)


def test_the_report_names_the_worst_element():
    a, b = keyway.zeros(2, 3), keyway.zeros(2, 3)
    b.select(0, 1).select(0, 2).fill_(4.0)
    b.select(0, 0).select(0, 1).fill_(1.0)
    with pytest.raises(AssertionError, match=r"2 of 6 elements \(33.3%\)(?s:.*)difference is 4.0 at index \(1, 2\)"):
        assert_close(a, b)


def test_a_text_for_the_error_replaces_or_makes_it():
    a, b = pair(1, 2)
    with pytest.raises(AssertionError, match="^mine$"):
        assert_close(a, b, msg="mine")
    with pytest.raises(AssertionError, match="^seen: The tensors differ"):
        assert_close(a, b, msg=lambda text: "seen: " + text)


def test_gradients_and_empty_tensors_are_no_obstacle():
    w = keyway.ones(2, requires_grad=True)
    assert_close(w, keyway.ones(2))
    assert_close(keyway.ones(0, 2), keyway.ones(0, 2))
    with pytest.raises(AssertionError):
        assert_close(keyway.ones(0, 2), keyway.ones(2, 0))
