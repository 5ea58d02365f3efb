"""Special functions."""

import math

import numpy as np
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


def bessel(order, x):
    """By the integral of exp(x cos(t)) cos(order t) over a period, of which equal steps give all digits."""
    t = np.arange(400) * (2 * np.pi / 400)
    return np.mean(np.exp(np.multiply.outer(x, np.cos(t))) * np.cos(order * t), -1)


def test_modified_bessel_functions_are_their_integrals():
    x = np.linspace(-40, 40, 81)
    for name, order in (("i0", 0), ("i1", 1)):
        expected = bessel(order, x)
        np.testing.assert_allclose(getattr(special, name)(at(x)).numpy(), expected, rtol=1e-13, atol=1e-12)
        scaled = getattr(special, name + "e")(at(x)).numpy()
        np.testing.assert_allclose(scaled, expected * np.exp(-np.abs(x)), rtol=1e-13, atol=1e-14)
    assert special.i0e(at([1e10])).item() == pytest.approx((2 * math.pi * 1e10) ** -0.5)
    assert special.i0(keyway.tensor([0, 1])).tolist() == pytest.approx([1.0, 1.2660658777520084])
    y = keyway.tensor([1.0])
    assert y.i0().item() == pytest.approx(1.2660658777520084) and y.i0_() is y and y.item() > 1.2
    for wrong, error in ((lambda: keyway.tensor([1]).i0_(), keyway.TypeError),
                         (lambda: keyway.i0(keyway.tensor([1j])), keyway.NotImplementedError)):
        with pytest.raises(error, match="i0"):
            wrong()


def test_logarithms_and_scaled_errors_far_from_0():
    x = [-20.0, -1.5, -1.0, 0.0, 0.5, 5.0, 20.0]
    expected = [math.exp(v * v) * math.erfc(v) for v in x]
    assert special.erfcx(at(x)).tolist() == pytest.approx(expected, rel=1e-13)
    assert special.erfcx(at([1e10, 26.0])).tolist() == pytest.approx(
        [1e-10 / math.sqrt(math.pi), math.exp(676) * math.erfc(26)], rel=1e-12)
    expected = [math.log(0.5 * math.erfc(-v / math.sqrt(2))) for v in x[1:]]
    assert special.log_ndtr(at(x[1:])).tolist() == pytest.approx(expected, rel=1e-12)
    assert special.log_ndtr(at([-30.0])).item() == pytest.approx(math.log(4.906713927148187e-198), rel=1e-12)
    far = -5e7 - math.log(1e4 * math.sqrt(2 * math.pi))
    assert special.log_ndtr(at([-1e4])).item() == pytest.approx(far, rel=1e-12)


@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e", "erfcx", "log_ndtr"])
def test_functions_by_series_have_gradients(name):
    assert gradcheck(getattr(special, name), (at([-32.0 if name[0] == "i" else -4.0, -0.5, 0.25, 2.0, 31.0],
                                                 requires_grad=True),), rtol=1e-4)


# The slope of log_ndtr, the density over the share, and that of the slope: mpmath's.
SLOPES = {
    40.0: (0.0, 0.0), 20.0: (5.5209483621597632e-88, -1.1041896724319526e-86),
    5.0: (1.4867199409049057e-6, -7.4336019148607112e-6), 0.5: (0.50916043383703349, -0.5138245643036329),
    0.0: (0.79788456080286536, -0.63661977236758134), -1.0: (1.5251352761609812, -0.80090233442965121),
    -10.0: (10.098093233962512, -0.99055462217434374), -30.0: (30.033259667433677, -0.99889622848810991),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [keyway.float64, keyway.float32, keyway.float16, keyway.bfloat16])
def test_the_logarithm_of_the_normal_distribution_has_slopes_at_both_ends(dtype):
    for point, (slope, bend) in SLOPES.items():
        x = keyway.tensor(point, dtype=dtype, requires_grad=True)
        (first,) = keyway.autograd.grad(special.log_ndtr(x), x, create_graph=True)
        (second,) = keyway.autograd.grad(first, x, create_graph=True)
        (third,) = keyway.autograd.grad(second, x)
        unit, is_narrow = keyway.finfo(dtype).eps, dtype in (keyway.float16, keyway.bfloat16)
        tiny = keyway.finfo(dtype).smallest_normal * keyway.finfo(dtype).eps
        assert first.item() == pytest.approx(slope, rel=unit * 8, abs=tiny)
        assert second.item() == pytest.approx(bend, rel=unit * (8 if is_narrow else 2000), abs=tiny)
        assert math.isfinite(third.item())


@pytest.mark.parametrize("dtype", [keyway.float64, keyway.float32])
def test_slopes_of_logarithms_of_sums_of_powers_of_2_have_slopes_where_one_is_far_greater(dtype):
    for a, b in ((0.0, 2000.0), (2000.0, 0.0), (1.0, 3.0)):
        x, y = (keyway.tensor(v, dtype=dtype, requires_grad=True) for v in (a, b))
        first = keyway.autograd.grad(keyway.logaddexp2(x, y), (x, y), create_graph=True)
        share = 1 / (1 + 2.0 ** max(min(b - a, 1000), -1000))
        assert [g.item() for g in first] == pytest.approx([share, 1 - share], rel=1e-6, abs=1e-300)
        for g, of in zip(first, (x, y)):
            (second,) = keyway.autograd.grad(g, of, retain_graph=True)
            assert second.item() == pytest.approx(math.log(2) * share * (1 - share), rel=1e-5, abs=1e-300)


def test_the_multivariate_gamma_function():
    for p in (1, 2, 4):
        expected = p * (p - 1) / 4 * math.log(math.pi) + sum(math.lgamma(3.25 - i / 2) for i in range(p))
        assert special.multigammaln(at([3.25]), p).item() == pytest.approx(expected, rel=1e-14)
    with pytest.raises(keyway.ValueError, match="p is greater than 0"):
        special.multigammaln(at([1.0]), 0)


def power_series(x, order):
    """The modified Bessel function of the first kind, by its definition."""
    terms = [(x / 2) ** order]
    for k in range(1, 150):
        terms.append(terms[-1] * (x / 2) ** 2 / (k * (k + order)))
    return math.fsum(terms)


def test_modified_bessel_functions_are_their_power_series():
    points = [-20.0, -7.9, -0.3, 0.0, 1e-9, 2.0, 8.0, 8.1, 30.0]
    for order, plain, scaled in ((0, special.i0, special.i0e), (1, special.i1, special.i1e)):
        expected = [power_series(x, order) for x in points]
        assert plain(at(points)).tolist() == pytest.approx(expected, rel=4e-15)
        expected = [y * math.exp(-abs(x)) for x, y in zip(points, expected)]
        assert scaled(at(points)).tolist() == pytest.approx(expected, rel=4e-15)
    # Where the exponential alone overflows; by the first terms of the asymptotic series.
    assert special.i0(at([712.0])).item() == pytest.approx(
        math.exp(700) / math.sqrt(2 * math.pi * 712) * math.exp(12) * (1 + 1 / (8 * 712) + 9 / (128 * 712**2)), rel=1e-8)
    assert special.i1(at([-1e4])).item() == -math.inf


def test_erfc_scaled_and_the_logarithm_of_the_normal_distribution():
    points = [-3.0, -1.0, 0.0, 0.7, 3.75, 5.0]
    expected = [math.exp(x * x) * math.erfc(x) for x in points]
    assert special.erfcx(at(points)).tolist() == pytest.approx(expected, rel=1e-14)
    x = 200.0
    asymptotic = (1 - 1 / (2 * x * x) + 3 / (4 * x**4)) / (x * math.sqrt(math.pi))
    assert special.erfcx(at([x])).item() == pytest.approx(asymptotic, rel=1e-13)
    points = [-5.0, -1.0, -0.999, 0.0, 2.0]
    expected = [math.log(math.erfc(-x / math.sqrt(2)) / 2) for x in points]
    assert special.log_ndtr(at(points)).tolist() == pytest.approx(expected, rel=1e-13)
    far = -(50.0**2) / 2 - math.log(50 * math.sqrt(2 * math.pi)) + math.log1p(-1 / 2500 + 3 / 2500**2)
    assert special.log_ndtr(at([-50.0])).item() == pytest.approx(far, rel=1e-10)


def test_incomplete_gamma_functions_of_integers_are_sums_of_poissons():
    for shape in (1, 3, 40, 1000):
        for x in (0.5 * shape, float(shape), 1.5 * shape):
            expected = math.fsum(math.exp(k * math.log(x) - x - math.lgamma(k + 1)) for k in range(shape))
            assert special.gammaincc(at([shape]), at([x])).item() == pytest.approx(expected, rel=1e-11)
            assert special.gammainc(at([shape]), at([x])).item() == pytest.approx(1 - expected, rel=1e-11)
    half = [math.erf(math.sqrt(x)) for x in (0.1, 1.0, 4.0)]
    assert special.gammainc(at([0.5]), at([0.1, 1.0, 4.0])).tolist() == pytest.approx(half, rel=1e-13)
    # Near the mean of a large shape: the normal distribution, and its first correction.
    shape = 1e8
    expected = 0.5 + 1 / (3 * math.sqrt(2 * math.pi * shape))
    assert special.gammainc(at([shape]), at([shape])).item() == pytest.approx(expected, rel=1e-11)
    with pytest.raises(keyway.DtypeError):
        special.gammainc(keyway.tensor([1]), keyway.tensor([1]))


def test_the_hurwitz_zeta_function():
    assert special.zeta(2, at([1.0, 0.5])).tolist() == pytest.approx([math.pi**2 / 6, math.pi**2 / 2], rel=1e-15)
    s, q = 1.5, 0.25  # zeta(s, q) - zeta(s, q + 1) is its first term
    assert (special.zeta(s, at([q])) - special.zeta(s, at([q + 1]))).item() == pytest.approx(q**-s, rel=1e-14)
    assert special.zeta(at([1.0, 0.5, 2.5]), at([2.0, 2.0, -0.5])).tolist() == pytest.approx(
        [math.inf, math.nan, math.nan], nan_ok=True)
    x = at([0.3, 2.0], requires_grad=True)
    assert gradcheck(lambda q: special.zeta(3, q), (x,))
    with pytest.raises(keyway.Error):
        special.zeta(at([2.0], requires_grad=True), 1.5).backward()


def test_the_multivariate_gamma_function_has_an_older_name():
    expected = math.log(math.pi) / 2 + math.lgamma(3) + math.lgamma(2.5)
    x = at([3.0])
    assert keyway.mvlgamma(x, 2).item() == pytest.approx(expected) and x.mvlgamma(2).item() == pytest.approx(expected)
    assert x.mvlgamma_(2) is x and x.item() == pytest.approx(expected)
    with pytest.raises(keyway.TypeError, match="int64"):
        keyway.tensor([3]).mvlgamma_(1)


@pytest.mark.parametrize("name", ["ndtr", "entr", "ndtri", "i0", "i0e", "i1", "i1e", "erfcx", "log_ndtr"])
def test_gradients_and_results_in_place(name):
    x = at([0.2, 0.4, 0.9], requires_grad=True)
    function = getattr(special, name)
    assert gradcheck(function, (x,))
    out = keyway.empty(0, dtype=keyway.float64)
    assert function(x.detach(), out=out) is out and keyway.equal(out, function(x.detach()))
    with pytest.raises((keyway.NotImplementedError, keyway.TypeError), match=name):
        function(keyway.zeros(1, dtype=keyway.complex64))


def test_orthogonal_polynomials_are_numpys():
    x = np.linspace(-1.75, 2.25, 33)
    degrees = np.arange(13)
    series = {"chebyshev_polynomial_t": np.polynomial.Chebyshev, "hermite_polynomial_h": np.polynomial.Hermite,
              "hermite_polynomial_he": np.polynomial.HermiteE, "laguerre_polynomial_l": np.polynomial.Laguerre,
              "legendre_polynomial_p": np.polynomial.Legendre}
    for name, basis in series.items():
        expected = np.stack([basis.basis(int(n))(x) for n in degrees])
        found = getattr(special, name)(at(x), keyway.tensor(degrees).unsqueeze(1))
        assert found.dtype == keyway.float64 and found.shape == (13, 33)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-11, atol=1e-11, err_msg=name)
        derived = at(x, requires_grad=True)
        getattr(special, name)(derived, 5).sum().backward()
        np.testing.assert_allclose(derived.grad.numpy(), basis.basis(5).deriv()(x), rtol=1e-11, atol=1e-11)


def test_chebyshev_polynomials_are_their_trigonometric_forms():
    angle = np.linspace(0.05, 3.05, 31)
    x = at(np.cos(angle))
    forms = {"t": lambda n: np.cos(n * angle), "u": lambda n: np.sin((n + 1) * angle) / np.sin(angle),
             "v": lambda n: np.cos((n + 0.5) * angle) / np.cos(angle / 2),
             "w": lambda n: np.sin((n + 0.5) * angle) / np.sin(angle / 2)}
    for letter, form in forms.items():
        for n in (0, 1, 2, 7, 30):
            plain = getattr(special, f"chebyshev_polynomial_{letter}")(x, n)
            shifted = getattr(special, f"shifted_chebyshev_polynomial_{letter}")((x + 1) / 2, n)
            np.testing.assert_allclose(plain.numpy(), form(n), rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(shifted.numpy(), form(n), rtol=1e-9, atol=1e-9)


def test_degrees_of_polynomials_are_whole_and_of_numbers_too():
    assert special.legendre_polynomial_p(0.5, keyway.tensor([2.9, 0.0, -1.0, 1.0])).tolist() == [-0.125, 1.0, 0.0, 0.5]
    assert special.hermite_polynomial_h(keyway.tensor([1, 2]), 2).tolist() == [2.0, 14.0]
    out = keyway.empty(2)
    assert special.laguerre_polynomial_l(keyway.tensor([0.0, 1.0]), 1, out=out) is out and out.tolist() == [1.0, 0.0]
    assert special.chebyshev_polynomial_t(keyway.empty(0, 3), 4).shape == (0, 3)
    with pytest.raises(keyway.TypeError, match="one of both is a tensor"):
        special.legendre_polynomial_p(0.5, 2)
    for endless in (math.inf, math.nan):
        with pytest.raises(keyway.ValueError, match="degrees are finite"):
            special.legendre_polynomial_p(keyway.ones(2), endless)
    with pytest.raises(keyway.DtypeError, match="complex64"):
        special.legendre_polynomial_p(keyway.ones(1, dtype=keyway.complex64), 2)
