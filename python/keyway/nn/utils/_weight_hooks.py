"""Weights that a module computes from other parameters before each call: the older form of parametrizations."""

from __future__ import annotations

from typing import Any, TypeVar

import keyway
from keyway import _C
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter
from keyway.nn.utils._norms import as_matrix, iterate_power, norm_except, random_unit, spectral_dim, weight_of

M = TypeVar("M", bound=Module)


class WeightNorm:
    """The hook of weight_norm()."""

    def __init__(self, name: str, dim: int) -> None:
        self.name = name
        self.dim = dim

    def compute_weight(self, module: Module) -> Any:
        return weight_of(getattr(module, self.name + "_g"), getattr(module, self.name + "_v"), self.dim)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


class SpectralNorm:
    """The hook of spectral_norm()."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            iterate_power(matrix.detach().t(), v, u, self.n_power_iterations, self.eps)
        result: Tensor = weight.div(_C.dot(u.clone(), _C.mv(matrix, v.clone())))
        return result

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def _hook_of(module: Module, kind: Any, name: str) -> tuple[int, Any] | None:
    """The hook of this kind that computes the weight of this name, and its number."""
    for number, (hook, _) in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return number, hook
    return None


def _check_first(module: Module, kind: Any, name: str, what: str) -> None:
    if _hook_of(module, kind, name) is not None:
        raise keyway.Error(f"Cannot register two {what} hooks on the same parameter {name}")


def _take_hook(module: Module, kind: Any, name: str, what: str) -> Any:
    found = _hook_of(module, kind, name)
    if found is None:
        raise ValueError(f"{what} of '{name}' not found in {module}")
    del module._forward_pre_hooks[found[0]]
    return found[1]


def _weight_of(module: Module, name: str) -> Parameter:
    weight = module._parameters.get(name)
    if weight is None:
        raise ValueError(f"{type(module).__name__} has no parameter '{name}'")
    return weight


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Replaces a weight by two parameters: <name>_g, the norm of each slice of `dim`, or without it of all, and
    <name>_v, the direction. The weight is computed before each call. Returns the module.

    Raises keyway.Error if that is done already, ValueError if there is no such parameter.
    """
    _check_first(module, WeightNorm, name, "weight_norm")
    hook = WeightNorm(name, -1 if dim is None else dim)
    weight = _weight_of(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_except(weight.detach(), hook.dim)))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Makes a weight that weight_norm() has replaced a parameter again. Returns the module; raises ValueError if it has
    none."""
    hook = _take_hook(module, WeightNorm, name, "weight_norm")
    weight = hook.compute_weight(module)
    for member in (name, name + "_g", name + "_v"):
        delattr(module, member)
    setattr(module, name, Parameter(weight.detach()))
    return module


def spectral_norm(module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> M:
    """Has a weight divided by its greatest singular value before each call: the parameter is <name>_orig, and <name>_u
    and <name>_v are buffers, the singular vectors, which each call while training improves. `dim` is as in
    parametrizations.spectral_norm. Returns the module.

    Raises keyway.Error if that is done already, ValueError for no such parameter or no positive number of iterations.
    """
    _check_first(module, SpectralNorm, name, "spectral_norm")
    if n_power_iterations <= 0:
        raise ValueError("Expected n_power_iterations to be positive, but got "
                         f"n_power_iterations={n_power_iterations}")
    hook = SpectralNorm(name, n_power_iterations, spectral_dim(module, dim), eps)
    weight = _weight_of(module, name)
    matrix = as_matrix(weight.detach(), hook.dim)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(name + "_u", random_unit(matrix, matrix.size(0), eps))
    module.register_buffer(name + "_v", random_unit(matrix, matrix.size(1), eps))
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Makes a weight that spectral_norm() divides a parameter again, with the value it has. Returns the module; raises
    ValueError if it has none."""
    hook = _take_hook(module, SpectralNorm, name, "spectral_norm")
    with no_grad():
        weight = hook.compute_weight(module, False)
    for member in (name, name + "_u", name + "_v", name + "_orig"):
        delattr(module, member)
    module.register_parameter(name, Parameter(weight.detach()))
    return module
