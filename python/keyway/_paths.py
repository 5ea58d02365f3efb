"""Where the package has what C++ users of the library need."""

from __future__ import annotations

import os

from keyway import _C

cmake_prefix_path: str = os.path.dirname(_C.__file__)
"""For CMAKE_PREFIX_PATH: the folder where `find_package(keyway)` finds the library that this package runs on, installed or in a
build folder."""

include_path: str = os.path.join(cmake_prefix_path, "include")
"""Where the package has the headers `<keyway/keyway.h>` and those below it. In a build folder these are the written ones, and
`generated` beside it has the generated ones."""

compat_path: str = os.path.join(cmake_prefix_path, "share", "keyway", "compat")
"""For sources that are written for PyTorch: `include` has headers under PyTorch's names, `python` a package `torch`."""
