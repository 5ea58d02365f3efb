"""The rows that no loop measures: starting a program, compiling a file, sizes, building."""

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from rows import ROOT

# The headers a user of each library compiles with: everything, and what registering an operator needs.
HEADERS = {"torch": ("torch/torch.h", "torch/library.h"), "keyway": ("keyway/keyway.h", "keyway/dispatch/registry/library.h")}
SYSTEM_LIBRARIES = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|ld-linux[\w-]*|libpthread|libdl|librt)\.so")


def output_of(command, **more):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL, text=True, check=True, **more).stdout


def best_seconds(command, times, **more):
    best = float("inf")
    for _ in range(times):
        begin = time.perf_counter()
        output_of(command, **more)
        best = min(best, time.perf_counter() - begin)
    return best


def start_up(build, library):
    program = build / "bench" / f"add_two_{library}"
    if not program.exists():
        return {}
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    return {"startup/time": best_seconds([program], 20, env=environment) * 1e3,
            "startup/memory": min(int(output_of([program], env=environment)) for _ in range(3)) / 1024}


def first_mm(build, library):
    program = build / "bench" / f"first_mm_{library}"
    if not program.exists():
        return {}
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    return {f"first_mm/{side}": min(float(output_of([program, str(side)], env=environment)) for _ in range(10))
            for side in (64, 256)}


def registry(build, library):
    program = build / "bench" / f"registry_{library}"
    return {"registry/bytes_per_op": float(output_of([program]))} if program.exists() else {}


def compile_flags(build, library):
    """How the build compiles the library's programs, without the file names: words of a command."""
    source = "bench/main.cpp" if library == "keyway" else "bench/process/add_two.cpp"
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"].endswith(source) and f"_{library}.dir" in entry["command"]:
            words = shlex.split(entry["command"])
            words = words[next(i for i, word in enumerate(words) if re.search(r"(\+\+|clang)[\w.-]*$", word)):]
            return words[:words.index("-o")]
    return None


def compile_time(build, library):
    flags = compile_flags(build, library)
    if flags is None:
        return {}
    values = {}
    for name, header in zip(("compile/umbrella", "compile/registration"), HEADERS[library]):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "use.cpp")
            source.write_text(f"#include <{header}>\nint main() {{}}\n")
            values[name] = best_seconds([*flags, "-c", source, "-o", source.with_suffix(".o")], 3)
    return values


def library_path(build, library):
    if library == "keyway":
        return build / "libkeyway.so"
    for line in loaded(build / "bench/bench_torch"):
        if line.name.startswith("libtorch_cpu.so"):
            return line
    return None


def loaded(program):
    """The libraries that a program or library needs, with all that those need."""
    if not program.exists():
        return []
    return [Path(path) for path in re.findall(r"=> (/\S+)", output_of(["ldd", program]))]


def stripped_size(path):
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "library")
        shutil.copyfile(path.resolve(), copy)
        output_of(["strip", "--strip-unneeded", copy])
        return copy.stat().st_size


def sizes(build, library):
    path = library_path(build, library)
    if path is None or not path.exists():
        return {}
    own = stripped_size(path)
    others = {needed.resolve() for needed in loaded(path) if not SYSTEM_LIBRARIES.match(needed.name)}
    initialisers = re.search(r"INIT_ARRAYSZ\)\s+(\d+)", output_of(["readelf", "--dynamic", path]))
    return {"size/library": own / 1e6,
            "size/loaded": (own + sum(needed.stat().st_size for needed in others)) / 1e6,
            # one entry is the start-up code of the compiler itself
            "startup/initialisers": int(initialisers.group(1)) // 8 - 1 if initialisers else 0}


def copy_of_the_tree(folder):
    names = output_of(["git", "-C", ROOT, "ls-files", "-z"]).split("\0")
    for name in filter(None, names):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)


def seconds_to_build(build, environment):
    begin = time.perf_counter()
    output_of(["cmake", "--build", build, "--target", "keyway_shared", "keyway_graph_shared",
               "-j", "2"], env=environment)
    return time.perf_counter() - begin


def edit(path, pattern, replacement):
    text = path.read_text()
    changed = re.sub(pattern, replacement, text, count=1)
    if changed == text:
        raise ValueError(f"{path}: nothing matches {pattern}")
    path.write_text(changed)


def builds():
    """A clean build for the CPU in a scratch copy, then one edit after the other to the operator `add` and a rebuild: all with a
    compiler cache of their own, empty at first, as the presets build where there is one."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch, "tree")
        copy_of_the_tree(tree)
        build = tree / "build"
        environment = dict(os.environ, CCACHE_DIR=str(Path(scratch, "cache")))
        begin = time.perf_counter()  # configuring builds the generator
        output_of(["cmake", "-G", "Ninja", "-S", tree, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                   "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DKEYWAY_BUILD_TESTS=OFF", "-DKEYWAY_CUDA=OFF",
                   "-DKEYWAY_CCACHE=ON"], env=environment)
        seconds_to_build(build, environment)
        values = {"build/clean": (time.perf_counter() - begin) / 60}
        schema, functors = tree / "ops/schemas/pointwise.json", tree / "ops/functors"
        edit(schema, r'("func": "add\.Tensor\([\s\S]*?"doc": ")', r"\1Edited: ")
        values["rebuild/doc"] = seconds_to_build(build, environment)
        header = next(path for path in sorted(functors.glob("*.h")) if re.search(r"struct Add\b", path.read_text()))
        edit(header, r"struct Add \{", "struct Add {\n  static constexpr int kEdited = 1;")
        values["rebuild/functor"] = seconds_to_build(build, environment)
        edit(schema, r"add\.Tensor\(Tensor self, Tensor other, \*, Scalar alpha=1\)",
             "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=2)")
        values["rebuild/signature"] = seconds_to_build(build, environment)
        return values


PARTS = {
    start_up: ("startup/time", "startup/memory"),
    first_mm: ("first_mm/64", "first_mm/256"),
    registry: ("registry/bytes_per_op",),
    compile_time: ("compile/umbrella", "compile/registration"),
    sizes: ("size/library", "size/loaded", "startup/initialisers"),
}
BUILDS = ("build/clean", "rebuild/doc", "rebuild/functor", "rebuild/signature")
NAMES = tuple(name for names in PARTS.values() for name in names) + BUILDS


def measure(build, wanted, with_builds):
    """{library: {row name: value}} of those rows wanted that can be measured."""
    values = {"torch": {}, "keyway": {}}
    for part, names in PARTS.items():
        if wanted & set(names):
            for library, measured in values.items():
                measured.update(part(build, library))
    if with_builds and wanted & set(BUILDS):
        values["keyway"].update(builds())
    return {library: {name: value for name, value in measured.items() if name in wanted}
            for library, measured in values.items()}
