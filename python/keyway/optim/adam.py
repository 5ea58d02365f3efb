"""Adam and AdamW: steps scaled by running moments of each gradient."""

from __future__ import annotations

import math
from typing import Any

import keyway
from keyway import _C
from keyway._C import Tensor
from keyway.optim._fused import check_may_make_state, check_states_are_with, count_steps, take_fused, takes_all
from keyway.optim._prepared import begin, check_betas, gradient_to_use
from keyway.optim.optimizer import Optimizer, Params, check_not_negative


class Adam(Optimizer):
    """With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t:

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2                     (amsgrad: the largest v so far is used)
        parameter -= lr * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

    With `decoupled_weight_decay`, g = gradient, after parameter *= 1 - lr * weight_decay. `fused` is that of SGD; a
    fused step counts t in float32, on the parameter's device.
    """

    _counts_steps = True

    def __init__(self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None,
                 maximize: bool = False, capturable: bool = False, differentiable: bool = False,
                 fused: bool | None = None, decoupled_weight_decay: bool = False) -> None:
        check_not_negative(lr=lr, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                                  "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
                                  "capturable": capturable, "differentiable": differentiable, "fused": fused,
                                  "decoupled_weight_decay": decoupled_weight_decay})

    def _update_fused(self, group: dict[str, Any]) -> list[Tensor]:
        sets, others = take_fused(group, _operators(group))
        states_of = [[self._fused_state(parameter, group) for parameter in parameters] for parameters, _ in sets]
        for (parameters, _), states in zip(sets, states_of):
            check_states_are_with(parameters, [state["exp_avg"] for state in states])
        operator = _C._fused_adamw_ if group["decoupled_weight_decay"] else _C._fused_adam_
        for (parameters, grads), states in zip(sets, states_of):
            steps = [state["step"] for state in states]
            grad_scale, found_inf = self._scaling_on(parameters[0].device)
            count_steps(steps, found_inf)
            try:
                operator(parameters, grads, [state["exp_avg"] for state in states],
                         [state["exp_avg_sq"] for state in states],
                         [state["max_exp_avg_sq"] for state in states] if group["amsgrad"] else [], steps,
                         lr=group["lr"], beta1=group["betas"][0], beta2=group["betas"][1],
                         weight_decay=group["weight_decay"], eps=group["eps"], amsgrad=group["amsgrad"],
                         maximize=group["maximize"], grad_scale=grad_scale, found_inf=found_inf)
            except BaseException:  # one that raises is no step
                count_steps(steps, found_inf, -1.0)
                raise
        return others

    def _takes_grad_scale(self) -> bool:
        return all(takes_all(group, _operators(group)) for group in self.param_groups)

    def _fused_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """The state of a parameter, begun if it is empty, with the number of the step where a fused operator reads it.

        Raises keyway.Error where it is made in a capture.
        """
        state = self.state[parameter]
        step = state.get("step")
        if step is None or step.device != parameter.device or step.dtype != _C.float32 or step.dim() != 0:
            check_may_make_state(parameter)
            step = _filled(state, parameter, group)["step"]
            state["step"] = step.to(device=parameter.device, dtype=_C.float32).reshape(())
        return state

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        state = _filled(state, parameter, group)
        grad = gradient_to_use(parameter, grad, group)
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.mul_(beta1).add_(grad, alpha=1 - beta1)  # as the fused operator rounds
        square.mul_(beta2).add_(grad.mul(grad), alpha=1 - beta2)
        if group["amsgrad"]:
            square = state["max_exp_avg_sq"] = keyway.maximum(state["max_exp_avg_sq"], square)
        step = state["step"].item() + 1
        correction = math.sqrt(1 - beta2**step)
        denominator = square.sqrt().div(correction).add_(group["eps"])
        parameter.add_(mean.div(denominator), alpha=-group["lr"] / (1 - beta1**step))


def _operators(group: dict[str, Any]) -> tuple[str, ...]:
    """What a fused step calls."""
    return "_fused_adamw_" if group["decoupled_weight_decay"] else "_fused_adam_", "_foreach_add_.Scalar", "_fused_sgd_"


def _filled(state: dict[str, Any], parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
    """The state of a parameter, begun if it is empty."""
    if not state:
        begin(state, parameter, "exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else []))
    return state


class AdamW(Adam):
    """Adam with `decoupled_weight_decay`."""

    _FIXED = {"decoupled_weight_decay": True}

    def __init__(self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False,
                 foreach: bool | None = None, capturable: bool = False, differentiable: bool = False,
                 fused: bool | None = None) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused,
                         decoupled_weight_decay=True)
