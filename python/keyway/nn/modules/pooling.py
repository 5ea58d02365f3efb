"""Pooling: one number for each window."""

from __future__ import annotations

from typing import Any, Callable, ClassVar, Sequence

from keyway._C import Tensor
from keyway._functions.numbers import Sizes, expanded
from keyway.nn import functional as F
from keyway.nn.modules.module import Module


class _MaxPool(Module):
    """The largest of each window, steps of `stride` (the kernel's size if it is None) apart; with `return_indices`,
    also where it is."""

    _function: ClassVar[Callable[..., Any]]
    _shown_members = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
                 return_indices: bool = False, ceil_mode: bool = False) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        return type(self)._function(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
                                    self.return_indices)


class MaxPool1d(_MaxPool):
    """The largest of each window: [N, C, L] (or [C, L]) to [N, C, L']."""

    _function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest of each window: [N, C, H, W] (or [C, H, W]) to [N, C, H', W']."""

    _function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest of each window: [N, C, D, H, W] (or [C, D, H, W]) to [N, C, D', H', W']."""

    _function = staticmethod(F.max_pool3d)


class _AvgPool(Module):
    _function: ClassVar[Callable[..., Tensor]]
    _shown_members = ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True, divisor_override: int | None = None) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return type(self)._function(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                                    self.count_include_pad, self.divisor_override)


def _single(size: Sizes) -> tuple[int, ...]:
    return tuple(expanded(size, 1))


class AvgPool1d(_AvgPool):
    """The mean of each window: [N, C, L] (or [C, L]) to [N, C, L']. `count_include_pad`: the border's zeros count."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True) -> None:
        super().__init__(_single(kernel_size), None if stride is None else _single(stride), _single(padding), ceil_mode,
                         count_include_pad)

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPool):
    """The mean of each window: [N, C, H, W] (or [C, H, W]) to [N, C, H', W']; its sum divided by `divisor_override` if
    that is given."""

    _function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window: [N, C, D, H, W] (or [C, D, H, W]) to [N, C, D', H', W']; its sum divided by
    `divisor_override` if that is given."""

    _function = staticmethod(F.avg_pool3d)


class _AdaptiveAvgPool(Module):
    _function: ClassVar[Callable[..., Tensor]]
    _shown_members = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return type(self)._function(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means of windows such that the last dimension becomes `output_size`."""

    _function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means of windows such that the last two dimensions become `output_size`; None keeps one's size."""

    _function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Means of windows such that the last three dimensions become `output_size`; None keeps one's size."""

    _function = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMaxPool(Module):
    _function: ClassVar[Callable[..., Any]]
    _shown_members = ("output_size",)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        return type(self)._function(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest of windows such that the last dimension becomes `output_size`; with `return_indices` also where."""

    _function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest of windows such that the last two dimensions become `output_size`; None keeps one's size."""

    _function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest of windows such that the last three dimensions become `output_size`; None keeps one's size."""

    _function = staticmethod(F.adaptive_max_pool3d)


class _FractionalMaxPool(Module):
    _dims: ClassVar[int]

    def __init__(self, kernel_size: Sizes, output_size: Sizes | None = None,
                 output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
                 _random_samples: Tensor | None = None) -> None:
        super().__init__()
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{self._get_name()} takes either an output size or a pooling ratio")
        self.kernel_size = tuple(expanded(kernel_size, self._dims))
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else tuple(expanded(output_size, self._dims))
        if output_ratio is not None:
            ratios = output_ratio if isinstance(output_ratio, Sequence) else [output_ratio]
            if not all(0 < ratio < 1 for ratio in ratios):
                raise ValueError(f"output_ratio must be between 0 and 1, but got {output_ratio}")
        self.output_ratio = output_ratio

    def forward(self, input: Tensor) -> Any:
        fractional_max_pool = getattr(F, f"fractional_max_pool{self._dims}d")
        return fractional_max_pool(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
                                   _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest of windows spread over planes by pseudorandom steps, so that they become `output_size`, or their size
    times `output_ratio`: [N, C, H, W] (or [C, H, W]) to [N, C, H', W']; with `return_indices` also where."""

    _dims = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest of windows spread over volumes by pseudorandom steps, so that they become `output_size`, or their
    size times `output_ratio`: [N, C, D, H, W] (or [C, D, H, W]) to [N, C, D', H', W']; with `return_indices` also
    where."""

    _dims = 3


class _LPPool(Module):
    _function: ClassVar[Callable[..., Tensor]]
    _shown_members = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None,
                 ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return type(self)._function(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool):
    """The root of the sum of powers of each window: [N, C, L] (or [C, L]) to [N, C, L']."""

    _function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """The root of the sum of powers of each window: [N, C, H, W] (or [C, H, W]) to [N, C, H', W']."""

    _function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """The root of the sum of powers of each window: [N, C, D, H, W] (or [C, D, H, W]) to [N, C, D', H', W']."""

    _function = staticmethod(F.lp_pool3d)


class _MaxUnpool(Module):
    _dims: ClassVar[int]
    _shown_members = ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = tuple(expanded(kernel_size, self._dims))
        self.stride = tuple(expanded(kernel_size if stride is None else stride, self._dims))
        self.padding = tuple(expanded(padding, self._dims))

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        max_unpool: Callable[..., Tensor] = getattr(F, f"max_unpool{self._dims}d")
        return max_unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    """What MaxPool1d has taken, back at its positions, with the indices it returns; zeros between them."""

    _dims = 1


class MaxUnpool2d(_MaxUnpool):
    """What MaxPool2d has taken, back at its positions, with the indices it returns; zeros between them."""

    _dims = 2


class MaxUnpool3d(_MaxUnpool):
    """What MaxPool3d has taken, back at its positions, with the indices it returns; zeros between them."""

    _dims = 3
