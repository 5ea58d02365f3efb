"""MultivariateNormal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from keyway import _C, linalg
from keyway._C import Tensor
from keyway._functions.shapes import broadcast_shapes
from keyway.distributions import constraints
from keyway.distributions.distribution import Distribution
from keyway.distributions.utils import lazy_property

__all__ = ["MultivariateNormal"]


class MultivariateNormal(Distribution):
    """Normal vectors with mean `loc` and one of: `covariance_matrix`, its inverse, its lower Cholesky factor."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector

    def __init__(self, loc: Tensor, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
                 scale_tril: Tensor | None = None, validate_args: bool | None = None) -> None:
        matrices = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise _C.ValueError(f"MultivariateNormal: one of {', '.join(matrices)} must be given, not {len(given)}")
        name, matrix = given[0]
        if loc.dim() < 1 or matrix.dim() < 2 or matrix.shape[-2:] != (loc.shape[-1], loc.shape[-1]):
            raise _C.ValueError(f"MultivariateNormal: argument '{name}' has the shape [..., n, n] and 'loc' [..., n], but "
                                f"they are {tuple(matrix.shape)} and {tuple(loc.shape)}")
        batch = broadcast_shapes(loc.shape[:-1], matrix.shape[:-2])
        self.loc = loc.expand([*batch, *loc.shape[-1:]])
        setattr(self, name, matrix.expand([*batch, *matrix.shape[-2:]]))
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)

    @lazy_property
    def scale_tril(self) -> Tensor:
        given = vars(self)
        if "covariance_matrix" in given:
            return linalg.cholesky(self.covariance_matrix)
        return linalg.cholesky(linalg.inv(self.precision_matrix))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        return self.scale_tril @ self.scale_tril.mT

    @lazy_property
    def precision_matrix(self) -> Tensor:
        return linalg.inv(self.covariance_matrix)

    @property
    def mean(self) -> Tensor:
        return self.loc

    mode = mean

    @property
    def variance(self) -> Tensor:
        return self.scale_tril.pow(2).sum(-1)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = _C.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self.scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def _whitened(self, shift: Tensor) -> Tensor:
        """Columns, of which the covariance's factor makes `shift`."""
        return linalg.solve_triangular(self.scale_tril, shift, upper=False)

    def _log_volume(self) -> Tensor:
        """The logarithm of the factor's determinant."""
        return self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        shift = (self._checked(value) - self.loc).unsqueeze(-1)
        square = self._whitened(shift).squeeze(-1).pow(2).sum(-1)
        return -0.5 * (self.loc.shape[-1] * math.log(2 * math.pi) + square) - self._log_volume()

    def entropy(self) -> Tensor:
        return 0.5 * self.loc.shape[-1] * (1 + math.log(2 * math.pi)) + self._log_volume()
