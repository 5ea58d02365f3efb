#!/usr/bin/env python3
"""Runs `keyway graph` as its users do: graph_command_test.py <program>."""

import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

import command_test
from command_test import Case, keyway


class Graphs(Case):
    TEXT = ("graph executed(%0 x: float32[2, 3], %1 weight: float32[3, 4]) {\n"
            "  %2: float32[2, 4] = keyway::mm(%0, %1)  # model.py:4\n"
            "  %3: float32[2, 4] = keyway::relu(%2)\n"
            "  return (%3)\n}\n")

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def file(self, text, name="a.txt"):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def test_a_graph_is_printed_as_it_is_written(self):
        untidy = self.file(self.TEXT.replace("  %", "%").replace("(%2)", "(self=%2)").replace("\n", "\r\n"))
        self.assertEqual(self.expect(keyway("graph", untidy), 0), self.TEXT)

    def test_what_is_no_graph_is_an_error(self):
        nothing, other = str(self.folder / "none"), self.file(self.TEXT.replace("mm", "no_such_op"))
        self.assertEqual(self.expect(keyway("graph", nothing), 2, f"keyway graph: cannot read '{nothing}'\n"), "")
        run = keyway("graph", other)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertTrue(run.stderr.startswith("keyway graph: graph, line 2: there is no operator"), run.stderr)

    PROGRAM = ("graph program(%0 x: float32[rows, 3], %1 weight: float32[3, 2] state) {\n"
               "  %2 = keyway::matmul(%0, %1)\n"
               "  %3 = keyway::view(%2, [rows * 2])\n"
               "  return (%3)\n}\n")

    def program(self):
        schemas = "matmul(Tensor self, Tensor other) -> Tensor\nview(Tensor(a) self, SymInt[] size) -> Tensor(a)\n"
        notes = {"keyway.program": "1", "keyway.program.text": self.PROGRAM, "keyway.program.schemas": schemas}
        weight = {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}
        header = json.dumps({"__metadata__": notes, "weight": weight}).encode()
        path = self.folder / "program.safetensors"
        path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(24))
        return str(path)

    def test_a_program_is_printed_and_is_a_graph_for_sizes(self):
        program = self.program()
        self.assertEqual(self.expect(keyway("graph", program), 0), self.PROGRAM)
        shown = self.expect(keyway("graph", program, "--size", "rows=4"), 0)
        self.assertIn("  %3: float32[8] in %2 = keyway::view(%2, [8])\n", shown)
        self.expect(keyway("graph", program, "--run"), 2, "keyway graph: the size of the dimension 'rows' is missing\n")
        self.expect(keyway("graph", program, "--size", "rows"), 2, "keyway graph: 'rows' is no size, as batch=4 is\n")

    def test_a_program_runs_as_it_is_executed(self):
        operators = self.folder / "ops.txt"
        run = keyway("graph", self.program(), "--size", "rows=4", "--executed", "--run", "--ops", str(operators))
        lines = self.expect(run, 0).splitlines()
        self.assertEqual(lines[0], "result 0: float32[8] on cpu, 0 to 0, mean 0")
        self.assertTrue(lines[1].startswith("plan: the same bits; "), lines[1])
        self.assertIn("keyway::mm", operators.read_text())

    def test_pictures_are_written_into_files(self):
        dot, html = self.folder / "a.dot", self.folder / "a.html"
        run = keyway("graph", self.file(self.TEXT), "--dot", str(dot), "--html", str(html))
        self.assertEqual(self.expect(run, 0), "")
        self.assertTrue(dot.read_text().startswith("digraph"))
        self.assertTrue(html.read_text().startswith("<!doctype html>"))
        self.assertNotIn('"seconds":', html.read_text())
        nowhere = str(self.folder / "none" / "a.dot")
        self.expect(keyway("graph", self.file(self.TEXT), "--dot", nowhere), 2,
                    f"keyway graph: cannot write '{nowhere}'\n")

    def test_graphs_are_compared(self):
        one, two = self.file(self.TEXT), self.file(self.TEXT.replace("relu", "exp"), "b.txt")
        self.assertEqual(self.expect(keyway("graph", one, "--diff", one), 0),
                         "0 calls added, 0 removed, 0 changed, 2 alike\n")
        self.assertEqual(self.expect(keyway("graph", one, "--diff", two), 1),
                         "- %3: float32[2, 4] = keyway::relu(%2)\n+ %3: float32[2, 4] = keyway::exp(%2)\n"
                         "~ return: (%3 of before) -> (%3)\n1 calls added, 1 removed, 0 changed, 1 alike\n")

    def test_a_graph_runs_with_random_arguments(self):
        text = self.expect(keyway("graph", self.file(self.TEXT), "--run"), 0)
        low, high = map(float, re.search(r"^result 0: float32\[2, 4\].*, ([\d.]+) to ([\d.]+), mean", text).groups())
        self.assertTrue(0 <= low < high <= 3)
        self.assertIn("plan: the same bits; 2 direct calls", text)
        self.assertEqual(self.expect(keyway("graph", self.file(self.TEXT), "--run"), 0), text)
        self.assertNotEqual(self.expect(keyway("graph", self.file(self.TEXT), "--run", "--seed", "7"), 0), text)

    def test_a_graph_that_uses_state_does_not_run(self):
        file = self.file(self.TEXT.replace("[3, 4])", "[3, 4] state)"))
        message = "keyway graph: the graph uses state, %1, which its text does not have: it cannot run by itself\n"
        for option in ("--run", "--time"):
            self.assertEqual(self.expect(keyway("graph", file, option), 1, message), "")

    def test_calls_are_timed(self):
        html = self.folder / "a.html"
        run = keyway("graph", self.file(self.TEXT), "--time", "--runs", "3", "--html", str(html))
        rows = [line.split() for line in self.expect(run, 0).splitlines()]
        self.assertEqual([row[1] for row in rows[1:]], ["104", "64", "168", "168"])  # bytes of float32
        self.assertEqual([row[3:] for row in rows[1:]],
                         [["keyway::mm", "model.py:4"], ["keyway::relu"], ["call", "by", "call"], ["as", "a", "plan"]])
        self.assertEqual(html.read_text().count('"seconds":'), 2)
        self.expect_usage_error(["graph", "a", "--runs", "0"], "--runs: '0' is not a number above 0")


if __name__ == "__main__":
    command_test.KEYWAY = sys.argv.pop(1)
    unittest.main()
