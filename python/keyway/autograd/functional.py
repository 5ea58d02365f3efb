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
        return tuple(value.view_as(value) if value.requires_grad else value.detach().requires_grad_()
                     for value in inputs)
    return tuple(value.detach().requires_grad_() for value in inputs)


def _gradients(output: Tensor, weight: Tensor, inputs: tuple[Tensor, ...], create_graph: bool,
               strict: str | None = None) -> tuple[Tensor, ...]:
    """Of one result with respect to each input; zeros for those that it does not depend on, or if there is a name of a
    function that is `strict`, an error."""
    found: tuple[Tensor | None, ...] = (None,) * len(inputs)
    if output.requires_grad:
        found = _autograd.grad([output], list(inputs), [weight], True, create_graph, True)
    return _filled(found, inputs, strict)


def _filled(found: tuple[Tensor | None, ...], inputs: tuple[Tensor, ...], strict: str | None) -> tuple[Tensor, ...]:
    if strict is not None:
        for i, gradient in enumerate(found):
            if gradient is None:
                raise _C.AutogradError(f"{strict}: the result is independent of input {i}, which strict=True does not "
                                       "allow")
    return tuple(_C.zeros_like(value) if gradient is None else gradient for value, gradient in zip(inputs, found))


def _check_strict(outputs: tuple[Tensor, ...], strict: bool, name: str) -> None:
    for i, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise _C.AutogradError(f"{name}: output {i} of func does not require gradients: with strict=True it has to "
                                   "depend on the inputs")


def _weights(v: Tensors | None, like: tuple[Tensor, ...], name: str, whose: str) -> tuple[Tensor, ...]:
    """The tensors of `v`, of the shapes of `like`."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise _C.ValueError(f"{name}: argument 'v' may be left out only for a single {whose} of one element")
        return (_C.ones_like(like[0]),)
    weights = _tuple(v, f"{name}: argument 'v'")
    if [w.shape for w in weights] != [value.shape for value in like]:
        raise _C.ValueError(f"{name}: argument 'v' must have the shapes of the {whose}s of func")
    return weights


def _shaped(values: tuple[Tensor, ...], create_graph: bool, is_tuple: bool) -> Tensors:
    values = values if create_graph else tuple(value.detach() for value in values)
    return values if is_tuple else values[0]


def vjp(func: Callable[..., Any], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Tensors, Tensors]:
    """The results of ``func(*inputs)``, and the product of ``v``, of the results' shapes, with the Jacobian.

    ``v`` may be left out for a single result of one element. The products have the inputs' shapes, zeros for those
    that the results do not depend on; with ``strict`` that is a keyway.AutogradError.
    """
    given = _tuple(inputs, "vjp: argument 'inputs'")
    with enable_grad():
        leaves = _leaves(given, create_graph)
        result = func(*leaves)
        outputs = _tuple(result, "vjp: the result of func")
        _check_strict(outputs, strict, "vjp")
        weights = _weights(v, outputs, "vjp", "result")
        pairs = [(output, weight) for output, weight in zip(outputs, weights) if output.requires_grad]
        found: tuple[Tensor | None, ...] = (None,) * len(leaves)
        if pairs:
            found = _autograd.grad([o for o, _ in pairs], list(leaves), [w for _, w in pairs], create_graph,
                                   create_graph, True)
        products = _filled(found, leaves, "vjp" if strict else None)
    return (_shaped(outputs, create_graph, isinstance(result, tuple)),
            _shaped(products, create_graph, isinstance(inputs, tuple)))


def jvp(func: Callable[..., Any], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Tensors, Tensors]:
    """The results of ``func(*inputs)``, and the product of the Jacobian with ``v``, of the inputs' shapes.

    ``v`` may be left out for a single input of one element. The products have the results' shapes, zeros for those
    that do not depend on the inputs; with ``strict`` that is a keyway.AutogradError. Goes backward twice, so ``func``
    must have second derivatives.
    """
    given = _tuple(inputs, "jvp: argument 'inputs'")
    vectors = _weights(v, given, "jvp", "input")
    with enable_grad():
        leaves = _leaves(given, create_graph)
        result = func(*leaves)
        outputs = _tuple(result, "jvp: the result of func")
        _check_strict(outputs, strict, "jvp")
        # The gradients are linear in the weights of the results: their own gradients by these are the products.
        weights = tuple(_C.zeros_like(output, requires_grad=True) for output in outputs)
        pairs = [(output, weight) for output, weight in zip(outputs, weights) if output.requires_grad]
        found: tuple[Tensor | None, ...] = ()
        if pairs:
            found = _autograd.grad([o for o, _ in pairs], list(leaves), [w for _, w in pairs], True, True, True)
        linear = [(g, vector) for g, vector in zip(found, vectors) if g is not None and g.requires_grad]
        again: tuple[Tensor | None, ...] = (None,) * len(weights)
        if linear:
            again = _autograd.grad([g for g, _ in linear], list(weights), [vector for _, vector in linear],
                                   create_graph, create_graph, True)
        products = _filled(again, outputs, None)
    return (_shaped(outputs, create_graph, isinstance(result, tuple)),
            _shaped(products, create_graph, isinstance(result, tuple)))


def vhp(func: Callable[..., Tensor], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Tensor, Tensors]:
    """The result of ``func(*inputs)``, one element, and the product of ``v``, of the inputs' shapes, with its Hessian.

    ``v`` may be left out for a single input of one element. The products are zeros for inputs that the gradient does
    not depend on; with ``strict`` that is a keyway.AutogradError.
    """
    return _hessian_product(func, inputs, v, create_graph, strict, "vhp")


def hvp(func: Callable[..., Tensor], inputs: Tensors, v: Tensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Tensor, Tensors]:
    """The result of ``func(*inputs)``, and the product of its Hessian with ``v``: vhp, as Hessians are symmetric."""
    return _hessian_product(func, inputs, v, create_graph, strict, "hvp")


def _hessian_product(func: Callable[..., Tensor], inputs: Tensors, v: Tensors | None, create_graph: bool, strict: bool,
                     name: str) -> tuple[Tensor, Tensors]:
    given = _tuple(inputs, f"{name}: argument 'inputs'")
    vectors = _weights(v, given, name, "input")
    with enable_grad():
        leaves = _leaves(given, create_graph)
        output = func(*leaves)
        if not isinstance(output, Tensor) or output.numel() != 1:
            raise _C.ValueError(f"{name}: func has to return a single Tensor of one element")
        _check_strict((output,), strict, name)
        slopes = _gradients(output, _C.ones_like(output), leaves, True, name if strict else None)
        pairs = [(slope, vector) for slope, vector in zip(slopes, vectors) if slope.requires_grad]
        found: tuple[Tensor | None, ...] = (None,) * len(leaves)
        if pairs:
            found = _autograd.grad([s for s, _ in pairs], list(leaves), [w for _, w in pairs], create_graph,
                                   create_graph, True)
        products = _filled(found, leaves, name if strict else None)
    return output if create_graph else output.detach(), _shaped(products, create_graph, isinstance(inputs, tuple))


def jacobian(func: Callable[..., Any], inputs: Tensors, create_graph: bool = False, strict: bool = False,
             vectorize: bool = False, strategy: str = "reverse-mode") -> Any:
    """The derivative of each element of the results of ``func(*inputs)`` with respect to each element of the inputs.

    For one result and one input a tensor of shape ``result.shape + input.shape``; a tuple over inputs, over results,
    or over results of tuples over inputs where these are tuples. Costs a backward for each element of the results,
    whatever ``vectorize`` and ``strategy`` are. With ``strict``, a result that is independent of an input is a
    keyway.AutogradError; otherwise there are zeros.
    """
    _check_strategy("jacobian", strict, vectorize, strategy)
    given = _tuple(inputs, "jacobian: argument 'inputs'")
    with enable_grad():
        leaves = _leaves(given, create_graph)
        result = func(*leaves)
        outputs = _tuple(result, "jacobian: the result of func")
        _check_strict(outputs, strict, "jacobian")
        rows = tuple(_jacobian_of(output, leaves, create_graph, "jacobian" if strict else None) for output in outputs)
    columns = rows if isinstance(inputs, tuple) else tuple(row[0] for row in rows)
    return columns if isinstance(result, tuple) else columns[0]


def _check_strategy(name: str, strict: bool, vectorize: bool, strategy: str) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise _C.ValueError(f"{name}: the strategy is 'reverse-mode' or 'forward-mode', not {strategy!r}")
    if strategy == "forward-mode" and not vectorize:
        raise _C.NotImplementedError(f"{name}: strategy='forward-mode' is for vectorize=True")
    if strict and vectorize:
        raise _C.ValueError(f"{name}: strict=True and vectorize=True are not given together")


def _jacobian_of(output: Tensor, inputs: tuple[Tensor, ...], create_graph: bool,
                 strict: str | None) -> tuple[Tensor, ...]:
    count = output.numel()
    weights = _C.zeros_like(output).reshape((count,))
    rows = []
    for i in range(count):
        weight = weights.clone()
        weight.select(0, i).fill_(1)
        rows.append(_gradients(output, weight.reshape(output.shape), inputs, create_graph, strict))
    if not rows:
        return tuple(_C.zeros((*output.shape, *value.shape), dtype=value.dtype, device=value.device)
                     for value in inputs)
    return tuple(_C.stack(list(column)).reshape((*output.shape, *value.shape))
                 for column, value in zip(zip(*rows), inputs))


def hessian(func: Callable[..., Tensor], inputs: Tensors, create_graph: bool = False, strict: bool = False,
            vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode") -> Any:
    """The second derivatives of ``func(*inputs)``, a single result of one element, with respect to the inputs.

    For one input a tensor of shape ``input.shape + input.shape``; a tuple of tuples of these where inputs are one. The
    other arguments are those of `jacobian`.
    """
    _check_strategy("hessian", strict, vectorize, outer_jacobian_strategy)
    _tuple(inputs, "hessian: argument 'inputs'")

    def gradient(*leaves: Tensor) -> Tensors:
        output = func(*leaves)
        if not isinstance(output, Tensor) or output.numel() != 1:
            raise _C.ValueError("hessian: func has to return a Tensor of one element")
        found = _gradients(output, _C.ones_like(output), leaves, True, "hessian" if strict else None)
        return found if isinstance(inputs, tuple) else found[0]

    return jacobian(gradient, inputs, create_graph, strict)
