"""Functions that are captured, and run as graphs from then on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from keyway import _C
from keyway._graphs.captured import Captured, Graph

_MOST_GRAPHS = 8
_MOST_MISSES = 16


class Compiled:
    """A function that keeps a graph for each kind of call: see keyway.compile."""

    def __init__(self, function: Callable[..., Any], fullgraph: bool, freeze: bool = False) -> None:
        self._fullgraph = fullgraph
        self._freeze = freeze
        self._graphs: list[Graph] = []  # the one used last is first
        self._captures: list[str] = []  # why each began
        self._refusals: list[str] = []
        self.__wrapped__ = function
        self.__doc__ = function.__doc__

    def __getattr__(self, name: str) -> Any:
        """Those of the function, or module."""
        if name == "__wrapped__":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __reduce__(self) -> Any:
        return Compiled, (self.__wrapped__, self._fullgraph, self._freeze)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A method, where it is the attribute of a class."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _C._graph.is_capturing():  # which has to see the calls
            return self.__wrapped__(*args, **kwargs)
        why = "the first call"
        for number, graph in enumerate(self._graphs):
            given = graph.attempt(args, kwargs)
            if not isinstance(given, str):
                if number > 0:
                    self._graphs = [graph] + [g for g in self._graphs if g is not graph]  # another thread may go over it
                return given[0]
            why = given if number == 0 else why
        if len(self._captures) >= _MOST_MISSES:
            return self.__wrapped__(*args, **kwargs)
        return self._capture(why, args, kwargs)

    def _capture(self, why: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._captures.append(why)
        captured = Captured(self.__wrapped__, args, kwargs, go_on=not self._fullgraph)
        try:
            graph = captured.graph()
        except _C.ValueError as refusal:
            if self._fullgraph:
                raise
            self._refusals.append(str(refusal))
            return captured.results
        if graph.level == "executed":
            graph = graph.without_common_subexpressions().without_dead_code()
            if self._freeze:
                graph = graph.with_folded_batch_norm().with_ordered_weights().frozen()
        self._graphs = [graph, *self._graphs[:_MOST_GRAPHS - 1]]
        return captured.results

    def explain(self) -> str:
        """Which graphs there are, how they run, why each capture began, and what was refused."""
        lines = [f"{len(self._graphs)} graphs of {', '.join(str(len(g.nodes())) for g in self._graphs) or 'no'} calls"]
        lines += [f"runs {how}" for how in dict.fromkeys(graph.how() for graph in self._graphs)]
        lines += [f"captured: {why}" for why in self._captures]
        lines += [f"refused: {why}" for why in self._refusals]
        if len(self._captures) >= _MOST_MISSES:
            lines.append(f"not captured any more: {_MOST_MISSES} calls were of kinds of their own")
        return "\n".join(lines)
