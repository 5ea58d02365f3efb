"""What optimizers share: the gradient that they step by, and options in pairs."""

from __future__ import annotations

from typing import Any

import keyway
from keyway._C import Tensor


def gradient_to_use(parameter: Tensor, grad: Tensor, group: dict[str, Any]) -> Tensor:
    """gradient + weight_decay * parameter; if `maximize`, -gradient + weight_decay * parameter. With
    `decoupled_weight_decay` the parameter decays in place instead, by lr * weight_decay of itself."""
    if group["maximize"]:
        grad = grad.neg()
    decay = group.get("weight_decay", 0)
    if decay == 0:
        return grad
    if group.get("decoupled_weight_decay", False):
        parameter.mul_(1 - group["lr"] * decay)
        return grad
    return grad.add(parameter, alpha=decay)


def check_betas(betas: tuple[float, float]) -> None:
    """Raises ValueError for a part of a running mean that is not in [0, 1)."""
    for i, beta in enumerate(betas):
        if not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}; it must be in [0, 1)")


def begin(state: dict[str, Any], parameter: Tensor, *zeros: str, **numbers: float) -> None:
    """Gives an empty state the number of no step, other numbers, and zeros of the parameter's shape by their names."""
    made = {name: scalar(value) for name, value in {"step": 0.0, **numbers}.items()}
    state.update({**made, **{name: keyway.zeros_like(parameter) for name in zeros}})


def scalar(value: float) -> Tensor:
    """A number of an optimizer's state, on the host: float32, or float64 if that is the default dtype."""
    dtype = keyway.float64 if keyway.get_default_dtype() == keyway.float64 else keyway.float32
    return keyway.scalar_tensor(value, dtype=dtype, device="cpu")
