"""Fourier transforms of short pieces of a signal, and a signal of them."""

from __future__ import annotations

import warnings

from keyway import _C, fft
from keyway._tensor.attach import attach
from keyway._C import Tensor
from keyway._tensor.methods import checked


def _steps(function: str, n_fft: int, hop_length: int | None, win_length: int | None) -> tuple[int, int]:
    """How far pieces are apart, and how long the window is."""
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if n_fft <= 0 or hop <= 0 or not 0 < length <= n_fft:
        raise _C.ValueError(f"{function}(): needs n_fft > 0, hop_length > 0 and 0 < win_length <= n_fft, but they are "
                            f"{n_fft}, {hop} and {length}")
    return hop, length


def _window(function: str, window: Tensor | None, length: int, n_fft: int, like: Tensor) -> Tensor:
    """The window of a piece: zeros at both sides, if it is shorter."""
    if window is None:
        real = _C.view_as_real(like.new_zeros(1)).dtype if like.is_complex() else like.dtype
        window = _C.ones(length, dtype=real, device=like.device)
    if tuple(checked(window, function, "window").shape) != (length,):
        raise _C.ValueError(f"{function}(): argument 'window' has shape [{length}], not {list(window.shape)}")
    left = (n_fft - length) // 2
    return _C.constant_pad_nd(window, [left, n_fft - length - left]) if length < n_fft else window


def stft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Tensor | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: bool | None = None, return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Tensor:
    """The Fourier transforms [B, N, T] of T overlapping pieces of signals [B, L], or [N, T] of one [L].

    A piece has `n_fft` samples, `hop_length` (n_fft // 4) after those of the one before it, times a `window` of
    `win_length` (n_fft) in its middle (by default ones). With `center` the signal is padded by `pad_mode`, such that a
    piece's middle is where it else would begin; without it, with `align_to_window`, by zeros, such that a window begins
    there. N is n_fft // 2 + 1 if `onesided` (which real signals are by default), else n_fft. `normalized` divides by
    the square root of n_fft. The result is complex, or if `return_complex` is False has both parts as a last dimension.

    Raises keyway.TypeError unless `return_complex` is given for real signals, and for `onesided` with complex ones;
    keyway.ValueError for sizes that do not fit.
    """
    signal = checked(input, "stft")
    if signal.dim() not in (1, 2) or not (signal.is_floating_point() or signal.is_complex()):
        raise _C.ValueError(f"stft(): needs floating-point or complex signals [L] or [B, L], not {signal.dtype} "
                            f"{list(signal.shape)}")
    is_complex = signal.is_complex() or (window is not None and window.is_complex())
    if return_complex is None and not is_complex:
        raise _C.TypeError("stft(): argument 'return_complex' must be given for a real signal and window")
    if onesided and is_complex:
        raise _C.TypeError("stft(): a complex signal or window has no transform of one side: give onesided=False")
    if center and align_to_window is not None:
        raise _C.TypeError("stft(): argument 'align_to_window' is for center=False")
    hop, length = _steps("stft", n_fft, hop_length, win_length)
    if center:
        signal = _padded(signal, n_fft // 2, n_fft // 2, pad_mode)
    elif align_to_window:
        left = (n_fft - length) // 2
        signal = _padded(signal, left, n_fft - length - left, "constant")
    if signal.size(-1) < n_fft:
        raise _C.ValueError(f"stft(): the signal has {signal.size(-1)} samples, but n_fft is {n_fft}")
    pieces = signal.unfold(-1, n_fft, hop).mul(_window("stft", window, length, n_fft, signal))
    norm = "ortho" if normalized else None
    one_side = not is_complex if onesided is None else onesided
    spectra = (fft.rfft if one_side else fft.fft)(pieces, norm=norm).transpose(-1, -2)
    return _C.view_as_real(spectra) if return_complex is False else spectra


def _padded(signal: Tensor, left: int, right: int, mode: str) -> Tensor:
    batch = signal.reshape([1] * (3 - signal.dim()) + list(signal.shape))
    padded: Tensor = _C._nn.pad(batch, [left, right], mode)
    return padded.reshape([*signal.shape[:-1], padded.size(-1)])


def istft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Tensor | None = None, center: bool = True, normalized: bool = False, onesided: bool | None = None,
    length: int | None = None, return_complex: bool = False,
) -> Tensor:
    """The signals [B, L] that stft makes spectra [B, N, T] of, or one [L] of [N, T], by least squares.

    The arguments are those of stft. `onesided` is by default what N says. `length` is how many samples come out, by
    default all that are known; missing ones are 0, with a warning.

    Raises keyway.TypeError for spectra that are not complex, for `return_complex` with `onesided`, and for a complex
    window without `return_complex`; keyway.ValueError for sizes that do not fit, and where windows leave samples out.
    """
    spectra = checked(input, "istft")
    if not spectra.is_complex():
        raise _C.TypeError(f"istft(): argument 'input' must be complex, not {spectra.dtype}")
    if spectra.dim() not in (2, 3) or spectra.numel() == 0:
        raise _C.ValueError(f"istft(): needs spectra [N, T] or [B, N, T] with elements, not {list(spectra.shape)}")
    hop, win = _steps("istft", n_fft, hop_length, win_length)
    one_side = spectra.size(-2) != n_fft if onesided is None else onesided
    wanted = n_fft // 2 + 1 if one_side else n_fft
    if spectra.size(-2) != wanted or hop > win:
        raise _C.ValueError(f"istft(): needs N = {wanted} frequencies and hop_length <= win_length, but they are "
                            f"{spectra.size(-2)}, {hop} and {win}")
    if return_complex and one_side:
        raise _C.TypeError("istft(): spectra of one side are those of real signals: give onesided=False")
    if window is not None and window.is_complex() and not return_complex:
        raise _C.TypeError("istft(): a complex window needs return_complex=True")
    weights = _window("istft", window, win, n_fft, spectra)
    pieces = spectra.transpose(-1, -2)
    norm = "ortho" if normalized else None
    if return_complex:
        pieces = fft.ifft(pieces, norm=norm)
    else:  # of which the half that is not read is the conjugate of the other
        pieces = fft.irfft(pieces.narrow(-1, 0, n_fft // 2 + 1), n_fft, norm=norm)
    count = pieces.size(-2)
    total = _overlapped(pieces.mul(weights), hop)
    known = _overlapped(weights.square().expand(count, n_fft), hop)
    return _cut(total, known, n_fft // 2 if center else 0, center, length)


def _overlapped(pieces: Tensor, hop: int) -> Tensor:
    """The sum [..., L] of pieces [..., T, n], each `hop` after the one before it."""
    count, size = pieces.shape[-2:]
    starts = _C.arange(count, device=pieces.device).mul(hop).unsqueeze(1)
    positions = starts.add(_C.arange(size, device=pieces.device)).reshape(-1)
    sums = pieces.new_zeros([*pieces.shape[:-2], size + hop * (count - 1)])
    return sums.index_add(-1, positions, pieces.reshape([*pieces.shape[:-2], count * size]))


def _cut(total: Tensor, known: Tensor, start: int, center: bool, length: int | None) -> Tensor:
    """What is known of the signal, of which `start` samples were padding, divided by the weights."""
    size = total.size(-1)
    end = min(size, start + length) if length is not None else size - start if center else size
    total, known = total.narrow(-1, start, max(0, end - start)), known.narrow(-1, start, max(0, end - start))
    if known.numel() > 0 and bool(known.abs().min() <= 1e-11):
        raise _C.ValueError("istft(): the windows leave out a sample: their squares add up to 0 there")
    signal = total.div(known)
    missing = 0 if length is None else length - signal.size(-1)
    if missing > 0:
        warnings.warn("The length of signal is shorter than the length parameter. Result is being padded with zeros in "
                      "the tail. Please check your center and hop_length settings.", stacklevel=3)
        signal = _C.constant_pad_nd(signal, [0, missing])
    return signal


attach(Tensor, stft, istft)
