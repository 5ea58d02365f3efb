"""Where the package has what C++ users of the library need."""

from __future__ import annotations

import os
from glob import glob

from keyway import _C

cmake_prefix_path: str = os.path.dirname(_C.__file__)
"""For CMAKE_PREFIX_PATH: the folder where `find_package(keyway)` finds the library that this package runs on, installed or in a
build folder."""

include_path: str = os.path.join(cmake_prefix_path, "include")
"""Where the package has the headers `<keyway/keyway.h>` and those below it. In a build folder these are the written ones, and
`generated` beside it has the generated ones."""

include_paths: list[str] = [path for name in ("include", "generated") if os.path.isdir(path := os.path.join(cmake_prefix_path, name))]
"""What a compiler needs to find all of Keyway's headers."""

compat_path: str = os.path.join(cmake_prefix_path, "share", "keyway", "compat")
"""For sources that are written for PyTorch: `include` has headers under PyTorch's names, `python` a package `torch`."""

library: str = next(iter(glob(os.path.join(cmake_prefix_path, "lib*", "libkeyway.so.*"))), "")
"""The shared library that the package runs on."""
