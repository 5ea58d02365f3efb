"""Modules of a package that are imported when they are first asked for: `import keyway` does not wait for them."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Callable


def submodules(package: str, *names: str) -> Callable[[str], ModuleType]:
    """The __getattr__ of a package for its modules of these names."""

    def load(name: str) -> ModuleType:
        if name in names:
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load
