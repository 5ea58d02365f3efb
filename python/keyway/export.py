"""Files of programs: a function or a module is captured for all sizes, saved, and run elsewhere, without its source.

    >>> exported = keyway.export.export(model, (x,), dynamic_shapes={"x": {0: "batch"}})
    >>> keyway.export.save(exported, "model.safetensors")
    >>> keyway.export.load("model.safetensors")(x)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO

from keyway import _C
from keyway._C import _graph
from keyway._graphs.decompositions import (
    default_decompositions as default_decompositions,
    register_decomposition as register_decomposition,
)
from keyway._graphs.exported import ExportedProgram as ExportedProgram, export as export, loaded
from keyway._tensor.serialization import encoded_path

__all__ = ["ExportedProgram", "default_decompositions", "export", "load", "register_decomposition", "save"]


def save(program: ExportedProgram, f: str | os.PathLike[str] | IO[bytes], *,
         metadata: Mapping[str, str] | None = None) -> None:  # fmt: skip
    """Writes a program to a path, or to an object with write(): a safetensors file with its state, and its calls and the
    schemas of their operators in the metadata. Raises as keyway.save does."""
    notes = {**program._notes(), **dict(metadata or {})}
    if isinstance(f, (str, os.PathLike)):
        program._program.save(encoded_path(f), notes)
    elif hasattr(f, "write"):
        f.write(program._program.serialize(notes))
    else:
        raise _C.TypeError(f"argument 'f' must be a path or have write(), not {type(f).__name__}")


def load(f: str | os.PathLike[str] | bytes | IO[bytes]) -> ExportedProgram:
    """The program of a file: of a path, its bytes, or an object with read(). Loading executes nothing.

    Raises keyway.ParseError for what is no such file, keyway.NotImplementedError for one of a later version and for
    operators that are not there or have other schemas, which it names, and OSError where there is none.
    """
    if isinstance(f, (str, os.PathLike)):
        os.stat(f)  # where there is no file, Python's own error says so
        return loaded(_graph.load_program(encoded_path(f)))
    content = f.read() if hasattr(f, "read") else f
    if not isinstance(content, bytes):
        raise _C.TypeError(f"argument 'f' must be a path, bytes, or a file opened for bytes, not {type(f).__name__}")
    return loaded(_graph.parse_program(content))
