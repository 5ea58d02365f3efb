"""Distributions: densities and moments as PyTorch 2.15 has them, and samples that follow their distribution."""

import math
import subprocess
import sys

import keyway
import pytest
from keyway import distributions
from keyway.distributions import Bernoulli, Categorical, Independent, Normal, OneHotCategorical, kl_divergence

# Parameters, those of another one, a value; of PyTorch: log_prob and cdf of the value, entropy, mean, variance, divergence.
CASES = [
    ("Normal", (0.5, 2.0), (1.0, 3.0), 1.25,
     [-1.682398213764618, 0.6461697666727237, 2.112085713764618, 0.5, 4.0, 0.1415762192192755]),
    ("HalfNormal", (2.0,), (3.0,), 1.25,
     [-1.1142510332046727, 0.4680289419025989, 1.4189385332046727, 1.5957691216057308, 1.4535209105296745, 0.1276873303303866]),
    ("LogNormal", (0.5, 0.75), (0.0, 1.5), 1.25,
     [-0.9225328948927971, 0.35601096785852504, 1.6312564607528919, 2.184200810815618, 3.602164306159662, 0.37370273611550087]),
    ("Uniform", (-1.0, 2.0), (-2.0, 4.0), 1.25,
     [-1.0986122886681098, 0.75, 1.0986122886681098, 0.5, 0.75, 0.6931471805599453]),
    ("Exponential", (2.0,), (0.5,), 1.25,
     [-1.8068528194400546, 0.9179150013761012, 0.3068528194400547, 0.5, 0.25, 0.6362943611198906]),
    ("Laplace", (0.5, 2.0), (1.0, 3.0), 1.25,
     [-1.7612943611198906, 0.6563553606045139, 2.386294361119891, 0.5, 8.0, 0.09133229682243438]),
    ("Cauchy", (0.5, 2.0), (1.0, 3.0), 1.25,
     [-1.9694534241980646, 0.6142002512199082, 3.224171427529236, math.nan, math.inf, 0.05077232537342313]),
    ("Gumbel", (0.5, 2.0), (1.0, 3.0), 1.25,
     [-1.7554364593509177, 0.5029375464134955, 2.270362845461478, 1.6544313298030657, 6.579736267392906, 0.11286077180068688]),
    ("Bernoulli", (0.25,), (0.5,), 1.0,
     [-1.3862943611198906, None, 0.5623351446188084, 0.25, 0.1875, 0.1308120359411369]),
    ("Geometric", (0.25,), (0.5,), 3.0,
     [-2.249340578475233, None, 2.2493405784752336, 3.0, 12.0, 0.5232481437645475]),
    ("Gamma", (1.5, 2.0), (2.5, 1.0), 1.25,
     [-1.227925215867732, 0.8282028557032665, 0.6678255948155214, 0.75, 0.375, 1.3518430855294516]),
    ("Chi2", (3.0,), (4.0,), 1.25,
     [-1.4323667575475678, 0.25896111118347076, 2.0541199559354117, 3.0, 6.0, 0.10253725064595712]),
    ("Beta", (1.5, 2.5), (2.0, 3.0), 0.25,
     [0.5031885471527644, None, -0.1886034474839331, 0.375, 0.046875, 0.029246547722270977]),
    ("StudentT", (3.0, 0.5, 2.0), None, 1.25,
     [-1.7856551022460436, None, 2.466624752423237, 0.5, 12.0, None]),
]
IDS = [case[0] for case in CASES]


def at(value, **options):
    return keyway.tensor(value, dtype=keyway.float64, **options)


def made(name, parameters):
    return getattr(distributions, name)(*(at(value) for value in parameters))


@pytest.mark.parametrize(("name", "parameters", "others", "value", "expected"), CASES, ids=IDS)
def test_densities_moments_and_divergences(name, parameters, others, value, expected):
    p = made(name, parameters)
    functions = [lambda: p.log_prob(at(value)), lambda: p.cdf(at(value)), p.entropy, lambda: p.mean, lambda: p.variance,
                 lambda: kl_divergence(p, made(name, others))]
    for function, number in zip(functions, expected):
        if number is not None:
            assert function().item() == pytest.approx(number, rel=1e-12, abs=1e-14, nan_ok=True)
    if others:
        assert kl_divergence(p, p).item() == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize(("name", "parameters", "value", "probability"),
                         [(case[0], case[1], case[3], case[4][1]) for case in CASES if case[4][1] is not None and case[0] not in ("Gamma", "Chi2")])
def test_samples_follow_the_distribution(name, parameters, value, probability):
    keyway.manual_seed(5)
    count = 20000
    distribution = made(name, parameters)
    share = (distribution.sample((count,)) <= value).to(dtype=keyway.float64).mean().item()
    assert abs(share - probability) < 5 * math.sqrt(probability * (1 - probability) / count)
    assert distribution.icdf(at(probability)).item() == pytest.approx(value, rel=1e-10)
    # Kolmogorov's distance: below 1.95 / sqrt(count) but for one seed in a thousand.
    ordered = distribution.cdf(distribution.sample((count,))).sort()[0]
    steps = (keyway.arange(count, dtype=keyway.float64) + 0.5) / count
    assert (ordered - steps).abs().max().item() < 1.95 / math.sqrt(count)


@pytest.mark.parametrize(("name", "parameters"), [("Bernoulli", (0.25,)), ("Geometric", (0.25,))])
def test_counts_have_their_mean_and_variance(name, parameters):
    keyway.manual_seed(6)
    distribution = made(name, parameters)
    drawn = distribution.sample((20000,))
    spread = math.sqrt(distribution.variance.item() / 20000)
    assert abs(drawn.mean().item() - distribution.mean.item()) < 5 * spread
    assert drawn.var().item() == pytest.approx(distribution.variance.item(), rel=0.1)


@pytest.mark.parametrize("name", ["Normal", "LogNormal", "Laplace", "Cauchy", "Gumbel", "Uniform"])
def test_gradients_reach_the_parameters(name):
    low, high = at(0.5, requires_grad=True), at(2.0, requires_grad=True)
    distribution = getattr(distributions, name)(low, high)
    keyway.manual_seed(7)
    sample = distribution.rsample()
    # At a fixed probability a sample's slope is that of the inverse of cdf.
    with keyway.no_grad():
        probability = distribution.cdf(sample)
    given = keyway.autograd.grad(sample, [low, high])
    expected = keyway.autograd.grad(distribution.icdf(probability), [low, high])
    assert [g.item() for g in given] == pytest.approx([g.item() for g in expected], rel=1e-6)
    assert not distribution.sample().requires_grad


def test_categories():
    weights = at([[1.0, 1.0, 2.0], [0.0, 3.0, 1.0]])
    p = Categorical(weights)
    assert (p.batch_shape, p.event_shape, p.mode.tolist()) == ((2,), (), [2, 1])
    assert p.log_prob(keyway.tensor([2, 1])).exp().tolist() == pytest.approx([0.5, 0.75])
    assert p.entropy().tolist() == pytest.approx([1.5 * math.log(2), 2 * math.log(2) - 0.75 * math.log(3)], abs=1e-12)
    assert p.enumerate_support(expand=False).shape == (3, 1)
    keyway.manual_seed(8)
    drawn = p.sample((4000,))
    assert drawn.shape == (4000, 2) and not (drawn[:, 1] == 0).any()
    assert (drawn[:, 0] == 2).to(dtype=keyway.float64).mean().item() == pytest.approx(0.5, abs=0.04)
    hot = OneHotCategorical(logits=at([0.0, math.log(3)]))
    assert hot.sample((5,)).sum(-1).tolist() == [1.0] * 5
    assert hot.log_prob(at([0.0, 1.0])).item() == pytest.approx(math.log(0.75))
    assert hot.enumerate_support().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert kl_divergence(Categorical(at([1.0, 1.0])), Categorical(at([1.0, 0.0]))).item() > 10


def test_dimensions_of_a_batch_become_an_event():
    base = Normal(keyway.zeros(3, 2), keyway.ones(2))
    p = Independent(base, 1)
    assert (p.batch_shape, p.event_shape, p.has_rsample) == ((3,), (2,), True)
    assert keyway.allclose(p.log_prob(keyway.ones(3, 2)), base.log_prob(keyway.ones(3, 2)).sum(-1))
    assert keyway.equal(kl_divergence(p, p), keyway.zeros(3))
    wider = p.expand((4, 3))
    assert (wider.batch_shape, wider.rsample((5,)).shape, wider.entropy().shape) == ((4, 3), (5, 4, 3, 2), (4, 3))
    with pytest.raises(keyway.ValueError, match="reinterpreted_batch_ndims"):
        Independent(base, 3)


def test_expanding_copies_nothing():
    p = Categorical(logits=keyway.zeros(2, 5))
    assert p.probs.shape == (2, 5)
    wider = p.expand((3, 2))
    assert (wider.batch_shape, wider.logits.shape, wider.probs.shape) == ((3, 2), (3, 2, 5), (3, 2, 5))
    assert wider.logits.data_ptr() == p.logits.data_ptr() and p.batch_shape == (2,)


def test_bad_parameters_and_values_are_refused():
    with pytest.raises(keyway.ValueError, match="Normal: argument 'scale'.*greater_than"):
        Normal(0.0, -1.0)
    Normal(0.0, -1.0, validate_args=False)
    with pytest.raises(keyway.ValueError, match="Bernoulli: either 'probs' or 'logits'"):
        Bernoulli()
    with pytest.raises(keyway.ValueError, match="Bernoulli: argument 'value' must be within the support"):
        Bernoulli(0.5).log_prob(keyway.tensor(0.5))
    with pytest.raises(keyway.ValueError, match="does not fit batch_shape"):
        Normal(keyway.zeros(3), 1.0).log_prob(keyway.zeros(2))
    with pytest.raises(keyway.ValueError, match="'low' must be less than 'high'"):
        distributions.Uniform(1.0, 1.0)
    with pytest.raises(keyway.NotImplementedError, match="Bernoulli: there is no rsample"):
        Bernoulli(0.5).rsample()
    with pytest.raises(keyway.NotImplementedError, match="registered for Normal and Bernoulli"):
        kl_divergence(Normal(0.0, 1.0), Bernoulli(0.5))


def test_a_divergence_of_ones_own():
    class Mine(Normal):
        pass

    @distributions.register_kl(Mine, Normal)
    def mine(p, q):
        return at(42.0)

    assert kl_divergence(Mine(0.0, 1.0), Normal(0.0, 1.0)).item() == 42
    assert kl_divergence(Normal(0.0, 1.0), Mine(0.0, 1.0)).item() == 0


def test_they_are_imported_when_first_asked_for():
    code = "import sys, keyway; assert 'keyway.distributions' not in sys.modules; keyway.distributions.Normal(0.0, 1.0)"
    subprocess.run([sys.executable, "-c", code], check=True)


def slope_of_gamma(a, x):
    """d log(x) / d a at a fixed probability, by differences of the incomplete gamma function."""
    h = 1e-4 * a
    rise = (keyway.igamma(at(a + h), at(x)) - keyway.igamma(at(a - h), at(x))).item() / (2 * h)
    return -rise / math.exp(a * math.log(x) - x - math.lgamma(a))


@pytest.mark.parametrize(("a", "x"), [(0.05, 1e-9), (0.3, 0.2), (0.3, 5.0), (2.0, 0.5), (2.0, 9.0), (2.0, 14.0), (15.0, 9.9),
                                      (15.0, 12.0), (15.0, 22.0), (300.0, 270.0), (300.0, 299.9), (300.0, 340.0)])
def test_a_gamma_draw_moves_with_its_parameter_at_a_fixed_probability(a, x):
    from keyway.distributions._gamma_draws import slope

    assert slope(at(a), at(math.log(x))).item() == pytest.approx(slope_of_gamma(a, x), rel=1e-5)


@pytest.mark.parametrize("a", [0.02, 0.5, 1.0, 7.5, 200.0])
def test_gamma_draws_follow_the_distribution(a):
    keyway.manual_seed(9)
    gamma = distributions.Gamma(at(a), at(2.0))
    ordered = gamma.cdf(gamma.sample((20000,))).sort()[0]
    steps = (keyway.arange(20000, dtype=keyway.float64) + 0.5) / 20000
    assert (ordered - steps).abs().max().item() < 1.95 / math.sqrt(20000)


def test_draws_made_of_gamma_draws_have_their_moments_and_gradients():
    keyway.manual_seed(10)
    for p in (distributions.Beta(at(1.5), at(2.5)), distributions.StudentT(at(8.0), at(0.5), at(2.0)),
              distributions.Dirichlet(at([0.5, 1.0, 3.0])), distributions.Chi2(at(3.0))):
        drawn = p.sample((40000,))
        assert keyway.allclose(drawn.mean(0), p.mean, atol=0.03, rtol=0.02)
        assert keyway.allclose(drawn.var(0), p.variance, rtol=0.06)
    a = at(2.0, requires_grad=True)
    distributions.Beta(a, at(3.0)).rsample((40000,)).mean().backward()
    assert a.grad.item() == pytest.approx(3 / 25, rel=0.03)  # of a / (a + 3)
    assert not distributions.Dirichlet(keyway.full((3,), 1e-3)).sample((1000,)).isnan().any()
    assert distributions.Chi2(keyway.ones(3)).expand((2, 3)).df.tolist() == [[1.0] * 3] * 2
    with pytest.raises(keyway.ValueError, match="Chi2: argument 'df'"):
        distributions.Chi2(-1.0)


def test_dirichlet_densities():
    # Of PyTorch 2.15.
    p, q = distributions.Dirichlet(at([0.5, 1.0, 3.0])), distributions.Dirichlet(at([1.0, 1.0, 1.0]))
    assert p.log_prob(at([0.2, 0.3, 0.5])).item() == pytest.approx(0.6066490424549564, rel=1e-12)
    assert p.entropy().item() == pytest.approx(-1.9322417410261492, rel=1e-12)
    assert kl_divergence(p, q).item() == pytest.approx(1.239094560466204, rel=1e-12)


def test_counts_and_normal_vectors_as_pytorch_2_15_has_them():
    for p, q, value, expected in [
        (made("Poisson", (3.5,)), made("Poisson", (2.0,)), 4.0, [-1.6670019563664735, 3.5, 3.5, 0.45865525777397975]),
        (distributions.Binomial(7, at(0.25)), distributions.Binomial(7, at(0.5)), 3.0,
         [-1.7542633116773807, 1.75, 1.3125, 0.915684251587959]),
    ]:
        given = [p.log_prob(at(value)), p.mean, p.variance, kl_divergence(p, q)]
        assert [number.item() for number in given] == pytest.approx(expected, rel=1e-12)
    assert distributions.Binomial(7, at(0.25)).entropy().item() == pytest.approx(1.5241345855358968, rel=1e-12)
    loc, covariance = at([1.0, -1.0]), at([[2.0, 0.5], [0.5, 1.0]])
    q = distributions.MultivariateNormal(at([0.0, 0.0]), at([[1.0, -0.25], [-0.25, 3.0]]))
    for options in ({"covariance_matrix": covariance}, {"precision_matrix": keyway.linalg.inv(covariance)},
                    {"scale_tril": keyway.linalg.cholesky(covariance)}):
        p = distributions.MultivariateNormal(loc, **options)
        given = [p.log_prob(at([0.5, 0.25])), p.entropy(), kl_divergence(p, q)]
        assert [number.item() for number in given] == pytest.approx(
            [-3.2605421032342, 3.1176849603770567, 1.0887587798099807], rel=1e-12)
        assert keyway.allclose(p.covariance_matrix, covariance)


def test_normal_vectors_have_their_covariance():
    keyway.manual_seed(11)
    p = distributions.MultivariateNormal(at([1.0, -1.0]), at([[2.0, 0.5], [0.5, 1.0]])).expand((3,))
    drawn = p.sample((20000,))
    assert drawn.shape == (20000, 3, 2) and p.log_prob(drawn).shape == (20000, 3)
    assert keyway.allclose(keyway.cov(drawn[:, 0].T), p.covariance_matrix[0], atol=0.1)
    with pytest.raises(keyway.ValueError, match="'covariance_matrix'.*PositiveDefinite"):
        distributions.MultivariateNormal(keyway.zeros(2), keyway.tensor([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(keyway.ValueError, match="one of .* must be given, not 0"):
        distributions.MultivariateNormal(keyway.zeros(2))


def share_of(drawn, log_probability, count):
    """The largest distance of the shares of numbers from their cumulative probabilities."""
    total, most = 0.0, 0.0
    for k in range(count):
        total += math.exp(log_probability(k))
        most = max(most, abs((drawn <= k).to(dtype=keyway.float64).mean().item() - total))
    return most


@pytest.mark.parametrize("rate", [0.0, 0.3, 9.5, 11.0, 80.0])
def test_poisson_draws_follow_the_distribution(rate):
    keyway.manual_seed(12)
    drawn = distributions.Poisson(at(rate)).sample((20000,))
    logarithm = math.log(rate) if rate else -1e9
    most = share_of(drawn, lambda k: k * logarithm - rate - math.lgamma(k + 1), 130)
    assert most < 1.95 / math.sqrt(20000)


@pytest.mark.parametrize(("n", "p"), [(7, 0.25), (7, 0.9), (40, 0.5), (200, 0.2), (200, 0.97), (5, 0.0), (5, 1.0)])
def test_binomial_draws_follow_the_distribution(n, p):
    keyway.manual_seed(13)
    drawn = distributions.Binomial(n, at(p)).sample((20000,))
    exact = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    assert drawn.min().item() >= 0 and drawn.max().item() <= n
    most = share_of(drawn, lambda k: math.log(exact[k]) if exact[k] else -1e9, n + 1)
    assert most < 1.95 / math.sqrt(20000)


def test_draws_of_what_is_no_parameter_are_nan():
    bad = at([math.nan, -1.0, math.inf])
    assert distributions.Poisson(bad, validate_args=False).sample().isnan().all()
    assert distributions.Binomial(3, at([math.nan, -0.5, 1.5]), validate_args=False).sample().isnan().all()
    assert distributions.Gamma(bad[:1], 1.0, validate_args=False).sample().isnan().all()


def test_transforms_make_the_distributions_that_are_known():
    normal = Normal(at(0.5), at(0.75))
    p = distributions.TransformedDistribution(normal, distributions.ExpTransform())
    q = made("LogNormal", (0.5, 0.75))
    x = at([0.25, 1.0, 3.0])
    assert keyway.allclose(p.log_prob(x), q.log_prob(x)) and keyway.allclose(p.cdf(x), q.cdf(x))
    # A logistic distribution out of uniform numbers, turned around: cdf is sigmoid((x - 1) / 2).
    parts = [distributions.SigmoidTransform().inv, distributions.AffineTransform(1.0, -2.0)]
    logistic = distributions.TransformedDistribution(made("Uniform", (0.0, 1.0)), parts)
    expected = ((x - 1) / 2).sigmoid()
    assert keyway.allclose(logistic.cdf(x), expected) and keyway.allclose(logistic.icdf(expected), x)
    assert keyway.allclose(logistic.log_prob(x).exp(), expected * (1 - expected) / 2)
    assert logistic.expand((3,)).rsample((2,)).shape == (2, 3)


@pytest.mark.parametrize("name", ["ExpTransform", "SigmoidTransform", "TanhTransform"])
def test_the_slope_of_a_transform_is_its_gradient(name):
    transform = getattr(distributions, name)()
    x = at([-2.0, 0.1, 1.5], requires_grad=True)
    y = transform(x)
    (gradient,) = keyway.autograd.grad(y.sum(), x)
    assert keyway.allclose(transform.log_abs_det_jacobian(x, y), gradient.abs().log())
    assert keyway.allclose(transform.inv(y), x)
