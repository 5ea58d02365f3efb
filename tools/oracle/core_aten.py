#!/usr/bin/env python3
"""Writes which operators PyTorch counts among the Core ATen set: those with the tag `core`.

    python3 core_aten.py ../../tests/python/core_aten.txt

Runs under a Python that has PyTorch. Neither the build nor the tests need this file: tests/python/test_decompositions.py
reads the list.
"""

import sys
from pathlib import Path

import torch


def core_operators() -> list[str]:
    """Names as schemas have them: "add.Tensor"."""
    core = []
    for qualified in torch._C._dispatch_get_all_op_names():
        namespace, _, name = qualified.partition("::")
        if namespace != "aten":
            continue
        base, _, overload = name.partition(".")
        operator = getattr(getattr(torch.ops.aten, base), overload or "default", None)
        if operator is not None and torch.Tag.core in operator.tags:
            core.append(name)
    return sorted(core)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text("\n".join(core_operators()) + "\n", encoding="utf-8")
