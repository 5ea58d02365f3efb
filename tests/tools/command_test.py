#!/usr/bin/env python3
"""Runs the `keyway` command as its users do: command_test.py <program> <plug-in>. `keyway schema` has schema_command.cmake."""

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

KEYWAY = ""  # the program, from the command line
PLUGIN = ""  # one that brings a backend called like its file
COMMANDS = ["ops", "plugin", "show", "explain", "table", "snapshot", "diff", "schema", "graph", "fuzz", "conform", "new", "train"]
SMALL_MODEL = ["--layers", "1", "--width", "16", "--heads", "2", "--context", "16", "--batch", "2", "--sample", "40"]


def environment(**changes):
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    return kept | {"TERM": "xterm"} | changes


def keyway(*arguments, output=subprocess.PIPE, **variables):
    return subprocess.run([KEYWAY, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE,
                          env=environment(**variables), text=True, check=False, timeout=300)


def on_a_terminal(*arguments, **variables):
    """What the command prints where its standard output is a terminal."""
    master, terminal = pty.openpty()
    with subprocess.Popen([KEYWAY, *arguments], stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.DEVNULL,
                          env=environment(**variables)) as process:
        os.close(terminal)
        pieces = []
        try:
            while piece := os.read(master, 4096):
                pieces.append(piece)
        except OSError:  # how the end of a terminal's output is read
            pass
    os.close(master)
    return b"".join(pieces).decode()


class Case(unittest.TestCase):
    def expect(self, run, status, errors=""):
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertEqual(run.stderr, errors)
        return run.stdout

    def expect_usage_error(self, arguments, message):
        command = "keyway " + arguments[0] if arguments and arguments[0] in COMMANDS else "keyway"
        run = keyway(*arguments)
        self.assertEqual(self.expect(run, 2, f"{command}: {message}\nSee {command} --help.\n"), "")


class CommandLine(Case):
    def test_help_lists_the_commands_on_standard_output(self):
        text = self.expect(keyway("--help"), 0)
        listed = re.findall(r"^  (\w+) +[A-Z]", text.split("Subcommands:")[1], re.MULTILINE)
        self.assertEqual(listed, COMMANDS)
        self.assertIn("Exit status", text)

    def test_each_command_has_help(self):
        for command in COMMANDS:
            with self.subTest(command):
                text = self.expect(keyway(command, "--help"), 0)
                self.assertIn(f"Usage: keyway {command}", text)
                self.assertIn("Exit status", text)

    def test_commands_that_take_a_device_say_which_there_are(self):
        for command in ("fuzz", "train"):
            with self.subTest(command):
                text = " ".join(self.expect(keyway(command, "--help"), 0).split())
                self.assertRegex(text, r"--device TEXT.* cuda, or what a plug-in brings")

    def test_the_version_is_printed(self):
        self.assertRegex(self.expect(keyway("--version"), 0), r"\Akeyway \d+\.\d+\.\d+\n\Z")

    def test_mistakes_of_the_command_line_are_named(self):
        self.expect_usage_error([], "A subcommand is required")
        self.expect_usage_error(["nonsense"], "there is no command 'nonsense'")
        self.expect_usage_error(["--nonsense"], "there is no option '--nonsense'")
        for command in COMMANDS:
            needed = {"show": ["mm"], "explain": ["mm"], "diff": ["a", "b"], "graph": ["a"], "plugin": ["report", "a"],
                      "new": ["ops", "a"]}.get(command, [])
            self.expect_usage_error([command, *needed, "--nonsense"],
                                    "The following argument was not expected: --nonsense")
        self.expect_usage_error(["show"], "operator is required")
        self.expect_usage_error(["show", "add.Tensor", "mm"], "The following argument was not expected: mm")

    def test_numbers_are_checked(self):
        for option in ["--steps", "--minutes", "--layers", "--learning-rate"]:
            for number in ["0", "-1", "1x", "inf", "nan"]:
                self.expect_usage_error(["train", option, number], f"{option}: '{number}' is not a number above 0")
        self.expect_usage_error(["train", "--steps", "1", "--minutes", "1"], "--steps excludes --minutes")
        for command, option in [("train", "--seed"), ("train", "--sample"), ("fuzz", "--calls"), ("fuzz", "--seed")]:
            self.expect_usage_error([command, option, "-1"], f"{option}: '-1' is not a number from 0 up")

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            run = keyway("show", "mm", output=full)
        self.assertEqual(run.returncode, 2)
        self.assertEqual(run.stderr, "keyway: cannot write standard output\n")


class Plugins(Case):
    def test_what_a_plugin_brings_is_there_for_any_command(self):
        name = Path(PLUGIN).name.removeprefix("libkeyway_").removesuffix(".so")
        shown = self.expect(keyway("--plugin", PLUGIN, "show", "relu"), 0, "")
        self.assertIn(name.upper(), shown)
        self.assertIn("backend.cpp:", shown)
        self.assertIn(f"{name}::number", self.expect(keyway("--plugin", PLUGIN, "snapshot"), 0, ""))

    def test_what_is_no_plugin_is_an_error(self):
        self.expect(keyway("--plugin", "/nowhere.so", "ops"), 1, "keyway: plug-in /nowhere.so: it cannot be opened\n")


class Manifests(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    @staticmethod
    def plugin(name):
        return str(Path(PLUGIN).with_name(f"libkeyway_test_{name}.so"))

    def copy(self, name, changed=lambda data: data):
        path = self.folder / f"lib{name}.so"
        path.write_bytes(changed(Path(self.plugin(name)).read_bytes()))
        return str(path)

    def test_a_plugin_is_inspected_without_running_it(self):
        lines = self.expect(keyway("plugin", "inspect", self.plugin("twice")), 0).splitlines()
        self.assertEqual(lines[0], self.plugin("twice"))
        self.assertIn("  version         7.1", lines)
        self.assertIn("    doubling::twice(Tensor self, *, int times=1) -> Tensor", lines)
        self.assertIn("    doubling::twice  CompositeImplicitAutograd", lines)
        manifest = json.loads(self.expect(keyway("plugin", "inspect", "--json", self.plugin("waits")), 0))
        self.assertEqual(manifest["registers"]["kernels"]["keyway::relu"], ["AutogradNPU", "NPU"])
        self.assertEqual(manifest["schemas"], {"keyway::relu": "relu(Tensor self) -> Tensor"})
        bare = self.plugin("bare")
        self.expect(keyway("plugin", "inspect", bare), 1, f"keyway plugin inspect: plug-in {bare}: it has no manifest\n")

    def test_readelf_finds_the_note_and_strip_leaves_it(self):
        path = self.copy("twice")
        before = keyway("plugin", "inspect", "--json", path).stdout
        subprocess.run(["strip", path], check=True)
        notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
        self.assertRegex(notes, r"\.note\.keyway\n.*\n +Keyway +0x")
        self.assertEqual(keyway("plugin", "inspect", "--json", path).stdout, before)
        self.expect(keyway("plugin", "check", "--load", path), 0)
        subprocess.run(["strip", "--remove-section=.note.keyway", path], check=True)
        self.assertIn("its manifest is gone", self.expect(keyway("plugin", "check", path), 1))

    def test_a_plugin_is_checked_without_running_it(self):
        good = self.plugin("twice")
        self.assertEqual(self.expect(keyway("plugin", "check", good), 0), f"plug-in {good}: it can be loaded\n")
        bare = self.plugin("bare")
        self.assertEqual(self.expect(keyway("plugin", "check", bare), 0),
                         f"plug-in {bare}: it can be loaded, as far as its tables tell: it has no manifest\n")
        damaged = self.copy("twice", lambda data: data.replace(b"doubling", b"tripling"))
        run = keyway("plugin", "check", "--json", good, damaged)
        first, second = json.loads(self.expect(run, 1))
        self.assertEqual((first["file"], first["problem"], first["manifest"]["name"]), (good, "", "twice"))
        self.assertIn("it is damaged", second["problem"])
        self.assertIsNone(second["manifest"])

    def test_a_plugin_that_ends_its_process_is_tried_in_another(self):
        for name, status in (("fragile2", 3), ("fragile3", 3)):
            path = self.plugin(name)
            self.assertIn("it can be loaded", self.expect(keyway("plugin", "check", path), 0))
            run = keyway("plugin", "check", "--load", path)
            self.assertEqual(run.returncode, 1)
            self.assertEqual(run.stdout, f"plug-in {path}: a process that loads it ends with status {status}\n")
            self.assertIn("ended the program while it was being loaded: its code called exit()", run.stderr)
        run = keyway("plugin", "check", "--load", self.plugin("fragile8"))
        self.assertEqual(self.expect(run, 1),
                         f"plug-in {self.plugin('fragile8')}: a process that loads it ends by signal Aborted\n")
        run = keyway("plugin", "check", "--load", self.plugin("mistake1"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("an exception of the plug-in's own", run.stderr)

    def test_folders_are_listed(self):
        self.copy("twice")
        self.copy("bare")
        (self.folder / "libtext.so").write_text("no library")
        (self.folder / "notes.txt").write_text("no library either")
        expected = [f"{self.folder}/libbare.so: it has no manifest",
                    f"plug-in {self.folder}/libtext.so: it is no shared library",
                    f"{self.folder}/libtwice.so: twice 7.1, operators 1, kernels 1"]
        self.assertEqual(self.expect(keyway("plugin", "list", self.folder), 0).splitlines(), expected)
        run = keyway("plugin", "list", KEYWAY_PLUGIN_PATH=f":{self.folder}")
        self.assertEqual(self.expect(run, 0).splitlines(), expected)
        listed = json.loads(self.expect(keyway("plugin", "list", "--json", self.folder), 0))
        self.assertEqual([Path(each["file"]).name for each in listed], ["libbare.so", "libtext.so", "libtwice.so"])
        self.expect(keyway("plugin", "list", "/nowhere"), 2,
                    "keyway plugin list: cannot read the folder /nowhere: No such file or directory\n")
        self.expect(keyway("plugin", "list"), 2,
                    "keyway plugin list: no folder is given, and KEYWAY_PLUGIN_PATH names none\n")

    def test_a_plugin_that_a_tool_has_changed_is_described_anew(self):
        path = self.copy("twice", lambda data: data.replace(b"\0twice(Tensor", b"\0twixe(Tensor"))
        self.assertIn("it is damaged", self.expect(keyway("plugin", "check", path), 1))
        self.expect(keyway("plugin", "describe", "--plugin-version", "8", path), 0)
        manifest = json.loads(self.expect(keyway("plugin", "inspect", "--json", path), 0))
        self.assertEqual(manifest["version"], "8")
        self.assertEqual(manifest["registers"]["operators"], ["doubling::twixe(Tensor self, *, int times=1) -> Tensor"])
        self.assertIn("it can be loaded", self.expect(keyway("plugin", "check", "--load", path), 0))

    def test_a_plugin_that_cannot_be_loaded_is_not_described(self):
        path = self.copy("mistake1")
        before = Path(path).read_bytes()
        self.expect(keyway("plugin", "describe", path), 1,
                    f"keyway plugin describe: plug-in {path}: an exception of the plug-in's own\n")
        self.assertEqual(Path(path).read_bytes(), before)


class Ops(Case):
    def names(self, *arguments):
        run = keyway("ops", *arguments)
        names = [line.split()[0] for line in run.stdout.splitlines()]
        self.assertEqual(run.returncode, 0)
        self.assertEqual(run.stderr, f"{len(names)} operator{'' if len(names) == 1 else 's'}\n")
        return names

    def test_all_are_listed_sorted_with_what_they_do(self):
        names = self.names()
        self.assertGreater(len(names), 400)
        self.assertEqual(names, sorted(set(names)))
        self.assertRegex(keyway("ops").stdout, r"(?m)^mm +The product of two matrices\.$")

    def test_a_part_of_the_name_chooses(self):
        names = self.names("add.")
        self.assertEqual(names, [name for name in self.names() if "add." in name])
        self.assertIn("add.Tensor", names)
        self.assertNotIn("mm", names)
        self.assertEqual(self.names("add.Tensor"), ["add.Tensor"])

    def test_a_tag_chooses(self):
        factories = self.names("--tag", "factory")
        self.assertIn("zeros", factories)
        self.assertNotIn("mm", factories)
        self.assertEqual(self.names("--tag", "core", "mm"), [name for name in self.names("mm")
                                                           if name in self.names("--tag", "core")])

    def test_schemas_stand_in_place_of_names(self):
        text = self.expect(keyway("ops", "--schemas", "add.Tensor"), 0, "1 operator\n")
        self.assertEqual(text, "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n")

    def test_no_match_is_an_error(self):
        for arguments in [["nonsense"], ["--tag", "nonsense"], ["--tag", "cor"]]:
            self.assertEqual(self.expect(keyway("ops", *arguments), 1, "keyway ops: no operator fits\n"), "")


class Explain(Case):
    def test_a_call_is_explained_by_its_keys(self):
        text = self.expect(keyway("explain", "mm", "--keys", "AutogradCPU,CPU"), 0)
        rows = re.findall(r"(?m)^  (\S.*?) {2,}(.*)$", text)
        self.assertEqual(text.splitlines()[0], "mm")
        self.assertIn(("ends at", "AutogradCPU"), rows)
        self.assertIn(("rule", "alias kernel"), rows)
        self.assertTrue(any(what == "not" and why.startswith("Meta rules::mm") for what, why in rows))

    def test_what_the_thread_excludes_is_passed(self):
        done = keyway("explain", "mm", "--keys", "AutogradCPU,CPU", "--exclude", "Autograd", "--json")
        explained = json.loads(self.expect(done, 0))
        self.assertEqual(explained["key"], "CPU")
        self.assertEqual(explained["kernel"]["name"], "cpu::mm")
        self.assertEqual(explained["passed"], [{"key": "AutogradCPU", "why": "the thread excludes it"}])

    def test_what_a_kernel_would_change(self):
        text = self.expect(keyway("explain", "matmul", "--what-if", "CPU"), 0)
        self.assertRegex(text, r"CPU +composite implicit: .*\n  then +direct kernel: CPU what if\n")
        self.assertRegex(text, r"AutogradCPU +composite implicit: .*\n  then +fallthrough\n")

    def test_what_is_not_there_is_an_error(self):
        self.expect(keyway("explain", "matmull"), 1, "keyway explain: there is no operator 'matmull'; did you mean 'matmul'?\n")
        self.expect(keyway("explain", "mm", "--keys", "XPU"), 1, "keyway explain: there is no dispatch key 'XPU'\n")


class Snapshots(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, snapshot):
        path = self.folder / name
        path.write_text(json.dumps(snapshot))
        return str(path)

    def test_a_snapshot_is_the_same_each_time_and_differs_from_itself_in_nothing(self):
        text = self.expect(keyway("snapshot"), 0)
        self.assertEqual(text, keyway("snapshot").stdout)
        snapshot = json.loads(text)
        self.assertGreater(len(snapshot["operators"]), 400)
        path = self.write("a.json", snapshot)
        self.assertEqual(self.expect(keyway("diff", path, path), 0),
                         "0 operators differ; backward compatible, forward compatible\n")

    def test_a_difference_is_judged(self):
        before = json.loads(keyway("snapshot", "--op", "::mm").stdout)
        after = json.loads(json.dumps(before))
        mm = next(op for op in after["operators"] if op["name"] == "keyway::mm")
        mm["schema"] = "mm(Tensor self, Tensor mat2, *, bool fast) -> Tensor"
        del mm["kernels"][1]
        a, b = self.write("a.json", before), self.write("b.json", after)
        text = self.expect(keyway("diff", a, b), 1)
        self.assertIn("  + mm(Tensor self, Tensor mat2, *, bool fast) -> Tensor\n", text)
        self.assertIn("    backward: breaks: argument 'fast' has no default\n", text)
        self.assertIn("    forward: breaks: there is no argument 'fast'\n", text)
        self.assertIn("1 operators differ; backward incompatible, forward incompatible\n", text)
        self.expect(keyway("diff", "--breaking", a, b), 1)
        mm["schema"] = "mm(Tensor self, Tensor mat2, *, bool fast=False) -> Tensor"
        self.expect(keyway("diff", "--breaking", a, self.write("c.json", after)), 0)

    def test_what_cannot_be_read_is_an_error(self):
        path = self.write("a.json", [])
        missing = str(self.folder / "missing.json")
        self.expect(keyway("diff", missing, path), 2, f"keyway diff: cannot read '{missing}'\n")
        self.expect(keyway("diff", path, path), 2,
                    "keyway diff: this is no snapshot of a registry: it has no format 1\n")


class Show(Case):
    def test_all_that_is_known_of_an_operator_is_shown(self):
        head, kernels, served = re.split("(?m)^(?:kernels|served)\n", self.expect(keyway("show", "add.Tensor"), 0))
        place = re.match(r"add\.Tensor\(Tensor self, Tensor other, \*, Scalar alpha=1\) -> Tensor"
                         r"  (ops/schemas/pointwise\.json:\d+)\n", head)
        self.assertIsNotNone(place, head)
        file, line = place.group(1).split(":")
        source = Path(__file__).resolve().parents[2] / file
        self.assertIn('"add.Tensor(', source.read_text(encoding="utf-8").splitlines()[int(line) - 1])
        self.assertIn("  Adds `other`, scaled by `alpha`, to `self`.\n", head)
        self.assertRegex(head, r"(?m)^  tags: core pointwise$")
        self.assertRegex(head, r"(?m)^  autograd saves: alpha$")
        self.assertRegex(head, r"(?m)^  variants: add\.Scalar, add\.Scalar_out, add\.out, add_\.Scalar, add_\.Tensor$")
        rows = [line.split() for line in kernels.splitlines()]
        self.assertEqual([[key, name] for key, name, _ in rows],
                         [["CPU", "cpu::add_Tensor"], ["Meta", "rules::Add"], ["Autograd", "autograd::add_Tensor"]])
        for row in rows:
            self.assertRegex(row[2], r"^\S+\.(json|cpp|h):\d+$")
        self.assertEqual({line.split()[0]: line.split(maxsplit=2)[1:] for line in served.splitlines()}, {
            "CPU": ["cpu::add_Tensor", "direct kernel"],
            "CUDA": ["-", "missing"],
            "Meta": ["rules::Add", "direct kernel"],
            "AutogradCPU": ["autograd::add_Tensor", "alias kernel"],
            "AutogradCUDA": ["autograd::add_Tensor", "alias kernel"],
            "AutogradMeta": ["autograd::add_Tensor", "alias kernel"],
            "ADInplaceOrView": ["-", "fallthrough"],
            "Undefined": ["-", "missing"]})

    def test_a_backend_of_a_plug_in_is_served_too(self):
        name = Path(PLUGIN).name.removeprefix("libkeyway_").removesuffix(".so").upper()
        served = self.expect(keyway("--plugin", PLUGIN, "show", "relu"), 0).split("served\n")[1]
        rows = {line.split()[0]: line.split(maxsplit=2)[2] for line in served.splitlines()}
        self.assertTrue(rows[name].endswith("direct kernel"), rows[name])
        self.assertTrue(rows["Autograd" + name].endswith("alias kernel"), rows)

    def test_an_operator_that_saves_nothing_says_so(self):
        self.assertIn("\n  autograd saves: nothing\n", self.expect(keyway("show", "linear"), 0))

    def test_a_misspelt_operator_is_an_error_with_a_suggestion(self):
        run = keyway("show", "add.Tensr")
        message = "keyway show: there is no operator 'add.Tensr'; did you mean 'add.Tensor'?\n"
        self.assertEqual(self.expect(run, 1, message), "")
        self.assertEqual(self.expect(keyway("show", "my::op"), 1, "keyway show: there is no operator 'my::op'\n"), "")


class Table(Case):
    def test_each_operator_has_a_letter_for_each_key(self):
        lines = self.expect(keyway("table"), 0).splitlines()
        self.assertEqual(lines[0].split(), ["CPU", "CUDA", "Meta", "AutogradCPU", "AutocastCPU", "ADInplaceOrView"])
        rows = {line.split()[0]: line.split()[1:] for line in lines[1:-1]}
        self.assertEqual(len(rows), len(keyway("ops").stdout.splitlines()))
        self.assertEqual(rows["add.Tensor"], ["K", "-", "K", "A", ".", "."])
        self.assertEqual(rows["linear"], ["I", "I", "I", "I", "A", "."])
        self.assertEqual(rows["add_.Tensor"], ["K", "-", "K", "A", ".", "K"])
        explained = set(re.findall(r"(?:^|  )(\S) ", lines[-1]))
        self.assertLessEqual({letter for row in rows.values() for letter in row}, explained)

    def test_a_backend_of_a_plug_in_has_a_column(self):
        lines = self.expect(keyway("--plugin", PLUGIN, "table", "relu"), 0, "").splitlines()
        [column] = set(lines[0].split()) - set(self.expect(keyway("table", "relu"), 0).splitlines()[0].split())
        rows = {line.split()[0]: line.split()[1:] for line in lines[1:-1]}
        self.assertEqual(rows["relu"][lines[0].split().index(column)], "K")
        self.assertEqual(rows["leaky_relu"][lines[0].split().index(column)], "-")

    def test_a_part_of_the_name_chooses(self):
        self.assertEqual(len(self.expect(keyway("table", "add.Tensor"), 0).splitlines()), 3)
        self.assertEqual(self.expect(keyway("table", "nonsense"), 1, "keyway table: no operator fits\n"), "")


class Fuzz(Case):
    def test_calls_are_listed_and_repeated(self):
        calls = self.expect(keyway("fuzz", "--op", "mm", "--calls", "3", "--list"), 0)
        self.assertEqual(calls, keyway("fuzz", "--op", "mm", "--calls", "3", "--list").stdout)
        lines = [line for line in calls.splitlines() if line.startswith("mm:")]
        self.assertEqual(len(lines), 3)
        index, call = lines[1].split(" ", 1)
        self.assertEqual(self.expect(keyway("fuzz", "--repeat", index), 0).splitlines()[0], call)

    def test_mistakes_are_named(self):
        self.expect(keyway("fuzz", "--op", "nonsense"), 1, "keyway fuzz: no operator fits\n")
        self.expect(keyway("fuzz", "--repeat", "mm"), 2,
                    "keyway fuzz: --repeat takes OP:INDEX, as a report has it, not 'mm'\n")

    def test_a_device_that_is_not_there_is_said_once_and_not_called(self):
        run = keyway("fuzz", "--op", "abs", "--calls", "2", "--device", "cuda", CUDA_VISIBLE_DEVICES="")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertRegex(run.stderr, r"^keyway fuzz: .*cuda.*\n$")


class Conform(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cube = str(Path(PLUGIN).with_name("libkeyway_test_cube.so"))  # has graphs::cube, and its gradient

    def examples(self, line):
        path = self.folder / "examples.txt"
        path.write_text(line + "\n")
        return str(path)

    def test_what_a_plug_in_registers_is_judged_and_nothing_else(self):
        report = self.folder / "report.json"
        text = self.expect(keyway("--plugin", self.cube, "conform", "--calls", "200", "--json", str(report)), 0)
        self.assertRegex(text, r"^cpu: \d+ calls of 1 operators in [\d.]+ s, 1 pass\n$")
        operators = json.loads(report.read_text())["operators"]
        self.assertEqual([(op["op"], op["held_against"]) for op in operators], [("graphs::cube", "itself")])

    def test_examples_say_which_value_a_call_has(self):
        conform = ["--plugin", self.cube, "conform", "--calls", "50", "--examples"]
        self.expect(keyway(*conform, self.examples("graphs::cube ([2.0]) == [8.0]")), 0)
        run = keyway(*conform, self.examples("graphs::cube ([2.0]) == [9.0]"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("graphs::cube float32: fail: example: differs: result 0 of its example is 8 at element 0, not 9",
                      run.stdout)
        repeated = run.stdout.split("keyway --plugin")[1].splitlines()[0].split()[1:]
        again = keyway("--plugin", self.cube, *repeated)
        self.assertEqual(again.returncode, 1)
        self.assertIn("\nexample: differs: result 0 of its example is 8 at element 0, not 9\n", again.stdout)
        self.expect(keyway(*conform, self.examples("graphs::cube [2.0]")), 2,
                    "keyway conform: line 1 of the examples is 'graphs::cube [2.0]', but must be 'operator (arguments)'\n")

    def test_the_device_type_that_a_plug_in_brings_is_judged(self):
        run = keyway("--plugin", PLUGIN, "conform", "--calls", "2", "--op", "add.Tensor")
        self.assertIn(f"{Path(PLUGIN).stem.removeprefix('libkeyway_')}: ", run.stdout)


class Colours(Case):
    ESCAPE = "\033["
    BOLD = "\033[1m"

    def test_colours_are_shown_on_a_terminal_only(self):
        coloured = on_a_terminal("show", "mm")
        self.assertIn(f"{self.BOLD}kernels\033[0m", coloured)
        piped = keyway("show", "mm").stdout
        self.assertNotIn(self.ESCAPE, piped)
        self.assertEqual(re.sub(r"\033\[\d*m", "", coloured).replace("\r\n", "\n"), piped)

    def test_no_colours_where_they_are_not_wanted(self):
        self.assertNotIn(self.ESCAPE, on_a_terminal("show", "mm", NO_COLOR="1"))
        self.assertNotIn(self.ESCAPE, on_a_terminal("show", "mm", TERM="dumb"))
        self.assertIn(self.BOLD, on_a_terminal("show", "mm", NO_COLOR=""))


class Train(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.text = self.folder / "text.txt"
        self.text.write_text("".join(f"{n} and {n + 1} make {2 * n + 1}.\n" for n in range(300)), encoding="utf-8")

    def train(self, *options, threads="1"):
        arguments = ["--file", str(self.text), "--steps", "20", "--threads", threads, *SMALL_MODEL, *options]
        return keyway("train", *arguments)

    @staticmethod
    def losses(text):
        """All losses of a run that are printed: of each step and, so far, on the held-out text; the last two."""
        figures = text[:text.index("\nSample\n")]  # what follows has operators called like losses
        return re.findall(r"(?:loss|held-out|transformer|model) +(\d+\.\d+)", figures)

    def test_a_run_tells_what_it_learns(self):
        svg = self.folder / "curve.svg"
        model = self.folder / "model.safetensors"
        text = self.expect(self.train("--svg", str(svg), "--save", str(model)), 0)
        self.assertRegex(text, r"(?m)^step 20/20  loss \d\.\d{3}  held-out \d\.\d{3}  [\d,]+ tokens/s$")
        self.assertRegex(text, r"(?m)^  interpolated order-3 n-gram model +\d\.\d{3}$")
        self.assertRegex(text, r"(?m)^  transformer +\d\.\d{3}$")
        self.assertRegex(text, r"(?m)^  trained for \d+\.\d s at [\d,]+ tokens/s$")
        self.assertRegex(text, r"(?m)^ +\d\.\d\d \|[-. o]*o[-. o]*$")
        sample = re.search(r"(?s)\nSample\n(.*)\n\nKernels of a training step", text).group(1)
        self.assertEqual(len(sample), 40)
        rows = re.findall(r"(?m)^  (\S+) +(\d+\.\d) +\d+\.\d+ +\d+\.\d % +\d+\.\d+ +\d+\.\d+  (.*?)  +(\S+)$", text)
        self.assertIn(("mm", "AutogradCPU, CPU", "cpu::mm"), [(row[0], row[2], row[3]) for row in rows])
        self.assertTrue(all(float(calls) > 0 for _, calls, _, _ in rows))
        losses = [float(loss) for loss in re.findall(r"(?m)^step \S+  loss (\S+)", text)]
        self.assertEqual(len(losses), 20)
        self.assertLess(losses[-1], losses[0])

        root = xml.etree.ElementTree.parse(svg).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        lines = root.findall("{http://www.w3.org/2000/svg}polyline")
        self.assertEqual([line.get("class") for line in lines], ["training", "ngram", "held"])
        self.assertEqual(len(lines[0].get("points").split()), 20)
        self.assertGreater(model.stat().st_size, 1000)

    def test_the_same_seed_gives_the_same_losses(self):
        first = self.losses(self.expect(self.train("--seed", "5"), 0))
        self.assertEqual(len(first), 20 * 2 + 2)
        self.assertEqual(self.losses(self.train("--seed", "5", threads="2").stdout), first)
        other = self.losses(self.expect(self.train("--seed", "6"), 0))
        self.assertEqual(len(other), len(first))
        self.assertNotEqual(other, first)

    def test_a_text_that_cannot_be_read_is_named(self):
        absent = self.folder / "absent"
        self.assertEqual(self.expect(keyway("train", "--file", str(absent)), 2,
                                     f"keyway train: cannot read {absent}: No such file or directory\n"), "")
        self.assertEqual(self.expect(keyway("train", "--file", str(self.folder)), 2,
                                     f"keyway train: cannot read {self.folder}: it is a folder\n"), "")
        self.text.write_text("short", encoding="utf-8")
        self.assertEqual(self.expect(self.train(), 1, "keyway: the text has 5 bytes; at least 1000 are needed\n"), "")

    def test_a_file_that_cannot_be_written_is_found_before_the_training(self):
        for option in ["--svg", "--save"]:
            path = self.folder / "absent" / "file"
            run = self.train(option, str(path))
            self.assertEqual(self.expect(run, 1, f"keyway: cannot write {path}: No such file or directory\n"), "")

    def test_a_terminal_gets_a_bar(self):
        text = on_a_terminal("train", "--file", str(self.text), "--steps", "3", "--threads", "1", *SMALL_MODEL)
        self.assertIn(f"\r[{'#' * 24}] 3/3  loss ", text)
        self.assertNotIn("step 1/3", text)


class New(Case):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name) / "project"

    def test_names_that_cannot_be_one_are_refused(self):
        for kind, name, message in [
                ("ops", "Cubes", "a name is up to 31 of a to z, 0 to 9 and _, a letter first, not 'Cubes'"),
                ("ops", "a" * 32, f"a name is up to 31 of a to z, 0 to 9 and _, a letter first, not '{'a' * 32}'"),
                ("plugin", "lambda", "'lambda' is a word of C++, of Python or of a project's folders"),
                ("backend", "cuda", "there is a device type 'cuda' already"),
                ("backend", "sum", "'sum' is an operator of Keyway: a device type of that name would have no tensor.sum()")]:
            with self.subTest(name):
                run = keyway("new", kind, name, "--folder", str(self.folder))
                self.assertEqual(self.expect(run, 2, f"keyway new: {message}\n"), "")
                self.assertFalse(self.folder.exists())

    def test_what_is_there_is_not_written_over(self):
        self.folder.mkdir()
        (self.folder / "README.md").write_text("mine")
        run = keyway("new", "ops", "cubes", "--folder", str(self.folder))
        self.assertEqual(self.expect(run, 2, f"keyway new: '{self.folder}' is there and is no empty folder\n"), "")
        self.assertEqual([path.read_text() for path in self.folder.iterdir()], ["mine"])

    def test_nothing_is_left_of_a_project_that_cannot_be_written(self):
        self.folder.parent.joinpath("file").write_text("")
        folder = self.folder.parent / "file" / "project"
        run = keyway("new", "ops", "cubes", "--folder", str(folder))
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn(f"keyway new: no project in '{folder}': ", run.stderr)

    def test_a_project_has_the_name_everywhere(self):
        for kind in ("backend", "ops", "plugin"):
            folder = self.folder / kind
            self.expect(keyway("new", kind, "cubes", "--folder", str(folder)), 0)
            files = [path for path in folder.rglob("*") if path.is_file()]
            self.assertGreater(len(files), 7)
            for path in files:
                text = path.read_text()
                self.assertNotIn("@name@", text + str(path))
                if path.suffix == ".py":
                    compile(text, str(path), "exec")
                elif path.suffix == ".json":
                    json.loads(text)


if __name__ == "__main__":
    KEYWAY, PLUGIN = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
