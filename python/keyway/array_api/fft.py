"""The Fourier transform extension of the array API, over keyway.fft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from keyway import _C, fft as _fft

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip

_Sizes = Union[Sequence[int], None]  # of several axes


def fft(x: _C.Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> _C.Tensor:
    """The Fourier transform along an axis, of `n` elements."""
    return _fft.fft(x, n, axis, norm)


def ifft(x: _C.Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> _C.Tensor:
    """The inverse of `fft`."""
    return _fft.ifft(x, n, axis, norm)


def rfft(x: _C.Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> _C.Tensor:
    """The first half of the transform of real numbers."""
    return _fft.rfft(x, n, axis, norm)


def irfft(x: _C.Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> _C.Tensor:
    """The inverse of `rfft`: `n` real numbers."""
    return _fft.irfft(x, n, axis, norm)


def hfft(x: _C.Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> _C.Tensor:
    """The real transform of what has Hermitian symmetry, of which the first half is given."""
    return _fft.hfft(x, n, axis, norm)


def ihfft(x: _C.Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> _C.Tensor:
    """The inverse of `hfft`."""
    return _fft.ihfft(x, n, axis, norm)


def fftn(x: _C.Tensor, /, *, s: _Sizes = None, axes: _Sizes = None, norm: str = "backward") -> _C.Tensor:
    """The Fourier transform over several axes, of sizes `s`."""
    return _fft.fftn(x, s, axes, norm)


def ifftn(x: _C.Tensor, /, *, s: _Sizes = None, axes: _Sizes = None, norm: str = "backward") -> _C.Tensor:
    """The inverse of `fftn`."""
    return _fft.ifftn(x, s, axes, norm)


def rfftn(x: _C.Tensor, /, *, s: _Sizes = None, axes: _Sizes = None, norm: str = "backward") -> _C.Tensor:
    """The transform of real numbers over several axes, the last of which has its first half."""
    return _fft.rfftn(x, s, axes, norm)


def irfftn(x: _C.Tensor, /, *, s: _Sizes = None, axes: _Sizes = None, norm: str = "backward") -> _C.Tensor:
    """The inverse of `rfftn`."""
    return _fft.irfftn(x, s, axes, norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: _C.dtype | None = None, device: Any = None) -> _C.Tensor:
    """The frequencies of a transform of `n` samples that are `d` apart."""
    return _fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: _C.dtype | None = None, device: Any = None) -> _C.Tensor:
    """Those of its first half."""
    return _fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x: _C.Tensor, /, *, axes: int | Sequence[int] | None = None) -> _C.Tensor:
    """Moves the zero frequency to the middle of axes."""
    return _fft.fftshift(x, axes)


def ifftshift(x: _C.Tensor, /, *, axes: int | Sequence[int] | None = None) -> _C.Tensor:
    """The inverse of `fftshift`."""
    return _fft.ifftshift(x, axes)
