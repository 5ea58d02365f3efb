# Types of what the extension has beside operators; those are generated into _operators.pyi and _nn.pyi.

import builtins
from builtins import bool as _bool, float as _float, int as _int, str as _str
from typing import Any, Self, TypeAlias, final, overload

from keyway._C import _nn as _nn
from keyway._C._operators import *
from keyway._C._operators import TensorOperators
from keyway.types import Device

__version__: _str

# --- Errors

class Error(RuntimeError): ...
class ValueError(Error, builtins.ValueError): ...
class TypeError(Error, builtins.TypeError): ...
class IndexError(Error, builtins.IndexError): ...
class NotImplementedError(Error, builtins.NotImplementedError): ...
class OutOfMemoryError(Error, MemoryError): ...
class RegistrationError(Error): ...
class AutogradError(Error): ...
class ParseError(Error, builtins.ValueError): ...
class InternalError(Error): ...

# --- What describes tensors

@final
class dtype:
    @property
    def is_floating_point(self) -> _bool: ...
    @property
    def is_complex(self) -> _bool: ...
    @property
    def is_signed(self) -> _bool: ...
    @property
    def itemsize(self) -> _int: ...

@final
class layout: ...

@final
class memory_format: ...

class device:
    def __init__(self, type: Device, index: _int | None = None) -> None: ...
    @property
    def type(self) -> _str: ...
    @property
    def index(self) -> _int | None: ...

class Size(tuple[_int, ...]):
    def numel(self) -> _int: ...

_dtype: TypeAlias = dtype
_layout: TypeAlias = layout
_device: TypeAlias = device

float64: _dtype
float32: _dtype
float16: _dtype
bfloat16: _dtype
float8_e4m3fn: _dtype
float8_e4m3fnuz: _dtype
float8_e5m2: _dtype
float8_e5m2fnuz: _dtype
float8_e8m0fnu: _dtype
float4_e2m1fn_x2: _dtype
complex128: _dtype
complex64: _dtype
complex32: _dtype
int64: _dtype
int32: _dtype
int16: _dtype
int8: _dtype
uint64: _dtype
uint32: _dtype
uint16: _dtype
uint8: _dtype
bool: _dtype
int1: _dtype
int2: _dtype
int3: _dtype
int4: _dtype
int5: _dtype
int6: _dtype
int7: _dtype
uint1: _dtype
uint2: _dtype
uint3: _dtype
uint4: _dtype
uint5: _dtype
uint6: _dtype
uint7: _dtype
bits8: _dtype
bits16: _dtype
bits1x8: _dtype
bits2x4: _dtype
bits4x2: _dtype
qint32: _dtype
qint8: _dtype
quint8: _dtype
quint2x4: _dtype
quint4x2: _dtype
double: _dtype
float: _dtype
half: _dtype
cdouble: _dtype
cfloat: _dtype
chalf: _dtype
long: _dtype
int: _dtype
short: _dtype

strided: _layout
sparse_coo: _layout
sparse_csr: _layout
sparse_csc: _layout
sparse_bsr: _layout
sparse_bsc: _layout
jagged: _layout

contiguous_format: memory_format
preserve_format: memory_format
channels_last: memory_format
channels_last_3d: memory_format

# --- Random numbers

class Generator:
    def __init__(self, device: Device = "cpu") -> None: ...
    def manual_seed(self, seed: _int) -> Generator: ...
    def seed(self) -> _int: ...
    def initial_seed(self) -> _int: ...
    def clone(self) -> Generator: ...
    def get_state(self) -> tuple[_int, _int]: ...
    def set_state(self, state: tuple[_int, _int]) -> None: ...
    @property
    def device(self) -> _device: ...

default_generator: Generator

def manual_seed(seed: _int) -> Generator: ...
def initial_seed() -> _int: ...

# --- Operators and tensors

@final
class OperatorFunction:
    __name__: _str
    __qualname__: _str
    @property
    def overloads(self) -> list[_str]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Any: ...

class Tensor(TensorOperators):
    grad: Tensor | None
    requires_grad: _bool
    @property
    def shape(self) -> Size: ...
    @property
    def dtype(self) -> _dtype: ...
    @property
    def device(self) -> _device: ...
    @property
    def layout(self) -> _layout: ...
    @property
    def ndim(self) -> _int: ...
    @property
    def is_leaf(self) -> _bool: ...
    @property
    def itemsize(self) -> _int: ...
    @property
    def nbytes(self) -> _int: ...
    @property
    def is_cpu(self) -> _bool: ...
    @property
    def is_cuda(self) -> _bool: ...
    @property
    def is_meta(self) -> _bool: ...
    @property
    def _version(self) -> _int: ...
    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: _int) -> _int: ...
    @overload
    def stride(self, dim: None = None) -> tuple[_int, ...]: ...
    @overload
    def stride(self, dim: _int) -> _int: ...
    def is_contiguous(self, memory_format: memory_format = ...) -> _bool: ...
    def dim(self) -> _int: ...
    def numel(self) -> _int: ...
    def element_size(self) -> _int: ...
    def storage_offset(self) -> _int: ...
    def data_ptr(self) -> _int: ...
    def is_floating_point(self) -> _bool: ...
    def is_complex(self) -> _bool: ...
    def is_inference(self) -> _bool: ...
