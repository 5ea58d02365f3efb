"""CUDA devices under PyTorch's names: which is current, streams, events, graphs, and what their memory is used for.

>>> side = keyway.cuda.Stream()
>>> with keyway.cuda.stream(side):
...     y = x * 2
>>> keyway.cuda.current_stream().wait_stream(side)

Backward works in the streams of forward, and what passes between them waits; for its caller it is one call in the current
streams, as any other.

The functions are those that modules of all device types have: keyway.get_device_module. Graphs are CUDA's alone.

Without a device is_available() is False, seeds and empty_cache() do nothing, and what else is called raises
keyway.Error, which says why there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyway import _device_module
from keyway._C import _devices
from keyway._C._devices import CUDAGraph

__all__ = [
    "CUDAGraph", "Event", "Stream", "StreamContext", "current_device", "current_stream", "default_stream", "device",
    "device_count", "device_of", "empty_cache", "graph", "is_available", "is_current_stream_capturing", "manual_seed",
    "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_reserved", "memory_stats", "memory_summary", "reset_peak_memory_stats", "set_device",
    "set_per_process_memory_fraction", "set_stream", "stream", "synchronize",
]

_cuda = _device_module.DeviceModule("cuda")

if TYPE_CHECKING:
    from keyway._C import Event, Stream
else:
    Event, Stream = _cuda.Event, _cuda.Stream

StreamContext = _device_module.StreamContext
current_device = _cuda.current_device
current_stream = _cuda.current_stream
default_stream = _cuda.default_stream
device = _cuda.device
device_count = _cuda.device_count
device_of = _cuda.device_of
empty_cache = _cuda.empty_cache
is_available = _cuda.is_available
is_current_stream_capturing = _cuda.is_current_stream_capturing
manual_seed = _cuda.manual_seed
manual_seed_all = _cuda.manual_seed_all
max_memory_allocated = _cuda.max_memory_allocated
max_memory_reserved = _cuda.max_memory_reserved
mem_get_info = _cuda.mem_get_info
memory_allocated = _cuda.memory_allocated
memory_reserved = _cuda.memory_reserved
memory_stats = _cuda.memory_stats
memory_summary = _cuda.memory_summary
reset_peak_memory_stats = _cuda.reset_peak_memory_stats
set_device = _cuda.set_device
set_per_process_memory_fraction = _cuda.set_per_process_memory_fraction
set_stream = _cuda.set_stream
stream = _cuda.stream
synchronize = _cuda.synchronize


class graph:
    """A context manager that captures the work of its block instead of doing it, in `stream` or one that is there
    for captures alone, for `cuda_graph`, whose replay() does it. `pool` is the pool() of a graph that is never replayed
    at the same time. Waits for captures of other threads on the device.

    An exception in the block gives the capture up. Raises keyway.Error at the end if anything was refused meanwhile.
    """

    def __init__(self, cuda_graph: CUDAGraph, pool: int | None = None, stream: Stream | None = None) -> None:
        self._graph = cuda_graph
        self._pool = pool
        self._stream = stream
        self._capture: _devices.Capture | None = None

    def __enter__(self) -> None:
        self._capture = _devices.Capture(self._graph, self._pool, self._stream)

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        capture, self._capture = self._capture, None
        if capture is not None:
            capture.exit(kind is None)
