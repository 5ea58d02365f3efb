"""RMSprop: steps scaled by a running mean of the gradient's squares."""

from __future__ import annotations

from typing import Any

import keyway
from keyway._C import Tensor
from keyway.optim._prepared import begin, gradient_to_use
from keyway.optim.optimizer import Optimizer, Params, check_not_negative


class RMSprop(Optimizer):
    """With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter):

        v = alpha * v + (1 - alpha) * g^2
        d = g / (sqrt(v) + eps)                  (centered: of v - a^2, with a = alpha * a + (1 - alpha) * g)
        buffer = momentum * buffer + d
        parameter -= lr * (buffer if momentum else d)
    """

    _counts_steps = True
    _may_be_captured = True

    def __init__(self, params: Params, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
                 weight_decay: float = 0, momentum: float = 0, centered: bool = False,
                 capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
                 differentiable: bool = False) -> None:
        check_not_negative(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
                                  "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
                                  "maximize": maximize, "differentiable": differentiable})

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            begin(state, parameter, "square_avg")
            if group["momentum"] > 0:
                state["momentum_buffer"] = keyway.zeros_like(parameter)
            if group["centered"]:
                state["grad_avg"] = keyway.zeros_like(parameter)
        grad = gradient_to_use(parameter, grad, group)
        alpha = group["alpha"]
        square = state["square_avg"].mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"].mul_(alpha).add_(grad, alpha=1 - alpha)
            square = square.sub(mean.mul(mean))
        step = grad.div(square.sqrt().add(group["eps"]))
        if group["momentum"] > 0:
            step = state["momentum_buffer"].mul_(group["momentum"]).add_(step)
        parameter.add_(step, alpha=-group["lr"])
