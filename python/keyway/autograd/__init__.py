"""Gradients: backward, grad, operations and hooks of one's own, and checks of gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor, _autograd
from keyway._transforms.vmap import vmap
from keyway.autograd import forward_ad, functional, graph
from keyway.autograd._running import is_for_inputs as is_for_inputs, run
from keyway.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from keyway.autograd.function import Function
from keyway.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from keyway.autograd.gradcheck import gradcheck, gradgradcheck
from keyway.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    Tensors = Tensor | Sequence[Tensor]
    Gradients = Tensor | Sequence[Tensor | None] | None

__all__ = [
    "Function", "backward", "detect_anomaly", "enable_grad", "forward_ad", "functional", "grad", "gradcheck", "gradgradcheck",
    "graph", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled",
]


def _listed(values: Any, what: str, kinds: tuple[type, ...] = (Tensor,)) -> list[Any]:
    is_sequence = hasattr(values, "__iter__") and not isinstance(values, Tensor)
    listed = list(values) if is_sequence else [values]
    for value in listed:
        if not isinstance(value, kinds):
            raise _C.TypeError(f"{what} must be a Tensor or a sequence of these, but there is a {type(value).__name__}")
    return listed


def _gradients(values: Gradients, what: str) -> list[Tensor | None]:
    return [] if values is None else _listed(values, what, (Tensor, type(None)))


def backward(tensors: Tensors, grad_tensors: Gradients = None, retain_graph: bool | None = None,
             create_graph: bool = False, inputs: Tensors | None = None) -> None:
    """Adds the gradients of ``tensors``, weighted by ``grad_tensors``, to the ``grad`` of the leaves behind them.

    ``grad_tensors`` has a tensor for each of ``tensors``, of its shape; it may be left out for real tensors of one
    element, where it is 1. ``inputs`` restricts what gets gradients; those of it that are no leaves retain theirs.
    Raises keyway.AutogradError for tensors without a graph, or whose graph was freed: ``retain_graph`` keeps it, and
    ``create_graph``, which records the gradients' own computation, does too.
    """
    wanted = [] if inputs is None else _listed(inputs, "backward: argument 'inputs'")
    if inputs is not None and not wanted:
        raise _C.AutogradError("backward: argument 'inputs' is empty")
    keep = create_graph if retain_graph is None else retain_graph
    run(bool(wanted), _autograd.backward, _listed(tensors, "backward: argument 'tensors'"),
        _gradients(grad_tensors, "backward: argument 'grad_tensors'"), bool(keep), bool(create_graph), wanted)


def grad(outputs: Tensors, inputs: Tensors, grad_outputs: Gradients = None, retain_graph: bool | None = None,
         create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
         is_grads_batched: bool = False, materialize_grads: bool = False) -> tuple[Tensor | None, ...]:
    """The gradients of ``outputs``, weighted by ``grad_outputs``, with respect to each of ``inputs``: a tuple.

    No ``grad`` is changed. An input that the outputs do not depend on is an error, has None with ``allow_unused``, and
    zeros with ``materialize_grads``. ``only_inputs`` changes nothing. With ``is_grads_batched`` there are several
    weights for each output, along a first dimension of ``grad_outputs``, and as many gradients along one of the
    results: computed at once, by vmap. The other arguments are those of `backward`.
    """
    if materialize_grads and allow_unused is False:
        raise _C.ValueError("grad: materialize_grads=True gives zeros for unused inputs, but allow_unused=False")
    sources = _listed(inputs, "grad: argument 'inputs'")
    if not sources:
        raise _C.ValueError("grad: argument 'inputs' is empty")
    keep = create_graph if retain_graph is None else retain_graph
    results = _listed(outputs, "grad: argument 'outputs'")
    weights = _gradients(grad_outputs, "grad: argument 'grad_outputs'")

    def gradients_for(weights: list[Tensor | None]) -> tuple[Tensor | None, ...]:
        found: tuple[Tensor | None, ...] = run(True, _autograd.grad, results, sources, weights, bool(keep),
                                               bool(create_graph), bool(allow_unused) or materialize_grads)
        if not materialize_grads:
            return found
        return tuple(_C.zeros_like(source, requires_grad=create_graph) if gradient is None else gradient
                     for source, gradient in zip(sources, found))

    return _for_each(gradients_for, weights) if is_grads_batched else gradients_for(weights)


def _for_each(gradients_for: Callable[[list[Tensor | None]], tuple[Tensor | None, ...]],
              weights: list[Tensor | None]) -> tuple[Tensor | None, ...]:
    """The gradients for all weights of a batch, at once."""
    if not weights or any(weight is None for weight in weights):
        raise _C.ValueError("grad: with is_grads_batched=True each output needs weights in 'grad_outputs'")
    unused: set[int] = set()

    def of_one(weights: list[Tensor | None]) -> tuple[Tensor, ...]:
        found = gradients_for(weights)
        unused.update(i for i, gradient in enumerate(found) if gradient is None)
        return tuple(_C.zeros((), device="cpu") if gradient is None else gradient for gradient in found)

    found = vmap(of_one)(weights)
    return tuple(None if i in unused else gradient for i, gradient in enumerate(found))


def _tensor_backward(self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None,
                     create_graph: bool = False, inputs: Tensors | None = None) -> None:
    """Adds the gradients of this tensor, weighted by ``gradient``, to the ``grad`` of the leaves behind it.

    See keyway.autograd.backward.
    """
    backward(self, gradient, retain_graph, create_graph, inputs)


def _register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Calls ``hook`` with the gradient of this tensor whenever one is computed.

    A tensor that it returns replaces the gradient and must be like it. Of a tensor that is changed in place later it
    is the gradient of its value until then. Returns a handle, whose ``remove()`` undoes it. Raises
    keyway.AutogradError for a tensor that does not require grad.
    """
    return RemovableHandle.register(_autograd.gradient_hooks(self), hook, "register_hook")


def _register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], Any]) -> RemovableHandle:
    """Calls ``hook`` with this leaf whenever a backward has added to its ``grad``.

    Returns a handle, whose ``remove()`` undoes it. Raises keyway.AutogradError for what is no leaf that requires grad.
    """
    return RemovableHandle.register(_autograd.post_accumulate_hooks(self), hook, "register_post_accumulate_grad_hook")


_operators = vars(Tensor)
attach(
    Tensor, _register_hook, _register_post_accumulate_grad_hook,
    backward=_tensor_backward,
    # Operators whose names are attributes in Python.
    data=property(_operators["data"], _operators["set_data"],
                  doc="The same memory without history; can be exchanged."),
    retains_grad=property(_operators["retains_grad"], doc="Whether a tensor that is no leaf keeps its gradient."),
    output_nr=property(_autograd.output_nr, doc="Which result of its node this tensor is."),
    grad_fn=property(_autograd.grad_fn, doc="The node of the graph that made this tensor; None for a leaf."),
)
