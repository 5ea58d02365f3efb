"""PyTorch's arguments as Keyway's, and results of both side by side."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import keyway
import numpy
import torch

# NumPy has no such type: the same bits go as another.
_AS_BITS = {torch.bfloat16: torch.int16, torch.complex32: torch.int32}


class Untranslatable(Exception):
    """An argument that Keyway has no counterpart of."""


def to_keyway(value: Any, memory: dict[Any, keyway.Tensor] | None = None) -> Any:
    """An argument of PyTorch as Keyway's: tensors with their strides. Those that share memory do so too where `memory`, an
    empty dict, is given."""
    if isinstance(value, torch.Tensor):
        return _tensor(value, {} if memory is None else memory)
    if isinstance(value, torch.Size):
        return keyway.Size(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(to_keyway(item, memory) for item in value))
    if type(value) in (list, tuple):
        return type(value)(to_keyway(item, memory) for item in value)
    if type(value) is dict:
        return {key: to_keyway(item, memory) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(to_keyway(value.start), to_keyway(value.stop), to_keyway(value.step))
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return _named(str(value).rpartition(".")[2])
    if isinstance(value, torch.device):
        return keyway.device(str(value))
    if value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex, str, type, numpy.generic, numpy.ndarray)):
        return value
    raise Untranslatable(type(value).__name__)


def _named(name: str) -> Any:
    if not hasattr(keyway, name):
        raise Untranslatable(name)
    return getattr(keyway, name)


def _tensor(tensor: torch.Tensor, memory: dict[Any, keyway.Tensor]) -> keyway.Tensor:
    if tensor.layout != torch.strided or tensor.device.type != "cpu":
        raise Untranslatable("a tensor that is sparse or not the CPU's")
    if tensor.dim() > 64:
        raise Untranslatable("a tensor of more than 64 dimensions")
    plain = tensor.detach().resolve_conj().resolve_neg()
    dtype = _named(str(plain.dtype)[6:])
    key = (plain.untyped_storage().data_ptr(), plain.dtype)
    if key not in memory:
        size = plain.untyped_storage().nbytes() // plain.itemsize
        whole = torch.as_strided(plain, (size,), (1,), 0).clone()
        bits = _AS_BITS.get(plain.dtype)
        flat = keyway.from_numpy((whole.view(bits) if bits else whole).numpy()).clone()
        memory[key] = flat.view(dtype) if bits else flat
    ours = memory[key].as_strided(tuple(plain.shape), plain.stride(), plain.storage_offset())
    return ours.detach().requires_grad_() if tensor.requires_grad else ours


def _to_torch(tensor: keyway.Tensor) -> torch.Tensor:
    dtype = getattr(torch, str(tensor.dtype).rpartition(".")[2])
    plain = tensor.detach().contiguous()
    if dtype in _AS_BITS:
        bits = _named(str(_AS_BITS[dtype])[6:])
        return torch.from_numpy(plain.view(bits).numpy().copy()).view(dtype)
    return torch.from_numpy(plain.numpy().copy())


def described(args: Any, kwargs: dict[str, Any]) -> str:
    """A call's arguments in a few words."""
    return "(" + ", ".join([_words(a) for a in args] + [f"{k}={_words(v)}" for k, v in kwargs.items()]) + ")"


def _words(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        layout = "" if value.is_contiguous() else f" strides {list(value.stride())}"
        return f"{str(value.dtype)[6:]}{list(value.shape)}{layout}"
    if type(value) in (list, tuple):
        return "[" + ", ".join(map(_words, value)) + "]"
    return repr(value)[:60]


@dataclasses.dataclass
class Difference:
    kind: str
    text: str


def compare(actual: Any, expected: Any, values: bool, computed_in: torch.dtype | None = None) -> Difference | None:
    """The first difference between a result of Keyway and PyTorch's, values within the tolerance of the dtype, or of the
    narrower one that they were computed in."""
    if isinstance(expected, torch.Tensor):
        if not isinstance(actual, keyway.Tensor):
            return Difference("type", f"{type(actual).__name__}, not a tensor")
        return _compare_tensors(actual, expected, values, computed_in or expected.dtype)
    if isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            return Difference("type", f"{type(actual).__name__} {_size(actual)}, not {type(expected).__name__} {len(expected)}")
        for one, other in zip(actual, expected):
            found = compare(one, other, values, computed_in)
            if found:
                return found
        return None
    if isinstance(expected, (bool, int, float, complex)):
        same = type(actual) is type(expected) and (actual == expected or _close(actual, expected))
        return None if same or not values else Difference("value", f"{actual!r}, not {expected!r}")
    if isinstance(expected, (torch.dtype, torch.device)):
        same = str(actual).rpartition(".")[2] == str(expected).rpartition(".")[2]
        return None if same else Difference("value", f"{actual}, not {expected}")
    if expected is None and actual is not None:
        return Difference("type", f"{type(actual).__name__}, not None")
    return None


def _size(value: Any) -> str:
    return str(len(value)) if hasattr(value, "__len__") else ""


def _close(one: Any, other: Any) -> bool:
    both_nan = one != one and other != other
    return both_nan or abs(one - other) <= 1e-6 * max(1.0, abs(other)) if isinstance(one, (float, complex)) else False


def _compare_tensors(actual: keyway.Tensor, expected: torch.Tensor, values: bool, computed_in: torch.dtype) -> Difference | None:
    if str(actual.dtype).rpartition(".")[2] != str(expected.dtype)[6:]:
        return Difference("dtype", f"{actual.dtype}, not {expected.dtype}")
    if tuple(actual.shape) != tuple(expected.shape):
        return Difference("shape", f"{list(actual.shape)}, not {list(expected.shape)}")
    if actual.requires_grad != expected.requires_grad:
        return Difference("requires_grad", f"{actual.requires_grad}, not {expected.requires_grad}")
    if values:
        theirs = expected.detach().resolve_conj().resolve_neg()
        ours = _to_torch(actual)
        try:
            torch.testing.assert_close(ours, theirs, equal_nan=True, check_stride=False, **_tolerance(theirs, computed_in))
        except AssertionError:
            return Difference("values", _worst(ours, theirs))
    if expected.numel() > 1 and _strides(actual) != _strides(expected):
        return Difference("strides", f"{list(actual.stride())}, not {list(expected.stride())} of {list(expected.shape)}")
    return None


def _strides(tensor: Any) -> list[int]:
    return [s for n, s in zip(tensor.shape, tensor.stride()) if n != 1]


# Of dtypes that round: how far apart results may be, relative to an element, and at least.
_TOLERANCES = {
    torch.float64: (1e-7, 1e-9),
    torch.float32: (1e-4, 1e-5),
    torch.float16: (4e-3, 1e-3),
    torch.bfloat16: (3e-2, 1e-2),
}


def _tolerance(expected: torch.Tensor, computed_in: torch.dtype) -> dict[str, float]:
    """Terms that cancel leave what they were rounded by: of the largest element an eighth of its tolerance."""
    parts = [torch.empty(0, dtype=dtype).real.dtype if dtype.is_complex else dtype for dtype in (expected.dtype, computed_in)]
    relative, least = max(_TOLERANCES.get(part, _TOLERANCES[torch.float64]) for part in parts)
    flat = expected.flatten()
    finite = flat[flat.isfinite()].abs() if flat.dtype.is_floating_point else flat[:0]
    if relative > _TOLERANCES[torch.float64][0] and finite.numel():
        least = max(least, relative / 8 * finite.max().item())
    return {"rtol": relative, "atol": least}


def _worst(ours: torch.Tensor, theirs: torch.Tensor) -> str:
    """The pair of elements that is furthest apart."""
    wide = torch.complex128 if theirs.is_complex() else torch.float64
    apart = (ours.to(wide) - theirs.to(wide)).abs().flatten()
    apart = torch.where(apart.isnan(), torch.full_like(apart, math.inf), apart)
    at = int(apart.argmax()) if apart.numel() else 0
    return f"{ours.flatten()[at].item()!r}, not {theirs.flatten()[at].item()!r} at {at} of {list(theirs.shape)}"
