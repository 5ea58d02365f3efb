"""Modules of device types: keyway.cuda is one, and keyway.<name> of a type that a plug-in brings is another."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from keyway._C import Event, Stream, Tensor, _devices
from keyway.random import seed_number

if TYPE_CHECKING:
    from keyway.types import Device


class _Guarded:
    """A context manager that may be entered several times, and keeps a guard for each."""

    def __init__(self) -> None:
        self._guards: list[_devices.DeviceGuard | _devices.StreamGuard | None] = []

    def __exit__(self, *exception: object) -> None:
        guard = self._guards[-1]
        if guard is not None:
            guard.exit()  # refuses another thread
        self._guards.pop()


class DeviceContext(_Guarded):
    """A context manager that makes a device current; without one it changes nothing."""

    def __init__(self, device_type: str, device: Device | None) -> None:
        super().__init__()
        self._device_type = device_type
        self._device = device

    def __enter__(self) -> None:
        self._guards.append(None if self._device is None else _devices.DeviceGuard(self._device_type, self._device))


class StreamContext(_Guarded):
    """A context manager that makes a stream current, and its device; with None it changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        super().__init__()
        self.stream = stream

    def __enter__(self) -> None:
        self._guards.append(None if self.stream is None else _devices.StreamGuard(self.stream))


class _OfType(type):
    """A class whose instances are the streams, or the events, of one type of device."""

    kind: type
    device_type: str

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        make = _devices.stream if cls.kind is Stream else _devices.event
        return make(cls.device_type, *arguments, **named)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (Stream, Event)) and isinstance(value, cls.kind) and value.device.type == cls.device_type

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.kind, name)

    def __dir__(cls) -> list[str]:
        return dir(cls.kind)


def _class_of(kind: type, device_type: str) -> Any:
    made = _OfType(kind.__name__, (), {"__doc__": f"{kind.__doc__}\n\nThis one is for devices of type {device_type}.",
                                       "__module__": f"keyway.{device_type}"})
    made.kind, made.device_type = kind, device_type
    return made


class DeviceModule(ModuleType):
    """What is asked of the devices of one type, under the names that PyTorch has for CUDA's.

    >>> side = keyway.npu.Stream()
    >>> with keyway.npu.stream(side):
    ...     y = x * 2
    >>> keyway.npu.current_stream().wait_stream(side)

    Without a device is_available() is False, seeds and empty_cache() do nothing, and what else is called raises
    keyway.Error, which says why there is none.
    """

    def __init__(self, device_type: str) -> None:
        super().__init__(f"keyway.{device_type}", DeviceModule.__doc__)
        self._type = device_type
        # keyway.Stream and keyway.Event, of this type: Stream(device=None, priority=0) and Event(enable_timing=False).
        self.Stream: Any = _class_of(Stream, device_type)
        self.Event: Any = _class_of(Event, device_type)
        self.StreamContext = StreamContext

    def __repr__(self) -> str:
        return f"<module 'keyway.{self._type}', devices of type {self._type}>"

    # --- Devices

    def is_available(self) -> bool:
        """Whether there is a device of the type and the backend for it."""
        return self.device_count() > 0

    def device_count(self) -> int:
        """How many devices of the type there are."""
        return _devices.device_count(self._type)

    def current_device(self) -> int:
        """The index of the thread's current device."""
        return _devices.current_device(self._type)

    def set_device(self, device: Device) -> None:
        """Makes a device the thread's current one."""
        _devices.set_device(self._type, device)

    def synchronize(self, device: Device | None = None) -> None:
        """Waits for all work on a device, by default the current one."""
        _devices.synchronize(self._type, device)

    def device(self, device: Device | None) -> DeviceContext:
        """A context manager that makes a device current; with None it changes nothing."""
        return DeviceContext(self._type, device)

    def device_of(self, obj: Tensor) -> DeviceContext:
        """A context manager that makes the device of a tensor current, if it is of this type."""
        return DeviceContext(self._type, obj.device if obj.device.type == self._type else None)

    # --- Streams

    def current_stream(self, device: Device | None = None) -> Stream:
        """The stream that the thread's work on a device is queued to."""
        return _devices.current_stream(self._type, device)

    def default_stream(self, device: Device | None = None) -> Stream:
        """The stream that every device has."""
        return _devices.default_stream(self._type, device)

    def set_stream(self, stream: Stream) -> None:
        """Makes a stream and its device current for the thread; `with stream(...)` does it for a while."""
        _devices.set_stream(stream)

    def stream(self, stream: Stream | None) -> StreamContext:
        """A context manager that makes a stream current, and its device; with None it changes nothing."""
        return StreamContext(stream)

    def is_current_stream_capturing(self) -> bool:
        """Whether a graph is being captured in the current stream."""
        return _devices.is_current_stream_capturing(self._type)

    # --- Memory

    def memory_stats(self, device: Device | None = None) -> dict[str, int]:
        """What the memory of a device is used for, in bytes and calls, by PyTorch's names: requested_bytes is what
        tensors asked for, allocated_bytes the blocks that they got, active_bytes these and blocks that other streams may
        still use, reserved_bytes all that the device gave, each `.all.current` and `.all.peak`; how often memory was
        allocated and freed, and asked of the device; caches given up for a request (num_alloc_retries), requests refused
        (num_ooms). Raises keyway.Error where the type's allocator counts nothing."""
        return _devices.memory_stats(self._type, device)

    def memory_summary(self, device: Device | None = None) -> str:
        """The same as a table for people."""
        return _devices.memory_summary(self._type, device)

    def memory_allocated(self, device: Device | None = None) -> int:
        """The bytes that tensors have."""
        return self.memory_stats(device)["allocated_bytes.all.current"]

    def max_memory_allocated(self, device: Device | None = None) -> int:
        """The most that they had since the beginning, or since reset_peak_memory_stats()."""
        return self.memory_stats(device)["allocated_bytes.all.peak"]

    def memory_reserved(self, device: Device | None = None) -> int:
        """The bytes that the device gave, with what is kept for reuse."""
        return self.memory_stats(device)["reserved_bytes.all.current"]

    def max_memory_reserved(self, device: Device | None = None) -> int:
        """The most that it gave since the beginning, or since reset_peak_memory_stats()."""
        return self.memory_stats(device)["reserved_bytes.all.peak"]

    def reset_peak_memory_stats(self, device: Device | None = None) -> None:
        """Lets peaks begin anew from what is held now."""
        _devices.reset_peak_memory_stats(self._type, device)

    def mem_get_info(self, device: Device | None = None) -> tuple[int, int]:
        """The bytes of the device's memory that no process uses, and all that it has. What is kept here for reuse counts
        as used."""
        return _devices.mem_get_info(self._type, device)

    def empty_cache(self) -> None:
        """Gives the devices what is kept for reuse and nobody uses. Raises keyway.Error while a graph is being
        captured."""
        if self.is_available():
            _devices.empty_cache(self._type)

    def set_per_process_memory_fraction(self, fraction: float, device: Device | None = None) -> None:
        """Refuses requests beyond this part of a device's memory, in (0, 1], with keyway.OutOfMemoryError."""
        _devices.set_per_process_memory_fraction(self._type, fraction, device)

    # --- Random numbers

    def manual_seed(self, seed: int) -> None:
        """Begins the sequence of `seed` on the current device."""
        if self.is_available():
            _devices.default_generator(self._type, None).manual_seed(seed_number(seed))

    def manual_seed_all(self, seed: int) -> None:
        """Begins the sequence of `seed` on every device."""
        for index in range(self.device_count()):
            _devices.default_generator(self._type, index).manual_seed(seed_number(seed))
