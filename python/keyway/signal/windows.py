"""Windows: weights of M samples that fall off to both sides.

sym: whether the last weight is the first one, as filters want it; if not, the window is one of M + 1 without its last,
as spectra want it. A window of 1 is 1. Raises keyway.ValueError for M below 0, and for dtypes other than float32 and
float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.types import Device

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]


def _made(
    name: str, M: int, sym: bool, weight: Callable[[Tensor, int], Tensor], dtype: _C.dtype | None,
    layout: _C.layout | None, device: Device | None, requires_grad: bool,
) -> Tensor:
    """The weights of positions 0 to M - 1; `weight` gets them and the last position of a symmetric window."""
    kind = _C.get_default_dtype() if dtype is None else dtype
    if kind not in (_C.float32, _C.float64):
        raise _C.ValueError(f"{name}(): argument 'dtype' is float32 or float64, not {kind}")
    if M < 0:
        raise _C.ValueError(f"{name}(): argument 'M' is not negative, but {M}")
    if M < 2:
        made = _C.ones(M, dtype=_C.float64, layout=layout, device=device)
    else:
        made = weight(_C.arange(M, dtype=_C.float64, layout=layout, device=device), M - 1 if sym else M)
    return made.to(dtype=kind).requires_grad_(requires_grad)


def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: _C.dtype | None = None, layout: _C.layout | None = None,
    device: Device | None = None, requires_grad: bool = False,
) -> Tensor:
    """a[0] - a[1] cos(t) + a[2] cos(2 t) - ..., where t goes from 0 to 2 pi."""
    if not isinstance(a, Sequence):
        raise _C.TypeError(f"general_cosine(): argument 'a' is a list or tuple, not {type(a).__name__}")
    if len(a) == 0:
        raise _C.ValueError("general_cosine(): argument 'a' has no numbers")
    factors = [(-1) ** k * float(number) for k, number in enumerate(a)]

    def weight(positions: Tensor, last: int) -> Tensor:
        total = _C.zeros_like(positions)
        for k, factor in enumerate(factors):
            total = total + positions.mul(2 * math.pi * k / last).cos() * factor
        return total

    return _made("general_cosine", M, sym, weight, dtype, layout, device, requires_grad)


def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: _C.dtype | None = None, layout: _C.layout | None = None,
    device: Device | None = None, requires_grad: bool = False,
) -> Tensor:
    """alpha - (1 - alpha) cos(t), where t goes from 0 to 2 pi."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


def _of_cosines(name: str, a: list[float]) -> Any:
    def window(
        M: int, *, sym: bool = True, dtype: _C.dtype | None = None, layout: _C.layout | None = None,
        device: Device | None = None, requires_grad: bool = False,
    ) -> Tensor:
        return general_cosine(M, a=a, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = f"general_cosine of the numbers {a}."
    return window


hamming = _of_cosines("hamming", [0.54, 0.46])
hann = _of_cosines("hann", [0.5, 0.5])
blackman = _of_cosines("blackman", [0.42, 0.5, 0.08])
nuttall = _of_cosines("nuttall", [0.3635819, 0.4891775, 0.1365995, 0.0106411])


def bartlett(
    M: int, *, sym: bool = True, dtype: _C.dtype | None = None, layout: _C.layout | None = None,
    device: Device | None = None, requires_grad: bool = False,
) -> Tensor:
    """A triangle from 0 over 1 to 0."""
    def weight(positions: Tensor, last: int) -> Tensor:
        return 1 - positions.mul(2 / last).sub(1).abs()

    return _made("bartlett", M, sym, weight, dtype, layout, device, requires_grad)


def cosine(
    M: int, *, sym: bool = True, dtype: _C.dtype | None = None, layout: _C.layout | None = None,
    device: Device | None = None, requires_grad: bool = False,
) -> Tensor:
    """Half a period of a sine, at the middles of its pieces."""
    def weight(positions: Tensor, last: int) -> Tensor:
        return positions.add(0.5).mul(math.pi / (last + 1)).sin()

    return _made("cosine", M, sym, weight, dtype, layout, device, requires_grad)


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: _C.dtype | None = None,
    layout: _C.layout | None = None, device: Device | None = None, requires_grad: bool = False,
) -> Tensor:
    """exp(-|n - center| / tau); the center is by default that of the window, and must be for a symmetric one.

    Raises keyway.ValueError for `tau` that is not positive too.
    """
    if tau <= 0:
        raise _C.ValueError(f"exponential(): argument 'tau' is positive, not {tau}")
    if sym and center is not None:
        raise _C.ValueError("exponential(): argument 'center' is for sym=False")

    def weight(positions: Tensor, last: int) -> Tensor:
        return positions.sub(last / 2 if center is None else center).abs().div(-tau).exp()

    return _made("exponential", M, sym, weight, dtype, layout, device, requires_grad)


def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: _C.dtype | None = None, layout: _C.layout | None = None,
    device: Device | None = None, requires_grad: bool = False,
) -> Tensor:
    """exp(-d^2 / (2 std^2)) at a distance d from the middle. Raises keyway.ValueError for `std` that is not positive
    too."""
    if std <= 0:
        raise _C.ValueError(f"gaussian(): argument 'std' is positive, not {std}")

    def weight(positions: Tensor, last: int) -> Tensor:
        return positions.sub(last / 2).div(std).square().mul(-0.5).exp()

    return _made("gaussian", M, sym, weight, dtype, layout, device, requires_grad)


def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: _C.dtype | None = None, layout: _C.layout | None = None,
    device: Device | None = None, requires_grad: bool = False,
) -> Tensor:
    """I0(beta sqrt(1 - t^2)) / I0(beta), where t goes from -1 to 1 and I0 is the modified Bessel function of order 0.

    Raises keyway.ValueError for `beta` below 0 too.
    """
    if beta < 0:
        raise _C.ValueError(f"kaiser(): argument 'beta' is not negative, but {beta}")

    def weight(positions: Tensor, last: int) -> Tensor:
        heights = 1 - positions.mul(2 / last).sub(1).square()
        roots = heights.clamp(min=0).sqrt().mul(beta)
        # Scaled by an exponential, so that a large beta does not overflow.
        whole = _C.scalar_tensor(beta, dtype=roots.dtype, device=roots.device)
        return _C.special_i0e(roots) * (roots - beta).exp() / _C.special_i0e(whole)

    return _made("kaiser", M, sym, weight, dtype, layout, device, requires_grad)
