"""Derivatives of functions: products with vectors, and whole matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from keyway import _C
from keyway._C import Tensor, _autograd, _forward
from keyway._transforms.vmap import vmap
from keyway.autograd._running import run
from keyway.autograd.grad_mode import enable_grad

if TYPE_CHECKING:
    Tensors = Tensor | tuple[Tensor, ...]

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple(values: Any, what: str) -> tuple[Tensor, ...]:
    listed = values if isinstance(values, tuple) else (values,)
    for value in listed:
        if not isinstance(value, Tensor):
            raise _C.TypeError(f"{what} must be a Tensor or a tuple of Tensors, not {type(value).__name__}")
    return listed


def _leaves(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """Tensors to differentiate by: over the inputs' memory, and with their history if that is to go on."""
    if create_graph:
        return tuple(_forward.as_leaf(value) for value in inputs)
    return tuple(_forward.as_leaf(_forward.without_history(value)) for value in inputs)


def _gradients(outputs: tuple[Tensor, ...], weights: tuple[Tensor, ...], inputs: tuple[Tensor, ...],
               create_graph: bool, strict: str = "") -> tuple[Tensor, ...]:
    """Gradients, zeros where there are none; with `strict`, the name of a function, that is an error."""
    pairs = [(output, weight) for output, weight in zip(outputs, weights) if output.requires_grad]
    found: tuple[Tensor | None, ...] = (None,) * len(inputs)
    if pairs:
        found = run(True, _autograd.grad, [o for o, _ in pairs], list(inputs), [w for _, w in pairs], True,
                    create_graph, True)
    if strict and (len(pairs) < len(outputs) or any(gradient is None for gradient in found)):
        raise _C.Error(f"{strict}: a result of func is independent of an input, which strict=True refuses")
    return tuple(_C.zeros_like(value) if gradient is None else gradient for value, gradient in zip(inputs, found))


def _weights(v: Any, like: tuple[Tensor, ...], name: str, what: str) -> tuple[Tensor, ...]:
    """The argument `v` as a tuple of tensors of the shapes of `like`; 1 if it is left out and that is clear."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise _C.ValueError(f"{name}: argument 'v' may be left out only for a single {what} of one element")
        return (_C.ones_like(like[0]),)
    weights = _tuple(v, f"{name}: argument 'v'")
    if [w.shape for w in weights] != [t.shape for t in like]:
        raise _C.ValueError(f"{name}: argument 'v' must have the shapes of the {what}s of func")
    return weights


def _as_given(values: tuple[Tensor, ...], is_tuple: bool, create_graph: bool) -> Tensors:
    values = values if create_graph else tuple(value.detach() for value in values)
    return values if is_tuple else values[0]


def vjp(func: Callable[..., Any], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Tensors, Tensors]:
    """The results of ``func(*inputs)``, and the product of ``v``, of the results' shapes, with the Jacobian.

    ``v`` may be left out for a single result of one element. The products have the inputs' shapes, zeros for those
    that the results do not depend on, which raise keyway.Error if ``strict``.
    """
    with enable_grad():
        leaves = _leaves(_tuple(inputs, "vjp: argument 'inputs'"), create_graph)
        result = func(*leaves)
        outputs = _tuple(result, "vjp: the result of func")
        weights = _weights(v, outputs, "vjp", "result")
        products = _gradients(outputs, weights, leaves, create_graph, "vjp" if strict else "")
    return (_as_given(outputs, isinstance(result, tuple), create_graph),
            _as_given(products, isinstance(inputs, tuple), create_graph))


def jvp(func: Callable[..., Any], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Tensors, Tensors]:
    """The results of ``func(*inputs)``, and the product of the Jacobian with ``v``, of the inputs' shapes.

    ``v`` may be left out for a single input of one element. Costs two backwards: the product of any weights with the
    Jacobian is differentiated by these. ``strict`` is that of `vjp`.
    """
    with enable_grad():
        leaves = _leaves(_tuple(inputs, "jvp: argument 'inputs'"), create_graph)
        weights = _weights(v, leaves, "jvp", "input")
        result = func(*leaves)
        outputs = _tuple(result, "jvp: the result of func")
        # Some formulas take a weight's logarithm.
        anyone = tuple(_C.ones_like(output).requires_grad_() for output in outputs)
        by_inputs = _gradients(outputs, anyone, leaves, True, "jvp" if strict else "")
        products = _gradients(by_inputs, weights, anyone, create_graph)
    is_tuple = isinstance(result, tuple)
    return _as_given(outputs, is_tuple, create_graph), _as_given(products, is_tuple, create_graph)


def vhp(func: Callable[..., Tensor], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Tensor, Tensors]:
    """The result of ``func(*inputs)``, which has one element, and the product of ``v``, of the inputs' shapes, with the
    Hessian. ``v`` may be left out for a single input of one element; ``strict`` is that of `vjp`."""
    return _product_with_hessian("vhp", func, inputs, v, create_graph, strict)


def hvp(func: Callable[..., Tensor], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Tensor, Tensors]:
    """The result of ``func(*inputs)``, and the product of the Hessian with ``v``: as `vhp`, since a Hessian is
    symmetric wherever the second derivatives are continuous."""
    return _product_with_hessian("hvp", func, inputs, v, create_graph, strict)


def _product_with_hessian(name: str, func: Callable[..., Tensor], inputs: Tensors, v: Tensors | None,
                          create_graph: bool, strict: bool) -> tuple[Tensor, Tensors]:
    with enable_grad():
        leaves = _leaves(_tuple(inputs, f"{name}: argument 'inputs'"), create_graph)
        weights = _weights(v, leaves, name, "input")
        output = func(*leaves)
        if not isinstance(output, Tensor) or output.numel() != 1:
            raise _C.ValueError(f"{name}: func has to return a Tensor of one element")
        first = _gradients((output,), (_C.ones_like(output),), leaves, True, name if strict else "")
        products = _gradients(first, weights, leaves, create_graph, name if strict else "")
    value = output if create_graph else output.detach()
    return value, _as_given(products, isinstance(inputs, tuple), create_graph)


def jacobian(func: Callable[..., Any], inputs: Tensors, create_graph: bool = False, strict: bool = False,
             vectorize: bool = False, strategy: str = "reverse-mode") -> Any:
    """The derivative of each element of the results of ``func(*inputs)`` with respect to each element of the inputs.

    For one result and one input a tensor of shape ``result.shape + input.shape``; a tuple over inputs, over results,
    or over results of tuples over inputs where these are tuples. Costs a backward for each element of the results;
    with ``vectorize`` they run at once, by vmap. With the ``strategy`` "forward-mode" the columns for all elements of
    the inputs are computed at once, as `keyway.func.jacfwd` does. ``strict`` is that of `vjp`, and is not given with
    ``vectorize``; "forward-mode" is for ``vectorize`` without ``create_graph``.
    """
    _check_strategy("jacobian", strategy, create_graph, strict, vectorize)
    given = _tuple(inputs, "jacobian: argument 'inputs'")
    if strategy == "forward-mode":
        from keyway.func import jacfwd  # which imports this package

        plain = tuple(_forward.without_history(value) for value in given)
        return jacfwd(func, tuple(range(len(given))) if isinstance(inputs, tuple) else 0)(*plain)
    with enable_grad():
        leaves = _leaves(given, create_graph)
        result = func(*leaves)
        jacobian_of = _jacobian_at_once if vectorize else _jacobian_of
        rows = tuple(jacobian_of(output, leaves, create_graph, "jacobian" if strict else "")
                     for output in _tuple(result, "jacobian: the result of func"))
    columns = rows if isinstance(inputs, tuple) else tuple(row[0] for row in rows)
    return columns if isinstance(result, tuple) else columns[0]


def _check_strategy(name: str, strategy: str, create_graph: bool, strict: bool, vectorize: bool) -> None:
    if strategy not in ("reverse-mode", "forward-mode"):
        raise _C.ValueError(f"{name}: the strategy is 'reverse-mode' or 'forward-mode', not {strategy!r}")
    if strategy == "forward-mode" and (create_graph or not vectorize):
        raise _C.NotImplementedError(f"{name}: the strategy 'forward-mode' is for vectorize=True without create_graph")
    if strict and vectorize:
        raise _C.ValueError(f"{name}: strict=True and vectorize=True are not given together")


def _jacobian_of(output: Tensor, inputs: tuple[Tensor, ...], create_graph: bool, strict: str) -> tuple[Tensor, ...]:
    count = output.numel()
    weights = _C.zeros_like(output).reshape((count,))
    rows = []
    for i in range(count):
        weight = weights.clone()
        weight.select(0, i).fill_(1)
        rows.append(_gradients((output,), (weight.reshape(output.shape),), inputs, create_graph, strict))
    if not rows:
        return tuple(_C.zeros((*output.shape, *value.shape), dtype=value.dtype, device=value.device)
                     for value in inputs)
    return tuple(_C.stack(list(column)).reshape((*output.shape, *value.shape))
                 for column, value in zip(zip(*rows), inputs))


def _jacobian_at_once(output: Tensor, inputs: tuple[Tensor, ...], create_graph: bool, strict: str
                      ) -> tuple[Tensor, ...]:
    count = output.numel()
    if count == 0:
        return _jacobian_of(output, inputs, create_graph, strict)
    weights = _C.eye(count, dtype=output.dtype, device=output.device).reshape((count, *output.shape))
    columns = vmap(lambda weight: _gradients((output,), (weight,), inputs, create_graph, strict))(weights)
    return tuple(column.reshape((*output.shape, *value.shape)) for column, value in zip(columns, inputs))


def hessian(func: Callable[..., Tensor], inputs: Tensors, create_graph: bool = False, strict: bool = False,
            vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode") -> Any:
    """The second derivatives of ``func(*inputs)``, a single result of one element, with respect to the inputs.

    For one input a tensor of shape ``input.shape + input.shape``; a tuple of tuples of these where inputs are one. The
    other arguments are those of `jacobian`.
    """
    _check_strategy("hessian", outer_jacobian_strategy, create_graph, strict, vectorize)
    given = _tuple(inputs, "hessian: argument 'inputs'")
    if outer_jacobian_strategy == "forward-mode":
        from keyway.func import grad  # which imports this package

        argnums = tuple(range(len(given))) if isinstance(inputs, tuple) else 0
        return jacobian(grad(lambda *values: func(*values).reshape(()), argnums), inputs, vectorize=True,
                        strategy=outer_jacobian_strategy)

    def gradient(*leaves: Tensor) -> Tensors:
        output = func(*leaves)
        if not isinstance(output, Tensor) or output.numel() != 1:
            raise _C.ValueError("hessian: func has to return a Tensor of one element")
        found = _gradients((output,), (_C.ones_like(output),), leaves, True, "hessian" if strict else "")
        return found if isinstance(inputs, tuple) else found[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize)
