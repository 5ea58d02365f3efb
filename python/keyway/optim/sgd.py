"""SGD: stochastic gradient descent, with momentum if asked for."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.optim._fused import take_fused
from keyway.optim.optimizer import Optimizer, Params, check_not_negative, ways


class SGD(Optimizer):
    """With g = gradient + weight_decay * parameter (of the gradient's negative if `maximize`):

        buffer = momentum * buffer + (1 - dampening) * g      (at first: g)
        parameter -= lr * (g + momentum * buffer if nesterov else buffer)

    One operator changes all parameters together: those that it can, or with `fused`, all, else keyway.ValueError is
    raised; with fused=False, none.
    """

    def __init__(self, params: Params, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
                 weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
                 foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None) -> None:
        check_not_negative(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
                                  "nesterov": nesterov, "maximize": maximize,
                                  **ways(foreach=foreach, differentiable=differentiable, fused=fused)})

    def _update_fused(self, group: dict[str, Any]) -> list[Tensor]:
        momentum = group["momentum"]

        def is_first(parameter: Tensor) -> bool:
            return momentum != 0 and self.state[parameter].get("momentum_buffer") is None

        sets, others = take_fused(group, is_first)
        for parameters, grads in sets:
            first = is_first(parameters[0])
            if first:
                for parameter in parameters:
                    self.state[parameter]["momentum_buffer"] = _C.empty_like(parameter)
            buffers = [self.state[parameter]["momentum_buffer"] for parameter in parameters] if momentum != 0 else []
            _C._fused_sgd_(parameters, grads, buffers, lr=group["lr"], momentum=momentum,
                           dampening=group["dampening"], weight_decay=group["weight_decay"],
                           nesterov=group["nesterov"], maximize=group["maximize"], is_first_step=first)
        return others

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
