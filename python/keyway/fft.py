"""Fourier transforms under PyTorch's names.

norm: "backward", the default, divides inverse transforms by the number of elements, "forward" the others, "ortho" both
by its root. `n` and `s` are the sizes to transform: what is longer is cut off, what is shorter gets zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from keyway import _C
from keyway._C import Tensor
from keyway._tensor.methods import checked, put
from keyway._functions.numbers import listed

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
    "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]

_Dims = Union[int, Sequence[int], None]


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
        out: Tensor | None = None) -> Tensor:
    """The transform of a dimension, to complex numbers."""
    return fftn(input, _one(n), [dim], norm, out=out)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """The inverse of `fft`."""
    return ifftn(input, _one(n), [dim], norm, out=out)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """The transform of real numbers along a dimension, of which the first half, n // 2 + 1 elements, says all."""
    return rfftn(input, _one(n), [dim], norm, out=out)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The inverse of `rfft`: `n` real numbers, an even number of them if it is not given."""
    return irfftn(input, _one(n), [dim], norm, out=out)


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """The transform, real numbers, of elements whose second half, which is not given, is the first one's conjugate."""
    return hfftn(input, _one(n), [dim], norm, out=out)


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The inverse of `hfft`."""
    return ihfftn(input, _one(n), [dim], norm, out=out)


def fft2(input: Tensor, s: _Dims = None, dim: _Dims = (-2, -1), norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """`fftn` of the last two dimensions."""
    return fftn(input, s, dim, norm, out=out)


def ifft2(input: Tensor, s: _Dims = None, dim: _Dims = (-2, -1), norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """`ifftn` of the last two dimensions."""
    return ifftn(input, s, dim, norm, out=out)


def rfft2(input: Tensor, s: _Dims = None, dim: _Dims = (-2, -1), norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """`rfftn` of the last two dimensions."""
    return rfftn(input, s, dim, norm, out=out)


def irfft2(input: Tensor, s: _Dims = None, dim: _Dims = (-2, -1), norm: str | None = None, *,
           out: Tensor | None = None) -> Tensor:
    """`irfftn` of the last two dimensions."""
    return irfftn(input, s, dim, norm, out=out)


def hfft2(input: Tensor, s: _Dims = None, dim: _Dims = (-2, -1), norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """`hfftn` of the last two dimensions."""
    return hfftn(input, s, dim, norm, out=out)


def ihfft2(input: Tensor, s: _Dims = None, dim: _Dims = (-2, -1), norm: str | None = None, *,
           out: Tensor | None = None) -> Tensor:
    """`ihfftn` of the last two dimensions."""
    return ihfftn(input, s, dim, norm, out=out)


def fftn(input: Tensor, s: _Dims = None, dim: _Dims = None, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """The transform of dimensions, of all if neither `dim` nor `s` says which, to complex numbers."""
    dims, sizes = _chosen(input, s, dim)
    made = _C._fft_c2c(_resized(_as_complex(input), dims, sizes), dims, _scaling(norm, True), True)
    return _put("fftn", made, out)


def ifftn(input: Tensor, s: _Dims = None, dim: _Dims = None, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The inverse of `fftn`."""
    dims, sizes = _chosen(input, s, dim)
    made = _C._fft_c2c(_resized(_as_complex(input), dims, sizes), dims, _scaling(norm, False), False)
    return _put("ifftn", made, out)


def rfftn(input: Tensor, s: _Dims = None, dim: _Dims = None, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The transform of real numbers over dimensions, of the last of which the first half says all."""
    return _put("rfftn", _real_transform("rfftn", input, s, dim, _scaling(norm, True)), out)


def irfftn(input: Tensor, s: _Dims = None, dim: _Dims = None, norm: str | None = None, *,
           out: Tensor | None = None) -> Tensor:
    """The inverse of `rfftn`: real numbers, an even number of them in the last dimension if `s` does not say it."""
    return _put("irfftn", _to_real("irfftn", _as_complex(input), s, dim, _scaling(norm, False)), out)


def hfftn(input: Tensor, s: _Dims = None, dim: _Dims = None, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The transform, real numbers, of elements whose second half of the last dimension is the first one's conjugate."""
    return _put("hfftn", _to_real("hfftn", _as_complex(input).conj_physical(), s, dim, _scaling(norm, True)), out)


def ihfftn(input: Tensor, s: _Dims = None, dim: _Dims = None, norm: str | None = None, *,
           out: Tensor | None = None) -> Tensor:
    """The inverse of `hfftn`."""
    return _put("ihfftn", _real_transform("ihfftn", input, s, dim, _scaling(norm, False)).conj_physical(), out)


def fftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: _C.dtype | None = None, device: Any = None,
            requires_grad: bool = False) -> Tensor:
    """The frequencies of the elements of `fft` for samples `d` apart: 0, 1, ..., and the negative ones, over n * d."""
    indices = _C.arange(n, device=device)
    signed = _C.where(indices.lt((n + 1) // 2), indices, indices.sub(n))
    return _frequencies(signed, n, d, out, dtype, requires_grad)


def rfftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: _C.dtype | None = None, device: Any = None,
             requires_grad: bool = False) -> Tensor:
    """The frequencies of the elements of `rfft` for samples `d` apart: 0, 1, ..., n // 2 over n * d."""
    return _frequencies(_C.arange(n // 2 + 1, device=device), n, d, out, dtype, requires_grad)


def fftshift(input: Tensor, dim: _Dims = None) -> Tensor:
    """The frequency 0 in the middle of dimensions, of all by default."""
    dims = _dims(input, dim)
    return input.roll([input.size(d) // 2 for d in dims], dims) if dims else input.clone()


def ifftshift(input: Tensor, dim: _Dims = None) -> Tensor:
    """The inverse of `fftshift`."""
    dims = _dims(input, dim)
    return input.roll([(input.size(d) + 1) // 2 for d in dims], dims) if dims else input.clone()


def _frequencies(numbers: Tensor, n: int, d: float, out: Tensor | None, dtype: _C.dtype | None,
                 requires_grad: bool) -> Tensor:
    chosen = _C.get_default_dtype() if dtype is None else dtype
    result = _put("fftfreq", numbers.to(dtype=chosen).mul(1.0 / (n * d) if n * d != 0 else float("inf")), out)
    return result.requires_grad_() if requires_grad else result


def _scaling(norm: str | None, forward: bool) -> int:
    """What the operators divide by: 0 nothing, 1 the root of the number, 2 the number."""
    if norm not in (None, "backward", "forward", "ortho"):
        raise _C.Error(f'Invalid normalization mode: "{norm}"')
    if norm == "ortho":
        return 1
    return 2 if (norm == "forward") == forward else 0


def _dims(input: Tensor, dim: _Dims) -> list[int]:
    given = list(range(input.dim())) if dim is None else listed(dim)
    for d in given:
        if not -input.dim() <= d < input.dim():
            raise _C.IndexError(f"Dimension out of range: {d} of a tensor of {input.dim()}")
    dims = [d % input.dim() for d in given]
    if len(set(dims)) != len(dims):
        raise _C.Error(f"FFT dims must be unique, but are {tuple(given)}")
    return dims


def _chosen(input: Tensor, s: _Dims, dim: _Dims) -> tuple[list[int], list[int]]:
    """Which dimensions are transformed, and their sizes then."""
    sizes = None if s is None else listed(s)
    if sizes is not None and dim is None:
        if len(sizes) > input.dim():
            raise _C.Error(f"Got shape with {len(sizes)} values but input tensor only has {input.dim()} dimensions.")
        dim = list(range(input.dim() - len(sizes), input.dim()))
    dims = _dims(input, dim)
    if sizes is None:
        sizes = [input.size(d) for d in dims]
    if len(sizes) != len(dims):
        raise _C.Error("When given, dim and shape arguments must have the same length")
    sizes = [input.size(d) if size == -1 else size for d, size in zip(dims, sizes)]
    for size in sizes:
        _check_size(size)
    return dims, sizes


def _check_size(size: int) -> None:
    if size < 1:
        raise _C.Error(f"Invalid number of data points ({size}) specified")


def _one(n: int | None) -> list[int] | None:
    if n is None:
        return None
    _check_size(n)
    return [n]


def _resized(input: Tensor, dims: list[int], sizes: list[int]) -> Tensor:
    for d, size in zip(dims, sizes):
        missing = size - input.size(d)
        if missing < 0:
            input = input.narrow(d, 0, size)
        elif missing > 0:
            input = _C.constant_pad_nd(input, [0, 0] * (input.dim() - 1 - d) + [0, missing])
    return input


def _check_precision(input: Tensor) -> None:
    if input.dtype in (_C.float16, _C.bfloat16, _C.complex32):
        raise _C.Error(f"Unsupported dtype {input.dtype}: transforms take float32, float64 or integers")


def _as_complex(input: Tensor) -> Tensor:
    _check_precision(input)
    if input.is_complex():
        return input
    double = input.dtype is _C.float64 or (not input.is_floating_point() and _C.get_default_dtype() is _C.float64)
    return input.to(dtype=_C.complex128 if double else _C.complex64)


def _real_transform(name: str, input: Tensor, s: _Dims, dim: _Dims, scaling: int) -> Tensor:
    if input.is_complex():
        raise _C.Error(f"{name} expects a real input tensor, but got {input.dtype}")
    _check_precision(input)
    real = input if input.is_floating_point() else input.to(dtype=_C.get_default_dtype())
    dims, sizes = _chosen(real, s, dim)
    if not dims:
        raise _C.Error(f"{name} must transform at least one axis")
    return _C._fft_r2c(_resized(real, dims, sizes), dims, scaling, True)


def _to_real(name: str, input: Tensor, s: _Dims, dim: _Dims, scaling: int) -> Tensor:
    """The inverse transform, to real numbers, of what has the first half of the last of the dimensions."""
    dims, sizes = _chosen(input, s, dim)
    if not dims:
        raise _C.Error(f"{name} must transform at least one axis")
    given = s is not None and listed(s)[-1] != -1
    last = sizes[-1] if given else 2 * (input.size(dims[-1]) - 1)
    _check_size(last)
    return _C._fft_c2r(_resized(input, dims, [*sizes[:-1], last // 2 + 1]), dims, scaling, last)


def _put(function: str, result: Tensor, out: Tensor | None) -> Tensor:
    if out is not None:
        is_complex = checked(out, function, "out").is_complex()
        if is_complex != result.is_complex() or not (is_complex or out.is_floating_point()):
            raise _C.Error(f"out has dtype {out.dtype}, but the result {result.dtype}")
    return put(result, out, function)
