"""Graphs: programs as the calls that they make.

    >>> def loss(x, weight):
    ...     return (x @ weight).relu().sum()
    >>> graph = keyway.graph.capture(loss, x, weight)
    >>> print(graph)
    graph executed(%0 x: float32[2, 3], %1 weight: float32[3, 4]) {
      %2: float32[2, 4] = keyway::mm(%0, %1)  # model.py:2
      %3: float32[2, 4] = keyway::relu(%2)  # model.py:2
      %4: float32[] = keyway::sum(%3)  # model.py:2
      return (%4)
    }
    >>> graph(other_x, weight)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from keyway import _C
from keyway._C import Tensor, _graph
from keyway._transforms.trees import leaves_of, rebuilt, same_structure

__all__ = ["Graph", "capture", "is_capturing", "parse"]

is_capturing = _graph.is_capturing


class Graph:
    """A captured program, which can be called as the program.

    A call has to be as the captured one: tensors of the same dtype, device, sizes and strides that share memory as they
    did, other values equal, gradients recorded or not as then, and the state that the program uses besides, such as
    parameters, unchanged but for its numbers. Else it raises keyway.ValueError, which says what differs.
    """

    def __init__(self, calls: _graph.Graph, arguments: Any = None, results: Any = None) -> None:
        self._calls = calls
        self._arguments = arguments  # as (args, kwargs), with None for each tensor
        self._results = results  # likewise, with an _Output for each

    def __str__(self) -> str:
        return str(self._calls)

    def __repr__(self) -> str:
        return f"<keyway.graph.Graph of {len(self._calls.nodes())} calls>"

    @property
    def level(self) -> str:
        """Where its calls were recorded, "executed" or "program": see capture()."""
        return self._calls.level

    def mismatch(self, *args: Any, **kwargs: Any) -> str | None:
        """Why the graph does not hold for a call with these arguments; None if it does."""
        if self._arguments is None:
            return self._calls.mismatch(list(args))
        if not same_structure(self._arguments, (args, kwargs)):
            return "the arguments have another structure than in the capture"
        for expected, given in zip(leaves_of(self._arguments), leaves_of((args, kwargs))):
            if isinstance(given, Tensor) != (expected is _TENSOR):
                return "a tensor is an argument in the place of another value, or the reverse"
            if expected is not _TENSOR and (type(expected) is not type(given) or expected != given):
                return f"an argument is {given!r}, but was {expected!r} in the capture"
        return self._calls.mismatch(_tensors_in((args, kwargs)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the program gives. What it writes to, arguments or state, is written to."""
        if self._arguments is None:
            return tuple(self._calls.run(list(args)))
        why = self.mismatch(*args, **kwargs)
        if why is not None:
            raise _C.ValueError(f"the graph does not hold for this call: {why}")
        tensors = self._calls.run(_tensors_in((args, kwargs)))
        leaves = [tensors[leaf.number] if isinstance(leaf, _Output) else leaf for leaf in leaves_of(self._results)]
        return rebuilt(self._results, leaves)


class _Output:
    """Stands for a tensor among the results."""

    def __init__(self, number: int) -> None:
        self.number = number


_TENSOR = object()  # stands for a tensor among the arguments


def capture(func: Callable[..., Any], /, *args: Any, level: str = "executed", **kwargs: Any) -> Graph:
    """Calls ``func(*args, **kwargs)`` and gives the graph of what it did.

    The call is a call as any other, with all its effects. Tensors among the arguments, also in tuples, lists and
    dictionaries, are the arguments of the graph; all other tensors that the program uses are state, which the graph
    refers to. Numbers and conditions of Python are not in the graph: it does what this call did.

    ``level``: "executed" has what is executed, below autograd, with all calls of backward(), gradient formulas and
    optimizers; operators that are written with others are replaced by these. No result may require grad. "program" has
    the calls as they are written, above autograd, so that a run of the graph can be differentiated.

    Raises keyway.ValueError, which names the line, for what a graph cannot follow: item() and conditions on values,
    operators whose results' sizes depend on values, memory that is read or shared (numpy(), data_ptr()), calls that
    fail within ``try``.
    """
    watched = _graph.Capture(level)
    try:
        for name, tensor in _named_tensors(func, args, kwargs):
            watched.add_argument(tensor, name)
        results = func(*args, **kwargs)
        leaves = leaves_of(results)
        graph = watched.finish([leaf for leaf in leaves if isinstance(leaf, Tensor)])
    finally:
        watched.abandon()
    numbers = iter(range(len(leaves)))
    shown = [_Output(next(numbers)) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    expected = [_TENSOR if isinstance(leaf, Tensor) else leaf for leaf in leaves_of((args, kwargs))]
    return Graph(graph, rebuilt((args, kwargs), expected), rebuilt(results, shown))


def parse(text: str) -> Graph:
    """The graph of a text that str() of a graph gave. It is called with tensors alone and gives a tuple; one with state
    cannot run. Raises keyway.ParseError, which names the line."""
    return Graph(_graph.parse(text))


def _tensors_in(tree: Any) -> list[Tensor]:
    return [leaf for leaf in leaves_of(tree) if isinstance(leaf, Tensor)]


def _named_tensors(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Tensor]]:
    """The tensors among the arguments, with the names of the parameters that they are, or are in."""
    try:
        parameters = list(inspect.signature(func).parameters.values())
    except (TypeError, ValueError):  # of what has no signature
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = positional[: len(args)] + [""] * (len(args) - len(positional))
    named = [(name, leaf) for name, arg in zip(names, args) for leaf in _tensors_in(arg)]
    return named + [(name, leaf) for name, arg in kwargs.items() for leaf in _tensors_in(arg)]
