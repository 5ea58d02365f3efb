"""The Python array API standard, version 2023.12, over keyway.Tensor, as far as the operators reach.

Functions have the standard's names, argument orders and defaults; the extensions linalg and fft are modules. `x.size`
is PyTorch's method, not the standard's attribute: `x.numel()` is the number of elements.

In functions of the namespace an array without dimensions takes part in promotion like any other. Operators are those of
keyway.Tensor, which are PyTorch's: there an array without dimensions changes a dtype only if its kind is higher, and
uint64 and a signed integer meet in float64. Comparisons are of values in both: of int64 with uint64, and of large
integers with floating numbers.
"""

from math import e, inf, nan, pi

from keyway._C import (
    abs, acos, acosh, asin, asinh, atan, atanh, bool, ceil, complex64, complex128, cos, cosh, exp, expm1, float32,
    float64, floor, imag, int8, int16, int32, int64, isfinite, isinf, isnan, log, log1p, log2, log10, logical_not,
    negative, positive, real, round, signbit, sin, sinh, sqrt, square, tan, tanh, trunc, uint8, uint16, uint32, uint64,
)  # fmt: skip
from keyway._tensor.methods import conj
from keyway.array_api import fft, linalg
from keyway.array_api._creation import (
    arange, asarray, empty, empty_like, eye, from_dlpack, full, full_like, linspace, meshgrid, ones, ones_like, tril,
    triu, zeros, zeros_like,
)  # fmt: skip
from keyway.array_api._data_types import astype, can_cast, finfo, iinfo, isdtype, result_type
from keyway.array_api._elementwise import (
    add, atan2, bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor, clip,
    copysign, divide, equal, floor_divide, greater, greater_equal, hypot, less, less_equal, logaddexp, logical_and,
    logical_or, logical_xor, maximum, minimum, multiply, not_equal, pow, remainder, sign, subtract,
)  # fmt: skip
from keyway.array_api._info import __array_namespace_info__
from keyway.array_api._linalg import matmul, matrix_transpose, tensordot, vecdot
from keyway.array_api._manipulation import (
    broadcast_arrays, broadcast_to, concat, expand_dims, flip, moveaxis, permute_dims, repeat, reshape, roll, squeeze,
    stack, take, tile, unstack,
)  # fmt: skip
from keyway.array_api._sorting import (
    argmax, argmin, argsort, nonzero, searchsorted, sort, unique_all, unique_counts, unique_inverse, unique_values,
    where,
)  # fmt: skip
from keyway.array_api._statistics import all, any, cumulative_sum, max, mean, min, prod, std, sum, var

__array_api_version__ = "2023.12"
newaxis = None

__all__ = [name for name in list(globals()) if name[0] != "_"] + ["__array_api_version__", "__array_namespace_info__"]
