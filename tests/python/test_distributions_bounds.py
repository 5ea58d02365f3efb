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
