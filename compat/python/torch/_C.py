"""The extension module: Keyway's names, and what packages take from PyTorch's that Keyway has in Python."""

import types

from keyway import _C


def _parse_to(*args, **kwargs):
    """What arguments of `to` ask for: a device, a dtype, non_blocking and a memory format."""
    from keyway.nn.modules.module import _conversion

    asked = _conversion(*args, **kwargs)
    return asked.get("device"), asked.get("dtype"), asked.get("non_blocking", False), asked.get("memory_format")


_nn = types.SimpleNamespace(**vars(_C._nn), _parse_to=_parse_to)


def __getattr__(name):
    return getattr(_C, name)


def __dir__():
    return sorted({*globals(), *dir(_C)})
