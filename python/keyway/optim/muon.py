"""Muon: momentum made orthogonal, for weights of two dimensions."""

from __future__ import annotations

import math
from typing import Any

import keyway
from keyway._C import Tensor
from keyway.optim.optimizer import Optimizer, Params

_ADJUSTMENTS = ("original", "match_rms_adamw", "spectral_unclamped")


class Muon(Optimizer):
    """With g the gradient of a parameter [A, B]:

        m += (1 - momentum) * (g - m)
        u = g + momentum * (m - g)  if `nesterov`, else m
        u = u made nearly orthogonal, by `ns_steps` Newton-Schulz iterations in bfloat16
        parameter *= 1 - lr * weight_decay
        parameter -= lr * r * u

    r is sqrt(max(1, A / B)) for adjust_lr_fn None or "original", 0.2 * sqrt(max(A, B)) for "match_rms_adamw", and
    sqrt(A / B) for "spectral_unclamped".
    """

    _may_be_captured = True

    _takes_complex = False

    def __init__(self, params: Params, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
                 nesterov: bool = True, ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
                 eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None) -> None:
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn is not None and adjust_lr_fn not in _ADJUSTMENTS:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
                                  "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
                                  "adjust_lr_fn": adjust_lr_fn})
        for parameter in self._all_parameters():
            if parameter.dim() != 2:
                raise ValueError("Muon only supports 2D parameters whereas we found a parameter with size: "
                                 f"{tuple(parameter.shape)}")

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            state["momentum_buffer"] = keyway.zeros_like(grad)
        lr, momentum = float(group["lr"]), group["momentum"]
        buffer: Tensor = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        parameter.mul_(1 - lr * group["weight_decay"])
        parameter.add_(update, alpha=-lr * _ratio(group["adjust_lr_fn"], *parameter.shape))


def _ratio(adjustment: str | None, rows: int, columns: int) -> float:
    if adjustment == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    ratio = rows / columns
    return math.sqrt(ratio if adjustment == "spectral_unclamped" else max(1.0, ratio))


def _orthogonal(matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """A matrix of the same singular vectors, and of singular values near 1: a x + b x^3 + c x^5 of them, repeated."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    x = matrix.bfloat16()
    is_tall = x.size(0) > x.size(1)
    x = x.t() if is_tall else x
    x = x.div(keyway.linalg_vector_norm(x).clamp(min=eps))
    for _ in range(steps):
        gram = x.matmul(x.t())
        polynomial = keyway.addmm(gram, gram, gram, beta=b, alpha=c)
        x = keyway.addmm(x, polynomial, x, beta=a)
    return x.t() if is_tall else x
