#!/usr/bin/env python3
"""Installs a build into a scratch folder and looks at it as a user would: with nothing but the installed files."""

import argparse
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
options = None


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._scratch.cleanup)
        cls.scratch = Path(cls._scratch.name)
        cls.prefix = cls.scratch / "prefix"
        run("cmake", "--install", options.build, "--prefix", cls.prefix)
        cls.library = next(path for path in cls.prefix.rglob("libkeyway.so") if path.exists())

    def test_a_project_that_finds_the_package_builds_and_runs(self):
        build = self.scratch / "consumer"
        run("cmake", "-G", "Ninja", "-S", HERE / "consumer", "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={options.compiler}")
        run("cmake", "--build", build, "-j", "2")
        run(build / "consumer")
        run(build / "consumer_static")

    def test_headers_need_nothing_but_each_other_and_the_standard_library(self):
        include = self.prefix / "include"
        headers = [path.relative_to(include) for path in include.rglob("*.h")]
        self.assertTrue(headers)
        source = "".join(f"#include <{header}>\n" for header in headers)
        rule = run(options.compiler, "-std=c++20", "-x", "c++", "-I", include, "-M", "-", input=source)
        read = {str(Path(word).resolve()) for word in rule.replace("\\\n", " ").split()[2:]}
        standard = re.compile(r"/usr/include/[^/]+|/usr/include/(c\+\+|bits|sys|gnu|asm|asm-generic|linux)/.*"
                              r"|/usr/include/[^/]+-linux-gnu/(c\+\+|bits|sys|gnu|asm)/.*"
                              r"|.*/lib/(gcc|clang|llvm-\d+)/.*")
        foreign = [path for path in read if not path.startswith(f"{include.resolve()}/") and not standard.fullmatch(path)]
        self.assertEqual(foreign, [])

    def test_the_library_exports_nothing_but_keyway(self):
        lines = run("nm", "--dynamic", "--defined-only", "--demangle", "--format=just-symbols", self.library).splitlines()
        self.assertIn("keyway::v1::Error::what() const", lines)
        own = re.compile(r"((typeinfo( name)?|vtable|VTT|guard variable|TLS (init|wrapper) function|"
                         r"(non-)?virtual (thunk|function)) (for|to) )?(.* )?keyway(::v\d+)?::.*|keyway_\w+")
        self.assertEqual([line for line in lines if not own.fullmatch(line)], [])

    def test_the_soname_carries_the_abi_version(self):
        self.assertIn("[libkeyway.so.1]", run("readelf", "--dynamic", self.library))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
