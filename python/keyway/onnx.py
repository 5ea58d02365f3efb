"""ONNX models, which run as any program of Keyway's does.

    model = keyway.onnx.load("model.onnx")
    print(model)
    y = model(x)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from keyway import _C

if TYPE_CHECKING:
    from keyway._C import _onnx

__all__ = ["Model", "load", "load_bytes", "operators"]


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
