"""A parametrization of weights by matrices with orthonormal columns, or rows where there are more columns than rows."""

from __future__ import annotations

from typing import Any

import keyway
from keyway import _C
from keyway._C import Tensor
from keyway.nn.modules.module import Module
from keyway.nn.utils.parametrize import register_parametrization

_MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """Of the part of the original below its diagonal, n x k: the first k columns of exp(A) or of the Cayley transform
    (I - A/2)^-1 (I + A/2), A being skew-Hermitian with that part; or the product of k Householder reflections, its
    columns multiplied by the signs on the original's diagonal. From the left it is multiplied by `base`, if that is there:
    an orthogonal matrix with the weight that was set (Lezcano-Casado, Trivializations for Gradient-Based Optimization on
    Manifolds, 2019)."""

    base: Tensor | None

    def __init__(self, kind: str, weight: Tensor, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and kind == "householder":
            raise ValueError("the householder parametrization does not support complex tensors")
        self.kind = kind
        self.is_wide = weight.size(-2) < weight.size(-1)
        self.has_base = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        tall = X.mT if self.is_wide else X
        Q = self._reflected(tall) if self.kind == "householder" else self._rotated(tall.tril(-1))
        if self.has_base and self.base is not None:
            Q = self.base.matmul(Q)
        return Q.mT if self.is_wide else Q

    def _reflected(self, X: Tensor) -> Tensor:
        below = X.tril(-1)
        tau = 2 / (1 + below.square().sum(-2))
        return keyway.linalg.householder_product(below, tau) * X.diagonal(0, -2, -1).detach().sign().unsqueeze(-2)

    def _rotated(self, below: Tensor) -> Tensor:
        n, k = below.shape[-2:]
        square = _C.cat([below, below.new_zeros([*below.shape[:-1], n - k])], -1) if k < n else below
        A = square - square.mH
        if self.kind == "matrix_exp":
            return _C.matrix_exp(A)[..., :k]
        identity = _C.eye(n, dtype=A.dtype, device=A.device)
        return keyway.linalg.solve(identity - A / 2, identity + A / 2)[..., :k]

    def right_inverse(self, weight: Tensor) -> Tensor:
        tall = weight.mT if self.is_wide else weight
        if self.has_base:
            Q, R = keyway.linalg.qr(tall, "complete")
            k = tall.size(-1)
            signs = _phases(R.diagonal(0, -2, -1)).unsqueeze(-2)
            self.base = _C.cat([Q[..., :k] * signs, Q[..., k:]], -1)
            X = _C.zeros_like(tall)
            X.diagonal(0, -2, -1).fill_(-1)  # which reflects each column twice, and is nothing below the diagonal
        elif self.kind == "householder":
            X, tau = _C.geqrf(tall)
            upper = X.diagonal(0, -2, -1)
            signs = upper.sign()
            # A column whose tau is 0 was left as it is; the map, which has none such, reflects it.
            upper.copy_(_C.where(tau == 0, signs.neg(), signs))
        else:
            raise NotImplementedError(f"a weight cannot be set where it is computed by {self.kind} without "
                                      "use_trivialization=True")
        return X.mT.clone() if self.is_wide else X


def _phases(numbers: Tensor) -> Tensor:
    """Numbers of size 1 in the direction of these; 1 for 0."""
    return _C.where(numbers == 0, _C.ones_like(numbers), numbers.sgn())


def orthogonal(module: Module, name: str = "weight", orthogonal_map: str | None = None, *,
               use_trivialization: bool = True) -> Module:
    """Has a weight [..., n, k] computed as a matrix with orthonormal columns, Q^H Q = I, or with orthonormal rows if
    n < k. Returns the module.

    `orthogonal_map`: "matrix_exp" or "cayley" of a skew-Hermitian matrix, or "householder", a product of reflections for
    real weights; by default matrix_exp for square and complex weights, and householder for others. The weight begins as
    the orthogonal factor of its QR decomposition, and can be set; but without `use_trivialization`, which keeps a matrix
    `base` that the map begins at, householder alone can, and the others begin at what they make of the weight's numbers.
    Raises ValueError for weights that are no matrices, for another map, and for complex weights with householder.
    """
    weight: Any = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        is_rotated = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if is_rotated else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    made = _Orthogonal(orthogonal_map, weight, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
