#!/usr/bin/env python3
"""Builds extensions that are written for PyTorch over Keyway, and runs the tests of this folder over them.

    PYTHONPATH=build/release/python build/venv/bin/python tests/compat/extensions/run.py [torch_scatter ...]

The sources are those of PyPI, named by version and hash, and nothing of them is changed. They are compiled, as are their
requirements installed, within --work, where a later run finds them. Some have tests of their own, which are run as they are.
nvcc compiles the CUDA sources of torchsort and torch_discounted_cumsum where it is in the path; the other extensions are built
for the CPU. With --peer PYTHON, one that has PyTorch, everything is for PyTorch
instead: the tests pass there too, or they are wrong.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUIREMENTS = ["cmake", "ninja", "numba", "numpy", "packaging", "parameterized", "pybind11", "pytest", "scipy", "setuptools",
                "tqdm", "wheel"]


@dataclasses.dataclass(frozen=True)
class Extension:
    name: str
    version: str
    sha256: str
    tests: tuple[str, ...] = ()  # of this folder
    own: tuple[str, ...] = ()  # of the extension's sources: files or folders
    choice: str = ""  # of those, as pytest's -k has it
    needs: tuple[str, ...] = ()


EXTENSIONS = [
    Extension("torch_scatter", "2.1.2", "69b3aa435f2424ac6a1bfb6ff702da6eb73b33ca0db38fb26989c74159258e47", ("test_scatter.py",)),
    Extension("torch_cluster", "1.6.3", "78d5a930a5bbd0d8788df8c6d66addd68d6dd292fe3edb401e3dacba26308152", ("test_cluster.py",)),
    Extension("torch_spline_conv", "1.2.2", "ed45a81da29f774665dbdd4709d7e534cdf16d2e7006dbd06957f35bd09661b2",
              ("test_spline_conv.py",)),
    Extension("torch_sparse", "0.6.18", "2f14c510a6e93f404c6ea357210615b3c15a71731f9dbd86f25434e34fb5a741",
              ("test_sparse.py", "test_sparse_products.py", "test_sparse_samples.py"), needs=("torch_scatter",)),
    Extension("torchlpc", "0.7.2", "260a765645cdf0112d3fcfcebc41d11855ac52264b3185f24068ad873b1b0be3", ("test_lpc.py",)),
    Extension("torchsort", "0.1.10", "416a7dd2ab88332b27e98318d7fb2e0243b9fb6f1fffcf77760d63103d70dd04", ("test_sort.py",)),
    Extension("fast_rnnt", "1.3", "e8758e43e074daec17cbb8fd4c50026045b3b35ed88728854fdbe3590087f0a9", ("test_rnnt.py",)),
    Extension("pytorch_fast_transformers", "0.4.0", "d1826bc31b9dfbcd018998b897667e89fc6566bd3f8c424cda9f0943544f7e90",
              own=("tests",), choice="not gpu"),
    Extension("torch_discounted_cumsum", "1.1.0", "34e6a7e10f416a7aa84e5fb4e00d6a84a0cfbb0a68bcf22a3434488360f0ea37",
              own=("tests/test.py",)),
    Extension("torch_harmonics", "0.8.0", "b44340184416283a3636640a9050c2187515d6bd9858fa0421b048b66465f773",
              own=("tests/test_attention.py", "tests/test_cache.py", "tests/test_sht.py")),
]


class Workplace:
    """An environment with what extensions and tests need, and a folder into which the extensions go."""

    def __init__(self, folder: Path, peer: str | None) -> None:
        self.folder = folder
        self.site = folder / "site"
        self.python = str(folder / "venv/bin/python")
        self.environment = {**os.environ, "FORCE_ONLY_CPU": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        paths = [str(self.site)]
        if peer is None:
            import keyway

            paths += [str(Path(keyway.__file__).absolute().parents[1]), f"{keyway.compat_path}/python"]
        else:
            paths.append(subprocess.check_output(
                [peer, "-c", "import pathlib, torch; print(pathlib.Path(torch.__file__).parents[1])"], text=True).strip())
        self.environment["PYTHONPATH"] = os.pathsep.join(paths)
        self.environment["PATH"] = f"{folder / 'venv/bin'}{os.pathsep}{os.environ['PATH']}"

    def prepare(self) -> None:
        if not Path(self.python).exists():
            subprocess.check_call([sys.executable, "-m", "venv", str(self.folder / "venv")])
            subprocess.check_call([self.python, "-m", "pip", "install", "--quiet", *REQUIREMENTS])

    def pip(self, log: Path, *arguments: str) -> None:
        with log.open("w") as output:
            done = subprocess.run([self.python, "-m", "pip", *arguments], env=self.environment, stdout=output,
                                  stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            errors = [line for line in log.read_text().splitlines() if re.search(r"error[: ]", line, re.IGNORECASE)]
            raise SystemExit("\n".join([f"run.py: {' '.join(arguments)} failed; {log} has it all:", *errors[:10]]))

    def sources(self, name: str, requirement: str) -> Path:
        """The folder into which the source archive that a line of requirements names was unpacked."""
        folder = self.folder / "sources" / name
        if not folder.exists():
            (self.folder / f"{name}.txt").write_text(requirement + "\n")
            fetched = self.folder / "fetched" / name
            self.pip(self.folder / f"{name}.log", "download", "--no-deps", "--no-build-isolation", "--no-binary", ":all:",
                     "--dest", str(fetched), "-r", str(self.folder / f"{name}.txt"))
            [archive] = fetched.iterdir()
            shutil.unpack_archive(archive, fetched / "unpacked")
            [unpacked] = (fetched / "unpacked").iterdir()
            folder.parent.mkdir(exist_ok=True)
            unpacked.rename(folder)
        return folder

    def sources_of(self, extension: Extension) -> Path:
        return self.sources(extension.name,
                            f"{extension.name}=={extension.version} --hash=sha256:{extension.sha256}")

    def build(self, extension: Extension) -> None:
        if extension.name == "fast_rnnt":
            self.environment["FT_CMAKE_ARGS"] = " ".join([
                "-DCMAKE_BUILD_TYPE=Release", "-DFT_BUILD_TESTS=OFF", "-DFT_WITH_CUDA=OFF", "-DCMAKE_CXX_STANDARD=20",
                # It compiles pybind11 with itself, and would fetch an old version that CMake 4 refuses.
                f"-DFETCHCONTENT_SOURCE_DIR_PYBIND11={self.sources('pybind11', 'pybind11')}"])
        started = time.monotonic()
        shutil.rmtree(self.folder / "wheels", ignore_errors=True)
        sources = self.sources_of(extension)
        self.pip(self.folder / f"{extension.name}.log", "wheel", "--verbose", "--no-deps", "--no-build-isolation",
                 "--no-cache-dir", "--wheel-dir", str(self.folder / "wheels"), str(sources))
        [wheel] = (self.folder / "wheels").iterdir()
        self.pip(self.folder / "install.log", "install", "--no-deps", "--upgrade", "--target", str(self.site), str(wheel))
        print(f"{extension.name} {extension.version}: built in {time.monotonic() - started:.0f} s", flush=True)

    def is_built(self, extension: Extension) -> bool:
        return (self.site / f"{extension.name}-{extension.version}.dist-info").exists()

    def test(self, extension: Extension) -> bool:
        passed = True
        if extension.tests:
            passed = self.pytest(extension, HERE, [str(HERE / file) for file in extension.tests])
        if extension.own:
            # From a copy of the tests alone: beside the sources, these would be imported in place of what was built.
            folder = self.folder / "own_tests" / extension.name
            shutil.rmtree(folder, ignore_errors=True)
            for path in extension.own:
                source, copy = self.sources_of(extension) / path, folder / path
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
            passed = self.pytest(extension, folder, [*extension.own, "-k", extension.choice]) and passed
        return passed

    def pytest(self, extension: Extension, folder: Path, arguments: list[str]) -> bool:
        command = [self.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(command, env=self.environment, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
        said = done.stdout if done.returncode else done.stdout.splitlines()[-1]
        print(f"{extension.name}{'' if folder == HERE else ', its own tests'}: {said}", flush=True)
        return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="the extensions; all, if none is named")
    parser.add_argument("--work", type=Path, default=Path("build/extensions"), help="the folder for everything that is made")
    parser.add_argument("--rebuild", action="store_true", help="build again what was built before")
    parser.add_argument("--peer", metavar="PYTHON", help="a Python that has PyTorch, which then takes Keyway's place")
    options = parser.parse_args()
    known = {extension.name: extension for extension in EXTENSIONS}
    for name in set(options.names) - set(known):
        parser.error(f"{name} is none of {', '.join(known)}")
    wanted = [known[name] for name in options.names or known]
    options.work.mkdir(parents=True, exist_ok=True)
    place = Workplace(options.work.resolve(), options.peer)
    place.prepare()
    for extension in dict.fromkeys(known[name] for one in wanted for name in (*one.needs, one.name)):
        if options.rebuild or not place.is_built(extension):
            place.build(extension)
    failed = [extension.name for extension in wanted if not place.test(extension)]
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
