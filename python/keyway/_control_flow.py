"""cond() and while_loop(): control flow that depends on data, as calls that graphs can have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyway import _C
from keyway._C import Tensor, _graph
from keyway._transforms.trees import leaves_of, rebuilt, same_structure


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()) -> Any:
    """``true_fn(*operands)`` if ``pred`` is true, else ``false_fn(*operands)``.

    Outside of a capture that is all. In a graph it is one call, which runs the one or the other as ``pred`` is then:
    both functions are captured, with copies of the operands, and what they use besides becomes part of the graph's
    arguments or state. They have to give tensors of the same number, dtypes, devices and sizes, must not write to what
    they have from outside, and return nothing of it but operands. A result that lies in the memory of an operand is a
    copy.

    ``pred``: a tensor of one element, or a number of Python, which chooses once and for all. ``operands``: a tuple or
    list of tensors, and of tuples, lists and dictionaries of such. Where ``pred`` is the tensor of an example of vmap
    both functions are called, and where() chooses.
    """
    if not callable(true_fn) or not callable(false_fn):
        raise _C.TypeError("cond: true_fn and false_fn must be functions")
    tensors = _tensors_of("cond: operands", operands)
    if not isinstance(pred, Tensor):
        if not isinstance(pred, (bool, int, float)):
            raise _C.TypeError(f"cond: pred must be a tensor or a number, not a {type(pred).__name__}")
        return (true_fn if pred else false_fn)(*operands)
    functions = _Functions(operands)
    results = _graph.cond(pred, functions.flat("true_fn", true_fn), functions.flat("false_fn", false_fn), tensors)
    return functions.with_results(results)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any) -> Any:
    """What ``carried = body_fn(*carried)`` gives in the end, called as long as ``cond_fn(*carried)`` is true.

    Outside of a capture that is all. In a graph it is one call, which runs as often as ``cond_fn`` says then: see cond()
    for what the functions may do. ``body_fn`` gives as many tensors as there are carried_inputs, of the same dtypes,
    devices and sizes. Both functions get contiguous tensors, and the results are tensors in memory of their own.

    Gradients go through all iterations, but not in a graph of what is executed, since that would have to keep what
    nobody knows the size of.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise _C.TypeError("while_loop: cond_fn and body_fn must be functions")
    carried = _tensors_of("while_loop: carried_inputs", carried_inputs)

    def condition(tensors: list[Tensor]) -> list[Tensor]:
        result = cond_fn(*rebuilt(carried_inputs, tensors))
        if not isinstance(result, Tensor):
            if not isinstance(result, (bool, int, float)):
                raise _C.TypeError(f"while_loop: cond_fn must give a tensor or a number, not a {type(result).__name__}")
            result = _C.full([], bool(result), dtype=_C.bool)
        return [result]

    def body(tensors: list[Tensor]) -> list[Tensor]:
        result = body_fn(*rebuilt(carried_inputs, tensors))
        if isinstance(result, Tensor) and len(tensors) == 1:
            result = type(carried_inputs)([result])
        if not same_structure(carried_inputs, result):
            raise _C.ValueError("while_loop: body_fn must give what it is called with: tensors as in carried_inputs")
        return _tensors_of("while_loop: the results of body_fn", result)

    return rebuilt(carried_inputs, _graph.while_loop(condition, body, carried))


def _tensors_of(what: str, tree: Any) -> list[Tensor]:
    if not isinstance(tree, (tuple, list)):
        raise _C.TypeError(f"{what} must be a tuple or a list, not a {type(tree).__name__}")
    leaves = leaves_of(tree)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise _C.TypeError(f"{what} must be tensors, and hold a {type(leaf).__name__}")
    return leaves


class _Functions:
    """Functions of the same operands, as functions from lists of tensors to such; and the structure of what they give."""

    def __init__(self, operands: Any) -> None:
        self._operands = operands
        self._given: dict[str, Any] = {}  # by each function, with Ellipsis for each tensor: tensors are not kept

    def flat(self, name: str, function: Callable[..., Any]) -> Callable[[list[Tensor]], list[Tensor]]:
        def call(tensors: list[Tensor]) -> list[Tensor]:
            result = function(*rebuilt(self._operands, tensors))
            leaves = leaves_of(result)
            self._note(name, rebuilt(result, [... if isinstance(leaf, Tensor) else leaf for leaf in leaves]))
            return [leaf for leaf in leaves if isinstance(leaf, Tensor)]

        return call

    def _note(self, name: str, given: Any) -> None:
        self._given[name] = given
        for other, structure in self._given.items():
            if not same_structure(structure, given) or leaves_of(structure) != leaves_of(given):
                self._given = {}
                raise _C.ValueError(f"cond: {name} gives {given}, but {other} {structure}, where ... is a tensor")

    def with_results(self, results: list[Tensor]) -> Any:
        given = next(iter(self._given.values()))
        rest = iter(results)
        return rebuilt(given, [next(rest) if leaf is ... else leaf for leaf in leaves_of(given)])
