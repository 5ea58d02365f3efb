"""Weights by their norms: what weight and spectral normalisation compute."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway._functions.layer_forms import norm_except_dim
from keyway.autograd.grad_mode import no_grad
from keyway.nn import functional as F
from keyway.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d


def norm_except(v: Tensor, dim: int) -> Tensor:
    """The norms of the slices of a dimension, of size 1 in all others; of -1, that of the whole tensor."""
    if not -1 <= dim < v.dim():
        raise _C.IndexError(f"weight_norm: dim is {dim}, but the weight has {v.dim()} dimensions")
    return norm_except_dim(v, 2, dim)


def weight_of(g: Tensor, v: Tensor, dim: int) -> Tensor:
    """v, each slice of which is scaled to the norm that `g` has for it."""
    return v.mul(g.div(norm_except(v, dim)))


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The slices of a dimension as rows."""
    return weight.movedim(dim, 0).reshape(weight.size(dim), -1)


def random_unit(like: Tensor, size: int, eps: float) -> Tensor:
    """A vector of norm 1 in a random direction."""
    with no_grad():
        return F.normalize(like.new_empty([size]).normal_(0, 1), dim=0, eps=eps)


def iterate_power(matrix: Tensor, u: Tensor, v: Tensor, steps: int, eps: float) -> None:
    """Turns `u` and `v`, in place, towards the singular vectors of the greatest singular value."""
    with no_grad():
        for _ in range(steps):
            u.copy_(F.normalize(_C.mv(matrix, v), dim=0, eps=eps))
            v.copy_(F.normalize(_C.mv(matrix.t(), u), dim=0, eps=eps))


def spectral_dim(module: Any, dim: int | None) -> int:
    """The dimension of a layer's outputs, unless it is given."""
    if dim is not None:
        return dim
    return 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
