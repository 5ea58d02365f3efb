#!/usr/bin/env python3
"""What calls from Python cost: keyway's beside torch's in one process where torch can be imported, the import itself, and
the memory that a million mixed calls, errors among them, leave behind.

    PYTHONPATH=build/release/python python3 bench/python/calls.py [--calls N]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from types import ModuleType
from typing import Callable

import keyway

try:
    import torch
except ImportError:
    torch = None

IMPORT = """
import time
begin = time.perf_counter(), int(open("/proc/self/statm").read().split()[1])
import keyway
print(time.perf_counter() - begin[0], int(open("/proc/self/statm").read().split()[1]) - begin[1])
"""


def nanoseconds(function: Callable[[], object], repeats: int = 7, calls: int = 50_000) -> float:
    """The time of one call, the best of several runs."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter_ns() - begin) / calls)
    return best


def rows(module: ModuleType) -> dict[str, Callable[[], object]]:
    a, b, matrix = module.ones(1), module.ones(1), module.ones(2, 3)
    add, mul, total = module.add, module.mul, module.sum
    return {
        "add(x, y)": lambda: add(a, b),
        "x.add_(y)": lambda: a.add_(b),
        "mul(x, 2.5)": lambda: mul(a, 2.5),
        "x + y": lambda: a + b,
        "add(x, y, alpha=2)": lambda: add(a, b, alpha=2),
        "x.view(3, 2)": lambda: matrix.view(3, 2),
        "m[0]": lambda: matrix[0],
        "sum(m, 1)": lambda: total(matrix, 1),
        "x.item()": lambda: a.item(),
    }


def mixed(count: int) -> int:
    """Bytes by which memory grows over so many calls, a tenth of which fail."""
    a, b = keyway.ones(4, requires_grad=True), keyway.ones(4)

    def some() -> None:
        keyway.add(a, b)
        b.mul(2.5)
        keyway.max(b, 0).values.item()
        keyway.add(b, b, alpha=2)
        keyway.split(a, 2)
        b.view(2, 2)
        keyway.zeros(2, dtype=keyway.int64)
        b.clone().add_(1)
        keyway.sum(b)
        try:
            keyway.mm(a, b)
        except keyway.Error:
            pass

    def resident() -> int:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096

    for _ in range(count // 100):
        some()
    before = resident()
    for _ in range(count // 10):
        some()
    return resident() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000, help="how many mixed calls")
    options = parser.parse_args()

    empty = nanoseconds(lambda: None)
    ours, theirs = rows(keyway), rows(torch) if torch else {}
    print(f"{'ns a call, without the loop':30} {'keyway':>8} {'torch':>8} {'ratio':>6}")
    for name, call in ours.items():
        mine = nanoseconds(call) - empty
        other = nanoseconds(theirs[name]) - empty if theirs else None
        print(f"{name:30} {mine:8.0f} " + (f"{other:8.0f} {other / mine:6.2f}" if other else f"{'-':>8} {'-':>6}"))

    runs = [subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout.split()
            for _ in range(5)]
    print(f"import keyway: {1e3 * min(float(run[0]) for run in runs):.1f} ms, "
          f"{min(int(run[1]) for run in runs) * 4096 / 1e6:.1f} MB")
    print(f"{options.calls} mixed calls: memory grows by {mixed(options.calls) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
