"""Lazy clones: tensors that share their bytes until one of them is written to, and are to everybody else like clones."""

import copy
import pickle
import threading

import pytest

import keyway
from keyway import _C, DispatchKeySet
from keyway.library import Library

COUNT = 10_000  # elements that do not fit into the storage's own block


def pair():
    x = keyway.arange(COUNT, dtype=keyway.float32)
    y = x._lazy_clone()
    assert _C._is_cow_tensor(x) and _C._is_cow_tensor(y)
    assert _C._data_address(x) == _C._data_address(y)
    assert _C._storage_address(x) != _C._storage_address(y)
    return x, y


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.add_(1),
        lambda t: t[3:].mul_(0),
        lambda t: t.view(100, 100)[1:, 2].fill_(7),
        lambda t: t.__setitem__(5, -1.0),
        lambda t: keyway.sub(t, 3, out=t),
        lambda t: keyway.ops.keyway._foreach_add_([t], 1),
        lambda t: t.copy_(keyway.ones(COUNT)),
        lambda t: t.detach().zero_(),
        lambda t: t.t_().add_(1),
        lambda t: t.random_(),
        lambda t: t.resize_(2 * COUNT),
        lambda t: t.numpy().__setitem__(0, -5),
        lambda t: memoryview(t).__setitem__(0, -5),
    ],
    ids=[
        "in_place", "view", "view_of_view", "item", "out", "foreach", "copy_", "detached", "geometry", "random", "resize",
        "numpy", "buffer",
    ],
)  # fmt: skip
@pytest.mark.parametrize("first", [True, False], ids=["original", "clone"])
def test_a_write_is_seen_by_one_side_alone(write, first):
    x, y = pair()
    written, other = (x, y) if first else (y, x)
    address, version = _C._data_address(other), other._version
    write(written)
    assert not _C._is_cow_tensor(written)
    assert _C._data_address(other) == address and other._version == version
    assert other.tolist() == list(range(COUNT))


def test_keys_from_before_a_clone_was_made_write_to_bytes_of_ones_own():
    x = keyway.zeros(COUNT)
    keys = keyway.dispatch_keys(x)
    y = x._lazy_clone()
    assert _C._is_cow_tensor(y)
    keyway.ops.keyway.add_.Tensor.redispatch(keys, x, keyway.ones(COUNT))
    assert x[0] == 1 and y[0] == 0


def test_a_kernel_may_clone_what_it_has_written_to_below():
    before = []

    def kernel(keys, self, other):
        before.append(self._lazy_clone())
        return keyway.ops.keyway.mul_.Tensor.redispatch(keys & DispatchKeySet.full_after("Autograd"), self, other)

    x, w = keyway.ones(COUNT), keyway.full((COUNT,), 3.0, requires_grad=True)
    with Library("keyway", "IMPL", "Autograd") as library:
        library.impl("mul_.Tensor", kernel, with_keyset=True)
        x.mul_(w)
    assert x[0] == 3 and before[0][0] == 1


def test_a_hook_of_saved_tensors_may_clone_what_is_about_to_be_written_to():
    clones = []

    def pack(tensor):
        with keyway.no_grad():
            clones.append(x._lazy_clone())
        return tensor

    x, w = keyway.full((COUNT,), 2.0), keyway.full((COUNT,), 3.0, requires_grad=True)
    with keyway.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        x.mul_(w)
    assert clones and all(clone[0] == 2 for clone in clones)
    x.sum().backward()
    assert x.detach()[0] == 6 and w.grad[0] == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.requires_grad_(),
        lambda t: t.requires_grad_(False),
        lambda t: t.detach_(),
        lambda t: setattr(t, "requires_grad", True),
        lambda t: keyway.nn.Parameter(t),
        lambda t: keyway.nn.Buffer(t),
        lambda t: copy.copy(t),
    ],
    ids=["requires_grad_", "frozen", "detach_", "attribute", "parameter", "buffer", "copy"],
)
def test_what_changes_a_history_alone_ends_no_sharing(change):
    x, y = pair()
    change(y)
    assert _C._is_cow_tensor(y) and _C._data_address(x) == _C._data_address(y)


def test_a_gradient_may_be_kept_of_what_shares_bytes():
    x = keyway.rand(COUNT, requires_grad=True)
    y = x._lazy_clone()
    y.retain_grad()
    assert _C._data_address(x) == _C._data_address(y)
    (2 * y).sum().backward()
    assert y.grad[0] == x.grad[0] == 2


def test_a_parameter_whose_data_is_exchanged_lets_go_of_what_it_shared():
    p = keyway.nn.Parameter(keyway.zeros(COUNT))
    with keyway.no_grad():
        shared = p._lazy_clone()
    assert _C._is_cow_tensor(p)
    p.data = keyway.ones(COUNT)
    with keyway.no_grad():
        p.add_(1)
    assert p[0] == 2 and shared[0] == 0


def test_the_last_one_keeps_the_bytes():
    x, y = pair()
    address = _C._data_address(y)
    x.add_(1)
    y.add_(0)
    assert _C._data_address(y) == address


def test_reading_ends_no_sharing():
    x, y = pair()
    assert float((x + y).sum()) == COUNT * (COUNT - 1)
    y.tolist(), repr(y), y[4].item(), y.reshape(100, 100), y.contiguous(), y.to(keyway.float32), y.sort(), y.clone()
    assert y.view(keyway.int32).dtype == keyway.int32
    assert _C._is_cow_tensor(x) and _C._is_cow_tensor(y)
    assert _C._data_address(x) == _C._data_address(y)


def test_addresses_that_are_given_out_are_of_bytes_of_ones_own():
    x, y = pair()
    assert y.data_ptr() != _C._data_address(x)
    assert not _C._is_cow_tensor(y)
    assert not _C._is_cow_tensor(y._lazy_clone())  # somebody may write at the address
    numpy = pytest.importorskip("numpy")
    z = x._lazy_clone()
    array = numpy.from_dlpack(z)
    assert z.data_ptr() == array.ctypes.data != _C._data_address(x)
    array = numpy.zeros(COUNT, dtype=numpy.float32)
    foreign = keyway.from_numpy(array)
    clone = foreign._lazy_clone()
    array[0] = 1
    assert clone[0].item() == 0 and not _C._is_cow_tensor(clone)


def test_views_see_what_is_written_to_their_base_and_it_to_them():
    x, y = pair()
    view = y[10:20]
    y.add_(1)
    assert view[0].item() == 11
    view.zero_()
    assert y[10].item() == 0 and x[10].item() == 10
    viewed = keyway.zeros(COUNT)
    rows = viewed.view(100, 100)
    clone = viewed._lazy_clone()  # a copy: nobody could tell the view
    rows.add_(1)
    assert clone.sum().item() == 0


def test_strides_and_offsets_are_those_of_the_original():
    x = keyway.arange(COUNT)[7:].unfold(0, COUNT - 8, 1)[1:].t()
    y = x._lazy_clone()
    assert (y.shape, y.stride(), y.storage_offset()) == (x.shape, x.stride(), x.storage_offset())
    assert y.equal(x)
    small = keyway.tensor([[1, 2], [3, 4]]).t()[1]
    assert small._lazy_clone().stride() == small.stride() and small._lazy_clone().equal(small)
    empty = keyway.empty(0)._lazy_clone()
    assert empty.numel() == 0
    meta = keyway.empty(5, 4, device="meta").t()._lazy_clone()
    assert meta.is_meta and meta.stride() == (1, 4)


def test_gradients_are_those_of_clone():
    x = keyway.rand(COUNT, requires_grad=True)
    y = x._lazy_clone()
    assert y.grad_fn is not None and not y.is_leaf
    (y * y).sum().backward()
    assert keyway.testing.assert_close(x.grad, 2 * x.detach()) is None
    z = keyway.rand(COUNT, requires_grad=True)
    square = z.square()
    clone = z.detach()._lazy_clone()
    clone.add_(1)  # has a version of its own
    square.sum().backward()
    saved = keyway.rand(COUNT, requires_grad=True)
    result = saved.exp()
    result.detach().add_(1)
    with pytest.raises(keyway.AutogradError):
        result.sum().backward()


def test_what_is_saved_for_backward_is_not_changed_by_the_other_side():
    x = keyway.rand(COUNT, requires_grad=True)
    y = x._lazy_clone()
    loss = (y * y).sum()
    with keyway.no_grad():
        x.zero_()
    loss.backward()
    assert x.grad.min().item() >= 0 and x.grad.sum().item() > 0


def test_vmap_and_forward_mode():
    x = keyway.rand(8, COUNT)
    doubled = keyway.vmap(lambda row: row._lazy_clone().mul_(2))(x)
    assert doubled.equal(2 * x)
    value, tangent = keyway.func.jvp(lambda t: t._lazy_clone().square(), (x,), (keyway.ones_like(x),))
    assert value.equal(x.square()) and tangent.equal(2 * x)


def test_graphs_follow_lazy_clones():
    def step(x):
        y = x._lazy_clone()
        x.add_(1)
        y.mul_(2)
        return y + x

    x = keyway.rand(COUNT)
    expected_x = x.clone()
    expected = step(expected_x)
    for level in ("program", "executed"):
        with keyway.no_grad():
            given = x.clone()
            program = keyway.graph.capture(step, given, level=level)
            for _ in range(3):
                given = x.clone()
                other = given._lazy_clone()
                assert keyway.testing.assert_close(program(given), expected) is None
                assert given.equal(expected_x) and other.equal(x)


def test_deferred_calls_write_to_bytes_of_their_own():
    x, y = pair()
    with keyway.deferred():
        y.add_(1)
        z = y._lazy_clone()
        z.mul_(2)
    assert x.tolist() == list(range(COUNT))
    assert y.tolist() == list(range(1, COUNT + 1))
    assert z.tolist() == list(range(2, 2 * COUNT + 1, 2))


def test_data_that_is_exchanged_is_shared_as_the_other_was():
    x, y = pair()
    p = keyway.nn.Parameter(keyway.zeros(COUNT))
    p.data = y
    with keyway.no_grad():
        p.add_(1)
    assert p[0].item() == 1 and y[0].item() == 1 and x[0].item() == 0


def test_inference_mode():
    with keyway.inference_mode():
        x, y = pair()
        y.add_(1)
        assert x[0].item() == 0 and y[0].item() == 1


def test_a_deep_copy_shares_until_one_is_written_to():
    x = keyway.arange(COUNT, dtype=keyway.float32)
    copied = copy.deepcopy(x)
    assert _C._data_address(x) == _C._data_address(copied)
    x.add_(1)
    assert copied.tolist() == list(range(COUNT)) and x[0] == 1


def test_a_copy_of_a_module_is_not_trained_with_it():
    model = keyway.nn.Linear(100, 200)
    copied = copy.deepcopy(model)
    assert copied.weight.requires_grad and copied.weight.is_leaf
    assert _C._data_address(copied.weight) == _C._data_address(model.weight)
    before = copied.weight.detach().clone()
    optimizer = keyway.optim.SGD(model.parameters(), lr=0.1)
    model(keyway.rand(3, 100)).sum().backward()
    optimizer.step()
    assert not model.weight.equal(before) and copied.weight.equal(before)


def test_freezing_a_copy_of_a_module_ends_no_sharing():
    model = keyway.nn.Linear(100, 200)
    copied = copy.deepcopy(model).requires_grad_(False)
    assert not copied.weight.requires_grad and model.weight.requires_grad
    assert _C._data_address(copied.weight) == _C._data_address(model.weight)


def test_a_copy_of_a_parameter_has_its_strides_and_its_elements_alone():
    kept = keyway.arange(2 * COUNT, dtype=keyway.float32)
    images = keyway.rand(4, 3, 40, 40).to(memory_format=keyway.channels_last)
    for data in (kept[:COUNT], keyway.rand(100, 100).t(), images):
        elements = data.clone()
        parameter = keyway.nn.Parameter(data, requires_grad=False)
        copied = copy.deepcopy(parameter)
        parameter.zero_()
        assert type(copied) is keyway.nn.Parameter and not copied.requires_grad
        assert copied.equal(elements) and copied.stride() == data.stride()
        assert _C._whole_storage(copied).numel() == data.numel()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_keeps_the_elements(protocol):
    x, y = pair()
    assert pickle.loads(pickle.dumps(y, protocol)).equal(x)
    if protocol < 5:  # later ones give the memory itself to who asks for it
        assert _C._is_cow_tensor(y) and _C._data_address(x) == _C._data_address(y)
    for tensor in (keyway.empty(0, 3), keyway.rand(3, 4).t(), keyway.tensor([True, False])):
        copied = pickle.loads(pickle.dumps(tensor, protocol))
        assert copied.equal(tensor) and copied.stride() == tensor.stride() and copied.dtype == tensor.dtype


def test_threads_write_to_their_own_clones():
    x, _ = pair()
    wrong = []

    def work(number):
        for _ in range(50):
            y = x._lazy_clone()
            total = y.sum().item()
            y.fill_(number)
            if total != x.sum().item() or y.sum().item() != number * COUNT:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
