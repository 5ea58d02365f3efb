"""Which parameters an optimizer changes together, with one fused operator, and what such operators take."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from keyway import _C
from keyway._backends import get_device_module
from keyway._C import Tensor


FusedSet = tuple[list[Tensor], list[Tensor]]  # parameters and their gradients


def take_fused(
    group: dict[str, Any], operators: Sequence[str], kind: Callable[[Tensor], Any] = lambda parameter: None
) -> tuple[list[FusedSet], list[Tensor]]:
    """Those of a group's parameters that have a gradient, in sets of one device, one dtype and one `kind`; and the
    other ones.

    Fused are floating-point parameters on devices for which each of `operators`, which the step calls, has a kernel.
    Raises keyway.ValueError where the group's "fused" is set and a parameter is no such; without it, these are left.
    With fused=False, or where the step is differentiated, all are.
    """
    may_be = _may_be_fused(group)
    has_kernels = _Kernels(operators)
    sets: dict[Any, FusedSet] = {}
    others = []
    for parameter in group["params"]:
        grad = parameter.grad
        if grad is not None and may_be and _is_fusable(parameter, grad, has_kernels):
            device = parameter.is_cpu or parameter.device  # a device costs some time to make
            parameters, grads = sets.setdefault((device, parameter.dtype, kind(parameter)), ([], []))
            parameters.append(parameter)
            grads.append(grad)
        elif grad is not None and may_be and group.get("fused"):
            raise _C.ValueError(f"fused=True is there for floating-point parameters on devices with a kernel of "
                                f"{' and '.join(operators)}, with gradients of their dtype there, not for a "
                                f"{parameter.dtype} on {parameter.device} with a gradient of {grad.dtype} on "
                                f"{grad.device}")
        else:
            others.append(parameter)
    return list(sets.values()), others


def takes_all(group: dict[str, Any], operators: Sequence[str]) -> bool:
    """Whether take_fused() takes each of a group's parameters that has a gradient."""
    with_grad = [parameter for parameter in group["params"] if parameter.grad is not None]
    has_kernels = _Kernels(operators)
    return not with_grad or (_may_be_fused(group) and all(_is_fusable(p, p.grad, has_kernels) for p in with_grad))


def count_steps(steps: list[Tensor], found_inf: Tensor | None, more: float = 1.0) -> None:
    """Adds to the numbers of steps, float32 of no dimensions on one device, unless `found_inf` there is 1."""
    if found_inf is None:
        _C._foreach_add_(steps, more)
        return
    # Only operators of steps read found_inf on the device: each number takes one of SGD, by a gradient of 1.
    one = _C.ones((), dtype=_C.float32, device=steps[0].device)
    _C._fused_sgd_(steps, [one] * len(steps), [], lr=-more, momentum=0.0, dampening=0.0, weight_decay=0.0,
                   nesterov=False, maximize=False, is_first_step=True, found_inf=found_inf)


def check_may_make_state(parameter: Tensor) -> None:
    """Raises keyway.Error in a capture: what an optimizer makes in its first step, each replay would make anew."""
    if is_captured(parameter):
        raise _C.Error("the first step makes the optimizer's state, which is no part of a graph: take a step before "
                       "one is captured")


def is_captured(parameter: Tensor) -> bool:
    """Whether what is computed with a parameter now goes into a graph of its device."""
    if parameter.is_cpu or parameter.is_meta:
        return False
    devices = get_device_module(parameter.device)
    with devices.device(parameter.device):
        return bool(devices.is_current_stream_capturing())


def check_states_are_with(parameters: list[Tensor], values: list[Tensor]) -> None:
    """Raises keyway.ValueError where what is remembered of parameters, which are on one device, lies on another."""
    device = parameters[0].device
    for value in values:
        if value.device != device:
            raise _C.ValueError(f"a parameter is on {device}, but the optimizer's state of it on {value.device}: "
                                "optimizer.load_state_dict(optimizer.state_dict()) moves it there")


def _may_be_fused(group: dict[str, Any]) -> bool:
    return group.get("fused") is not False and not group.get("differentiable")


class _Kernels(dict[str, bool]):
    """Whether each of some operators has a kernel of its own for a device type."""

    def __init__(self, operators: Sequence[str]) -> None:
        super().__init__()
        self._operators = operators

    def __missing__(self, device_type: str) -> bool:
        key = device_type.upper()
        self[device_type] = all(_C._explain_slot(f"keyway::{name}", key) == "direct kernel" for name in self._operators)
        return self[device_type]


def _is_fusable(parameter: Tensor, grad: Tensor, has_kernels: _Kernels) -> bool:
    is_there = grad.is_cpu if parameter.is_cpu else grad.device == parameter.device and not parameter.is_meta
    return (is_there and parameter.is_floating_point() and grad.dtype == parameter.dtype
            and has_kernels["cpu" if parameter.is_cpu else parameter.device.type])
