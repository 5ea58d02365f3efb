"""Captures of functions of Python: their graphs, with what the functions were given and gave."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from keyway import _C
from keyway._C import Tensor, _graph
from keyway._graphs.watched import Watched, watching
from keyway._transforms.trees import children, leaves_of, rebuilt, same_structure

_LEVELS = ("program", "executed")


class Output:
    """Stands for a tensor among the results of a graph."""

    def __init__(self, number: int) -> None:
        self.number = number


_TENSOR = object()  # stands for a tensor among the arguments


class Graph:
    """A captured program, which can be called as the program.

    A call has to be as the captured one: tensors of the same dtype, device, sizes and strides that share memory as they
    did, other values equal, gradients recorded or not as then, and the state that the program uses besides, such as
    parameters, unchanged but for its numbers. Else it raises keyway.ValueError, which says what differs.
    """

    def __init__(self, calls: _graph.Graph, arguments: Any = None, results: Any = None,
                 watched: Watched | None = None) -> None:
        self._calls = calls
        self._arguments = arguments  # as (args, kwargs), with _TENSOR for each tensor
        self._results = results  # likewise, with an Output for each
        self._watched = watched
        self._is_flat = arguments is not None and not arguments[1] and all(children(a) is None for a in arguments[0])

    def __str__(self) -> str:
        return str(self._calls)

    def __repr__(self) -> str:
        return f"<keyway.graph.Graph of {len(self.nodes())} calls>"

    @property
    def level(self) -> str:
        """Where its calls were recorded, "executed" or "program": see capture()."""
        return self._calls.level

    def nodes(self) -> list[tuple[str, str]]:
        """The full name of each call's operator, and where the call was made, "model.py:12"."""
        return self._calls.nodes()

    def to_dot(self, names: Iterable[tuple[str, Tensor]] = ()) -> str:
        """The graph for Graphviz, in its language DOT. names: of state, as model.named_parameters() gives them."""
        return self._calls.to_dot(list(names))

    def to_html(self, timings: _graph.Timings | None = None, names: Iterable[tuple[str, Tensor]] = ()) -> str:
        """A page that shows the graph and needs nothing else. timings: what measure() gave. names: of state, as
        model.named_parameters() gives them."""
        return self._calls.to_html(timings, list(names))

    def measure(self, *args: Any, runs: int = 20, **kwargs: Any) -> _graph.Timings:
        """How long the graph takes for these arguments: `calls`, the seconds of each call, made one by one, and `plan`,
        those of a run as a plan, None where there is none. Medians of so many runs, each with all its effects."""
        if runs < 1:
            raise _C.ValueError(f"measure: the number of runs is 1 or more, not {runs}")
        tensors: list[Tensor] | str = list(args) if self._arguments is None else self._match(args, kwargs)
        if isinstance(tensors, str):
            raise _C.ValueError(f"the graph does not hold for this call: {tensors}")
        return self._calls.measure(tensors, runs)

    def difference(self, other: Graph) -> str:
        """What is in this graph alone ("- "), in the other alone ("+ ") or in both with other arguments or results ("~ "),
        a line each; empty if they are alike. Places in the program do not count."""
        return self._calls.difference(other._calls)

    def mismatch(self, *args: Any, **kwargs: Any) -> str | None:
        """Why the graph does not hold for a call with these arguments; None if it does."""
        if self._arguments is None:
            return self._calls.mismatch(list(args))
        tensors = self._match(args, kwargs)
        return tensors if isinstance(tensors, str) else self._calls.mismatch(tensors)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the program gives. What it writes to, arguments or state, is written to."""
        given = self.attempt(args, kwargs)
        if isinstance(given, str):
            raise _C.ValueError(f"the graph does not hold for this call: {given}")
        return given[0]

    def attempt(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any] | str:
        """A tuple of what the program gives, or why the graph does not hold for these arguments."""
        if self._arguments is None:
            given = self._calls.attempt(list(args))
            return given if isinstance(given, str) else (tuple(given),)
        tensors = self._match(args, kwargs)
        given = tensors if isinstance(tensors, str) else self._calls.attempt(tensors)
        if isinstance(given, str):
            return given
        if isinstance(self._results, Output):
            return (given[0],)
        leaves = [given[leaf.number] if isinstance(leaf, Output) else leaf for leaf in leaves_of(self._results)]
        return (rebuilt(self._results, leaves),)

    def _match(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor] | str:
        """The tensors among the arguments; why the graph does not hold for them, as far as Python knows."""
        leaves: tuple[Any, ...] | list[Any]
        if self._is_flat and not kwargs and len(args) == len(self._arguments[0]):
            leaves, expected = args, self._arguments[0]  # most calls
        elif same_structure(self._arguments, (args, kwargs)):
            leaves, expected = leaves_of((args, kwargs)), leaves_of(self._arguments)
        else:
            return "the arguments have another structure than in the capture"
        tensors = []
        for was, given in zip(expected, leaves):
            if was is _TENSOR:
                if not isinstance(given, Tensor):
                    return f"an argument is a {type(given).__name__}, but was a tensor in the capture"
                tensors.append(given)
            elif type(was) is not type(given) or was != given:
                return f"an argument is {given!r}, but was {was!r} in the capture"
        change = self._watched.change() if self._watched is not None else None
        return tensors if change is None else change


class Captured:
    """One call of a function that was captured: its results, and its graph.

    Without a level both are captured; the graph is that of what is executed unless a result requires grad.
    """

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
                 level: str | None = None, go_on: bool = False) -> None:
        if level is not None and level not in _LEVELS:
            raise _C.ValueError(f"capture: the level is 'program' or 'executed', not {level!r}")
        named = named_tensors(function, args, kwargs)
        self._captures: dict[str, _graph.Capture] = {}
        self._expected = rebuilt((args, kwargs), [_TENSOR if isinstance(leaf, Tensor) else leaf
                                                  for leaf in leaves_of((args, kwargs))])
        try:
            for name in _LEVELS if level is None else (level,):
                self._captures[name] = _graph.Capture(name, go_on)
                for parameter, tensor in named:
                    self._captures[name].add_argument(tensor, parameter)
            with watching() as self._watched:
                self.results = function(*args, **kwargs)
            self._watched.add_function(function)
        except BaseException:
            self._abandon()
            raise
        self._outputs = tensors_in(self.results)

    def graph(self) -> Graph:
        """Ends the capture. Raises keyway.ValueError for what was refused."""
        try:
            has_history = any(output.requires_grad for output in self._outputs)
            level = "program" if "program" in self._captures and (has_history or len(self._captures) == 1) else "executed"
            capture = self._captures.pop(level)
            self._abandon()  # the other one, which keeps what it refers to
            self._captures[level] = capture
            if capture.keeps_results(self._outputs):
                gc.collect()  # what only a cycle of references keeps
            calls = capture.finish(self._outputs)
        finally:
            self._abandon()
        numbers = iter(range(len(self._outputs)))
        shown = [Output(next(numbers)) if isinstance(leaf, Tensor) else leaf for leaf in leaves_of(self.results)]
        return Graph(calls, self._expected, rebuilt(self.results, shown), self._watched)

    def _abandon(self) -> None:
        for capture in self._captures.values():
            capture.abandon()
        self._captures.clear()


def tensors_in(tree: Any) -> list[Tensor]:
    return [leaf for leaf in leaves_of(tree) if isinstance(leaf, Tensor)]


def named_tensors(function: Callable[..., Any], args: tuple[Any, ...],
                   kwargs: dict[str, Any]) -> list[tuple[str, Tensor]]:
    """The tensors among the arguments, with the names of the parameters that they are, or are in."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of what has no signature
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = positional[: len(args)] + [""] * (len(args) - len(positional))
    named = [(name, leaf) for name, arg in zip(names, args) for leaf in tensors_in(arg)]
    return named + [(name, leaf) for name, arg in kwargs.items() for leaf in tensors_in(arg)]
