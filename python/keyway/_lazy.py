"""Modules of a package that are imported when they are first asked for: `import keyway` does not wait for them."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Callable


def _no_others(name: str) -> bool:
    return False


def submodules(package: str, *names: str, others: Callable[[str], bool] = _no_others) -> Callable[[str], ModuleType]:
    """The __getattr__ of a package for its modules of these names, and of those for which `others` is true."""

    def load(name: str) -> ModuleType:
        if name in names or others(name):
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load
