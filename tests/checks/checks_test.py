#!/usr/bin/env python3
"""Feeds the checks bad scratch trees and expects the exact complaint: a check that cannot fail says nothing."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECKS = Path(__file__).resolve().parents[2] / "tools/checks"
REPOSITORY = CHECKS.parents[1]

FLOORS = """\
0  core/base      <-
1  core           <- core/base
2  dispatch       <- core
3  api = ops/*.h  <- dispatch
4  backends/cpu   <- dispatch
4  backends/cuda  <- dispatch
7  tests          <- *
"""
EMPTY_HEADER = "// Nothing.\n#pragma once\n"


def texts_in(value):
    """All strings of a JSON value with blanks between them, so that it does not matter where they are broken."""
    if isinstance(value, dict):
        return " ".join(f"{key} {texts_in(item)}" for key, item in value.items())
    return " ".join(map(texts_in, value)) if isinstance(value, list) else str(value)


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, files):
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run_check(self, check, *options):
        return subprocess.run([sys.executable, CHECKS / check, "--root", self.root, *options], capture_output=True,
                              text=True, check=False)

    def expect_problems(self, check, *expected, options=()):
        run = self.run_check(check, *options)
        self.assertEqual(run.stdout.splitlines(), list(expected), run.stderr)
        self.assertEqual(run.returncode, 1)

    def expect_clean(self, check, options=()):
        run = self.run_check(check, *options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


class Layers(Scratch):
    def setUp(self):
        super().setUp()
        self.write({"cmake/floors.txt": FLOORS, "core/tensor.h": EMPTY_HEADER, "backends/cpu/pool.h": EMPTY_HEADER})

    def test_a_tree_that_keeps_its_floors_passes(self):
        self.write({"dispatch/a.cpp": "#include <keyway/core/tensor.h>\n#include <vector>\n"})
        self.expect_clean("check_layers.py")

    def test_an_include_of_a_higher_floor_is_found(self):
        self.write({"dispatch/a.cpp": "#include <vector>\n#include <keyway/backends/cpu/pool.h>\n"})
        self.expect_problems("check_layers.py", "dispatch/a.cpp:2: dispatch may not include backends/cpu")

    def test_backends_may_not_include_each_other(self):
        self.write({"backends/cuda/a.cu": "#include <keyway/backends/cpu/pool.h>\n"})
        self.expect_problems("check_layers.py", "backends/cuda/a.cu:1: backends/cuda may not include backends/cpu")

    def test_what_a_module_may_include_may_be_reached_through_it(self):
        self.write({"core/base/error.h": EMPTY_HEADER, "dispatch/a.cpp": "#include <keyway/core/base/error.h>\n"})
        self.expect_clean("check_layers.py")

    def test_a_folder_inside_a_module_belongs_to_it(self):
        self.write({"backends/cpu/simd/a.cpp": "#include <keyway/backends/cpu/pool.h>\n"})
        self.expect_clean("check_layers.py")

    def test_an_unknown_folder_is_found(self):
        self.write({"extra/a.cpp": ""})
        self.expect_problems("check_layers.py",
                             "extra/a.cpp:1: unknown folder extra: give it a row in cmake/floors.txt")

    def test_an_include_in_quotes_is_found(self):
        self.write({"core/a.cpp": '#include "tensor.h"\n'})
        self.expect_problems("check_layers.py",
                             'core/a.cpp:1: "tensor.h" is included in quotes: spell it <keyway/...>')

    def test_an_include_of_nothing_is_found(self):
        self.write({"core/a.cpp": "#include <keyway/core/tensr.h>\n"})
        self.expect_problems("check_layers.py", "core/a.cpp:1: <keyway/core/tensr.h> does not exist")

    def test_includes_in_comments_and_raw_strings_are_not_includes(self):
        self.write({"core/a.cpp": '/*\n#include "x.h"\n*/\n// #include "y.h"\nauto s = R"(\n#include "z.h"\n)";\n'})
        self.expect_clean("check_layers.py")

    def test_a_circle_of_imports_is_found_in_functions_too_but_not_for_type_checkers(self):
        late = "def f():\n    from package import a\n"
        self.write({"python/package/__init__.py": "", "python/package/a.py": "from package.b import x\n",
                    "python/package/b.py": late})
        self.expect_problems("check_layers.py", "python/package/a.py:1: modules import each other in a circle: "
                                                "package.a -> package.b -> package.a")
        self.write({"python/package/b.py": "if TYPE_CHECKING:\n    from package import a\n"})
        self.expect_clean("check_layers.py")

    def test_a_cycle_of_folders_is_found(self):
        self.write({"backends/cpu/simd/vector.h": EMPTY_HEADER + "#include <keyway/backends/cpu/pool.h>\n",
                    "backends/cpu/a.cpp": "#include <keyway/backends/cpu/simd/vector.h>\n"})
        self.expect_problems("check_layers.py",
                             "backends/cpu/a.cpp:1: folders include each other in a cycle: "
                             "backends/cpu -> backends/cpu/simd -> backends/cpu")

    def test_pictures_that_are_out_of_date_are_found_and_drawn_without_what_is_reached_anyway(self):
        page = "docs/architecture/imports.md"
        self.write({"core/base/error.h": EMPTY_HEADER,
                    "core/tensor.h": EMPTY_HEADER + "#include <keyway/core/base/error.h>\n",
                    "dispatch/a.cpp": "#include <keyway/core/base/error.h>\n#include <keyway/core/tensor.h>\n",
                    "python/package/one/a.py": "from package.two import b\n", "python/package/two/b.py": "",
                    page: "a\n<!-- drawn from here -->\n<!-- drawn up to here -->\nb\n"})
        generated = ["--generated", self.root / "build/keyway"]
        self.expect_problems("check_layers.py", f"{page}:1: the pictures are out of date: run "
                                                "tools/checks/check_layers.py with --draw", options=generated)
        self.expect_clean("check_layers.py", [*generated, "--draw"])
        self.expect_clean("check_layers.py", generated)
        self.assertEqual((self.root / page).read_text(), (
            "a\n<!-- drawn from here -->\n\n## C++\n\n```mermaid\ngraph TD\n  core --> core/base\n  dispatch --> core\n```\n\n"
            "## Python\n\n```mermaid\ngraph TD\n  one --> two\n```\n\n<!-- drawn up to here -->\nb\n"))

    def test_a_third_party_include_in_a_public_header_is_found(self):
        self.write({"core/CMakeLists.txt": "keyway_module(core\n  HEADERS tensor.h)\n",
                    "core/tensor.h": EMPTY_HEADER + "#include <dnnl.hpp>\n"})
        self.expect_problems("check_layers.py",
                             "core/tensor.h:3: a public header may include only <keyway/...> and the standard "
                             "library, not <dnnl.hpp>")

    def test_an_internal_header_in_a_public_header_is_found(self):
        self.write({"core/CMakeLists.txt": "keyway_module(core HEADERS tensor.h)\n", "core/hidden.h": EMPTY_HEADER,
                    "core/tensor.h": EMPTY_HEADER + "#include <keyway/core/hidden.h>\n"})
        self.expect_problems("check_layers.py",
                             "core/tensor.h:3: a public header may not include <keyway/core/hidden.h>, which is not in "
                             "a HEADERS list")

    def test_fmt_in_an_internal_header_is_found(self):
        self.write({"core/text.h": EMPTY_HEADER + "#include <fmt/format.h>\n"})
        self.expect_problems("check_layers.py",
                             "core/text.h:3: <fmt/format.h> may be included in .cpp files only")

    def test_the_test_framework_is_included_in_one_place(self):
        self.write({"tests/a_test.cpp": "#include <catch2/catch.hpp>\n"})
        self.expect_problems("check_layers.py",
                             "tests/a_test.cpp:1: <catch2/catch.hpp> may be included by tests/catch.h only: include "
                             "<keyway/tests/catch.h>")

    def test_a_target_that_depends_on_a_higher_floor_is_found(self):
        self.write({"dispatch/CMakeLists.txt": "# A comment\nkeyway_module(dispatch\n  DEPENDS core backends/cpu)\n"})
        self.expect_problems("check_layers.py", "dispatch/CMakeLists.txt:2: dispatch may not depend on backends/cpu")

    def test_generated_headers_are_looked_for_and_checked(self):
        self.write({"build/keyway/ops/add.h": EMPTY_HEADER + "#include <keyway/backends/cpu/pool.h>\n",
                    "tests/a.cpp": "#include <keyway/ops/add.h>\n#include <keyway/ops/sub.h>\n"})
        self.expect_problems("check_layers.py",
                             "ops/add.h:3: api may not include backends/cpu",
                             "tests/a.cpp:2: <keyway/ops/sub.h> does not exist",
                             options=["--generated", self.root / "build/keyway"])

    def test_the_table_itself_may_not_climb(self):
        self.write({"cmake/floors.txt": FLOORS.replace("2  dispatch       <- core", "2  dispatch  <- backends/cpu")})
        self.expect_problems("check_layers.py",
                             "cmake/floors.txt:3: dispatch lists backends/cpu, which is not on a lower floor")


class Style(Scratch):
    def setUp(self):
        super().setUp()
        self.write({".clang-format": (REPOSITORY / ".clang-format").read_text()})

    def test_a_tidy_tree_passes(self):
        self.write({"core/a.h": EMPTY_HEADER, "core/a.cpp": "int f() { return 1; }\n"})
        self.expect_clean("check_style.py")

    def test_a_long_file_is_found(self):
        entries = ",\n\n".join(['{ "func": "f() -> Tensor",\n  "doc": "d" }'] * 201)
        self.write({"core/a.cpp": "// x\n" * 601,
                    "ops/schemas/all.json": f'{{ "doc": "d",\n  "ops": [\n\n{entries}\n  ]\n}}\n'})
        self.expect_problems("check_style.py", "core/a.cpp:601: 601 lines: a file has 600 at most")

    def test_marks_of_undone_work_are_found(self):
        mark = "TO" + "DO"
        self.write({"core/a.cpp": f"// {mark}: later\n"})
        self.expect_problems("check_style.py", f"core/a.cpp:1: {mark} marks work left undone: do it, or open an issue")

    def test_globs_and_dangerous_flags_are_found(self):
        fast, glob = "-f" + "fast-math", "file(GL" + "OB"
        self.write({"CMakeLists.txt": f"{glob} all *.cpp)\nadd_compile_options({fast} -mavx2)\n"})
        self.expect_problems("check_style.py",
                             f"CMakeLists.txt:1: {glob}: list the files",
                             f"CMakeLists.txt:2: {fast} changes results, and the whole process with g++",
                             "CMakeLists.txt:2: -mavx2: an instruction set is chosen at run time")

    def test_a_header_without_pragma_once_is_found(self):
        self.write({"core/a.h": "int f();\n"})
        self.expect_problems("check_style.py", "core/a.h:1: a header begins with a comment and #pragma once")

    def test_a_path_of_one_machine_is_found(self):
        path = "/" + "home/someone"
        self.write({"tools/a.py": f"open('{path}/x')\nopen('a{path}')\n"})
        self.expect_problems("check_style.py", f"tools/a.py:1: {path} is a path of one machine")

    def test_unformatted_code_is_found(self):
        self.write({"core/a.cpp": "int x;\nint  f( ){return 1;}\n"})
        self.expect_problems("check_style.py", "core/a.cpp:2: not formatted: run clang-format-14 -i core/a.cpp")

    def test_unformatted_entries_are_found(self):
        long = '{ "doc": "' + "a" * 120 + '",\n  "ops": [\n\n\n  ]\n}\n'
        self.write({"ops/schemas/two_keys.json": '{ "doc": "d",\n  "ops": [\n\n{ "func": "f()", "doc": "d" }\n  ]\n}\n',
                    "ops/schemas/long.json": long, "ops/schemas/wrong.json": '{ "doc": "d", "doc": "e" }\n'})
        self.expect_problems(
            "check_style.py",
            "ops/schemas/long.json:1: 132 columns: a line has 120 at most",
            "ops/schemas/two_keys.json:4: not formatted: run tools/checks/format_entries.py ops/schemas/two_keys.json",
            "ops/schemas/wrong.json:1: not a schema file: the key 'doc' stands twice in an object")

    def test_the_formatter_breaks_texts_that_the_generator_joins(self):
        words = " ".join(["word"] * 40)
        call = "f(" + ", ".join(["1.0"] * 30) + ")"
        file = {"doc": words, "macros": {"long(x)": words, "list": [words, "short"]}, "ops": [
            {"for": {"N": [1, words], "more": [["(1)", call], None]}, "func": "f{N}() -> Tensor",
             "requires": [words, {"index": words}], "derivatives": {"self": call}, "samples": ["{more}"],
             "doc": [words, words], "example": f"(1) == {call}"}]}
        path = self.root / "a.json"
        path.write_text(json.dumps(file))
        formatter = [sys.executable, REPOSITORY / "tools/checks/format_entries.py", path]
        subprocess.run(formatter, check=True)
        once = path.read_text()
        self.assertLessEqual(max(map(len, once.splitlines())), 120)
        subprocess.run(formatter, check=True)
        self.assertEqual(path.read_text(), once)
        self.assertEqual(texts_in(json.loads(once)), texts_in(file))


class Kernels(Scratch):
    def check(self, *registered):
        """Of a library whose host code has keyway::kernel<int> and <float>."""
        names = "".join(f"\\0{name}" for name in registered)
        self.write({"a.cpp": "namespace keyway { template <typename T> static void kernel(T) { asm volatile(\"\"); } }\n"
                             "void (*const ints)(int) = keyway::kernel<int>;\n"
                             "void (*const floats)(float) = keyway::kernel<float>;\n"
                             "void* uses[] = {(void*)ints, (void*)floats};\n"
                             f"extern const char names[] = \"{names}\";\n"})
        library = self.root / "a.so"
        subprocess.run(["g++", "-fPIC", "-shared", "-o", library, self.root / "a.cpp"], check=True)
        return subprocess.run([sys.executable, CHECKS / "check_kernels.py", library], capture_output=True, text=True,
                              check=False)

    def test_kernels_that_are_all_there(self):
        self.assertEqual(self.check("_ZN6keyway6kernelIiEEvT_", "_ZN6keyway6kernelIfEEvT_").returncode, 0)

    def test_a_kernel_that_no_device_has(self):
        run = self.check("_ZN6keyway6kernelIfEEvT_")
        self.assertEqual(run.returncode, 1)
        self.assertIn("1 of 2 kernels", run.stdout)
        self.assertIn("void keyway::kernel<int>(int)", run.stdout)

    def test_a_library_without_kernels(self):
        self.assertEqual(self.check().returncode, 1)


if __name__ == "__main__":
    unittest.main()
