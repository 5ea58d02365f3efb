"""Hooks around a module's backward: what its calls put into the graph for them."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import keyway
from keyway._C import Tensor
from keyway.autograd.function import Function, FunctionCtx

Gradients = tuple[Any, ...]


class BackwardHookFunction(Function):
    """Tensors as they come, behind a node of their own."""

    @staticmethod
    def forward(ctx: FunctionCtx, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*(tensor for tensor in tensors if not tensor.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Any) -> Gradients:
        return grads


class BackwardHooks:
    """The hooks of one call of a module: nodes around its inputs and its results call them in backward.

    Pre-hooks get the gradients of the results, hooks those of the inputs and of the results. The gradient of what is
    no tensor is None. Where no input requires grad, hooks are called with None for each input.
    """

    def __init__(self, module: Any, pre_hooks: list[Callable[..., Any]], hooks: list[Callable[..., Any]]) -> None:
        self._module = module
        self._pre_hooks = pre_hooks
        self._hooks = hooks
        self._grad_outputs: Gradients | None = None
        self._count = 0
        self._inputs_are_seen = False

    def around_inputs(self, args: Gradients) -> Gradients:
        """The arguments of forward(), its tensors behind a node that calls the hooks."""
        self._count = len(args)
        wanted = [(a.shape, a.dtype, a.device) if isinstance(a, Tensor) else None for a in args]

        def call_hooks(grad_inputs: Gradients, _: Gradients) -> Gradients | None:
            if self._grad_outputs is None:
                return None
            grads, self._grad_outputs = self._grad_outputs, None
            spread = list(_spread(indices, grad_inputs, len(args)))
            for i in indices:
                if spread[i] is None and (like := wanted[i]) is not None:
                    spread[i] = keyway.zeros(like[0], dtype=like[1], device=like[2])
            return _only(indices, self._call_hooks(tuple(spread), grads))

        node, indices, args = _behind_node(args)
        self._inputs_are_seen = node is not None
        if node is not None:
            node.register_hook(call_hooks)
        return args

    def around_results(self, result: Any) -> Any:
        """What forward() gave, its tensors behind a node that calls the pre-hooks."""
        results = result if isinstance(result, tuple) else (result,)

        def call_pre_hooks(grads: Gradients) -> Gradients | None:
            spread = _spread(indices, grads, len(results))
            for hook in self._pre_hooks:
                spread = _replaced(spread, hook(self._module, spread), "backward pre-hook")
            if self._inputs_are_seen:
                self._grad_outputs = spread
            else:
                self._call_hooks_without_inputs(spread)
            return _only(indices, spread)

        if not isinstance(result, (Tensor, tuple)):
            warnings.warn("hooks of backward are called for a module that gives a Tensor or a tuple of Tensors, not a "
                          f"{type(result).__name__}", stacklevel=4)
        node, indices, results = _behind_node(results)
        if node is not None:
            node.register_prehook(call_pre_hooks)
        return type(result)._make(results) if hasattr(result, "_make") else (
            results if isinstance(result, tuple) else results[0])

    def _call_hooks_without_inputs(self, grad_outputs: Gradients) -> None:
        if self._hooks:
            warnings.warn("a full backward hook is called when the gradients of the module's results are there, as "
                          "none of its inputs requires grad", stacklevel=2)
        for hook in self._hooks:
            changed = hook(self._module, (None,) * self._count, grad_outputs)
            if changed is not None and not (isinstance(changed, tuple) and all(grad is None for grad in changed)):
                raise keyway.Error("a backward hook returns None where no input of the module requires grad")

    def _call_hooks(self, grad_inputs: Gradients, grad_outputs: Gradients) -> Gradients:
        for hook in self._hooks:
            grad_inputs = _replaced(grad_inputs, hook(self._module, grad_inputs, grad_outputs), "backward hook")
        return grad_inputs


def _behind_node(values: Gradients) -> tuple[Any, list[int], Gradients]:
    """The node that was put before the tensors among `values`, their indices, and the values; no node where none of
    them requires grad."""
    indices = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not keyway.is_grad_enabled() or not any(values[i].requires_grad for i in indices):
        return None, indices, values
    passed = list(values)
    for i, tensor in zip(indices, BackwardHookFunction.apply(*(values[i] for i in indices))):
        passed[i] = tensor
    node = next(passed[i].grad_fn for i in indices if passed[i].grad_fn is not None)
    return node, indices, tuple(passed)


def _spread(indices: list[int], grads: Gradients, count: int) -> Gradients:
    """The gradients at their indices among `count` values, and None elsewhere."""
    spread = [None] * count
    for i, grad in zip(indices, grads):
        spread[i] = grad
    return tuple(spread)


def _only(indices: list[int], grads: Gradients) -> Gradients:
    return tuple(grads[i] for i in indices)


def _replaced(grads: Gradients, changed: Any, what: str) -> Gradients:
    """What a hook makes of gradients: the same ones for None, else one for each."""
    if changed is None:
        return grads
    changed = changed if isinstance(changed, tuple) else (changed,)
    if len(changed) != len(grads):
        raise keyway.Error(f"a {what} returned {len(changed)} gradients where {len(grads)} are expected")
    return tuple(changed)
