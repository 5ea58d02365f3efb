"""Adagrad: steps scaled by all squares of the gradient so far."""

from __future__ import annotations

from typing import Any

import keyway
from keyway._C import Tensor
from keyway.optim._prepared import begin, gradient_to_use
from keyway.optim.optimizer import Optimizer, Params, check_not_negative


class Adagrad(Optimizer):
    """With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t:

        s += g^2                                                     (at first: initial_accumulator_value)
        parameter -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)
    """

    _counts_steps = True

    def __init__(self, params: Params, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
                 initial_accumulator_value: float = 0, eps: float = 1e-10,
                 foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
                 fused: bool | None = None) -> None:
        check_not_negative(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay,
                           initial_accumulator_value=initial_accumulator_value, eps=eps)
        super().__init__(params, {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
                                  "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
                                  "maximize": maximize, "differentiable": differentiable, "fused": fused})

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            begin(state, parameter)
            state["sum"] = keyway.full_like(parameter, group["initial_accumulator_value"])
        step = state["step"].item() + 1
        grad = gradient_to_use(parameter, grad, group)
        total = state["sum"].addcmul_(grad, grad, value=1)
        lr = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        parameter.addcdiv_(grad, total.sqrt().add(group["eps"]), value=-lr)
