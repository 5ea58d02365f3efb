"""Switches of the whole program."""

import keyway
import pytest


def test_what_is_deterministic_anyway_can_be_asked_for():
    assert not keyway.are_deterministic_algorithms_enabled()
    keyway.use_deterministic_algorithms(True, warn_only=True)
    try:
        assert keyway.are_deterministic_algorithms_enabled()
        assert keyway.is_deterministic_algorithms_warn_only_enabled()
        x = keyway.rand(1000, 7)
        index = keyway.randint(0, 3, (1000,))
        sums = [keyway.zeros(3, 7).index_add_(0, index, x) for _ in range(2)]
        assert keyway.equal(*sums)
    finally:
        keyway.use_deterministic_algorithms(False)
    assert not keyway.is_deterministic_algorithms_warn_only_enabled()


def test_the_precision_of_products_is_remembered_and_checked():
    assert keyway.get_float32_matmul_precision() == "highest"
    x = keyway.rand(64, 64)
    product = x @ x
    keyway.set_float32_matmul_precision("medium")
    try:
        assert keyway.get_float32_matmul_precision() == "medium" and keyway.equal(x @ x, product)
    finally:
        keyway.set_float32_matmul_precision("highest")
    with pytest.raises(keyway.ValueError, match="'low'"):
        keyway.set_float32_matmul_precision("low")


def test_factories_stay_on_the_cpu():
    assert keyway.get_default_device() == keyway.device("cpu")
    keyway.set_default_device("cpu")
    keyway.set_default_device(None)
    with pytest.raises(keyway.NotImplementedError, match="on meta"):
        keyway.set_default_device("meta")
