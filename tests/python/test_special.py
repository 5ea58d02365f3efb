"""Special functions."""

import math

import pytest

import keyway
from keyway import special
from keyway.autograd import gradcheck

X = [-1.5, -0.25, 0.0, 0.5, 2.0]


def at(values, **options):
    return keyway.tensor(values, dtype=keyway.float64, **options)


def test_operators_have_their_other_names():
    x = at([0.5, 1.5])
    for name, operator in {"psi": "digamma", "gammaln": "lgamma", "expit": "sigmoid", "erfc": "erfc"}.items():
        assert keyway.equal(getattr(special, name)(x), getattr(keyway, operator)(x))
    assert all(hasattr(special, name) for name in special.__all__)


def test_the_normal_distribution_and_its_inverse():
    expected = [0.5 * math.erfc(-x / math.sqrt(2)) for x in X]
    assert special.ndtr(at(X)).tolist() == pytest.approx(expected, rel=1e-14)
    assert special.ndtr(at([-30.0])).item() == pytest.approx(4.906713927148187e-198, rel=1e-12)
    assert special.ndtri(special.ndtr(at(X))).tolist() == pytest.approx(X, abs=1e-12)
    assert special.ndtri(at([0.0, 1.0])).tolist() == [-math.inf, math.inf]
    assert special.ndtr(keyway.tensor([0])).item() == 0.5


def test_entropies_and_products_with_logarithms():
    assert special.entr(at([-1.0, 0.0, 0.5])).tolist() == [-math.inf, 0.0, 0.5 * math.log(2)]
    assert special.xlog1py(at([0.0, 0.0, 2.0]), at([-1.0, math.nan, 1e-20])).tolist() == pytest.approx(
        [0.0, math.nan, 2e-20], nan_ok=True)
    assert special.xlog1py(2, at([1.0])).item() == 2 * math.log(2)
    assert special.xlog1py(at([3.0]), 0.1).item() == 3 * math.log1p(0.1)
    assert special.xlog1py(at([0.0, 0.0]), at([math.inf, -2.0])).tolist() == [0.0, 0.0]
    with pytest.raises(keyway.TypeError, match="one of both"):
        special.xlog1py(1, 2)


def test_the_slope_of_xlog1py_at_0_is_the_logarithm():
    x = at([0.0, 0.0, 1.0], requires_grad=True)
    special.xlog1py(x, at([1.0, -1.0, 3.0])).sum().backward()
    assert x.grad.tolist() == pytest.approx([math.log(2), 0.0, math.log(4)])


def test_the_multivariate_gamma_function():
    for p in (1, 2, 4):
        expected = p * (p - 1) / 4 * math.log(math.pi) + sum(math.lgamma(3.25 - i / 2) for i in range(p))
        assert special.multigammaln(at([3.25]), p).item() == pytest.approx(expected, rel=1e-14)
    with pytest.raises(keyway.ValueError, match="p is greater than 0"):
        special.multigammaln(at([1.0]), 0)


def test_the_multivariate_gamma_function_has_an_older_name():
    expected = math.log(math.pi) / 2 + math.lgamma(3) + math.lgamma(2.5)
    x = at([3.0])
    assert keyway.mvlgamma(x, 2).item() == pytest.approx(expected) and x.mvlgamma(2).item() == pytest.approx(expected)
    assert x.mvlgamma_(2) is x and x.item() == pytest.approx(expected)
    with pytest.raises(keyway.TypeError, match="int64"):
        keyway.tensor([3]).mvlgamma_(1)


@pytest.mark.parametrize("name", ["ndtr", "entr", "ndtri"])
def test_gradients_and_results_in_place(name):
    x = at([0.2, 0.4, 0.9], requires_grad=True)
    function = getattr(special, name)
    assert gradcheck(function, (x,))
    out = keyway.empty(0, dtype=keyway.float64)
    assert function(x.detach(), out=out) is out and keyway.equal(out, function(x.detach()))
    with pytest.raises((keyway.NotImplementedError, keyway.TypeError), match=name):
        function(keyway.zeros(1, dtype=keyway.complex64))
