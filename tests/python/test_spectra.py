"""Fourier transforms of pieces of a signal, signals of them, and windows."""

import math
import warnings

import numpy as np
import pytest

import keyway
from keyway.autograd import gradcheck
from keyway.signal import windows


def signal(count=40):
    return np.sin(np.arange(count)) + np.cos(0.3 * np.arange(count))


def pieces_of(x, n_fft, hop, window):
    starts = range(0, len(x) - n_fft + 1, hop)
    return np.stack([np.fft.rfft(x[start : start + n_fft] * window) for start in starts], axis=1)


def test_a_column_is_the_transform_of_a_piece_times_the_window():
    x, window = signal(), np.hanning(8)
    made = keyway.stft(keyway.tensor(x), 8, 3, window=keyway.tensor(window), center=False, return_complex=True)
    np.testing.assert_allclose(made.numpy(), pieces_of(x, 8, 3, window), atol=1e-12)


@pytest.mark.parametrize("mode", ["reflect", "constant", "replicate"])
def test_a_centered_piece_has_its_middle_where_it_would_begin(mode):
    padded = np.pad(signal(), 4, mode="edge" if mode == "replicate" else mode)
    made = keyway.stft(keyway.tensor(signal()), 8, pad_mode=mode, return_complex=True)
    np.testing.assert_allclose(made.numpy(), pieces_of(padded, 8, 2, np.ones(8)), atol=1e-12)


def test_a_short_window_is_in_the_middle_of_a_piece():
    x, window = signal(), np.array([0, 1.0, 2, 3, 4, 5, 0, 0])
    short = keyway.tensor(window[1:6])
    made = keyway.stft(keyway.tensor(x), 8, 2, 5, short, center=False, return_complex=True)
    np.testing.assert_allclose(made.numpy(), pieces_of(x, 8, 2, window), atol=1e-12)
    padded = np.pad(x, (1, 2))
    aligned = keyway.tensor(x).stft(8, 2, 5, short, False, align_to_window=True, return_complex=True)
    np.testing.assert_allclose(aligned.numpy(), pieces_of(padded, 8, 2, window), atol=1e-12)


def test_batches_parts_norms_and_both_sides():
    x = keyway.tensor(np.stack([signal(), signal()[::-1]]))
    one = keyway.stft(x[1], 6, return_complex=True)
    both = keyway.stft(x, 6, return_complex=True)
    assert both.shape == (2, 4, 41) and keyway.equal(both[1], one)
    parts = keyway.stft(x[1], 6, return_complex=False)
    assert keyway.equal(keyway.view_as_complex(parts.contiguous()), one)
    scaled = keyway.stft(x[1], 6, normalized=True, return_complex=True)
    np.testing.assert_allclose(scaled.numpy(), one.numpy() / math.sqrt(6), atol=1e-12)
    sides = keyway.stft(x[1], 6, onesided=False, return_complex=True)
    np.testing.assert_allclose(sides[:4].numpy(), one.numpy(), atol=1e-12)
    np.testing.assert_allclose(sides[5].numpy(), one[1].numpy().conj(), atol=1e-12)


@pytest.mark.parametrize("options", [
    {}, {"normalized": True}, {"center": False}, {"onesided": False}, {"win_length": 6}, {"hop_length": 3},
])
def test_a_signal_comes_back_from_its_spectra(options):
    x = keyway.tensor(signal())
    window = windows.hamming(options.get("win_length", 8), dtype=keyway.float64)
    settings = {"hop_length": 2, "window": window, **options}
    back = keyway.stft(x, 8, return_complex=True, **settings).istft(8, **settings)
    known = len(back) if "win_length" not in options else len(back) - 2
    np.testing.assert_allclose(back.numpy()[:known], signal()[:known], atol=1e-12)
    assert len(back) >= 38


def test_a_complex_signal_comes_back():
    z = keyway.tensor(signal() + 1j * signal()[::-1])
    spectra = keyway.stft(z, 8)
    assert spectra.shape == (8, 21)
    back = keyway.istft(spectra, 8, return_complex=True)
    np.testing.assert_allclose(back.numpy(), z.numpy(), atol=1e-12)


def test_length_cuts_a_signal_or_fills_it_with_zeros():
    spectra = keyway.stft(keyway.tensor(signal()), 8, return_complex=True)
    assert keyway.istft(spectra, 8, length=11).shape == (11,)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        back = keyway.istft(spectra, 8, length=50)
    assert len(caught) == 1 and back.shape == (50,) and back[44:].tolist() == [0.0] * 6


def test_calls_that_do_not_fit_are_refused():
    x = keyway.tensor(signal())
    spectra = keyway.stft(x, 8, return_complex=True)
    for wrong in (
        lambda: keyway.stft(x, 8),
        lambda: keyway.stft(keyway.complex(x, x), 8, onesided=True),
        lambda: keyway.stft(x, 8, align_to_window=True, return_complex=True),
        lambda: keyway.istft(x.reshape(5, 8), 8),
        lambda: keyway.istft(spectra, 8, return_complex=True),
        lambda: keyway.istft(spectra, 8, window=keyway.ones(8) * 1j),
    ):
        with pytest.raises(keyway.TypeError, match="stft"):
            wrong()
    for wrong in (
        lambda: keyway.stft(x, 50, center=False, return_complex=True),
        lambda: keyway.stft(x, 8, 0, return_complex=True),
        lambda: keyway.stft(x, 8, win_length=9, return_complex=True),
        lambda: keyway.stft(x, 8, window=keyway.ones(7), return_complex=True),
        lambda: keyway.stft(x[None, None], 8, return_complex=True),
        lambda: keyway.istft(spectra, 6),
        lambda: keyway.istft(spectra[0], 8),
        lambda: keyway.istft(spectra, 8, 8, window=windows.hann(8, dtype=keyway.float64)),
    ):
        with pytest.raises(keyway.ValueError, match="stft"):
            wrong()


def test_gradients_pass_through_spectra():
    x = keyway.tensor(signal(12), requires_grad=True)
    assert gradcheck(lambda x: keyway.stft(x, 4, return_complex=True), (x,))
    assert gradcheck(lambda x: keyway.istft(keyway.stft(x, 4, return_complex=True), 4), (x,))


SYMMETRIC = {
    "bartlett": np.bartlett, "blackman": np.blackman, "hamming": np.hamming, "hann": np.hanning,
    "cosine": lambda m: np.sin(np.pi * (np.arange(m) + 0.5) / m),
    "exponential": lambda m: np.exp(-np.abs(np.arange(m) - (m - 1) / 2)),
    "gaussian": lambda m: np.exp(-((np.arange(m) - (m - 1) / 2) ** 2) / 2),
    "kaiser": lambda m: np.kaiser(m, 12.0),
    "general_hamming": np.hamming,
    "nuttall": lambda m: sum(
        a * (-1) ** k * np.cos(2 * np.pi * k * np.arange(m) / (m - 1))
        for k, a in enumerate([0.3635819, 0.4891775, 0.1365995, 0.0106411])),
}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_windows_have_their_formula(name):
    window = getattr(windows, name)
    for m in (2, 7, 10):
        np.testing.assert_allclose(window(m, dtype=keyway.float64).numpy(), SYMMETRIC[name](m), atol=1e-12)
    periodic = window(6, sym=False, dtype=keyway.float64)
    np.testing.assert_allclose(periodic.numpy(), SYMMETRIC[name](7)[:-1], atol=1e-12)
    assert window(0).shape == (0,) and window(1).tolist() == [1.0] and window(3).dtype == keyway.float32
    assert window(3, requires_grad=True).requires_grad
    with pytest.raises(keyway.ValueError, match="negative"):
        window(-1)
    with pytest.raises(keyway.ValueError, match="float16"):
        window(3, dtype=keyway.float16)


def test_windows_with_parameters():
    exact = {"dtype": keyway.float64}
    assert windows.general_cosine(3, a=[0.5, 0.25, 0.125], **exact).tolist() == pytest.approx([0.375, 0.875, 0.375])
    assert windows.general_hamming(3, alpha=0.75, **exact).tolist() == pytest.approx([0.5, 1.0, 0.5])
    assert windows.gaussian(3, std=2.0, **exact).tolist() == pytest.approx([math.exp(-1 / 8), 1, math.exp(-1 / 8)])
    shifted = windows.exponential(3, center=0.0, tau=2.0, sym=False, **exact)
    assert shifted.tolist() == pytest.approx([1, math.exp(-0.5), math.exp(-1)])
    np.testing.assert_allclose(windows.kaiser(9, beta=3.5, **exact).numpy(), np.kaiser(9, 3.5), rtol=1e-14)
    periodic = keyway.kaiser_window(5, dtype=keyway.float64)
    np.testing.assert_allclose(periodic.numpy(), np.kaiser(6, 12.0)[:5], rtol=1e-14)
    assert windows.kaiser(4, beta=0.0).tolist() == [1.0] * 4
    for wrong in (
        lambda: windows.gaussian(3, std=0.0), lambda: windows.exponential(3, tau=-1.0),
        lambda: windows.exponential(3, center=1.0), lambda: windows.kaiser(3, beta=-1.0),
        lambda: windows.general_cosine(3, a=[]),
    ):
        with pytest.raises(keyway.ValueError):
            wrong()
    with pytest.raises(keyway.TypeError, match="list"):
        windows.general_cosine(3, a=0.5)
