"""Where an installed package has what C++ users of the library need."""

from __future__ import annotations

from pathlib import Path

from keyway import _C

_root = Path(_C.__file__).parent

cmake_prefix_path: str = str(_root)
"""For CMAKE_PREFIX_PATH: the folder where `find_package(keyway)` finds the library that this package runs on."""

include_path: str = str(_root / "include")
"""The folder of the headers `<keyway/keyway.h>` and those below it."""
