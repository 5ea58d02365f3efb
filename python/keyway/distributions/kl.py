"""kl_divergence, and a registry of functions that compute it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from keyway import _C
from keyway._C import Tensor
from keyway.distributions.bernoulli import Bernoulli
from keyway.distributions.categorical import Categorical, OneHotCategorical
from keyway.distributions.cauchy import Cauchy
from keyway.distributions.counts import Binomial, Geometric, Poisson
from keyway.distributions.dirichlet import Beta, Dirichlet
from keyway.distributions.distribution import Distribution
from keyway.distributions.exponential import Exponential, Laplace
from keyway.distributions.gamma import Gamma
from keyway.distributions.gumbel import EULER, Gumbel
from keyway.distributions.independent import Independent
from keyway.distributions.multivariate_normal import MultivariateNormal
from keyway.distributions.normal import HalfNormal, LogNormal, Normal
from keyway.distributions.transformed_distribution import TransformedDistribution
from keyway.distributions.uniform import Uniform
from keyway.distributions.utils import softplus, sum_rightmost

Divergence = TypeVar("Divergence", bound=Callable[..., Tensor])
_divergences: dict[tuple[type, type], Callable[..., Tensor]] = {}

__all__ = ["kl_divergence", "register_kl"]


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """A decorator: `kl_divergence` calls the function for distributions of these types and of their subclasses."""
    for given in (type_p, type_q):
        if not (isinstance(given, type) and issubclass(given, Distribution)):
            raise _C.TypeError(f"register_kl: a type is a subclass of Distribution, not {given!r}")

    def register(function: Divergence) -> Divergence:
        _divergences[type_p, type_q] = function
        return function

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The expected log(p / q) under `p`, in nats, by the function that is registered for the nearest types.

    p's type counts before q's. Raises keyway.NotImplementedError where there is none.
    """
    for type_p in type(p).__mro__:
        for type_q in type(q).__mro__:
            function = _divergences.get((type_p, type_q))
            if function is not None:
                return function(p, q)
    raise _C.NotImplementedError(f"kl_divergence: none is registered for {type(p).__name__} and {type(q).__name__}")


def _where_possible(divergence: Tensor, is_impossible: Tensor) -> Tensor:
    """Infinite where q has no density at values of p."""
    return _C.where(is_impossible, math.inf, divergence)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli | Binomial | Geometric, q: Bernoulli | Binomial | Geometric) -> Tensor:
    # By what is likely and by what is not, each from logits of its own sign: differences of small numbers.
    success = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    failure = (-p.logits).sigmoid() * (softplus(q.logits) - softplus(p.logits))
    divergence = _C.where(p.probs == 0, 0.0, success) + _C.where(p.probs == 1, 0.0, failure)
    return _where_possible(divergence, ((q.probs == 0) & (p.probs > 0)) | ((q.probs == 1) & (p.probs < 1)))


@register_kl(Categorical, Categorical)
@register_kl(OneHotCategorical, OneHotCategorical)
def _categorical(p: Any, q: Any) -> Tensor:
    parts = p.probs * (p.logits - q.logits)
    parts = _where_possible(parts, (q.probs == 0).expand_as(parts))
    return _C.where((p.probs == 0).expand_as(parts), 0.0, parts).sum(-1)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    norms = total.lgamma() - b.sum(-1).lgamma() + (b.lgamma() - a.lgamma()).sum(-1)
    return norms + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return _dirichlet(p._both(), q._both())


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma() + (a - b) * a.digamma() + a * (q.rate / p.rate - 1)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return _bernoulli(p, q) / p.probs


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio = p.scale / q.scale
    shift = (p.loc - q.loc) / q.scale
    return -ratio.log() + shift + ratio * EULER + (_C.lgamma(1 + ratio) - shift).exp() - (1 + EULER)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    square = (p.scale / q.scale).pow(2)
    return (square - 1 - square.log()) / 2


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Normal, Normal)
@register_kl(LogNormal, LogNormal)
def _normal(p: Normal | LogNormal, q: Normal | LogNormal) -> Tensor:
    square = (p.scale / q.scale).pow(2)
    return (square + ((p.loc - q.loc) / q.scale).pow(2) - 1 - square.log()) / 2


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise _C.ValueError(f"kl_divergence: both must have vectors of one length, not {p.event_shape[0]} and "
                            f"{q.event_shape[0]}")
    spread = q._whitened(p.scale_tril).pow(2).sum(-1).sum(-1)
    shift = q._whitened((p.loc - q.loc).unsqueeze(-1)).squeeze(-1).pow(2).sum(-1)
    return q._log_volume() - p._log_volume() + 0.5 * (spread + shift - p.event_shape[0])


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return _C.xlogy(p.rate, p.rate) - _C.xlogy(p.rate, q.rate) - (p.rate - q.rate)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise _C.NotImplementedError("kl_divergence: there is none of binomial distributions of which q has more trials")
    divergence = _C.where(p.total_count == 0, 0.0, p.total_count * _bernoulli(p, q))
    return _where_possible(divergence, p.total_count > q.total_count)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    return _where_possible(((q.high - q.low) / (p.high - p.low)).log(), (q.low > p.low) | (q.high < p.high))


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise _C.NotImplementedError("kl_divergence: both transformed distributions must have the same transforms and "
                                     "event_shape")
    inner = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(inner, inner.dim() - max(len(p.batch_shape), len(q.batch_shape)))


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise _C.NotImplementedError("kl_divergence: both Independent distributions must have the same "
                                     "reinterpreted_batch_ndims")
    return p._summed(kl_divergence(p.base_dist, q.base_dist))
