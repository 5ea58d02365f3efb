"""compile(): what makes a function one that is captured, and runs as a graph from then on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def compile(function: Callable[..., Any] | None = None, *, fullgraph: bool = False,
            freeze: bool = False) -> Any:
    """The function, or module, whose calls become runs of graphs; a decorator, too.

    The first call of a kind runs the function, and captures what it does (see keyway.graph.capture); later calls of that
    kind run the graph. A call is of another kind if tensors have other dtypes, devices, sizes or strides, share memory
    otherwise, if other values differ, or what the function could see: attributes and members of modules, variables
    around it, settings of optimizers. Gradients are recorded through the graph where a result requires grad.

    What cannot be captured runs as ever, each time; with ``fullgraph`` it raises keyway.ValueError. ``explain()`` of
    what is returned tells what happened. State that Python keeps elsewhere, such as lists and dictionaries that change,
    is not seen: a function that depends on it is not to be compiled.

    With ``freeze``, for inference, what is computed of parameters and buffers alone is computed once, and convolutions
    have the batch normalization behind them in their weights: last bits are others. A write to that state has the call
    captured anew; writes that no version tells of, as through an array of NumPy, are not seen.
    """
    from keyway._graphs.compiled import Compiled  # which needs keyway.nn: `import keyway` does not

    if function is None:
        return lambda decorated: compile(decorated, fullgraph=fullgraph, freeze=freeze)
    return Compiled(function, fullgraph, freeze)
