"""Adadelta: steps as long as those before, relative to the gradient."""

from __future__ import annotations

from typing import Any

from keyway._C import Tensor
from keyway.optim._prepared import begin, gradient_to_use
from keyway.optim.optimizer import Optimizer, Params, check_not_negative


class Adadelta(Optimizer):
    """With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter):

        v = rho * v + (1 - rho) * g^2
        d = sqrt(u + eps) / sqrt(v + eps) * g
        u = rho * u + (1 - rho) * d^2
        parameter -= lr * d
    """

    _counts_steps = True
    _may_be_captured = True

    def __init__(self, params: Params, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
                 foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False,
                 differentiable: bool = False) -> None:
        check_not_negative(lr=lr, eps=eps, weight_decay=weight_decay)
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}; it must be in [0, 1]")
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay,
                                  "maximize": maximize, "capturable": capturable, "foreach": foreach,
                                  "differentiable": differentiable})

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            begin(state, parameter, "square_avg", "acc_delta")
        grad = gradient_to_use(parameter, grad, group)
        rho, eps = group["rho"], group["eps"]
        square = state["square_avg"].mul_(rho).addcmul_(grad, grad, value=1 - rho)
        step = state["acc_delta"].add(eps).sqrt_().div(square.add(eps).sqrt_()).mul(grad)
        state["acc_delta"].mul_(rho).addcmul_(step, step, value=1 - rho)
        parameter.add_(step, alpha=-group["lr"])
