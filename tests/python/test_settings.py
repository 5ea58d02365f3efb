"""Switches of the whole program, and of threads."""

import threading

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


FACTORIES = {
    "empty": lambda: keyway.empty(2), "zeros": lambda: keyway.zeros(2, dtype=keyway.int32), "full": lambda: keyway.full((2,), 1.5),
    "eye": lambda: keyway.eye(2), "arange": lambda: keyway.arange(3), "linspace": lambda: keyway.linspace(0, 1, 3),
    "rand": lambda: keyway.rand(2), "randn": lambda: keyway.randn(2, requires_grad=True),
    "randint": lambda: keyway.randint(3, (2,)), "randperm": lambda: keyway.randperm(4),
    "scalar_tensor": lambda: keyway.scalar_tensor(1.0), "hann_window": lambda: keyway.hann_window(4),
    "tril_indices": lambda: keyway.tril_indices(2, 2), "fftfreq": lambda: keyway.fft.fftfreq(4),
    "tensor": lambda: keyway.tensor([1.0, 2.0]), "as_tensor": lambda: keyway.as_tensor([1.0]),
    "asarray": lambda: keyway.asarray([1.0]), "Parameter": lambda: keyway.nn.Linear(2, 3).weight,
}


@pytest.mark.parametrize("make", FACTORIES.values(), ids=FACTORIES.keys())
def test_factories_make_tensors_on_the_default_device(make):
    with keyway.device("meta") as entered:
        assert entered == keyway.get_default_device() == keyway.device("meta")
        made = make()
    assert made.device.type == "meta"
    expected = make()
    assert expected.device.type == "cpu"
    assert (made.dtype, made.shape, made.requires_grad) == (expected.dtype, expected.shape, expected.requires_grad)


def test_a_named_device_and_that_of_a_tensor_come_before_the_default_one():
    x = keyway.zeros(2)
    with keyway.device("meta"):
        assert keyway.ones(2, device="cpu").device.type == "cpu" and keyway.tensor([1.0], device="cpu").device.type == "cpu"
        for like in (keyway.ones_like(x), x.new_zeros(3), x.new_tensor([1.0]), keyway.rand_like(x), x + 1,
                     keyway.FloatTensor([1.0])):
            assert like.device.type == "cpu"
        assert x.tolist() == [0.0, 0.0]


def test_default_devices_nest_and_are_of_a_thread():
    assert keyway.get_default_device() == keyway.device("cpu")
    seen = []
    with keyway.device("meta"):
        with keyway.device("cpu"):
            assert keyway.zeros(1).device.type == "cpu"
        assert keyway.zeros(1).device.type == "meta"
        thread = threading.Thread(target=lambda: seen.append(keyway.zeros(1).device.type))
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="as in a loop"), keyway.device("cpu"):
            raise RuntimeError("as in a loop")
        assert keyway.zeros(1).device.type == "meta"
    assert seen == ["cpu"] and keyway.zeros(1).device.type == "cpu"
    with pytest.raises(keyway.ValueError, match="has not entered meta"):
        keyway.device("meta").__exit__(None, None, None)


def test_the_default_device_is_set():
    try:
        keyway.set_default_device("meta")
        assert keyway.zeros(1).device.type == keyway.get_default_device().type == "meta"
        # What draws for the host stays there.
        data = keyway.utils.data.DataLoader(list(range(8)), batch_size=4, shuffle=True, collate_fn=list)
        assert sorted(sum(data, [])) == list(range(8))
        assert keyway.get_rng_state().device.type == "cpu"
    finally:
        keyway.set_default_device(None)
    assert keyway.zeros(1).device.type == "cpu"
    with pytest.raises(keyway.ValueError):
        keyway.set_default_device("nowhere")


def test_a_device_decorates_functions():
    @keyway.device("meta")
    def make(size, *, dtype):
        """Makes."""
        return keyway.zeros(size, dtype=dtype)

    made = make(3, dtype=keyway.int64)
    assert (made.device.type, made.dtype, make.__doc__) == ("meta", keyway.int64, "Makes.")
    assert keyway.get_default_device().type == "cpu"

