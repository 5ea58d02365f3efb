"""RAdam: Adam, without its scaling as long as that is not known well."""

from __future__ import annotations

import math
from typing import Any

from keyway._C import Tensor
from keyway.optim._prepared import begin, check_betas, gradient_to_use
from keyway.optim.optimizer import Optimizer, Params, check_not_negative


class RAdam(Optimizer):
    """With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t,
    with r = 2 / (1 - beta2) - 1 and q = r - 2 * t * beta2^t / (1 - beta2^t):

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        d = sqrt((1 - beta2^t) * (q - 4) * (q - 2) * r / ((r - 4) * (r - 2) * q)) / (sqrt(v) + eps), and 1 unless q > 5
        parameter -= lr * m / (1 - beta1^t) * d

    With `decoupled_weight_decay`, g = gradient, after parameter *= 1 - lr * weight_decay.
    """

    _counts_steps = True

    def __init__(self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
                 maximize: bool = False, capturable: bool = False, differentiable: bool = False) -> None:
        check_not_negative(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                                  "maximize": maximize, "foreach": foreach, "capturable": capturable,
                                  "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable})

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            begin(state, parameter, "exp_avg", "exp_avg_sq")
        step = state["step"].item() + 1
        grad = gradient_to_use(parameter, grad, group)
        beta1, beta2 = group["betas"]
        mean = state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
        square = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        correction = 1 - beta2**step
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * step * beta2**step / correction
        lr = group["lr"] / (1 - beta1**step)
        if length <= 5:
            parameter.add_(mean, alpha=-lr)
            return
        rate = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
        parameter.addcdiv_(mean, square.sqrt().add(group["eps"]), value=-lr * math.sqrt(rate * correction))
