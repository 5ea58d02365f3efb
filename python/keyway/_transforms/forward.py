"""Forward mode for functions with a backward of their own, and for functions of trees of tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from keyway import _C
from keyway._C import Tensor, _autograd, _forward
from keyway._transforms.trees import leaves_of, rebuilt, tree_map
from keyway.autograd.grad_mode import enable_grad, inference_mode

if TYPE_CHECKING:
    from keyway.autograd.function import Function

__all__ = ["apply_function", "is_dual", "level", "push_forward", "recorded"]


@contextlib.contextmanager
def level() -> Iterator[int]:
    """A level of forward mode, by its number."""
    number = _forward.enter()
    try:
        yield number
    finally:
        _forward.leave(number)


def is_dual(values: Any) -> bool:
    """Whether one of the values is a tensor with a tangent."""
    return any(isinstance(value, Tensor) and _forward.is_dual(value) for value in values)


def push_forward(func: Callable[..., Any], primals: tuple[Any, ...], tangents: list[Tensor], has_aux: bool,
                 check: Callable[[Any], tuple[Any, Any]]) -> tuple[Any, Any, Any]:
    """What ``func(*primals)`` gives, the tangents of that for those of the leaves, and what else it gives.

    ``check`` takes what func returns apart, into results and the rest.
    """
    with level() as number:
        duals = [_forward.make_dual(leaf, tangent, number) for leaf, tangent in zip(leaves_of(primals), tangents)]
        result, aux = check(func(*rebuilt(primals, duals)))
        parts = [_forward.unpack_dual(leaf, number) for leaf in leaves_of(result)]
        if has_aux:
            aux = tree_map(lambda leaf: _forward.unpack_dual(leaf, number)[0] if isinstance(leaf, Tensor) else leaf, aux)
    products = [_C.zeros_like(primal) if tangent is None else tangent for primal, tangent in parts]
    return rebuilt(result, [primal for primal, _ in parts]), rebuilt(result, products), aux


def apply_function(function: type[Function], args: tuple[Any, ...], sets_up_later: bool, has_jvp: bool) -> Any:
    """``function.apply(*args)`` where some of the tensors among these are dual; by its jvp, if it has one."""
    number = _forward.level_of([arg for arg in args if isinstance(arg, Tensor)])
    parts = [_forward.parts(arg, number) if isinstance(arg, Tensor) else (arg, None) for arg in args]
    primals = tuple(primal for primal, _ in parts)
    tangents = tuple(tangent for _, tangent in parts)
    like = next(arg for arg, tangent in zip(args, tangents) if tangent is not None)
    if has_jvp and not is_dual(primals):
        result, given = _autograd.apply_function_with_jvp(function, primals, sets_up_later, tangents)
        return _with_tangents(function, result, given, primals, args, like)
    return _by_backward(function, primals, tangents, like)


def _with_tangents(function: type[Function], result: Any, given: tuple[Any, ...], primals: tuple[Any, ...],
                   args: tuple[Any, ...], like: Tensor) -> Any:
    outputs = result if isinstance(result, tuple) else (result,)
    if len(given) != len(outputs):
        raise _C.AutogradError(f"{function.__name__}: jvp returned {len(given)} tangents, but forward returned "
                               f"{len(outputs)} results")
    duals = []
    for output, tangent in zip(outputs, given):
        changed = [i for i, primal in enumerate(primals) if primal is output]
        if changed:  # in place
            output = args[changed[0]]
            if output is not primals[changed[0]]:
                _, before = _forward.parts(output, _forward.level_of([like]))
                if before is not None and before is not tangent:
                    before.copy_(_C.zeros_like(before) if tangent is None else tangent)
                duals.append(output)
                continue
        if tangent is not None and not isinstance(tangent, Tensor):
            raise _C.TypeError(f"{function.__name__}: jvp returned a {type(tangent).__name__}, which has to be a Tensor "
                               "or None")
        duals.append(output if tangent is None else _forward.dual_like(output, tangent, like))
    return tuple(duals) if isinstance(result, tuple) else duals[0]


def _by_backward(function: type[Function], primals: tuple[Any, ...], tangents: tuple[Any, ...], like: Tensor) -> Any:
    """By two backwards of the function, the first of which must be made of differentiable operators."""
    flat = [tensor for tensor in (*primals, *tangents) if isinstance(tensor, Tensor)]
    keeps = _C.is_grad_enabled() and any(tensor.requires_grad for tensor in flat)
    inputs = [primal if tangent is None else _forward.as_recorded_input(primal, keeps)
              for primal, tangent in zip(primals, tangents)]
    with recorded():
        result = function.apply(*inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        if any(output is given for output in outputs for given in inputs if isinstance(given, Tensor)):
            raise _C.NotImplementedError(f"forward mode: {function.__name__} changes an argument in place: it needs a "
                                         "static method jvp(ctx, *tangents)")
        indices = [i for i, output in enumerate(outputs) if isinstance(output, Tensor) and output.requires_grad]
        found = _products(function, [outputs[i] for i in indices],
                          [(leaf, tangent) for leaf, tangent in zip(inputs, tangents) if tangent is not None], keeps)
    duals = list(outputs)
    for index, tangent in zip(indices, found):
        primal = outputs[index] if keeps else _forward.without_history(outputs[index])
        duals[index] = primal if tangent is None else _forward.dual_like(primal, tangent, like)
    return tuple(duals) if isinstance(result, tuple) else duals[0]


def _products(function: type[Function], outputs: list[Tensor], inputs: list[tuple[Tensor, Tensor]], keeps: bool
              ) -> list[Tensor | None]:
    """The products of the Jacobian with the inputs' tangents."""
    if not outputs:
        return []
    weights = [_forward.as_recorded_input(_C.ones_like(output), False) for output in outputs]
    by_inputs = _autograd.grad(outputs, [leaf for leaf, _ in inputs], weights, True, True, True)
    pairs = [(gradient, tangent) for gradient, (_, tangent) in zip(by_inputs, inputs) if gradient is not None]
    if not pairs:
        return [None] * len(outputs)
    found: list[Tensor | None] = [None] * len(outputs)
    if all(gradient.requires_grad for gradient, _ in pairs):
        found = list(_autograd.grad([gradient for gradient, _ in pairs], weights, [tangent for _, tangent in pairs],
                                    keeps, keeps, True))
    if all(tangent is None for tangent in found):  # what backward gave does not depend on its gradients, for the graph
        raise _C.NotImplementedError(f"forward mode: backward of {function.__name__} is not made of differentiable "
                                     "operators: the function needs a static method jvp(ctx, *tangents)")
    return found


@contextlib.contextmanager
def recorded() -> Iterator[None]:
    """Calls within the block are recorded, whatever the thread's modes are around it."""
    with inference_mode(False), enable_grad():
        yield
