"""Parameters as one vector, and back."""

from __future__ import annotations

from typing import Iterable

import keyway
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters, one after the other: [numbers]. Gradients flow through it."""
    flat = [parameter.reshape(-1) for parameter in parameters]
    if len({part.device for part in flat}) > 1:
        raise keyway.TypeError("parameters on several devices do not make one vector")
    return keyway.cat(flat)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Copies a vector [numbers] into parameters. Raises keyway.Error if it has too few elements; then nothing
    has changed."""
    if not isinstance(vec, Tensor):
        raise keyway.TypeError(f"vector_to_parameters takes a Tensor, not {type(vec).__name__}")
    parameters = list(parameters)
    count = sum(parameter.numel() for parameter in parameters)
    if vec.dim() != 1 or vec.numel() < count:
        raise keyway.Error(f"vector_to_parameters: the vector has shape {list(vec.shape)}, but the parameters have "
                           f"{count} elements")
    at = 0
    with no_grad():
        for parameter in parameters:
            parameter.copy_(vec.narrow(0, at, parameter.numel()).view_as(parameter))
            at += parameter.numel()
