"""Functions that run as graphs without changes in place."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from keyway._graphs.captured import Captured, Graph

_MOST_GRAPHS = 8


def functionalize(func: Callable[..., Any]) -> Callable[..., Any]:
    """`func` as a graph without changes in place: what it writes to its arguments, or to other tensors, is computed in new
    memory and copied there at the end.

    The first call of a kind is captured: it is a call of `func`. Later ones run the graph, as long as that holds for them:
    see keyway.graph.Graph. The last graphs are in the list ``graphs`` of what this returns. Results share memory with arguments
    and with each other as those of `func` do. Raises what `keyway.graph.capture` and `Graph.functionalized` raise, after
    the call that was captured.
    """
    graphs: list[Graph] = []

    @functools.wraps(func)
    def functionalized(*args: Any, **kwargs: Any) -> Any:
        for graph in graphs:
            given = graph.attempt(args, kwargs)
            if not isinstance(given, str):
                return given[0]
        captured = Captured(func, args, kwargs, "executed")
        graphs.insert(0, captured.graph().functionalized())
        del graphs[_MOST_GRAPHS:]
        return captured.results

    functionalized.graphs = graphs  # type: ignore[attr-defined]
    return functionalized
