"""Calls that Python answers: modes, which see every call of a thread, and wrapper tensors, whose classes answer calls.

Both stand below autograd, autocast, vmap and forward mode, as PyTorch's `TorchDispatchMode` and `__torch_dispatch__` do:
what reaches them are the operators that kernels exist for, those of backward among them; composite operators arrive as
the calls that they are made of. Their method is

    __keyway_dispatch__(self, func, types, args=(), kwargs=None)

`func` is an overload (keyway.ops.keyway.add.Tensor), `types` the classes of wrapper tensors among the arguments. It returns
what the operator is to return, of the same types, or NotImplemented: then the next is asked. A mode's method runs outside
of that mode, so `func(*args, **kwargs)` goes on below it.

>>> class Calls(KeywayDispatchMode):
...     def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
...         print(func.name())
...         return func(*args, **(kwargs or {}))
>>> with Calls():
...     x = keyway.nn.functional.linear(keyway.ones(1, 2), keyway.ones(3, 2))
keyway::ones
keyway::ones
keyway::transpose.int
keyway::mm

A wrapper tensor is an object of a subclass of Tensor that defines the method, as a class method, and makes its tensors
by `Tensor._make_wrapper_subclass(cls, size, strides=..., dtype=..., device=...)`. It has these, a version and a place in
graphs, and no memory: what it stands for are its attributes. `tree_map_only(MyClass, ...)` takes them out of arguments.

In-place operators return the tensor that they were given: `return_and_correct_aliasing` sees to it. Views share the version
of what they are views of, without help. Changes of geometry in place, as `t_`, are views whose attributes the tensor takes
over, and so is an assignment of `data`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import keyway
from keyway import _C
from keyway._library.schema import Schema
from keyway._transforms.trees import leaves_of as tree_leaves, tree_map

__all__ = ["KeywayDispatchMode", "disable_current_modes", "get_current_dispatch_mode", "get_current_dispatch_mode_stack",
           "is_traceable_wrapper_subclass", "is_traceable_wrapper_subclass_type", "is_wrapper_tensor",
           "return_and_correct_aliasing", "transform_subclass", "tree_leaves", "tree_map",
           "tree_map_only"]  # fmt: skip


class KeywayDispatchMode:
    """A mode: `with mode:` has each call of the thread come to `__keyway_dispatch__`, that of the innermost mode first.

    A mode may be entered several times. Threads that are started within it do not have it.
    """

    def __keyway_dispatch__(self, func: Any, types: Sequence[type], args: Sequence[Any] = (),
                            kwargs: Mapping[str, Any] | None = None) -> Any:
        raise _C.NotImplementedError(f"{type(self).__name__} defines no __keyway_dispatch__")

    def __enter__(self) -> Any:
        _C._set_dispatch_modes((*_C._dispatch_modes(), self))
        return self

    def __exit__(self, *raised: object) -> None:
        modes = _C._dispatch_modes()
        last = max((i for i, mode in enumerate(modes) if mode is self), default=None)
        if last is None:
            raise _C.ValueError(f"{type(self).__name__}: the mode is left, but this thread has not entered it")
        _C._set_dispatch_modes(modes[:last] + modes[last + 1 :])


def get_current_dispatch_mode_stack() -> list[Any]:
    """The modes that calls of this thread come to, the innermost last. Within a mode's method that mode is not among
    them."""
    return list(_C._dispatch_modes())


def get_current_dispatch_mode() -> Any:
    """The innermost of them, or None."""
    modes = _C._dispatch_modes()
    return modes[-1] if modes else None


@contextlib.contextmanager
def disable_current_modes() -> Iterator[list[Any]]:
    """Calls of this thread come to no mode. Gives those that were there, which come back at the end."""
    modes = _C._dispatch_modes()
    _C._set_dispatch_modes(())
    try:
        yield list(modes)
    finally:
        _C._set_dispatch_modes(modes)


def tree_map_only(kind: type | tuple[type, ...], function: Callable[[Any], Any], tree: Any) -> Any:
    """`tree`, of tuples, lists and dictionaries, with each leaf of a class replaced by what `function` makes of it.

    >>> tree_map_only(int, lambda i: i + 1, ([1, "a"], {"b": 2}))
    ([2, 'a'], {'b': 3})
    """
    return tree_map(lambda leaf: function(leaf) if isinstance(leaf, kind) else leaf, tree)


def is_wrapper_tensor(value: object) -> bool:
    """Whether it is a tensor without memory whose class answers its calls."""
    return _C._is_wrapper(value)


def is_traceable_wrapper_subclass_type(cls: type) -> bool:
    """Whether tensors of the class can be taken apart and put together: a subclass of Tensor with `__keyway_dispatch__`,
    `__tensor_flatten__` and `__tensor_unflatten__`."""
    names = ("__keyway_dispatch__", "__tensor_flatten__", "__tensor_unflatten__")
    return issubclass(cls, keyway.Tensor) and all(hasattr(cls, name) for name in names)


def is_traceable_wrapper_subclass(value: object) -> bool:
    """Whether it is a tensor of such a class: `value.__tensor_flatten__()` gives the names of the attributes that are
    tensors and a context, and `cls.__tensor_unflatten__(tensors, context, outer_size, outer_stride)` makes a tensor of a
    dictionary of them."""
    return is_traceable_wrapper_subclass_type(type(value))


def transform_subclass(tensor: Any, callback: Callable[[str, Any], Any], outer_size: Sequence[int] | None = None,
                       outer_stride: Sequence[int] | None = None) -> Any:
    """A tensor of the same class made of what `callback(name, inner)` gives for each tensor that this one holds.

    Raises keyway.ValueError if what comes out has another shape or other strides than `outer_size` and `outer_stride`,
    by default those of `tensor`.
    """
    size = tuple(tensor.shape if outer_size is None else outer_size)
    stride = tuple(tensor.stride() if outer_stride is None else outer_stride)
    names, context = tensor.__tensor_flatten__()
    inner = {name: callback(name, getattr(tensor, name)) for name in names}
    made = type(tensor).__tensor_unflatten__(inner, context, size, stride)
    if tuple(made.shape) != size or tuple(made.stride()) != stride:
        raise _C.ValueError(f"{type(tensor).__name__}.__tensor_unflatten__ gave a tensor of shape {tuple(made.shape)} and "
                            f"strides {made.stride()}, and not {size} and {stride}")
    return made


@functools.lru_cache(maxsize=None)
def _written_results(func: Any) -> list[tuple[int, str] | None]:
    """For each result of an overload, position and name of the argument that it is; None for new ones and views."""
    schema = Schema(func)
    arguments = {parameter.type: (i, parameter.name) for i, parameter in enumerate(schema.parameters) if parameter.writes}
    return [arguments.get(result) for result in schema.returns]


def return_and_correct_aliasing(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, out: Any) -> Any:
    """What the `__keyway_dispatch__` of a wrapper's class is to return, of what it computed: `out`, with the arguments
    themselves in the place of results that the operator wrote to.

    >>> x = keyway.ones(2)
    >>> return_and_correct_aliasing(keyway.ops.keyway.add_.Tensor, (x, 1), {}, keyway.ones(2)) is x
    True
    """
    written = _written_results(func)
    if not any(written):
        return out

    def corrected(argument: tuple[int, str] | None, result: Any) -> Any:
        if argument is None:
            return result
        position, name = argument
        return args[position] if position < len(args) else (kwargs or {})[name]

    if len(written) == 1:
        return corrected(written[0], out)
    return tuple(map(corrected, written, out))
