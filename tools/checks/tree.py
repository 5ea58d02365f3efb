"""What the checks share: the list of files to look at, and how they report."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CXX_HEADERS = (".h", ".cuh")
CXX_FILES = CXX_HEADERS + (".cpp", ".cu")

_NOT_CODE = re.compile(r'R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def tracked_files(root):
    """Paths, relative to root, of what git tracks or would track; of all files where there is no git checkout."""
    if (root / ".git").exists() and shutil.which("git"):
        git = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, text=True, check=False)
        if git.returncode == 0:
            names = sorted(set(filter(None, git.stdout.split("\0"))))
            return [Path(name) for name in names if (root / name).is_file()]
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        found += [Path(folder, name).relative_to(root) for name in sorted(names)]
    return found


def is_golden(path):
    """Expected output of a program, kept for comparison: nobody wrote it and nothing compiles it in place."""
    return bool({"golden", "goldens"} & set(path.parts))


def is_family(path):
    """Schema entries; op.schema.json beside them describes such files."""
    return path.parent == Path("ops/schemas") and path.suffix == ".json" and path.name != "op.schema.json"


def code_of(text):
    """C++ text with comments and raw strings blanked out; lines keep their numbers."""
    def blank(match):
        plain_string = match.group().startswith('"')
        return match.group() if plain_string else "\n" * match.group().count("\n")
    return _NOT_CODE.sub(blank, text)


class Report:
    """Collects problems as file:line: message, and ends the program with them."""

    def __init__(self, check):
        self.check = check
        self.problems = []

    def add(self, path, line, message):
        self.problems.append((str(path), line, message))

    def finish(self, summary):
        for path, line, message in sorted(set(self.problems)):
            print(f"{path}:{line}: {message}")
        if self.problems:
            sys.exit(f"{self.check}: {len(set(self.problems))} problem(s)")
        print(f"{self.check}: {summary}, no problem")
