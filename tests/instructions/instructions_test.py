#!/usr/bin/env python3
"""Instructions of a call, counted by callgrind, against those recorded.

A program makes a call 1,000 and 3,000 times; the difference, by 2,000, is what a call takes, without start-up. Times vary
from machine to machine and from run to run, instructions do not."""

import argparse
import pathlib
import re
import subprocess
import sys

RECORDED = pathlib.Path(__file__).with_name("recorded.txt")
FEW, MANY = 1000, 3000
MOST_GROWTH = 1.02


def instructions(program, name, count):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), name, str(count)],
                          capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"callgrind says nothing of '{name}':\n{done.stderr}")
    return int(found.group(1))


def read_recorded():
    lines = [line.split() for line in RECORDED.read_text().splitlines() if line and not line.startswith("#")]
    return {name: float(count) for name, count in lines}


def write_recorded(counts):
    head = [line for line in RECORDED.read_text().splitlines() if line.startswith("#")]
    RECORDED.write_text("\n".join(head + [f"{name:<14} {count:.1f}" for name, count in counts.items()]) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true", help="write the record, of these calls or of those in it")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    recorded = read_recorded()
    names = options.names or list(recorded)
    counts = {name: (instructions(options.program, name, MANY) - instructions(options.program, name, FEW)) / (MANY - FEW)
              for name in names}
    failed = False
    for name, count in counts.items():
        before = recorded.get(name)
        grown = before is not None and count > before * MOST_GROWTH
        failed = failed or grown
        print(f"{name:<14} {count:8.1f}  recorded {before}{'  GREW' if grown else ''}")
    if options.update:
        write_recorded({**recorded, **counts})
        return 0
    if not names:
        print("nothing is recorded")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
