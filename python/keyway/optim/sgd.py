"""SGD: stochastic gradient descent, with momentum if asked for."""

from __future__ import annotations

from typing import Any

from keyway._C import Tensor
from keyway.optim.optimizer import Optimizer, Params, check_not_negative


class SGD(Optimizer):
    """With g = gradient + weight_decay * parameter (of the gradient's negative if `maximize`):

        buffer = momentum * buffer + (1 - dampening) * g      (at first: g)
        parameter -= lr * (g + momentum * buffer if nesterov else buffer)
    """

    def __init__(self, params: Params, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
                 weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False) -> None:
        check_not_negative(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
                                  "nesterov": nesterov, "maximize": maximize})

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if group["maximize"]:
            grad = grad.neg()
        if group["weight_decay"] != 0:
            grad = grad.add(parameter, alpha=group["weight_decay"])
        momentum = group["momentum"]
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        parameter.add_(grad, alpha=-group["lr"])
