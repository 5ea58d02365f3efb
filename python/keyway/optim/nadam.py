"""NAdam: Adam that looks ahead along its momentum."""

from __future__ import annotations

import math
from typing import Any

from keyway._C import Tensor
from keyway.optim._prepared import begin, check_betas, gradient_to_use
from keyway.optim.optimizer import Optimizer, Params, check_not_negative


class NAdam(Optimizer):
    """With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t,
    with mu(t) = beta1 * (1 - 0.96^(t * momentum_decay) / 2) and p(t) = mu(1) * ... * mu(t):

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        d = sqrt(v / (1 - beta2^t)) + eps
        parameter -= lr * ((1 - mu(t)) / (1 - p(t)) * g + mu(t + 1) / (1 - p(t + 1)) * m) / d

    With `decoupled_weight_decay`, g = gradient, after parameter *= 1 - lr * weight_decay.
    """

    _NUMBERS = ("step", "mu_product")
    _counts_steps = True

    def __init__(self, params: Params, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
                 foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
                 differentiable: bool = False) -> None:
        check_not_negative(lr=lr, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                                  "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
                                  "maximize": maximize, "foreach": foreach, "capturable": capturable,
                                  "differentiable": differentiable})

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            begin(state, parameter, "exp_avg", "exp_avg_sq", mu_product=1.0)
        step = state["step"].item() + 1
        grad = gradient_to_use(parameter, grad, group)
        beta1, beta2 = group["betas"]
        momentum, following = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        mu_product = state["mu_product"].mul(momentum)
        product, lr = mu_product.item(), group["lr"]
        mean = state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
        square = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = square.sqrt().div(math.sqrt(1 - beta2**step)).add_(group["eps"])
        parameter.addcdiv_(grad, denominator, value=-lr * (1 - momentum) / (1 - product))
        parameter.addcdiv_(mean, denominator, value=-lr * following / (1 - product * following))
        state["mu_product"].copy_(mu_product)
