"""What the shell commands, CMake calls and schema entries of pages name has to be there."""

import json
import re
import shlex
import subprocess
from pathlib import Path

from format_entries import joined
from tree import is_family

# The entry of the page's first recipe, which tests/adding_an_op adds to a copy of the tree.
ADDED_ENTRIES = {"cube(Tensor self) -> Tensor"}
FILE_NAME = re.compile(r"[\w.-]+\.(?:cpp|h|json|md|py|sh|txt)")
SEPARATORS = {"&&", "||", "|", ";"}


class Tree:
    """What commands may name: presets, subcommands, settings and options, read from the tree's own files."""

    def __init__(self, root, files):
        self.root = root
        presets = json.loads(self.read("CMakePresets.json"))
        self.presets = {kind: {preset["name"] for preset in presets.get(f"{kind}Presets", [])}
                        for kind in ("configure", "build", "test", "workflow")}
        commands = re.search(r"set\(commands\s+([\w\s]*)\)", self.read("tools/CMakeLists.txt"))
        self.subcommands = set(commands[1].split()) if commands else set()
        texts = {path: self.read(path) for path in files
                 if path.suffix in (".cpp", ".h", ".py", ".sh", ".cmake") or path.name == "CMakeLists.txt"}
        self.settings = set(re.findall(r"\bKEYWAY_\w+", "".join(texts.values())))
        self.command_line = "".join(text for path, text in texts.items()
                                    if path.is_relative_to("tools") and path.suffix == ".cpp")
        self.made_folders = set(re.findall(r"\bbuild/(\w+)", "".join(
            text for path, text in texts.items() if path.is_relative_to("tools") and path.suffix in (".py", ".sh"))))

    def read(self, path):
        path = self.root / path
        return path.read_text() if path.is_file() else "{}"  # of no file nothing is there

    def is_there(self, name, folder):
        """Whether a command in that folder finds the file. Builds make what lies in build/<preset>."""
        path = Path((self.root / folder / name).resolve())
        parts = path.relative_to(self.root).parts if path.is_relative_to(self.root) else ()
        if parts[:1] == ("build",):
            return len(parts) == 1 or parts[1] in self.presets["configure"] | self.made_folders
        return path.exists()

    def script_text(self, name, folder):
        """Of a script, and of those of tools/ that it names: they take its options on."""
        path = (self.root / folder / name).resolve()
        text = path.read_text() if path.is_file() else ""
        return text + "".join(self.read(other) for other in re.findall(r"tools/[\w/]+\.(?:py|sh)", text))


def commands_of(block):
    """Pairs of a line and the words of a command; a backslash continues a line, a # begins a comment."""
    text, begin = "", block.line
    for number, line in enumerate(block.lines, block.line):
        text += line.removesuffix("\\")
        if line.endswith("\\"):
            continue
        words = []
        for word in [*shlex.split(text, comments=True), ";"]:
            if word not in SEPARATORS:
                words.append(word)
            elif words:
                yield begin, words
                words = []
        text, begin = "", number + 1


def check_words(words, folder, tree, add):
    """What any command is asked for: settings and files. Words with placeholders or variables say nothing."""
    for word in words:
        for setting in re.findall(r"\bKEYWAY_\w+", word):
            if setting not in tree.settings:
                add(f"nothing in the tree reads {setting}")
        name = word.split("=", 1)[1] if re.match(r"\w+=", word) else word
        if re.search(r"[<>$*^]", name) or name.startswith("-"):
            continue
        if ("/" in name or FILE_NAME.fullmatch(name)) and not tree.is_there(name, folder):
            add(f"{name} is not there")


def check_presets(words, tree, add):
    modes = {"ctest": "test", "--build": "build", "--workflow": "workflow"}
    kind = next((modes[word] for word in words if word in modes), "configure")
    for option, value in zip(words, words[1:]):
        if option == "--preset" and value not in tree.presets[kind]:
            add(f"CMakePresets.json has no {kind} preset {value}")


def has_option(text, option):
    return re.search(rf"{option}(?![\w-])", text) is not None


def check_keyway(words, tree, add):
    subcommand = next((word for word in words[1:] if not word.startswith("-") and "." not in word), None)
    if subcommand and subcommand not in tree.subcommands:
        add(f"keyway has no subcommand {subcommand}")
    for word in words[1:]:
        if word.startswith("--") and not has_option(tree.command_line, word):
            add(f"keyway has no option {word}")


def check_script(words, folder, tree, add):
    script = words[0]
    text = tree.script_text(script, folder)
    options = [word.split("=")[0] for word in words[1:] if word.startswith("--")]
    for option in options:
        if not has_option(text, option):
            add(f"{script} has no option {option}")


def check_shell(block, tree, add):
    folder = Path()
    for line, words in commands_of(block):
        def add_here(message, line=line):
            add(line, message)
        check_words(words, folder, tree, add_here)
        command = [word for i, word in enumerate(words)
                   if not re.match(r"\w+=", word) or any("=" not in before for before in words[:i])]
        if not command:
            continue
        program = Path(command[0]).name
        if program == "cd":
            folder /= command[1]
        elif program in ("cmake", "ctest"):
            check_presets([program, *command[1:]], tree, add_here)
        elif program == "keyway":
            check_keyway(command, tree, add_here)
        elif program in ("bash", "python", "python3") and len(command) > 1 and not command[1].startswith("-"):
            check_script(command[1:], folder, tree, add_here)


def cmake_commands(root, files):
    """CMake's own, and those that the tree's modules define."""
    listed = subprocess.run(["cmake", "--help-command-list"], capture_output=True, text=True, check=True)
    own = "".join((root / path).read_text() for path in files if path.suffix == ".cmake")
    return set(listed.stdout.split()) | set(re.findall(r"^\s*(?:function|macro)\((\w+)", own, re.MULTILINE))


def check_cmake(block, commands, add):
    for number, line in enumerate(block.lines, block.line):
        call = re.match(r"\s*(\w+)\s*\(", line)
        if call and call[1] not in commands:
            add(number, f"there is no CMake command {call[1]}")


def schema_entries(root, files):
    """Entries by their func, as it is written: operators and helpers of all schema files."""
    entries = {}
    for path in files:
        if is_family(path):
            family = json.loads((root / path).read_text())
            for entry in [*family.get("ops", []), *family.get("helpers", [])]:
                entries[joined(entry["func"])] = entry
    return entries


def check_entry(block, entries, add):
    """An entry of a schema file, of which ... may stand for the rest."""
    try:
        shown = json.loads(re.sub(r",\s*\.\.\.", "", block.text))
    except json.JSONDecodeError as error:
        add(block.line + error.lineno - 1, f"not JSON: {error.msg}")
        return
    if shown.get("func") in ADDED_ENTRIES:
        return
    entry = entries.get(shown.get("func"))
    if entry is None:
        add(block.line, f"no schema file has an entry {shown.get('func')}")
        return
    for key, value in shown.items():
        if value not in (entry.get(key), joined(entry.get(key))):
            line = next((number for number, text in enumerate(block.lines) if f'"{key}"' in text), 0)
            add(block.line + line, f"{key} is {json.dumps(entry.get(key))} in the entry")
