"""Hooks around a module's backward: nodes of the graph in front of and behind what forward() computes."""

from __future__ import annotations

from typing import Any, Callable

import keyway
from keyway import _C
from keyway._C import Tensor
from keyway.autograd.function import Function

Gradients = tuple[Any, ...]


class _Boundary(Function):
    """Tensors as they are; their gradients, all at once, as a function changes them."""

    @staticmethod
    def forward(ctx: Any, at_gradients: Callable[[Gradients], Gradients], *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.at_gradients = at_gradients
        ctx.set_materialize_grads(False)
        return tuple(tensor.view_as(tensor) for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Gradients:
        return (None, *ctx.at_gradients(gradients))


class BackwardCall:
    """One call of a module: carries the gradients of its results to where those of its arguments are known."""

    def __init__(self, module: Any, pre_hooks: list[Any], hooks: list[Any]) -> None:
        self.module = module
        self.pre_hooks = pre_hooks
        self.hooks = hooks
        self.grad_outputs: Gradients | None = None
        self.has_inputs = False
        self.inputs: list[dict[str, Any] | None] = []  # what zeros() makes a like one of

    def around_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, behind a node that knows all their gradients."""
        self.inputs = [dict(size=value.shape, dtype=value.dtype, device=value.device) if isinstance(value, Tensor)
                       else None for value in args]
        bound = self._bound(args, self._at_inputs) if self.hooks else None
        self.has_inputs = bound is not None
        return args if bound is None else bound

    def around_result(self, result: Any) -> Any:
        """The result, in front of a node that knows all its gradients."""
        bound = self._bound(result if isinstance(result, tuple) else (result,), self._at_result)
        if bound is None:
            return result
        return bound if isinstance(result, tuple) else bound[0]

    def _bound(self, values: tuple[Any, ...], at_gradients: Callable[..., Gradients]) -> tuple[Any, ...] | None:
        places = [i for i, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad]
        if not places or not _C.is_grad_enabled():
            return None

        def at_places(gradients: Gradients) -> Gradients:
            changed = at_gradients(_spread(places, gradients, len(values)))
            return tuple(changed[i] for i in places)

        results = _Boundary.apply(at_places, *(values[i] for i in places))
        spread = list(values)
        for place, tensor in zip(places, results):
            spread[place] = tensor
        return tuple(spread)

    def _at_result(self, gradients: Gradients) -> Gradients:
        for hook in self.pre_hooks:
            gradients = _changed(hook(self.module, gradients), gradients, "grad_output")
        self.grad_outputs = gradients
        if self.hooks and not self.has_inputs:
            nothing = (None,) * len(self.inputs)
            for hook in self.hooks:
                changed = hook(self.module, nothing, gradients)
                if changed is not None and not (isinstance(changed, tuple) and all(g is None for g in changed)):
                    raise keyway.Error("a backward hook of a module where no input requires a gradient returns None")
        return gradients

    def _at_inputs(self, gradients: Gradients) -> Gradients:
        if self.grad_outputs is None:  # nothing came through the result: it is neither a tensor nor a tuple
            return gradients
        gradients = tuple(keyway.zeros(**like) if gradient is None and like is not None else gradient
                          for gradient, like in zip(gradients, self.inputs))
        for hook in self.hooks:
            gradients = _changed(hook(self.module, gradients, self.grad_outputs), gradients, "grad_input")
        self.grad_outputs = None
        return gradients


def _spread(places: list[int], values: Gradients, count: int) -> Gradients:
    spread: list[Any] = [None] * count
    for place, value in zip(places, values):
        spread[place] = value
    return tuple(spread)


def _changed(answer: Any, gradients: Gradients, what: str) -> Gradients:
    """What a hook has made of gradients."""
    if answer is None:
        return gradients
    listed = answer if isinstance(answer, tuple) else (answer,)
    if len(listed) != len(gradients):
        raise keyway.Error(f"Backward hook returned an invalid number of {what}: got {len(listed)}, but expected "
                           f"{len(gradients)}")
    return listed
