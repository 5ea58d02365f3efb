"""checkpoint: memory for time. What a function would save for backward is computed again there."""

from __future__ import annotations

import contextlib
import itertools
import warnings
import weakref
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from keyway import _C
from keyway._C import Tensor
from keyway._autocast import as_now
from keyway.autograd import backward, is_for_inputs
from keyway.autograd.function import Function, FunctionCtx
from keyway.autograd.grad_mode import enable_grad
from keyway.autograd.graph import saved_tensors_hooks
from keyway.random import drawing_from, generator_states

if TYPE_CHECKING:
    Contexts = Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]]

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential"]


class CheckpointError(_C.AutogradError):
    """A function did something else when it was called again."""


class _Placeholder:
    """Stands in the graph for a saved tensor; has it from when it is computed again until it is used."""

    def __init__(self, tensor: Tensor) -> None:
        self.like = (tensor.shape, tensor.dtype, tensor.device)
        self.tensor: Tensor | None = None


class _AllFilled(Exception):
    """Every placeholder has its tensor: the rest of the function need not run."""


class _Checkpoint:
    """One call of a function under `checkpoint`."""

    def __init__(self, call: Callable[[], Any], arguments: list[Any], preserve_rng_state: bool, contexts: Contexts,
                 checks: bool, early_stop: bool) -> None:
        self.call = call
        self.context, self.context_again = contexts()
        self.checks = checks
        self.early_stop = early_stop
        self.versions = [(value, value._version) for value in arguments
                         if isinstance(value, Tensor) and not value.is_inference()]
        self.rng_states = generator_states(arguments) if preserve_rng_state else []
        self.autocast_again = as_now(arguments)
        self.placeholders: list[weakref.ref[_Placeholder]] = []

    def run(self) -> Any:
        with saved_tensors_hooks(self._pack, self._unpack), self.context:
            return self.call()

    def _pack(self, tensor: Tensor) -> _Placeholder:
        placeholder = _Placeholder(tensor)
        self.placeholders.append(weakref.ref(placeholder))
        return placeholder

    def _unpack(self, placeholder: _Placeholder) -> Tensor:
        if placeholder.tensor is None:
            self._compute_again()
        tensor, placeholder.tensor = placeholder.tensor, None
        if tensor is None:
            raise CheckpointError("checkpoint: the function saved fewer tensors when it was called again")
        return tensor

    def _compute_again(self) -> None:
        for value, version in self.versions:
            if value._version != version:
                raise _C.AutogradError(
                    f"checkpoint: an argument of shape {tuple(value.shape)} was changed in place: it is at version "
                    f"{value._version}, but was given at {version}; clone() it before the change")
        rest = iter(self.placeholders)
        missing = sum(1 for placeholder in self.placeholders if placeholder() is not None)

        def fill(tensor: Tensor) -> Tensor:
            nonlocal missing
            reference = next(rest, None)
            if reference is None:
                raise CheckpointError("checkpoint: the function saved more tensors when it was called again")
            placeholder = reference()
            if placeholder is not None:
                now = (tensor.shape, tensor.dtype, tensor.device)
                if self.checks and placeholder.like != now:
                    raise CheckpointError(f"checkpoint: the function saved {placeholder.like}, but when it was called "
                                          f"again {now}")
                placeholder.tensor = tensor
                missing -= 1
                if missing == 0 and self.early_stop:
                    raise _AllFilled
            return tensor

        with (contextlib.suppress(_AllFilled), drawing_from(self.rng_states), enable_grad(),
              saved_tensors_hooks(fill, lambda tensor: tensor), self.autocast_again(), self.context_again):
            self.call()


class CheckpointFunction(Function):
    """The older form: a node that calls the function again, and a backward of its own through that call."""

    @staticmethod
    def forward(ctx: FunctionCtx, function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        ctx.function = function
        ctx.states = generator_states(args) if preserve_rng_state else []
        ctx.autocast_again = as_now(args)
        ctx.arguments = [None if isinstance(value, Tensor) else value for value in args]
        ctx.indices = [i for i, value in enumerate(args) if isinstance(value, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.indices))
        return function(*args)

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Any) -> Any:
        if is_for_inputs():
            raise _C.AutogradError("checkpoint: with use_reentrant=True there is backward() for all leaves, but no "
                                   "grad() and no backward(inputs=...)")
        arguments = list(ctx.arguments)
        for index, tensor in zip(ctx.indices, ctx.saved_tensors):
            arguments[index] = tensor.detach().requires_grad_(tensor.requires_grad)
        with drawing_from(ctx.states), enable_grad(), ctx.autocast_again():
            results = ctx.function(*arguments)
        results = results if isinstance(results, tuple) else (results,)
        pairs = [(result, gradient) for result, gradient in zip(results, grads)
                 if isinstance(result, Tensor) and result.requires_grad]
        if not pairs:
            raise _C.AutogradError("checkpoint: none of the function's results requires grad")
        backward([result for result, _ in pairs], [gradient for _, gradient in pairs])
        return (None, None, *(value.grad if isinstance(value, Tensor) else None for value in arguments))


def _no_contexts() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool = False, preserve_rng_state: bool = True,
               context_fn: Contexts = _no_contexts, determinism_check: str = "default", debug: bool = False,
               early_stop: bool = True, **kwargs: Any) -> Any:
    """Returns ``function(*args, **kwargs)``, and keeps nothing of what its calls save for backward but the arguments.

    Backward calls the function again, with ``early_stop`` up to the last tensor that it needs. It must then do the
    same: draw the same random numbers, for which the state of the CPU's default generator is restored with
    ``preserve_rng_state``, and see the same tensors: arguments that were changed in place raise keyway.AutogradError,
    and other numbers, or without determinism_check="none" other shapes or dtypes, of saved tensors raise
    CheckpointError. Gradients of whatever the function uses are computed, and by whatever means: backward, grad,
    backward of backward. ``context_fn`` gives two context managers, for the first call and for the second. ``debug``
    changes nothing.

    The second call is autocast as the first one was.

    ``use_reentrant=True`` is PyTorch's older form: a tensor among ``args`` has to require grad, there are no keywords
    and no contexts, and only backward() for all leaves.
    """
    if determinism_check not in ("default", "none"):
        raise _C.ValueError(f"checkpoint: determinism_check is 'default' or 'none', not {determinism_check!r}")
    if not use_reentrant:
        arguments = [*args, *kwargs.values()]
        return _Checkpoint(lambda: function(*args, **kwargs), arguments, preserve_rng_state, context_fn,
                           determinism_check == "default", early_stop).run()
    if kwargs or context_fn is not _no_contexts:
        given = ", ".join(kwargs) or "context_fn"
        raise _C.ValueError(f"checkpoint: use_reentrant=True takes positional arguments only, but got {given}")
    if _C.is_grad_enabled() and not any(isinstance(value, Tensor) and value.requires_grad for value in args):
        warnings.warn("checkpoint: none of the arguments requires grad, so there will be no gradients", stacklevel=2)
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(functions: Iterable[Callable[..., Any]], segments: int, input: Any,
                          use_reentrant: bool = False, preserve_rng_state: bool = True) -> Any:
    """``input`` through all functions, or the modules of a Sequential, in ``segments`` parts of which all but the last
    are checkpointed."""
    chain = list(functions)
    if not 0 < segments <= len(chain):
        raise _C.ValueError(f"checkpoint_sequential: {segments} segments of {len(chain)} functions")

    def run(first: int, last: int, value: Any) -> Any:
        for function in itertools.islice(chain, first, last):
            value = function(value)
        return value

    size = len(chain) // segments
    starts = [size * i for i in range(segments)]
    for first in starts[:-1]:
        input = checkpoint(lambda value, first=first: run(first, first + size, value), input,
                           use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state)
    return run(starts[-1], len(chain), input)
