"""Clipping: gradients that are too large, made smaller."""

from __future__ import annotations

import math
from typing import Iterable, Union

import keyway
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad

Tensors = Union[Tensor, Iterable[Tensor]]


def _gradients(parameters: Tensors) -> list[Tensor]:
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


def get_total_norm(
    tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all tensors together as if they were one vector: a tensor of one element. For an infinite `norm_type`
    the greatest, or the least, absolute value; for 0 how many of the tensors are not zero. That of 16-bit floats is a
    float32. `foreach` changes nothing.

    Raises keyway.Error if it is infinite or no number and `error_if_nonfinite` is true.
    """
    all_tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    with no_grad():
        total = _norm_of_all(all_tensors, float(norm_type))
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise keyway.Error(f"the total norm of order {norm_type} is {float(total)}; with error_if_nonfinite=False "
                           "gradients are scaled by it all the same")
    return total


def _norm_of_all(tensors: list[Tensor], order: float) -> Tensor:
    if not tensors:
        return keyway.scalar_tensor(0.0)
    device = tensors[0].device
    norms = [keyway.linalg.vector_norm(tensor, order, dtype=_WIDER.get(tensor.dtype)).to(device=device)
             for tensor in tensors]
    return keyway.linalg.vector_norm(keyway.stack(norms), order)


# Norms of 16-bit floats may be greater than their dtype holds.
_WIDER = {keyway.float16: keyway.float32, keyway.bfloat16: keyway.float32, keyway.complex32: keyway.complex64}


def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales the gradients of all parameters, in place, such that their norm, which was `total_norm`, is at most
    `max_norm`. `foreach` changes nothing."""
    with no_grad():
        factor = total_norm.add(1e-6).reciprocal().mul(float(max_norm)).clamp(max=1.0)
        for grad in _gradients(parameters):
            grad.mul_(factor.to(device=grad.device))


def clip_grad_norm_(
    parameters: Tensors, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales the gradients of all parameters, in place, such that their norm together is at most `max_norm`. Returns
    the norm before that, a tensor of one element. `foreach` changes nothing."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamps every element of the gradients, of complex ones both parts, to [-clip_value, clip_value], in place.
    `foreach` changes nothing."""
    with no_grad():
        for grad in _gradients(parameters):
            parts = keyway.view_as_real(grad) if grad.is_complex() else grad
            parts.clamp_(-float(clip_value), float(clip_value))
