"""vmap: a function of one example, run once for all examples of a batch."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from keyway import _C
from keyway._C import Tensor, _batching
from keyway._transforms.trees import broadcast, children, leaves_of, rebuilt
from keyway.random import drawing_from, generator_states

if TYPE_CHECKING:
    from keyway.autograd.function import Function

__all__ = ["VmapInfo", "apply_function", "vmap", "vmap_kernel"]


class VmapInfo(NamedTuple):
    """What a rule for batches is told of the vmap."""

    batch_size: int
    randomness: str


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
         chunk_size: int | None = None) -> Callable[..., Any]:
    """`func`, for a batch: what it gives is ``stack([func(x[i]) for i in range(len(x))])``, computed at once.

    ``in_dims`` says along which dimension the examples of each argument lie, None that it is the same for all: one for
    all arguments, or one for each, or for parts of each, as nested as the arguments are. Tensors in tuples, lists and
    dictionaries are found. Keyword arguments are batched along dimension 0. ``out_dims`` says where results get the
    dimension of the batch; one that is None must be the same for all examples, and is given as it is. With
    ``chunk_size`` at most that many examples are computed at once.

    Within ``func`` tensors have the shape of one example's. Their numbers cannot be asked for: ``item()``, conditions on
    values, and results whose shape depends on data raise keyway.ValueError, and so does writing in place to a tensor
    that is the same for all. Random operators do too, unless ``randomness`` is "same" or "different" for all examples.
    Operators that have no rule for batches are called for one example after the other. vmaps may be nested, and
    gradients flow through them. Where there are no examples, ``func`` runs for one that stands in for them, for the
    shapes and dtypes of its results: zeros, with ones on the diagonals of matrices.

    >>> keyway.vmap(keyway.dot)(keyway.tensor([[1., 2.], [3., 4.]]), keyway.tensor([[1., 0.], [0., 1.]]))
    tensor([1., 4.])
    """
    if chunk_size is not None and chunk_size < 1:
        raise _C.ValueError(f"vmap: chunk_size is {chunk_size}, but must be positive")

    @functools.wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        inputs, dims = _flat_inputs(args, kwargs, in_dims)
        size = _batch_size(inputs, dims)
        if size == 0:
            return _of_none(func, args, kwargs, inputs, dims, out_dims, randomness)
        if chunk_size is None or chunk_size >= size:
            return _run(func, args, kwargs, inputs, dims, size, out_dims, randomness)
        parts = []
        states = generator_states(inputs) if randomness == "same" else []
        for begin in range(0, size, chunk_size):
            count = min(chunk_size, size - begin)
            for generator, state in states:
                generator.set_state(state)
            parts.append(_run(func, args, kwargs, list(_part(inputs, dims, begin, count)), dims, count, out_dims,
                              randomness))
        return _joined(parts, out_dims)

    return batched


def _flat_inputs(args: tuple[Any, ...], kwargs: dict[str, Any], in_dims: Any) -> tuple[list[Any], list[int | None]]:
    """The leaves of all arguments, and the dimension of the batch in each."""
    given = broadcast(in_dims if not isinstance(in_dims, list) else tuple(in_dims), args)
    if given is None:
        raise _C.ValueError(f"vmap: in_dims {in_dims!r} does not fit the structure of the arguments")
    inputs = leaves_of(args)
    dims = [_checked_dim(leaf, dim, isinstance(in_dims, int)) for leaf, dim in zip(inputs, given)]
    named = leaves_of(kwargs)
    return inputs + named, dims + [0 if isinstance(leaf, Tensor) else None for leaf in named]


def _checked_dim(leaf: Any, dim: Any, is_for_all: bool) -> int | None:
    if dim is None or (is_for_all and not isinstance(leaf, Tensor)):
        return None
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise _C.TypeError(f"vmap: in_dims has {dim!r}, which is neither an int nor None")
    if not isinstance(leaf, Tensor):
        raise _C.ValueError(f"vmap: in_dims has {dim} for an argument that is a {type(leaf).__name__}, not a Tensor")
    if not -leaf.dim() <= dim < leaf.dim():
        raise _C.ValueError(f"vmap: in_dims has {dim} for a tensor of shape {tuple(leaf.shape)}")
    return dim


def _batch_size(inputs: list[Any], dims: list[int | None]) -> int:
    sizes = {leaf.shape[dim] for leaf, dim in zip(inputs, dims) if dim is not None}
    if not sizes:
        raise _C.ValueError("vmap: none of the arguments is a tensor with a dimension of examples")
    if len(sizes) > 1:
        raise _C.ValueError(f"vmap: the arguments have different numbers of examples: {sorted(sizes)}")
    return int(sizes.pop())


def _part(inputs: list[Any], dims: list[int | None], begin: int, count: int) -> Iterator[Any]:
    for leaf, dim in zip(inputs, dims):
        yield leaf if dim is None else leaf.narrow(dim, begin, count)


def _run(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], inputs: list[Any],
         dims: list[int | None], size: int, out_dims: Any, randomness: str) -> Any:
    _batching.enter(size, randomness)
    try:
        leaves = [leaf if dim is None else _batching.example(leaf, dim) for leaf, dim in zip(inputs, dims)]
        examples, named = rebuilt((args, kwargs), leaves)
        return _gathered(func(*examples, **named), out_dims)
    finally:
        _batching.leave()


def _of_none(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], inputs: list[Any],
             dims: list[int | None], out_dims: Any, randomness: str) -> Any:
    """The results for no examples."""
    stand_ins = [leaf if dim is None else _with_stand_in(leaf, dim) for leaf, dim in zip(inputs, dims)]
    with drawing_from(generator_states(inputs)):
        result = _run(func, args, kwargs, stand_ins, dims, 1, out_dims, randomness)
    return rebuilt(result, [leaf if dim is None else leaf.narrow(dim, 0, 0)
                            for leaf, dim in zip(leaves_of(result), _result_dims(result, out_dims))])


def _with_stand_in(leaf: Tensor, dim: int) -> Tensor:
    """A tensor of no examples, and of one more behind them."""
    examples = leaf.movedim(dim, 0)
    stand_in = examples.new_zeros([1, *examples.shape[1:]])
    if stand_in.dim() > 2:
        stand_in.diagonal(0, -2, -1).fill_(1)
    return _C.cat([examples, stand_in]).movedim(0, dim)


def _gathered(result: Any, out_dims: Any) -> Any:
    """The results of all examples, of those of one."""
    dims = _result_dims(result, out_dims)
    leaves = []
    for leaf, dim in zip(leaves_of(result), dims):
        if not isinstance(leaf, Tensor):
            raise _C.TypeError(f"vmap: func has to return tensors, or tuples, lists and dictionaries of them, but gave "
                               f"a {type(leaf).__name__}")
        if dim is not None:
            leaves.append(_batching.all(leaf, dim))
        elif _batching.is_of_example(leaf):
            raise _C.ValueError("vmap: out_dims has None for a result that each example has its own of")
        else:
            leaves.append(leaf)
    return rebuilt(result, leaves)


def _result_dims(result: Any, out_dims: Any, name: str = "vmap") -> list[Any]:
    dims = broadcast(out_dims, result)
    if dims is None and children(result) is None and isinstance(out_dims, tuple) and len(out_dims) == 1:
        dims = [out_dims[0]]
    if dims is None:
        raise _C.ValueError(f"{name}: out_dims {out_dims!r} does not fit the structure of the results")
    for dim in dims:
        if dim is not None and (isinstance(dim, bool) or not isinstance(dim, int)):
            raise _C.TypeError(f"{name}: out_dims has {dim!r}, which is neither an int nor None")
    return dims


def _joined(parts: list[Any], out_dims: Any) -> Any:
    dims = _result_dims(parts[0], out_dims)
    columns = zip(*(leaves_of(part) for part in parts))
    return rebuilt(parts[0], [column[0] if dim is None else _C.cat(list(column), dim)
                              for column, dim in zip(columns, dims)])


# Rules that are written in Python: of operators, and of functions with a backward of their own.


@contextlib.contextmanager
def _outside() -> Iterator[None]:
    """Calls within the block are made outside of the innermost vmap."""
    _batching.suspend()
    try:
        yield
    finally:
        _batching.resume()


def _call_by_rule(rule: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the rule of an operator, or a function, gives for all examples of the innermost vmap, as an example's."""
    given = leaves_of((args, kwargs))
    dims = [0 if isinstance(leaf, Tensor) and _batching.is_of_example(leaf) else None for leaf in given]
    wholes = [leaf if dim is None else _batching.all(leaf, 0) for leaf, dim in zip(given, dims)]
    all_args, all_kwargs = rebuilt((args, kwargs), wholes)
    in_dims, _ = rebuilt((args, kwargs), dims)
    info = VmapInfo(*_batching.info())
    with _outside():
        answer = rule(info, in_dims, *all_args, **all_kwargs)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise _C.TypeError(f"{name}: the rule for vmap has to return a tuple of results and out_dims")
    result, out_dims = answer
    result_dims = _result_dims(result, out_dims, f"{name}: the rule for vmap")
    return rebuilt(result, [_batching.example(leaf, dim) if isinstance(leaf, Tensor) and dim is not None else leaf
                            for leaf, dim in zip(leaves_of(result), result_dims)])


def _check_is_within() -> None:
    if _batching.level() == 0:
        raise _C.ValueError("vmap: a tensor of a single example is used outside of the vmap that it belongs to")


def is_batched(tree: Any) -> bool:
    """Whether a tensor in a tree is that of an example, of whatever vmap."""
    return any(isinstance(leaf, Tensor) and _batching.is_batched(leaf) for leaf in leaves_of(tree))


def _is_of_innermost(tree: Any) -> bool:
    return any(isinstance(leaf, Tensor) and _batching.is_of_example(leaf) for leaf in leaves_of(tree))


def vmap_kernel(op: Callable[..., Any], rule: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A kernel for an operator at the key Batched."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        _check_is_within()
        if _is_of_innermost((args, kwargs)):
            return _call_by_rule(rule, name, args, kwargs)
        with _outside():
            return op(*args, **kwargs)

    return kernel


def apply_function(function: type[Function], args: tuple[Any, ...]) -> Any:
    """``function.apply(*args)`` within vmap, or with tensors that have left it."""
    _check_is_within()
    if not _is_of_innermost(args):
        with _outside():
            return function.apply(*args)
    own = getattr(function, "vmap", None)
    if own is not None and function.generate_vmap_rule:
        raise _C.Error(f"{function.__name__} has both generate_vmap_rule=True and a rule of its own, vmap")
    if own is not None:
        return _call_by_rule(own, function.__name__, args, {})
    if function.generate_vmap_rule:
        return _call_by_rule(functools.partial(_each, function), function.__name__, args, {})
    raise _C.NotImplementedError(f"vmap: {function.__name__} says nothing of batches; it needs a static method "
                                 "vmap(info, in_dims, *args), or generate_vmap_rule = True")


def _each(function: type[Function], info: VmapInfo, in_dims: tuple[Any, ...], *args: Any) -> tuple[Any, Any]:
    """A rule: the function is applied to one example after the other."""
    flat, dims = leaves_of(args), leaves_of(in_dims)
    results = [function.apply(*rebuilt(args, [leaf if dim is None else leaf.select(dim, i)
                                              for leaf, dim in zip(flat, dims)]))
               for i in range(info.batch_size)]
    columns = zip(*(leaves_of(result) for result in results))
    tensors = [_C.stack(list(column)) if isinstance(column[0], Tensor) else column[0] for column in columns]
    return rebuilt(results[0], tensors), rebuilt(results[0], [0 if isinstance(t, Tensor) else None for t in tensors])
