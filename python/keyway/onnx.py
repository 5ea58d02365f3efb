"""ONNX models, which run as any program of Keyway's does.

    model = keyway.onnx.load("model.onnx")
    print(model)
    y = model(x)

and programs as ONNX models.

    keyway.onnx.export(module, (x,), "model.onnx", dynamic_shapes=({0: "batch"},))
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, Any

from keyway import _C
from keyway._graphs.exported import ExportedProgram, export as _captured
from keyway._tensor.serialization import encoded_path
from keyway.autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from keyway._C import _onnx

__all__ = ["Model", "export", "exportable_operators", "load", "load_bytes", "operators"]


class Model:
    """An ONNX model. A value is a tensor; a list of values for a sequence; a str or nested lists of these for a tensor of
    texts; None for an optional that has no value. A number stands for an input without dimensions: a graph has it as a
    constant."""

    def __init__(self, model: _onnx.Model) -> None:
        self._model = model

    @property
    def inputs(self) -> dict[str, str]:
        """The inputs that a call needs, with their types: `{"x": "float32[batch, 3]"}`."""
        return dict(self._model.inputs[: self._model.required_inputs])

    @property
    def optional_inputs(self) -> dict[str, str]:
        """The inputs for which the file has values, which a call may replace."""
        return dict(self._model.inputs[self._model.required_inputs :])

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs, with their types."""
        return dict(self._model.outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The output for these inputs, by position or by name; a tuple where there are several."""
        names = list(self.inputs)
        if len(args) > len(names):
            raise TypeError(f"the model takes {len(names)} inputs ({', '.join(names)}), not {len(args)}")
        given = dict(zip(names, args))
        twice = given.keys() & kwargs.keys()
        if twice:
            raise TypeError(f"the input '{min(twice)}' is given by position and by name")
        outputs = self._model.run({**given, **kwargs})
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """The outputs by name, for inputs by name."""
        return dict(zip(self.outputs, self._model.run(inputs)))

    def __repr__(self) -> str:
        def listed(arguments: dict[str, str]) -> str:
            return ", ".join(f"{name}: {kind}" for name, kind in arguments.items())

        return f"keyway.onnx.Model({listed(self.inputs)}) -> ({listed(self.outputs)})"


def load(path: str | os.PathLike[str]) -> Model:
    """The model of a file. Its external data may lie in the file's folder or below it."""
    return Model(_C._onnx.load(os.fsencode(path)))


def load_bytes(data: bytes) -> Model:
    """The model of the bytes of a file."""
    return Model(_C._onnx.load_bytes(data))


def operators() -> list[tuple[str, str, int]]:
    """The operators that models may have: the domain, "" for ai.onnx, the name, and since which version it is so."""
    return _C._onnx.operators()


def export(model: Callable[..., Any] | ExportedProgram, args: tuple[Any, ...] = (),
           f: str | os.PathLike[str] | IO[bytes] | None = None, *, kwargs: dict[str, Any] | None = None,
           input_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None,
           opset_version: int = 18, dynamic_shapes: Any = None,
           external_data: bool | None = None) -> ExportedProgram:  # fmt: skip
    """Writes ``model(*args, **kwargs)`` as an ONNX model to ``f``, a path or an object with write(), and returns the program
    that it is.

    ``model`` is a function, a module, in the mode in which it is, or a program of ``keyway.export``, which needs no ``args``.
    ``dynamic_shapes`` is that of ``keyway.export.export``. ``external_data`` says whether the state lies in a file beside
    the model, of its name with ``.data`` behind it; by itself, where it has more than a gigabyte.

    Raises keyway.NotImplementedError for calls that ONNX does not have, with their lines, and keyway.ValueError for what a
    program cannot follow, and for programs that write to their arguments or their state, as a module in training does.
    """
    if isinstance(model, ExportedProgram):
        if args or kwargs or dynamic_shapes is not None:
            raise _C.ValueError("export: a program has its arguments and dimensions: give neither args nor dynamic_shapes")
        program = model
    else:
        with no_grad():
            program = _captured(model, args, kwargs, dynamic_shapes=dynamic_shapes)
    names = list(input_names or []), list(output_names or [])
    if isinstance(f, (str, os.PathLike)):
        _C._onnx.export_program(program._program, encoded_path(f), opset_version, *names, external_data)
    elif f is None or not hasattr(f, "write"):
        raise _C.TypeError(f"argument 'f' must be a path or have write(), not {type(f).__name__}")
    else:
        if external_data:
            raise _C.ValueError("export: external data lies beside a file: give a path")
        f.write(_C._onnx.export_bytes(program._program, opset_version, *names))
    return program


def exportable_operators() -> list[str]:
    """The operators that ``export`` has nodes of ONNX for: "add.Tensor". Others are exported where what they call is."""
    return _C._onnx.exportable_operators()
