"""keyway.cuda: devices, streams, events, graphs and memory; on emulated devices, where ctest says where their plug-in
is, or on real ones."""

import gc
import inspect
import os
import threading
from typing import Any, NamedTuple

import keyway
import pytest
from keyway import cuda
from keyway.utils.checkpoint import checkpoint
from keyway.utils.data import DataLoader

MIB = 1 << 20


# --- Without a device


@pytest.fixture
def no_device():
    if cuda.is_available():
        pytest.skip("there is a CUDA device")


def test_without_a_device_nothing_is_available(no_device):
    assert cuda.device_count() == 0
    assert not cuda.is_available()


@pytest.mark.parametrize("call", [
    cuda.current_device, cuda.current_stream, cuda.default_stream, cuda.synchronize, cuda.Stream, cuda.Event,
    cuda.memory_stats, cuda.memory_allocated, cuda.max_memory_reserved, cuda.memory_summary,
    cuda.reset_peak_memory_stats, cuda.is_current_stream_capturing, lambda: cuda.set_device(0),
    lambda: cuda.device("cuda:0").__enter__(), lambda: cuda.graph(cuda.CUDAGraph()).__enter__(),
    cuda.mem_get_info, lambda: cuda.set_per_process_memory_fraction(0.5), lambda: cuda.CUDAGraph().capture_begin(),
])
def test_without_a_device_calls_say_why(no_device, call):
    with pytest.raises(keyway.Error, match="no cuda device: |no device guard for device type cuda.*: "):
        call()


def test_without_a_device_seeds_and_the_cache_are_nobodys_concern(no_device):
    cuda.manual_seed(1)
    cuda.manual_seed_all(1)
    cuda.empty_cache()
    with cuda.device(None), cuda.stream(None), cuda.device_of(keyway.ones(2)):
        pass


def test_everything_is_documented():
    for name in cuda.__all__:
        assert inspect.getdoc(getattr(cuda, name)), name
    for kind in (cuda.Stream, cuda.Event, cuda.CUDAGraph):
        for name in dir(kind):
            if not name.startswith("_") and callable(getattr(kind, name)):
                assert getattr(kind, name).__doc__, name
    assert set(cuda.__all__) == {name for name, value in vars(cuda).items() if not name.startswith("_")
                                 and name not in ("Tensor", "annotations", "TYPE_CHECKING")}


def test_other_devices_than_cudas_are_refused():
    for call in (cuda.synchronize, cuda.memory_stats, cuda.Stream, cuda.current_stream):
        with pytest.raises(keyway.ValueError, match="keyway.cuda is about devices of type cuda, not about cpu"):
            call("cpu")
        with pytest.raises(keyway.TypeError, match="a device of type cuda is text, as 'cuda:1', a number or a device, not float"):
            call(1.5)


# --- With one


@pytest.fixture(scope="module")
def there():
    """A CUDA device."""
    if "KEYWAY_EMULATED_CUDA" in os.environ and not cuda.is_available():
        keyway.load_plugin(os.environ["KEYWAY_EMULATED_CUDA"])
    if not cuda.is_available():
        pytest.skip("there is no CUDA device")
    return keyway.device("cuda:0")


@pytest.fixture(scope="module")
def second(there):
    if cuda.device_count() < 2:
        pytest.skip("there is one CUDA device only")
    return keyway.device("cuda:1")


@pytest.fixture
def cache(there):
    if os.environ.get("KEYWAY_NO_CUDA_MEMORY_CACHING") == "1":
        pytest.skip("no memory is kept")
    gc.collect()
    cuda.empty_cache()


def mebibytes(count, device="cuda:0"):
    return keyway.empty(count * MIB, dtype=keyway.uint8, device=device)


def test_devices_are_made_current_for_good_and_for_a_while(there, second):
    assert cuda.current_device() == 0
    cuda.set_device(1)
    assert cuda.current_device() == 1
    cuda.set_device("cuda:0")
    one = cuda.device(1)
    with one:
        assert cuda.current_device() == 1
        assert keyway.ones(2, device="cuda").device == second
        with one, cuda.device(keyway.device("cuda:0")), cuda.device(None):
            assert cuda.current_device() == 0
        assert cuda.current_device() == 1
        cuda.set_device(0)
    assert cuda.current_device() == 0
    with pytest.raises(RuntimeError, match="stop"), cuda.device("cuda:1"):
        raise RuntimeError("stop")
    with cuda.device_of(keyway.ones(2, device=second)):
        assert cuda.current_device() == 1
    assert cuda.current_device() == 0


def test_indices_out_of_range_are_refused(there):
    for call in (cuda.set_device, cuda.synchronize, cuda.Stream, cuda.memory_stats, cuda.current_stream,
                 lambda device: cuda.device(device).__enter__()):
        with pytest.raises(keyway.IndexError, match="out of range"):
            call(99)


def test_streams_are_values(there):
    stream = cuda.Stream()
    assert stream.device == there and stream.stream_id != 0
    assert stream != cuda.default_stream() and stream != 3
    assert cuda.default_stream() == cuda.default_stream(0) == cuda.current_stream()
    assert len({cuda.default_stream(), cuda.current_stream(), stream}) == 2
    assert repr(stream) == f"<keyway.Stream device=cuda:0 stream_id={stream.stream_id}>"
    assert cuda.Stream(there, priority=-1).query()
    assert cuda.Stream(device="cuda:0", priority=0).device == there


def test_a_stream_is_current_in_its_block_and_its_device_too(there, second):
    far, near = cuda.Stream(second), cuda.Stream()
    with cuda.stream(far) as nothing:
        assert nothing is None
        assert cuda.current_stream() == far and cuda.current_device() == 1
        with cuda.stream(near), cuda.stream(None):
            assert cuda.current_stream() == near and cuda.current_device() == 0
            assert cuda.current_stream(second) == far
        assert cuda.current_stream() == far
    assert cuda.current_stream() == cuda.default_stream()
    assert cuda.current_stream(second) == cuda.default_stream(second)
    with pytest.raises(RuntimeError, match="stop"), cuda.StreamContext(near):
        raise RuntimeError("stop")
    assert cuda.current_stream() == cuda.default_stream()
    cuda.set_stream(far)
    assert cuda.current_stream() == far and cuda.current_device() == 1
    cuda.set_stream(cuda.default_stream(1))
    cuda.set_stream(cuda.default_stream(0))
    assert cuda.current_stream() == cuda.default_stream() and cuda.current_device() == 0


def test_work_of_streams_is_ordered_by_events_and_waits(there):
    first, later = cuda.Stream(), cuda.Stream()
    x = keyway.zeros(1000, device=there)
    first.wait_stream(cuda.current_stream())
    with cuda.stream(first):
        x.add_(1)
        event = first.record_event()
        assert isinstance(event, cuda.Event)
    later.wait_event(event)
    with cuda.stream(later):
        x.mul_(3)
        assert later.record_event(event) is event
    event.wait()
    x.add_(1)
    third = cuda.Event()
    third.record()
    third.wait(first)
    third.synchronize()
    assert third.query()
    for stream in (first, later):
        stream.synchronize()
        assert stream.query()
    cuda.synchronize()
    cuda.synchronize(there)
    assert x.cpu().tolist() == [4.0] * 1000


def test_events_measure_time(there):
    begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    assert begin.query() and repr(begin) == "<keyway.Event, not recorded>"
    with pytest.raises(keyway.ValueError, match="the first event was not recorded"):
        begin.elapsed_time(end)
    begin.record()
    keyway.ones(1000, device=there).sin().sum()
    end.record(cuda.current_stream())
    end.synchronize()
    assert begin.elapsed_time(end) >= 0
    assert repr(end) == "<keyway.Event device=cuda:0>"
    plain = cuda.Event()
    plain.record()
    plain.synchronize()
    with pytest.raises(keyway.ValueError, match="without enable_timing"):
        plain.elapsed_time(end)
    with pytest.raises(keyway.TypeError, match="argument 'event' must be Event, not int"):
        cuda.Stream().record_event(3)


def test_each_thread_has_current_streams_of_its_own(there):
    stream, seen = cuda.Stream(), []
    with cuda.stream(stream):
        thread = threading.Thread(target=lambda: seen.append(cuda.current_stream()))
        thread.start()
        thread.join()
    assert seen == [cuda.default_stream()]


def test_a_block_is_left_by_the_thread_that_entered_it(there):
    block, errors = cuda.stream(cuda.Stream()), []
    block.__enter__()

    def leave():
        try:
            block.__exit__(None, None, None)
        except keyway.Error as error:
            errors.append(str(error))

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    assert errors == ["a block is left by the thread that entered it"]
    cuda.set_stream(cuda.default_stream())


# --- Memory


def test_memory_is_counted(cache):
    before, calls = cuda.memory_allocated(), cuda.memory_stats()["allocation.all.allocated"]
    cuda.reset_peak_memory_stats()
    x = mebibytes(3)
    assert cuda.memory_allocated() == cuda.memory_allocated("cuda:0") == before + 3 * MIB
    assert cuda.memory_reserved() >= cuda.memory_allocated()
    del x
    assert cuda.memory_allocated() == before
    assert cuda.max_memory_allocated() == before + 3 * MIB
    assert cuda.max_memory_reserved() >= cuda.max_memory_allocated()
    stats = cuda.memory_stats()
    assert stats["allocation.all.allocated"] == calls + 1
    for kind in ("allocated", "reserved", "active", "requested"):
        assert stats[f"{kind}_bytes.all.current"] <= stats[f"{kind}_bytes.all.peak"]
    assert stats["num_device_alloc"] >= 1
    cuda.reset_peak_memory_stats(0)
    assert cuda.max_memory_allocated() == before
    assert "reserved" in cuda.memory_summary()


def test_empty_cache_gives_back_what_nobody_uses(cache):
    before = cuda.memory_reserved()
    held, gone = mebibytes(30), mebibytes(50)
    del gone
    assert cuda.memory_reserved() == before + 80 * MIB
    cuda.empty_cache()
    assert cuda.memory_reserved() == before + 30 * MIB
    assert held.numel() == 30 * MIB


def test_memory_of_the_device_is_counted(cache):
    cuda.empty_cache()
    free, total = cuda.mem_get_info()
    assert 0 < free <= total
    held = mebibytes(64)
    less, all_of_it = cuda.mem_get_info("cuda:0")
    assert all_of_it == total
    assert free - less >= 64 * MIB
    assert held.numel() == 64 * MIB


def test_a_fraction_of_the_memory_is_a_limit(cache):
    ooms = cuda.memory_stats()["num_ooms"]
    cuda.set_per_process_memory_fraction(1e-9)
    try:
        with pytest.raises(keyway.OutOfMemoryError, match="out of memory on cuda:0: 100.00 MiB asked"):
            mebibytes(100)
    finally:
        cuda.set_per_process_memory_fraction(1.0, "cuda:0")
    assert cuda.memory_stats()["num_ooms"] == ooms + 1
    assert mebibytes(100).numel() == 100 * MIB
    with pytest.raises(keyway.ValueError, match=r"must be in \(0, 1\]"):
        cuda.set_per_process_memory_fraction(0)


def test_memory_that_another_stream_uses_waits_for_it(cache):
    side = cuda.Stream()
    pinned = keyway.zeros(16 * MIB, dtype=keyway.uint8).pin_memory()
    x = mebibytes(16)
    address = x.data_ptr()
    with cuda.stream(side):
        for _ in range(8):  # which takes a device longer than what follows the host
            x.copy_(pinned, non_blocking=True)
    assert x.record_stream(side) is None
    del x
    other = mebibytes(16)
    assert other.data_ptr() != address
    side.synchronize()
    del other
    assert address in (y.data_ptr() for y in [mebibytes(16), mebibytes(16)])


# --- Backward

SIZE = 4096


def overwrite_what_is_free(stream):
    """Takes what memory of our tensors' size is free for a stream, writes other numbers there, and waits for that."""
    with cuda.stream(stream):
        taken = [keyway.full((SIZE,), 1e9, device="cuda") for _ in range(8)]
    stream.synchronize()
    del taken


class Watched(keyway.autograd.Function):
    """Twice a tensor; backward notes its current stream."""

    @staticmethod
    def forward(ctx, x, seen):
        ctx.seen = seen
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        ctx.seen.append(cuda.current_stream())
        return grad * 2, None


def test_a_function_goes_backward_in_the_stream_of_its_call_and_gradients_wait(there):
    first, later, seen = cuda.Stream(), cuda.Stream(), []
    x = keyway.full((SIZE,), 3.0, device="cuda", requires_grad=True)
    first.wait_stream(cuda.current_stream())
    with cuda.stream(first):
        y = Watched.apply(x, seen)
    later.wait_stream(first)
    with cuda.stream(later):
        z = Watched.apply(y * y, seen)
    cuda.current_stream().wait_stream(later)
    hooked, accumulated = [], []
    y.register_hook(lambda grad: hooked.append(cuda.current_stream()))
    x.register_post_accumulate_grad_hook(lambda leaf: accumulated.append(cuda.current_stream()))
    z.sum().backward()
    assert cuda.current_stream() == cuda.default_stream()
    assert (seen, hooked, accumulated) == ([later, first], [first], [first])
    assert x.grad.cpu().tolist() == [16 * 3.0] * SIZE  # of 2 * (2x)^2


def test_memory_of_backward_is_given_out_again_when_its_streams_have_read_it(cache):
    side = cuda.Stream()
    x = keyway.ones(SIZE, device="cuda", requires_grad=True)
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        loss = x.exp().sqrt().sum()
    cuda.current_stream().wait_stream(side)
    loss.backward()
    overwrite_what_is_free(side)
    expected = keyway.ones(1, requires_grad=True)
    expected.exp().sqrt().backward()
    doubled = x.grad * 2
    x.grad = None
    overwrite_what_is_free(side)
    assert doubled.cpu().tolist() == pytest.approx([2 * expected.grad.item()] * SIZE)


def test_a_data_loader_pins_what_batches_hold(there):
    class Named(NamedTuple):
        x: Any
        name: Any

    class Custom:
        def pin_memory(self):
            return "pinned"

    examples = [{"t": keyway.ones(2), "n": Named(keyway.zeros(1), "a"), "l": [keyway.ones(1), 3]} for _ in range(4)]
    for workers in (0, 2):
        for device in ("", "cuda"):
            loader = DataLoader(examples, batch_size=2, num_workers=workers, pin_memory=True, pin_memory_device=device)
            batches = list(loader)
            assert len(batches) == 2
            for batch in batches:
                assert batch["t"].is_pinned() and batch["t"].tolist() == [[1, 1], [1, 1]]
                assert type(batch["n"]) is Named and batch["n"].x.is_pinned() and list(batch["n"].name) == ["a", "a"]
                assert batch["l"][0].is_pinned() and batch["l"][1].tolist() == [3, 3]
    assert not next(iter(DataLoader(examples, batch_size=2)))["t"].is_pinned()
    assert list(DataLoader([0], collate_fn=lambda batch: Custom(), pin_memory=True)) == ["pinned"]
    there_already = DataLoader([0], collate_fn=lambda batch: keyway.ones(1, device="cuda"), pin_memory=True)
    assert next(iter(there_already)).is_cuda


def test_record_stream_is_for_tensors_of_cuda(there):
    with pytest.raises(keyway.ValueError, match="does not use memory of cpu"):
        keyway.ones(2).record_stream(cuda.current_stream())
    with pytest.raises(TypeError):
        keyway.ones(2, device=there).record_stream(3)


# --- Graphs


def test_a_graph_does_its_work_again(cache):
    x = keyway.zeros(4, device="cuda")
    graph = cuda.CUDAGraph()
    assert not cuda.is_current_stream_capturing()
    with cuda.graph(graph):
        assert cuda.is_current_stream_capturing()
        y = x * 2 + 1
    assert not cuda.is_current_stream_capturing()
    assert cuda.current_stream() == cuda.default_stream()
    for value in (1.0, 5.0):
        x.fill_(value)
        graph.replay()
        assert y.cpu().tolist() == [value * 2 + 1] * 4
    side, other = cuda.Stream(), cuda.CUDAGraph()
    with cuda.graph(other, pool=graph.pool(), stream=side):
        assert cuda.current_stream() == side
        z = x + 1
    assert other.pool() == graph.pool()
    other.replay()
    assert z.cpu().tolist() == [6.0] * 4
    graph.reset()
    with pytest.raises(keyway.Error, match="the graph is empty"):
        graph.replay()


def test_an_exception_gives_a_capture_up(cache):
    x = keyway.zeros(4, device="cuda")
    graph = cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="stop"), cuda.graph(graph):
        x.add_(1)
        raise RuntimeError("stop")
    assert not cuda.is_current_stream_capturing()
    assert cuda.current_stream() == cuda.default_stream()
    with pytest.raises(keyway.Error, match="the graph is empty"):
        graph.replay()
    with pytest.raises(keyway.Error, match="a copy to the host"), cuda.graph(graph):
        x.cpu()
    with pytest.raises(keyway.Error, match="what was captured is not whole: "), cuda.graph(graph):
        with pytest.raises(keyway.Error):
            x.cpu()
    assert cuda.current_stream() == cuda.default_stream()
    assert x.cpu().tolist() == [0.0] * 4
    with cuda.graph(graph):
        x.add_(1)
    graph.replay()
    assert x.cpu().tolist() == [1.0] * 4


def test_a_capture_can_be_begun_and_ended_by_hand(cache):
    x = keyway.zeros(4, device="cuda")
    graph = cuda.CUDAGraph()
    with pytest.raises(keyway.Error, match="default stream of cuda:0 cannot be captured"):
        graph.capture_begin()
    cuda.synchronize()
    with cuda.stream(cuda.Stream()):
        graph.capture_begin()
        x.add_(2)
        with pytest.raises(keyway.Error, match="is being captured"):
            cuda.empty_cache()
        graph.capture_end()
        graph.replay()
        graph.replay()
    cuda.synchronize()
    assert x.cpu().tolist() == [4.0] * 4


# --- Random numbers


def test_seeds_of_cuda_are_those_of_its_devices(there):
    cuda.manual_seed(7)
    first = keyway.rand(5, device=there)
    cuda.manual_seed_all(7)
    assert keyway.rand(5, device=there).cpu().tolist() == first.cpu().tolist()
    of_the_cpu = keyway.default_generator.get_state()
    cuda.manual_seed(8)
    assert keyway.rand(5, device=there).cpu().tolist() != first.cpu().tolist()
    cuda.manual_seed_all(9)
    assert keyway.default_generator.get_state() == of_the_cpu


def test_what_is_computed_again_draws_the_same_on_the_device(there):
    for reentrant in (False, True):
        x = keyway.ones(64, device=there, requires_grad=True)
        y = checkpoint(lambda a: keyway.nn.functional.dropout(a, 0.5) * a, x, use_reentrant=reentrant)
        y.sum().backward()
        assert keyway.equal(x.grad, 2 * y.detach()) and 0 < y.sum() < 128


def test_numbers_drawn_in_a_fork_are_drawn_again(there):
    with keyway.random.fork_rng():
        drawn = keyway.rand(4, device=there), keyway.rand(4)
    assert keyway.equal(keyway.rand(4, device=there), drawn[0]) and keyway.equal(keyway.rand(4), drawn[1])
    cuda.manual_seed(-1)
    first = keyway.rand(4, device=there)
    cuda.manual_seed_all(-1)
    assert keyway.equal(keyway.rand(4, device=there), first)


def test_a_block_that_another_thread_leaves_is_left_by_its_own(there):
    stream = cuda.Stream()
    block = cuda.stream(stream)
    refused = []

    def leave():
        try:
            block.__exit__()
        except keyway.Error as error:
            refused.append(error)

    block.__enter__()
    other = threading.Thread(target=leave)
    other.start()
    other.join()
    assert len(refused) == 1 and cuda.current_stream() == stream
    block.__exit__()
    assert cuda.current_stream() != stream


def test_training_in_mixed_precision(there):
    keyway.manual_seed(0)
    model = keyway.nn.Linear(4, 2).to(there)
    optimizer = keyway.optim.SGD(model.parameters(), lr=0.1)
    scaler = keyway.amp.GradScaler("cuda", init_scale=1024.0, growth_interval=2)
    x, target = keyway.randn(8, 4, device=there), keyway.zeros(8, 2, device=there)
    losses = []
    for step in range(4):
        optimizer.zero_grad()
        with keyway.autocast("cuda"):
            output = model(x)
            loss = keyway.nn.functional.mse_loss(output, target)
        assert (output.dtype, loss.dtype) == (keyway.float16, keyway.float32)
        scaler.scale(loss * float("inf") if step == 2 else loss).backward()
        assert model.weight.grad.dtype == keyway.float32
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[0] > losses[1] > losses[2] == losses[3]
    assert scaler.get_scale() == 1024.0  # doubled after two steps, halved after the third
    assert (keyway.ones(2, 2) @ keyway.ones(2, 2)).dtype == keyway.float32


def test_vmap_on_a_device(there):
    weight, x = keyway.randn(3, 4), keyway.randn(5, 3)

    def loss(w, row):
        return (row @ w).softmax(0)[[1, 0]].log().sum() + row.new_zeros(2).add_(row[:2]).sum()

    of_each = keyway.vmap(keyway.func.grad(loss, argnums=(0, 1)), in_dims=(None, 0))
    expected = of_each(weight, x)
    for found, gradient in zip(of_each(weight.to(there), x.to(there)), expected):
        assert found.is_cuda
        keyway.testing.assert_close(found.cpu(), gradient)
    drawn = keyway.vmap(lambda row: row + keyway.rand(3, device=there), randomness="same")(x.to(there)).cpu() - x
    keyway.testing.assert_close(drawn, drawn[:1].expand(5, 3))
