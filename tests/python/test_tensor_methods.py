"""Methods of tensors that are no operators."""

import keyway
import pytest


@pytest.mark.parametrize("arguments, keywords", [
    ((keyway.float64,), {}),
    ((float,), {}),
    (("cpu", keyway.float64), {}),
    ((keyway.device("cpu"), keyway.float64, True, True), {}),
    ((None, keyway.float64), {}),
    ((), {"dtype": keyway.float64}),
    ((), {"dtype": keyway.float64, "device": "cpu", "copy": True, "non_blocking": True}),
    ((keyway.ones(1, dtype=keyway.float64),), {"copy": True}),
    ((), {"other": keyway.ones(1, dtype=keyway.float64)}),
    ((keyway.float64,), {"memory_format": keyway.contiguous_format}),
], ids=str)
def test_to_takes_dtypes_devices_and_tensors(arguments, keywords):
    made = keyway.arange(3).to(*arguments, **keywords)
    assert made.dtype is keyway.float64
    assert made.tolist() == [0.0, 1.0, 2.0]


def test_to_gives_the_tensor_itself_if_nothing_changes():
    x = keyway.ones(2)
    assert x.to(keyway.float32) is x
    assert x.to("cpu") is x
    assert x.to() is x
    assert x.to("cpu", copy=True) is not x
    assert x.float() is x
    assert x.cpu() is x


def test_to_refuses_what_it_does_not_know():
    for arguments, keywords in [((2.5,), {}), (("cpu", "cpu"), {}), ((), {"colour": 1}), ((keyway.float32, "cpu"), {})]:
        with pytest.raises(TypeError):
            keyway.ones(2).to(*arguments, **keywords)
    with pytest.raises(keyway.Error, match="abc"):
        keyway.ones(2).to("abc")


def test_gradients_flow_through_conversions():
    x = keyway.ones(2, requires_grad=True)
    x.to(keyway.float64).double().sum()._backward([])
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("method, dtype", [
    ("double", "float64"), ("float", "float32"), ("half", "float16"), ("bfloat16", "bfloat16"), ("long", "int64"),
    ("int", "int32"), ("short", "int16"), ("char", "int8"), ("byte", "uint8"), ("bool", "bool"),
    ("cfloat", "complex64"), ("cdouble", "complex128"),
])
def test_methods_named_like_dtypes_convert(method, dtype):
    made = getattr(keyway.tensor([0, 1]), method)()
    assert made.dtype is getattr(keyway, dtype)
    assert made.tolist() == [0, 1]


def test_cuda_says_why_it_cannot():
    if keyway.ones(1).is_cuda:
        pytest.skip("a device is the default")
    with pytest.raises(keyway.ValueError, match="cpu is no CUDA device"):
        keyway.ones(2).cuda("cpu")


def test_type_names_and_converts():
    x = keyway.ones(2)
    assert x.type() == "keyway.FloatTensor"
    assert x.type("keyway.LongTensor").dtype is keyway.int64
    assert x.type(keyway.int8).dtype is keyway.int8
    with pytest.raises(keyway.ValueError, match="BigTensor"):
        x.type("keyway.BigTensor")


def test_transposed_attributes_are_views():
    x = keyway.arange(6).view(1, 2, 3)
    assert x.T.shape == (3, 2, 1)
    assert x.mT.shape == x.mH.shape == (1, 3, 2)
    assert x[0].H.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x.T.data_ptr() == x.data_ptr()
    assert keyway.tensor(1).T.item() == keyway.tensor(1).mT.item() == keyway.tensor(1).H.item() == 1
    with pytest.raises(keyway.ValueError, match="mT"):
        keyway.ones(2).mT
    with pytest.raises(keyway.ValueError, match="H is there for matrices"):
        x.H
    assert keyway.tensor([[1j, 2], [3, 4]]).H.tolist() == keyway.tensor([[1j, 2], [3, 4]]).mH.tolist() == [[-1j, 3], [2, 4]]


def test_flatten_joins_dimensions():
    x = keyway.arange(24).view(2, 3, 4)
    assert x.flatten().tolist() == list(range(24))
    assert x.flatten(1).shape == (2, 12)
    assert keyway.flatten(x, end_dim=1).shape == (6, 4)
    assert x.flatten(1, 1) is x
    assert keyway.tensor(3).flatten().tolist() == [3]
    assert x.flatten().data_ptr() == x.data_ptr()
    assert keyway.ones(0, 3, 2).flatten(1).shape == (0, 6)
    with pytest.raises(keyway.ValueError, match="start_dim"):
        x.flatten(2, 1)
    with pytest.raises(keyway.IndexError):
        x.flatten(3)


def test_unflatten_splits_a_dimension():
    x = keyway.arange(12).view(2, 6)
    assert x.unflatten(1, (2, 3)).shape == x.unflatten(-1, (-1, 3)).shape == (2, 2, 3)
    assert keyway.unflatten(x, 0, (2, 1)).shape == (2, 1, 6)
    for sizes in ((4, 2), (), (-1, 4), (-1, -1)):
        with pytest.raises(keyway.ValueError):
            x.unflatten(1, sizes)


def test_functions_about_tensors():
    x = keyway.ones(2, 3)
    assert keyway.is_tensor(x) and not keyway.is_tensor([1])
    assert keyway.numel(x) == 6
    assert keyway.is_floating_point(x) and not keyway.is_complex(x)
    assert keyway.is_nonzero(keyway.tensor([2])) and not keyway.tensor(0.0).is_nonzero()
    assert keyway.ravel(x).shape == x.ravel().shape == (6,)
    with pytest.raises(keyway.ValueError):
        keyway.is_nonzero(x)
    for function in (keyway.numel, keyway.is_complex, keyway.is_nonzero, keyway.conj, keyway.ravel):
        with pytest.raises(keyway.TypeError, match="must be Tensor, not int"):
            function(3)


def test_strides_and_sizes_are_asked_for_as_a_whole_or_by_dimension():
    x = keyway.ones(2, 3)
    assert x.stride() == (3, 1)
    assert x.stride(-1) == x.stride(dim=1) == 1
    assert x.size() == (2, 3)
    assert x.size(-1) == x.size(dim=1) == 3
    assert repr(keyway.device("cuda", 1)) == "device(type='cuda', index=1)"


def test_nonzero_gives_a_tensor_for_each_dimension_if_asked():
    x = keyway.tensor([[0, 1], [2, 0]])
    assert [index.tolist() for index in x.nonzero(as_tuple=True)] == [[0, 1], [1, 0]]
    assert x[keyway.nonzero(x, as_tuple=True)].tolist() == [1, 2]
    assert [index.tolist() for index in keyway.tensor(3).nonzero(as_tuple=True)] == [[0]]


def test_sizes_that_are_joined_or_sliced_are_sizes():
    shape = keyway.ones(2, 3).shape
    for made in (shape + (4,), shape[:1], shape * 2):
        assert type(made) is keyway.Size
    assert shape[-1] == 3


def test_a_tensor_answers_questions_about_itself():
    x = keyway.ones(2, 3)
    assert (x.nelement(), x.ndimension(), x.get_device(), x.is_signed()) == (6, 2, -1, True)
    assert x.is_same_size(keyway.zeros(2, 3))
    assert keyway.arange(6).reshape_as(x).shape == (2, 3)


def test_a_tensor_without_dimensions_expands_with_strides_of_zero():
    assert keyway.tensor(1.0).expand(3, 1).stride() == (0, 0)


def test_a_flat_tensor_is_contiguous():
    assert keyway.arange(12).reshape(3, 4)[:, ::2].ravel().stride() == (1,)


def test_to_be_contiguous_in_the_format_that_is_there_is_to_be_row_major():
    image = keyway.ones(2, 3, 4, 5)
    assert image.is_contiguous(memory_format=keyway.preserve_format)
    assert not image.contiguous(memory_format=keyway.channels_last).is_contiguous(memory_format=keyway.preserve_format)


def test_functions_ask_a_tensor_about_itself():
    x = keyway.ones(2, 3)
    assert keyway.is_same_size(x, keyway.zeros(2, 3)) and keyway.is_signed(x) and keyway.get_device(x) == -1
    assert not any((keyway.is_conj(x), keyway.is_neg(x), keyway.is_inference(x), x.is_sparse, x.is_quantized))
    assert x.is_set_to(x.view(2, 3)) and not x.is_set_to(x.t())
    assert keyway.typename(x) == "keyway.FloatTensor" and keyway.typename(1) == "int"
    assert keyway.adjoint(keyway.tensor([[1 + 2j, 3j]])).tolist() == [[1 - 2j], [-3j]]
    with pytest.raises(keyway.TypeError, match="is_conj"):
        keyway.is_conj(1)


def test_where_is_a_method_of_what_is_taken():
    x = keyway.tensor([1.0, 2.0])
    assert x.where(x > 1, 9).tolist() == [9.0, 2.0]
    assert [index.tolist() for index in keyway.where(x > 1)] == [[1]]
    assert keyway.where(keyway.tensor([1, 0], dtype=keyway.uint8), 1, 2).tolist() == [1, 2]


def test_a_tensor_is_summed_to_a_size_that_broadcasts_to_its_own():
    x = keyway.arange(6).reshape(2, 3)
    assert x.sum_to_size(1, 3).tolist() == [[3, 5, 7]] and x.sum_to_size((3,)).tolist() == [3, 5, 7]
    assert x.sum_to_size(2, 1).tolist() == [[3], [12]] and x.sum_to_size(2, 3).tolist() == x.tolist()
    assert x.sum_to_size(size=[3]).tolist() == [3, 5, 7]
    with pytest.raises(keyway.ValueError, match="does not broadcast"):
        x.sum_to_size(2)
    with pytest.raises(keyway.TypeError):
        x.sum_to_size(1.5)


def test_a_tensor_like_another_may_have_strides_of_its_own():
    x = keyway.ones(2, dtype=keyway.float64).new_empty_strided((2, 3), (1, 2), requires_grad=True)
    assert x.dtype is keyway.float64 and x.stride() == (1, 2) and x.requires_grad


def test_threads_are_counted():
    before = keyway.get_num_threads()
    keyway.set_num_threads(1)
    assert keyway.get_num_threads() == 1
    keyway.set_num_threads(before)
    for number in (0, -1):
        with pytest.raises(RuntimeError):
            keyway.set_num_threads(number)
    with pytest.raises(TypeError):
        keyway.set_num_threads(1.5)


def test_python_functions_are_applied_to_each_element():
    x = keyway.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.t().apply_(lambda v: v * v) is not None and x.tolist() == [[1.0, 4.0], [9.0, 16.0]]
    assert x.map_(keyway.tensor([1.0, 2.0]), lambda v, w: v + w).tolist() == [[2.0, 6.0], [10.0, 18.0]]
    one = keyway.ones(2, 2)
    assert x.map2_(one, one * 2, lambda u, v, w: u + v * w).tolist() == [[4.0, 8.0], [12.0, 20.0]]
    assert keyway.tensor(2).apply_(lambda v: v + 1).item() == 3 and keyway.empty(0).apply_(str).shape == (0,)
    with pytest.raises(keyway.TypeError, match="apply_"):
        keyway.empty(2, device="meta").apply_(abs)
