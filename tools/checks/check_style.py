#!/usr/bin/env python3
"""Checks what CONTRIBUTING.md says about every file and a reader would otherwise have to look for."""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

import format_entries
from tree import CXX_FILES, CXX_HEADERS, Report, is_family, is_golden, tracked_files

MAX_LINES = 600
CODE_SUFFIXES = CXX_FILES + (".cmake", ".py", ".sh", ".json", ".in")
CODE_NAMES = ("CMakeLists.txt", "run")

# What no code may contain, and why. The patterns are split so that they do not match this file.
FORBIDDEN = [
    (r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b", "{} marks work left undone: do it, or open an issue"),
    (r"-f" r"fast-math|-O" r"fast|-f" r"unsafe-math-optimizations",
     "{} changes results, and the whole process with g++"),
    (r"(?<![\w/$.}>*)])/(?:home|root|work|Users|mnt|tmp|opt|usr/local)/[\w.-]+",
     "{} is a path of one machine"),
]
FORBIDDEN_IN_CMAKE = [
    (r"\bfile\s*\(\s*GLOB\w*", "{}: list the files"),
    (r"(?<![\w-])-m(?:arch|tune|cpu|avx|sse|fma|f16c)[\w=.-]*", "{}: an instruction set is chosen at run time"),
]


def is_code(path):
    return path.suffix in CODE_SUFFIXES or path.name in CODE_NAMES


def is_cmake(path):
    return path.name in ("CMakeLists.txt", "CMakePresets.json") or path.suffix == ".cmake"


def check_text(path, text, report):
    lines = text.splitlines()
    is_schema = path.parts[:2] == ("ops", "schemas")
    if len(lines) > MAX_LINES and not is_schema:
        report.add(path, len(lines), f"{len(lines)} lines: a file has {MAX_LINES} at most")
    if path.suffix in CXX_HEADERS and "#pragma once" not in lines:
        report.add(path, 1, "a header begins with a comment and #pragma once")
    for number, line in enumerate(lines, 1):
        for pattern, message in FORBIDDEN + (FORBIDDEN_IN_CMAKE if is_cmake(path) else []):
            found = re.search(pattern, line)
            if found:
                report.add(path, number, message.format(found.group()))
        if "\t" in line and path.suffix != ".sh":
            report.add(path, number, "tab: indent with spaces")
        if line != line.rstrip():
            report.add(path, number, "blanks at the end of the line")
        if is_schema and path.suffix == ".json" and len(line) > format_entries.COLUMNS:
            report.add(path, number, f"{len(line)} columns: a line has {format_entries.COLUMNS} at most")


def first_difference(text, wanted):
    pairs = zip_longest(text.split("\n"), wanted.split("\n"))
    return next((number for number, (is_line, want) in enumerate(pairs, 1) if is_line != want), None)


def check_entries(path, text, report):
    try:
        line = first_difference(text, format_entries.formatted(text))
    except ValueError as error:
        report.add(path, 1, f"not a schema file: {error}")
        return
    if line:
        report.add(path, line, f"not formatted: run tools/checks/format_entries.py {path}")


def check_format(root, paths, report):
    """clang-format 14 over all C++ files; other versions format otherwise, so without it this part fails."""
    program = shutil.which("clang-format-14")
    if program is None:
        report.add("tools/packages.txt", 1, "clang-format-14 is not installed: run tools/setup.sh")
        return

    # Copies are formatted, many by one process, which takes longer to start than to format a file. Not --dry-run: it
    # reports replacements that change nothing.
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        copies = [Path(folder) / path for path in paths]
        for path, copy in zip([Path(".clang-format"), *paths], [Path(folder) / ".clang-format", *copies]):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / path, copy)
        batches = [copies[begin:begin + 64] for begin in range(0, len(copies), 64)]
        list(pool.map(lambda batch: subprocess.run([program, "-i", "--style=file", *batch], check=False), batches))
        for path, copy in zip(paths, copies):
            line = first_difference((root / path).read_text(), copy.read_text())
            if line:
                report.add(path, line, f"not formatted: run clang-format-14 -i {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the source tree")
    args = parser.parse_args()

    report = Report("check_style")
    code = [path for path in tracked_files(args.root) if is_code(path) and not is_golden(path)]
    for path in code:
        if not os.path.islink(args.root / path):
            text = (args.root / path).read_text()
            check_text(path, text, report)
            if is_family(path):
                check_entries(path, text, report)
    check_format(args.root, [path for path in code if path.suffix in CXX_FILES], report)
    report.finish(f"{len(code)} files")


if __name__ == "__main__":
    main()
