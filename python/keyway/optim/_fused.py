"""Which parameters an optimizer changes together, with one fused operator."""

from __future__ import annotations

from typing import Any, Callable

from keyway import _C
from keyway._C import Tensor


FusedSet = tuple[list[Tensor], list[Tensor]]  # parameters and their gradients


def take_fused(
    group: dict[str, Any], kind: Callable[[Tensor], Any] = lambda parameter: None
) -> tuple[list[FusedSet], list[Tensor]]:
    """Those of a group's parameters that have a gradient, in sets of one dtype and one `kind`; and the other ones.

    Fused operators take floating-point parameters on the CPU. Raises keyway.ValueError where the group's "fused" is set
    and a parameter is no such; without it, these are left. With fused=False, or where the step is differentiated, all
    are.
    """
    fused = False if group.get("differentiable") else group.get("fused")
    sets: dict[Any, FusedSet] = {}
    others = []
    for parameter in group["params"]:
        grad = parameter.grad
        if grad is not None and fused is not False and _is_fusable(parameter, grad):
            parameters, grads = sets.setdefault((parameter.dtype, kind(parameter)), ([], []))
            parameters.append(parameter)
            grads.append(grad)
        elif grad is not None and fused:
            raise _C.ValueError(f"fused=True is there for floating-point parameters on the CPU, not for a "
                                f"{parameter.dtype} on {parameter.device}")
        else:
            others.append(parameter)
    return list(sets.values()), others


def _is_fusable(parameter: Tensor, grad: Tensor) -> bool:
    return parameter.is_cpu and parameter.is_floating_point() and grad.dtype == parameter.dtype
