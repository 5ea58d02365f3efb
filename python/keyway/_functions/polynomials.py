"""Orthogonal polynomials, elementwise, by their recurrences of three terms (Abramowitz and Stegun, 22.7)."""

from __future__ import annotations

import math
from collections.abc import Callable

from keyway import _C
from keyway._C import Tensor

__all__ = [
    "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
]

# p_k of x, p_(k-1), p_(k-2) and k; for k = 1, p_(-1) is 0.
Step = Callable[[Tensor, Tensor, Tensor, int], Tensor]


def operand(name: str, value: Tensor | float, other: Tensor | float) -> Tensor:
    """As a tensor of the dtype of both, a floating one."""
    if not isinstance(value, Tensor) and not isinstance(other, Tensor):
        raise _C.TypeError(f"{name}(): one of both is a tensor")
    common = _C.result_type(value, other)
    if common.is_complex:
        raise _C.DtypeError(f"{name}(): there is none of {common}")
    dtype = common if common.is_floating_point else _C.get_default_dtype()
    if isinstance(value, Tensor):
        return value.to(dtype=dtype)
    return _C.scalar_tensor(value, dtype=dtype, device=other.device if isinstance(other, Tensor) else None)


def _polynomial(name: str, what: str, step: Step, shifted: bool = False) -> Callable[..., Tensor]:
    def function(input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None) -> Tensor:
        x, degrees = operand(name, input, n), operand(name, n, input).detach().trunc()
        x, degrees = _C.broadcast_tensors([x, degrees])
        at = 2 * x - 1 if shifted else x
        before, now = _C.zeros_like(x), _C.ones_like(x)
        result = _C.where(degrees == 0, now, before)
        highest = float(degrees.max()) if degrees.numel() > 0 else 0.0
        if not math.isfinite(highest):
            raise _C.ValueError(f"{name}(): argument 'n' has {highest}, but degrees are finite")
        for k in range(1, int(highest) + 1):
            before, now = now, step(at, now, before, k)
            result = _C.where(degrees == k, now, result)
        return result if out is None else _C.add(result, 0, out=out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"The {what} of degree `n`, elementwise; one of both may be a number. Fractions of `n` are cut off; of a negative "
        "degree it is 0. All degrees up to the highest are computed, so that many steps are taken.\n\n"
        "Its gradient is that of `input` alone. Raises keyway.DtypeError for complex numbers, and keyway.ValueError for "
        "degrees that are not finite.")
    return function


def _chebyshev(first: Callable[[Tensor], Tensor]) -> Step:
    """Four kinds differ in their polynomial of degree 1."""
    return lambda x, now, before, k: first(x) if k == 1 else 2 * x * now - before


_KINDS: dict[str, tuple[str, Step]] = {
    "t": ("first", _chebyshev(lambda x: x)),
    "u": ("second", _chebyshev(lambda x: 2 * x)),
    "v": ("third", _chebyshev(lambda x: 2 * x - 1)),
    "w": ("fourth", _chebyshev(lambda x: 2 * x + 1)),
}


def _of_kind(letter: str, shifted: bool) -> Callable[..., Tensor]:
    kind, step = _KINDS[letter]
    name = f"{'shifted_' if shifted else ''}chebyshev_polynomial_{letter}"
    what = f"Chebyshev polynomial of the {kind} kind{', at 2 x - 1,' if shifted else ''}"
    return _polynomial(name, what, step, shifted)


chebyshev_polynomial_t = _of_kind("t", False)
chebyshev_polynomial_u = _of_kind("u", False)
chebyshev_polynomial_v = _of_kind("v", False)
chebyshev_polynomial_w = _of_kind("w", False)
shifted_chebyshev_polynomial_t = _of_kind("t", True)
shifted_chebyshev_polynomial_u = _of_kind("u", True)
shifted_chebyshev_polynomial_v = _of_kind("v", True)
shifted_chebyshev_polynomial_w = _of_kind("w", True)
hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h", "Hermite polynomial (of weight exp(-x^2))",
    lambda x, now, before, k: 2 * (x * now - (k - 1) * before))
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he", "Hermite polynomial (of weight exp(-x^2 / 2))",
    lambda x, now, before, k: x * now - (k - 1) * before)
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l", "Laguerre polynomial",
    lambda x, now, before, k: ((2 * k - 1 - x) * now - (k - 1) * before) / k)
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p", "Legendre polynomial",
    lambda x, now, before, k: ((2 * k - 1) * x * now - (k - 1) * before) / k)
