#!/usr/bin/env python3
"""What must not compile does not, for the reason that the file says beside it.

Compiles kernels.cpp once, with all its errors, and asks of every line that expects one that the compiler's error that
leads there has the text; of the others, that none does."""

import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
EXPECTED = re.compile(r"// error: (.*)$")


def errors_by_line(output, source):
    """{line of the source: texts of the errors that lead there}.

    An error with the path of instantiations before it and the notes behind it is one block; the last place in the source
    that a block names is where the error comes from."""
    blocks, block = [], []
    for line in output.splitlines():
        starts = re.match(r".*: In (instantiation of|substitution of|function)|In file included from", line) or (
            ": error: " in line and any(": error: " in before for before in block))
        if starts and any(": error: " in before for before in block):
            blocks.append(block)
            block = []
        block.append(line)
    blocks.append(block)
    found = {}
    for block in blocks:
        places = [int(m.group(1)) for line in block for m in [re.search(re.escape(source) + r":(\d+):", line)] if m]
        if places and any(": error: " in line for line in block):
            found.setdefault(max(places), []).append("\n".join(block))
    return found


def readable(text):
    """The compiler's text with its quotes as they were."""
    return text.replace("\\'", "'").replace("‘", "'").replace("’", "'").replace('\\"', '"')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()
    source = HERE / "kernels.cpp"
    build = pathlib.Path(options.build)
    done = subprocess.run(
        [options.compiler, "-std=c++20", "-fsyntax-only", "-w", f"-I{build / 'include'}", f"-I{build / 'generated'}",
         str(source)], capture_output=True, text=True)
    found = errors_by_line(done.stderr, str(source))
    problems, expected = [], 0
    for number, line in enumerate(source.read_text().splitlines(), 1):
        wanted = EXPECTED.search(line)
        texts = [readable(text) for text in found.get(number, [])]
        if wanted:
            expected += 1
            if not any(wanted.group(1) in text for text in texts):
                problems.append(f"{number}: expected '{wanted.group(1)}', but got:\n" + ("\n".join(texts) or "no error"))
        elif texts:
            problems.append(f"{number}: expected no error, but got:\n" + "\n".join(texts))
    if expected < 40:
        problems.append(f"{expected} lines expect an error, but 40 are to")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{expected} lines do not compile, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
