"""Products and norms in PyTorch's forms, and complex numbers of two parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor
from keyway._tensor.methods import checked, put, stored
from keyway._functions.numbers import is_number, listed
from keyway._functions.shapes import list_of
from keyway.overrides import handle_keyway_function, has_keyway_function


def tensordot(
    a: Tensor, b: Tensor, dims: Union[int, Sequence[Any], Tensor] = 2, dims_other: Sequence[int] | None = None, *,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Sums of products over pairs of dimensions: the last of `a` with the first of `b` if `dims` is their number, else
    the two lists that it holds, or that `dims` and `dims_other` are."""
    checked(a, "tensordot", "a"), checked(b, "tensordot", "b")
    pairs: Any = dims.tolist() if isinstance(dims, Tensor) else dims
    if dims_other is not None:
        pairs = (pairs, dims_other)
    elif is_number(pairs):
        count = listed(pairs)[0]
        if not 0 <= count <= min(a.dim(), b.dim()):
            raise _C.ValueError(f"tensordot(): tensors of {a.dim()} and {b.dim()} dimensions have no {count} in common")
        pairs = range(a.dim() - count, a.dim()), range(count)
    mine, its = (listed(part) for part in pairs)
    return _C.tensordot(a, b, mine, its, out=out)


_COMPUTE_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2,
}  # fmt: skip


def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """The distances [..., P, R] between rows of `x1` [..., P, M] and of `x2` [..., R, M], by the `p`-norm.

    `compute_mode` is one of PyTorch's names of ways to compute them, which all give the same here."""
    if compute_mode is not None and compute_mode not in _COMPUTE_MODES:
        raise _C.ValueError(f"cdist(): compute_mode '{compute_mode}' is none of {', '.join(_COMPUTE_MODES)}")
    return _C.cdist(x1, x2, p, None if compute_mode is None else _COMPUTE_MODES[compute_mode])


def einsum(*args: Any) -> Tensor:
    """Sums of products over the indices that the output does not name, by Einstein's convention.

    einsum(equation, *tensors), einsum(equation, tensors)
    einsum(tensor, indices, tensor, indices, ..., output): with lists of numbers and ... in place of letters
    """
    if has_keyway_function(args):
        answer: Tensor = handle_keyway_function(einsum, args, *args)
        return answer
    if not args:
        raise _C.ValueError("einsum(): an equation and tensors are wanted")
    if not isinstance(args[0], (str, Tensor)):
        raise _C.TypeError(f"einsum(): an equation and tensors are wanted, not {type(args[0]).__name__}")
    if isinstance(args[0], str):
        return _C.einsum(args[0], list_of(args[1:], "einsum"))
    tensors, sublists = list(args[0 : len(args) // 2 * 2 : 2]), list(args[1::2])
    equation = ",".join(map(_letters, sublists))
    return _C.einsum(equation + ("->" + _letters(args[-1]) if len(args) % 2 else ""), tensors)


def _letters(sublist: Sequence[Any]) -> str:
    """Numbers 0 to 51 as the letters A to Z and a to z."""
    text = ""
    for index in sublist:
        if index is not Ellipsis and not 0 <= index < 52:
            raise _C.ValueError(f"einsum(): an index is from 0 to 51, not {index}")
        text += "..." if index is Ellipsis else chr(ord("A") + index) if index < 26 else chr(ord("a") + index - 26)
    return text


def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the order that needs the fewest multiplications."""
    given = list_of(matrices, "chain_matmul")
    return given[0] if len(given) == 1 and out is None else _C.linalg_multi_dot(given, out=out)


def norm(
    input: Tensor, p: float | str | None = "fro", dim: Any = None, keepdim: bool = False, out: Tensor | None = None,
    dtype: _C.dtype | None = None,
) -> Tensor:
    """The p-norm of all elements, or of vectors over `dim`; "fro" is the 2-norm, and "nuc" the sum of the singular values
    of matrices over two dimensions."""
    if p == "nuc":
        return nuclear_norm(input, dim, keepdim, out=out)
    if isinstance(p, str) and p != "fro":
        raise _C.ValueError(f"norm(): p is a number, 'fro' or 'nuc', not {p!r}")
    order = 2 if p is None or isinstance(p, str) else p
    if dtype is not None and not (checked(input, "norm").is_floating_point() or input.is_complex()):
        input = input.to(dtype=dtype)
    made = _C.linalg_vector_norm(input, order, dim, keepdim, dtype=dtype)
    return put(made, out, "norm")


def _norm(
    self: Tensor, p: float | str | None = "fro", dim: Any = None, keepdim: bool = False, dtype: _C.dtype | None = None
) -> Tensor:
    return norm(self, p, dim, keepdim, dtype=dtype)


def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers of a real and an imaginary part, which broadcast.

    Raises keyway.TypeError unless both are float64, float32 or float16, and the same.
    """
    checked(real, "complex", "real"), checked(imag, "complex", "imag")
    if real.dtype not in (_C.float64, _C.float32, _C.float16) or imag.dtype is not real.dtype:
        raise _C.TypeError(f"complex(): both parts are float64, float32 or float16, not {real.dtype} and {imag.dtype}")
    made = _C.view_as_complex(_C.stack(_C.broadcast_tensors([real, imag]), -1))
    return stored(made, out, "complex")


def frobenius_norm(
    input: Tensor, dim: Union[int, Sequence[int]], keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The 2-norm of vectors over `dim`, or of all elements if it is empty."""
    return _C.linalg_vector_norm(input, 2, listed(dim), keepdim, out=out)


def nuclear_norm(
    input: Tensor, dim: Union[int, Sequence[int], None] = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The sum of the singular values of matrices over two dimensions, by default those of a tensor of two."""
    rank = checked(input, "nuclear_norm").dim()
    dims = [d % rank if -rank <= d < rank else d for d in ((0, 1) if dim is None else listed(dim))]
    if (dim is None and rank != 2) or len(dims) != 2 or dims[0] == dims[1]:
        raise _C.ValueError(f"nuclear_norm(): needs two dimensions of a tensor, not {dims} of {rank}")
    made = _C.linalg_svdvals(input.movedim(dims, [-2, -1])).sum(-1)
    return stored(with_dims_of_one(made, dims, rank) if keepdim else made, out, "nuclear_norm")


def with_dims_of_one(reduced: Tensor, dims: Sequence[int], rank: int) -> Tensor:
    """What was reduced over `dims`, of which there were `rank`, with 1 in their places."""
    for d in sorted(d % rank for d in dims):
        reduced = reduced.unsqueeze(d)
    return reduced


def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """The product of `n` times the same matrices [..., m, m]; unit matrices for 0, and for `n` below 0 that of their
    inverses.

    Raises keyway.ValueError for matrices that are not square, and keyway.LinAlgError for inverses that are not there.
    """
    if checked(input, "matrix_power").dim() < 2 or input.size(-1) != input.size(-2):
        raise _C.ValueError(f"matrix_power(): needs square matrices, not {list(input.shape)}")
    if n < 0:
        return matrix_power(_C.linalg_inv(input), -n, out=out)
    made, factor, left = None, input, n
    while left:  # by the digits of n
        if left % 2:
            made = factor if made is None else _C.matmul(made, factor)
        left //= 2
        factor = _C.matmul(factor, factor) if left else factor
    if made is None:
        made = _C.eye(input.size(-1), dtype=input.dtype, device=input.device).expand(input.shape)
    if n < 2:
        made = made.clone(memory_format=_C.contiguous_format)
    return stored(made, out, "matrix_power")


def _matrix_power(self: Tensor, n: int) -> Tensor:
    return matrix_power(self, n)


attach(Tensor, _norm, _matrix_power)
