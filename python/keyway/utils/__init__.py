"""What programs need around tensors."""

from typing import TYPE_CHECKING

from keyway import _lazy, _paths

cmake_prefix_path: str = f"{_paths.cmake_prefix_path};{_paths.compat_path}/python/torch/share/cmake"
"""For CMAKE_PREFIX_PATH: the folders where `find_package(keyway)`, and `find_package(Torch)` of sources that are written for
PyTorch, find this library."""

if TYPE_CHECKING:
    from keyway.utils import (
        checkpoint as checkpoint,
        cpp_extension as cpp_extension,
        data as data,
        dlpack as dlpack,
        python_dispatch as python_dispatch,
        tensorboard as tensorboard,
    )
else:
    __getattr__ = _lazy.submodules(
        __name__, "checkpoint", "cpp_extension", "data", "dlpack", "python_dispatch", "tensorboard")
