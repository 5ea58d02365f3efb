"""Fourier transforms: against sums by the definition, and gradients against differences."""

import cmath
import math

import keyway
import pytest
from keyway import fft


def transform(values, sign=-1):
    """By the definition."""
    n = len(values)
    return [sum(v * cmath.exp(sign * 2j * math.pi * (j * k % n) / n) for j, v in enumerate(values)) for k in range(n)]


def numbers(*shape, seed=0):
    """Complex numbers of complex128."""
    keyway.manual_seed(seed)
    parts = keyway.randn(*shape, 2, dtype=keyway.float64)
    return keyway.view_as_complex(parts)


# powers of two, products of small primes, primes that are not small, and products with those
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 16, 17, 19, 30, 34, 64, 77, 97, 128, 143, 210, 257])
def test_a_transform_of_any_length_is_the_sum(n):
    x = numbers(n)
    assert fft.fft(x).tolist() == pytest.approx(transform(x.tolist()), abs=1e-11 * n)
    assert fft.ifft(x, norm="forward").tolist() == pytest.approx(transform(x.tolist(), 1), abs=1e-11 * n)
    single = fft.fft(x.to(dtype=keyway.complex64))
    assert single.dtype is keyway.complex64
    assert single.tolist() == pytest.approx(transform(x.tolist()), abs=1e-5 * n)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 9, 17, 34])
def test_real_transforms_keep_half_and_come_back(n):
    x = keyway.randn(3, n, dtype=keyway.float64)
    half = fft.rfft(x)
    assert half.shape == (3, n // 2 + 1)
    for row, expected in zip(half.tolist(), x.tolist()):
        assert row == pytest.approx(transform(expected)[: n // 2 + 1], abs=1e-12 * n)
    keyway.testing.assert_close(fft.irfft(half, n), x)
    keyway.testing.assert_close(fft.hfft(fft.ihfft(x), n), x)
    both = keyway._C._fft_r2c(x, [1], 0, False)
    keyway.testing.assert_close(both, fft.fft(x))


def test_dimensions_are_transformed_one_after_the_other():
    x = numbers(4, 6, 34)
    each = fft.fft(fft.fft(fft.fft(x, dim=0), dim=1), dim=2)
    keyway.testing.assert_close(fft.fftn(x), each)
    keyway.testing.assert_close(fft.ifftn(each), x)
    keyway.testing.assert_close(fft.fft2(x, dim=(0, 2)), fft.fft(fft.fft(x, dim=2), dim=0))
    real = keyway.randn(4, 6, 10, dtype=keyway.float64)
    keyway.testing.assert_close(fft.rfftn(real), fft.fftn(real)[..., :6])
    keyway.testing.assert_close(fft.irfftn(fft.rfftn(real), (4, 6, 10)), real)
    keyway.testing.assert_close(fft.hfftn(fft.ihfftn(real), (4, 6, 10)), real)
    strided = x.transpose(0, 2)
    keyway.testing.assert_close(fft.fft(strided, dim=0), fft.fft(x, dim=2).transpose(0, 2))


def test_norms_divide_by_the_number_or_its_root():
    x = numbers(6)
    plain = fft.fft(x)
    keyway.testing.assert_close(fft.fft(x, norm="forward"), plain.div(6))
    keyway.testing.assert_close(fft.fft(x, norm="ortho"), plain.div(math.sqrt(6)))
    keyway.testing.assert_close(fft.ifft(plain), x)
    keyway.testing.assert_close(fft.ifft(fft.fft(x, norm="ortho"), norm="ortho"), x)


def test_sizes_cut_off_or_add_zeros():
    x = numbers(5)
    keyway.testing.assert_close(fft.fft(x, 3), fft.fft(x[:3]))
    keyway.testing.assert_close(fft.fft(x, 8), fft.fft(keyway.cat([x, x.new_zeros(3)])))
    real = keyway.randn(3, 5, dtype=keyway.float64)
    assert fft.rfft2(real, (4, 7)).shape == (4, 4) and fft.irfft(real).shape == (3, 8)
    assert fft.fftn(real, (-1, 2)).shape == (3, 2)
    out = keyway.empty(0, dtype=keyway.complex128)
    assert fft.fft(real, out=out) is out and out.shape == (3, 5)


def test_integers_become_floats():
    assert fft.fft(keyway.tensor([1, 3])).tolist() == [4, -2] and fft.rfft(keyway.tensor([True])).dtype is keyway.complex64


@pytest.mark.parametrize("call, message", [
    (lambda x: fft.fft(x, 0), r"Invalid number of data points \(0\)"),
    (lambda x: fft.irfft(x[:, :1]), r"Invalid number of data points \(0\)"),
    (lambda x: fft.fft(x, norm="x"), "Invalid normalization mode"),
    (lambda x: fft.fft(x, dim=4), "Dimension out of range"),
    (lambda x: fft.fftn(x, dim=(0, -2)), "FFT dims must be unique"),
    (lambda x: fft.fftn(x, s=(1, 2, 3)), "only has 2 dimensions"),
    (lambda x: fft.fftn(x, s=(1,), dim=(0, 1)), "the same length"),
    (lambda x: fft.rfft(fft.fft(x)), "expects a real input"),
    (lambda x: fft.rfftn(x, dim=()), "at least one axis"),
    (lambda x: fft.fft(x.to(dtype=keyway.float16)), "Unsupported dtype"),
    (lambda x: fft.fft(x, out=keyway.empty(0)), "out has dtype"),
])
def test_what_is_no_transform_is_refused(call, message):
    with pytest.raises(keyway.Error, match=message):
        call(keyway.ones(2, 3))


def test_gradients_of_transforms_are_those_of_differences():
    def weighed(z):
        """A real number that depends on all parts in other ways."""
        parts = keyway.view_as_real(z)
        weights = keyway.arange(1, parts.numel() + 1, dtype=parts.dtype).reshape(parts.shape)
        return parts.mul(weights).sum()

    keyway.manual_seed(3)
    x = keyway.randn(2, 6, dtype=keyway.float64, requires_grad=True)
    for norm in (None, "ortho", "forward"):
        assert keyway.autograd.gradcheck(lambda x: weighed(fft.rfft(x, norm=norm)), (x,))
        assert keyway.autograd.gradcheck(lambda x: weighed(fft.ifftn(x, norm=norm)), (x,))
        assert keyway.autograd.gradcheck(lambda x: fft.irfft(keyway.view_as_complex(x.reshape(2, 3, 2)), 5, norm=norm), (x,))
        assert keyway.autograd.gradcheck(lambda x: fft.irfft(keyway.view_as_complex(x.reshape(2, 3, 2)), 4, norm=norm), (x,))
    assert keyway.autograd.gradcheck(lambda x: weighed(fft.rfftn(x, (2, 5))), (x,))
    assert keyway.autograd.gradcheck(lambda x: weighed(fft.hfftn(x).add(0j)), (x,))


def test_frequencies_and_shifts():
    assert fft.fftfreq(5).tolist() == pytest.approx([0, 0.2, 0.4, -0.4, -0.2])
    assert fft.fftfreq(4, 2).tolist() == [0, 0.125, -0.25, -0.125] and fft.rfftfreq(5).tolist() == pytest.approx([0, 0.2, 0.4])
    assert fft.fftshift(keyway.arange(5)).tolist() == [3, 4, 0, 1, 2]
    x = keyway.arange(12).reshape(3, 4)
    assert fft.ifftshift(fft.fftshift(x)).tolist() == x.tolist()
    assert fft.fftshift(x, 1)[0].tolist() == [2, 3, 0, 1]


def test_a_device_without_a_kernel_says_so():
    x = keyway.empty(2, 3, dtype=keyway.complex64, device="meta")
    assert fft.fftn(x).shape == (2, 3) and fft.irfft(x).shape == (2, 4)
