#!/usr/bin/env python3
"""Runs random programs of Keyway's Python API in child processes: no program of pure Python ends by a signal, or hangs.

    python3 fuzz_python.py [--steps N] [--seed S] [--jobs J] [--plugins FOLDER] [--keep FOLDER]

A program is some hundred statements (python_statements.py): calls of every operator, method and function, definitions, kernels,
fallbacks, redispatches, views, in-place changes, hooks, gradients, threads, forks, plug-ins that come and go, with wrong values
everywhere. Each statement may raise what it likes. A program that dies is shrunk to the statements that it needs, printed, and
kept in a folder; `python3 program.py FILE` runs it again. The same seed gives the same programs. Fails if one died.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from python_statements import Statements

PROGRAM = Path(__file__).with_name("program.py")
LENGTH = 400  # statements of a program
SECONDS = 300  # what a program may take; a statement has a limit of its own


class Ending(NamedTuple):
    """How a program ended."""

    died: int  # of which signal, or 0
    last: int  # the statement that ran last
    passed: int  # how many statements before it raised nothing
    said: str  # what the process wrote to its standard error


class Runner:
    """Runs lists of statements."""

    def __init__(self) -> None:
        folders = [str(Path(folder).resolve()) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
        self.environment = dict(os.environ, PYTHONPATH=os.pathsep.join(folders), PYTHONMALLOC="debug", PYTHONFAULTHANDLER="1", MALLOC_PERTURB_="165", PYTHONHASHSEED="0",
                                OMP_NUM_THREADS="1", KEYWAY_NUM_THREADS="2")

    def run(self, statements: list[str]) -> Ending:
        with tempfile.TemporaryDirectory() as folder:
            file, progress = Path(folder, "statements"), Path(folder, "progress")
            file.write_text("\n".join(statements) + "\n")
            progress.write_bytes(bytes(16))
            command = [sys.executable, str(PROGRAM), str(file), str(progress)]
            with subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, cwd=folder, text=True, errors="replace", start_new_session=True) as child:
                try:
                    said = child.communicate(timeout=SECONDS)[1]
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, signal.SIGALRM)
                    said = child.communicate()[1]
            last, passed = struct.unpack("<QQ", progress.read_bytes())
        if child.returncode > 0:
            sys.exit(f"program.py ended with {child.returncode}, which no statement can make it do:\n{said}")
        return Ending(-child.returncode, last, passed, said)

    def shrunk(self, statements: list[str], died: int, until: float) -> list[str]:
        """The statements without all that can be left out while the program still dies of the same signal."""
        size = max(1, len(statements) // 2)
        while time.monotonic() < until:
            start, changed = 0, False
            while start < len(statements) and time.monotonic() < until:
                rest = statements[:start] + statements[start + size :]
                if rest and self.run(rest).died == died:
                    statements, changed = rest, True
                else:
                    start += size
            if size == 1 and not changed:
                break
            size = max(1, size // 2)
        return statements


def where(said: str) -> str:
    """What a death is told apart by: the frames of Python, or the last words."""
    frames = re.findall(r'File "[^"]*?([^"/]+)", line (\d+) in (\w+)', said)[:2]
    return ", ".join(f"{file}:{line} {name}" for file, line, name in frames) or (said.strip().splitlines() or ["nothing"])[-1][:200]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000, help="statements in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--plugins", type=Path, help="a folder of plug-ins to load, such as that of a build's tests")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz_python"), help="where programs that died are kept")
    options = parser.parse_args()

    # But those that end a program on purpose, by exit() or by a handler of warnings that aborts.
    files = options.plugins.glob("libkeyway_test_*.so") if options.plugins else []
    plugins = sorted(str(file.resolve()) for file in files if "fragile" not in file.name)
    runner = Runner()
    programs = -(-options.steps // LENGTH)
    options.keep.mkdir(parents=True, exist_ok=True)
    deaths: set[tuple[int, str]] = set()

    def one(number: int) -> tuple[int, list[str], Ending]:
        drawn = Statements(options.seed * 1_000_003 + number, plugins)
        statements = [drawn.statement() for _ in range(LENGTH)]
        return number, statements, runner.run(statements)

    died = passed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, statements, ending in pool.map(one, range(programs)):
            passed += ending.passed
            if not ending.died:
                continue
            died += 1
            found = (ending.died, where(ending.said))
            if found in deaths:
                continue
            deaths.add(found)
            small = runner.shrunk(statements[: ending.last + 1], ending.died, time.monotonic() + 120)
            file = options.keep / f"seed{options.seed}_program{number}.txt"
            file.write_text("\n".join(small) + "\n")
            print(f"program {number} died of {signal.Signals(ending.died).name} ({found[1]}); {file}:", *small, sep="\n    ", flush=True)
    steps = programs * LENGTH
    print(f"{steps} steps in {programs} programs from seed {options.seed}, of which {100 * passed // steps} % raised nothing: "
          f"{died} programs died, of {len(deaths)} sorts")
    sys.exit(1 if deaths else 0)


if __name__ == "__main__":
    main()
