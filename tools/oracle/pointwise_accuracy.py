#!/usr/bin/env python3
"""Compares pointwise functions and their derivatives with mpmath, and writes the worst error of each as a table.

    python3 pointwise_accuracy.py [--only REGEX] [--points N] [--write docs/accuracy.md]

Runs under a Python that has mpmath and Keyway. The points of a dtype are bit patterns of all exponents, denormals and both
signs among them, what lies around the points where functions change their ways (integers, halves, multiples of pi, the
ends of ranges), and infinities and NaN are left out. Numbers are exact as they are given; what they lead to is computed
with many more digits. Errors are in ULP, the distance of two neighbours of the dtype at the exact result, and where that
is beyond the greatest number only infinity is right. Neither the build nor the tests need this file.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keyway
import keyway.nn.functional as F
import mpmath
from mpmath import mp, mpf

Exact = Callable[..., Any]


@dataclass
class Format:
    """What numbers of a floating dtype are: digits of the significand, and the least exponents of ULP."""

    dtype: keyway.dtype
    digits: int
    least: int  # of the exponent of a denormal's ULP
    greatest: Any


FORMATS = {
    "float32": Format(keyway.float32, 24, -149, mpf(2) ** 128 - mpf(2) ** 104),
    "float64": Format(keyway.float64, 53, -1074, mpf(2) ** 1024 - mpf(2) ** 971),
    "bfloat16": Format(keyway.bfloat16, 8, -133, mpf(2) ** 128 - mpf(2) ** 120),
    "float16": Format(keyway.float16, 11, -24, mpf(65504)),
}


def ulp(format: Format, exact: Any) -> Any:
    exponent = mp.frexp(exact)[1] if exact != 0 else format.least
    return mpf(2) ** max(exponent - format.digits, format.least)


def error(format: Format, got: float, exact: Any) -> float:
    """In ULP. A result beyond the range is infinite, or the greatest number if that is as near."""
    if not mp.isfinite(exact):
        return 0.0 if got == float(exact) or (mp.isnan(exact) and math.isnan(got)) else math.inf
    if math.isnan(got):
        return math.inf
    beyond = format.greatest + ulp(format, format.greatest) / 2
    if abs(exact) >= beyond:
        return 0.0 if math.isinf(got) and (got > 0) == (exact > 0) else math.inf
    if math.isinf(got):
        return float((beyond - abs(exact)) / ulp(format, exact)) if (got > 0) == (exact > 0) else math.inf
    return float(abs(mpf(got) - exact) / ulp(format, exact))


# --- Points


def of_bits(name: str, bits: int) -> float:
    if name == "float64":
        return float(struct.unpack("<d", struct.pack("<Q", bits))[0])
    if name == "float16":
        return float(struct.unpack("<e", struct.pack("<H", bits))[0])
    wide = bits << 16 if name == "bfloat16" else bits
    return float(struct.unpack("<f", struct.pack("<I", wide))[0])


TURNS = [0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 5.5, 6.0, 8.0, 10.0, 12.0, 13.0, 14.0, 15.0, 17.0,
         20.0, 26.0, 27.0, 30.0, 36.0, 38.0, 50.0, 88.0, 89.0, 103.0, 104.0, 127.0, 128.0, 170.0, 171.0, 300.0, 700.0,
         709.0, 710.0, 745.0, 1023.0, 1024.0, 1e4, 1e6, 1e9, *(k * math.pi / 4 for k in range(1, 41))]  # fmt: skip


def points(name: str, count: int) -> list[float]:
    """Sorted numbers of a dtype, as many of each sign."""
    draw = random.Random(name)
    bits = {"float64": 64, "float32": 32}.get(name, 16)
    found = {of_bits(name, draw.getrandbits(bits)) for _ in range(count)}
    found |= {draw.uniform(-40, 40) for _ in range(count // 2)}
    for turn in TURNS:
        for near in (turn, math.nextafter(turn, 0), math.nextafter(turn, math.inf), turn * (1 + 1e-5), turn - 1e-4):
            found |= {near, -near}
    least = float(mpf(2) ** FORMATS[name].least)
    found |= {least, -least, 3 * least, -3 * least, float(FORMATS[name].greatest), -float(FORMATS[name].greatest)}
    rounded = keyway.tensor(sorted(x for x in found if math.isfinite(x)), dtype=keyway.float64).to(FORMATS[name].dtype)
    return sorted({x for x in rounded.to(keyway.float64).tolist() if math.isfinite(x)})


# --- Functions: Keyway's, the exact one, its derivative, and where both are real numbers


@dataclass
class Case:
    call: Callable[..., keyway.Tensor]
    exact: Exact
    slope: Exact | None = None
    within: Callable[[Any], bool] = lambda x: True


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def erfc(x: Any) -> Any:
    """mpmath's, which takes no large numbers."""
    return mp.erfc(x) if abs(x) < 1e4 else mpf(1 - mp.sign(x))


def share(x: Any) -> Any:
    return erfc(-x / mp.sqrt(2)) / 2


def erfcx(x: Any) -> Any:
    return mp.exp(x * x) * erfc(x)


def ndtri(p: Any) -> Any:
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def gauss(x: Any) -> Any:
    return mp.exp(-x * x / 2) if abs(x) < 1e4 else mpf(0)


def density(x: Any) -> Any:
    return gauss(x) / mp.sqrt(2 * mp.pi)


def softplus(x: Any) -> Any:
    return mp.log1p(mp.exp(x)) if x < 0 else x + mp.log1p(mp.exp(-x))


def tanh_form(x: Any) -> tuple[Any, Any]:
    u = mp.sqrt(2 / mp.pi) * (x + mpf("0.044715") * x**3)
    slope = mp.sqrt(2 / mp.pi) * (1 + 3 * mpf("0.044715") * x * x)
    s = sigmoid(2 * u)
    return x * s, s + 2 * x * s * sigmoid(-2 * u) * slope


def mish_slope(x: Any) -> Any:
    t = mp.tanh(softplus(x))
    return t + x * mp.sech(softplus(x)) ** 2 * sigmoid(x)


def sinc_slope(x: Any) -> Any:
    if x == 0:
        return mpf(0)
    a = mp.pi * x
    return (mp.cospi(x) - mp.sinpi(x) / a) / x


def above(bound: float) -> Callable[[Any], bool]:
    return lambda x: x > bound


def inside(x: Any) -> bool:
    return -1 < x < 1


def moderate(x: Any) -> bool:
    return abs(x) < 1e6


CASES = {
    "acos": Case(keyway.acos, mp.acos, lambda x: -1 / mp.sqrt((1 - x) * (1 + x)), inside),
    "acosh": Case(keyway.acosh, mp.acosh, lambda x: 1 / mp.sqrt((x - 1) * (x + 1)), above(1)),
    "asin": Case(keyway.asin, mp.asin, lambda x: 1 / mp.sqrt((1 - x) * (1 + x)), inside),
    "asinh": Case(keyway.asinh, mp.asinh, lambda x: 1 / mp.sqrt(1 + x * x)),
    "atan": Case(keyway.atan, mp.atan, lambda x: 1 / (1 + x * x)),
    "atanh": Case(keyway.atanh, mp.atanh, lambda x: 1 / ((1 - x) * (1 + x)), inside),
    "cos": Case(keyway.cos, mp.cos, lambda x: -mp.sin(x)),
    "cosh": Case(keyway.cosh, mp.cosh, mp.sinh),
    "digamma": Case(keyway.digamma, mp.digamma, lambda x: mp.psi(1, x), lambda x: 1e-30 < x < 1e30),
    "erf": Case(keyway.erf, lambda x: mp.erf(x) if abs(x) < 1e4 else mp.sign(x), lambda x: 2 / mp.sqrt(mp.pi) * gauss(x * mp.sqrt(2))),
    "erfc": Case(keyway.erfc, erfc, lambda x: -2 / mp.sqrt(mp.pi) * gauss(x * mp.sqrt(2))),
    "elu": Case(F.elu, lambda x: x if x > 0 else mp.expm1(x), lambda x: mpf(1) if x > 0 else mp.exp(x)),
    "erfcx": Case(keyway.special.erfcx, erfcx, lambda x: 2 * x * erfcx(x) - 2 / mp.sqrt(mp.pi), lambda x: abs(x) < 1e4),
    "erfinv": Case(keyway.special.erfinv, mp.erfinv, lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(mp.erfinv(x) ** 2), inside),
    "exp": Case(keyway.exp, mp.exp, mp.exp),
    "exp2": Case(keyway.exp2, lambda x: mpf(2) ** x, lambda x: mpf(2) ** x * mp.log(2)),
    "expm1": Case(keyway.expm1, mp.expm1, mp.exp),
    "gelu": Case(F.gelu, lambda x: x * share(x), lambda x: share(x) + x * density(x)),
    "gelu (tanh)": Case(lambda x: F.gelu(x, approximate="tanh"), lambda x: tanh_form(x)[0], lambda x: tanh_form(x)[1]),
    "i0": Case(keyway.i0, lambda x: mp.besseli(0, x), lambda x: mp.besseli(1, x), lambda x: abs(x) < 700),
    "i0e": Case(keyway.special.i0e, lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
                lambda x: (mp.besseli(1, x) - mp.sign(x) * mp.besseli(0, x)) * mp.exp(-abs(x)), lambda x: abs(x) < 700),
    "i1": Case(keyway.special.i1, lambda x: mp.besseli(1, x), lambda x: (mp.besseli(0, x) + mp.besseli(2, x)) / 2,
               lambda x: abs(x) < 700),
    "lgamma": Case(keyway.lgamma, lambda x: mp.loggamma(x).real, mp.digamma, lambda x: 1e-30 < x < 1e30),
    "log": Case(keyway.log, mp.log, lambda x: 1 / x, above(0)),
    "log10": Case(keyway.log10, mp.log10, lambda x: 1 / (x * mp.log(10)), above(0)),
    "log1p": Case(keyway.log1p, mp.log1p, lambda x: 1 / (1 + x), above(-1)),
    "log2": Case(keyway.log2, lambda x: mp.log(x, 2), lambda x: 1 / (x * mp.log(2)), above(0)),
    "log_ndtr": Case(keyway.special.log_ndtr, lambda x: mp.log1p(-share(-x)) if x > 0 else mp.log(share(x)), lambda x: density(x) / share(x),
                     lambda x: abs(x) < 1e4),
    "logit": Case(keyway.logit, lambda x: mp.log(x / (1 - x)), lambda x: 1 / (x * (1 - x)), lambda x: 0 < x < 1),
    "logsigmoid": Case(F.logsigmoid, lambda x: -softplus(-x), lambda x: sigmoid(-x)),
    "mish": Case(F.mish, lambda x: x * mp.tanh(softplus(x)), mish_slope),
    "ndtr": Case(keyway.special.ndtr, share, density),
    "ndtri": Case(keyway.special.ndtri, ndtri, lambda x: 1 / density(ndtri(x)), lambda x: 1e-100 < x < 1),
    "reciprocal": Case(keyway.reciprocal, lambda x: 1 / x, lambda x: -1 / (x * x), lambda x: x != 0),
    "rsqrt": Case(keyway.rsqrt, lambda x: 1 / mp.sqrt(x), lambda x: -1 / (2 * x * mp.sqrt(x)), above(0)),
    "sigmoid": Case(keyway.sigmoid, sigmoid, lambda x: sigmoid(x) * sigmoid(-x)),
    "silu": Case(F.silu, lambda x: x * sigmoid(x), lambda x: sigmoid(x) * (1 + x * sigmoid(-x))),
    "sin": Case(keyway.sin, mp.sin, mp.cos),
    "sinc": Case(keyway.sinc, mp.sincpi, sinc_slope, moderate),
    "sinh": Case(keyway.sinh, mp.sinh, mp.cosh),
    "softplus": Case(F.softplus, softplus, sigmoid, lambda x: x <= 20),
    "sqrt": Case(keyway.sqrt, mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x)), above(0)),
    "tan": Case(keyway.tan, mp.tan, lambda x: 1 + mp.tan(x) ** 2),
    "tanh": Case(keyway.tanh, mp.tanh, lambda x: mp.sech(x) ** 2),
}

# Of two numbers, with the derivative by the first.
PAIRS = {
    "atan2": Case(keyway.atan2, mp.atan2, lambda y, x: x / (x * x + y * y)),
    "hypot": Case(keyway.hypot, mp.hypot, lambda x, y: x / mp.hypot(x, y)),
    "logaddexp": Case(keyway.logaddexp, lambda x, y: max(x, y) + mp.log1p(mp.exp(-abs(x - y))), lambda x, y: sigmoid(x - y)),
    "pow": Case(lambda x, y: keyway.pow(abs(x), y), lambda x, y: abs(x) ** y, lambda x, y: mp.sign(x) * y * abs(x) ** (y - 1)),
    "xlogy": Case(keyway.xlogy, lambda x, y: x * mp.log(abs(y)), lambda x, y: mp.log(abs(y))),
}


@dataclass
class Worst:
    error: float = -1.0
    at: tuple[float, ...] = ()

    def see(self, error: float, at: tuple[float, ...]) -> None:
        if error > self.error:
            self.error, self.at = error, at

    def __str__(self) -> str:
        if self.error < 0:
            return "|"
        at = ", ".join(f"{x:.6g}" for x in self.at)
        return f"{self.error:.3g} | {at}" if self.error < 1e6 else f"beyond 1e6 | {at}"


def compare(case: Case, format: Format, operands: list[tuple[float, ...]]) -> tuple[Worst, Worst]:
    """The worst errors of a function, and of its derivative by its first operand."""
    columns = [keyway.tensor(column, dtype=keyway.float64).to(format.dtype) for column in zip(*operands)]
    columns[0].requires_grad_()
    result = case.call(*columns)
    (grad,) = keyway.autograd.grad(result.sum(dtype=keyway.float64), columns[0])
    values, slopes = result.detach().to(keyway.float64).tolist(), grad.to(keyway.float64).tolist()
    of_values, of_slopes = Worst(), Worst()
    for at, value, slope in zip(operands, values, slopes):
        x = tuple(map(mpf, at))
        of_values.see(error(format, value, case.exact(*x)), at)
        if case.slope is not None:
            of_slopes.see(error(format, slope, case.slope(*x)), at)
    return of_values, of_slopes


def rows(pattern: str, count: int) -> list[str]:
    found = []
    for name in FORMATS:
        plain = points(name, count)
        draw = random.Random(name)
        pairs = [(draw.choice(plain), abs(draw.choice(plain))) for _ in range(count)]
        near = [(x, y) for x in plain[:: max(1, len(plain) // 60)] for y in (abs(x), abs(x) / 2) if x != 0]
        pairs = [(x, y) for x, y in pairs + near if y in set(plain) and y > 0 and x != 0]
        for cases, operands in ((CASES, [(x,) for x in plain]), (PAIRS, pairs)):
            for function, case in cases.items():
                if not re.search(pattern, function):
                    continue
                chosen = [at for at in operands if case.within(at[0])] if cases is CASES else operands
                values, slopes = compare(case, FORMATS[name], chosen)
                found.append(f"| {function} | {name} | {values} | {slopes} |")
                print(found[-1], flush=True)
    return sorted(found)


HEAD = """# Accuracy of pointwise functions

The worst errors that `tools/oracle/pointwise_accuracy.py` finds on the CPU, of functions and of their derivatives by the
first operand, beside results of mpmath; in ULP (0.5 is a result that is rounded once), with where that is. Numbers of all
exponents are tried, denormals among them, and what lies around the points where functions change their ways. "beyond 1e6"
is a result without correct digits:

- Derivatives of sigmoid, tanh and expm1 are computed from the results, as in PyTorch, so that the inputs need not be kept:
  a result of 1 or -1 no longer tells how far the input is. The absolute error stays below one ULP of 1.
- sinc at whole numbers is that of pi times them, rounded: a few 1e-8 of float32 instead of 0, as in PyTorch.
- Derivatives that are a difference of large numbers or a product with a result that has no digits left: of erfcx, i1,
  log_ndtr and pow at the ends of the range.
- What is beyond the range on the way, where the result is hardly in it: derivatives of atan and atan2 that are denormal
  numbers, of exp2 and hypot where the result itself is infinite.

| function | dtype | worst error | at | of the derivative | at |
|---|---|---|---|---|---|
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    mpmath.mp.prec = 400
    table = rows(chosen.only, chosen.points)
    if chosen.write:
        chosen.write.write_text(HEAD + "\n".join(table) + "\n")


if __name__ == "__main__":
    main()
