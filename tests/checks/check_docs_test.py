#!/usr/bin/env python3
"""Feeds tools/checks/check_docs.py bad pages, and a build that is a few lines, and expects the exact complaint."""

import subprocess
import sys
import unittest

from checks_test import Scratch

PRESETS = '{ "configurePresets": [{ "name": "dev" }, { "name": "release" }], "testPresets": [{ "name": "dev" }] }'


def fenced(language, *lines):
    return "".join(f"{line}\n" for line in (f"```{language}", *lines, "```"))


class Documents(Scratch):
    def expect(self, text, *problems, options=()):
        """Of a page that has the text."""
        self.write({"page.md": text})
        if problems:
            self.expect_problems("check_docs.py", *(f"page.md:{problem}" for problem in problems), options=options)
        else:
            self.expect_clean("check_docs.py", options=options)


class Links(Documents):
    def test_links_that_lead_somewhere(self):
        self.write({"pages/other.md": "# Other\n\n## What it's `for`, and [why](../page.md)\n## Twice\n## Twice\n"})
        self.expect("# Page\n[a](pages/other.md#what-its-for-and-why) [b](pages) [c](#page) [d](pages/other.md#twice-1)\n"
                    "`[e](nowhere.md)` [f](https://example.org/x#y)\n" + fenced("text", "[g](nowhere.md)"))

    def test_a_link_to_no_file_is_found(self):
        self.expect("# Page\n\nSee [the\nother](pages/other.md).\n", "4: pages/other.md leads nowhere")

    def test_an_anchor_to_no_heading_is_found(self):
        self.write({"pages/other.md": "# Other\n", "a.cpp": ""})
        self.expect("[a](pages/other.md#others)\n[b](#page) [c](a.cpp#l1)\n", "1: pages/other.md has no heading #others",
                    "2: a.cpp has no heading #l1", "2: page.md has no heading #page")

    def test_a_page_that_a_comment_names_is_looked_for(self):
        name = "docs/" + "other.md"
        self.write({"core/a.h": f"// As {name} says.\n"})
        self.expect_problems("check_docs.py", f"core/a.h:1: {name} is not there")

    def test_a_file_that_a_page_names_is_looked_for(self):
        self.write({"core/tensor/a.h": ""})
        self.expect("`a.h` `tensor/a.h` `keyway/core/tensor/a.h` `a_<family>.h`\n\n`b.h` `sor/a.h`\n", "3: b.h is not there",
                    "3: sor/a.h is not there")


class Blocks(Documents):
    def test_a_block_without_a_language_is_found(self):
        self.expect("a\n\n" + fenced("", "x"), "3: '' is none of cmake, cpp, json, mermaid, python, sh, text, toml")

    def test_an_unknown_language_is_found(self):
        self.expect(fenced("bash", "x"), "1: 'bash' is none of cmake, cpp, json, mermaid, python, sh, text, toml")

    def test_an_indented_block_is_found(self):
        self.expect("a\n\n    x\n    y\n\nb\n", "3: a block that is indented: fence it, with its language")

    def test_text_is_not_looked_at(self):
        self.expect(fenced("text", "    bash nowhere.sh --all"))


class Shell(Documents):
    def setUp(self):
        super().setUp()
        self.write({"CMakePresets.json": PRESETS, "tools/a.sh": "echo --all build/venv tools/b.py\n",
                    "tools/b.py": "'--filter'\n", "tools/CMakeLists.txt": "set(commands\n  ops\n  show)\n",
                    "tools/keyway/ops.cpp": 'add_option("--keys")\n', "tests/x_test.py": ""})

    def test_commands_that_name_what_is_there(self):
        self.expect(fenced("sh", "bash tools/a.sh --all \\", "  --filter=x  # --none", "cmake --preset dev && ctest --preset dev",
                           "build/dev/tools/keyway/keyway show add.Tensor --keys CPU", "git clone <where>/x.md", "cd tests",
                           "PYTHONPATH=../build/dev/python ../build/venv/bin/python -m pytest x_test.py"))

    def test_a_missing_script_is_found_with_its_options(self):
        self.expect(fenced("sh", "cd tests", "bash tools/a.sh --all"), "3: tools/a.sh has no option --all",
                    "3: tools/a.sh is not there")

    def test_a_missing_option_is_found(self):
        self.expect(fenced("sh", "ls", "FILE=tools/a.sh bash tools/a.sh --al"), "3: tools/a.sh has no option --al")

    def test_a_missing_preset_is_found(self):
        self.expect(fenced("sh", "cmake --preset fast", "ctest --preset release", "build/fast/x"),
                    "2: CMakePresets.json has no configure preset fast", "3: CMakePresets.json has no test preset release",
                    "4: build/fast/x is not there")

    def test_a_missing_subcommand_is_found(self):
        self.expect(fenced("sh", "keyway --plugin libx.so shows --key CPU"), "2: keyway has no option --key",
                    "2: keyway has no option --plugin", "2: keyway has no subcommand shows")

    def test_a_setting_that_nothing_reads_is_found(self):
        self.expect(fenced("sh", "KEYWAY_FAST=1 x"), "2: nothing in the tree reads KEYWAY_FAST")


class CMake(Documents):
    def test_commands_of_cmake_and_of_the_tree(self):
        self.write({"cmake/keyway.cmake": "function(keyway_add_ops target)\nendfunction()\n"})
        self.expect(fenced("cmake", "add_library(a SHARED", "  a.cpp)", "keyway_add_ops(a)"))

    def test_an_unknown_command_is_found(self):
        self.expect(fenced("cmake", "find_package(keyway)", "keyway_add_ops(a)"), "3: there is no CMake command keyway_add_ops")


class Entries(Documents):
    def setUp(self):
        super().setUp()
        self.write({"ops/schemas/a.json": '{ "ops": [{ "func": "f(Tensor x) -> Tensor", "view": "f", "doc": "x" }] }'})

    def test_a_part_of_an_entry(self):
        self.expect(fenced("json", '{ "func": "f(Tensor x) -> Tensor",', '  "view": "f", ... }'))

    def test_an_entry_that_differs_is_found(self):
        self.expect(fenced("json", '{ "func": "f(Tensor x) -> Tensor",', '  "view": "g", ... }'),
                    '3: view is "f" in the entry')

    def test_an_entry_of_no_file_is_found(self):
        self.expect(fenced("json", '{ "func": "f(Tensor y) -> Tensor" }'),
                    "2: no schema file has an entry f(Tensor y) -> Tensor")

    def test_what_is_not_json_is_found(self):
        self.expect(fenced("json", "{", '  "func" }'), "3: not JSON: Expecting ':' delimiter")


class Cpp(Documents):
    def setUp(self):
        super().setUp()
        self.write({"build/include/keyway/keyway.h": "#pragma once\nnamespace keyway { struct Tensor {}; int one(); }\n",
                    "library.cpp": "namespace keyway { int one() { return 1; } }\n"})
        subprocess.run(["g++", "-fPIC", "-shared", "-o", self.root / "build/libkeyway.so", self.root / "library.cpp"],
                       check=True)
        self.options = ["--build", self.root / "build", "--compiler", "g++"]

    def test_fragments_of_a_page_are_one_file(self):
        self.expect(fenced("cpp", "struct A { Tensor x; };") + "\n<!-- with:\nstruct B;\nvoid f() {\n-->\n" +
                    fenced("cpp", "A a;", "B* b = nullptr;") + fenced("cpp", "#include <vector>", "std::vector<A> as;"),
                    options=self.options)

    def test_a_fragment_that_does_not_compile_is_found(self):
        self.expect("<!-- with: struct A; -->\n" + fenced("cpp", "A* a;", "B* b;"),
                    "4: error: 'B' does not name a type", options=self.options)

    def test_a_program_runs(self):
        self.expect(fenced("cpp", "#include <keyway/keyway.h>", "int main() { return keyway::one() - 1; }"),
                    options=self.options)

    def test_a_program_that_fails_is_found(self):
        self.expect(fenced("cpp", "#include <keyway/keyway.h>", "int main() { return keyway::one(); }"),
                    "2: ended with 1", options=self.options)

    def test_a_program_that_is_not_whole_is_found(self):
        self.expect(fenced("cpp", "int main() { return keyway::one(); }"), "2: error: 'keyway' has not been declared",
                    options=self.options)


class Python(Documents):
    def setUp(self):
        super().setUp()
        self.write({"build/python/keyway.py": "one = 1\n"})
        self.options = ["--build", self.root / "build", "--python", sys.executable]

    def test_blocks_of_a_page_run_in_their_order(self):
        self.expect(fenced("python", "import keyway") + "text\n" + fenced("python", "assert keyway.one == 1"),
                    options=self.options)

    def test_a_block_that_fails_is_found(self):
        self.expect(fenced("python", "import keyway") + "text\n" + fenced("python", "x = 2", "assert keyway.one == x, x"),
                    "7: AssertionError: 2", options=self.options)


if __name__ == "__main__":
    unittest.main()
