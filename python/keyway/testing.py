"""Helpers for tests: `keyway.testing.assert_close` and `make_tensor`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import keyway
from keyway import Tensor, dtype

__all__ = ["assert_close", "make_tensor"]

# rtol and atol of the dtypes that are not compared exactly.
_TOLERANCES: dict[dtype, tuple[float, float]] = {
    keyway.float16: (1e-3, 1e-5),
    keyway.bfloat16: (1.6e-2, 1e-5),
    keyway.float32: (1.3e-6, 1e-5),
    keyway.float64: (1e-7, 1e-7),
    keyway.complex32: (1e-3, 1e-5),
    keyway.complex64: (1.3e-6, 1e-5),
    keyway.complex128: (1e-7, 1e-7),
}


class _Comparison:
    """What one call of assert_close holds values to."""

    def __init__(self, rtol: float | None, atol: float | None, equal_nan: bool, attributes: list[str],
                 check_dtype: bool, msg: str | Callable[[str], str] | None) -> None:
        if (rtol is None) != (atol is None):
            raise keyway.ValueError("assert_close(): rtol and atol are given both, or neither")
        self.given = None if rtol is None or atol is None else (rtol, atol)
        self.equal_nan = equal_nan
        self.attributes = attributes
        self.check_dtype = check_dtype
        self.msg = msg

    def fail(self, text: str, item: str) -> NoReturn:
        text += f"\nThis is item {item}." if item else ""
        raise AssertionError(self.msg(text) if callable(self.msg) else text if self.msg is None else self.msg)

    def compare(self, actual: Any, expected: Any, item: str = "") -> None:
        if isinstance(actual, Tensor) and isinstance(expected, Tensor):
            self.compare_tensors(actual, expected, item)
        elif isinstance(actual, (bool, int, float, complex)) and isinstance(expected, (bool, int, float, complex)):
            self.compare_numbers(actual, expected, item)
        elif actual is None or expected is None:
            if actual is not expected:
                self.fail(f"One is None: {actual!r} and {expected!r}.", item)
        elif _are(Mapping, actual, expected):
            if actual.keys() != expected.keys():
                self.fail(f"The keys differ: {sorted(map(repr, actual))} and {sorted(map(repr, expected))}.", item)
            for key in expected:
                self.compare(actual[key], expected[key], f"{item}[{key!r}]")
        elif _are(Sequence, actual, expected):
            if len(actual) != len(expected):
                self.fail(f"The lengths differ: {len(actual)} and {len(expected)}.", item)
            for i, (one, other) in enumerate(zip(actual, expected)):
                self.compare(one, other, f"{item}[{i}]")
        else:
            raise keyway.TypeError(f"assert_close(): cannot compare {type(actual).__name__} with "
                                   f"{type(expected).__name__}{' at item ' + item if item else ''}")

    def compare_numbers(self, actual: complex, expected: complex, item: str) -> None:
        if self.check_dtype and type(actual) is not type(expected):
            self.fail(f"The types differ: {type(actual).__name__} and {type(expected).__name__}.", item)
        exact = isinstance(actual, int) and isinstance(expected, int)
        rtol, atol = self.given or ((0.0, 0.0) if exact else _TOLERANCES[keyway.float64])
        difference = abs(actual - expected)
        within = difference < float("inf") and difference <= atol + rtol * abs(expected)
        both_nan = actual != actual and expected != expected
        if actual != expected and not within and not (self.equal_nan and both_nan):
            self.fail(f"The numbers {actual} and {expected} differ by {difference}; "
                      f"rtol is {rtol} and atol {atol}.", item)

    def compare_tensors(self, actual: Tensor, expected: Tensor, item: str) -> None:
        for attribute in self.attributes:
            one, other = getattr(actual, attribute), getattr(expected, attribute)
            if attribute == "stride":
                one, other = one(), other()
            if one != other:
                self.fail(f"The attribute '{attribute}' differs: {one} and {other}.", item)
        if actual.is_meta or expected.is_meta or actual.numel() == 0:
            return
        exact = (0.0, 0.0)
        rtol, atol = self.given or max(_TOLERANCES.get(actual.dtype, exact), _TOLERANCES.get(expected.dtype, exact))
        actual, expected = _comparable(actual), _comparable(expected)
        close = keyway.eq(actual, expected)
        wide = keyway.complex128 if actual.is_complex() or expected.is_complex() else keyway.float64
        one, other = actual.to(wide), expected.to(wide)
        difference, magnitude = keyway.sub(one, other).abs(), other.abs()
        if (rtol, atol) != exact:
            within = keyway.le(difference, magnitude.mul(rtol).add(atol))
            close = keyway.logical_or(close, keyway.logical_and(within, difference.lt(float("inf"))))
        if self.equal_nan:
            close = keyway.logical_or(close, keyway.logical_and(one.ne(one), other.ne(other)))
        wrong = actual.numel() - int(close.sum().item().real)
        if wrong > 0:
            self.fail(_report(close, difference, magnitude, wrong, rtol, atol), item)


def _comparable(tensor: Tensor) -> Tensor:
    """On the CPU, of a dtype that has comparisons: floats of 8 bits are compared as float32."""
    here = tensor.detach().to(device="cpu")
    return here.to(keyway.float32) if here.is_floating_point() and here.element_size() == 1 else here


def _are(kind: type, actual: Any, expected: Any) -> bool:
    text = (str, bytes)
    return all(isinstance(value, kind) and not isinstance(value, text) for value in (actual, expected))


def _report(close: Tensor, difference: Tensor, magnitude: Tensor, wrong: int, rtol: float, atol: float) -> str:
    total = close.numel()
    lines = [f"The tensors differ in {wrong} of {total} elements ({100 * wrong / total:.1f}%)."]
    flat = difference.masked_fill(close, -1.0).reshape(-1)
    at = int(flat.argmax().item().real)
    index, rest = [], at
    for size in reversed(close.shape):
        index.append(rest % size)
        rest //= size
    value = magnitude.reshape(-1).select(0, at).item().real
    lines.append(f"The greatest difference is {flat.select(0, at).item()} at index {tuple(reversed(index))}, where the "
                 f"expected one is of magnitude {value}; rtol is {rtol} and atol {atol}.")
    return "\n".join(lines)


def assert_close(actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
                 atol: float | None = None, equal_nan: bool = False, check_device: bool = True,
                 check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
                 msg: str | Callable[[str], str] | None = None) -> None:
    """Raises AssertionError unless `|actual - expected| <= atol + rtol * |expected|` holds for every element.

    Tensors, numbers, None, and sequences and mappings of them are compared. Shapes are equal, and so are devices,
    dtypes and layouts unless the flags say otherwise. `rtol` and `atol` are given both or neither; by default they are
    those of the dtype, the greater ones of two: (1.3e-6, 1e-5) for float32, (1e-7, 1e-7) for float64, (1e-3, 1e-5) for
    float16, (1.6e-2, 1e-5) for bfloat16, and integers and bool are equal. `msg` replaces the text of the error, or
    makes it of the text that there would be.

    >>> keyway.testing.assert_close(keyway.tensor([1.0, 2.0]), keyway.tensor([1.0, 2.000001]))
    """
    if not allow_subclasses and type(actual) is not type(expected):
        raise AssertionError(f"The types differ: {type(actual).__name__} and {type(expected).__name__}.")
    flags = {"shape": True, "device": check_device, "dtype": check_dtype, "layout": check_layout,
             "stride": check_stride}
    attributes = [name for name, checked in flags.items() if checked]
    _Comparison(rtol, atol, equal_nan, attributes, check_dtype, msg).compare(actual, expected)


def make_tensor(*shape: Any, dtype: dtype, device: Any, low: float | None = None, high: float | None = None,
                requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False,
                memory_format: Any = None) -> Tensor:
    """A tensor of this shape, sizes or one sequence of these, of values drawn uniformly from [low, high).

    `low` and `high` are by default 0 and 2 for bool, 0 and 10 for unsigned integers, -9 and 10 for signed ones, -9 and
    9 for floating-point and for both parts of complex numbers; they are brought into the dtype's range. With
    `exclude_zero` zeros become 1, or the least normal number. `noncontiguous` has no effect on fewer than two elements.
    Raises ValueError for requires_grad of an integer dtype, an empty or impossible interval, and `noncontiguous` with
    `memory_format`.
    """
    sizes = list(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else list(shape)
    is_inexact = dtype.is_floating_point or dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise keyway.ValueError("make_tensor(): noncontiguous and memory_format are not given together, but there are "
                                f"noncontiguous={noncontiguous} and memory_format={memory_format}")
    if requires_grad and not is_inexact:
        raise keyway.ValueError(f"make_tensor(): requires_grad=True is not supported for integers, as {dtype}")
    least, most = _interval(low, high, dtype)
    made = _drawn(sizes, least, most, dtype, device)
    if noncontiguous and made.numel() > 1:
        made = made.repeat_interleave(2, -1)[..., ::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = keyway.finfo(dtype).tiny if is_inexact else 1
    return made.requires_grad_() if requires_grad else made


def _interval(low: float | None, high: float | None, dtype: dtype) -> tuple[float, float]:
    """The interval to draw from: integers up to and with its end, other numbers below it."""
    lowest: float
    highest: float
    if dtype is keyway.bool:
        usual, lowest, highest = (0, 2), 0, 1
    elif dtype.is_floating_point or dtype.is_complex:
        info = keyway.finfo(dtype)
        usual, lowest, highest = (-9, 9), info.min, info.max
    else:
        limits = keyway.iinfo(dtype)
        usual, lowest, highest = (-9 if limits.min < 0 else 0, 10), limits.min, limits.max
    is_inexact = dtype.is_floating_point or dtype.is_complex
    low, high = (usual[i] if end is None else end for i, end in enumerate((low, high)))
    if math.isnan(low) or math.isnan(high):
        raise keyway.ValueError(f"make_tensor(): low and high cannot be NaN, but got low={low} and high={high}")
    if low > high or (low == high and not is_inexact):
        raise keyway.ValueError(f"make_tensor(): low must be less than high, but got {low} >= {high}")
    if low > highest or high < lowest or (high == lowest and not is_inexact):
        raise keyway.ValueError(f"make_tensor(): [{low}, {high}) has no values of {dtype}, which are in [{lowest}, "
                                f"{highest}]")
    low, high = max(low, lowest), min(high, highest if is_inexact else highest + 1)
    return (low, high) if is_inexact else (math.ceil(low), math.ceil(high) - 1)


def _drawn(sizes: list[int], low: float, high: float, dtype: dtype, device: Any) -> Tensor:
    if dtype.is_complex:
        part = keyway.float64 if dtype is keyway.complex128 else keyway.float32
        parts = [_drawn(sizes, low, high, part, device) for _ in range(2)]
        return keyway.complex(parts[0], parts[1]).to(dtype=dtype)
    if dtype.is_floating_point:
        drawn = keyway.rand(sizes, dtype=keyway.float64, device=device)
        return drawn.mul(high).add(drawn.neg().add(1).mul(low)).to(dtype=dtype)
    if dtype is keyway.bool:
        return keyway.randint(int(low), int(high) + 1, sizes, device=device).to(dtype=dtype)
    span = min(int(high), 2**63 - 1) - int(low) + 1
    if span >= 2**63:  # more than randint takes: a number in the lower half, moved up half the time
        half = span // 2
        lower = keyway.rand(sizes, dtype=keyway.float64, device=device).mul(half).to(dtype=keyway.int64)
        return lower.add(int(low)).add(keyway.randint(0, 2, sizes, device=device).mul(half - 1)).to(dtype=dtype)
    return keyway.randint(0, span, sizes, device=device).add(int(low)).to(dtype=dtype)
