"""Probability distributions under PyTorch's names: samples, densities, moments, entropies and divergences.

>>> normal = keyway.distributions.Normal(0.0, 1.0)
>>> normal.log_prob(normal.sample((3,))).shape
keyway.Size([3])
"""

from keyway.distributions import constraints as constraints
from keyway.distributions.bernoulli import Bernoulli
from keyway.distributions.categorical import Categorical, OneHotCategorical
from keyway.distributions.cauchy import Cauchy
from keyway.distributions.counts import Binomial, Geometric, Poisson
from keyway.distributions.dirichlet import Beta, Dirichlet
from keyway.distributions.distribution import Distribution
from keyway.distributions.exponential import Exponential, Laplace
from keyway.distributions.gamma import Chi2, Gamma
from keyway.distributions.gumbel import Gumbel
from keyway.distributions.independent import Independent
from keyway.distributions.kl import kl_divergence, register_kl
from keyway.distributions.multivariate_normal import MultivariateNormal
from keyway.distributions.normal import HalfNormal, LogNormal, Normal
from keyway.distributions.student_t import StudentT
from keyway.distributions.transformed_distribution import TransformedDistribution
from keyway.distributions.transforms import (
    AbsTransform, AffineTransform, ComposeTransform, CumulativeDistributionTransform, ExpTransform,
    IndependentTransform, PowerTransform, ReshapeTransform, SigmoidTransform, SoftplusTransform, TanhTransform, Transform,
    identity_transform,
)
from keyway.distributions.uniform import Uniform

__all__ = [
    "AbsTransform", "AffineTransform", "ComposeTransform", "CumulativeDistributionTransform", "ExpTransform",
    "IndependentTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftplusTransform",
    "TanhTransform", "Transform", "TransformedDistribution", "identity_transform",
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Distribution", "Exponential", "Gamma",
    "Geometric", "Gumbel", "HalfNormal", "Independent", "Laplace", "LogNormal", "MultivariateNormal", "Normal",
    "OneHotCategorical", "Poisson", "StudentT", "Uniform", "kl_divergence", "register_kl",
]
