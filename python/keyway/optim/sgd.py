"""SGD: stochastic gradient descent, with momentum if asked for."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.optim._fused import check_may_make_state, check_states_are_with, take_fused, takes_all
from keyway.optim._prepared import gradient_to_use
from keyway.optim.optimizer import Optimizer, Params, check_not_negative

_OPERATORS = ("_fused_sgd_",)  # what a fused step calls


class SGD(Optimizer):
    """With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter):

        buffer = momentum * buffer + (1 - dampening) * g      (at first: g)
        parameter -= lr * (g + momentum * buffer if nesterov else buffer)

    One operator changes all parameters of a device and dtype together: those that it can, which are floating-point ones
    on devices that it has a kernel for, or with `fused`, all, else keyway.ValueError is raised; with fused=False, none.
    """

    _may_be_captured = True

    def __init__(self, params: Params, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
                 weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
                 foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None) -> None:
        check_not_negative(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
                                  "nesterov": nesterov, "maximize": maximize, "foreach": foreach,
                                  "differentiable": differentiable, "fused": fused})

    def _lacks_momentum(self, parameter: Tensor, group: dict[str, Any]) -> bool:
        return self._lacks_state(group, self.state.get(parameter, {}))

    def _lacks_state(self, group: dict[str, Any], state: dict[str, Any]) -> bool:
        return group["momentum"] != 0 and state.get("momentum_buffer") is None

    def _takes_grad_scale(self) -> bool:
        # Momentum that may not have begun is a zero, which dampening tells from none.
        return all(takes_all(group, _OPERATORS) and (group["dampening"] == 0 or not any(
            self._lacks_momentum(parameter, group) for parameter in group["params"] if parameter.grad is not None))
            for group in self.param_groups)

    def _update_fused(self, group: dict[str, Any]) -> list[Tensor]:
        momentum = group["momentum"]
        if momentum == 0:
            sets, others = take_fused(group, _OPERATORS)
        else:
            sets, others = take_fused(group, _OPERATORS, lambda parameter: self._lacks_momentum(parameter, group))
            for parameters, _ in sets:
                if self._lacks_momentum(parameters[0], group):
                    check_may_make_state(parameters[0])
                else:
                    check_states_are_with(parameters, [self.state[p]["momentum_buffer"] for p in parameters])
        for parameters, grads in sets:
            first = self._lacks_momentum(parameters[0], group)
            buffers = []
            if momentum != 0:  # at first zeros: the step may be left out, by found_inf
                buffers = [_C.zeros_like(p) if first else self.state[p]["momentum_buffer"] for p in parameters]
            grad_scale, found_inf = self._scaling_on(parameters[0].device)
            _C._fused_sgd_(parameters, grads, buffers, lr=group["lr"], momentum=momentum,
                           dampening=group["dampening"], weight_decay=group["weight_decay"],
                           nesterov=group["nesterov"], maximize=group["maximize"], is_first_step=first,
                           grad_scale=grad_scale, found_inf=found_inf)
            if first:
                for parameter, buffer in zip(parameters, buffers):
                    self.state[parameter]["momentum_buffer"] = buffer
        return others

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        grad = gradient_to_use(parameter, grad, group)
        momentum = group["momentum"]
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = (grad if group["differentiable"] else grad.detach()).clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        parameter.add_(grad, alpha=-group["lr"])
