"""Files of tensors: keyway.save and keyway.load, in the safetensors format. Loading executes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, Any, Union

from keyway import _C

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes]]


def encoded_path(path: str | os.PathLike[str]) -> bytes:
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("embedded null byte in a path")
    return name


def save(tensors: Mapping[str, _C.Tensor], f: str | os.PathLike[str] | IO[bytes], *,
         metadata: Mapping[str, str] | None = None) -> None:  # fmt: skip
    """Writes named tensors to a safetensors file: to a path, or to an object with write().

    Whoever reads the path meanwhile sees the old file or the whole new one. Views are saved as their elements; history
    is not saved. Raises OSError for a path that cannot be written to, keyway.TypeError for what is no tensor, keyway.Error
    for dtypes that the format does not have.
    """
    if not isinstance(tensors, Mapping):
        raise _C.TypeError(f"save(): takes a dict of tensors by name, not {type(tensors).__name__}: pickle what is none")
    named = dict(tensors)
    notes = dict(metadata or {})
    if isinstance(f, (str, os.PathLike)):
        _C._save_safetensors(named, encoded_path(f), notes)
    elif hasattr(f, "write"):
        f.write(_C._print_safetensors(named, notes))
    else:
        raise _C.TypeError(f"argument 'f' must be a path or have write(), not {type(f).__name__}")


def _read(f: Source, mmap: bool) -> tuple[dict[str, _C.Tensor], dict[str, str]]:
    if isinstance(f, (str, os.PathLike)):
        os.stat(f)  # where there is no file, Python's own error says so
        return _C._load_safetensors(encoded_path(f), mmap)
    if mmap:
        raise _C.ValueError("mmap=True needs a path")
    content: Any = f.read() if hasattr(f, "read") else f
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise _C.TypeError(f"argument 'f' must be a path, bytes, or a file opened for bytes, not {type(f).__name__}")
    return _C._parse_safetensors(bytes(content))


def load(f: Source, *, map_location: _C.device | str | None = None, mmap: bool = False,
         weights_only: bool | None = None) -> dict[str, _C.Tensor]:  # fmt: skip
    """The tensors of a safetensors file, in its order: of a path, its bytes, or an object with read().

    They are on the CPU, or on the device `map_location`. With `mmap` their elements stay in the file until they are
    read, and what is written to them stays in this process. `weights_only` changes nothing: nothing else is there.
    Raises keyway.ParseError for what is no such file, and OSError where there is none.
    """
    tensors, _ = _read(f, mmap)
    if map_location is None:
        return tensors
    return {name: tensor.to(device=map_location) for name, tensor in tensors.items()}


def load_metadata(f: Source) -> dict[str, str]:
    """The texts that were saved with the tensors of a safetensors file. Raises as keyway.load does."""
    return _read(f, mmap=isinstance(f, (str, os.PathLike)))[1]
