"""Modules of images: made larger, as patches, and with channels as pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from keyway import _C
from keyway._C import Tensor
from keyway._functions.numbers import Sizes
from keyway.nn import functional as F
from keyway.nn.modules.module import Module


class Upsample(Module):
    """functional.interpolate to a `size` or by a `scale_factor`."""

    def __init__(self, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None,
                 mode: str = "nearest", align_corners: bool | None = None,
                 recompute_scale_factor: bool | None = None) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, (list, tuple)):
            self.scale_factor: Any = tuple(map(float, scale_factor))
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None  # type: ignore[arg-type]
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             self.recompute_scale_factor)

    def extra_repr(self) -> str:
        goal = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{goal}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample of images in mode "nearest"."""

    def __init__(self, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample of images in mode "bilinear" with align_corners."""

    def __init__(self, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class PixelShuffle(Module):
    """Channels [..., C * r * r, H, W] as pixels [..., C, H * r, W * r], with r the `upscale_factor`."""

    _shown_members = ("upscale_factor",)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return _C.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    """Pixels [..., C, H * r, W * r] as channels [..., C * r * r, H, W], with r the `downscale_factor`."""

    _shown_members = ("downscale_factor",)

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return _C.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Module):
    """Groups of channels dealt out in turn: the first of each, then the second."""

    _shown_members = ("groups",)

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return _C.channel_shuffle(input, self.groups)


class Unfold(Module):
    """Each window of images as a column: [N, C, H, W] to [N, C * window, L]."""

    _shown_members: ClassVar[tuple[str, ...]] = ("kernel_size", "dilation", "padding", "stride")

    def __init__(self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(Unfold):
    """Images of `output_size` out of columns, added up where windows overlap: the transpose of Unfold."""

    _shown_members = ("output_size", *Unfold._shown_members)

    def __init__(self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0,
                 stride: Sizes = 1) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
