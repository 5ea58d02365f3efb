#!/usr/bin/env python3
"""Checks that the tree keeps its floors: cmake/floors.txt says which module may include which.

Looks at every #include of the tree (and of the generated headers, if told where they are), at the DEPENDS of every
keyway_module in CMake, and at the imports of the Python package, which have no circle; draws both.
"""

import argparse
import fnmatch
import re
import sys
from pathlib import Path

from graphs import circles, picture, reached
from python_imports import ImportGraph
from tree import CXX_FILES, CXX_HEADERS, Report, code_of, is_golden, tracked_files

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
MODULE_CALL = re.compile(r"^[ \t]*keyway_module\(([^)]*)\)", re.MULTILINE)
MODULE_WORDS = {"HEADERS", "SOURCES", "GENERATED", "DEPENDS", "LINK", "STANDALONE"}
# Of C++, and what nvcc comes with of it for devices: complex functions.
STANDARD_HEADER = re.compile(r"[a-z_0-9]+|std(bool|def|int)\.h|thrust/complex\.h")
NEVER_INSTALLED = ("codegen", "tools")
CPP_ONLY = ("fmt/", "nlohmann/")
TEST_FRAMEWORK = ("catch2/",)
TEST_FRAMEWORK_USERS = ("tests/catch.h", "tests/catch_main.cpp")
PICTURES = Path("docs/architecture/imports.md")


class Module:
    def __init__(self, line, floor, name, paths, allowed):
        self.line, self.floor, self.name, self.paths, self.allowed = line, floor, name, paths, allowed


class Floors:
    """The table of cmake/floors.txt."""

    def __init__(self, path, shown_path, report):
        self.modules = {}
        for number, text in enumerate(path.read_text().splitlines(), 1):
            text = text.split("#")[0].strip()
            if not text:
                continue
            match = re.fullmatch(r"(\d+|-)\s+(\S+)\s*(?:=\s*([^<]+))?<-\s*(.*)", text)
            if not match:
                sys.exit(f"{shown_path}:{number}: not of the form 'floor module [= paths] <- modules'")
            floor, name, paths, allowed = match.groups()
            self.modules[name] = Module(number, None if floor == "-" else int(floor), name,
                                        paths.split() if paths else None, allowed.split())
        for module in self.modules.values():
            if module.allowed == ["*"]:
                module.allowed = [other for other in self.modules if other != module.name]
                continue
            for name in module.allowed:
                other = self.modules.get(name)
                if other is None:
                    report.add(shown_path, module.line, f"{module.name} lists {name}, which has no row")
                elif other.floor is None or (module.floor is not None and other.floor >= module.floor):
                    report.add(shown_path, module.line, f"{module.name} lists {name}, which is not on a lower floor")
        allowed = {name: module.allowed for name, module in self.modules.items()}
        self._below = {name: reached(allowed, name) for name in self.modules}

    def may_include(self, user, used):
        return used == user or used in self._below[user]

    def module_of(self, path):
        """The module that a file, or a folder with a / behind it, belongs to: the longest match wins."""
        best, length = None, -1
        for module in self.modules.values():
            for pattern in module.paths or [module.name + "/"]:
                folder = pattern.endswith("/")
                fits = path.startswith(pattern) if folder else (
                    fnmatch.fnmatch(path, pattern) and path.count("/") == pattern.count("/"))
                if fits and len(pattern) > length:
                    best, length = module, len(pattern)
        return best

    def node_of(self, path):
        """What a file counts as in the graph of folders: its folder, or its module if that spells out its paths."""
        module = self.module_of(path)
        return module.name if module and module.paths else str(Path(path).parent)


def cmake_modules(root, files):
    """(path, line, folder, {keyword: words}) of each keyway_module call."""
    for path in files:
        if path.name != "CMakeLists.txt" and path.suffix != ".cmake":
            continue
        text = re.sub(r"#[^\n]*", "", (root / path).read_text())
        for match in MODULE_CALL.finditer(text):
            words = match.group(1).split()
            if not words:
                continue
            parts, keyword = {}, None
            for word in words[1:]:
                if word in MODULE_WORDS:
                    keyword = parts.setdefault(word, [])
                elif keyword is not None:
                    keyword.append(word)
            yield path, text.count("\n", 0, match.start()) + 1, words[0], parts


def check_cmake(floors, modules, report):
    for path, line, folder, parts in modules:
        user = floors.module_of(folder + "/") or floors.modules.get(folder)
        if user is None:
            report.add(path, line, f"unknown folder {folder}: give it a row in cmake/floors.txt")
            continue
        for name in parts.get("DEPENDS", []):
            used = floors.module_of(name + "/") or floors.modules.get(name)
            if used is None:
                report.add(path, line, f"{folder} depends on {name}, which has no row in cmake/floors.txt")
            elif not floors.may_include(user.name, used.name):
                report.add(path, line, f"{user.name} may not depend on {used.name}")


class Includes:
    def __init__(self, floors, root, generated, public, report):
        self.floors, self.root, self.generated, self.public, self.report = floors, root, generated, public, report
        self.edges = {}  # (folder, folder) -> first (path, line) that includes so

    def check_file(self, path, text, is_public):
        name = str(path)
        module = self.floors.module_of(name)
        if module is None:
            self.report.add(path, 1, f"unknown folder {path.parent}: give it a row in cmake/floors.txt")
            return
        code = code_of(text)
        for match in INCLUDE.finditer(code):
            line = code.count("\n", 0, match.start(1)) + 1
            problem = self._problem(path, line, module, match.group(1), match.group(2), is_public)
            if problem:
                self.report.add(path, line, problem)

    def _problem(self, path, line, module, bracket, target, is_public):
        if bracket == '"':
            return f'"{target}" is included in quotes: spell it <keyway/...>'
        if not target.startswith("keyway/"):
            return self._foreign_problem(path, target, is_public)
        target = target.removeprefix("keyway/")
        used = self.floors.module_of(target)
        if used is None:
            return f"<keyway/{target}> is in an unknown folder: give it a row in cmake/floors.txt"
        if not self._exists(target, used):
            return f"<keyway/{target}> does not exist"
        if not self.floors.may_include(module.name, used.name):
            return f"{module.name} may not include {used.name}"
        if is_public and target not in self.public and not (self.generated and (self.generated / target).is_file()):
            if not used.paths:
                return f"a public header may not include <keyway/{target}>, which is not in a HEADERS list"
        user_node, used_node = self.floors.node_of(str(path)), self.floors.node_of(target)
        if user_node != used_node:
            self.edges.setdefault((user_node, used_node), (path, line))
        return None

    def _exists(self, target, used):
        if (self.root / target).is_file() or (self.generated and (self.generated / target).is_file()):
            return True
        return self.generated is None and used.paths is not None  # generated; the build is not there to look in

    def _foreign_problem(self, path, target, is_public):
        if is_public and not STANDARD_HEADER.fullmatch(target):
            return f"a public header may include only <keyway/...> and the standard library, not <{target}>"
        if path.suffix in CXX_HEADERS and target.startswith(CPP_ONLY):
            return f"<{target}> may be included in .cpp files only"
        if target.startswith(TEST_FRAMEWORK) and str(path) not in TEST_FRAMEWORK_USERS:
            return f"<{target}> may be included by tests/catch.h only: include <keyway/tests/catch.h>"
        return None

    def check_cycles(self):
        """Reports each folder edge that lies on a cycle once, at the include that makes it."""
        graph = {}
        for user, used in self.edges:
            graph.setdefault(user, set()).add(used)
        for cycle in circles(graph):
            path, line = self.edges[cycle[0], cycle[1]]
            self.report.add(path, line, "folders include each other in a cycle: " + " -> ".join(cycle))


def check_python(graph, report):
    for circle in circles(graph.imports):
        user, used = circle[:2]
        report.add(graph.paths[user], graph.imports[user][used],
                   "modules import each other in a circle: " + " -> ".join(circle))


def check_pictures(page, draw, includes, imports, report):
    """Of folders, but for tests, which may include anything."""
    edges = {edge for edge in includes.edges if not edge[0].startswith("tests")}
    pictures = f"\n## C++\n\n{picture(edges)}\n\n## Python\n\n{picture(imports.folders())}\n\n"
    text = page.read_text()
    before, begin, rest = text.partition("<!-- drawn from here -->\n")
    _, end, behind = rest.partition("<!-- drawn up to here -->\n")
    drawn = before + begin + pictures + end + behind
    if draw:
        page.write_text(drawn)
    elif text != drawn:
        report.add(PICTURES, 1, "the pictures are out of date: run tools/checks/check_layers.py with --draw")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the source tree")
    parser.add_argument("--generated", type=Path, help="the folder in a build that stands for <keyway/>, if built")
    parser.add_argument("--draw", action="store_true", help=f"draw the pictures of {PICTURES} anew (with --generated)")
    args = parser.parse_args()
    if args.draw and not args.generated:
        parser.error("--draw needs --generated: its includes are drawn too")

    report = Report("check_layers")
    files = tracked_files(args.root)
    floors = Floors(args.root / "cmake/floors.txt", "cmake/floors.txt", report)
    modules = list(cmake_modules(args.root, files))
    check_cmake(floors, modules, report)

    public = {f"{folder}/{header}" for _, _, folder, parts in modules
              if "STANDALONE" not in parts and not folder.startswith(NEVER_INSTALLED)
              for header in parts.get("HEADERS", [])}
    includes = Includes(floors, args.root, args.generated, public, report)
    sources = [path for path in files if path.suffix in CXX_FILES and not is_golden(path)]
    for path in sources:
        includes.check_file(path, (args.root / path).read_text(), str(path) in public)
    if args.generated:
        generated = [path for path in tracked_files(args.generated) if path.suffix in CXX_FILES]
        for path in generated:
            includes.check_file(path, (args.generated / path).read_text(), path.suffix == ".h")
        sources += generated
    includes.check_cycles()
    imports = ImportGraph(args.root, Path("python"), files)
    check_python(imports, report)
    if args.generated and (args.root / PICTURES).is_file():
        check_pictures(args.root / PICTURES, args.draw, includes, imports, report)
    report.finish(f"{len(sources)} files in {len(floors.modules)} modules")


if __name__ == "__main__":
    main()
