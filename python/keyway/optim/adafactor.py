"""Adafactor: steps scaled by squares of the gradient, of which matrices keep the means of rows and columns only."""

from __future__ import annotations

import math
from typing import Any

import keyway
from keyway._C import Tensor
from keyway.optim._prepared import begin
from keyway.optim.optimizer import Optimizer, Params


class Adafactor(Optimizer):
    """With g the gradient (its negative if `maximize`), at step t, eps = (eps1, eps2), eps1 that of the dtype if None:

        b = t^beta2_decay,   rho = min(lr, 1 / sqrt(t)),   a = max(eps2, rms(parameter)) * rho
        parameter *= 1 - lr * weight_decay
        row_var += b * (mean of g^2 over the last dimension - row_var);   col_var: over the second last one
        v = row_var col_var / max(mean of row_var, eps1)          (of one dimension: v += b * (g^2 - v))
        u = g / max(sqrt(v), eps1)
        parameter -= a * u / max(1, rms(u) / d)
    """

    _takes_complex = False

    _counts_steps = True

    def __init__(self, params: Params, lr: float = 1e-2, beta2_decay: float = -0.8,
                 eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
                 foreach: bool | None = None, maximize: bool = False) -> None:
        if not lr >= 0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(params, {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d,
                                  "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize})

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            self._fill(state, grad)
        lr, (eps1, eps2) = float(group["lr"]), group["eps"]
        if eps1 is None:
            eps1 = keyway.finfo(parameter.dtype).eps
        step = state["step"].item() + 1
        if group["maximize"]:
            grad = grad.neg()
        part = step ** group["beta2_decay"]
        step_size = max(eps2, _rms(parameter)) * min(lr, 1 / math.sqrt(step))
        if group["weight_decay"] != 0:
            parameter.mul_(1 - lr * group["weight_decay"])
        update = self._squares(grad, state, part, eps1).clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        parameter.add_(update, alpha=-step_size / max(1.0, _rms(update) / group["d"]))

    @staticmethod
    def _fill(state: dict[str, Any], grad: Tensor) -> None:
        begin(state, grad)
        if grad.dim() > 1:
            state["row_var"] = grad.new_zeros([*grad.shape[:-1], 1])
            state["col_var"] = grad.new_zeros([*grad.shape[:-2], 1, grad.size(-1)])
        else:
            state["variance"] = keyway.zeros_like(grad)

    @staticmethod
    def _squares(grad: Tensor, state: dict[str, Any], part: float, eps: float) -> Tensor:
        """What is remembered of the gradient's squares, of its shape."""
        square = grad.square()
        if grad.dim() < 2:
            variance: Tensor = state["variance"].lerp_(square, part)
            return variance.clone()
        rows: Tensor = state["row_var"].lerp_(square.mean(-1, keepdim=True), part)
        columns: Tensor = state["col_var"].lerp_(square.mean(-2, keepdim=True), part)
        return rows.matmul(columns).div_(rows.mean(-2, keepdim=True).clamp_(min=eps))


def _rms(tensor: Tensor) -> float:
    return float(keyway.linalg_vector_norm(tensor)) / math.sqrt(tensor.numel()) if tensor.numel() > 0 else 0.0
