"""Adamax: Adam, scaled by the greatest gradient."""

from __future__ import annotations

from typing import Any

import keyway
from keyway._C import Tensor
from keyway.optim._prepared import begin, check_betas, gradient_to_use
from keyway.optim.optimizer import Optimizer, Params, check_not_negative


class Adamax(Optimizer):
    """With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t:

        m = beta1 * m + (1 - beta1) * g
        u = max(beta2 * u, |g| + eps)
        parameter -= lr / (1 - beta1^t) * m / u
    """

    _counts_steps = True

    def __init__(self, params: Params, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:
        check_not_negative(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                                  "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
                                  "capturable": capturable})

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            begin(state, parameter, "exp_avg", "exp_inf")
        step = state["step"].item() + 1
        grad = gradient_to_use(parameter, grad, group)
        beta1, beta2 = group["betas"]
        mean, greatest = state["exp_avg"], state["exp_inf"]
        mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        greatest = state["exp_inf"] = keyway.maximum(greatest.mul(beta2), grad.abs().add_(group["eps"]))
        parameter.addcdiv_(mean, greatest, value=-group["lr"] / (1 - beta1**step))
