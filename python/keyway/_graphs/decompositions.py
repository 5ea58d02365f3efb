"""Decompositions: functions that compute what an operator gives by calls of others, in tables from operators to functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from keyway import _C
from keyway._C import _graph
from keyway._library.ops import OperatorLike, operator_function

_F = TypeVar("_F", bound=Callable[..., Any])

DecompositionTable = Mapping[OperatorLike, Callable[..., Any]]

_registered: dict[OperatorLike, Callable[..., Any]] = {}


class Decomposition:
    """The decomposition of an operator that Keyway has: it is called as the operator."""

    def __init__(self, op: _C.OperatorFunction, table: _graph.Decompositions) -> None:
        self._op = op
        self._table = table

    def __repr__(self) -> str:
        return f"<decomposition of {self._op.name()}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._table.call(self._op, *args, **kwargs)


def default_decompositions() -> dict[OperatorLike, Callable[..., Any]]:
    """A new table of all decompositions: of Keyway's operators outside of the Core ATen set, of composites of other
    libraries, and those of register_decomposition(). A call of an operator that is taken out of it stays as it is."""
    table = _graph.default_decompositions()
    known = {op: Decomposition(op, table) for op in map(operator_function, table.operators())}
    return {**known, **_registered}


def register_decomposition(op: OperatorLike | Iterable[OperatorLike],
                           registry: dict[OperatorLike, Callable[..., Any]] | None = None) -> Callable[[_F], _F]:
    """Makes the function that follows the decomposition of an operator, or of each of several: it takes the operator's
    arguments and gives its results. ``registry``: the table that it goes into; by default that of
    default_decompositions().

        >>> @keyway.export.register_decomposition(keyway.ops.keyway.silu.default)
        ... def silu(x):
        ...     return x * x.sigmoid()

    Raises keyway.Error for what is no operator.
    """
    table = _registered if registry is None else registry
    functions = [operator_function(each) for each in (op if isinstance(op, (list, tuple, set)) else [op])]

    def registered(function: _F) -> _F:
        for each in functions:
            table[each] = function
        return function

    return registered


def resolved(table: DecompositionTable | None) -> _graph.Decompositions:
    """The table as passes take it. Raises keyway.Error for what is no operator, and for one that writes or gives numbers."""
    if table is None and not _registered:
        return _graph.default_decompositions()
    made = _graph.Decompositions()
    for op, function in (default_decompositions() if table is None else table).items():
        name = operator_function(op).name()
        if isinstance(function, Decomposition):
            made.set_from(name, function._table)
        else:
            made.set(name, function)
    return made
