"""`import torch` for Python sources that are written for PyTorch: every name is that of keyway.

It is found only where its folder is put into PYTHONPATH, which is that of `keyway.compat_path`. A submodule, as
`torch.nn.functional`, is keyway's of that name, the same object. What only PyTorch has lies beside this file, or is an
AttributeError that says so. docs/porting.md says what differs."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import pkgutil
import sys

import keyway


class _Submodules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `torch.x` as `keyway.x`."""

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith("torch.") or fullname in _OWN or importlib.util.find_spec(_name(fullname)) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def exec_module(self, module):
        sys.modules[module.__name__] = importlib.import_module(_name(module.__name__))


# Modules that have other names here.
_RENAMED = {"torch.utils._python_dispatch": "torch._python_dispatch", "torch.utils._pytree": "torch._python_dispatch"}


def _name(fullname):
    return _RENAMED.get(fullname, "keyway" + fullname.removeprefix("torch"))


_OWN = {f"torch.{module.name}" for module in pkgutil.iter_modules(__path__)}
sys.meta_path.insert(0, _Submodules())

from torch import _C, _python_dispatch, backends, jit, version  # noqa: E402
from torch.version import __version__  # noqa: E402


def __getattr__(name):
    try:
        return getattr(keyway, name)
    except AttributeError:
        raise AttributeError(f"module 'torch' is that of Keyway, which has no '{name}'") from None


def __dir__():
    return sorted({*globals(), *dir(keyway)})
