"""Derivatives of functions: products with vectors, and whole matrices."""

from __future__ import annotations

from keyway import _C
from keyway._C import Tensor, _autograd
from keyway.autograd.grad_mode import enable_grad

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Tensors = Tensor | tuple[Tensor, ...]

__all__ = ["hessian", "jacobian", "vjp"]



def _tuple(values: Any, what: str) -> tuple[Tensor, ...]:
    listed = values if isinstance(values, tuple) else (values,)
    for value in listed:
        if not isinstance(value, Tensor):
            raise _C.TypeError(f"{what} must be a Tensor or a tuple of Tensors, not {type(value).__name__}")
    return listed


def _leaves(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """Tensors to differentiate by: over the inputs' memory, and with their history if that is to go on."""
    if create_graph:
        return tuple(value.view_as(value) if value.requires_grad else value.detach().requires_grad_()
                     for value in inputs)
    return tuple(value.detach().requires_grad_() for value in inputs)


def _gradients(output: Tensor, weight: Tensor, inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    if not output.requires_grad:
        return tuple(_C.zeros_like(value) for value in inputs)
    found = _autograd.grad([output], list(inputs), [weight], True, create_graph, True)
    return tuple(_C.zeros_like(value) if gradient is None else gradient for value, gradient in zip(inputs, found))


def vjp(func: Callable[..., Any], inputs: Tensors, v: Tensors | None = None,
        create_graph: bool = False) -> tuple[Tensors, Tensors]:
    """The results of ``func(*inputs)``, and the product of ``v``, of the results' shapes, with the Jacobian.

    ``v`` may be left out for a single result of one element. The products have the inputs' shapes, zeros for those
    that the results do not depend on.
    """
    given = _tuple(inputs, "vjp: argument 'inputs'")
    with enable_grad():
        leaves = _leaves(given, create_graph)
        result = func(*leaves)
        outputs = _tuple(result, "vjp: the result of func")
        if v is None and (len(outputs) != 1 or outputs[0].numel() != 1):
            raise _C.ValueError("vjp: argument 'v' may be left out only for a single result of one element")
        weights = (_C.ones_like(outputs[0]),) if v is None else _tuple(v, "vjp: argument 'v'")
        if [w.shape for w in weights] != [o.shape for o in outputs]:
            raise _C.ValueError("vjp: argument 'v' must have the shapes of the results of func")
        pairs = [(output, weight) for output, weight in zip(outputs, weights) if output.requires_grad]
        found: tuple[Tensor | None, ...] = (None,) * len(leaves)
        if pairs:
            found = _autograd.grad([o for o, _ in pairs], list(leaves), [w for _, w in pairs], create_graph, create_graph,
                             True)
        products = tuple(_C.zeros_like(x) if g is None else g for x, g in zip(leaves, found))
    values = outputs if create_graph else tuple(output.detach() for output in outputs)
    return (values if isinstance(result, tuple) else values[0], products if isinstance(inputs, tuple) else products[0])


def jacobian(func: Callable[..., Any], inputs: Tensors, create_graph: bool = False) -> Any:
    """The derivative of each element of the results of ``func(*inputs)`` with respect to each element of the inputs.

    For one result and one input a tensor of shape ``result.shape + input.shape``; a tuple over inputs, over results,
    or over results of tuples over inputs where these are tuples. Costs a backward for each element of the results.
    """
    given = _tuple(inputs, "jacobian: argument 'inputs'")
    with enable_grad():
        leaves = _leaves(given, create_graph)
        result = func(*leaves)
        rows = tuple(_jacobian_of(output, leaves, create_graph)
                     for output in _tuple(result, "jacobian: the result of func"))
    columns = rows if isinstance(inputs, tuple) else tuple(row[0] for row in rows)
    return columns if isinstance(result, tuple) else columns[0]


def _jacobian_of(output: Tensor, inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    count = output.numel()
    weights = _C.zeros_like(output).reshape((count,))
    rows = []
    for i in range(count):
        weight = weights.clone()
        weight.select(0, i).fill_(1)
        rows.append(_gradients(output, weight.reshape(output.shape), inputs, create_graph))
    if not rows:
        return tuple(_C.zeros((*output.shape, *value.shape), dtype=value.dtype, device=value.device)
                     for value in inputs)
    return tuple(_C.stack(list(column)).reshape((*output.shape, *value.shape))
                 for column, value in zip(zip(*rows), inputs))


def hessian(func: Callable[..., Tensor], inputs: Tensors, create_graph: bool = False) -> Any:
    """The second derivatives of ``func(*inputs)``, a single result of one element, with respect to the inputs.

    For one input a tensor of shape ``input.shape + input.shape``; a tuple of tuples of these where inputs are one.
    """
    _tuple(inputs, "hessian: argument 'inputs'")

    def gradient(*leaves: Tensor) -> Tensors:
        output = func(*leaves)
        if not isinstance(output, Tensor) or output.numel() != 1:
            raise _C.ValueError("hessian: func has to return a Tensor of one element")
        found = _gradients(output, _C.ones_like(output), leaves, True)
        return found if isinstance(inputs, tuple) else found[0]

    return jacobian(gradient, inputs, create_graph)
