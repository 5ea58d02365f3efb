"""Rprop: steps by the signs of gradients alone."""

from __future__ import annotations

from typing import Any

import keyway
from keyway._C import Tensor
from keyway.optim._prepared import begin, gradient_to_use
from keyway.optim.optimizer import Optimizer, Params, check_not_negative


class Rprop(Optimizer):
    """With g = gradient (its negative if `maximize`), and a size of step for each element, at first `lr`:

        size *= etas[1] where g has the sign that it had, etas[0] where it has the other; held between `step_sizes`
        g = 0 where it has the other sign
        parameter -= size * sign(g)
    """

    _counts_steps = True
    _may_be_captured = True

    def __init__(self, params: Params, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
                 step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
                 foreach: bool | None = None, maximize: bool = False, differentiable: bool = False) -> None:
        check_not_negative(lr=lr)
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}; they must be below and above 1")
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
                                  "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            begin(state, parameter, "prev")
            state["step_size"] = keyway.full_like(parameter, group["lr"])
        grad = gradient_to_use(parameter, grad, group)
        product = grad.mul(state["prev"])
        lower, higher = group["etas"]
        factor = keyway.ones_like(grad).masked_fill_(product.gt(0), higher).masked_fill_(product.lt(0), lower)
        size = state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(product.lt(0), 0)
        parameter.sub_(grad.sign().mul_(size))
        state["prev"].copy_(grad)
