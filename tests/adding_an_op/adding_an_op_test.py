#!/usr/bin/env python3
"""Adds the pointwise operator of docs/adding_an_op.md to a scratch copy, by editing two files, and uses it.

What the generator writes anew is compiled and linked with the objects of the build, by the build's own commands; so the
rest of the library need not be built again.
"""

import argparse
import json
import os
import re
import unittest
from pathlib import Path

from scratch_tree import SOURCE, ScratchTree, differing, run

HERE = Path(__file__).resolve().parent
SCHEMA, FUNCTORS = "ops/schemas/unary.json", "ops/functors/arithmetic.h"
options = None


def documented():
    """The entry and the functor of the page's first recipe."""
    text = (SOURCE / "docs/adding_an_op.md").read_text()
    recipe = text[text.index("## Pointwise"):text.index("## Reduction")]
    return [block.strip() for block in re.findall(r"^```\w+\n(.*?)^```$", recipe, re.M | re.S)]


def add_entry(text, entry):
    """Where the order of names wants it."""
    name = json.loads(entry)["func"]
    entries = re.compile(r'\{ "func": "([^"]*)"').finditer(text, text.index('"ops": ['))
    following = next(match for match in entries if match[1] > name)
    return text[:following.start()] + entry + ",\n\n" + text[following.start():]


class AddingAnOperator(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = ScratchTree(options.build)
        cls.addClassCleanup(cls.scratch.cleanup)
        tree, generated = cls.scratch.tree, cls.scratch.generated

        entry, functor = documented()
        schema, functors = tree / SCHEMA, tree / FUNCTORS
        schema.write_text(add_entry(schema.read_text(), entry))
        end = "\n}  // namespace keyway"
        functors.write_text(functors.read_text().replace(end, f"\n{functor}\n{end}"))

        families = sorted((tree / "ops/schemas").glob("*.json"))
        schemas = [path.relative_to(tree) for path in families if path.name != "op.schema.json"]
        run(options.codegen, "--out", generated / "keyway", *schemas, cwd=tree)
        cls.written = differing(options.build / "generated", generated)
        # The CUDA backend and the Python module are libraries of their own, and tests are no part of one.
        elsewhere = {"cuda", "python", "tests"}
        cls.library = cls.scratch.link([generated / name for name in cls.written
                                        if name.suffix == ".cpp" and elsewhere.isdisjoint(name.parts)])

    def with_library(self, *command):
        return run(*command, env={**os.environ, "LD_LIBRARY_PATH": str(self.library)})

    def test_two_files_differ(self):
        self.assertEqual(self.scratch.changed_files(), sorted([FUNCTORS, SCHEMA]))

    def test_only_files_of_its_family_and_what_lists_all_operators_are_written(self):
        others = [str(name) for name in self.written if "unary" not in name.name]
        self.assertEqual(others, ["keyway/assembly/op_list.cpp", "keyway/backends/cuda/graph/functors.cpp",
                                  "keyway/backends/cuda/kernels/register_kernels.cpp", "keyway/ops/methods.h", "keyway/python/_C/_operators.pyi",
                                  "keyway/python/api_names.cpp", "keyway/tensor.h", "keyway/tests/ops/op_cases.cpp"])

    def test_it_computes_in_every_form(self):
        program = self.scratch.compile(options.compiler, HERE / "cube.cpp", self.library)
        self.assertEqual(self.with_library(program), "ok\n")

    def test_the_command_shows_it(self):
        shown = self.with_library(options.build / "tools/keyway/keyway", "show", "cube")
        self.assertIn("cube(Tensor self) -> Tensor", shown)
        self.assertIn(SCHEMA, shown)

    def test_the_generated_suite_runs_it(self):
        self.with_library(options.build / "tests/tests_ops", "every operator's example holds")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--codegen", required=True)
    parser.add_argument("--compiler", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
