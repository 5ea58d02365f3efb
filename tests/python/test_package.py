"""The package: its version, what its import costs, and what an installed one is made of."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import keyway
import pytest
from keyway._tensor.attach import attach

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(keyway.__file__).parents[2]


def python(program, **environment):
    """What a program prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_version_is_that_of_the_library():
    assert keyway.__version__ == re.search(r"project\(keyway VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]


def test_every_file_of_tests_is_run():
    folder = SOURCE / "tests" / "python"
    listed = re.findall(r"^    (test_\w+)$", (folder / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(file.stem for file in folder.glob("test_*.py"))


def test_the_package_has_types():
    assert (Path(keyway.__file__).parent / "py.typed").exists()


EVERY_MODULE = """
import importlib, pkgutil, keyway
for module in pkgutil.walk_packages(keyway.__path__, "keyway."):
    importlib.import_module(module.name)
assert keyway.Tensor.to.__doc__ is None  # texts are left out
"""


def test_every_module_is_imported_where_python_leaves_out_docstrings():
    subprocess.run([sys.executable, "-B", "-OO", "-c", EVERY_MODULE], check=True)


def test_what_is_attached_without_a_docstring_is_refused_by_name():
    def _there(self):
        """A text."""

    def _missing(self):
        pass

    class Some:
        pass

    attach(Some, there=_there)
    assert Some.there.__name__ == "there" and Some.there.__doc__ == "A text."
    with pytest.raises(TypeError, match="Some.missing has no docstring: write one in _missing of .*test_package"):
        attach(Some, missing=_missing)


COST_OF_IMPORT = """
import sys, time
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
before, begin = resident(), time.process_time()
import {module}
print(time.process_time() - begin, resident() - before, "numpy" in sys.modules)
"""


def cost_of_import(module):
    """The least seconds and bytes of five processes, and whether one has NumPy."""
    path = str(Path(keyway.__file__).parents[1])
    runs = [python(COST_OF_IMPORT.format(module=module), PYTHONPATH=path).split() for _ in range(5)]
    return min(float(seconds) for seconds, _, _ in runs), min(int(size) for _, size, _ in runs), any("True" in run for run in runs)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_import_costs_less_than_two_of_asyncio_and_40_mb_and_imports_no_numpy():
    seconds, size, has_numpy = cost_of_import("keyway")
    assert seconds < 2 * cost_of_import("asyncio")[0]  # 30 ms each; a slow machine is slow at both
    assert size < 40e6 and not has_numpy


INSTALLED = """
import keyway
from pathlib import Path
assert keyway.add(keyway.ones(2), 1).sum().item() == 4
libraries = {line.split()[-1] for line in open("/proc/self/maps") if "libkeyway" in line}
print(keyway.__file__, *libraries, keyway.cmake_prefix_path, keyway.include_path)
assert list(Path(keyway.cmake_prefix_path).glob("*/cmake/keyway/keyway-config.cmake"))
assert (Path(keyway.include_path) / "keyway/keyway.h").exists()
"""


@pytest.mark.skipif(not (BUILD / "CMakeCache.txt").exists(), reason="the package is no build folder's")
def test_an_installed_package_runs_on_its_own_library_and_has_what_plugins_are_built_with(tmp_path):
    root = tmp_path / "keyway"
    shutil.copytree(SOURCE / "python/keyway", root, ignore=shutil.ignore_patterns("__pycache__"))
    for component in ("Unspecified", "python"):  # those of pyproject.toml
        subprocess.run(["cmake", "--install", BUILD, "--prefix", root, "--component", component], check=True,
                       stdout=subprocess.DEVNULL)
    for path in python(INSTALLED, PYTHONPATH=str(tmp_path)).split():
        assert Path(path).is_relative_to(root)
    assert (root / "_C/_operators.pyi").exists() and (root / "return_types.pyi").exists()
    # A wheel has no links: each library is there once, and CMake's targets name that file.
    (targets,) = root.glob("lib*/cmake/keyway/keyway-targets-*.cmake")
    for library in ("keyway", "keyway_graph"):
        (file,) = root.glob(f"lib*/lib{library}.so*")
        named = re.findall(rf"\$\{{_IMPORT_PREFIX\}}/([^\s\"]*lib{library}\.so[^\s\"]*)", targets.read_text())
        assert {root / name for name in named} == {file}
