#!/usr/bin/env python3
"""Writes docs/figures.md: tables of the newest run of each sort and machine in bench/results.

A run is a file <date>-<machine>-<sort>.json, as `tools/bench.sh --json` and `bench/python/operators.py --json` write it.
"""

import argparse
import json
import math
from pathlib import Path

from rows import ROOT, read_rows
from table import as_markdown, show, table

RESULTS, PAGE = ROOT / "bench/results", ROOT / "docs/figures.md"
HEAD = """# Figures

<!-- Written by tools/bench/figures.py from bench/results; to change it, run that. -->

[Performance](performance.md) says how rows are measured, which of them miss their targets, and why. `first` is what a row is to
reach first (`bench/rows.txt`). A ratio of 2 is twice as good. The ratio compares with PyTorch. Where `first` names another row,
it compares with that row of Keyway.
"""


def newest(folder):
    """{what a file's name has behind its date: the last of them}"""
    return {path.stem[11:]: path for path in sorted(folder.glob("*.json"))}


def of_rows(run):
    return as_markdown(table(read_rows(ROOT / "bench" / run["rows"]), run["torch"], run["keyway"]))


def of_calls(run):
    """How Keyway's calls do beside PyTorch's, and those that are slower, the slowest first."""
    ratios = {name: theirs / ours for name, (ours, theirs) in run["calls"].items()}
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    slower = sorted((ratio, name) for name, ratio in ratios.items() if ratio < 1)
    yield f"{len(ratios)} calls, geometric mean {mean:.2f}; {len(slower)} are slower than PyTorch's:"
    yield ""
    lines = [("call", "PyTorch, us", "Keyway, us", "ratio")]
    for ratio, name in slower:
        ours, theirs = run["calls"][name]
        lines.append((f"`{name}`", show(theirs), show(ours), f"{ratio:.2f}"))
    yield from as_markdown(lines, "|---|--:|--:|--:|")


def page(folder):
    parts = [HEAD]
    for path in newest(folder).values():
        run = json.loads(path.read_text())
        body = of_calls(run) if "calls" in run else of_rows(run)
        parts.append("\n".join([f"## {run['what']}", "", f"{run['machine']} (`bench/results/{path.name}`)", "", *body, ""]))
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    PAGE.write_text(page(RESULTS))


if __name__ == "__main__":
    main()
