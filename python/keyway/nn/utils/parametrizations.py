"""Parametrizations of weights: by direction and norm, with a greatest singular value of one, and orthogonal."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.nn import functional as F
from keyway.nn.modules.module import Module
from keyway.nn.utils._norms import as_matrix, iterate_power, norm_except, random_unit, spectral_dim, weight_of
from keyway.nn.utils._orthogonal import orthogonal as orthogonal
from keyway.nn.utils.parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    """weight_g * weight_v / |weight_v|, the norm being that of each slice of `dim`, or if that is None, of all."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_of(weight_g, weight_v, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Computes a weight from norms, one for each slice of `dim`, and directions:
    `parametrizations.<name>.original0` and `original1`. Without `dim` there is one norm. Loads what
    nn.utils.weight_norm has saved, too. Returns the module."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: dict[str, Any], prefix: str, *others: Any) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """weight / sigma, its greatest singular value; `_u` and `_v` are the singular vectors that it is estimated with,
    better at each call while training. A weight of one dimension is divided by its norm."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.dim() <= dim < weight.dim():
            raise _C.IndexError(f"Dimension out of range (expected to be in range of [-{weight.dim()}, "
                                f"{weight.dim() - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.dim = dim if dim >= 0 else dim + weight.dim()
        self.eps = eps
        if weight.dim() > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            self.register_buffer("_u", random_unit(matrix, matrix.size(0), eps))
            self.register_buffer("_v", random_unit(matrix, matrix.size(1), eps))
            iterate_power(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            iterate_power(matrix.detach(), self._u, self._v, self.n_power_iterations, self.eps)
        sigma = _C.dot(self._u.clone(), _C.mv(matrix, self._v.clone()))
        return weight.div(sigma)

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> Module:
    """Divides a weight by its greatest singular value, that of the matrix whose rows are the slices of `dim`: 1 for
    transposed convolutions by default, else 0. It is estimated by the power method, with `n_power_iterations` steps at
    each call while training. Returns the module; raises ValueError if it has no parameter or buffer of this name."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    normalisation = _SpectralNorm(weight, n_power_iterations, spectral_dim(module, dim), eps)
    register_parametrization(module, name, normalisation)
    return module
