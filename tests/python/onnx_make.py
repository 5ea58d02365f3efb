"""ONNX models, written by hand: as few of the format's fields as tests need."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

TYPES = {"float32": 1, "uint8": 2, "int32": 6, "int64": 7, "string": 8, "bool": 9, "float64": 11}


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, value: int | bytes | str | float) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name: str, array: Any) -> bytes:
    array = np.asarray(array)
    dims = b"".join(field(1, size) for size in array.shape)
    return dims + field(2, TYPES[array.dtype.name]) + field(8, name) + field(9, array.tobytes())


def external(name: str, dtype: str, sizes: list[int], **entries: str) -> bytes:
    dims = b"".join(field(1, size) for size in sizes)
    places = b"".join(field(13, field(1, key) + field(2, value)) for key, value in entries.items())
    return dims + field(2, TYPES[dtype]) + field(8, name) + places + field(14, 1)


def attribute(name: str, value: Any) -> bytes:
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    if isinstance(value, float):
        return field(1, name) + field(2, value) + field(20, 1)
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, 3)
    if isinstance(value, list):
        return field(1, name) + b"".join(field(8, number) for number in value) + field(20, 7)
    kind, data = value  # a graph or a tensor, in bytes
    return field(1, name) + (field(6, data) + field(20, 5) if kind == "graph" else field(5, data) + field(20, 4))


def node(op: str, inputs: list[str], outputs: list[str], domain: str = "", **attributes: Any) -> bytes:
    parts = [field(1, name) for name in inputs] + [field(2, name) for name in outputs]
    parts += [field(3, f"the {op}"), field(4, op), field(7, domain)]
    parts += [field(5, attribute(name, value)) for name, value in attributes.items()]
    return b"".join(parts)


def argument(name: str, dtype: str, sizes: list[int | str]) -> bytes:
    dims = b"".join(field(1, field(1, size) if isinstance(size, int) else field(2, size)) for size in sizes)
    return field(1, name) + field(2, field(1, field(1, TYPES[dtype]) + field(2, dims)))


def graph(nodes: list[bytes], inputs: list[bytes], outputs: list[bytes], initializers: list[bytes] = []) -> bytes:
    parts = [field(1, one) for one in nodes] + [field(5, one) for one in initializers]
    return b"".join(parts + [field(11, one) for one in inputs] + [field(12, one) for one in outputs])


def model(graph: bytes, version: int = 17, functions: list[bytes] = [], others: dict[str, int] = {}) -> bytes:
    versions = {"": version, **others}
    parts = [field(1, 8), field(7, graph)]
    parts += [field(8, field(1, domain) + field(2, number)) for domain, number in versions.items()]
    return b"".join(parts + [field(25, one) for one in functions])


def function(domain: str, name: str, inputs: list[str], outputs: list[str], nodes: list[bytes]) -> bytes:
    parts = [field(1, name), field(10, domain), field(9, field(1, "") + field(2, 17))]
    parts += [field(4, one) for one in inputs] + [field(5, one) for one in outputs] + [field(7, one) for one in nodes]
    return b"".join(parts)
