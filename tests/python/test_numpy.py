"""Tensors and NumPy, and the buffer protocol."""

import gc
import io
import weakref

import numpy as np
import pytest

import keyway

DTYPES = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32",
          "float64", "complex64", "complex128"]  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_that_both_have_goes_both_ways_without_a_copy(name):
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(name)
    tensor = keyway.from_numpy(array)
    assert tensor.dtype is getattr(keyway, name)
    back = tensor.numpy()
    assert back.dtype == array.dtype and np.array_equal(back, array)
    back[0, 0] = 1
    assert array[0, 0] == 1 and tensor.numpy()[0, 0] == 1


@pytest.mark.parametrize("index", [np.s_[:, ::2], np.s_[1:, 1:], np.s_[:, :0], np.s_[1, 1]])
def test_strides_and_offsets_are_kept(index):
    array = np.arange(12.0).reshape(3, 4)[index]
    tensor = keyway.from_numpy(np.asarray(array))
    assert np.array_equal(tensor.numpy(), array)
    if array.size:
        assert tensor.numpy().strides == np.asarray(array).strides


def test_views_of_tensors_are_views_of_arrays():
    tensor = keyway.arange(12).view(3, 4)
    array = tensor.t().numpy()
    assert array.strides == (8, 32)
    tensor.add_(1)
    assert array[0, 0] == 1
    assert keyway.ones(1, 3).expand(2, 3).numpy().strides == (0, 4)


def test_negative_strides_foreign_byte_order_and_foreign_dtypes_are_refused():
    with pytest.raises(keyway.ValueError, match="negative strides"):
        keyway.from_numpy(np.arange(3)[::-1])
    with pytest.raises(keyway.ValueError, match="byte order"):
        keyway.from_numpy(np.arange(3, dtype=">i4"))
    for array in (np.array(["a"]), np.array([None]), np.array([1], "M8[s]"), np.zeros(2, "i4,f4"), np.zeros(2, "g")):
        with pytest.raises(keyway.TypeError, match="can't convert an array"):
            keyway.from_numpy(array)
        with pytest.raises(keyway.TypeError, match="can't convert an array"):
            keyway.tensor(array)
    with pytest.raises(keyway.TypeError, match=r"expected a numpy.ndarray, not a list"):
        keyway.from_numpy([1])


def test_memory_that_is_not_aligned_is_refused():
    array = np.frombuffer(bytearray(9), dtype=np.int8)[1:].view(np.int64)
    with pytest.raises(keyway.ValueError, match="address"):
        keyway.from_numpy(array)


def test_strides_that_are_no_multiples_of_an_element_are_refused():
    array = np.zeros(3, dtype=[("a", "i4"), ("b", "i2")])["a"]
    with pytest.raises(keyway.ValueError, match="multiples"):
        keyway.from_numpy(array)


def test_read_only_arrays_warn_where_memory_is_shared():
    array = np.zeros(2)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        keyway.from_numpy(array)


def test_each_side_keeps_the_memory_of_the_other():
    array = np.arange(1000.0)
    tensor = keyway.from_numpy(array)
    owner = weakref.ref(array)
    del array
    gc.collect()
    assert owner() is not None and tensor.numpy()[999] == 999
    del tensor
    gc.collect()
    assert owner() is None
    view = keyway.ones(1000).mul(3).numpy()
    gc.collect()
    assert view.sum() == 3000


def test_a_storage_of_numpys_does_not_grow():
    array = np.zeros(2)
    tensor = keyway.from_numpy(array)
    with pytest.raises(keyway.Error, match="belongs to somebody else"):
        keyway.add(keyway.ones(4, dtype=keyway.float64), 1, out=tensor)


def test_a_storage_whose_bytes_were_handed_out_does_not_grow():
    for hand_out in (keyway.Tensor.numpy, memoryview, keyway.Tensor.__dlpack__):
        tensor = keyway.full((10000,), 3.0)
        kept = hand_out(tensor)
        with pytest.raises(keyway.Error, match="have to grow"):
            keyway.add(keyway.ones(20000), 1, out=tensor)
        assert kept is not None and tensor.shape == (10000,)


def test_an_array_stays_valid_when_its_tensor_gets_other_data():
    tensor = keyway.full((10000,), 3.0)
    array = tensor.numpy()
    tensor.set_data(keyway.zeros(3))
    keyway.full((10000,), 5.0)
    assert array.min() == array.max() == 3.0


def test_numpy_refuses_with_the_hint_of_what_to_do():
    weight = keyway.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"tensor\.detach\(\)\.numpy\(\)"):
        weight.numpy()
    with pytest.raises(RuntimeError, match="detach"):
        np.asarray(weight)
    assert weight.numpy(force=True).tolist() == [1, 1]
    with pytest.raises(keyway.TypeError, match=r"Tensor\.cpu\(\)"):
        keyway.ones(2, device="meta").numpy()
    with pytest.raises(keyway.TypeError, match="bfloat16"):
        keyway.ones(2, dtype=keyway.bfloat16).numpy()


def test_asarray_follows_dtype_and_copy():
    tensor = keyway.ones(2)
    np.asarray(tensor)[0] = 5
    np.array(tensor)[1] = 5
    assert tensor.numpy().tolist() == [5, 1]
    assert np.asarray(tensor, dtype=np.float64).dtype == np.float64
    assert tensor.__array__(np.float64).dtype == np.float64
    assert tensor.__array__(copy=True) is not tensor.__array__(copy=True)
    with pytest.raises(ValueError, match="copy=False"):
        tensor.__array__(np.float64, copy=False)


def test_functions_of_numpy_return_tensors():
    result = np.sin(keyway.ones(2))
    assert isinstance(result, keyway.Tensor) and np.allclose(result.numpy(), np.sin(1.0))
    assert np.isnan(keyway.ones(2)).dtype is keyway.bool


def test_a_tensor_has_a_buffer_with_its_format_and_geometry():
    tensor = keyway.arange(6, dtype=keyway.int32).view(2, 3)
    view = memoryview(tensor)
    assert (view.format, view.itemsize, view.shape, view.strides, view.readonly) == ("i", 4, (2, 3), (12, 4), False)
    view[1, 2] = 50
    assert tensor.numpy()[1, 2] == 50
    assert memoryview(keyway.tensor(2.5))[()] == 2.5
    assert memoryview(keyway.zeros(0, 3)).shape == (0, 3)
    assert bytes(keyway.tensor([1, 2], dtype=keyway.uint8)) == b"\x01\x02"


def test_a_buffer_is_refused_where_it_cannot_be():
    for tensor in (keyway.ones(2, requires_grad=True), keyway.ones(2, device="meta"),
                   keyway.ones(2, dtype=keyway.bfloat16)):  # fmt: skip
        with pytest.raises(BufferError):
            memoryview(tensor)
    with pytest.raises(BufferError, match="order"):
        io.BytesIO().write(keyway.ones(2, 3).t())


def test_a_buffer_keeps_its_bytes():
    tensor = keyway.full((10000,), 3.0)
    view = memoryview(tensor)
    tensor.set_data(keyway.zeros(3))
    del tensor
    gc.collect()
    keyway.full((10000,), 5.0)
    assert view[0] == view[9999] == 3.0
