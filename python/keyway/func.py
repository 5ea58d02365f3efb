"""Functions of functions: batched, differentiated, or called with other parameters than a module's own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keyway
from keyway import _C
from keyway._C import Tensor, _autograd, _batching, _forward
from keyway._graphs.functionalized import functionalize as functionalize
from keyway._transforms.forward import push_forward, recorded
from keyway._transforms.trees import children, leaves_like, leaves_of, rebuilt, same_structure, tree_map
from keyway._transforms.vmap import vmap as vmap
from keyway.autograd._running import run
from keyway.nn.modules.module import Module
from keyway.nn.utils import stateless

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "stack_module_state",
    "vjp", "vmap",
]

Argnums = int | tuple[int, ...]


def _check_inputs(name: str, tree: Any) -> None:
    for value in leaves_of(tree):
        if not isinstance(value, Tensor):
            raise _C.TypeError(f"{name}: an argument to differentiate by must be a Tensor, or a tuple, list or dictionary "
                               f"of them, not a {type(value).__name__}")
        if not (value.is_floating_point() or value.is_complex()):
            raise _C.TypeError(f"{name}: an argument to differentiate by must be floating or complex, not {value.dtype}")


class _Inputs:
    """What a function is differentiated by: tensors in a tree, as they are within vmap and as leaves of all examples."""

    def __init__(self, name: str, tree: Any) -> None:
        _check_inputs(name, tree)
        self.level = _batching.level()
        self.tree = tree
        self.also_own: list[Tensor] = []  # leaves of functions that this one is made of
        self.leaves = [self._leaf(value) for value in leaves_of(tree)]
        self.given = rebuilt(tree, [_batching.without_level_dims(leaf, self.level) for leaf in self.leaves])

    def _leaf(self, value: Tensor) -> Tensor:
        whole = _batching.with_level_dims(value, self.level)
        if whole.is_inference():
            whole = whole.clone()
        # The graph around goes on through a view; but gradients are those by this very tensor. Tangents stay.
        return _forward.as_leaf(whole)

    def gradients(self, outputs: list[Tensor], weights: list[Tensor], outer_grad: bool) -> Any:
        """The products of weights with derivatives of the outputs, as a tree; zeros for what they do not depend on."""
        wholes = [_batching.with_level_dims(output, self.level) for output in outputs]
        pairs = [(whole, _batching.with_level_dims(weight, self.level))
                 for whole, weight in zip(wholes, weights) if whole.requires_grad]
        found: Sequence[Tensor | None] = [None] * len(self.leaves)
        if pairs and self.leaves:
            roots = [whole for whole, _ in pairs]
            create_graph = outer_grad and (self.is_part_of_more(roots) or any(w.requires_grad for _, w in pairs))
            found = run(True, _autograd.grad, roots, self.leaves, [weight for _, weight in pairs], True, create_graph,
                        True)
        wanted = [_C.zeros_like(leaf) if gradient is None else gradient for leaf, gradient in zip(self.leaves, found)]
        return rebuilt(self.tree, [_batching.without_level_dims(gradient, self.level) for gradient in wanted])

    def is_part_of_more(self, wholes: Sequence[Tensor]) -> bool:
        """Whether the results depend on more that can be differentiated by than on leaves of the function's own."""
        own = [leaf for leaf in self.leaves + self.also_own if leaf.is_leaf]
        return bool(_autograd.depends_on_others(wholes, own))

    def constant(self, tree: Any, outer_grad: bool) -> Any:
        """The results of the function for who calls it: without the history that ends at its own leaves."""
        def for_caller(leaf: Any) -> Any:
            if not isinstance(leaf, Tensor):
                return leaf
            is_kept = outer_grad and self.is_part_of_more([_batching.with_level_dims(leaf, self.level)])
            return leaf if is_kept else _without_history(leaf)

        return tree_map(for_caller, tree)


def _without_history(tensor: Tensor) -> Tensor:
    level = _batching.level()
    return _batching.without_level_dims(_forward.without_history(_batching.with_level_dims(tensor, level)), level)


def _chosen(name: str, argnums: Argnums, args: tuple[Any, ...]) -> list[int]:
    numbers = list(argnums) if isinstance(argnums, tuple) else [argnums]
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int):
            raise _C.TypeError(f"{name}: argnums is an int or a tuple of ints, not {argnums!r}")
        if not -len(args) <= number < len(args):
            raise _C.ValueError(f"{name}: argnums has {number}, but there are {len(args)} positional arguments")
    if not numbers:
        raise _C.ValueError(f"{name}: argnums is empty")
    return [number % len(args) for number in numbers]


def _replaced(args: tuple[Any, ...], numbers: list[int], values: Sequence[Any]) -> list[Any]:
    with_others = list(args)
    for number, value in zip(numbers, values):
        with_others[number] = value
    return with_others


def _with_aux(name: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise _C.TypeError(f"{name}: with has_aux=True func has to return a tuple of two")
    return result


def _tensors_of(name: str, result: Any) -> list[Tensor]:
    outputs = leaves_of(result)
    for output in outputs:
        if not isinstance(output, Tensor):
            raise _C.TypeError(f"{name}: func has to return tensors, or tuples, lists and dictionaries of them, not a "
                               f"{type(output).__name__}")
    return outputs


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """`func`, which returns one number as a tensor, with the gradient of it: ``(gradient, value)``.

    The gradient is that by the argument numbered ``argnums``, in its structure, or a tuple of those by several. With
    ``has_aux`` func returns a pair, whose second is given on: ``(gradient, (value, aux))``. Within vmap each example has
    its gradient, also by arguments that are the same for all. Further derivatives can be taken of gradients.
    """

    @functools.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        numbers = _chosen("grad", argnums, args)
        outer_grad = keyway.is_grad_enabled()
        with recorded():
            inputs = _Inputs("grad", tuple(args[number] for number in numbers))
            value, aux = _with_aux("grad", func(*_replaced(args, numbers, inputs.given), **kwargs), has_aux)
            if not isinstance(value, Tensor):
                raise _C.TypeError(f"grad: func has to return a Tensor, not a {type(value).__name__}")
            if value.dim() != 0 or not value.is_floating_point():
                raise _C.ValueError("grad: func has to return a real tensor without dimensions, not one of shape "
                                    f"{tuple(value.shape)} and {value.dtype}")
            found = inputs.gradients([value], [_C.ones_like(value)], outer_grad)
            value, aux = inputs.constant((value, aux), outer_grad)
        gradient = found if isinstance(argnums, tuple) else found[0]
        return gradient, ((value, aux) if has_aux else value)

    return differentiated


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The gradient of `func`, as `grad_and_value` without the value: with ``has_aux``, ``(gradient, aux)``.

    >>> keyway.func.grad(lambda x: x.sin().sum())(keyway.zeros(2))
    tensor([1., 1.])
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return differentiated


def _checked_like(what: str, tree: Any, other: Any) -> list[Any]:
    """The leaves of `other`, if it has the structure of `tree`, and its tensors their shapes and dtypes."""
    if not same_structure(tree, other):
        raise _C.ValueError(f"{what} must have the structure of what they are for")
    leaves = leaves_like(tree, other)
    for like, leaf in zip(leaves_of(tree), leaves):
        if not isinstance(leaf, Tensor) or leaf.shape != like.shape or leaf.dtype != like.dtype:
            given = f"{tuple(leaf.shape)} and {leaf.dtype}" if isinstance(leaf, Tensor) else type(leaf).__name__
            raise _C.ValueError(f"{what} must have the shapes and dtypes of what they are for: {tuple(like.shape)} and "
                                f"{like.dtype}, not {given}")
    return leaves


class _Vjp:
    """A function at one point: its results, and products of vectors with its Jacobian."""

    def __init__(self, func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool) -> None:
        if not primals:
            raise _C.ValueError("vjp: there are no primals to differentiate by")
        outer_grad = keyway.is_grad_enabled()
        with recorded():
            self.inputs = _Inputs("vjp", primals)
            result, aux = _with_aux("vjp", func(*self.inputs.given), has_aux)
            self._outputs = _tensors_of("vjp", result)
            self.result, self.aux = self.inputs.constant((result, aux), outer_grad)

    def product(self, *weights: Any) -> Any:
        given = _checked_like("vjp: the weights", self.result, weights[0] if len(weights) == 1 else weights)
        outer_grad = keyway.is_grad_enabled()
        with recorded():
            return self.inputs.gradients(self._outputs, given, outer_grad)


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """``func(*primals)``, and a function that gives products of vectors with its Jacobian.

    That function takes weights in the structure and shapes of the results, and gives a tuple of one product for each of
    the primals. With ``has_aux`` func returns a pair, whose second becomes the third result.
    """
    at = _Vjp(func, primals, has_aux)
    return (at.result, at.product, at.aux) if has_aux else (at.result, at.product)


def _pushed(name: str, func: Callable[..., Any], primals: tuple[Any, ...], tangents: list[Tensor], has_aux: bool
            ) -> tuple[Any, Any, Any]:
    """The results of func, their tangents, and what else it returns."""
    def checked(returned: Any) -> tuple[Any, Any]:
        result, aux = _with_aux(name, returned, has_aux)
        _tensors_of(name, result)
        return result, aux

    return push_forward(func, primals, tangents, has_aux, checked)


def jvp(func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, has_aux: bool = False) -> Any:
    """``func(*primals)``, and the product of its Jacobian with ``tangents``, of the primals' structure and shapes.

    In forward mode: func runs once, on dual tensors. With ``has_aux`` func returns a pair, whose second becomes the third
    result.

    >>> keyway.func.jvp(keyway.sin, (keyway.zeros(2),), (keyway.tensor([1.0, 2.0]),))[1]
    tensor([1., 2.])
    """
    if not isinstance(primals, tuple) or not primals or not isinstance(tangents, tuple):
        raise _C.TypeError("jvp: primals and tangents must be tuples, which are not empty")
    _check_inputs("jvp", primals)
    directions = _checked_like("jvp: the tangents", primals, tangents)
    result, product, aux = _pushed("jvp", func, primals, directions, has_aux)
    return (result, product, aux) if has_aux else (result, product)


class _Linearized:
    """A function at one point: its results, and products of its Jacobian with vectors.

    The function runs once, and each product is a backward through the graph of a backward. That costs less than forward
    mode where there are many products: what vmap runs for all directions at once is one backward, not the function.
    """

    def __init__(self, name: str, func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool) -> None:
        at = _Vjp(func, primals, has_aux)
        self.result, self.aux = at.result, at.aux
        outputs = leaves_of(at.result)
        _check_is_real(name, leaves_of(primals) + outputs)

        def products(*weights: Tensor) -> Any:
            return at.product(rebuilt(at.result, list(weights)))

        # Some formulas take a weight's logarithm.
        self._transposed = _Vjp(products, tuple(_C.ones_like(output) for output in outputs), False)
        self._transposed.inputs.also_own = at.inputs.leaves

    def product(self, tangents: tuple[Any, ...]) -> Any:
        return rebuilt(self.result, list(self._transposed.product(tangents)))


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``func(*primals)``, and the function's derivative there: a function of tangents, one for each of the primals and of
    its structure, shapes and dtypes, that gives the product of the Jacobian with them.

    func runs once, however many tangents follow; its steps are kept as long as the derivative is. Tensors are real.

    >>> value, derivative = keyway.func.linearize(keyway.sin, keyway.zeros(2))
    >>> derivative(keyway.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """
    if not primals:
        raise _C.ValueError("linearize: there are no primals to differentiate by")
    at = _Linearized("linearize", func, primals, False)

    def derivative(*tangents: Any) -> Any:
        _checked_like("linearize: the tangents", primals, tangents)
        return at.product(tangents)

    return at.result, derivative


def _of_each_element(function: Callable[[Tensor], Any], tensor: Tensor, chunk_size: int | None) -> Any:
    """What a function gives for tensors like this one with a 1 at one index each, along a first dimension."""
    count = tensor.numel()
    if count == 0:
        return tree_map(lambda leaf: leaf.new_zeros((0, *leaf.shape)), function(_C.zeros_like(tensor)))
    step = chunk_size or count
    parts = []
    for begin in range(0, count, step):
        basis = _C.zeros((min(step, count - begin), count), dtype=tensor.dtype, device=tensor.device)
        basis.diagonal(begin).fill_(1)
        parts.append(vmap(function)(basis.reshape((len(basis), *tensor.shape))))
    columns = zip(*(leaves_of(part) for part in parts))
    return rebuilt(parts[0], [column[0] if len(column) == 1 else _C.cat(list(column)) for column in columns])


def _check_is_real(name: str, tensors: list[Any]) -> None:
    for tensor in tensors:
        if isinstance(tensor, Tensor) and not tensor.is_floating_point():
            remedy = ": view_as_real makes a complex one real" if tensor.is_complex() else ""
            raise _C.TypeError(f"{name}: the Jacobian is that of real arguments and results, not of {tensor.dtype}{remedy}")


def jacrev(func: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None
           ) -> Callable[..., Any]:
    """The Jacobian of `func` by the argument numbered ``argnums``, or a tuple of those by several.

    Each result gives a tensor of shape ``result.shape + argument.shape``, in the structure of the results, and within it
    in that of the argument. The backwards of all elements of the results run at once, by vmap; with ``chunk_size`` at
    most that many. With ``has_aux`` func returns a pair, whose second is given on: ``(jacobian, aux)``.
    """

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        numbers = _chosen("jacrev", argnums, args)

        def of_chosen(*values: Any) -> Any:
            return func(*_replaced(args, numbers, values), **kwargs)

        result, product, *aux = vjp(of_chosen, *(args[number] for number in numbers), has_aux=has_aux)
        outputs = leaves_of(result)
        _check_is_real("jacrev", outputs + leaves_of([args[number] for number in numbers]))
        rows = []
        for index, output in enumerate(outputs):
            def row(weight: Tensor, index: int = index) -> Any:
                weights = [_C.zeros_like(other) for other in outputs]
                weights[index] = weight
                return product(rebuilt(result, weights))

            columns = _of_each_element(row, output, chunk_size)
            shaped = tree_map(functools.partial(_unflattened, output), columns)
            rows.append(shaped if isinstance(argnums, tuple) else shaped[0])
        whole = rebuilt(result, rows) if children(result) is not None else rows[0]
        return (whole, aux[0]) if has_aux else whole

    return jacobian


def _unflattened(output: Tensor, columns: Tensor) -> Tensor:
    return columns.reshape((*output.shape, *columns.shape[1:]))


def jacfwd(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, chunk_size: int | None = None
           ) -> Callable[..., Any]:
    """The Jacobian of `func`, as `jacrev` gives it, computed by columns: its products with all elements of the arguments at
    once, by vmap, or with at most ``chunk_size``. `func` itself runs once.

    The columns are backwards through the graph of a backward: where forward mode has it another way, as for what is computed
    under no_grad or by a Function whose `jvp` is no match of its `backward`, they are what `backward` says.
    """

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        numbers = _chosen("jacfwd", argnums, args)
        values = tuple(args[number] for number in numbers)

        def of_chosen(*chosen: Any) -> Any:
            return func(*_replaced(args, numbers, chosen), **kwargs)

        at = _Linearized("jacfwd", of_chosen, values, has_aux)
        arguments = leaves_of(values)
        columns: list[Any] = []
        for index, argument in enumerate(arguments):
            def column(tangent: Tensor, index: int = index) -> Any:
                tangents = [_C.zeros_like(other) for other in arguments]
                tangents[index] = tangent
                return at.product(rebuilt(values, tangents))

            product = _of_each_element(column, argument, chunk_size)
            columns.append(tree_map(functools.partial(_columns_last, argument), product))
        rows = []
        for parts in zip(*(leaves_of(part) for part in columns)):
            tree = rebuilt(values, list(parts))
            rows.append(tree if isinstance(argnums, tuple) else tree[0])
        whole = rebuilt(at.result, rows) if children(at.result) is not None else rows[0]
        return (whole, at.aux) if has_aux else whole

    return jacobian


def _columns_last(argument: Tensor, columns: Tensor) -> Tensor:
    result = columns.shape[1:]
    return columns.movedim(0, -1).reshape((*result, *argument.shape))


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The second derivatives of `func`: the Jacobian of its Jacobian by the argument numbered ``argnums``."""
    return jacrev(jacrev(func, argnums), argnums)


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of modules of one kind, stacked along dimension 0, by name: what vmap over
    `functional_call` takes for an ensemble. The parameters are new leaves.

    Raises keyway.ValueError: there are none, or they are of several classes or modes of training.
    """
    if not models:
        raise _C.ValueError("stack_module_state: there are no modules")
    if any(model.training != models[0].training for model in models):
        raise _C.ValueError("stack_module_state: all modules must be in training mode, or all in eval mode")
    if any(type(model) is not type(models[0]) for model in models):
        raise _C.ValueError("stack_module_state: all modules must be of one class")
    parameters = {
        name: _C.stack([dict(model.named_parameters())[name].detach() for model in models]).requires_grad_(
            parameter.requires_grad)
        for name, parameter in models[0].named_parameters()
    }
    buffers = {name: _C.stack([dict(model.named_buffers())[name] for model in models])
               for name, _ in models[0].named_buffers()}
    return parameters, buffers


def functional_call(
    module: Module, parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]], args: Any = None,
    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True, strict: bool = False,
) -> Any:
    """nn.utils.stateless.functional_call, with one dictionary of tensors or several, which have no name in common: that
    is a keyway.ValueError.

    >>> layer = keyway.nn.Linear(1, 1, bias=False)
    >>> keyway.func.functional_call(layer, {"weight": keyway.full((1, 1), 3.0)}, keyway.ones(1)).item()
    3.0
    """
    if isinstance(parameter_and_buffer_dicts, Mapping):
        dicts: list[Mapping[str, Tensor]] = [parameter_and_buffer_dicts]
    else:
        dicts = list(parameter_and_buffer_dicts)
    names = [name for each in dicts for name in each]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise keyway.ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
                                "ambiguous")
    merged = {name: tensor for each in dicts for name, tensor in each.items()}
    return stateless.functional_call(module, merged, args, kwargs, tie_weights=tie_weights, strict=strict)
