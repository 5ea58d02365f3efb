"""CUDA devices under PyTorch's names: which is current, streams, events, graphs, and what their memory is used for.

>>> side = keyway.cuda.Stream()
>>> with keyway.cuda.stream(side):
...     y = x * 2
>>> keyway.cuda.current_stream().wait_stream(side)

Backward works in the streams of forward, and what passes between them waits; for its caller it is one call in the current
streams, as any other.

Without a device is_available() is False, seeds and empty_cache() do nothing, and what else is called raises
keyway.Error, which says why there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyway._C import Tensor, _cuda
from keyway._C._cuda import CUDAGraph, Event, Stream
from keyway.random import seed_number as _seed_number

if TYPE_CHECKING:
    from keyway.types import Device

__all__ = [
    "CUDAGraph", "Event", "Stream", "StreamContext", "current_device", "current_stream", "default_stream", "device",
    "device_count", "device_of", "empty_cache", "graph", "is_available", "is_current_stream_capturing", "manual_seed",
    "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_reserved", "memory_stats", "memory_summary", "reset_peak_memory_stats", "set_device",
    "set_per_process_memory_fraction", "set_stream", "stream", "synchronize",
]

# --- Devices


def is_available() -> bool:
    """Whether there is a CUDA device and the backend for it."""
    return device_count() > 0


def device_count() -> int:
    """How many CUDA devices there are."""
    return _cuda.device_count()


def current_device() -> int:
    """The index of the thread's current device."""
    return _cuda.current_device()


def set_device(device: Device) -> None:
    """Makes a device the thread's current one."""
    _cuda.set_device(device)


def synchronize(device: Device | None = None) -> None:
    """Waits for all work on a device, by default the current one."""
    _cuda.synchronize(device)


class _Guarded:
    """A context manager that may be entered several times, and keeps a guard for each."""

    def __init__(self) -> None:
        self._guards: list[_cuda.DeviceGuard | _cuda.StreamGuard | None] = []

    def __exit__(self, *exception: object) -> None:
        guard = self._guards[-1]
        if guard is not None:
            guard.exit()  # refuses another thread
        self._guards.pop()


class device(_Guarded):
    """A context manager that makes a device current; with None it changes nothing."""

    def __init__(self, device: Device | None) -> None:
        super().__init__()
        self._device = device

    def __enter__(self) -> None:
        self._guards.append(None if self._device is None else _cuda.DeviceGuard(self._device))


class device_of(device):
    """A context manager that makes the device of a tensor current, if that is a CUDA device."""

    def __init__(self, obj: Tensor) -> None:
        super().__init__(obj.device if obj.is_cuda else None)


# --- Streams


def current_stream(device: Device | None = None) -> Stream:
    """The stream that the thread's work on a device is queued to."""
    return _cuda.current_stream(device)


def default_stream(device: Device | None = None) -> Stream:
    """The stream that every device has."""
    return _cuda.default_stream(device)


def set_stream(stream: Stream) -> None:
    """Makes a stream and its device current for the thread; `with keyway.cuda.stream(...)` does it for a while."""
    _cuda.set_stream(stream)


class StreamContext(_Guarded):
    """A context manager that makes a stream current, and its device; with None it changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        super().__init__()
        self.stream = stream

    def __enter__(self) -> None:
        self._guards.append(None if self.stream is None else _cuda.StreamGuard(self.stream))


def stream(stream: Stream | None) -> StreamContext:
    """A context manager that makes a stream current, and its device; with None it changes nothing."""
    return StreamContext(stream)


# --- Graphs


class graph:
    """A context manager that captures the work of its block instead of doing it, in `stream` or a new one, for
    `cuda_graph`, whose replay() does it. `pool` is the pool() of a graph that is never replayed at the same time.

    An exception in the block gives the capture up. Raises keyway.Error at the end if anything was refused meanwhile.
    """

    def __init__(self, cuda_graph: CUDAGraph, pool: int | None = None, stream: Stream | None = None) -> None:
        self._graph = cuda_graph
        self._pool = pool
        self._stream = stream
        self._capture: _cuda.Capture | None = None

    def __enter__(self) -> None:
        self._capture = _cuda.Capture(self._graph, self._pool, self._stream)

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        capture, self._capture = self._capture, None
        if capture is not None:
            capture.exit(kind is None)


def is_current_stream_capturing() -> bool:
    """Whether a graph is being captured in the current stream."""
    return _cuda.is_current_stream_capturing()


# --- Memory


def memory_stats(device: Device | None = None) -> dict[str, int]:
    """What the memory of a device is used for, in bytes and calls, by PyTorch's names: requested_bytes is what tensors
    asked for, allocated_bytes the blocks that they got, active_bytes these and blocks that other streams may still use,
    reserved_bytes all that the device gave, each `.all.current` and `.all.peak`; how often memory was allocated and
    freed, and asked of the device; caches given up for a request (num_alloc_retries), requests refused (num_ooms)."""
    return _cuda.memory_stats(device)


def memory_summary(device: Device | None = None) -> str:
    """The same as a table for people."""
    return _cuda.memory_summary(device)


def memory_allocated(device: Device | None = None) -> int:
    """The bytes that tensors have."""
    return memory_stats(device)["allocated_bytes.all.current"]


def max_memory_allocated(device: Device | None = None) -> int:
    """The most that they had since the beginning, or since reset_peak_memory_stats()."""
    return memory_stats(device)["allocated_bytes.all.peak"]


def memory_reserved(device: Device | None = None) -> int:
    """The bytes that the device gave, with what is kept for reuse."""
    return memory_stats(device)["reserved_bytes.all.current"]


def max_memory_reserved(device: Device | None = None) -> int:
    """The most that it gave since the beginning, or since reset_peak_memory_stats()."""
    return memory_stats(device)["reserved_bytes.all.peak"]


def reset_peak_memory_stats(device: Device | None = None) -> None:
    """Lets peaks begin anew from what is held now."""
    _cuda.reset_peak_memory_stats(device)


def mem_get_info(device: Device | None = None) -> tuple[int, int]:
    """The bytes of the device's memory that no process uses, and all that it has. What is kept here for reuse counts as
    used."""
    return _cuda.mem_get_info(device)


def empty_cache() -> None:
    """Gives the devices what is kept for reuse and nobody uses. Raises keyway.Error while a graph is being captured."""
    if is_available():
        _cuda.empty_cache()


def set_per_process_memory_fraction(fraction: float, device: Device | None = None) -> None:
    """Refuses requests beyond this part of a device's memory, in (0, 1], with keyway.OutOfMemoryError."""
    _cuda.set_per_process_memory_fraction(fraction, device)


# --- Random numbers


def manual_seed(seed: int) -> None:
    """Begins the sequence of `seed` on the current device."""
    if is_available():
        _cuda.manual_seed(None, _seed_number(seed))


def manual_seed_all(seed: int) -> None:
    """Begins the sequence of `seed` on every device."""
    for index in range(device_count()):
        _cuda.manual_seed(index, _seed_number(seed))
