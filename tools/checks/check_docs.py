#!/usr/bin/env python3
"""Checks the documents, all *.md files of the tree: links lead somewhere, files that are named are there, and each code
block holds.

A block says its language. `text` and `mermaid` are not looked at; what sh, cmake and json name has to be there. With
--build and --compiler C++ is compiled, and programs are run; with --python too, so are the Python blocks.
"""

import argparse
import re
from pathlib import Path

from markdown_page import pages_of
from page_blocks import Tree, check_cmake, check_entry, check_shell, cmake_commands, schema_entries
from page_code import Compiler, check_cpp, check_python
from tree import Report, is_golden, tracked_files

LANGUAGES = ("cmake", "cpp", "json", "mermaid", "python", "sh", "text", "toml")
PAGE_NAME = re.compile(r"(?<!\]\()\bdocs/(?!ops/)[\w/]+\.md\b")  # the generator writes docs/ops
FILE_SPAN = re.compile(r"`(?:keyway/)?([\w./-]+\.(?:cmake|cpp|cuh?|h|json|md|pyi?|sh|txt))`")
TEXT_SUFFIXES = (".cpp", ".cu", ".cuh", ".h", ".cmake", ".json", ".md", ".py", ".pyi", ".sh", ".txt")


def check_links(root, pages, report):
    for page in pages.values():
        for line, target in page.links():
            name, _, anchor = target.partition("#")
            if re.match(r"\w+:", target):
                continue
            path = (root / page.path.parent / name).resolve() if name else root / page.path
            if not path.exists():
                report.add(page.path, line, f"{target} leads nowhere")
            elif anchor and anchor not in getattr(pages.get(path.relative_to(root)), "anchors", set)():
                report.add(page.path, line, f"{name or page.path.name} has no heading #{anchor}")


def check_names(root, files, pages, report):
    """Files that pages name, by the end of their paths; and pages that any text names, comments and messages too."""
    ends = {"/".join(path.parts[-count:]) for path in files for count in range(1, len(path.parts) + 1)}
    for page in pages.values():
        for number, line in enumerate(page.prose.splitlines(), 1):
            for name in FILE_SPAN.findall(line):
                if name not in ends:
                    report.add(page.path, number, f"{name} is not there")
    for path in files:
        if path.suffix not in TEXT_SUFFIXES and path.name != "CMakeLists.txt" or is_golden(path):
            continue
        for number, line in enumerate((root / path).read_text().splitlines(), 1):
            for name in PAGE_NAME.findall(line):
                if not (root / name).is_file() and not (root / path.parent / name).is_file():
                    report.add(path, number, f"{name} is not there")


def check_blocks(root, files, pages, report):
    tree, commands, entries = Tree(root, files), cmake_commands(root, files), schema_entries(root, files)
    checks = {"sh": lambda block, add: check_shell(block, tree, add),
              "cmake": lambda block, add: check_cmake(block, commands, add),
              "json": lambda block, add: check_entry(block, entries, add)}
    for page in pages.values():
        for line in page.indented:
            report.add(page.path, line, "a block that is indented: fence it, with its language")
        for block in page.blocks:
            if block.language not in LANGUAGES:
                report.add(page.path, block.line - 1, f"'{block.language}' is none of {', '.join(LANGUAGES)}")
            elif block.language in checks:
                checks[block.language](block, lambda line, message, path=page.path: report.add(path, line, message))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the source tree")
    parser.add_argument("--build", type=Path, help="a build folder")
    parser.add_argument("--compiler", help="the build's compiler")
    parser.add_argument("--python", help="the Python that the build's package is for")
    args = parser.parse_args()

    report, root = Report("check_docs"), args.root.resolve()
    files = [path for path in tracked_files(root) if not path.is_relative_to("tests/codegen/data")]
    pages = pages_of(root, files)
    check_links(root, pages, report)
    check_names(root, files, pages, report)
    check_blocks(root, files, pages, report)
    if args.compiler:
        check_cpp(pages.values(), Compiler(args.compiler, args.build.resolve()), report)
    if args.python:
        check_python(pages.values(), args.python, args.build.resolve(), report)
    report.finish(f"{len(pages)} pages with {sum(len(page.blocks) for page in pages.values())} blocks")


if __name__ == "__main__":
    main()
