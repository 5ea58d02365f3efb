"""Function: differentiable operations that are written in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from keyway import _C
from keyway._C import Tensor, _autograd, _batching
from keyway._transforms import forward as _forward
from keyway._transforms.vmap import apply_function, is_batched
from keyway.autograd.grad_mode import no_grad

__all__ = ["Function", "FunctionCtx", "once_differentiable"]

FunctionCtx = _autograd.FunctionCtx


class Function:
    """An operation with a gradient of one's own: subclass it, and call the subclass's ``apply``.

    >>> class Square(keyway.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x.mul(x)
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return grad.mul(x).mul(2)
    >>> x = keyway.full((2,), 3.0, requires_grad=True)
    >>> Square.apply(x).sum().backward()
    >>> x.grad.sum().item()
    12.0
    """

    # Whether vmap may call it for one example after the other.
    generate_vmap_rule = False

    def __init__(self) -> None:
        raise _C.TypeError(f"{type(self).__name__} has no objects: call {type(self).__name__}.apply(...)")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Computes a tensor, None, or a tuple of tensors and other values, which pass as they are.

        Takes ``ctx`` and the arguments of ``apply``; without ``ctx`` in a class that has `setup_context`. Nothing that
        it calls is recorded.
        """
        raise _C.NotImplementedError("forward of an autograd.Function has to be written")

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Any, ...], output: Any) -> None:
        """Leaves in ``ctx`` what backward needs, after forward has returned ``output``."""
        raise _C.NotImplementedError("setup_context of an autograd.Function is not written")

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
        """Computes a gradient, or None, for each argument of forward from those of its outputs. May be named vjp."""
        raise _C.NotImplementedError("backward of an autograd.Function has to be written to compute gradients")

    @staticmethod
    def jvp(ctx: FunctionCtx, *grad_inputs: Any) -> Any:
        """Computes a tangent, or None, for each output of forward from those of its arguments: for forward mode.

        Is called right after forward; ``ctx.saved_tensors`` are what forward gave ``ctx.save_for_forward``, else what it
        saved for backward. Without it tangents come of two backwards, if backward is made of differentiable operators.
        """
        raise _C.NotImplementedError("jvp of an autograd.Function is not written")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "vjp" not in vars(cls):
            return
        if "backward" in vars(cls):
            raise _C.Error(f"{cls.__name__} defines both backward and vjp, which are two names of one function")
        cls.backward = vars(cls)["vjp"]  # type: ignore[method-assign]

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Calls `forward`, and records the call if one of the tensors among ``args`` requires grad.

        A tensor that forward returns as it got it becomes a view of it. Raises keyway.TypeError for another
        result, and in backward keyway.AutogradError for a wrong number of gradients.

        Within vmap a static method ``vmap(info, in_dims, *args)`` of the class is called for all examples, and gives
        results and their ``out_dims``; or with ``generate_vmap_rule = True`` the function is applied to each.
        """
        if _batching.level() or is_batched(args):
            return apply_function(cls, args)
        sets_up_later = cls.setup_context is not Function.setup_context
        if _forward.is_dual(args):
            return _forward.apply_function(cls, args, sets_up_later, has_jvp=cls.jvp is not Function.jvp)
        return _autograd.apply_function(cls, args, sets_up_later)


class _NotTwice(Function):
    """The end of the line: passes tensors on, and raises where a gradient of theirs is asked for."""

    @staticmethod
    def forward(ctx: FunctionCtx, name: str, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.function = name
        return tuple(tensor.detach() for tensor in tensors)

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
        raise _C.AutogradError(f"{ctx.function} is marked with @once_differentiable: its gradients have none")


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """For a ``backward`` whose own computation has no gradient.

    It runs under no_grad; differentiating what it returns raises keyway.AutogradError.
    """

    @functools.wraps(function)
    def backward(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
        with no_grad():
            result = function(ctx, *grad_outputs)
        recorded = (*grad_outputs, *ctx.saved_tensors)
        if not _C.is_grad_enabled() or not any(isinstance(t, Tensor) and t.requires_grad for t in recorded):
            return result
        grads = list(result) if isinstance(result, tuple) else [result]
        if is_batched(grads):
            raise _C.AutogradError(f"{function.__qualname__} is marked with @once_differentiable: within vmap its "
                                   "gradients cannot be recorded")
        indices = [i for i, grad in enumerate(grads) if isinstance(grad, Tensor)]
        ends = _NotTwice.apply(function.__qualname__, *(grads[i].detach().requires_grad_() for i in indices))
        for index, end in zip(indices, ends):
            grads[index] = end
        return tuple(grads)

    return backward
