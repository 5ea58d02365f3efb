"""DLPack in both directions. Capsules of other producers are made with ctypes, and count how often they are deleted."""

import ctypes
import gc

import numpy as np
import pytest

import keyway


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("dtype", DataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]  # fmt: skip


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", DELETER), ("flags", ctypes.c_uint64), ("tensor", DLTensor)]  # fmt: skip


CAPSULE_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, CAPSULE_DESTRUCTOR]
api.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Producer:
    """Six floats, handed out by DLPack; `deleted` counts the calls of the deleter."""

    def __init__(self, versioned=True, shape=(2, 3), strides=None, flags=0, major=1, **fields):
        self.deleted = 0
        self.numbers = (ctypes.c_float * 6)(*range(6))
        self.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self.strides = (ctypes.c_int64 * len(strides))(*strides) if strides is not None else None
        self.deleter = DELETER(self.delete)
        self.name = b"dltensor_versioned" if versioned else b"dltensor"
        self.managed = ManagedVersioned(major=major, minor=0, flags=flags) if versioned else Managed()
        self.managed.deleter = self.deleter
        tensor = self.managed.tensor
        tensor.data = ctypes.addressof(self.numbers)
        tensor.device_type, tensor.ndim = 1, len(shape)
        tensor.dtype = DataType(2, 32, 1)
        tensor.shape = self.shape
        if self.strides is not None:
            tensor.strides = self.strides
        for name, value in fields.items():
            setattr(tensor, name, value)
        self.destructor = CAPSULE_DESTRUCTOR(self.capsule_goes)

    def delete(self, _):
        self.deleted += 1

    def capsule_goes(self, capsule):
        if api.PyCapsule_IsValid(capsule, self.name):
            self.delete(None)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **keywords):
        self.keywords = keywords
        return api.PyCapsule_New(ctypes.addressof(self.managed), self.name, self.destructor)


@pytest.mark.parametrize("versioned", [True, False])
def test_memory_is_shared_and_deleted_once_when_the_last_tensor_goes(versioned):
    producer = Producer(versioned)
    tensor = keyway.from_dlpack(producer)
    assert tensor.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    producer.numbers[5] = 50
    assert tensor.numpy()[1, 2] == 50
    view = tensor.t()
    del tensor
    gc.collect()
    assert producer.deleted == 0
    del view
    gc.collect()
    assert producer.deleted == 1


def test_a_capsule_can_be_used_once():
    producer = Producer()
    capsule = producer.__dlpack__()
    tensor = keyway.from_dlpack(capsule)
    with pytest.raises(BufferError, match="taken already"):
        keyway.from_dlpack(capsule)
    del capsule, tensor
    gc.collect()
    assert producer.deleted == 1


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize(
    "fields",
    [{"device_type": 99}, {"dtype": DataType(2, 16, 2)}, {"dtype": DataType(9, 8, 1)}, {"dtype": DataType(2, 24, 1)},
     {"ndim": -1}, {"ndim": 65}, {"shape": (-1,)}, {"shape": (2**62, 2**62)}, {"strides": (-1, 1)}, {"data": None},
     {"byte_offset": 1}],
)  # fmt: skip
def test_what_no_tensor_can_be_over_is_refused_and_deleted_once(versioned, fields):
    producer = Producer(versioned, **fields)
    with pytest.raises((BufferError, keyway.Error)):
        keyway.from_dlpack(producer)
    gc.collect()
    assert producer.deleted == 1


def test_another_major_version_is_refused_and_deleted_once():
    producer = Producer(major=2)
    with pytest.raises(BufferError, match="DLPack 2"):
        keyway.from_dlpack(producer)
    gc.collect()
    assert producer.deleted == 1


def test_read_only_memory_warns():
    with pytest.warns(UserWarning, match="not writable"):
        keyway.from_dlpack(Producer(flags=1))


def test_a_warning_that_is_an_error_loses_nothing():
    producer = Producer(flags=1)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            keyway.from_dlpack(producer)
    gc.collect()
    assert producer.deleted == 1


def test_strides_offsets_and_empty_tensors_are_taken():
    assert keyway.from_dlpack(Producer(strides=(1, 2))).numpy().tolist() == [[0, 2, 4], [1, 3, 5]]
    assert keyway.from_dlpack(Producer(shape=(2,), byte_offset=8)).numpy().tolist() == [2, 3]
    assert keyway.from_dlpack(Producer(shape=(0, 3), data=None)).shape == (0, 3)
    assert keyway.from_dlpack(Producer(shape=())).item() == 0


def test_a_producer_that_knows_no_keywords_is_asked_without():
    class Old(Producer):
        def __dlpack__(self):
            return super().__dlpack__()

    assert keyway.from_dlpack(Old(versioned=False)).sum().item() == 15


def test_device_and_copy_are_handed_on():
    producer = Producer()
    keyway.from_dlpack(producer)
    assert producer.keywords["max_version"][0] == 1 and "copy" not in producer.keywords
    keyway.from_dlpack(producer, device="cpu", copy=True)
    assert producer.keywords["dl_device"] == (1, 0) and producer.keywords["copy"] is True


@pytest.mark.parametrize("thing", [None, 3, [1], np.float32, object()])
def test_what_has_no_dlpack_is_a_type_error(thing):
    with pytest.raises(TypeError):
        keyway.from_dlpack(thing)


def test_errors_of_a_producer_come_out_as_they_were():
    class Broken(Producer):
        def __dlpack__(self, **keywords):
            raise ZeroDivisionError("mine")

    class NoCapsule(Producer):
        def __dlpack__(self, **keywords):
            return 3

    with pytest.raises(ZeroDivisionError):
        keyway.from_dlpack(Broken())
    with pytest.raises(BufferError):
        keyway.from_dlpack(NoCapsule())


@pytest.mark.parametrize("name", ["bool", "uint8", "int64", "float16", "float32", "complex64", "complex128"])
def test_numpy_exchanges_with_tensors(name):
    array = np.array([[0, 1], [1, 1]]).astype(name)
    tensor = keyway.from_dlpack(array)
    assert np.array_equal(np.from_dlpack(tensor), array)
    tensor.zero_()
    assert not array.any()


@pytest.mark.parametrize("name", ["bfloat16", "complex32", "float8_e5m2", "float8_e4m3fn", "bool", "uint64"])
@pytest.mark.parametrize("version", [None, (1, 0), (1, 1), (0, 8)])
def test_every_dtype_of_dlpack_comes_back(name, version):
    dtype = getattr(keyway, name)
    tensor = keyway.empty(2, 3, dtype=dtype).t()
    back = keyway.from_dlpack(tensor.__dlpack__(max_version=version))
    assert back.dtype is dtype and back.shape == (3, 2) and back.stride() == tensor.stride()
    assert back.data_ptr() == tensor.data_ptr()


def test_capsules_are_of_the_version_that_is_asked_for():
    tensor = keyway.ones(2)
    for version, name in ((None, b"dltensor"), ((0, 8), b"dltensor"), ((1, 0), b"dltensor_versioned"),
                          ((2, 0), b"dltensor_versioned")):  # fmt: skip
        assert api.PyCapsule_GetPointer(tensor.__dlpack__(max_version=version), name)


def test_a_copy_is_marked_as_one_and_shares_nothing():
    tensor = keyway.ones(2)
    capsule = tensor.__dlpack__(max_version=(1, 0), copy=True)
    pointer = api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
    assert ctypes.cast(pointer, ctypes.POINTER(ManagedVersioned)).contents.flags == 2
    assert keyway.from_dlpack(capsule).data_ptr() != tensor.data_ptr()


def test_an_unused_capsule_and_a_used_one_free_their_tensor():
    class Counted(keyway.Tensor):
        pass

    import weakref

    for use in (False, True):
        source = np.zeros(3)
        owner = weakref.ref(source)
        capsule = keyway.from_numpy(source).__dlpack__()
        del source
        other = keyway.from_dlpack(capsule) if use else None
        assert owner() is not None
        del capsule, other
        gc.collect()
        assert owner() is None


def test_export_refuses_gradients_other_devices_and_streams():
    with pytest.raises(BufferError, match=r"detach\(\)"):
        keyway.ones(2, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError, match="meta"):
        keyway.ones(2, device="meta").__dlpack__()
    with pytest.raises(BufferError, match="meta"):
        keyway.ones(2, device="meta").__dlpack_device__()
    with pytest.raises(BufferError, match="no stream"):
        keyway.ones(2).__dlpack__(stream=1)
    with pytest.raises(BufferError, match="can only be handed out there"):
        keyway.ones(2).__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError):
        keyway.ones(2).__dlpack__(stream="a")


def test_the_device_of_a_tensor_on_the_cpu():
    assert keyway.ones(2).__dlpack_device__() == (1, 0)
    assert keyway.from_dlpack(keyway.ones(2).__dlpack__(dl_device=(1, 0))).sum().item() == 2


def test_capsules_have_pytorchs_names():
    x = keyway.arange(3)
    there = keyway.utils.dlpack
    for made in (there.from_dlpack(keyway.to_dlpack(x)), keyway.from_dlpack(there.to_dlpack(x))):
        assert made.data_ptr() == x.data_ptr() and made.tolist() == [0, 1, 2]
    with pytest.raises(keyway.TypeError, match="to_dlpack"):
        keyway.to_dlpack([1])
