"""ASGD: stochastic gradient descent, and the average of where it went."""

from __future__ import annotations

from typing import Any

from keyway._C import Tensor
from keyway.optim._prepared import begin, gradient_to_use
from keyway.optim.optimizer import Optimizer, Params, check_not_negative


class ASGD(Optimizer):
    """With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t:

        parameter = parameter * (1 - lambd * eta) - eta * g           (eta at first: lr)
        eta = lr / (1 + lambd * lr * t)^alpha

    state["ax"] is the average of the parameter since step `t0`, and before that the parameter.
    """

    _NUMBERS = ("step", "eta", "mu")
    _counts_steps = True

    def __init__(self, params: Params, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
                 weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:
        check_not_negative(lr=lr, weight_decay=weight_decay)
        super().__init__(params, {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
                                  "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
                                  "capturable": capturable})

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            begin(state, parameter, "ax", eta=float(group["lr"]), mu=1.0)
        step = state["step"].item() + 1
        grad = gradient_to_use(parameter, grad, group)
        eta, mu = state["eta"].item(), state["mu"].item()
        parameter.mul_(1 - group["lambd"] * eta).add_(grad, alpha=-eta)
        average = state["ax"]
        if mu == 1:
            average.copy_(parameter)
        else:
            average.add_(parameter.sub(average), alpha=mu)
        state["eta"].fill_(group["lr"] / (1 + group["lambd"] * group["lr"] * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))
