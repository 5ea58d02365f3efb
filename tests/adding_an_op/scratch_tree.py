"""A scratch copy of the tree, and a library made of the objects of a build but for files that are changed in the copy."""

import json
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def differing(one, other):
    """Files below `other` that `one` has not, or has with another text."""
    names = [path.relative_to(other) for path in sorted(other.rglob("*")) if path.is_file()]
    return [name for name in names if not (one / name).exists() or (one / name).read_bytes() != (other / name).read_bytes()]


def without_precompiled(words):
    """A compiler's command that reads the headers themselves: those compiled before are of the build's own tree."""
    headers = next((i for i, word in enumerate(words) if word.endswith("/cmake_pch.hxx")), None)
    return words if headers is None else words[:headers - 1] + words[headers + 1:]


class ScratchTree:
    """`tree` and `generated` are copies to be changed, of the source tree and of what the build has generated."""

    def __init__(self, build):
        self._folder = tempfile.TemporaryDirectory()
        self.root, self.build = Path(self._folder.name).resolve(), Path(build).resolve()
        self.tree, self.generated = self.root / "tree", self.root / "generated"
        shutil.copytree(SOURCE, self.tree, ignore=shutil.ignore_patterns("build*", ".git"))
        shutil.copytree(self.build / "generated", self.generated)
        (self.root / "include").mkdir()
        (self.root / "include/keyway").symlink_to(self.tree)

    def cleanup(self):
        self._folder.cleanup()

    def changed_files(self):
        """The files of the source tree that differ in its copy."""
        return [str(name) for name in differing(SOURCE, self.tree)]

    def units(self):
        """Of each file of the build the one that is compiled, itself or a batch that includes it, and the command."""
        found = {}
        for command in json.loads((self.build / "compile_commands.json").read_text()):
            compiled = Path(command["file"]).resolve()
            parts = re.findall(r'#include "(.+)"', compiled.read_text()) if compiled.parent.name == "Unity" else [compiled]
            for part in parts:
                found[Path(part).resolve()] = (compiled, command["command"])
        return found

    def link(self, sources):
        """The folder of a libkeyway.so with these files of the copies compiled anew, by the build's own commands."""
        units, changed = self.units(), {}
        for source in sources:
            if source.is_relative_to(self.generated):
                original = self.build / "generated" / source.relative_to(self.generated)
            else:
                original = SOURCE / source.relative_to(self.tree)
            changed.setdefault(units[original.resolve()], {})[str(original)] = str(source)
        objects = {}
        for number, ((compiled, command), replaced) in enumerate(changed.items()):
            if str(compiled) not in replaced:  # a batch
                text = compiled.read_text()
                for original, source in replaced.items():
                    text = text.replace(f'"{original}"', f'"{source}"')
                batch = self.root / f"batch_{number}.cpp"
                batch.write_text(text)
                replaced = {str(compiled): str(batch)}
            words = without_precompiled(shlex.split(command))
            target = words[words.index("-o") + 1]
            objects[target] = self.root / f"{number}.o"
            replaced |= {target: str(objects[target]), f"-I{self.build}/include": f"-I{self.root}/include",
                         f"-I{self.build}/generated": f"-I{self.generated}"}
            run(*[replaced.get(word, word) for word in words], cwd=self.build)
        library = "libkeyway.so.1"
        last = run("ninja", "-C", self.build, "-t", "commands", library).strip().splitlines()[-1]
        words = shlex.split(last)
        words = words[words.index("&&") + 1:]
        words = words[:words.index("&&")]
        folder = self.root / "lib"
        folder.mkdir()
        made = folder / library
        run(*[str(made) if word == library else str(objects.get(word, word)) for word in words], cwd=self.build)
        (folder / "libkeyway.so").symlink_to(library)
        return folder

    def compile(self, compiler, source, library):
        """A program of one file, with the headers of the copies."""
        program = self.root / source.stem
        run(compiler, "-std=c++20", "-I", self.root / "include", "-I", self.generated, source, "-o", program,
            "-L", library, "-lkeyway")
        return program
