"""Normalisation."""

from __future__ import annotations

from typing import Any, Sequence

from keyway import _C
from keyway._C import Tensor
from keyway._functions.numbers import listed
from keyway.nn import functional as F
from keyway.nn import init
from keyway.nn.modules.module import Module
from keyway.nn.parameter import Parameter


class _Affine(Module):
    """The base of modules whose weight and bias have one shape, and may be absent."""

    def _make_parameters(self, shape: Any, weight: bool, bias: bool, device: Any, dtype: _C.dtype | None) -> None:
        for name, is_there in (("weight", weight), ("bias", bias)):
            self.register_parameter(name, Parameter(_C.empty(shape, device=device, dtype=dtype)) if is_there else None)

    def reset_parameters(self) -> None:
        """Makes the weight ones and the bias zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Affine):
    """(x - mean) / sqrt(variance + eps) over the last dimensions, which are `normalized_shape`, times weight plus bias.

    `weight` and `bias` have that shape, and begin as ones and zeros; without `elementwise_affine` there are none.
    """

    def __init__(self, normalized_shape: int | Sequence[int], eps: float = 1e-5, elementwise_affine: bool = True,
                 bias: bool = True, device: Any = None, dtype: _C.dtype | None = None) -> None:
        super().__init__()
        self.normalized_shape = tuple(listed(normalized_shape))
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._make_parameters(self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


class RMSNorm(Module):
    """x / sqrt(mean of x^2 + eps) over the last dimensions, which are `normalized_shape`, times weight.

    `weight` has that shape and begins as ones; without `elementwise_affine` there is none. eps: by default the
    difference between 1 and the next number of the dtype, of float32 for 16 bits.
    """

    def __init__(self, normalized_shape: int | Sequence[int], eps: float | None = None, elementwise_affine: bool = True,
                 device: Any = None, dtype: _C.dtype | None = None) -> None:
        super().__init__()
        self.normalized_shape = tuple(listed(normalized_shape))
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = Parameter(_C.empty(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Makes the weight ones."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    """(x - mean) / sqrt(variance + eps) over each of `num_groups` groups of channels, [N, C, ...], times weight plus
    bias.

    `weight` and `bias` are [num_channels], and begin as ones and zeros; without `affine` there are none, and with
    bias=False there is no bias.
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
                 dtype: _C.dtype | None = None, *, bias: bool = True) -> None:
        super().__init__()
        if num_groups < 1 or num_channels % num_groups != 0:
            raise ValueError("num_channels must be divisible by num_groups")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._make_parameters(num_channels, affine, affine and bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
                f"bias={self.bias is not None}")


class _AcrossChannels(Module):
    """The base of modules that look at `size` channels around each."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LocalResponseNorm(_AcrossChannels):
    """x / (k + alpha * the mean of the squares of `size` channels around each) ** beta, [N, C, ...]."""

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


class CrossMapLRN2d(_AcrossChannels):
    """x / (k + alpha / size * the sum of x^2 over `size` channels around)^beta, of [N, C, H, W]. An even size takes one
    channel less; the first channel counts for all behind it, as in PyTorch."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach = (self.size - 1) // 2
        squares = F.pad(input.square(), [0, 0, 0, 0, reach, reach])
        total = squares.narrow(1, 0, input.size(1))
        for i in range(1, 2 * reach + 1):
            total = total.add(squares.narrow(1, i, input.size(1)))
        beyond = _C.arange(input.size(1), device=input.device).gt(reach).reshape(1, -1, 1, 1)
        total = total.add(input.narrow(1, 0, 1).square().mul(beyond))
        return input.mul(total.mul(self.alpha / self.size).add(self.k).pow(-self.beta))
