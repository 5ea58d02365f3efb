#!/usr/bin/env python3
"""The list of benchmark rows is consistent, and what it says is judged as its head comment says."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/bench"))
import figures  # noqa: E402
import process_rows  # noqa: E402
from rows import CUDA_ROWS, Row, read_rows  # noqa: E402


class Rows(unittest.TestCase):
    def test_each_row_is_listed_once_and_the_process_rows_are_among_them(self):
        for rows in (read_rows(), read_rows(CUDA_ROWS)):
            names = [row.name for row in rows]
            self.assertEqual(sorted(names), sorted(set(names)))
        names = [row.name for row in read_rows()]
        self.assertLessEqual(set(process_rows.NAMES), set(names))

    def test_units_and_goals_are_of_the_known_forms(self):
        for row in read_rows() + read_rows(CUDA_ROWS):
            self.assertIn(row.unit, ("ns", "us", "ms", "s", "min", "GB/s", "GFLOP/s", "MB", "MiB", "B", "count"))
            self.assertRegex(row.goal, r"^(-|[\d.]+|[\d.]+x([:>]\S+)?)$")

    def test_a_time_is_better_when_less_and_a_rate_when_more(self):
        self.assertEqual(Row("a", "ns", "5x", "").judge({"a": 10}, {"a": 2}), (5, True))
        self.assertEqual(Row("a", "ns", "5x", "").judge({"a": 10}, {"a": 4}), (2.5, False))
        self.assertEqual(Row("a", "GB/s", "2x", "").judge({"a": 10}, {"a": 30}), (3, True))

    def test_a_goal_against_another_row_looks_at_keyway_alone(self):
        self.assertEqual(Row("b", "us", "1.5x:a", "").judge({"b": 1}, {"a": 30, "b": 15}), (2, True))

    def test_a_goal_beyond_another_row_leaves_that_off_both(self):
        row = Row("b", "us", "2x>a", "")
        self.assertEqual(row.judge({"b": 9}, {"a": 3, "b": 5}), (3, True))
        self.assertEqual(row.judge({"b": 5}, {"a": 3, "b": 5}), (1, False))
        self.assertEqual(row.judge({"b": 5}, {"a": 3, "b": 2}), (float("inf"), True))
        self.assertEqual(row.judge({"b": 5}, {"b": 2}), (None, None))

    def test_a_limit_needs_no_peer(self):
        self.assertEqual(Row("a", "MB", "15", "").judge({}, {"a": 14}), (None, True))
        self.assertEqual(Row("a", "MB", "15", "").judge({}, {"a": 16}), (None, False))

    def test_what_has_not_run_is_not_judged(self):
        self.assertEqual(Row("a", "ns", "5x", "").judge({"a": 10}, {}), (None, None))
        self.assertEqual(Row("a", "ns", "5x", "").judge({}, {"a": 10}), (None, None))


class Figures(unittest.TestCase):
    def test_the_page_is_what_the_results_say(self):
        self.assertEqual(figures.PAGE.read_text(), figures.page(figures.RESULTS), "run tools/bench/figures.py")

    def test_of_each_sort_and_machine_the_newest_run_is_shown(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for day, ours in (("01", 2), ("02", 4)):
                run = {"what": "Calls", "machine": f"day {day}", "calls": {"a": [ours, 2], "b": [1, 8]}}
                (folder / f"2026-01-{day}-box-calls.json").write_text(json.dumps(run))
            text = figures.page(folder)
        self.assertNotIn("day 01", text)
        self.assertIn("2 calls, geometric mean 2.00; 1 are slower than PyTorch's:", text)
        self.assertIn("| `a` | 2 | 4 | 0.50 |", text)
        self.assertNotIn("`b`", text)


if __name__ == "__main__":
    unittest.main()
