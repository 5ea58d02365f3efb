#!/usr/bin/env python3
"""Makes the calls of graphs with PyTorch, and compares what they give with what Keyway gave.

    KEYWAY_KEEP_PROGRAMS=build/programs build/ci/tests/tests_graph "random programs of all kinds*"
    build/peer/bin/python tools/oracle/compare_graphs.py build/programs

Each file is one of safetensors that the test of random programs has written: the text of a graph as its metadata, the inputs
'in.0', 'in.1', ... before the program ran, and behind it these as 'after.0', ... and the results 'out.0', .... The operators
of PyTorch that have the same names are called. Files with calls that PyTorch refuses are counted, by the reason.
"""

from __future__ import annotations

import collections
import json
import re
import struct
import sys
from pathlib import Path

import torch

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64, "I32": torch.int32,
          "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool, "C64": torch.complex64}
WORDS = {"None": None, "True": True, "False": False, "inf": float("inf"), "nan": float("nan"), "strided": torch.strided,
         **{name: getattr(torch, name) for name in ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
                                                    "complex64", "complex128", "contiguous_format", "preserve_format", "channels_last")}}


def tensors_of(path: Path) -> tuple[str, dict[str, torch.Tensor]]:
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    text = header.pop("__metadata__")["text"]
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        flat = torch.frombuffer(bytearray(data[begin:end]), dtype=DTYPES[entry["dtype"]]) if end > begin else torch.empty(0, dtype=DTYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"]).clone()
    return text, tensors


def in_order(results: object) -> list[torch.Tensor | None]:
    """Tensors of results, of lists in them too."""
    if isinstance(results, (tuple, list)):
        return [tensor for result in results for tensor in in_order(result)]
    return [results]


def values_after(text: str, inputs: list[torch.Tensor]) -> list[torch.Tensor | None]:
    """The results of the graph of that text."""
    values: dict[int, torch.Tensor | None] = {}
    lines = text.splitlines()
    for number, tensor in zip(re.findall(r"%(\d+)", re.sub(r"( in | grad_of )%\d+", "", lines[0])), inputs):
        values[int(number)] = tensor
    for line in lines[1:]:
        line = line.strip().split("  # ")[0].removesuffix(" no_grad")
        if line.startswith("return"):
            return [values[int(word[1:])] if word.startswith("%") else None for word in re.findall(r"%\d+|None", line)]
        left, separator, call = line.partition(" = ")
        if not separator:
            left, call = "", line
        name, _, arguments = call.partition("(")
        packet, _, overload = name.removeprefix("keyway::").partition(".")
        function = getattr(getattr(torch.ops.aten, packet), overload or "default")
        arguments = re.sub(r"%(\d+)", r"values[\1]", arguments)
        results = in_order(eval(f"function({arguments}", {}, {**WORDS, "values": values, "function": function}))
        made = re.findall(r"%\d+|None", re.sub(r" in %\d+", "", left))
        for word, result in zip(made, results):
            if word != "None":
                values[int(word[1:])] = result
    raise ValueError("the text has no return")


def difference(ours: torch.Tensor, theirs: torch.Tensor | None) -> str:
    if theirs is None or ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"{ours.dtype}{list(ours.shape)}, but PyTorch gives " + ("nothing" if theirs is None else f"{theirs.dtype}{list(theirs.shape)}")
    tolerance = {torch.float16: 2e-2, torch.bfloat16: 5e-2}.get(ours.dtype, 2e-3)
    if not ours.dtype.is_floating_point and not ours.dtype.is_complex:
        return "" if torch.equal(ours, theirs) else f"{ours.tolist()}, but PyTorch gives {theirs.tolist()}"
    if torch.allclose(ours, theirs.detach(), rtol=tolerance, atol=tolerance, equal_nan=True):
        return ""
    return f"{ours.tolist()}, but PyTorch gives {theirs.tolist()}"


def main() -> None:
    torch.set_grad_enabled(False)
    refused: collections.Counter[str] = collections.Counter()
    equal = different = 0
    for path in sorted(Path(sys.argv[1]).iterdir()):
        text, tensors = tensors_of(path)
        inputs = [tensors[f"in.{i}"] for i in range(sum(name.startswith("in.") for name in tensors))]
        try:
            results = values_after(text, inputs)
        except Exception as error:  # what PyTorch does not take
            refused[re.sub(r"\d+", "#", str(error))[:100]] += 1
            continue
        found = [f"{name}{i}: {what}" for name, theirs in (("after.", inputs), ("out.", results)) for i, other in enumerate(theirs)
                 if (what := difference(tensors[f"{name}{i}"], other))]
        equal += not found
        different += bool(found)
        if found:
            print(f"{path}:\n{text}" + "\n".join(line[:400] for line in found) + "\n")
    print(f"{equal} programs give what PyTorch gives, {different} something else; {sum(refused.values())} are not PyTorch's:")
    for reason, count in refused.most_common():
        print(f"  {count}  {reason}")
    sys.exit(different > 0 or equal == 0)


if __name__ == "__main__":
    main()
