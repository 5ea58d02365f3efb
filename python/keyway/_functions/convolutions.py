"""Convolutions with padding by name, and of sequences whose first dimension is time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway._functions.numbers import expanded


def _conv(dims: int) -> Any:
    operator: Callable[..., Tensor] = getattr(_C, f"conv{dims}d")

    def conv(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        if isinstance(padding, str):
            input, padding = _pad_by_name(input, weight, stride, padding, dilation, dims)
        return operator(input, weight, bias, stride, padding, dilation, groups)

    conv.__name__ = conv.__qualname__ = f"conv{dims}d"
    conv.__doc__ = (f"Convolution over the last {dims} dimensions of an input [N, C, ...] (or [C, ...]) with a weight\n"
                    "[C_out, C / groups, kernel...] and a bias [C_out]. `padding` is one number, one for each "
                    "dimension,\n"
                    "'valid' (none) or 'same' (the result has the input's size; for a stride of 1).")
    return conv


def _pad_by_name(
    input: Tensor, weight: Tensor, stride: Any, padding: str, dilation: Any, dims: int
) -> tuple[Tensor, list[int]]:
    """The input, padded where both ends differ, and the padding that is left to do."""
    if padding == "valid":
        return input, [0] * dims
    if padding != "same":
        raise _C.ValueError(f"conv{dims}d: padding is 'valid', 'same' or numbers, not '{padding}'")
    if any(s != 1 for s in expanded(stride, dims)):
        raise _C.ValueError(f"conv{dims}d: padding='same' is not supported for strided convolutions")
    totals = [d * (size - 1) for d, size in zip(expanded(dilation, dims), weight.shape[2:])]
    if any(total % 2 for total in totals):
        input = _C._nn.pad(input, [n for total in reversed(totals) for n in (0, total % 2)])
    return input, [total // 2 for total in totals]


conv1d = _conv(1)
conv2d = _conv(2)
conv3d = _conv(3)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Convolution of [time, batch, C_in] with a weight [kernel, C_in, C_out] and a bias [C_out]: to [time', batch,
    C_out]."""
    if input.dim() != 3 or weight.dim() != 3 or bias.dim() != 1:
        raise _C.ValueError("conv_tbc: input and weight have 3 dimensions and bias 1, but there are "
                            f"{input.dim()}, {weight.dim()} and {bias.dim()}")
    return _C.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad).permute(2, 0, 1)
