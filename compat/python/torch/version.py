"""What the package was built with."""

import os
import re

import keyway

__version__ = "2.7.0"  # the version whose C++ interface compat/include spells
hip = None


def _cuda():
    """That of the toolkit that extensions are compiled with; None without a device, as for a PyTorch without CUDA."""
    from keyway.utils.cpp_extension import CUDA_HOME

    if CUDA_HOME is None or not keyway.cuda.is_available():
        return None
    with open(os.path.join(CUDA_HOME, "include", "cuda.h")) as file:
        number = int(re.search(r"#define CUDA_VERSION (\d+)", file.read()).group(1))
    return f"{number // 1000}.{number % 1000 // 10}"


cuda = _cuda()
