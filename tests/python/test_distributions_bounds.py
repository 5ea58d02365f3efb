"""Draws that a dtype could not hold: within the support, with a density that is finite and gradients that are right."""

import math
import warnings

import keyway
import pytest
from keyway import distributions

DTYPES = [keyway.float32, keyway.float64, keyway.bfloat16]


def of(dtype):
    def at(value, **options):
        return keyway.tensor(value, dtype=dtype, **options)

    return at


# Parameters that draw numbers near, or beyond, the ends of what a dtype has.
EXTREME = {
    "Beta, both ends": lambda at: distributions.Beta(at(0.01), at(0.01)),
    "Beta, low": lambda at: distributions.Beta(at(0.05), at(1.0)),
    "Beta, high": lambda at: distributions.Beta(at(1.0), at(0.003)),
    "Dirichlet": lambda at: distributions.Dirichlet(at([0.01, 0.01, 0.02])),
    "Gamma": lambda at: distributions.Gamma(at(0.001), at(2.0)),
    "Chi2": lambda at: distributions.Chi2(at(0.001)),
    "Exponential": lambda at: distributions.Exponential(at(1e-3)),
    "Gumbel": lambda at: distributions.Gumbel(at(0.0), at(1.0)),
    "Laplace": lambda at: distributions.Laplace(at(0.0), at(1.0)),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", EXTREME)
def test_a_draw_has_a_density(name, dtype):
    keyway.manual_seed(1)
    p = EXTREME[name](of(dtype))
    drawn = p.sample((5000,))
    assert drawn.dtype == dtype
    if name == "Dirichlet" and dtype == keyway.bfloat16:  # whose numbers add up to 1 roughly
        p._validate_args = False
    else:
        assert p.support.check(drawn).all()
    assert p.log_prob(drawn).isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES[:2], ids=str)
def test_draws_of_few_degrees_of_freedom_have_a_square(dtype):
    keyway.manual_seed(2)
    p = distributions.StudentT(of(dtype)([0.001, 0.05, 3.0]))
    drawn = p.sample((5000,))
    assert p.log_prob(drawn).isfinite().all() and drawn.std(0).isfinite().all()
    # A bound for the first two alone: below it the draws are as before.
    x = of(keyway.float64)([0.0, 0.3, 2.0])
    share = (drawn[:, 2:].to(dtype=keyway.float64) <= x).to(dtype=keyway.float64).mean(0)
    exact = 0.5 + (x / (math.sqrt(3) * (1 + x * x / 3)) + (x / math.sqrt(3)).atan()) / math.pi
    assert (share - exact).abs().max().item() < 1.95 / math.sqrt(5000)


@pytest.mark.parametrize("dtype", DTYPES[:2], ids=str)
def test_draws_at_the_bounds_are_the_least_and_the_greatest_below_one(dtype):
    keyway.manual_seed(3)
    at, info = of(dtype), keyway.finfo(dtype)
    low, high = info.tiny, 1 - info.eps / 2
    beta = distributions.Beta(at(1e-4), at(1e-4)).sample((1000,))
    assert (beta.min().item(), beta.max().item()) == (low, high)
    simplex = distributions.Dirichlet(at([1e-4, 1e-4])).sample((1000,))
    assert (simplex.min().item(), simplex.max().item()) == (low, high)
    assert distributions.Gamma(at(1e-4), at(1.0)).sample((1000,)).min().item() == low
    # Between the bounds nothing is moved: a share of 2^-a of the draws of Beta(a, 1) is below 1 / 2^(1 / a * a).
    drawn = distributions.Beta(at(0.05), at(1.0)).sample((5000,)).to(dtype=keyway.float64)
    for power in (1, 4, 20, 100):
        exact = 2.0 ** (-0.05 * power)  # of being below 2^-power
        share = (drawn <= 2.0**-power).to(dtype=keyway.float64).mean().item()
        assert abs(share - exact) < 4 * math.sqrt(exact * (1 - exact) / 5000)


def mean_slope(make, parameter, dtype):
    """d E[f(draw)] / d parameter, of make(tensor) -> f(draws), and its standard error."""
    a = keyway.full((4000,), parameter, dtype=dtype, requires_grad=True)
    (slopes,) = keyway.autograd.grad(make(a).sum(), a)
    slopes = slopes.to(dtype=keyway.float64)
    return slopes.mean().item(), slopes.std().item() / math.sqrt(4000)


@pytest.mark.parametrize(("a", "b", "dtype"), [(0.05, 1.0, keyway.float32), (0.01, 0.03, keyway.float32),
                                              (2.0, 0.5, keyway.float32), (0.001, 0.3, keyway.float64)])
def test_the_gradient_of_a_logarithm_passes_the_bounds(a, b, dtype):
    """E[log x] of Beta(a, b) is digamma(a) - digamma(a + b): 1/a^2 is its slope at b = 1. Of 1 - x as well."""
    keyway.manual_seed(4)
    curvature = lambda x: keyway.special.polygamma(1, of(keyway.float64)(x)).item()  # noqa: E731
    cases = [
        (lambda p: distributions.Beta(p, of(dtype)(b)).rsample().log(), a, curvature(a) - curvature(a + b)),
        (lambda p: (1 - distributions.Beta(p, of(dtype)(b)).rsample()).log(), a, -curvature(a + b)),
        (lambda p: distributions.Beta(of(dtype)(a), p).rsample().log(), b, -curvature(a + b)),
        (lambda p: distributions.Gamma(p, of(dtype)(b)).rsample().log(), a, curvature(a)),
        (lambda p: distributions.Dirichlet(keyway.stack([p, keyway.full_like(p, b)], -1)).rsample()[:, 0].log(), a,
         curvature(a) - curvature(a + b)),
        (lambda p: distributions.Dirichlet(keyway.stack([p, keyway.full_like(p, b)], -1)).rsample()[:, 1].log(), a,
         -curvature(a + b)),
    ]
    if b == 1:
        assert cases[0][2] == pytest.approx(1 / a**2)
    for make, parameter, exact in cases:
        mean, error = mean_slope(make, parameter, dtype)
        assert abs(mean - exact) < 5 * error + 1e-4 * abs(exact)


def test_the_gradient_of_a_gamma_draw_reaches_its_rate():
    keyway.manual_seed(5)
    rate = keyway.tensor([0.5, 3.0], requires_grad=True)
    drawn = distributions.Gamma(keyway.tensor([2.0, 1e-4]), rate).rsample()
    (slope,) = keyway.autograd.grad(drawn.log().sum(), rate)
    assert slope.tolist() == pytest.approx([-2.0, -1 / 3], rel=1e-6)


def test_gamma_draws_of_a_generator():
    p = distributions.Gamma(keyway.tensor([0.3, 5.0]), 2.0)
    generators = [keyway.Generator().manual_seed(7) for _ in range(2)]
    first, second = (p.sample((100,), generator=generator) for generator in generators)
    assert keyway.equal(first, second) and not keyway.equal(first, p.sample((100,), generator=generators[0]))
    assert not keyway.equal(p.rsample((100,), generators[0]), p.sample((100,)))


# Of PyTorch 2.15; a density that has no maximum, or many, has none either, or one that is a convention.
MODES = [((0.5, 0.5), 1.0), ((1.0, 1.0), math.nan), ((0.5, 1.0), math.nan), ((0.5, 2.0), 0.0), ((2.0, 0.5), 1.0),
         ((2.0, 3.0), 1 / 3)]


@pytest.mark.parametrize(("parameters", "mode"), MODES)
def test_the_mode_of_beta(parameters, mode):
    p = distributions.Beta(*parameters)
    assert p.mode.item() == pytest.approx(mode, nan_ok=True) and p.mode.shape == ()
    if min(parameters) > 1:
        ascent = p.log_prob(keyway.tensor([mode - 0.01, mode, mode + 0.01]))
        assert ascent.argmax().item() == 1


def test_the_mode_of_dirichlet():
    p = distributions.Dirichlet(keyway.tensor([[0.5, 0.7, 0.9], [2.0, 1.0, 4.0], [0.5, 2.0, 1.0]]))
    assert p.mode.tolist() == [[1.0, 0.0, 0.0], [0.25, 0.0, 0.75], [0.0, 1.0, 0.0]]


def test_what_independent_and_the_older_names_have():
    base = distributions.Bernoulli(keyway.tensor([0.25, 0.5]))
    p, vectors = distributions.Independent(base, 0), distributions.Independent(base, 1)
    assert p.has_enumerate_support and p.enumerate_support().tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert p.enumerate_support(expand=False).shape == (2, 1)
    assert not vectors.has_enumerate_support
    with pytest.raises(keyway.NotImplementedError, match="enumerate_support of vectors"):
        vectors.enumerate_support()
    assert distributions.Binomial(3, keyway.full((2,), 0.5)).param_shape == (2,)
    with pytest.warns(FutureWarning, match="sample_n"):
        assert base.sample_n(5).shape == (5, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        base.sample((5,))


@pytest.mark.parametrize("rate", [1e4, 1e12, 6.748313035296291e37, 1e305])
def test_poisson_draws_of_a_large_rate_come_to_an_end_and_spread_as_its_root(rate):
    keyway.manual_seed(5)
    drawn = distributions.Poisson(keyway.tensor(rate, dtype=keyway.float64)).sample((10000,))
    if rate < 1e30:
        assert_standard((drawn - rate) / math.sqrt(rate))
    else:  # numbers of float64 are further apart
        assert (drawn == rate).all()


@pytest.mark.parametrize(("n", "p"), [(1e6, 0.5), (1e15, 0.3), (1e16, 3e-14), (1e300, 0.5)])
def test_binomial_draws_of_many_trials_come_to_an_end_and_spread_as_their_root(n, p):
    keyway.manual_seed(6)
    many, p = keyway.tensor(n, dtype=keyway.float64), keyway.tensor(p, dtype=keyway.float64)
    drawn = distributions.Binomial(many, p).sample((10000,))
    if n < 1e30:
        assert_standard((drawn - many * p) / (many * p * (1 - p)).sqrt())
    else:
        assert ((drawn / (many * p) - 1).abs() < 1e-15).all()


def assert_standard(drawn):
    """Mean and standard deviation of 10,000 numbers within four standard errors of 0 and 1."""
    assert abs(drawn.mean().item()) < 0.04
    assert abs(drawn.std().item() - 1) < 0.0283


def binary_divergence(p, q):
    """Of a trial with the probability p from one with q, by Python's numbers."""
    parts = [a * math.log(a / b) if a else 0.0 for a, b in ((p, q), (1 - p, 1 - q)) if b or a]
    return sum(parts)


@pytest.mark.parametrize(("p", "q"), [(1.0, 0.5), (0.0, 0.5), (1.0, 1.0), (0.3, 0.2), (0.999, 0.5)])
def test_divergences_of_trials_whose_outcome_is_certain(p, q):
    p_, q_ = (keyway.tensor(x, dtype=keyway.float64) for x in (p, q))
    kl, expected = distributions.kl_divergence, pytest.approx(binary_divergence(p, q), rel=1e-12, abs=1e-14)
    assert kl(distributions.Bernoulli(p_), distributions.Bernoulli(q_)).item() == expected
    assert kl(distributions.Binomial(10, p_), distributions.Binomial(10, q_)).item() / 10 == expected
    if p > 0:
        assert kl(distributions.Geometric(p_), distributions.Geometric(q_)).item() * p == expected


def test_divergences_by_logits_that_are_large_or_infinite():
    def divergence(p, q):
        return distributions.kl_divergence(*(distributions.Bernoulli(logits=keyway.tensor(x)) for x in (p, q))).item()

    assert divergence(math.inf, 0.0) == pytest.approx(math.log(2))
    assert divergence(-math.inf, 0.0) == pytest.approx(math.log(2))
    assert divergence(0.0, math.inf) == math.inf
    # the sum over both outcomes with 50 digits
    assert divergence(15.0, 15.5) == pytest.approx(3.2587959e-8, rel=1e-4)
    assert divergence(-15.0, -15.5) == pytest.approx(3.2587959e-8, rel=1e-4)


def test_expanding_keeps_the_checks():
    with pytest.raises(keyway.ValueError, match="within the support"):
        distributions.Chi2(3.0).expand((2,)).log_prob(keyway.tensor(-1.0))
    unchecked = distributions.Chi2(3.0, validate_args=False).expand((2, 1)).expand((2, 3))
    assert unchecked.batch_shape == (2, 3) and unchecked.df.shape == (2, 3)
    assert not unchecked.log_prob(keyway.tensor(-1.0)).isfinite().any()


def test_without_checks_a_density_takes_numbers():
    assert distributions.Normal(0.0, 1.0, validate_args=False).log_prob(0).item() == pytest.approx(-0.9189385)
    with pytest.raises(keyway.ValueError, match="'value' is a Tensor, not a float"):
        distributions.Normal(0.0, 1.0).log_prob(0.5)
    with pytest.raises(keyway.ValueError, match="'value' is a Tensor, not a list"):
        distributions.Normal(0.0, 1.0, validate_args=False).log_prob([0.5])
