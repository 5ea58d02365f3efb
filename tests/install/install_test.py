#!/usr/bin/env python3
"""Installs a build into a scratch folder and looks at it as a user would: with nothing but the installed files."""

import argparse
import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
TORCH = "share/keyway/compat/python/torch/share/cmake"  # what keyway.utils.cmake_prefix_path adds
options = None


# A program with control flow.
BRANCHES = """graph program(%0 x: float32[rows, 16]) {
  %1 = keyway::sum(%0)
  [%2] = keyway::cond(%1, graph program(%0: float32[rows, 16]) {
    %1: float32[rows, 16] = keyway::cos(%0)
    return (%1)
  }, graph program(%0: float32[rows, 16]) {
    %1: float32[rows, 16] = keyway::neg(%0)
    return (%1)
  }, [%0])
  return (%2)
}
"""
GRAPH = "__torch__.torch.classes.keyway.Graph"
SCHEMAS = f"""keyway::cond(Tensor pred, {GRAPH} true_graph, {GRAPH} false_graph, Tensor[] operands) -> Tensor[]
cos(Tensor self) -> Tensor
neg(Tensor self) -> Tensor
sum(Tensor self, *, ScalarType? dtype=None) -> Tensor
"""


def program_file(text, schemas):
    """The bytes of a program without state."""
    entries = {"keyway.program": "1", "keyway.program.text": text, "keyway.program.schemas": schemas}
    header = json.dumps({"__metadata__": entries}).encode()
    return len(header).to_bytes(8, "little") + header


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._scratch.cleanup)
        cls.scratch = Path(cls._scratch.name)
        cls.prefix = cls.scratch / "prefix"
        run("cmake", "--install", options.build, "--prefix", cls.prefix)
        (cls.library,) = cls.prefix.rglob("libkeyway.so.1")
        cls.libraries = (cls.library, cls.library.with_name("libkeyway_graph.so.1"))

    @classmethod
    def consumer(cls):
        """The folder of the consumer's programs, built once."""
        build = cls.scratch / "consumer"
        if not build.exists():
            run("cmake", "-G", "Ninja", "-S", HERE / "consumer", "-B", build, f"-DCMAKE_PREFIX_PATH={cls.prefix};{cls.prefix / TORCH}",
                f"-DCMAKE_CXX_COMPILER={options.compiler}", f"-DEXAMPLES={SOURCE / 'examples'}")
            run("cmake", "--build", build, "-j", "2")
        return build

    def both(self, program):
        """What the program prints, linked with the shared library and with the static one."""
        shared, static = run(self.consumer() / program), run(self.consumer() / f"{program}_static")
        self.assertEqual(shared, static)
        return shared

    def test_an_error_crosses_from_the_library(self):
        self.assertEqual(self.both("consumer"), "one and one are 2, not 3\n")

    def test_the_example_of_a_custom_operator_runs(self):
        self.assertEqual(self.both("custom_op"), "cube(2) = 8, and its slope there is 12\n")

    def test_blocks_of_all_macros_are_registered(self):
        lines = self.both("library_macros").splitlines()
        self.assertEqual(lines[:2], ["scale 4.5, twice 6", "3 calls counted"])
        self.assertIn("my::scale: it has no kernel for Meta", lines[2])

    def test_a_wrong_block_ends_the_program_with_its_place(self):
        done = subprocess.run([self.consumer() / "wrong_block"], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"kernel of my::count at .*wrong_block\.cpp:6 does not fit the schema")

    def test_a_plugin_is_loaded_and_unloaded(self):
        folder = self.consumer()
        self.assertEqual(run(folder / "use_plugin", folder / "libhalves.so"), "halves: half of 14 is 7\nunloaded\n")

    def test_a_plugin_that_is_installed_and_stripped_has_its_manifest(self):
        build, command = self.consumer(), self.prefix / "bin/keyway"
        self.assertIn("RUNPATH", run("readelf", "--dynamic", build / "libhalves.so"))
        for strip in filter(None, (shutil.which("strip"), shutil.which("llvm-strip"))):
            with self.subTest(strip=strip):
                prefix = self.scratch / f"stripped by {Path(strip).name}"
                run("cmake", f"-DCMAKE_STRIP={strip}", build)
                run("cmake", "--install", build, "--prefix", prefix, "--strip")
                installed = prefix / "lib/libhalves.so"
                self.assertNotIn(".symtab", run("readelf", "--sections", installed))
                self.assertNotIn("RUNPATH", run("readelf", "--dynamic", installed))
                self.assertIn("  version         2.5\n", run(command, "plugin", "inspect", installed))
                self.assertEqual(run(command, "plugin", "check", "--load", installed),
                                 f"plug-in {installed}: it can be loaded\n")

    def test_the_readme_shows_lines_of_the_example(self):
        readme = (SOURCE / "README.md").read_text()
        section = readme[readme.index("## An operator of one's own"):]
        block = re.search(r"^```cpp\n(.*?)^```$", section, re.M | re.S)[1]
        self.assertIn("KEYWAY_LIBRARY(", block)
        example = {line.strip() for line in (SOURCE / "examples/custom_op.cpp").read_text().splitlines()}
        self.assertEqual([line for line in block.splitlines() if line.strip() not in example], [])

    def my_ops(self, source, *more):
        """Configures and builds the library of operators that lies in `source`."""
        build = self.scratch / f"{source.name}_build"
        run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={options.compiler}", "-DCMAKE_BUILD_TYPE=Release", *more)
        run("cmake", "--build", build, "-j", "2")
        return build

    def test_a_library_of_operators_is_generated_from_its_schema_file(self):
        build = self.my_ops(HERE / "my_ops")
        self.assertEqual(run(build / "use_my_ops"), "ok\n")
        judged = run(self.prefix / "bin/keyway", "--plugin", build / "libmy_ops.so", "conform")
        self.assertRegex(judged, r"cpu: \d+ calls of 15 operators in [\d.]+ s, 15 pass")

    def test_the_generated_suite_runs_for_a_library(self):
        build = self.my_ops(HERE / "my_ops")
        said = run("ctest", "--test-dir", build, "-j", "2", "--output-on-failure")
        tests = re.findall(r"Test +#\d+: my_ops: (.+?) \.+ +Passed", said)
        self.assertIn("gradients, and the gradients of gradients, are those of differences", tests)
        written = "".join(path.read_text() for path in (SOURCE / "tests/ops").glob("*_test.cpp"))
        self.assertEqual([name for name in tests if f'TEST_CASE("{name}"' not in written], [])
        self.assertGreater(len(tests), 25)
        self.assertIn("100% tests passed", said)

    def changed_ops(self, name, change):
        """A copy of the library, of which `change` has changed the folder."""
        source = self.scratch / name
        shutil.copytree(HERE / "my_ops", source)
        change(source)
        return source

    def test_a_header_that_a_library_lacks_is_asked_for(self):
        source = self.changed_ops("ops_without_rules", lambda ops: shutil.rmtree(ops / "include/myops/ops/rules"))
        with self.assertRaisesRegex(AssertionError, "The rules of my_ops.json belong in <myops/ops/rules/my_ops.h>, which "
                                                    "is in no include folder of the library"):
            self.my_ops(source)

    def test_wrong_uses_of_the_functions_for_operators_say_what_is_right(self):
        def replaced(old, new):
            def change(ops):
                lists = ops / "CMakeLists.txt"
                lists.write_text(lists.read_text().replace(old, new))
            return change

        plain = "keyway_add_ops(my_ops SCHEMAS my_ops.json)"
        for number, (new, expected) in enumerate((
                ("keyway_add_ops(my_ops SCHEMAS my_ops.json CUDA)",
                 "keyway_add_ops(my_ops ... CUDA): the project does not have the language CUDA; write project("),
                ("keyway_add_ops(my_ops my_ops.json)",
                 "keyway_add_ops(my_ops): it is keyway_add_ops(<target> SCHEMAS <file>... [CUDA])"),
                ("", "keyway_test_ops(my_ops): the target has no operators; call keyway_add_ops(my_ops ...) before"))):
            with self.subTest(new=new), self.assertRaises(AssertionError) as caught:
                self.my_ops(self.changed_ops(f"wrong_use_{number}", replaced(plain, new)))
            self.assertIn(expected, " ".join(str(caught.exception).split()))

    def test_kernels_of_cuda_compile_and_link(self):
        if options.nvcc is None:
            self.skipTest("no --nvcc")
        build = self.my_ops(self.changed_ops("cuda_ops", lambda ops: None), "-DMY_OPS_CUDA=ON",
                            f"-DCMAKE_CUDA_COMPILER={options.nvcc}", "-DCMAKE_CUDA_ARCHITECTURES=90-virtual")
        self.assertEqual(run(build / "use_my_ops"), "ok\n")
        # The runtime of one library launches no kernel of another: nobody may find one by its name.
        exported = run("nm", "--dynamic", "--defined-only", "--demangle", build / "libmy_ops.so")
        self.assertIn("myops::ops::cube", exported)
        self.assertNotIn("::cuda::", exported)
        run("ctest", "--test-dir", build, "-R", "CUDA", "--no-tests=error")

    def test_a_mistake_in_a_library_s_schema_file_is_told_with_its_place(self):
        source = self.scratch / "mistaken_ops"
        shutil.copytree(HERE / "my_ops", source)
        schemas = source / "my_ops.json"
        schemas.write_text(schemas.read_text().replace("cube_backward(scaled(grad, 3), self)", "3 * grad * squared(self)"))
        with self.assertRaisesRegex(AssertionError, r"my_ops\.json:14:40: error: myops::cube: no operator, predicate or "
                                                    r"helper 'squared'; did you mean 'square'\?"):
            self.my_ops(source)

    def test_a_program_has_the_operators_that_were_chosen_and_what_they_need(self):
        build = self.my_ops(HERE / "selected")
        whole = run(build / "whole")
        self.assertRegex(whole, r"^slope 24, \d{3,4} operators, relu is there\n$")
        self.assertEqual(run(build / "slope"), "slope 24, 6 operators, relu is not there\n")
        self.assertEqual(run(build / "slope_shared"), "slope 24, 6 operators, relu is not there\n")
        sizes = {name: int(run("size", build / name).splitlines()[1].split()[3])
                 for name in ("whole", "slope", "libsmall_keyway.so")}
        self.assertLess(sizes["slope"], sizes["whole"] / 3)
        # Half of it is no operator's; it exports nn's modules too, all losses and optimizers among them, which bring what
        # they call.
        self.assertLess(sizes["libsmall_keyway.so"], sizes["whole"] * 0.82)
        with self.assertRaisesRegex(AssertionError, "undefined reference to `keyway::v1::ops::relu'"):
            run("cmake", "--build", build, "--target", "left_out")

    def test_a_program_in_a_file_runs_by_the_operators_that_it_calls(self):
        folder, examples = self.scratch / "programs", Path(options.build).resolve() / "examples"
        folder.mkdir()
        network, branches = folder / "network.safetensors", folder / "branches.safetensors"
        run(examples / "example_save_program", network)
        branches.write_bytes(program_file(BRANCHES, SCHEMAS))
        for file in (network, branches):
            run(self.prefix / "bin/keyway", "graph", file, "--size", "rows=3", "--ops", file.with_suffix(".json"))
        build = self.my_ops(HERE / "program", f"-DEXAMPLES={SOURCE / 'examples'}", f"-DOPS={folder}")
        runs = [run(build / "network", network, 3) for _ in range(5)]
        without_times = re.compile(r"^[\d.]+ ms: ", re.MULTILINE)
        for said, file in ((runs[0], network), (run(build / "branches", branches, 3), branches)):
            whole = run(examples / "example_run_program", file, 3)
            self.assertEqual(without_times.sub("", said), without_times.sub("", whole))
        self.assertIn("3 rows, the first score is 1.000000\n", said)
        with self.assertRaisesRegex(AssertionError, "the program calls keyway::cond, and there is no such operator"):
            run(build / "network", branches, 3)
        self.assertLess(min(float(said.split()[0]) for said in runs), 10)  # milliseconds to the first result
        sizes = {}
        for name in ("network", "calls"):
            run("strip", build / name)
            sizes[name] = (build / name).stat().st_size
        self.assertLess(sizes["network"] - sizes["calls"], 320e3, sizes)

    def test_a_mistake_in_a_list_of_operators_is_told_with_its_place(self):
        source = self.scratch / "misspelt"
        shutil.copytree(HERE / "selected", source)
        (source / "ops.txt").write_text("full\n\nmul.Tenso\n")
        with self.assertRaisesRegex(AssertionError, r"ops\.txt:3:1: error: there is no operator 'mul\.Tenso'; did you mean "
                                                    r"'mul\.Tensor'\?"):
            self.my_ops(source)

    def new_project(self, kind, name):
        """Has the installed command write a project, builds it and runs its tests."""
        source = self.scratch / name
        listed = run(self.prefix / "bin/keyway", "new", kind, name, "--folder", source).split("\n\n")[0].splitlines()
        self.assertEqual(sorted(listed), sorted(str(path) for path in source.rglob("*") if path.is_file()))
        for path in listed:
            self.assertNotIn("@name@", path + Path(path).read_text())
        build = self.my_ops(source)
        return run("ctest", "--test-dir", build, "--output-on-failure", "-V")

    def test_the_command_writes_a_backend_that_is_right(self):
        said = self.new_project("backend", "npu")
        self.assertIn("100% tests passed, 0 tests failed out of 3", said)
        self.assertRegex(said, r"npu: \d+ calls of \d+ operators in [\d.]+ s, 5 pass, \d+ fallback")
        self.assertRegex(said, r"operator +device +calls +bytes to CPU")

    def test_the_command_writes_a_library_of_operators_with_its_suite(self):
        said = self.new_project("ops", "cubes")
        self.assertIn("100% tests passed", said)
        self.assertIn("passed: every operator's example holds", said)
        source, build = self.scratch / "cubes", self.scratch / "cubes_build"
        schemas, lists = source / "cubes.json", source / "CMakeLists.txt"
        schemas.write_text(schemas.read_text().replace("grad * self * self * 3", "grad * self * self * 2"))
        run("cmake", "--build", build, "-j", "2")
        with self.assertRaisesRegex(AssertionError, r"(?s)cubes::cube: cube\(\[-3\.0\]\).*FAILED: gradients, and the gradients"):
            run("ctest", "--test-dir", build, "--output-on-failure")
        lists.write_text(lists.read_text().replace("keyway_test_ops(cubes", "keyway_test_ops(cubes NO_GRADCHECK cubes::cub"))
        run("cmake", "--build", build, "-j", "2")
        with self.assertRaisesRegex(AssertionError, "NO_GRADCHECK: the library has no operator 'cubes::cub'"):
            run(build / "cubes_suite")

    def test_the_command_writes_a_plug_in(self):
        self.assertIn("100% tests passed, 0 tests failed out of 2", self.new_project("plugin", "sums"))

    def test_a_build_folder_has_the_package_too(self):
        build = self.scratch / "from_build"
        run("cmake", "-G", "Ninja", "-S", HERE / "from_build", "-B", build,
            f"-DCMAKE_PREFIX_PATH={Path(options.build).resolve() / 'python' / 'keyway'}",
            f"-DCMAKE_CXX_COMPILER={options.compiler}")
        run("cmake", "--build", build)
        self.assertEqual(run(build / "consumer"), "one and one are 2, not 3\n")

    def test_sources_written_for_pytorch_build_and_run(self):
        lines = run(self.consumer() / "written_for_pytorch").splitlines()
        self.assertEqual(lines[:2], ["6", "1"])
        self.assertIn("ported::scale: scale: self is int64", lines[2])

    def test_headers_under_pytorchs_names_compile_without_a_warning(self):
        """But for those that need CUDA's toolkit or pybind11."""
        compat = self.prefix / "share/keyway/compat/include"
        headers = [str(path.relative_to(compat)) for path in compat.rglob("*.h")]
        source = "".join(f"#include <{name}>\n" for name in headers if "cuda/" not in name and "pybind" not in name)
        self.assertIn("torch/extension.h", source)
        run(options.compiler, "-std=c++20", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only", "-I",
            self.prefix / "include", "-I", compat, "-x", "c++", "-", input=source)

    def test_headers_compile_without_a_warning(self):
        include = self.prefix / "include"
        source = "".join(f"#include <{path.relative_to(include)}>\n" for path in include.rglob("*.h"))
        for compiler in {options.compiler, shutil.which("clang++") or options.compiler}:
            with self.subTest(compiler=compiler):
                run(compiler, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsyntax-only",
                    "-I", include, "-x", "c++", "-", input=source)

    def test_headers_need_nothing_but_each_other_and_the_standard_library(self):
        include = self.prefix / "include"
        headers = [path.relative_to(include) for path in include.rglob("*.h")]
        self.assertTrue(headers)
        source = "".join(f"#include <{header}>\n" for header in headers)
        rule = run(options.compiler, "-std=c++20", "-x", "c++", "-I", include, "-M", "-", input=source)
        read = {str(Path(word).resolve()) for word in rule.replace("\\\n", " ").split()[2:]}
        standard = re.compile(r"/usr/include/[^/]+|/usr/include/(c\+\+|bits|sys|gnu|asm|asm-generic|linux)/.*"
                              r"|/usr/include/[^/]+-linux-gnu/(c\+\+|bits|sys|gnu|asm)/.*"
                              r"|.*/lib/(gcc|clang|llvm-\d+)/.*")
        foreign = [path for path in read if not path.startswith(f"{include.resolve()}/") and not standard.fullmatch(path)]
        self.assertEqual(foreign, [])

    def needed_by(self, file):
        return re.findall(r"\(NEEDED\) +Shared library: \[(.+)\]", run("readelf", "--dynamic", file))

    def test_what_uses_no_graph_does_not_load_their_library(self):
        build = self.consumer()
        self.assertEqual(self.both("uses_graph"), "4\n")
        for name, uses in (("uses_graph", True), ("consumer", False), ("libhalves.so", False), ("libgraph_halves.so", True)):
            with self.subTest(name=name):
                self.assertIn("libkeyway.so.1", self.needed_by(build / name))
                self.assertEqual("libkeyway_graph.so.1" in self.needed_by(build / name), uses)

    def test_the_flag_of_the_linker_brings_graphs_too(self):
        for source, uses in (("uses_graph", True), ("main", False)):
            with self.subTest(source=source):
                program = self.scratch / f"{source}_by_flag"
                run(options.compiler, "-std=c++20", HERE / f"consumer/{source}.cpp", "-I", self.prefix / "include", "-L",
                    self.library.parent, "-lkeyway", "-o", program)
                self.assertEqual("libkeyway_graph.so.1" in self.needed_by(program), uses)

    def test_a_plugin_brings_graphs_to_a_program_that_has_none(self):
        build = self.consumer()
        prefix = self.scratch / "without run path"
        run("cmake", "--install", build, "--prefix", prefix)
        plugin = prefix / "lib/libgraph_halves.so"
        self.assertNotIn("RUNPATH", run("readelf", "--dynamic", plugin))
        self.assertEqual(run(build / "use_plugin", plugin), "graph_halves: half of 14 is 7\nunloaded\n")

    def test_the_library_exports_nothing_but_keyway(self):
        exported = {library: run("nm", "--dynamic", "--defined-only", "--demangle", "--format=just-symbols", library).splitlines()
                    for library in self.libraries}
        self.assertIn("keyway::v1::Error::what() const", exported[self.libraries[0]])
        self.assertIn("keyway::v1::graph::run(keyway::v1::graph::Graph const&, keyway::v1::ArrayRef<keyway::v1::Tensor>)",
                      exported[self.libraries[1]])
        own = re.compile(r"((typeinfo( name)?|vtable|VTT|guard variable|TLS (init|wrapper) function|"
                         r"(non-)?virtual (thunk|function)) (for|to) )?(.* )?keyway(::v\d+)?::.*|keyway_\w+")
        self.assertEqual([line for lines in exported.values() for line in lines if not own.fullmatch(line)], [])

    def test_nothing_of_the_library_runs_when_it_is_loaded(self):
        # One pointer: that of the compiler's own frame_dummy.
        for library in self.libraries:
            sections = run("readelf", "--sections", "--wide", library)
            sizes = re.findall(r" \.(init_array|ctors|preinit_array) +\S+ +\S+ +\S+ +([0-9a-f]+) ", sections)
            self.assertEqual([(name, int(size, 16)) for name, size in sizes], [("init_array", 8)])

    def test_the_soname_carries_the_abi_version(self):
        for library in self.libraries:
            self.assertIn(f"soname: [{library.name}]", run("readelf", "--dynamic", library))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--nvcc", help="compiles kernels of CUDA too")
    options, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
