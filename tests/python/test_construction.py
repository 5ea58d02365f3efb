"""Tensors of numbers, sequences, arrays and buffers."""

import array
import fractions
import warnings

import numpy as np
import pytest

import keyway


def values(tensor):
    return tensor.detach().numpy().tolist()


@pytest.mark.parametrize(
    "data, dtype",
    [
        (True, keyway.bool),
        (1, keyway.int64),
        (1.0, keyway.float32),
        (1j, keyway.complex64),
        ([True, 2], keyway.int64),
        ([True, 2.5], keyway.float32),
        ([1, 2.5, 1j], keyway.complex64),
        ([], keyway.float32),
        ([[], []], keyway.float32),
        (range(3), keyway.int64),
        (bytearray(b"ab"), keyway.int64),
        (array.array("d", [1]), keyway.float32),
        (np.float32(2), keyway.float32),
        (np.float64(2), keyway.float64),
        (np.uint16(2), keyway.uint16),
        (np.bool_(True), keyway.bool),
        ([np.float64(2)], keyway.float64),
        ([np.float32(2), 1.5], keyway.float32),
        ([np.int16(2), 1.5], keyway.float32),
        ([np.array([1, 2], np.int16), np.array([2, 3], np.int16)], keyway.int16),
    ],
)
def test_dtype_is_the_one_that_all_elements_fit(data, dtype):
    assert keyway.tensor(data).dtype is dtype


def test_default_dtype_is_that_of_floats_and_of_complex_numbers_parts():
    keyway.set_default_dtype(keyway.float64)
    try:
        assert keyway.tensor([1.0]).dtype is keyway.float64
        assert keyway.tensor([1j]).dtype is keyway.complex128
        assert keyway.tensor([]).dtype is keyway.float64
    finally:
        keyway.set_default_dtype(keyway.float32)


def test_nested_sequences_become_dimensions():
    tensor = keyway.tensor([[[1, 2], (3, 4)], [range(5, 7), np.array([7, 8])]])
    assert tensor.shape == (2, 2, 2)
    assert values(tensor) == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    assert keyway.tensor([[], []]).shape == (2, 0)
    assert keyway.tensor([()]).shape == (1, 0)


def test_tensors_of_one_element_are_numbers_in_sequences():
    assert values(keyway.tensor([keyway.tensor(1), keyway.tensor([2.5]), 3])) == [1.0, 2.5, 3.0]
    with pytest.raises(keyway.ValueError, match="only tensors of one element"):
        keyway.tensor([keyway.tensor([1, 2]), keyway.tensor([3, 4])])


@pytest.mark.parametrize(
    "data, where",
    [
        ([[1], [2, 3]], r"length 1 at dim 1 \(got 2\): data\[1\]"),
        ([1, [2]], r"expected a number at data\[1\]"),
        ([[2], 1], r"got a number\): data\[1\]"),
        ([[[1], [2]], [[3], []]], r"at dim 2 \(got 0\): data\[1\]\[1\]"),
        ([[1, 2], np.array([1, 2, 3])], r"length 2 at dim 1 \(got 3\)"),
    ],
)
def test_ragged_sequences_are_refused_with_the_item(data, where):
    error = keyway.TypeError if "number" in where else keyway.ValueError
    with pytest.raises(error, match=where):
        keyway.tensor(data)


@pytest.mark.parametrize("data", ["abc", b"abc", None, {}, {1: 2}, {1}, [None], [1, "a"], object(), [{}]])
def test_what_is_no_number_is_a_type_error(data):
    with pytest.raises(TypeError):
        keyway.tensor(data)
    with pytest.raises(TypeError):
        keyway.tensor(data, dtype=keyway.float32)


def test_a_sequence_that_holds_itself_is_an_error():
    data = []
    data.append(data)
    with pytest.raises(keyway.ValueError, match="too many dimensions"):
        keyway.tensor(data)


def test_sequences_that_change_while_they_are_read_are_an_error_not_a_crash():
    data = [[1.0, 2.0], [3.0, 4.0]]

    class Grows:
        def __float__(self):
            data[1].extend([5.0] * 1000)
            return 1.0

    class Shrinks(Grows):
        def __float__(self):
            data[1].clear()
            return 1.0

    for element in (Grows(), Shrinks()):
        data[0][0] = element
        data[1][:] = [3.0, 4.0]
        with pytest.raises(keyway.ValueError, match="changed while"):
            keyway.tensor(data, dtype=keyway.float32)


def test_an_error_of_an_element_comes_out_as_it_was():
    class Broken:
        def __index__(self):
            raise ZeroDivisionError("mine")

        __float__ = __index__

    class BrokenLength:
        def __len__(self):
            raise ZeroDivisionError("mine")

        def __getitem__(self, i):
            raise ZeroDivisionError("mine")

    for data in ([Broken()], BrokenLength(), [[1], BrokenLength()]):
        with pytest.raises(ZeroDivisionError, match="mine"):
            keyway.tensor(data, dtype=keyway.float32)


def test_numbers_are_converted_to_the_dtype_as_in_pytorch():
    assert values(keyway.tensor([1.9, -1.9, True], dtype=keyway.int64)) == [1, -1, 1]
    assert values(keyway.tensor([-1], dtype=keyway.uint8)) == [255]
    assert values(keyway.tensor([2, 0, 0.5, 2**70], dtype=keyway.bool)) == [True, False, True, True]
    assert values(keyway.tensor(1e300, dtype=keyway.float32)) == float("inf")
    assert values(keyway.tensor(2**70, dtype=keyway.float32)) == 2.0**70
    assert values(keyway.tensor(2**63, dtype=keyway.uint64)) == 2**63
    assert values(keyway.tensor(fractions.Fraction(1, 4), dtype=keyway.float32)) == 0.25


@pytest.mark.parametrize(
    "data, dtype",
    [(300, keyway.uint8), (40000, keyway.int16), (2**40, keyway.int32), (2**63, None), (2**70, None),
     (float("nan"), keyway.int64), (float("inf"), keyway.int32)],
)  # fmt: skip
def test_numbers_that_an_integer_dtype_does_not_hold_are_refused(data, dtype):
    with pytest.raises(keyway.ValueError):
        keyway.tensor(data, dtype=dtype)
    with pytest.raises(keyway.ValueError):
        keyway.tensor([0, data], dtype=dtype)


def test_complex_numbers_are_not_cut_to_real_ones():
    with pytest.raises(keyway.TypeError, match="real number"):
        keyway.tensor([1j], dtype=keyway.float32)


def test_tensor_copies_and_says_so_of_tensors():
    source = np.arange(3.0)
    tensor = keyway.tensor(source)
    source[0] = 7
    assert values(tensor) == [0, 1, 2]
    with pytest.warns(UserWarning, match="clone"):
        copy = keyway.tensor(tensor)
    copy.add_(1)
    assert values(tensor) == [0, 1, 2]


def test_requires_grad_makes_a_leaf_and_is_for_floats():
    tensor = keyway.tensor([1.0], requires_grad=True)
    assert tensor.requires_grad and tensor.is_leaf
    with pytest.raises(keyway.AutogradError):
        keyway.tensor([1], requires_grad=True)
    with pytest.raises(TypeError):
        keyway.tensor([1.0], requires_grad=1)


def test_device_meta_keeps_dtype_and_shape():
    tensor = keyway.tensor([[1, 2]], device="meta")
    assert tensor.is_meta and tensor.dtype is keyway.int64 and tensor.shape == (1, 2)


@pytest.mark.parametrize("arguments", [{"dtype": "float32"}, {"device": 1.5}, {"device": "nowhere"}])
def test_wrong_options_are_refused(arguments):
    with pytest.raises((TypeError, ValueError)):
        keyway.tensor([1], **arguments)


def test_a_million_floats_are_made_quickly_and_right():
    numbers = [float(i) for i in range(1_000_000)]
    assert np.array_equal(keyway.tensor(numbers, dtype=keyway.float64).numpy(), np.array(numbers))


def test_as_tensor_shares_what_needs_no_change():
    tensor = keyway.ones(2)
    assert keyway.as_tensor(tensor) is tensor
    assert keyway.as_tensor(tensor, dtype=keyway.float64).dtype is keyway.float64
    source = np.zeros(2)
    keyway.as_tensor(source).add_(1)
    assert source.tolist() == [1, 1]
    keyway.as_tensor(source, dtype=keyway.float32).add_(1)
    assert source.tolist() == [1, 1]
    assert values(keyway.as_tensor([1, 2.5])) == [1.0, 2.5]


def test_asarray_follows_copy():
    source = np.zeros(2)
    keyway.asarray(source).add_(1)
    keyway.asarray(source, copy=False).add_(1)
    keyway.asarray(source, copy=True).add_(1)
    assert source.tolist() == [2, 2]
    with pytest.raises(keyway.ValueError, match="copy=False"):
        keyway.asarray(source, dtype=keyway.float32, copy=False)
    with pytest.raises(keyway.ValueError, match="copy=False"):
        keyway.asarray([1, 2], copy=False)


def test_asarray_reads_a_buffer_as_the_dtype():
    buffer = bytearray(np.array([1, 2], np.int16).tobytes())
    tensor = keyway.asarray(buffer, dtype=keyway.int16)
    assert values(tensor) == [1, 2]
    tensor.add_(1)
    assert buffer[0] == 2


def test_asarray_requires_grad_as_it_is_told():
    weight = keyway.ones(2, requires_grad=True)
    assert not keyway.asarray(weight).requires_grad
    assert keyway.asarray(weight, requires_grad=True) is weight
    plain = keyway.ones(2)
    assert keyway.asarray(plain, requires_grad=True).requires_grad and not plain.requires_grad


def test_new_tensor_takes_dtype_and_device_from_its_tensor():
    half = keyway.ones(2, dtype=keyway.float16)
    assert half.new_tensor([1, 2]).dtype is keyway.float16
    assert half.new_tensor(np.array([1, 2])).dtype is keyway.float16
    assert half.new_tensor([1, 2], dtype=keyway.int8).dtype is keyway.int8
    assert keyway.empty(1, device="meta").new_tensor(5).is_meta


def test_frombuffer_takes_count_and_offset():
    data = bytearray(np.arange(6, dtype=np.int32).tobytes())
    assert values(keyway.frombuffer(data, dtype=keyway.int32)) == list(range(6))
    assert values(keyway.frombuffer(data, dtype=keyway.int32, count=2, offset=8)) == [2, 3]
    assert keyway.frombuffer(data, dtype=keyway.float32, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    "arguments",
    [{"count": 7}, {"offset": 24}, {"offset": -1}, {"count": 0}, {"offset": 2}, {"count": 2**62, "offset": 4},
     {"count": -2}],
)
def test_frombuffer_refuses_what_is_not_within_the_buffer(arguments):
    with pytest.raises(keyway.ValueError):
        keyway.frombuffer(bytearray(24), dtype=keyway.int32, **arguments)


def test_frombuffer_refuses_empty_buffers_and_objects_without_one():
    with pytest.raises(keyway.ValueError, match="must not be 0"):
        keyway.frombuffer(bytearray(), dtype=keyway.int8)
    with pytest.raises(keyway.ValueError, match="has no buffer"):
        keyway.frombuffer([1], dtype=keyway.int8)


def test_a_buffer_is_held_as_long_as_the_tensor_lives():
    data = bytearray(16)
    tensor = keyway.frombuffer(data, dtype=keyway.int8)
    with pytest.raises(BufferError):
        data.extend(bytes(100))
    del tensor
    data.extend(bytes(100))
    assert len(data) == 116


def test_read_only_buffers_warn():
    with pytest.warns(UserWarning, match="not writable"):
        keyway.frombuffer(b"abcd", dtype=keyway.int8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            keyway.frombuffer(b"abcd", dtype=keyway.int8)


class Interface:
    """An object that says where its memory is, as NumPy's protocol has it."""

    def __init__(self, source, **changes):
        self.source = source
        self.__array_interface__ = {**source.__array_interface__, **changes}


Interface.__array_interface__ = None


def test_an_array_interface_is_memory_that_is_shared_and_kept():
    source = np.arange(6, dtype=np.int32).reshape(2, 3)
    tensor = keyway.as_tensor(Interface(source[:, ::2], strides=source[:, ::2].strides))
    source[1, 2] = 50
    assert values(tensor) == [[0, 2], [3, 50]]
    kept = keyway.as_tensor(Interface(np.full(1000, 3.0)))
    assert values(kept) == [3.0] * 1000


@pytest.mark.parametrize(
    "changes",
    [{"typestr": ">i4"}, {"typestr": "<i3"}, {"typestr": "O"}, {"typestr": 3}, {"shape": (2, -1)}, {"shape": "ab"},
     {"strides": (4,)}, {"strides": (3, 3)}, {"data": None}, {"data": ("a", 1)}, {"data": (0, False)},
     {"typestr": "<i99999999999999999999"}],
)  # fmt: skip
def test_a_wrong_array_interface_is_refused(changes):
    source = np.arange(6, dtype=np.int32).reshape(2, 3)
    with pytest.raises(keyway.Error):
        keyway.as_tensor(Interface(source, **changes))


@pytest.mark.parametrize("number", [np.float32(2), np.float64(2), np.float16(2), np.int64(2), np.uint8(2)])
def test_scalars_of_numpy_are_numbers(number):
    assert values(keyway.add(keyway.ones(2), number)) == [3, 3]
    assert values(keyway.full((2,), number)) == [2, 2]
    assert values(keyway.ones(2).add(1, alpha=number)) == [3, 3]


def test_scalars_of_numpy_promote_as_numbers_do():
    ints = keyway.ones(2, dtype=keyway.int32)
    assert ints.add(np.int64(2)).dtype is keyway.int32
    assert ints.add(np.float64(2)).dtype is keyway.float32
    assert ints.add(np.bool_(True)).dtype is keyway.int32
    assert ints.add(np.complex128(1j)).dtype is keyway.complex64


def test_integers_of_numpy_are_sizes_and_dimensions_and_floats_are_not():
    assert keyway.zeros(np.int64(3)).shape == (3,)
    assert keyway.zeros((np.int8(3), 2)).shape == (3, 2)
    assert keyway.ones(2, 3).view(np.int64(3), np.uint8(2)).shape == (3, 2)
    assert keyway.ones(2, 3).sum(np.int64(0), keepdim=np.bool_(True)).shape == (1, 3)
    with pytest.raises(TypeError):
        keyway.zeros(np.float32(3))


def test_arrays_of_numpy_are_no_numbers():
    with pytest.raises(keyway.TypeError, match="must be Tensor, not numpy.ndarray"):
        keyway.add(keyway.ones(2), np.ones(2))
    with pytest.raises(keyway.TypeError):
        keyway.full((2,), np.ones(2))


def test_text_that_comes_first_counts_as_a_dimension_and_other_objects_are_no_bools():
    with pytest.raises(keyway.ValueError, match="is a str"):
        keyway.tensor(["a"])
    with pytest.raises(keyway.TypeError):
        keyway.tensor(None, dtype=keyway.bool)
    assert keyway.tensor(2**70, dtype=keyway.complex128).item() == 2.0**70


def test_factories_take_the_options_of_out_beside_it():
    out = keyway.empty(0)
    assert keyway.arange(3, out=out, dtype=keyway.float32, device="cpu", layout=keyway.strided) is out
    assert out.tolist() == [0.0, 1.0, 2.0] and keyway.zeros(2, out=out, dtype=None).tolist() == [0.0, 0.0]
    for make in (lambda **o: keyway.full((2,), 1.0, **o), lambda **o: keyway.linspace(0, 1, 2, **o),
                 lambda **o: keyway.eye(2, **o), lambda **o: keyway.empty(2, **o)):
        assert make(out=out, dtype=keyway.float32) is out
        with pytest.raises(keyway.Error, match="argument 'dtype' is keyway.int64, but argument 'out' is float32"):
            make(out=out, dtype=keyway.int64)
    with pytest.raises(keyway.Error, match="argument 'device' is meta, but argument 'out'"):
        keyway.ones(2, out=out, device="meta")
    with pytest.raises(keyway.TypeError, match="argument 'dtype' is a str"):
        keyway.ones(2, out=out, dtype="float32")
    assert keyway.ones(2, out=keyway.empty(0), requires_grad=True).requires_grad
    with pytest.raises(keyway.TypeError, match="unexpected keyword argument 'dtype'"):
        keyway.add(out, out, out=out, dtype=keyway.float32)


def test_tensor_takes_sizes_or_numbers():
    assert keyway.Tensor([1, 2]).tolist() == [1.0, 2.0] and keyway.Tensor([1, 2]).dtype is keyway.float32
    assert keyway.Tensor(2, 3).shape == (2, 3) and keyway.Tensor(keyway.Size([4])).shape == (4,)
    assert keyway.Tensor().shape == (0,) and keyway.Tensor((2, 3)).tolist() == [2.0, 3.0]
    x = keyway.ones(2, dtype=keyway.int32)
    assert keyway.Tensor(x).dtype is keyway.int32 and keyway.Tensor(x).data_ptr() == x.data_ptr()
    for wrong in (lambda: keyway.Tensor(1.5), lambda: keyway.Tensor("a"), lambda: keyway.Tensor([1], [2])):
        with pytest.raises(keyway.TypeError, match="takes sizes"):
            wrong()


class Named(keyway.Tensor):
    pass


def test_a_subclass_of_tensor_takes_numbers_too():
    assert type(Named([1.0])) is Named and Named([1.0]).tolist() == [1.0] and Named(2, 3).shape == (2, 3)


def test_kinds_of_tensors_make_their_dtype_and_recognise_it():
    x = keyway.LongTensor([[1, 2]])
    assert x.dtype is keyway.int64 and x.tolist() == [[1, 2]] and type(x) is keyway.Tensor
    assert isinstance(x, keyway.LongTensor) and not isinstance(x, keyway.FloatTensor)
    assert not isinstance(1, keyway.LongTensor) and keyway.BoolTensor(2, 2).shape == (2, 2)
    assert keyway.LongTensor(x).data_ptr() == x.data_ptr() and x.type(keyway.DoubleTensor).dtype is keyway.float64
    assert keyway.FloatTensor.dtype is keyway.float32 and keyway.FloatTensor.__name__ == "FloatTensor"
    with pytest.raises(keyway.TypeError, match="takes a tensor of keyway.float32"):
        keyway.FloatTensor(x)
    with pytest.raises(keyway.ValueError, match="cuda"):
        keyway.FloatTensor([1], device="cuda")
