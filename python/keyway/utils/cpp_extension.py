"""Extension modules of C++ and CUDA sources that are written for Keyway's headers, or for PyTorch's.

In a `setup.py`:

>>> from keyway.utils.cpp_extension import BuildExtension, CppExtension
>>> setup(name="my", ext_modules=[CppExtension("my._C", ["my.cpp"])], cmdclass={"build_ext": BuildExtension})

or at once:

>>> my = load(name="my", sources=["my.cpp"])

`<torch/extension.h>` and PyTorch's other headers are spellings of Keyway's; docs/porting.md says which there are. A module
whose functions are bound by `PYBIND11_MODULE` needs the package pybind11 where it is built. This module needs setuptools.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext

import keyway
from keyway import _C, _paths

__all__ = [
    "CUDA_HOME",
    "BuildExtension",
    "CUDAExtension",
    "CppExtension",
    "include_paths",
    "library_paths",
    "load",
    "load_inline",
]

# CUDA's operators and conversions of 16-bit floats would stand beside those of keyway::Half and keyway::BFloat16: what
# computes with these would be ambiguous. PyTorch leaves them out, too.
_CUDA_DEFINES = [
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
]
_CUDA_FLAGS = [*_CUDA_DEFINES, "-std=c++20", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-Xcompiler", "-fPIC"]


def _cuda_home() -> str | None:
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    if home is None and (nvcc := shutil.which("nvcc")) is not None:
        home = str(Path(nvcc).resolve().parents[1])
    return home


CUDA_HOME: str | None = _cuda_home()
"""The folder of CUDA's toolkit: that of the environment's CUDA_HOME or CUDA_PATH, or that of the `nvcc` in the path."""


def _required_cuda_home() -> str:
    if CUDA_HOME is None:
        raise _C.Error("CUDA sources need CUDA's toolkit: set CUDA_HOME to its folder, or have nvcc in the path")
    return CUDA_HOME


def include_paths(device_type: str = "cpu") -> list[str]:
    """The folders of headers to compile an extension with: Keyway's, those that spell PyTorch's, and for "cuda" those of
    CUDA's toolkit."""
    # A build folder has the generated headers beside the written ones.
    own = [_paths.include_path, os.path.join(_paths.cmake_prefix_path, "generated")]
    paths = [*filter(os.path.isdir, own), os.path.join(_paths.compat_path, "include")]
    if (pybind11 := importlib.util.find_spec("pybind11")) is not None and pybind11.origin is not None:
        paths.append(str(Path(pybind11.origin).parent / "include"))
    return [*paths, os.path.join(_required_cuda_home(), "include")] if device_type == "cuda" else paths


def _library() -> Path:
    """The shared library that this package runs on."""
    return next(Path(_paths.cmake_prefix_path).glob("lib*/libkeyway.so.*"))


def library_paths(device_type: str = "cpu") -> list[str]:
    """The folders of libraries to link an extension with; for "cuda" that of CUDA's toolkit, too."""
    return [str(_library().parent), *([os.path.join(_required_cuda_home(), "lib64")] if device_type == "cuda" else [])]


def _link_flags() -> list[str]:
    """The library, and that of graphs for an extension that uses them."""
    library = _library().name
    graphs = library.replace("libkeyway.so", "libkeyway_graph.so")
    return ["-Wl,--push-state,--as-needed", f"-l:{graphs}", "-Wl,--pop-state", f"-l:{library}"]


def _extended(given: Iterable[str] | None, more: Iterable[str]) -> list[str]:
    return [*(given or []), *more]


class _Extension(Extension):
    """One whose flags are those of each compiler: "cxx" and "nvcc"."""

    def __init__(self, name: str, sources: Sequence[str], flags: dict[str, list[str]], **kwargs: Any) -> None:
        super().__init__(name, list(sources), **kwargs)
        self.flags = flags


def CppExtension(name: str, sources: Sequence[str], **kwargs: Any) -> Extension:  # noqa: N802
    """A `setuptools.Extension` of C++ sources, with the folders and the library that Keyway's headers need. Further
    arguments are those of `Extension`; `extra_compile_args` may be a dict of lists for "cxx" and "nvcc"."""
    return _extension("cpu", name, sources, **kwargs)


def CUDAExtension(name: str, sources: Sequence[str], **kwargs: Any) -> Extension:  # noqa: N802
    """As `CppExtension`; sources may be `.cu` files, too, which nvcc compiles."""
    return _extension("cuda", name, sources, **kwargs)


def _extension(device_type: str, name: str, sources: Sequence[str], **kwargs: Any) -> _Extension:
    given = kwargs.pop("extra_compile_args", None) or []
    flags = given if isinstance(given, dict) else {"cxx": list(given)}
    kwargs["include_dirs"] = _extended(kwargs.get("include_dirs"), include_paths(device_type))
    kwargs["library_dirs"] = _extended(kwargs.get("library_dirs"), library_paths(device_type))
    if device_type == "cuda":
        kwargs["libraries"] = _extended(kwargs.get("libraries"), ["cudart"])
    kwargs["extra_link_args"] = _extended(kwargs.get("extra_link_args"), _link_flags())
    return _Extension(name, sources, flags, **{"language": "c++", **kwargs})


class BuildExtension(build_ext):
    """The `build_ext` command that compiles these extensions: as C++20, which Keyway's headers need, CUDA sources by
    nvcc."""

    no_python_abi_suffix = False

    @classmethod
    def with_options(cls, *, no_python_abi_suffix: bool = False, use_ninja: bool = True) -> type[BuildExtension]:
        """The command with other options. With `no_python_abi_suffix` files are called `name.so`. `use_ninja` is taken as
        PyTorch's setup files give it, and changes nothing."""
        return type(cls.__name__, (cls,), {"no_python_abi_suffix": no_python_abi_suffix})

    def get_ext_filename(self, fullname: str) -> Any:
        if self.no_python_abi_suffix:
            return os.path.join(*fullname.split(".")) + ".so"
        inherited: Any = super().get_ext_filename  # of no type in the stubs of setuptools
        return inherited(fullname)

    def build_extension(self, ext: Extension) -> None:
        if not isinstance(ext, _Extension):
            return super().build_extension(ext)
        define = f"-DTORCH_EXTENSION_NAME={ext.name.rpartition('.')[2]}"
        cxx = [*self._without_standard(ext.flags.get("cxx", [])), "-std=c++20", define]
        nvcc = [*_CUDA_FLAGS, *self._without_standard(ext.flags.get("nvcc", [])), *_architecture_flags(), define]
        compiler: Any = self.compiler
        compile_file = compiler._compile
        run = compiler.call if hasattr(compiler, "call") else compiler.spawn  # setuptools calls it so by now
        if ".cu" not in compiler.src_extensions:
            compiler.src_extensions.append(".cu")

        def compile_one(obj: str, src: str, suffix: str, cc_args: list[str], post: list[str], pp: list[str]) -> None:
            if suffix == ".cu":
                program = os.path.join(_required_cuda_home(), "bin", "nvcc")
                run([program, "-c", src, "-o", obj, "-MMD", "-MF", f"{obj}.d", *pp, *nvcc])
            else:
                compile_file(obj, src, suffix, cc_args, [*post, *cxx, "-MMD", "-MF", f"{obj}.d"], pp)

        compiler._compile = compile_one
        try:
            super().build_extension(ext)
        finally:
            compiler._compile = compile_file

    def _without_standard(self, flags: Iterable[str]) -> list[str]:
        kept = []
        for flag in flags:
            if flag.startswith(("-std=", "--std=")):
                self.announce(f"{flag} is left out: Keyway's headers need C++20", level=2)
            else:
                kept.append(flag)
        return kept


def _architecture_flags() -> list[str]:
    """For nvcc: the architectures of TORCH_CUDA_ARCH_LIST, as "8.0;9.0", else that of the devices, else nvcc's own."""
    listed = os.environ.get("TORCH_CUDA_ARCH_LIST", "").replace(";", " ").split()
    flags = []
    for name in listed:
        number = name.removesuffix("+PTX").replace(".", "")
        flags.append(f"-gencode=arch=compute_{number},code=sm_{number}")
        if name.endswith("+PTX"):
            flags.append(f"-gencode=arch=compute_{number},code=compute_{number}")
    if not listed and keyway.cuda.is_available():
        flags.append("-arch=native")
    return flags


def load(
    name: str,
    sources: str | Sequence[str],
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    is_python_module: bool = True,
) -> Any:
    """Builds sources and loads what comes of them: a module of Python, or, if it is not `is_python_module`, a library of
    operators, whose path is returned. It is built anew when a source, the flags or Keyway have changed. `build_directory`
    is a folder of the user's cache unless it is given. With `verbose` the compiler's commands are printed."""
    files = [sources] if isinstance(sources, str) else list(sources)
    if with_cuda is None:
        with_cuda = any(file.endswith(".cu") for file in files)
    extension = _extension(
        "cuda" if with_cuda else "cpu",
        name,
        [os.path.abspath(file) for file in files],
        include_dirs=[os.path.abspath(path) for path in extra_include_paths or []],
        extra_compile_args={"cxx": list(extra_cflags or []), "nvcc": list(extra_cuda_cflags or [])},
        extra_link_args=list(extra_ldflags or []),
    )
    folder = Path(build_directory or _cache_folder(name))
    library = folder / f"{name}.so"
    if not (library.is_file() and _is_current(extension, folder)):
        _build(extension, folder, verbose)
    if not is_python_module:
        keyway.ops.load_library(library)
        return str(library)
    spec = importlib.util.spec_from_file_location(name, library)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module


def load_inline(
    name: str,
    cpp_sources: str | Sequence[str],
    cuda_sources: str | Sequence[str] | None = None,
    functions: str | Sequence[str] | None = None,
    **kwargs: Any,
) -> Any:
    """As `load`, of sources that are given as text. `functions` are those of the C++ sources that the module is to have.
    The headers `<torch/extension.h>`, and for CUDA `<ATen/cuda/CUDAContext.h>`, are included before them."""
    cpp = [cpp_sources] if isinstance(cpp_sources, str) else list(cpp_sources)
    cuda = [cuda_sources] if isinstance(cuda_sources, str) else list(cuda_sources or [])
    names = [functions] if isinstance(functions, str) else list(functions or [])
    binding = [f'  m.def("{one}", &{one});' for one in names]
    cpp = ["#include <torch/extension.h>", *cpp, "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", *binding, "}", ""]
    folder = Path(kwargs.pop("build_directory", None) or _cache_folder(name))
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.cpp"]
    _write_if_other(files[0], "\n".join(cpp))
    if cuda:
        files.append(folder / f"{name}_cuda.cu")
        _write_if_other(files[1], "\n".join(["#include <torch/types.h>", "#include <ATen/cuda/CUDAContext.h>", *cuda, ""]))
    return load(name, [str(file) for file in files], build_directory=str(folder), **kwargs)


def _write_if_other(file: Path, text: str) -> None:
    """What did not change keeps its time, by which `load` knows."""
    if not file.is_file() or file.read_text() != text:
        file.write_text(text)


def _cache_folder(name: str) -> Path:
    root = os.environ.get("TORCH_EXTENSIONS_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "keyway", "extensions"
    )
    return Path(root) / f"py{sys.version_info.major}{sys.version_info.minor}" / name


def _flags(extension: _Extension) -> str:
    return repr((extension.include_dirs, extension.flags, extension.extra_link_args, extension.sources))


def _times(files: Iterable[str]) -> dict[str, int]:
    return {file: os.stat(file).st_mtime_ns if os.path.exists(file) else 0 for file in files}


def _is_current(extension: _Extension, folder: Path) -> bool:
    """Whether the last build had the same flags, and all files that it read are as they were."""
    try:
        flags, times = json.loads((folder / "build.json").read_text())
    except (OSError, ValueError):
        return False
    return bool(flags == _flags(extension) and times == _times(times))


def _files_read(rules: Iterable[Path]) -> Iterable[str]:
    """Those that the compiler's rules for make name."""
    for rule in rules:
        yield from shlex.split(rule.read_text().replace("\\\n", " ").partition(":")[2])


@contextmanager
def _commands_printed() -> Iterator[None]:
    """Within it the commands that setuptools runs, and logs, are printed."""
    log, handler = logging.getLogger(), logging.StreamHandler(sys.stdout)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)


def _build(extension: _Extension, folder: Path, verbose: bool) -> None:
    """Compiles beside the library and moves it to its place when it is whole, so that another process never loads half of
    one."""
    folder.mkdir(parents=True, exist_ok=True)
    command = BuildExtension.with_options(no_python_abi_suffix=True)(
        Distribution({"name": extension.name, "ext_modules": [extension]})
    )
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        command.build_lib = command.build_temp = scratch
        command.ensure_finalized()
        try:
            with _commands_printed() if verbose else nullcontext():
                command.run()
        except Exception as error:
            raise _C.Error(f"the extension '{extension.name}' was not built: see what the compiler says above") from error
        times = _times([str(_library()), *_files_read(Path(scratch).rglob("*.d"))])
        (folder / "build.json").unlink(missing_ok=True)
        os.replace(command.get_ext_fullpath(extension.name), folder / f"{extension.name}.so")
        (folder / "build.json").write_text(json.dumps([_flags(extension), times]))
