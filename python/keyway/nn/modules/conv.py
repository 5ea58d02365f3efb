"""Convolutions and transposed convolutions."""

from __future__ import annotations

import math
from typing import Any, Callable, ClassVar, Sequence

from keyway import _C
from keyway._C import Tensor
from keyway._functions.numbers import Sizes, expanded
from keyway.nn import functional as F
from keyway.nn import init
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter

# Names of padding in F.pad.
_PADDINGS = {"zeros": "constant", "reflect": "reflect", "replicate": "replicate", "circular": "circular"}


class _ConvNd(Module):
    """What all convolutions share: sizes, and parameters that begin uniform in +-1 / sqrt(inputs of one output)."""

    _dims: ClassVar[int]
    _transposed: ClassVar[bool] = False
    padding: Any  # numbers, or text

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes, padding: Sizes | str,
                 dilation: Sizes, output_padding: Sizes, groups: int, bias: bool, padding_mode: str, device: Any,
                 dtype: _C.dtype | None) -> None:
        super().__init__()
        if groups <= 0 or in_channels % groups != 0 or out_channels % groups != 0:
            raise ValueError(f"{groups} groups must be positive, and divide {in_channels} in_channels and "
                             f"{out_channels} out_channels")
        self.transposed = self._transposed
        if padding_mode not in _PADDINGS or (self._transposed and padding_mode != "zeros"):
            allowed = ["zeros"] if self._transposed else list(_PADDINGS)
            raise ValueError(f"padding_mode must be one of {allowed}, but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = self._expanded(kernel_size)
        self.stride = self._expanded(stride)
        self.padding = padding if isinstance(padding, str) else self._expanded(padding)
        self.dilation = self._expanded(dilation)
        self.output_padding = self._expanded(output_padding)
        self.groups = groups
        self.padding_mode = padding_mode
        self._check_padding()
        outer, inner = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        self.weight = Parameter(_C.empty([outer, inner // groups, *self.kernel_size], device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(_C.empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def _expanded(self, value: Sizes) -> tuple[int, ...]:
        sizes = tuple(expanded(value, self._dims))
        if len(sizes) != self._dims:
            raise ValueError(f"{type(self).__name__} takes one number or {self._dims}, not {len(sizes)}")
        return sizes

    def _check_padding(self) -> None:
        if not isinstance(self.padding, str):
            return
        if self.padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string '{self.padding}', should be one of 'valid', 'same'")
        if self.padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            inputs = math.prod(self.weight.shape[1:])
            if inputs > 0:
                init.uniform_(self.bias, -1 / math.sqrt(inputs), 1 / math.sqrt(inputs))

    def extra_repr(self) -> str:
        zeros, ones = (0,) * self._dims, (1,) * self._dims
        return (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
                + self._unusual_members(padding=zeros, dilation=ones, output_padding=zeros, groups=1)
                + (", bias=False" if self.bias is None else "") + self._unusual_members(padding_mode="zeros"))


class _Conv(_ConvNd):
    """Convolution with a weight [out_channels, in_channels / groups, kernel...] and a bias [out_channels].

    The padding is one number, one for each dimension, 'valid' or 'same'; what it is filled with, `padding_mode` says:
    'zeros', 'reflect', 'replicate' or 'circular'.
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Sizes | str = 0,
                 dilation: Sizes = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
                 device: Any = None, dtype: _C.dtype | None = None) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias,
                         padding_mode, device, dtype)

    def _borders(self) -> list[int]:
        """What F.pad takes for this padding."""
        if self.padding == "valid":
            return [0, 0] * self._dims
        if self.padding == "same":
            totals = [d * (size - 1) for d, size in zip(self.dilation, self.kernel_size)]
            return [n for total in reversed(totals) for n in (total // 2, total - total // 2)]
        return [n for size in reversed(self.padding) for n in (size, size)]

    def forward(self, input: Tensor) -> Tensor:
        conv: Callable[..., Tensor] = getattr(F, f"conv{self._dims}d")
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._borders(), mode=_PADDINGS[self.padding_mode])
            padding = 0
        return conv(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv):
    """Convolution: [N, C_in, L] (or [C_in, L]) to [N, C_out, L'] with a weight [C_out, C_in / groups, kernel]."""

    _dims = 1


class Conv2d(_Conv):
    """Convolution: [N, C_in, H, W] (or [C_in, H, W]) to [N, C_out, H', W']."""

    _dims = 2


class Conv3d(_Conv):
    """Convolution: [N, C_in, D, H, W] (or [C_in, D, H, W]) to [N, C_out, D', H', W']."""

    _dims = 3


class _ConvTranspose(_ConvNd):
    """What turns a convolution's gradient of its result into that of its input, with a weight [in_channels,
    out_channels / groups, kernel...]. `output_padding` chooses among the sizes that a stride maps to one."""

    _transposed = True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1, padding: Sizes = 0,
                 output_padding: Sizes = 0, groups: int = 1, bias: bool = True, dilation: Sizes = 1,
                 padding_mode: str = "zeros", device: Any = None, dtype: _C.dtype | None = None) -> None:
        if isinstance(padding, str):
            raise ValueError("a transposed convolution takes its padding as numbers")
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups,
                         bias, padding_mode, device, dtype)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """With `output_size`, of the convolved dimensions or of all, the padding that leads to it."""
        padding = self.output_padding if output_size is None else self._padding_for(input, list(output_size))
        conv_transpose: Callable[..., Tensor] = getattr(F, f"conv_transpose{self._dims}d")
        return conv_transpose(input, self.weight, self.bias, self.stride, self.padding, padding, self.groups,
                              self.dilation)

    def _padding_for(self, input: Tensor, output_size: list[int]) -> list[int]:
        if len(output_size) == input.dim():
            output_size = output_size[-self._dims:]
        if len(output_size) != self._dims:
            raise ValueError(f"{type(self).__name__}: output_size has {self._dims} or {input.dim()} sizes, not "
                             f"{len(output_size)}")
        paddings = []
        for i, (now, wanted) in enumerate(zip(input.shape[-self._dims:], output_size)):
            kernel = self.dilation[i] * (self.kernel_size[i] - 1) + 1
            least = (now - 1) * self.stride[i] - 2 * self.padding[i] + kernel
            if not least <= wanted < least + self.stride[i]:
                raise ValueError(f"{type(self).__name__}: requested an output size of {output_size}, but sizes of "
                                 f"dimension {i} range from {least} to {least + self.stride[i] - 1}")
            paddings.append(wanted - least)
        return paddings


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution: [N, C_in, L] (or [C_in, L]) to [N, C_out, L']."""

    _dims = 1


class ConvTranspose2d(_ConvTranspose):
    """Transposed convolution: [N, C_in, H, W] (or [C_in, H, W]) to [N, C_out, H', W']."""

    _dims = 2


class ConvTranspose3d(_ConvTranspose):
    """Transposed convolution: [N, C_in, D, H, W] (or [C_in, D, H, W]) to [N, C_out, D', H', W']."""

    _dims = 3
