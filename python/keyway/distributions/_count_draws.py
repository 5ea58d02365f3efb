"""Poisson's and binomial numbers: by searching the cumulative probabilities where the mean is small, else by Hörmann's
transformed rejection. Computed in float64; they wait for the device."""

from __future__ import annotations

import math
from collections.abc import Callable

from keyway import _C
from keyway._C import Tensor

_SEARCHED_BELOW = 10.0


def poisson(rate: Tensor) -> Tensor:
    """A Poisson number for each rate, in its dtype; NaN where it is negative or not finite."""
    lam = rate.reshape([-1]).to(dtype=_C.float64)
    result = _C.where((lam >= 0) & lam.isfinite(), 0.0, float("nan")).to(dtype=_C.float64)
    few = (lam >= 0) & (lam < _SEARCHED_BELOW)
    many = (lam >= _SEARCHED_BELOW) & lam.isfinite()
    result[few] = _searched((-lam[few]).exp(), lambda k, indices: lam[few][indices] / k)
    result[many] = _rejected_poisson(lam[many])
    return result.view(rate.shape).to(dtype=rate.dtype)


def binomial(count: Tensor, prob: Tensor) -> Tensor:
    """How many of `count` trials succeed, in the dtype of `prob`; NaN for what is no count or no probability."""
    n, p = count.reshape([-1]).to(dtype=_C.float64), prob.reshape([-1]).to(dtype=_C.float64)
    is_valid = (n >= 0) & n.isfinite() & (p >= 0) & (p <= 1)
    rare = _C.where(p > 0.5, 1 - p, p)
    result = _C.where(is_valid, 0.0, float("nan")).to(dtype=_C.float64)
    few, many = is_valid & (n * rare < _SEARCHED_BELOW), is_valid & (n * rare >= _SEARCHED_BELOW)
    small_n, odds = n[few], (rare / (1 - rare))[few]
    first = (small_n * (-rare[few]).log1p()).exp()
    result[few] = _searched(first, lambda k, indices: (small_n[indices] - (k - 1)) / k * odds[indices])
    result[many] = _rejected_binomial(n[many], rare[many])
    return _C.where(p > 0.5, n - result, result).view(prob.shape).to(dtype=prob.dtype)


def _searched(first: Tensor, ratio: Callable[[int, Tensor], Tensor]) -> Tensor:
    """The first k whose cumulative probability exceeds a uniform number. `first` is the probability of 0, and `ratio`
    that of k by that of k - 1 at some indices."""
    result = _C.zeros_like(first)
    rest, term = _C.rand_like(first) - first, first
    pending = _C.arange(first.numel(), device=first.device)
    k = 0
    while True:
        # Where rounding leaves a rest for which there is no further probability, the number is the last one.
        going = (rest >= 0) & (term > 0)
        pending, rest, term = pending[going], rest[going], term[going]
        if pending.numel() == 0:
            return result
        k += 1
        term = term * ratio(k, pending)
        result[pending] = _C.where(term > 0, float(k), result[pending])
        rest = rest - term


def _rejected(parameters: tuple[Tensor, ...], propose: Callable[..., tuple[Tensor, Tensor]]) -> Tensor:
    """What `propose` gives for the parameters at some indices, until it says for each that it is accepted."""
    result = _C.empty_like(parameters[0])
    pending = _C.arange(result.numel(), device=result.device)
    while pending.numel() > 0:
        proposed, accepted = propose(*(parameter[pending] for parameter in parameters))
        result[pending[accepted]] = proposed[accepted]
        pending = pending[~accepted]
    return result


def _surplus(k: Tensor) -> Tensor:
    """log(k!) - (k log k - k): by Stirling's series where its terms are exact, with no large numbers that cancel."""
    small, large = k.clamp(max=16), k.clamp(min=16)
    series = (2 * math.pi * large).log() / 2 + 1 / (12 * large) - 1 / (360 * large.pow(3)) + 1 / (1260 * large.pow(5))
    return _C.where(k < 16, (small + 1).lgamma() - _C.xlogy(small, small) + small, series)


def _deviance(mean: Tensor, excess: Tensor) -> Tensor:
    """k log(k / mean) - k + mean for k = mean + excess (Loader, 2000, "Fast and Accurate Computation of Binomial
    Probabilities")."""
    relative = excess / mean
    return mean * ((1 + relative) * relative.clamp(min=2.0**-53 - 1).log1p() - relative)


def _rejected_poisson(lam: Tensor) -> Tensor:
    def propose(lam: Tensor) -> tuple[Tensor, Tensor]:
        b = 0.931 + 2.53 * lam.sqrt()
        a = -0.059 + 0.02483 * b
        u = _C.rand_like(lam) - 0.5
        us = 0.5 - u.abs()
        k = ((2 * a / us + b) * u + lam + 0.43).floor()
        bound = (_C.rand_like(lam) * (1.1239 + 1.1328 / (b - 3.4)) / (a / us.pow(2) + b)).log()
        return k, (k >= 0) & (bound <= -_deviance(lam, k - lam) - _surplus(k))

    return _rejected((lam,), propose)


def _rejected_binomial(n: Tensor, p: Tensor) -> Tensor:
    def propose(n: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        mean = n * p
        spread = (mean * (1 - p)).sqrt()

        def log_share(k: Tensor) -> Tensor:
            excess = k - mean
            return -_deviance(mean, excess) - _deviance(n * (1 - p), -excess) - _surplus(k) - _surplus(n - k)

        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * p
        u = _C.rand_like(n) - 0.5
        us = 0.5 - u.abs()
        k = ((2 * a / us + b) * u + mean + 0.5).floor()
        bound = (_C.rand_like(n) * (2.83 + 5.1 / b) * spread / (a / us.pow(2) + b)).log()
        return k, (k >= 0) & (k <= n) & (bound <= log_share(k) - log_share(((n + 1) * p).floor()))

    return _rejected((n, p), propose)
