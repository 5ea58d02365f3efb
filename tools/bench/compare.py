#!/usr/bin/env python3
"""Runs bench_torch and bench_keyway (with --cuda those for a CUDA device) in turn, keeps each row's best time, and
prints them side by side.

Only the ratios of one run mean much; the figures themselves are those of the machine and of the moment.
"""

import argparse
import datetime
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import process_rows
from rows import CPU_ROWS, CUDA_ROWS, HIGHER_IS_BETTER, ROOT, read_rows
from table import as_text, table

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
WHAT = {False: "The CPU", True: "A CUDA device"}
SLICES = 5  # how often a row runs in one run of a program
# How PyTorch's threads wait for work, and whether each stays on one processor: which is best depends on row and machine, so
# rows of several threads run under each, and the best counts. Keyway's threads have no such settings; it runs as often.
THREAD_SETTINGS = [{}, {"OMP_WAIT_POLICY": "ACTIVE"}, {"OMP_WAIT_POLICY": "PASSIVE"},
                   {"OMP_WAIT_POLICY": "ACTIVE", "OMP_PROC_BIND": "true"}]


class ProgramFailed(Exception):
    pass


def measure(program, rows, min_time, clock, settings):
    """({name: best value in the row's unit}, name of the library) of one run over rows of one thread count.

    Each row runs several times for a short while: on a busy machine one of them is likely to be left alone.
    """
    threads = str(rows[0].threads)
    names = "|".join(re.escape(row.name) for row in rows)
    environment = dict(os.environ, OMP_NUM_THREADS=threads, **settings)
    run = subprocess.run([program, "--benchmark_format=json", f"--benchmark_min_time={min_time / SLICES}",
                          f"--benchmark_repetitions={SLICES}", f"--benchmark_filter=^({names})/real_time$"],
                         env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, check=False)
    if run.returncode != 0:
        raise ProgramFailed(f"{program} failed with {run.returncode}:\n{run.stderr}")
    by_name = {row.name: row for row in rows}
    values = {}
    output = json.loads(run.stdout) if run.stdout.strip() else {"benchmarks": [], "context": {}}
    for result in output["benchmarks"]:
        if result["run_type"] == "aggregate":
            continue
        name = result["run_name"].removesuffix("/real_time")
        seconds = result[clock] * SECONDS[result["time_unit"]] / result.get("times", 1)
        work = result.get("bytes") or result.get("flop")
        row = by_name[name]
        value = work / seconds / 1e9 if row.unit in HIGHER_IS_BETTER else seconds / SECONDS[row.unit]
        values[name] = better(row, values.get(name), value)
    return values, output["context"].get("library")


def progress(text):
    """A line that the next one overwrites; on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r{text:60}\r", end="", file=sys.stderr, flush=True)


def better(row, a, b):
    if a is None or b is None:
        return a if b is None else b
    return max(a, b) if row.unit in HIGHER_IS_BETTER else min(a, b)


def measure_what_runs(program, rows, min_time, clock, settings, failed):
    """measure(), but a row that ends the program costs itself alone: it is said, and added to `failed`."""
    rows = [row for row in rows if row not in failed]
    if not rows:
        return {}, None
    try:
        return measure(program, rows, min_time, clock, settings)
    except ProgramFailed as failure:
        if len(rows) == 1:
            print(f"{rows[0].name}: {failure}", file=sys.stderr)
            failed.append(rows[0])
            return {}, None
    values, library = {}, None
    for row in rows:
        more, named = measure_what_runs(program, [row], min_time, clock, settings, failed)
        values.update(more)
        library = library or named
    return values, library


def run_benchmarks(programs, rows, args):
    """{program: {name: best value}}: the programs take turns, so that both see the machine's better moments."""
    best = {program: {} for program in programs}
    libraries = {}
    failed = {program: [] for program in programs}
    for repetition in range(args.repetitions):
        for threads in sorted({row.threads for row in rows}):
            group = [row for row in rows if row.threads == threads]
            # On an idle machine the processor time of one thread is the wall time, but where it waits for a device.
            clock = "cpu_time" if threads == 1 and not args.cuda else "real_time"
            for settings, program in itertools.product(THREAD_SETTINGS if threads > 1 else [{}], programs):
                progress(f"{repetition + 1}/{args.repetitions}: {program.name}, {threads} thread(s)")
                values, library = measure_what_runs(program, group, args.min_time, clock, settings, failed[program])
                libraries[program] = library or libraries.get(program)
                for row in group:
                    value = better(row, best[program].get(row.name), values.get(row.name))
                    if value is not None:
                        best[program][row.name] = value
    progress("")
    return best, libraries, any(failed.values())


def refuse_unknown_rows(programs, rows, path):
    names = {row.name for row in rows}
    for program in programs:
        listed = printed_by(program, "--benchmark_list_tests")
        unknown = {line.removesuffix("/real_time") for line in listed.split()} - names
        if unknown:
            sys.exit(f"{program.name} has rows that {path.name} does not know: {', '.join(sorted(unknown))}")


def printed_by(*command):
    """What a program prints; nothing if it fails, or is not there."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def cuda_device():
    devices = printed_by("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()
    return devices[0] if devices else "no CUDA device"


def machine(libraries, cuda):
    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    commit = printed_by("git", "-C", ROOT, "describe", "--always", "--dirty")
    # The rows themselves make a load of one: what is above it was other work on the machine.
    load = f"load average {os.getloadavg()[1]:.1f}"
    parts = [datetime.date.today().isoformat(), f"commit {commit}" if commit else None,
             f"{cpu.group(1) if cpu else 'unknown processor'}, {os.cpu_count()} cores", cuda_device() if cuda else None, load]
    return "; ".join(part for part in parts + sorted(filter(None, libraries.values())) if part)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/bench", help="the build with the programs")
    parser.add_argument("--repetitions", type=int, default=5, help="how often each program runs; the best counts")
    parser.add_argument("--min-time", type=float, default=0.1, help="seconds a row runs at least, each time")
    parser.add_argument("--filter", default="", help="rows whose name matches this regular expression")
    parser.add_argument("--builds", action="store_true", help="also the rows that build Keyway anew (minutes)")
    parser.add_argument("--cuda", action="store_true", help="the rows of the CUDA backend instead of the CPU's")
    parser.add_argument("--json", type=Path, help="write the values into this file too: tools/bench/figures.py reads it")
    args = parser.parse_args()

    path = CUDA_ROWS if args.cuda else CPU_ROWS
    every_row = read_rows(path)
    rows = [row for row in every_row if re.search(args.filter, row.name)]
    programs = {name: args.build / "bench" / f"bench_{name}{'_cuda' if args.cuda else ''}" for name in ("torch", "keyway")}
    present = [program for program in programs.values() if program.exists()]
    refuse_unknown_rows(present, every_row, path)

    in_programs = [row for row in rows if row.name not in process_rows.NAMES]
    best, libraries, failed = run_benchmarks(present, in_programs, args) if in_programs else ({}, {}, False)
    values = {name: best.get(program, {}) for name, program in programs.items()}
    wanted = {row.name for row in rows} & set(process_rows.NAMES)
    for library, measured in process_rows.measure(args.build, wanted, args.builds).items():
        values[library].update(measured)

    where = machine(libraries, args.cuda)
    if args.json:
        args.json.write_text(json.dumps({"what": WHAT[args.cuda], "machine": where, "rows": path.name, **values}, indent=1) + "\n")
    lines = list(table(rows, values["torch"], values["keyway"]))
    print(*as_text(lines), sep="\n")
    print(f"\n{where}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
