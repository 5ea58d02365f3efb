#!/usr/bin/env python3
"""Adds a type of values, lists of devices, to a scratch copy, by editing two files, and uses it."""

import argparse
import os
import unittest
from pathlib import Path

from scratch_tree import ScratchTree, run

HERE = Path(__file__).resolve().parent
SCHEMAS, CLASSES = "core/schema/value_code.h", "dispatch/call/value_class.h"
# What of the library knows of all types; the rest of it knows those that it uses.
SOURCES = ["core/schema/canonical_cpp.cpp", "dispatch/call/box_by_schema.cpp", "dispatch/call/boxed_arguments.cpp",
           "dispatch/call/default_argument.cpp", "dispatch/call/ivalue.cpp", "dispatch/call/signature.cpp"]
options = None


def replace(path, old, new):
    text = path.read_text()
    if old not in text:
        raise AssertionError(f"{path.name} has no line with {old}")
    path.write_text(text.replace(old, new, 1))


class AddingAType(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = ScratchTree(options.build)
        cls.addClassCleanup(cls.scratch.cleanup)
        replace(cls.scratch.tree / SCHEMAS, '"[z", "o"}', '"[z", "o", "e"}')
        replace(cls.scratch.tree / CLASSES, "std::vector<CustomObject>>;",
                "std::vector<CustomObject>, std::vector<Device>>;")
        cls.library = cls.scratch.link([cls.scratch.tree / source for source in SOURCES])

    def test_two_files_differ(self):
        self.assertEqual(self.scratch.changed_files(), sorted([SCHEMAS, CLASSES]))

    def test_it_is_a_type_of_schemas_kernels_and_boxed_values(self):
        program = self.scratch.compile(options.compiler, HERE / "list_of_devices.cpp", self.library)
        printed = run(program, env={**os.environ, "LD_LIBRARY_PATH": str(self.library)})
        lines = printed.splitlines()
        self.assertEqual(lines[:3], ["typed 2, boxed 4", "[cpu, meta, cpu, meta]", "Device[]"])
        self.assertIn("argument 'devices' takes Device[], but got int", "".join(lines[3:]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--compiler", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
