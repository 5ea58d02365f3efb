"""Device types that come with packages and plug-ins, and what Python has for each of them: a module, and methods."""

from __future__ import annotations

import importlib
import re
import sys
import threading
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from keyway import _C
from keyway._C import Tensor, _devices

if TYPE_CHECKING:
    import importlib.metadata

    from keyway.types import Device

C = TypeVar("C", bound=type)

ENTRY_POINTS = "keyway.backends"
"""The group of entry points by which an installed package brings a backend: the name is that of the device type, the object
a function without arguments that loads the plug-in."""

_lock = threading.RLock()
_modules: dict[str, ModuleType] = {}
_attached: list[str] = []  # names of device types
_classes: list[type] = []  # which have a method for each of them
_loading: set[str] = set()


def is_there(device_type: str) -> bool:
    """Whether a device type is known, or can be brought: by libkeyway_<name>.so in a folder of KEYWAY_PLUGIN_PATH, else by
    an installed package's entry point. Raises keyway.RegistrationError where a package has one that fails."""
    if re.fullmatch("[a-z][a-z0-9_]*", device_type) is None:
        return False
    with _lock:
        if _devices.is_known(device_type) or _devices.load_backend(device_type):
            return True
        if device_type not in _loading:
            from importlib import metadata  # which takes longer to import than keyway has time

            _loading.add(device_type)
            try:
                for entry in metadata.entry_points(group=ENTRY_POINTS, name=device_type):
                    _load(entry)
            finally:
                _loading.remove(device_type)
        return _devices.is_known(device_type)


def _load(entry: importlib.metadata.EntryPoint) -> None:
    package = "" if entry.dist is None else f" of {entry.dist.name}"
    try:
        entry.load()()
    except Exception as error:
        raise _C.RegistrationError(f"the backend of device type {entry.name} was not loaded: its entry point "
                                   f"{entry.value}{package} failed: {error}") from error
    if not _devices.is_known(entry.name):
        raise _C.RegistrationError(f"the entry point {entry.value}{package} has loaded no backend of device type "
                                   f"{entry.name}")


# --- Modules


def get_device_module(device: Device | None = None) -> ModuleType:
    """The module of a device's type, as keyway.cuda; by default of keyway.accelerator's.

    Raises keyway.Error for a device type that is not known, and that nobody brings.
    """
    device_type = _devices.accelerator() if device is None else _C.device(device).type
    if device_type == "cuda":
        return importlib.import_module("keyway.cuda")
    from keyway._device_module import DeviceModule

    return _modules.setdefault(device_type, DeviceModule(device_type))


class _Finder:
    """Finds keyway.<name> of a device type, so that it can be imported."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if package != "keyway" or name.startswith("_") or not is_there(name):
            return None
        return ModuleSpec(fullname, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return get_device_module(spec.name.rpartition(".")[2])

    def exec_module(self, module: ModuleType) -> None:
        """It is complete."""


sys.meta_path.append(_Finder())

# --- Methods


def with_device_methods(kind: C) -> C:
    """Gives a class that has to() a method for each device type that plug-ins bring, as cuda(), and Tensor a property, as
    is_cuda; those of types that become known later too. What the class has by that name stays."""
    with _lock:
        _classes.append(kind)
        for device_type in _attached:
            _attach_to(kind, device_type)
    return kind


def attach(device_type: str) -> None:
    """Called once for each device type that becomes known."""
    with _lock:
        _attached.append(device_type)
        for kind in _classes:
            _attach_to(kind, device_type)


def _attach_to(kind: type, device_type: str) -> None:
    def to_device(self: Any, device: Device | None = None, **options: Any) -> Any:
        where = _C.device(device_type, device) if isinstance(device, int) else _C.device(device or device_type)
        if where.type != device_type:
            raise _C.ValueError(f"{device_type}(): {where} is no device of type {device_type}")
        return self.to(where, **options)

    to_device.__name__ = to_device.__qualname__ = device_type
    to_device.__doc__ = f"What to() gives for a device of type {device_type}, by default the current one."
    is_of_type = property(lambda self: self.device.type == device_type,
                          doc=f"Whether the data lies on a device of type {device_type}.")
    attributes: dict[str, Any] = {device_type: to_device}
    if kind is Tensor:
        attributes[f"is_{device_type}"] = is_of_type
    for name, attribute in attributes.items():
        if not hasattr(kind, name):
            setattr(kind, name, attribute)
