"""Data types of the array API."""

from __future__ import annotations

import builtins
import functools
from dataclasses import dataclass
from typing import Any, Union

from keyway import _C
from keyway._tensor import type_info as _type_info
from keyway._C import (
    bool, complex64, complex128, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
)  # fmt: skip
from keyway.types import Device

KINDS: dict[str, tuple[_C.dtype, ...]] = {
    "bool": (bool,),
    "signed integer": (int8, int16, int32, int64),
    "unsigned integer": (uint8, uint16, uint32, uint64),
    "real floating": (float32, float64),
    "complex floating": (complex64, complex128),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]

Kind = Union[_C.dtype, str, tuple[Union[_C.dtype, str], ...]]


@dataclass(frozen=True)
class FloatInfo:
    """What a floating dtype can hold: for a complex one, its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: _C.dtype


@dataclass(frozen=True)
class IntInfo:
    """What an integer dtype can hold."""

    bits: int
    max: int
    min: int
    dtype: _C.dtype


def _dtype_of(type: _C.dtype | _C.Tensor) -> _C.dtype:
    return type.dtype if isinstance(type, _C.Tensor) else type


def finfo(type: _C.dtype | _C.Tensor, /) -> FloatInfo:
    """The limits of a floating dtype, or of an array's. Raises keyway.TypeError for another one."""
    of = _type_info.finfo(_dtype_of(type))
    return FloatInfo(of.bits, of.eps, of.max, of.min, of.smallest_normal, getattr(_C, of.dtype))


def iinfo(type: _C.dtype | _C.Tensor, /) -> IntInfo:
    """The limits of an integer dtype, or of an array's. Raises keyway.TypeError for another one."""
    of = _type_info.iinfo(_dtype_of(type))
    return IntInfo(of.bits, of.max, of.min, getattr(_C, of.dtype))


def isdtype(dtype: _C.dtype, kind: Kind) -> builtins.bool:
    """Whether a dtype is `kind`: a dtype, the name of a kind, or a tuple of these. Raises keyway.ValueError for a name
    that the standard does not have."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if not isinstance(kind, str):
        return dtype is kind
    if kind not in KINDS:
        raise _C.ValueError(f"isdtype(): there is no kind '{kind}', only {', '.join(KINDS)}")
    return dtype in KINDS[kind]


def result_type(*arrays_and_dtypes: _C.Tensor | _C.dtype) -> _C.dtype:
    """The dtype that all dtypes are promoted to. Raises keyway.ValueError if there is none."""
    if not arrays_and_dtypes:
        raise _C.ValueError("result_type(): at least one array or dtype is needed")
    return functools.reduce(_C.promote_types, map(_dtype_of, arrays_and_dtypes))


def promoted(*operands: Any) -> list[Any]:
    """Arrays in the dtype that all of them are promoted to, whatever their number of dimensions; numbers as they are."""
    dtypes = [operand.dtype for operand in operands if isinstance(operand, _C.Tensor)]
    if len(set(dtypes)) < 2:
        return list(operands)
    dtype = functools.reduce(_C.promote_types, dtypes)
    return [operand.to(dtype=dtype) if isinstance(operand, _C.Tensor) else operand for operand in operands]


def can_cast(from_: _C.dtype | _C.Tensor, to: _C.dtype, /) -> builtins.bool:
    """Whether promotion of the two gives `to`: no value is lost but the precision of large integers."""
    return result_type(from_, to) is to


def astype(x: _C.Tensor, dtype: _C.dtype, /, *, copy: builtins.bool = True, device: Device | None = None) -> _C.Tensor:
    """An array with the elements in another dtype, a copy unless `copy` is False and nothing is to be changed."""
    made = x.to(dtype=dtype, copy=copy)
    return made if device is None else made.to(device=device)
