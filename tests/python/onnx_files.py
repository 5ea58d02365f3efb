"""The files of ONNX's own tests, read without Keyway: TensorProto, SequenceProto and OptionalProto as NumPy arrays, lists
and None."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, Iterator

import numpy as np

DATA = Path("/usr/share/libonnx-testdata/data")  # of Debian's package libonnx-testdata

DTYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8"}
BFLOAT16 = 16
STRING = 8


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        value: Any
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at : at + 8], at + 8
        elif kind == 5:
            value, at = data[at : at + 4], at + 4
        else:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        yield tag >> 3, value


def signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def of_bfloat16(bits: Any) -> Any:
    """The numbers, as float32."""
    return (bits.astype("u4") << 16).view("f4")


def tensor(data: bytes) -> Any:
    dims: list[int] = []
    kind = 0
    raw = None
    numbers: list[Any] = []
    texts: list[str] = []
    for number, value in fields(data):
        if number == 1:
            dims += packed(value)
        elif number == 2:
            kind = value
        elif number == 9:
            raw = value
        elif number == 6:
            texts.append(value.decode())
        elif number in (5, 7, 11):
            numbers += packed(value)
        elif number == 4:
            numbers += struct.unpack(f"<{len(value) // 4}f", value)
        elif number == 10:
            numbers += struct.unpack(f"<{len(value) // 8}d", value)
    if kind == STRING:
        return np.array(texts, dtype=object).reshape(dims)
    if kind == BFLOAT16:
        return of_bfloat16(np.frombuffer(raw, "u2") if raw is not None else np.array(numbers, "u2")).reshape(dims)
    if raw is not None:
        return np.frombuffer(raw, DTYPES[kind]).reshape(dims)
    if kind == 10:
        return np.array(numbers, "u2").view("f2").reshape(dims)
    return np.array(numbers, DTYPES[kind]).reshape(dims)


def packed(value: Any) -> list[int]:
    if isinstance(value, int):
        return [signed(value)]
    numbers = []
    at = 0
    while at < len(value):
        number, at = varint(value, at)
        numbers.append(signed(number))
    return numbers


def sequence(data: bytes) -> list[Any]:
    elements = []
    for number, value in fields(data):
        if number == 3:
            elements.append(tensor(value))
        elif number == 5:
            elements.append(sequence(value))
        elif number == 7:
            elements.append(optional(value))
    return elements


def optional(data: bytes) -> Any:
    for number, value in fields(data):
        if number == 3:
            return tensor(value)
        if number == 5:
            return sequence(value)
    return None


def value(data: bytes, type_text: str) -> Any:
    """What a file of a test holds, for an input or output of this type."""
    if type_text.startswith("optional of "):
        return optional(data)
    if type_text.startswith("sequence of "):
        return sequence(data)
    array = tensor(data)
    # Some files have the bits of bfloat16 as numbers of 16 bits.
    return of_bfloat16(array) if type_text.startswith("bfloat16") and array.dtype == np.uint16 else array
