"""Transforms and transformed distributions: densities as PyTorch 2.15 has them, shapes, caches and bounds."""

import math

import keyway
import pytest
from keyway import distributions
from keyway.distributions import (
    AbsTransform, AffineTransform, ComposeTransform, CumulativeDistributionTransform, ExpTransform,
    IndependentTransform, MultivariateNormal, Normal, PowerTransform, ReshapeTransform, SigmoidTransform,
    SoftplusTransform, TanhTransform, TransformedDistribution, Uniform, kl_divergence,
)

INFO = keyway.finfo(keyway.float32)


def at(value, **options):
    return keyway.tensor(value, dtype=keyway.float64, **options)


def vectors():
    return MultivariateNormal(at([1.0, -1.0]), at([[2.0, 0.5], [0.5, 1.0]]))


def pairs(count=3):
    return Normal(at([0.0, 1.0]), at(1.0)).expand((count, 2))


def test_a_sigmoid_is_kept_from_where_its_inverse_is_infinite():
    p = TransformedDistribution(Normal(0.0, 10.0), SigmoidTransform())
    keyway.manual_seed(1)
    drawn = p.sample((20000,))
    assert drawn.dtype == keyway.float32
    assert drawn.max().item() == 1 - INFO.eps and drawn.min().item() >= INFO.tiny
    assert p.log_prob(drawn).isfinite().all()
    # Of PyTorch 2.15.
    expected = [11.45006275177002, 45.976661682128906, -1.8352293968200684]
    assert p.log_prob(keyway.tensor([1.0, 0.0, 0.5])).tolist() == pytest.approx(expected, rel=1e-6)
    for dtype in (keyway.float32, keyway.float64, keyway.bfloat16):
        ends = SigmoidTransform()(keyway.tensor([-1e4, 1e4], dtype=dtype))
        assert ends.tolist() == [keyway.finfo(dtype).tiny, 1 - keyway.finfo(dtype).eps]
        assert SigmoidTransform().inv(keyway.tensor([0.0, 1.0], dtype=dtype)).isfinite().all()


def test_a_density_is_of_the_value_that_is_given_and_not_of_what_rounding_makes_of_it():
    # A logistic distribution: log_prob is -|x| - 2 log(1 + exp(-|x|)).
    p = TransformedDistribution(Uniform(0.0, 1.0), SigmoidTransform().inv)
    x = [20.0, -20.0, 200.0, 0.5]
    exact = [-abs(value) - 2 * math.log1p(math.exp(-abs(value))) for value in x]
    assert p.log_prob(keyway.tensor(x)).tolist() == pytest.approx(exact, rel=1e-6)
    chain = TransformedDistribution(Uniform(0.0, 1.0), [SigmoidTransform().inv, AffineTransform(1.0, -2.0)])
    assert chain.log_prob(keyway.tensor([-39.0])).item() == pytest.approx(-20 - math.log(2), rel=1e-6)


def test_each_parameter_of_a_transform_has_draws_of_its_own():
    keyway.manual_seed(2)
    p = TransformedDistribution(Normal(0.0, 1.0), AffineTransform(keyway.zeros(3), 1.0))
    assert (p.batch_shape, p.event_shape, p.base_dist.batch_shape) == ((3,), (), (3,))
    assert len(set(p.sample().tolist())) == 3
    assert p.rsample((5,)).shape == (5, 3) and p.log_prob(keyway.zeros(3)).shape == (3,)
    for transform in (AffineTransform(0.0, keyway.ones(2, 1)), AffineTransform(keyway.zeros(3), keyway.ones(2, 1)),
                      [AffineTransform(keyway.zeros(3), 1.0).inv, PowerTransform(keyway.ones(2, 1))]):
        wide = TransformedDistribution(distributions.Exponential(keyway.ones(3)), transform)
        assert wide.batch_shape == (2, 3)
        assert len(set(wide.sample().flatten().tolist())) == 6
        assert wide.expand((4, 2, 3)).sample((5,)).shape == (5, 4, 2, 3)
    # A base of one vector's length cannot be widened within the vector.
    with pytest.raises(keyway.ValueError, match=r"a base whose event_shape is \(3,\), not \(1,\)"):
        TransformedDistribution(MultivariateNormal(keyway.zeros(1), keyway.eye(1)),
                                AffineTransform(keyway.zeros(3), 1.0))


# Distribution, value, log_prob in PyTorch 2.15, shapes of batch and event. PyTorch counts the slope of a scale without
# dimensions once for a vector if it is a tensor; the numbers are those of a scale that is a number.
TRANSFORMED = {
    "power": (lambda: TransformedDistribution(Normal(at(0.5), at(0.75)), PowerTransform(2.0)), [0.25, 2.0],
              [-0.6312564607528918, -2.413898509483392], (), ()),
    "softplus": (lambda: TransformedDistribution(
        Normal(at(0.5), at(0.75)), [SoftplusTransform(), AffineTransform(1.0, -3.0)]), [0.25, -2.0],
        [-2.97050694761309, -1.272711598352834], (), ()),
    "vectors": (lambda: TransformedDistribution(vectors(), AffineTransform(at([1.0, 2.0]), at([2.0, -0.5]))),
                [0.5, 0.25], -15.742684960377057, (), (2,)),
    "vectors, together": (lambda: TransformedDistribution(
        vectors(), AffineTransform(at([1.0, 2.0]), at([2.0, -0.5]), event_dim=1)), [0.5, 0.25], -15.742684960377057,
        (), (2,)),
    "exp of vectors": (lambda: TransformedDistribution(vectors(), ExpTransform()), [0.5, 0.25], -0.7557122282708759,
                       (), (2,)),
    "independent": (lambda: TransformedDistribution(
        pairs(), [AffineTransform(0.5, at(2.0), event_dim=1), IndependentTransform(ExpTransform(), 1)]), [0.5, 0.25],
        [-3.210590392818201] * 3, (3,), (2,)),
    "numbers, then together": (lambda: TransformedDistribution(
        pairs(), [ExpTransform(), AffineTransform(0.5, at(2.0), event_dim=1)]), [0.75, 1.25], [-4.287781460263076] * 3,
        (3,), (2,)),
    "reshaped": (lambda: TransformedDistribution(
        Normal(at(0.0), at(1.0)).expand((3, 4)), ReshapeTransform((4,), (2, 2))), [[1.0, 1.0], [1.0, 1.0]],
        [-5.675754132818691] * 3, (3,), (2, 2)),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformed_densities(name):
    make, value, expected, batch, event = TRANSFORMED[name]
    p = make()
    p._validate_args = name != "power"  # some of whose base is negative
    assert (p.batch_shape, p.event_shape) == (batch, event)
    assert keyway.allclose(p.log_prob(at(value)), at(expected), rtol=1e-12)
    assert p.expand((5, *batch)).rsample((2,)).shape == (2, 5, *batch, *event)
    if event:
        assert p.support.event_dim == len(event)
        return
    # Of a number the density is the slope of cdf.
    x = at(value, requires_grad=True)
    (slope,) = keyway.autograd.grad(p.cdf(x).sum(), x)
    assert keyway.allclose(slope.log(), at(expected), rtol=1e-10)


TRANSFORMS = [ExpTransform(), SigmoidTransform(), TanhTransform(), SoftplusTransform(), PowerTransform(-1.5),
              AffineTransform(1.0, -2.0), CumulativeDistributionTransform(Normal(0.5, 2.0)),
              ComposeTransform([AffineTransform(1.0, -2.0), ExpTransform(), PowerTransform(0.5)]),
              IndependentTransform(ExpTransform(), 0), SigmoidTransform().inv]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_the_slope_of_a_transform_is_its_gradient_and_its_inverse_undoes_it(transform):
    x = at([0.1, 0.25, 0.9], requires_grad=True)
    y = transform(x)
    (gradient,) = keyway.autograd.grad(y.sum(), x)
    assert transform.bijective and transform.event_dim == 0
    assert keyway.allclose(transform.log_abs_det_jacobian(x, y), gradient.abs().log())
    assert keyway.allclose(transform.inv.log_abs_det_jacobian(y, x), -gradient.abs().log())
    assert keyway.allclose(transform.inv(y), x)
    assert (gradient.sign() == transform.sign).all() and (gradient.sign() == transform.inv.sign).all()
    assert transform.codomain.check(y).all() and transform.inv.codomain.check(x).all()
    assert transform.inv.inv == transform


def test_a_cache_keeps_what_rounding_loses():
    x = keyway.tensor([-40.0, 1.0, 40.0])
    plain, caching = TanhTransform(), TanhTransform(cache_size=1)
    assert not plain.inv(plain(x)).isfinite().all()
    y = caching(x)
    assert caching.inv(y) is x and caching.inv(y.clone()) is not x and caching.with_cache(1) is caching
    for cached in (plain.with_cache(), ComposeTransform([AffineTransform(0.0, 2.0), TanhTransform()], cache_size=1),
                   plain.inv.with_cache().inv, IndependentTransform(plain, 1, cache_size=1),
                   IndependentTransform(plain, 1).with_cache()):
        assert keyway.equal(cached.inv(cached(x)), x)
        assert keyway.equal(cached.inv.inv(x), cached(x))
    p = TransformedDistribution(Normal(0.0, 10.0), TanhTransform(cache_size=1))
    keyway.manual_seed(3)
    drawn = p.sample((1000,))
    assert drawn.abs().max().item() == 1 and p.log_prob(drawn).isfinite().all()
    with pytest.raises(keyway.ValueError, match="TanhTransform: argument 'cache_size' is 0 or 1, not 2"):
        TanhTransform(cache_size=2)


def test_equal_transforms():
    loc = at([1.0, 2.0])
    for equal in (lambda: ExpTransform(), lambda: AffineTransform(1.0, loc.clone()), lambda: PowerTransform(2.0),
                  lambda: ComposeTransform([ExpTransform(), AffineTransform(0.0, 2.0)]), lambda: TanhTransform().inv,
                  lambda: ReshapeTransform((4,), (2, 2)), lambda: IndependentTransform(ExpTransform(), 1),
                  AbsTransform):
        assert equal() == equal() and hash(equal()) == hash(equal())
    assert ExpTransform() != TanhTransform() and AffineTransform(1.0, 2.0) != AffineTransform(1.0, 3.0)
    assert ExpTransform() != ExpTransform().inv and ComposeTransform([]) == distributions.identity_transform
    p = TransformedDistribution(Normal(at(0.5), at(2.0)), ExpTransform())
    q = TransformedDistribution(Normal(at(1.0), at(3.0)), [ExpTransform()])
    assert kl_divergence(p, q).item() == pytest.approx(0.1415762192192755, rel=1e-12)  # of the normal distributions
    together = TransformedDistribution(pairs(), AffineTransform(0.0, 2.0, event_dim=1))
    assert kl_divergence(together, together).shape == (3,)
    for rows, columns in (((), (3,)), ((1,), (2, 1)), ((2, 3), (3,))):
        one, other = (TransformedDistribution(Normal(keyway.zeros(shape), 1.0), ExpTransform()) for shape in (rows, columns))
        assert (kl_divergence(one, other) == keyway.zeros(keyway.broadcast_shapes(rows, columns))).all()
        assert kl_divergence(one, other).shape == keyway.broadcast_shapes(rows, columns)
    with pytest.raises(keyway.NotImplementedError, match="the same transforms"):
        kl_divergence(p, TransformedDistribution(Normal(0.0, 1.0), TanhTransform()))


def test_shapes_through_transforms():
    affine = AffineTransform(keyway.zeros(3), keyway.ones(2, 1), event_dim=2)
    assert affine.forward_shape((1,)) == (2, 3) and affine.inverse_shape(()) == (2, 3) and affine.event_dim == 2
    reshape = ReshapeTransform((4,), (2, 2))
    chain = ComposeTransform([reshape, AffineTransform(keyway.zeros(5, 1, 1), 1.0)])
    assert chain.forward_shape((4,)) == (5, 2, 2) and chain.inverse_shape((5, 2, 2)) == (5, 4)
    assert (chain.domain.event_dim, chain.codomain.event_dim) == (1, 2)
    with pytest.raises(keyway.ValueError, match="different event_dim"):
        reshape.event_dim  # noqa: B018
    with pytest.raises(keyway.ValueError, match=r"ends with \(4,\), but it is \(3,\)"):
        reshape(keyway.zeros(3))
    with pytest.raises(keyway.ValueError, match="as many elements"):
        ReshapeTransform((4,), (3,))
    with pytest.raises(keyway.ValueError, match="take 1 dimensions together"):
        TransformedDistribution(Normal(0.0, 1.0), AffineTransform(0.0, 1.0, event_dim=1))
    with pytest.raises(keyway.NotImplementedError, match="AbsTransform: there is no sign"):
        AbsTransform().sign  # noqa: B018


def test_distributions_that_pytorch_makes_of_transforms_say_so():
    x = at([0.25, 1.0, 3.0])
    for p in (distributions.LogNormal(at(0.5), at(0.75)), distributions.Gumbel(at(0.5), at(2.0))):
        made = TransformedDistribution(p.base_dist, p.transforms)
        assert keyway.allclose(made.log_prob(x), p.log_prob(x)) and keyway.allclose(made.cdf(x), p.cdf(x))
    half = distributions.HalfNormal(at(2.0))
    assert half.base_dist.scale.equal(half.scale) and half.transforms == [AbsTransform()]
    keyway.manual_seed(4)
    drawn = TransformedDistribution(half.base_dist, half.transforms).sample((20000,))
    assert drawn.mean().item() == pytest.approx(half.mean.item(), rel=0.03)
