#!/usr/bin/env python3
"""Checks that every kernel which a CUDA library launches is one that nvcc compiled for a device.

nvcc's front end finds the kernels of a file, and the host's compiler what their addresses are taken of: where they
understand a template differently, a launch fails on every machine that has a device, and on no other. A kernel that
was compiled is registered by the name that it has on the device; that of a static function on the host has an L before
its last part, and else is the same.

Host functions are taken for kernels where another instance of their template was compiled: a template of which none was is
not seen.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

NAME = re.compile(rb"(?<!_)(_ZN\w+)(?=\0)")  # a text need not have a 0 before it: what lies there may be a number
PART = re.compile(r"(L?)(\d+)")


def last_part(symbol):
    """Where the last part of a nested name begins, whether an L is before it, and where it ends; None if it has none."""
    at, found = len("_ZN"), None
    while part := PART.match(symbol, at):
        end = part.end() + int(part.group(2))
        found = at, bool(part.group(1)), end
        at = end
    return found


def functions(library):
    listed = subprocess.run(["nm", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        _, kind, name = line.split(maxsplit=2)
        if kind in "tTW" and name.startswith("_ZN") and re.fullmatch(r"\w+", name):
            yield name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path)
    library = parser.parse_args().library

    registered = {name.decode() for name in NAME.findall(library.read_bytes())}
    hosts, heads = {}, set()
    for name in functions(library):
        part = last_part(name)
        if part is None or not part[1]:
            continue
        begin, _, end = part
        device = name[:begin] + name[begin + 1:]
        hosts[device] = device[:end - 1]
        if device in registered:
            heads.add(device[:end - 1])
    kernels = {device for device, head in hosts.items() if head in heads}
    missing = sorted(kernels - registered)
    if not kernels:
        sys.exit(f"{library} has no kernels that can be seen: it may be stripped.")
    if missing:
        shown = subprocess.run(["c++filt"], input="\n".join(missing[:20]), capture_output=True, text=True, check=True)
        print(f"{library}: {len(missing)} of {len(kernels)} kernels were not compiled for a device.", shown.stdout, sep="\n")
        sys.exit(1)
    print(f"{len(kernels)} kernels, each compiled for a device.")


if __name__ == "__main__":
    main()
