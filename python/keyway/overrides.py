"""The override protocol: classes whose objects answer calls of operators themselves.

A class defines

    @classmethod
    def __keyway_function__(cls, func, types, args=(), kwargs=None): ...

and is asked whenever one of its objects is an argument of an operator, or an element of a list among the arguments.
`func` is what was called (keyway.add, keyway.Tensor.add, keyway.ops.my.scale.default), `types` the classes that take
part. Of several classes, subclasses are asked before their bases, else from left to right; one that declines returns
NotImplemented, and if all do the call is a TypeError. This is PyTorch's __torch_function__ but for its name, and for
subclasses of Tensor that do not define it: results are plain Tensors. Attributes (x.shape) are not asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import DisableFunctionOverrides

__all__ = ["DisableFunctionOverrides", "handle_keyway_function", "has_keyway_function", "is_tensor_like"]


def _call_plainly(
    cls: type,
    func: Callable[..., Any],
    types: Sequence[type],
    args: Sequence[Any] = (),
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """What subclasses call as super().__keyway_function__: the call without overrides. Declines if another class takes
    part that this one does not know."""
    if not all(issubclass(cls, other) for other in types):
        return NotImplemented
    with DisableFunctionOverrides():
        return func(*args, **(kwargs or {}))


attach(_C.Tensor, __keyway_function__=classmethod(_call_plainly))
_C._set_default_override(vars(_C.Tensor)["__keyway_function__"])


def has_keyway_function(relevant_args: Sequence[Any]) -> bool:
    """Whether one of the arguments, or of the elements of lists among them, has an override that counts now."""
    return _C._has_overrides(*relevant_args)


def handle_keyway_function(func: Callable[..., Any], relevant_args: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
    """What the overrides of `relevant_args` answer to func(*args, **kwargs): for functions written in Python.

    >>> def double(x):
    ...     if has_keyway_function((x,)):
    ...         return handle_keyway_function(double, (x,), x)
    ...     return x.mul(2)
    """
    return _C._call_overrides(func, tuple(relevant_args), args, kwargs)


def is_tensor_like(obj: Any) -> bool:
    """Whether it is a Tensor or has an override."""
    return isinstance(obj, _C.Tensor) or hasattr(type(obj), "__keyway_function__")
