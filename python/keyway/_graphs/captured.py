"""Captures of functions of Python: their graphs, with what the functions were given and gave."""

from __future__ import annotations

import enum
import gc
import inspect
import itertools
import types
from collections.abc import Callable, Iterable, MutableSet, Sequence
from typing import Any

from keyway import _C
from keyway._C import Tensor, _graph
from keyway._graphs.decompositions import DecompositionTable, resolved
from keyway._graphs.watched import Watched, is_same, watching
from keyway._transforms.trees import children, leaves_like, leaves_of, same_structure, tree_map
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter

_LEVELS = ("program", "executed")

# Of results beside tensors: what can be given again, since it does not change.
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), type, enum.Enum, range, slice, frozenset, tuple, Module,
              types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)


class Output:
    """Stands for a tensor among the results of a graph, or the arguments of a program, by its number there."""

    def __init__(self, number: int) -> None:
        self.number = number


def without_tensors(tree: Any) -> Any:
    """The tree with an Output for each tensor, numbered in their order."""
    numbers = itertools.count()
    return tree_map(lambda leaf: Output(next(numbers)) if isinstance(leaf, Tensor) else leaf, tree)


def with_tensors(tree: Any, tensors: Sequence[Tensor]) -> Any:
    """The tree with the tensor of its number for each Output."""
    return tree_map(lambda leaf: tensors[leaf.number] if isinstance(leaf, Output) else leaf, tree)


class _Given:
    """Stands for a tensor of that class among the arguments."""

    def __init__(self, kind: type[Tensor]) -> None:
        self.kind = kind


class Graph:
    """A captured program, which can be called as the program.

    A call has to be as the captured one: tensors of the same dtype, device, sizes and strides that share memory as they
    did, other values equal, gradients recorded or not as then, and the state that the program uses besides, such as
    parameters, unchanged but for its numbers. Else it raises keyway.ValueError, which says what differs.
    """

    def __init__(self, calls: _graph.Graph, arguments: Any = None, results: Any = None,
                 watched: Watched | None = None) -> None:
        self._calls = calls
        self._arguments = arguments  # as (args, kwargs), with _Given for each tensor
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

    def how(self) -> str:
        """How it runs: "as a plan", and how many calls run beside others, "by the graph backend of npu", or
        "call by call: " with the reason."""
        return self._calls.how()

    def nodes(self) -> list[tuple[str, str]]:
        """The full name of each call's operator, and where the call was made, "model.py:12"."""
        return self._calls.nodes()

    def with_calls(self, calls: _graph.Graph) -> Graph:
        """The program with other calls, which compute the same for the same arguments."""
        return Graph(calls, self._arguments, self._results, self._watched)

    def functionalized(self) -> Graph:
        """The program without changes in place: each is the call that computes the same in new memory. What the program
        writes to its arguments and to state is copied there at the end.

        Raises keyway.NotImplementedError, which names the operator, for what has no such form, and keyway.ValueError
        for a graph of the level "program".
        """
        return self.with_calls(_graph.functionalize(self._calls))

    def decomposed(self, table: DecompositionTable | None = None) -> Graph:
        """The program in which operators of a table are replaced by what their decompositions call, until there are none,
        without dead code. Calls that write stay. Last bits of its results may be others.

        ``table``: from operators to functions of their arguments; by default keyway.export.default_decompositions().

        Raises keyway.ValueError for a decomposition that gives another dtype or other sizes than the operator, or that
        a graph cannot follow: see keyway.graph.capture.
        """
        return self.with_calls(_graph.decompose(self._calls, resolved(table)))

    def without_dead_code(self) -> Graph:
        """The program without calls that nothing depends on. Writes to memory that is read, and random calls, stay."""
        return self.with_calls(_graph.eliminate_dead_code(self._calls))

    def without_common_subexpressions(self) -> Graph:
        """The program in which equal calls are one, where nothing is written to between them."""
        return self.with_calls(_graph.eliminate_common_subexpressions(self._calls))

    def frozen(self) -> Graph:
        """The program with what it computes of state alone computed once. It holds as long as nobody else writes to its
        state: after that a call raises keyway.ValueError. Writes that no version tells of, as through an array of NumPy,
        are not seen. Raises keyway.ValueError for a graph of the level "program"."""
        return self.with_calls(_graph.freeze(self._calls))

    def with_folded_batch_norm(self) -> Graph:
        """The program in which a convolution has the batch normalization behind it in its weights, where that goes by
        fixed statistics. The last bits of its results are others."""
        return self.with_calls(_graph.fold_batch_norm(self._calls))

    def with_ordered_weights(self) -> Graph:
        """The program in which products of several rows take a copy of a weight that lies as they read it, which frozen()
        makes once. It takes memory beside the weight. Last bits may be others."""
        return self.with_calls(_graph.order_weights(self._calls))

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
        return (with_tensors(self._results, given),)

    def _match(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor] | str:
        """The tensors among the arguments; why the graph does not hold for them, as far as Python knows."""
        if self._is_flat and not kwargs and len(args) == len(self._arguments[0]):
            leaves, expected = list(args), self._arguments[0]  # most calls
        elif same_structure(self._arguments, (args, kwargs)):
            leaves, expected = leaves_like(self._arguments, (args, kwargs)), leaves_of(self._arguments)
        else:
            return "the arguments have another structure than in the capture"
        tensors = []
        for was, given in zip(expected, leaves):
            if type(was) is _Given:
                if type(given) is not was.kind:
                    return f"an argument is a {type(given).__name__}, but was a {was.kind.__name__} in the capture"
                tensors.append(given)
            elif not is_same(given, was) and not _is_equal(given, was):
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
        self._captures: dict[str, _graph.Capture] = {}
        self._refusal: str | None = None  # what the capture of calls does not see
        given = leaves_of((args, kwargs))
        self._expected = tree_map(lambda leaf: _Given(type(leaf)) if isinstance(leaf, Tensor) else leaf, (args, kwargs))
        try:
            self._begin((level,) if level is not None else _LEVELS, named_tensors(function, args, kwargs), go_on)
            histories = [leaf.requires_grad for leaf in given if isinstance(leaf, Tensor)]
            modes = _modes()
            with watching() as self._watched:
                for used in (function, *given):
                    self._watched.add_function(used)
                self.results = function(*args, **kwargs)
            self._outputs = self._outputs_among(given)
            self._changes_history = histories != [leaf.requires_grad for leaf in given if isinstance(leaf, Tensor)]
            self._check(given, modes)
        except BaseException:
            self._abandon()
            raise

    def _begin(self, levels: tuple[str, ...], named: list[tuple[str, Tensor]], go_on: bool) -> None:
        try:
            for name in levels:
                self._captures[name] = _graph.Capture(name, go_on)
                for parameter, tensor in named:
                    self._captures[name].add_argument(tensor, parameter)
        except _C.NotImplementedError as unsuited:  # arguments of vmap and the like
            if not go_on:
                raise
            self._refusal = str(unsuited)
            self._abandon()

    def _outputs_among(self, given: list[Any]) -> list[Tensor]:
        """The tensors among the results; refuses results that a run could not make anew."""
        try:
            leaves = leaves_of(self.results)
        except RecursionError:
            self._refuse("the results hold themselves")
            return []
        for leaf in leaves:
            if isinstance(leaf, Tensor):
                if type(leaf) not in (Tensor, Parameter) and not any(leaf is argument for argument in given):
                    self._refuse(f"a result is a {type(leaf).__name__}, and a run would give a Tensor")
            elif not _is_constant(leaf) and not any(leaf is argument for argument in given):
                self._refuse(f"a result is a {type(leaf).__name__}, which a run would not make anew")
        return [leaf for leaf in leaves if isinstance(leaf, Tensor)]

    def _check(self, given: list[Any], modes: tuple[Any, ...]) -> None:
        """Refuses what the program does to Python beside its results."""
        for leaf in given:
            if not isinstance(leaf, (Tensor, Module)) and _can_change(leaf):
                self._refuse(f"an argument is a {type(leaf).__name__}, whose items may change unseen")
        if modes != _modes():
            self._refuse("the program sets the default dtype or a mode of gradients, which a run would not")
        if self._watched.refusal is not None:
            self._refuse(self._watched.refusal)
        change = self._watched.change()
        if change is not None:
            self._refuse(f"the program changes what it depends on: since it began, {change.removesuffix(' in the capture')}")

    def _refuse(self, why: str) -> None:
        self._refusal = self._refusal or f"capture: {why}"

    def graph(self) -> Graph:
        """Ends the capture. Raises keyway.ValueError for what was refused."""
        try:
            if not self._captures:
                raise _C.ValueError(str(self._refusal))
            has_history = self._changes_history or any(output.requires_grad for output in self._outputs)
            level = "program" if "program" in self._captures and (has_history or len(self._captures) == 1) else "executed"
            if level == "executed" and self._changes_history:
                self._refuse("the program changes whether an argument requires grad: the level 'program' follows that")
            capture = self._captures.pop(level)
            self._abandon()  # the other one, which keeps what it refers to
            self._captures[level] = capture
            if capture.keeps_results(self._outputs):
                gc.collect()  # what only a cycle of references keeps
            calls = capture.finish(self._outputs)
            if self._refusal is not None:
                raise _C.ValueError(self._refusal)
        finally:
            self._abandon()
        return Graph(calls, self._expected, without_tensors(self.results), self._watched)

    def _abandon(self) -> None:
        for capture in self._captures.values():
            capture.abandon()
        self._captures.clear()


def _modes() -> tuple[Any, ...]:
    return _C.get_default_dtype(), _C.is_grad_enabled(), _C.is_inference_mode_enabled()


def _is_equal(given: Any, was: Any) -> bool:
    """Of values that do not change: sizes, dtypes, members of an enumeration and the like."""
    if type(given) is not type(was) or not _is_constant(was) or isinstance(was, (float, complex, tuple, frozenset)):
        return type(given) is type(was) and isinstance(was, tuple) and repr(given) == repr(was)
    return bool(given == was)


def _is_constant(leaf: Any) -> bool:
    return isinstance(leaf, _CONSTANTS) or type(leaf).__module__.partition(".")[0] == "keyway"


def _can_change(leaf: Any) -> bool:
    return isinstance(leaf, MutableSet) or hasattr(type(leaf), "__setitem__")


def _tensors_in(tree: Any) -> list[Tensor]:
    return [leaf for leaf in leaves_of(tree) if isinstance(leaf, Tensor)]


def _positional_names(function: Callable[..., Any]) -> list[str]:
    if type(function) is types.FunctionType and not hasattr(function, "__wrapped__"):  # a signature takes its time
        return list(function.__code__.co_varnames[:function.__code__.co_argcount])
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of what has no signature
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def named_tensors(function: Callable[..., Any], args: tuple[Any, ...],
                  kwargs: dict[str, Any]) -> list[tuple[str, Tensor]]:
    """The tensors among the arguments, with the names of the parameters that they are, or are in."""
    positional = _positional_names(function)
    names = positional[: len(args)] + [""] * (len(args) - len(positional))
    named = [(name, leaf) for name, arg in zip(names, args) for leaf in _tensors_in(arg)]
    return named + [(name, leaf) for name, arg in kwargs.items() for leaf in _tensors_in(arg)]
