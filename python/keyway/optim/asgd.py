"""ASGD: stochastic gradient descent, and the average of where it went."""

from __future__ import annotations

from typing import Any

import keyway
from keyway._C import Tensor
from keyway.optim._prepared import gradient_to_use, step_number
from keyway.optim.optimizer import Optimizer, Params, check_not_negative, ways


class ASGD(Optimizer):
    """With g = gradient + weight_decay * parameter (of the gradient's negative if `maximize`), at step t:

        parameter = parameter * (1 - lambd * eta) - eta * g           (eta at first: lr)
        eta = lr / (1 + lambd * lr * t)^alpha

    state["ax"] is the average of the parameter since step `t0`, and before that the parameter.
    """

    def __init__(self, params: Params, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
                 weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:
        check_not_negative(lr=lr, weight_decay=weight_decay)
        super().__init__(params, {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
                                  "maximize": maximize,
                                  **ways(foreach=foreach, capturable=capturable, differentiable=differentiable)})

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            state["step"] = step_number()
            state["eta"] = group["lr"]
            state["mu"] = 1.0
            state["ax"] = keyway.zeros_like(parameter)
        step = state["step"].add_(1).item()
        grad = gradient_to_use(parameter, grad, group)
        parameter.mul_(1 - group["lambd"] * state["eta"]).add_(grad, alpha=-state["eta"])
        average = state["ax"]
        if state["mu"] == 1:
            average.copy_(parameter)
        else:
            average.add_(parameter.sub(average), alpha=state["mu"])
        state["eta"] = group["lr"] / (1 + group["lambd"] * group["lr"] * step) ** group["alpha"]
        state["mu"] = 1 / max(1, step - group["t0"])
