"""Where the package has what C++ users of the library need."""

from __future__ import annotations

import os

from keyway import _C

cmake_prefix_path: str = os.path.dirname(_C.__file__)
"""For CMAKE_PREFIX_PATH: the folder where `find_package(keyway)` finds the library that this package runs on, installed or in a
build folder."""

include_path: str = os.path.join(cmake_prefix_path, "include")
"""Where an installed package has the headers `<keyway/keyway.h>` and those below it. A build folder has written and
generated ones in two places, which its CMake package knows."""
