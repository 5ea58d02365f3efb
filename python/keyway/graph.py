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

from collections.abc import Callable
from typing import Any

from keyway._C import Tensor, _graph
from keyway._graphs.captured import Captured, Graph as Graph

__all__ = ["Graph", "capture", "is_capturing", "parse", "replace"]

is_capturing = _graph.is_capturing


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
    fail within ``try``, and results that are kept elsewhere than in what ``func`` returns.
    """
    return Captured(func, args, kwargs, level).graph()


def parse(text: str) -> Graph:
    """The graph of a text that str() of a graph gave. It is called with tensors alone and gives a tuple; one with state
    cannot run. Raises keyway.ParseError, which names the line."""
    return Graph(_graph.parse(text))


def replace(graph: Graph, pattern: Callable[..., Any], replacement: Callable[..., Any],
            example_args: tuple[Any, ...]) -> Graph:
    """The graph in which ``replacement`` is called wherever it did what ``pattern`` does.

    Both are functions of the same arguments and with as many results. They are captured by calls with
    ``example_args``, each with copies of its own of the tensors. A tensor stands for any tensor; other arguments, and
    the sizes and numbers that a function uses, have to be equal in the graph. A match is left alone if a value within
    it is used elsewhere, or if its memory is written to from there on.

    Raises keyway.ValueError for functions that are no patterns, as those that write are not, and for a replacement
    whose results have another dtype or other strides than those that they replace.
    """
    def captured(function: Callable[..., Any]) -> _graph.Graph:
        args = tuple(arg.detach().clone() if isinstance(arg, Tensor) else arg for arg in example_args)
        return capture(function, *args, level=graph.level)._calls

    calls, _ = _graph.replace(graph._calls, captured(pattern), captured(replacement))
    return graph.with_calls(calls)
