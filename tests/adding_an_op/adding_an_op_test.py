#!/usr/bin/env python3
"""Adds the pointwise operator of docs/adding_an_op.md to a scratch copy, by editing two files, and uses it.

What the generator writes anew is compiled and linked with the objects of the build, by the build's own commands; so the
rest of the library need not be built again.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
SCHEMA, FUNCTORS = "ops/schemas/unary.json", "ops/functors/arithmetic.h"
options = None


def without_precompiled(words):
    """A compiler's command that reads the headers themselves: those compiled before are of the build's own tree."""
    headers = next((i for i, word in enumerate(words) if word.endswith("/cmake_pch.hxx")), None)
    return words if headers is None else words[:headers - 1] + words[headers + 1:]


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def documented():
    """The entry and the functor of the page's first recipe."""
    text = (SOURCE / "docs/adding_an_op.md").read_text()
    recipe = text[text.index("## Pointwise"):text.index("## Reduction")]
    blocks = [re.sub(r"^    ", "", block, flags=re.M) for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", recipe, re.M)]
    return blocks[0].strip(), blocks[1].strip()


def add_entry(text, entry):
    """Where the order of names wants it."""
    name = json.loads(entry)["func"]
    following = next(match for match in re.finditer(r'\{ "func": "([^"]*)"', text) if match[1] > name)
    return text[:following.start()] + entry + ",\n\n" + text[following.start():]


def differing(one, other):
    """Files below `other` that `one` has not, or has with another text."""
    names = [path.relative_to(other) for path in sorted(other.rglob("*")) if path.is_file()]
    return [name for name in names if not (one / name).exists() or (one / name).read_bytes() != (other / name).read_bytes()]


class AddingAnOperator(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._scratch.cleanup)
        cls.scratch = Path(cls._scratch.name).resolve()
        cls.tree, cls.generated, cls.build = cls.scratch / "tree", cls.scratch / "generated", Path(options.build)
        shutil.copytree(SOURCE, cls.tree, ignore=shutil.ignore_patterns("build*", ".git"))
        shutil.copytree(cls.build / "generated", cls.generated)
        (cls.scratch / "include").mkdir()
        (cls.scratch / "include/keyway").symlink_to(cls.tree)

        entry, functor = documented()
        schema, functors = cls.tree / SCHEMA, cls.tree / FUNCTORS
        schema.write_text(add_entry(schema.read_text(), entry))
        end = "\n}  // namespace keyway"
        functors.write_text(functors.read_text().replace(end, f"\n{functor}\n{end}"))

        families = sorted((cls.tree / "ops/schemas").glob("*.json"))
        schemas = [path.relative_to(cls.tree) for path in families if path.name != "op.schema.json"]
        run(options.codegen, "--out", cls.generated / "keyway", *schemas, cwd=cls.tree)
        cls.written = differing(cls.build / "generated", cls.generated)
        # The CUDA backend is a library of its own, and tests are no part of one.
        elsewhere = {"cuda", "tests"}
        cls.library = cls.link([name for name in cls.written if name.suffix == ".cpp" and elsewhere.isdisjoint(name.parts)])

    @classmethod
    def link(cls, sources):
        """The library of the build, with these generated files instead of its own."""
        objects = {}
        commands = json.loads((cls.build / "compile_commands.json").read_text())
        by_file = {Path(command["file"]).resolve(): shlex.split(command["command"]) for command in commands}
        for source in sources:
            original = cls.build / "generated" / source
            words = without_precompiled(by_file[original.resolve()])
            target = words[words.index("-o") + 1]
            objects[target] = cls.scratch / f"{source.stem}.o"
            replaced = {str(original): str(cls.generated / source), target: str(objects[target]),
                        f"-I{cls.build}/include": f"-I{cls.scratch}/include",
                        f"-I{cls.build}/generated": f"-I{cls.generated}"}
            run(*[replaced.get(word, word) for word in words], cwd=cls.build)
        library = "libkeyway.so.1"
        last = run("ninja", "-C", cls.build, "-t", "commands", library).strip().splitlines()[-1]
        words = shlex.split(last)
        words = words[words.index("&&") + 1:]
        words = words[:words.index("&&")]
        folder = cls.scratch / "lib"
        folder.mkdir()
        made = folder / "libkeyway.so.1"
        words = [str(made) if word == library else str(objects.get(word, word)) for word in words]
        run(*words, cwd=cls.build)
        (folder / "libkeyway.so").symlink_to(made.name)
        return folder

    def with_library(self, *command):
        return run(*command, env={**os.environ, "LD_LIBRARY_PATH": str(self.library)})

    def test_two_files_differ(self):
        self.assertEqual([str(name) for name in differing(SOURCE, self.tree)], sorted([FUNCTORS, SCHEMA]))

    def test_only_files_of_its_family_and_what_lists_all_operators_are_written(self):
        others = [str(name) for name in self.written if "unary" not in name.name]
        self.assertEqual(others, ["keyway/assembly/op_list.cpp", "keyway/backends/cuda/kernels/register_kernels.cpp",
                                  "keyway/ops/methods.h", "keyway/python/_C/_operators.pyi",
                                  "keyway/python/api_names.cpp", "keyway/tensor.h", "keyway/tests/ops/op_cases.cpp"])

    def test_it_computes_in_every_form(self):
        program = self.scratch / "cube"
        run(options.compiler, "-std=c++20", "-I", self.scratch / "include", "-I", self.generated, HERE / "cube.cpp",
            "-o", program, "-L", self.library, "-lkeyway")
        self.assertEqual(self.with_library(program), "ok\n")

    def test_the_command_shows_it(self):
        shown = self.with_library(self.build / "tools/keyway/keyway", "show", "cube")
        self.assertIn("cube(Tensor self) -> Tensor", shown)
        self.assertIn(SCHEMA, shown)

    def test_the_generated_suite_runs_it(self):
        self.with_library(self.build / "tests/tests_ops", "every operator's example holds")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--codegen", required=True)
    parser.add_argument("--compiler", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
