"""Checks of gradients against differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from keyway import _C
from keyway._C import Tensor, _autograd
from keyway.autograd._running import run

__all__ = ["gradcheck", "gradgradcheck"]


def _wants_grad(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _check(name: str, check: Callable[..., bool], func: Callable[..., Any], inputs: Tensor | Sequence[Any],
           tolerances: tuple[float, float, float], raise_exception: bool) -> bool:
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    indices = [i for i, value in enumerate(given) if _wants_grad(value)]
    if not indices:
        raise _C.ValueError(f"{name}: no input requires a gradient")

    def call(tensors: Sequence[Tensor]) -> list[Tensor]:
        arguments = list(given)
        for index, tensor in zip(indices, tensors):
            arguments[index] = tensor
        result = func(*arguments)
        results = [result] if isinstance(result, Tensor) else list(result)
        return [tensor for tensor in results if isinstance(tensor, Tensor)]

    leaves = [given[i] if given[i].is_leaf else given[i].detach().requires_grad_() for i in indices]
    try:
        return check(call, leaves, *tolerances)
    except _C.AutogradError:
        if raise_exception:
            raise
        return False


def gradcheck(func: Callable[..., Any], inputs: Tensor | Sequence[Any], *, eps: float = 1e-6, atol: float = 1e-5,
              rtol: float = 1e-3, raise_exception: bool = True, nondet_tol: float = 0.0,
              check_undefined_grad: bool = True, check_grad_dtypes: bool = False, check_batched_grad: bool = False,
              check_batched_forward_grad: bool = False, check_forward_ad: bool = False, check_backward_ad: bool = True,
              fast_mode: bool = False, masked: bool | None = None) -> bool:
    """Compares the gradients of ``func(*inputs)`` with central differences of width ``2 * eps``.

    Checked is each tensor of ``inputs`` that requires grad: float64 or complex128 on the CPU, no two elements in one
    memory location; its elements are changed and restored. Complex tensors are checked as their real and imaginary
    parts. ``func`` returns a tensor or several; what is no tensor is passed over.
    Returns True. Where a gradient differs by more than ``atol + rtol * abs(difference)``, raises keyway.AutogradError
    with the first such element, or returns False without ``raise_exception``.

    All elements are compared also with ``fast_mode``; ``nondet_tol``, ``check_undefined_grad``, ``check_grad_dtypes``
    and ``masked`` change nothing. ``check_forward_ad`` compares the tangents of forward mode, too, and without
    ``check_backward_ad`` them alone. Raises keyway.ValueError if no input requires grad, and keyway.NotImplementedError
    where batched gradients are to be checked.
    """
    _refuse("gradcheck", check_batched_grad=check_batched_grad, check_batched_forward_grad=check_batched_forward_grad)
    checks = [check for check, is_wanted in ((_autograd.gradcheck, check_backward_ad),
                                             (_autograd.gradcheck_forward, check_forward_ad)) if is_wanted]
    if not checks:
        raise _C.ValueError("gradcheck: check_backward_ad=False leaves nothing to check")
    return all(_check("gradcheck", check, func, inputs, (eps, atol, rtol), raise_exception) for check in checks)


def gradgradcheck(func: Callable[..., Any], inputs: Tensor | Sequence[Any],
                  grad_outputs: Tensor | Sequence[Tensor] | None = None, *, eps: float = 1e-6, atol: float = 1e-5,
                  rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True,
                  nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
                  check_batched_grad: bool = False, check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True,
                  fast_mode: bool = False, masked: bool = False) -> bool:
    """The same for the gradients themselves, as functions of ``inputs`` and of the gradients of the results: those that
    ``grad_outputs`` has, or random ones, whose memory ``gen_non_contig_grad_outputs`` changes nothing of."""
    _refuse("gradgradcheck", check_batched_grad=check_batched_grad, check_fwd_over_rev=check_fwd_over_rev)
    if not check_rev_over_rev:
        raise _C.ValueError("gradgradcheck: check_rev_over_rev=False leaves nothing to check")
    if grad_outputs is None:
        return _check("gradgradcheck", _autograd.gradgradcheck, func, inputs, (eps, atol, rtol), raise_exception)
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    weights = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)

    def gradients(*values: Any) -> list[Tensor]:
        results = func(*values[:len(given)])
        outputs = [results] if isinstance(results, Tensor) else list(results)
        leaves = [value for value in values[:len(given)] if _wants_grad(value)]
        found = run(True, _autograd.grad, outputs, leaves, list(values[len(given):]), True, True, True)
        return [gradient for gradient in found if gradient is not None and gradient.requires_grad]

    return _check("gradgradcheck", _autograd.gradcheck, gradients, (*given, *weights), (eps, atol, rtol),
                  raise_exception)


def _refuse(name: str, **options: bool) -> None:
    for option, is_set in options.items():
        if is_set:
            raise _C.NotImplementedError(f"{name}: {option} is not there")
