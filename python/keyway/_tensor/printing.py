"""How tensors are printed: `repr`, `str`, `format`, and `keyway.set_printoptions`."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor, _batching, _forward

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}

_options = SimpleNamespace(**_PROFILES["default"], sci_mode=None)  # what set_printoptions sets

# The dtypes of numbers; others (quantised ones, packed bits) are printed without elements.
_NUMBERS = frozenset(
    getattr(_C, name)
    for name in (
        "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex32 complex64 "
        "complex128 float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz float8_e8m0fnu"
    ).split()
)


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Sets how tensors are printed; what is None stays as it is, but for `sci_mode`.

    precision: digits after the point (4).
    threshold: tensors of more elements are summarised (1000).
    edgeitems: how many items a summary shows at the beginning and at the end of each dimension (3).
    linewidth: characters of a line (80).
    profile: "default", "short" or "full"; the other arguments count more.
    sci_mode: whether numbers are printed in scientific notation; None leaves it to the numbers.

    Raises keyway.ValueError for another profile, keyway.TypeError for what is no such number; nothing is set then.
    """
    counts = {"precision": precision, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in counts.items():
        if value is not None and not (isinstance(value, int) and value >= 0):
            raise _C.TypeError(f"set_printoptions(): {name} is an int that is not negative, not {value!r}")
    if not isinstance(threshold, (int, float, type(None))) or not isinstance(sci_mode, (bool, type(None))):
        raise _C.TypeError("set_printoptions(): threshold is a number, and sci_mode a bool")
    if profile is not None:
        if profile not in _PROFILES:
            raise _C.ValueError(f"set_printoptions(): profile is 'default', 'short' or 'full', not {profile!r}")
        vars(_options).update(_PROFILES[profile])
    given = {name: number for name, number in {**counts, "threshold": threshold}.items() if number is not None}
    vars(_options).update(given, sci_mode=sci_mode)


class _IntegerFormat:
    """Integers and bools, aligned to the right."""

    def __init__(self, values: list[Any]) -> None:
        self.width = max((len(str(value)) for value in values), default=1)

    def text(self, value: Any) -> str:
        return str(value).rjust(self.width)


class _FloatFormat:
    """Floating-point numbers: whole ones as `2.`, others with `precision` digits, all of them in scientific notation if
    they are very large, very small, or of very different magnitude."""

    def __init__(self, values: list[float]) -> None:
        finite = [value for value in values if value != 0 and math.isfinite(value)]
        self.width = 1
        self._code = ".0f"
        self._point = "."
        if not finite:
            return
        smallest = min(abs(value) for value in finite)
        largest = max(abs(value) for value in finite)
        whole = all(value == math.floor(value) for value in finite)
        scientific = _options.sci_mode
        if scientific is None:
            scientific = largest / smallest > 1000 or largest > 1e8 or (not whole and smallest < 1e-4)
        self._choose(whole, scientific)
        self.width = max(len(self._bare(value)) for value in finite)

    def _choose(self, whole: bool, scientific: bool) -> None:
        self._point = "." if whole and not scientific else ""
        self._code = f".{_options.precision}e" if scientific else ".0f" if whole else f".{_options.precision}f"

    def _bare(self, value: float) -> str:
        return format(value, self._code) + (self._point if math.isfinite(value) else "")

    def text(self, value: float) -> str:
        return self._bare(value).rjust(self.width)


class _ComplexFormat:
    """Complex numbers: real and imaginary parts, each aligned with those of the others."""

    def __init__(self, values: list[complex]) -> None:
        self._real = _FloatFormat([value.real for value in values])
        self._imag = _FloatFormat([value.imag for value in values])
        self.width = self._real.width + self._imag.width + 1

    def text(self, value: complex) -> str:
        imag = self._imag.text(value.imag).lstrip() + "j"
        return self._real.text(value.real) + (imag if imag[0] in "+-" else "+" + imag)


def _format_of(tensor: Tensor, values: list[Any]) -> _IntegerFormat | _FloatFormat | _ComplexFormat:
    if tensor.is_complex():
        return _ComplexFormat(values)
    return _FloatFormat(values) if tensor.is_floating_point() else _IntegerFormat(values)


class _Layout:
    """Nested brackets of one tensor. A summary has `edgeitems` items at both ends of long dimensions."""

    def __init__(self, tensor: Tensor) -> None:
        edge = _options.edgeitems
        summarized = tensor.numel() > _options.threshold
        self._cut = [summarized and size > 2 * edge for size in tensor.shape]
        shown = tensor.detach()
        for dim, size in enumerate(tensor.shape):
            if self._cut[dim]:
                shown = _C.cat([shown.narrow(dim, 0, edge), shown.narrow(dim, size - edge, edge)], dim)
        self._values = shown.tolist()
        self._format = _format_of(tensor, _flat(self._values, tensor.dim()))

    def text(self, indent: int) -> str:
        if not self._cut:
            return self._format.text(self._values)
        return self._nested(self._values, 0, indent)

    def _nested(self, values: list[Any], dim: int, indent: int) -> str:
        if dim == len(self._cut) - 1:
            return self._row(values, indent)
        parts = [self._nested(value, dim + 1, indent + 1) for value in values]
        if self._cut[dim]:
            parts.insert(_options.edgeitems, "...")
        between = "," + "\n" * (len(self._cut) - dim - 1) + " " * (indent + 1)
        return "[" + between.join(parts) + "]"

    def _row(self, values: list[Any], indent: int) -> str:
        items = [self._format.text(value) for value in values]
        if self._cut[-1]:
            items.insert(_options.edgeitems, " ..." if items else "...")
        in_line = max(1, (_options.linewidth - indent) // (self._format.width + 2))
        lines = [", ".join(items[first : first + in_line]) for first in range(0, len(items), in_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _flat(values: Any, dims: int) -> list[Any]:
    flat: list[Any] = [values]
    for _ in range(dims):
        flat = [value for row in flat for value in row]
    return flat


def _remarks(tensor: Tensor) -> list[str]:
    """What stands behind the numbers: all that they do not show."""
    remarks = []
    if tensor.device.type != "cpu":
        remarks.append(f"device='{tensor.device}'")
    empty = tensor.numel() == 0
    hidden = _is_hidden(tensor)
    if hidden or (empty and tensor.dim() != 1):
        remarks.append(f"size={tuple(tensor.shape)}")
    usual = {_C.get_default_dtype()}
    if not hidden and not empty:
        usual |= {_C.promote_types(_C.get_default_dtype(), _C.complex32), _C.int64, _C.bool}
    if tensor.dtype not in usual:
        remarks.append(f"dtype={tensor.dtype}")
    if (node := _node_name(tensor)) is not None:
        remarks.append(f"grad_fn=<{node}>")
    elif tensor.requires_grad:
        remarks.append("requires_grad=True")
    _, tangent = _forward.parts(tensor, _forward.level_of([tensor]))
    if tangent is not None:
        remarks.append(f"tangent={tensor_text(tangent)}")
    return remarks


def _is_hidden(tensor: Tensor) -> bool:
    """Whether there are no numbers to show: on Meta, of an example within vmap, of a wrapper tensor, and of some
    dtypes."""
    return tensor.is_meta or tensor.dtype not in _NUMBERS or _batching.is_batched(tensor) or _C._is_wrapper(tensor)


def _node_name(tensor: Tensor) -> str | None:
    try:
        node = getattr(tensor, "grad_fn", None)
    except _C.Error:  # a view whose base was changed where that is forbidden
        return "Invalid"
    return None if node is None else node.name()


def _numbers(tensor: Tensor, indent: int) -> str:
    if _is_hidden(tensor):
        return "..."
    return "[]" if tensor.numel() == 0 else _Layout(tensor).text(indent)


def tensor_text(tensor: Tensor, name: str | None = None) -> str:
    """The text of a tensor, as `repr` gives it; `name` stands in front of the bracket, by default "tensor", or the name
    of a subclass."""
    prefix = (name or ("tensor" if type(tensor) is Tensor else type(tensor).__name__)) + "("
    text = prefix + _numbers(tensor, len(prefix))
    used = len(text) - text.rfind("\n") + 1
    for remark in _remarks(tensor):
        if used + len(remark) + 2 > _options.linewidth:
            text += ",\n" + " " * len(prefix) + remark
            used = len(prefix) + len(remark)
        else:
            text += ", " + remark
            used += len(remark) + 2
    return text + ")"


def _text(self: Tensor) -> str:
    return tensor_text(self)


def _format(self: Tensor, spec: str) -> str:
    if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
        return format(self.item(), spec)
    return object.__format__(self, spec)


attach(Tensor, __repr__=_text, __format__=_format)
