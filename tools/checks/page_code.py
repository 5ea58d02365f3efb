"""Compiles and runs the C++ and the Python of pages."""

import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


class Compiler:
    """The compiler of a build, with its headers and its library."""

    def __init__(self, program, build):
        self.build = build
        self.command = [program, "-std=c++20", "-I", build / "include", "-I", build / "generated", "-x", "c++", "-"]

    def run(self, source, *options):
        plain = {**os.environ, "LC_ALL": "C"}  # messages with the quotes of ASCII
        return subprocess.run([*self.command, *options], input=source, capture_output=True, text=True, env=plain, check=False)


def fragment(page, block):
    """The block as a part of a file: `needs` in front, and what `needs` leaves open closed behind it."""
    closing = "}" * (block.needs.count("{") - block.needs.count("}"))
    return f'#line {block.line} "{page.path} (with)"\n{block.needs}\n#line {block.line} "{page.path}"\n{block.text}{closing}\n'


def problem_of(done, page, block, report):
    """Reports the first error that has a line of the page, or else the first line that was printed."""
    if done.returncode == 0:
        return
    path = re.escape(str(page.path))
    for pattern in (rf"^{path}:(\d+):(?:\d+:)? (?:fatal )?(error: .*)", rf"^{path} \(with\):(\d+):(?:\d+:)? (error: .*)"):
        found = re.search(pattern, done.stderr, re.MULTILINE)
        if found:
            report.add(page.path, int(found[1]), found[2])
            return
    report.add(page.path, block.line, next(filter(None, done.stderr.splitlines()), f"ended with {done.returncode}"))


def check_program(page, block, compiler, report):
    """A block with a main is a whole program: it is compiled, linked and run."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        done = compiler.run(f'#line {block.line} "{page.path}"\n{block.text}', "-o", program, "-L", compiler.build,
                            f"-Wl,-rpath,{compiler.build}", "-lkeyway")
        if done.returncode == 0:
            done = subprocess.run([program], capture_output=True, text=True, check=False)
        problem_of(done, page, block, report)


def check_fragments(page, blocks, compiler, report):
    """The other blocks of a page are one file, in their order."""
    source = "#include <keyway/keyway.h>\nusing namespace keyway;\n" + "".join(fragment(page, block) for block in blocks)
    problem_of(compiler.run(source, "-fsyntax-only"), page, blocks[0], report)


def check_cpp(pages, compiler, report):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = []
        for page in pages:
            blocks = [block for block in page.blocks if block.language == "cpp"]
            programs = [block for block in blocks if re.search(r"\bint main\(", block.text)]
            fragments = [block for block in blocks if block not in programs]
            runs += [pool.submit(check_program, page, block, compiler, report) for block in programs]
            if fragments:
                runs.append(pool.submit(check_fragments, page, fragments, compiler, report))
        for run in runs:
            run.result()


def check_python(pages, python, build, report):
    """The blocks of a page run in their order, in one process, on the lines that they have in the page. What they write lies
    in a folder that goes away. Device types of the examples are there when they are named."""
    python = Path(shutil.which(python)).absolute()
    environment = {**os.environ, "PYTHONPATH": str(build / "python"), "PYTHONDONTWRITEBYTECODE": "1",
                   "KEYWAY_PLUGIN_PATH": str(build / "examples")}
    for page in pages:
        blocks = [block for block in page.blocks if block.language == "python"]
        if not blocks:
            continue
        source = ""
        for block in blocks:
            source += "\n" * (block.line - 1 - source.count("\n")) + block.text
        program = f"import sys; exec(compile(sys.stdin.read(), {str(page.path)!r}, 'exec'), {{'__name__': '__main__'}})"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([python, "-c", program], input=source, capture_output=True, text=True, env=environment,
                                  cwd=folder, check=False)
        if done.returncode:
            lines = re.findall(rf'File "{re.escape(str(page.path))}", line (\d+)', done.stderr)
            report.add(page.path, int(lines[-1]) if lines else blocks[0].line, done.stderr.splitlines()[-1])
