"""Devices of whatever type the program has: functions of keyway.cuda and its like for the current accelerator.

That is CUDA where there is a device of it, else the first type with devices that a plug-in brought.

>>> device = keyway.accelerator.current_accelerator() or keyway.device("cpu")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keyway import _C
from keyway._backends import get_device_module
from keyway._C import Stream, _devices

if TYPE_CHECKING:
    from keyway.types import Device

__all__ = [
    "current_accelerator", "current_device_index", "current_stream", "device_count", "device_index", "empty_cache",
    "is_available", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_peak_memory_stats", "set_device_index", "set_stream", "synchronize",
]


def current_accelerator(check_available: bool = False) -> _C.device | None:
    """The accelerator's type as a device without an index; None where there is no device but the CPU. Keyway asks the
    backend in any case, whatever `check_available` says."""
    return _C.device(_devices.accelerator()) if is_available() else None


def is_available() -> bool:
    """Whether there is an accelerator."""
    return device_count() > 0


def device_count() -> int:
    """How many devices of its type there are; 0 without one."""
    return _devices.device_count(_devices.accelerator())


def current_device_index() -> int:
    """The index of the thread's current device."""
    return _devices.current_device(_devices.accelerator())


def set_device_index(device: Device) -> None:
    """Makes a device the thread's current one."""
    _devices.set_device(_devices.accelerator(), device)


def device_index(device: int | None) -> Any:
    """A context manager that makes a device current; with None it changes nothing."""
    return get_device_module().device(device)


def current_stream(device: Device | None = None) -> Stream:
    """The stream that the thread's work on a device is queued to."""
    return _devices.current_stream(_devices.accelerator(), device)


def set_stream(stream: Stream) -> None:
    """Makes a stream and its device current for the thread."""
    _devices.set_stream(stream)


def synchronize(device: Device | None = None) -> None:
    """Waits for all work on a device, by default the current one."""
    _devices.synchronize(_devices.accelerator(), device)


def empty_cache() -> None:
    """Gives the devices what is kept for reuse and nobody uses."""
    get_device_module().empty_cache()


def memory_stats(device: Device | None = None) -> dict[str, int]:
    """What the memory of a device is used for, as keyway.cuda.memory_stats says."""
    return _devices.memory_stats(_devices.accelerator(), device)


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
    _devices.reset_peak_memory_stats(_devices.accelerator(), device)
