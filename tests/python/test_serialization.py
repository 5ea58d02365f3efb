"""Copying, pickling, saving and loading."""

import copy
import errno
import io
import pickle
import random

import pytest

import keyway


class Named(keyway.Tensor):
    pass


class Slotted(keyway.Tensor):
    __slots__ = ("note",)


def values(tensor):
    return tensor.detach().numpy().tolist()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_tensor_is_pickled_with_dtype_shape_gradient_flag_and_attributes(protocol):
    tensor = keyway.tensor([[1.0, 2, 3], [4, 5, 6]], dtype=keyway.float64, requires_grad=True)
    tensor.tag = ["hi"]
    back = pickle.loads(pickle.dumps(tensor, protocol))
    assert values(back) == values(tensor) and back.dtype is keyway.float64
    assert back.requires_grad and back.is_leaf and back.tag == ["hi"]


@pytest.mark.parametrize("name", ["bool", "bfloat16", "complex32", "float8_e4m3fn", "uint64", "int8"])
def test_every_dtype_is_pickled(name):
    dtype = getattr(keyway, name)
    back = pickle.loads(pickle.dumps(keyway.tensor([[0, 1, 0], [1, 0, 1]], dtype=dtype)))
    assert back.dtype is dtype and back.tolist() == [[0, 1, 0], [1, 0, 1]]


def test_views_are_pickled_as_their_elements_and_dense_ones_keep_their_strides():
    big = keyway.arange(100000.0)
    view = big.narrow(0, 5, 3)
    assert len(pickle.dumps(view)) < 500
    assert values(pickle.loads(pickle.dumps(view))) == [5, 6, 7]
    transposed = keyway.arange(6).view(2, 3).t()
    back = pickle.loads(pickle.dumps(transposed))
    assert values(back) == values(transposed) and back.stride() == transposed.stride()
    expanded = keyway.ones(1, 3).expand(4, 3)
    assert values(pickle.loads(pickle.dumps(expanded))) == values(expanded)


def test_empty_and_dimensionless_and_meta_tensors_are_pickled():
    assert pickle.loads(pickle.dumps(keyway.zeros(0, 3))).shape == (0, 3)
    assert pickle.loads(pickle.dumps(keyway.tensor(2.5))).item() == 2.5
    back = pickle.loads(pickle.dumps(keyway.empty(3, 4, device="meta").t()))
    assert back.is_meta and back.shape == (4, 3) and back.stride() == (1, 4)


def test_the_fifth_protocol_hands_out_elements_without_a_copy():
    buffers = []
    data = pickle.dumps(keyway.ones(1000), 5, buffer_callback=buffers.append)
    assert len(data) < 500 and len(buffers) == 1
    assert pickle.loads(data, buffers=buffers).sum().item() == 1000


def test_subclasses_are_pickled_and_copied_as_themselves():
    named, slotted = Named(keyway.ones(2)), Slotted(keyway.ones(2))
    named.tag, slotted.note = "tag", "note"
    for back in (pickle.loads(pickle.dumps(named)), copy.deepcopy(named), copy.copy(named)):
        assert type(back) is Named and back.tag == "tag" and values(back) == [1, 1]
    for back in (pickle.loads(pickle.dumps(slotted)), copy.deepcopy(slotted), copy.copy(slotted)):
        assert type(back) is Slotted and back.note == "note"


@pytest.mark.parametrize(
    "change",
    [{"data": b"123"}, {"data": 3}, {"sizes": (2**40,)}, {"sizes": (-2,)}, {"strides": (3,)}, {"strides": ()},
     {"dtype": "float32"}, {"data": b"\2\0", "dtype": keyway.bool}],
)  # fmt: skip
def test_parts_that_are_not_those_of_a_tensor_are_errors(change):
    rebuild, parts, _ = keyway.zeros(2, dtype=keyway.uint8).__reduce_ex__(2)
    names = ("cls", "data", "dtype", "sizes", "strides", "device", "requires_grad")
    with pytest.raises((keyway.Error, TypeError)):
        rebuild(**{**dict(zip(names, parts)), **change})


def test_deep_copies_share_nothing_with_their_source_and_storage_with_each_other():
    base = keyway.zeros(4)
    rows, again = base.view(2, 2), base
    base_copy, rows_copy, again_copy = copy.deepcopy([base, rows, again])
    assert base_copy is again_copy
    base_copy.add_(1)
    assert values(rows_copy) == [[1, 1], [1, 1]] and values(base) == [0, 0, 0, 0]


def test_deep_copies_have_gradient_flag_gradient_and_attributes():
    weight = keyway.ones(2, requires_grad=True)
    weight.grad = keyway.full((2,), 3.0)
    weight.tag = [1]
    made = copy.deepcopy(weight)
    assert made.requires_grad and made.is_leaf and values(made.grad) == [3, 3]
    assert made.grad is not weight.grad and made.tag == [1] and made.tag is not weight.tag


def test_what_was_computed_with_gradients_is_not_deep_copied():
    with pytest.raises(keyway.AutogradError, match="leaves"):
        copy.deepcopy(keyway.ones(2, requires_grad=True).mul(2))


def test_shallow_copies_share_memory():
    weight = keyway.ones(2, requires_grad=True)
    made = copy.copy(weight)
    assert made is not weight and made.data_ptr() == weight.data_ptr() and made.requires_grad


def tensors():
    return {
        "weight": keyway.arange(6.0).view(2, 3).t(),
        "ß": keyway.tensor([True, False]),
        "half": keyway.ones(3, dtype=keyway.bfloat16),
        "empty": keyway.zeros(0, 2),
        "grad": keyway.ones(1, requires_grad=True),
    }


def check(loaded):
    assert list(loaded) == list(tensors())
    for name, tensor in tensors().items():
        assert loaded[name].dtype is tensor.dtype and loaded[name].shape == tensor.shape
        assert loaded[name].eq(tensor).sum().item() == tensor.numel()
        assert not loaded[name].requires_grad


def test_tensors_are_saved_to_paths_and_files_and_loaded_from_both_and_from_bytes(tmp_path):
    path = tmp_path / "tensors.safetensors"
    keyway.save(tensors(), path, metadata={"format": "kw"})
    check(keyway.load(path))
    check(keyway.load(str(path), mmap=True))
    assert keyway.load_metadata(path) == {"format": "kw"}
    file = io.BytesIO()
    keyway.save(tensors(), file, metadata={"format": "kw"})
    assert file.getvalue() == path.read_bytes()
    file.seek(0)
    check(keyway.load(file))
    for kind in (bytes, bytearray, memoryview):
        check(keyway.load(kind(file.getvalue())))


def test_load_puts_tensors_on_a_device(tmp_path):
    file = io.BytesIO()
    keyway.save(tensors(), file)
    assert all(tensor.is_meta for tensor in keyway.load(file.getvalue(), map_location="meta").values())


def test_what_is_written_to_a_mapped_tensor_does_not_reach_the_file(tmp_path):
    path = tmp_path / "a"
    keyway.save({"a": keyway.ones(100)}, path)
    keyway.load(path, mmap=True)["a"].zero_()
    assert keyway.load(path)["a"].sum().item() == 100
    assert keyway.load(path, weights_only=True)["a"].sum().item() == 100


@pytest.mark.parametrize("given", [
    {1: keyway.ones(1)}, {"a": 1}, {"a": None}, {"a": [keyway.ones(1)]}, {"a": {"b": keyway.ones(1)}}, keyway.ones(1),
    [keyway.ones(1)],
])
def test_only_tensors_by_name_are_saved(given, tmp_path):
    with pytest.raises(keyway.TypeError):
        keyway.save(given, tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_wrong_places_to_save_to_and_load_from_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        keyway.load(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        keyway.save(tensors(), tmp_path / "no" / "folder")
    with pytest.raises(ValueError, match="null byte"):
        keyway.load("a\0b")
    for thing in (3, None, io.StringIO("text"), [1]):
        with pytest.raises(keyway.TypeError):
            keyway.load(thing)
    with pytest.raises(keyway.TypeError):
        keyway.save({}, 3)
    with pytest.raises(keyway.ValueError, match="mmap"):
        keyway.load(b"", mmap=True)


def test_corrupted_files_are_parse_errors(tmp_path):
    file = io.BytesIO()
    keyway.save(tensors(), file)
    good = file.getvalue()
    rng = random.Random(1)
    refused = 0
    for _ in range(3000):
        bad = bytearray(good)
        for _ in range(rng.randint(1, 3)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        if rng.random() < 0.3:
            del bad[rng.randrange(len(bad)) :]
        try:
            keyway.load(bytes(bad))
        except keyway.ParseError:
            refused += 1
    assert refused > 2000
    (tmp_path / "bad").write_bytes(good[:-1])
    with pytest.raises(keyway.ParseError, match="bad"):
        keyway.load(tmp_path / "bad")


def test_what_the_system_refuses_about_a_file_is_an_oserror(tmp_path):
    for call in (lambda path: keyway.save({"x": keyway.ones(2)}, path), keyway.load):
        with pytest.raises(FileNotFoundError) as error:
            call(tmp_path / "missing" / "x.safetensors")
        assert error.value.errno == errno.ENOENT
        assert error.value.filename == str(tmp_path / "missing" / "x.safetensors")
    with pytest.raises(IsADirectoryError):
        keyway.save({"x": keyway.ones(2)}, tmp_path)
