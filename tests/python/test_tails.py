"""Functions and derivatives where results are tiny or what is computed on the way is huge. Expected numbers were computed
with mpmath, with 50 digits."""
import math

import pytest

import keyway
import keyway.nn.functional as F

NORMAL_TAIL = {-1.0: -0.15865525393145705, -3.0: -0.0040496940948902835, -5.5: -1.0444259356238246e-7,
               -10.0: -7.6198530241605261e-23}  # x times the normal distribution's share below x


@pytest.mark.parametrize("x, expected", NORMAL_TAIL.items())
def test_gelu_keeps_its_digits_in_the_tail(x, expected):
    for dtype, error in ((keyway.float32, 6e-7), (keyway.float64, 1e-14)):
        for n in (1, 100):  # single elements and vectors
            got = F.gelu(keyway.full((n,), x, dtype=dtype))
            assert got.tolist() == pytest.approx([expected] * n, rel=error)


@pytest.mark.parametrize("x, expected", [(-5.0, -2.291796196629506e-7), (-8.0, -3.1077829375011112e-21)])
def test_gelu_by_tanh_keeps_its_digits_in_the_tail(x, expected):
    got = F.gelu(keyway.tensor([x], dtype=keyway.float64), approximate="tanh")
    assert got.item() == pytest.approx(expected, rel=1e-12)
    assert F.gelu(keyway.tensor([x]), approximate="tanh").item() == pytest.approx(expected, rel=1e-5)


def test_gelus_slope_is_a_sum_without_cancellation():
    x = keyway.tensor([-5.5, -9.0, 5.5, 0.0], requires_grad=True)
    F.gelu(x).sum().backward()
    expected = [-5.7334723987399248e-7, -9.1389373739066393e-18, 1.0000005733472399, 0.5]
    assert x.grad.tolist() == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("scale", [1e-30, 1e-25, 1.0, 1e25])
def test_the_gradient_of_an_angle_does_not_depend_on_squares(scale):
    y = keyway.tensor([3 * scale, -scale], requires_grad=True)
    x = keyway.tensor([4 * scale, scale], requires_grad=True)
    keyway.atan2(y, x).sum().backward()
    assert y.grad.tolist() == pytest.approx([0.16 / scale, 0.5 / scale], rel=1e-6)
    assert x.grad.tolist() == pytest.approx([-0.12 / scale, 0.5 / scale], rel=1e-6)
    z = keyway.tensor([complex(4 * scale, 3 * scale)], requires_grad=True)
    keyway.angle(z).sum().backward()
    assert z.grad.item() == pytest.approx(complex(-0.12, 0.16) / scale, rel=1e-6)


def test_the_gradient_of_an_angle_at_the_origin_is_zero_of_all_orders():
    y, x = keyway.zeros(1, requires_grad=True), keyway.zeros(1, requires_grad=True)
    first = keyway.autograd.grad(keyway.atan2(y, x).sum(), (y, x), create_graph=True)
    second = keyway.autograd.grad(first[0].sum() + first[1].sum(), (y, x))
    assert [g.item() for g in (*first, *second)] == [0.0] * 4 or all(math.isfinite(g.item()) for g in (*first, *second))


@pytest.mark.parametrize("z", [complex(-15601, 1), complex(15601, 1), complex(-100, 2), complex(0.5, -2)])
def test_sigmoid_of_complex_numbers_has_no_large_exponential(z):
    got = keyway.sigmoid(keyway.tensor([z], dtype=keyway.complex128)).item()
    small = -abs(z.real)
    e = complex(math.exp(small) * math.cos(z.imag), math.exp(small) * math.sin(z.imag) * (1 if z.real < 0 else -1))
    expected = (e if z.real < 0 else 1) / (1 + e)
    assert got == pytest.approx(expected, rel=1e-12)


def test_sigmoid_goes_to_zero_through_denormal_numbers():
    assert keyway.sigmoid(keyway.tensor([-710.0, -740.0], dtype=keyway.float64)).tolist() == pytest.approx(
        [math.exp(-710), math.exp(-740)], rel=1e-2)
    assert F.silu(keyway.tensor([-90.0])).item() == pytest.approx(-90 * math.exp(-90), rel=1e-4)


def test_slopes_near_the_ends_of_domains():
    x = 1 - 2.0**-20
    expected = 1 / math.sqrt(2.0**-20 * (1 + x))
    for function, slope in ((keyway.asin, expected), (keyway.acos, -expected), (keyway.atanh, expected**2)):
        at = keyway.tensor([x], requires_grad=True)
        function(at).sum().backward()
        assert at.grad.item() == pytest.approx(slope, rel=1e-6)
    far = keyway.tensor([1e30], requires_grad=True)
    keyway.asinh(far).sum().backward()
    assert far.grad.item() == pytest.approx(1e-30, rel=1e-6)


def test_logit_keeps_its_digits_around_one_half():
    x = keyway.tensor([0.5, 0.5 + 2.0**-20, 0.4, 0.9])
    expected = [math.log(p / (1 - p)) if p != 0.5 + 2.0**-20 else 2.0**-18 for p in x.to(keyway.float64).tolist()]
    assert keyway.logit(x).tolist() == pytest.approx(expected, rel=3e-7)


@pytest.mark.parametrize("dtype", [keyway.float32, keyway.bfloat16])
@pytest.mark.parametrize("scale", [2.0**66, 2.0**-83, 1.0])
def test_deviations_of_large_and_small_numbers(scale, dtype):
    sign = keyway.arange(1000) % 2 * 2 - 1
    x = (sign * 0.25 + 2).to(dtype) * scale
    deviation = 0.25 * math.sqrt(1000 / 999) * scale
    tolerance = 1e-6 if dtype is keyway.float32 else 4e-3
    for got in (x.std(), x.reshape(10, 100).t().reshape(-1).std(), keyway.std_mean(x)[0]):
        assert got.item() == pytest.approx(deviation, rel=tolerance)
    columns = x.unsqueeze(1).expand(1000, 3).contiguous()
    assert columns.std(0).tolist() == pytest.approx([deviation] * 3, rel=tolerance)
    if scale == 1.0:
        assert x.var().item() == pytest.approx(deviation**2, rel=tolerance)
    z = keyway.complex(x.float(), x.float())
    assert z.std().item() == pytest.approx(deviation * math.sqrt(2), rel=tolerance)


def test_variances_have_no_cancellation():
    x = keyway.tensor([4096.0, 4097.0, 4098.0] * 5000)
    assert x.var().item() == pytest.approx(15000 / 14999 * 2 / 3, rel=1e-6)
    assert keyway.full((10007,), 0.1).var().item() == 0.0
    far = keyway.cat([keyway.tensor([1e8], dtype=keyway.float64), keyway.tensor([1.0, 2.0], dtype=keyway.float64).repeat(5000)])
    mean = (1e8 + 15000) / 10001
    expected = ((1e8 - mean) ** 2 + 5000 * ((1 - mean) ** 2 + (2 - mean) ** 2)) / 10000
    assert far.var().item() == pytest.approx(expected, rel=1e-13)


def test_norms_of_large_and_small_numbers():
    for scale in (1e20, 1e-30, 1.0):
        x = keyway.tensor([3 * scale, 4 * scale] * 40)
        assert keyway.linalg.vector_norm(x).item() == pytest.approx(5 * math.sqrt(40) * scale, rel=1e-6)
