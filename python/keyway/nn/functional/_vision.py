"""Images on another grid, as patches, and with channels as pixels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, SupportsFloat

from keyway import _C
from keyway._C import Tensor, _nn
from keyway._tensor.methods import checked
from keyway._functions.numbers import Sizes, expanded, is_number, listed

# By the number of dimensions.
_NEAREST = {
    "nearest": {3: _nn.upsample_nearest1d, 4: _nn.upsample_nearest2d, 5: _nn.upsample_nearest3d},
    "nearest-exact": {
        3: _nn._upsample_nearest_exact1d, 4: _nn._upsample_nearest_exact2d, 5: _nn._upsample_nearest_exact3d
    },
}
_SMOOTH = {
    "linear": {3: _nn.upsample_linear1d},
    "bilinear": {4: _nn.upsample_bilinear2d},
    "trilinear": {5: _nn.upsample_trilinear3d},
    "bicubic": {4: _nn.upsample_bicubic2d},
}
_ANTIALIASED = {"bilinear": {4: _nn._upsample_bilinear2d_aa}, "bicubic": {4: _nn._upsample_bicubic2d_aa}}
_AREA = {3: _C.adaptive_avg_pool1d, 4: _nn.adaptive_avg_pool2d, 5: _nn.adaptive_avg_pool3d}


def interpolate(
    input: Tensor, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Images [N, C, ...] of one to three dimensions made larger or smaller: to a `size`, or by a `scale_factor`.

    mode: "nearest" and "nearest-exact", which takes the nearest by the elements' centres, not by their beginnings;
    "linear" [N, C, L], "bilinear" and "bicubic" [N, C, H, W], "trilinear" [N, C, D, H, W]; or "area", the mean of what
    an element covers. align_corners: the linear and cubic ones lay the centres of outer elements on each other, not
    their edges. recompute_scale_factor: the scale is that of the sizes, of which the new one is rounded down.
    antialias: "bilinear" and "bicubic" weigh all that an element of a smaller image covers.
    """
    if mode not in _SMOOTH and align_corners is not None:
        raise _C.ValueError(f"interpolate(): align_corners is for the linear and cubic modes, not for {mode!r}")
    if antialias and mode not in _ANTIALIASED:
        raise _C.ValueError(f"interpolate(): antialias is for the modes 'bilinear' and 'bicubic', not for {mode!r}")
    checked(input, "interpolate")
    sizes, scales = _goal(input, size, scale_factor)
    if scales is not None and (recompute_scale_factor or mode == "area"):
        sizes = [math.floor(n * scale) for n, scale in zip(input.shape[2:], scales)]
        scales = None
    elif scales is None and recompute_scale_factor:
        raise _C.ValueError("interpolate(): recompute_scale_factor is for a scale_factor, not for a size")
    dims = input.dim()
    if mode in _NEAREST and dims in _NEAREST[mode]:
        return _NEAREST[mode][dims](input, sizes, scales)
    if mode == "area" and sizes is not None and dims in _AREA:
        return _AREA[dims](input, sizes)
    smooth = _ANTIALIASED if antialias else _SMOOTH
    if mode in smooth and dims in smooth[mode]:
        return smooth[mode][dims](input, sizes, bool(align_corners), scales)
    raise _C.NotImplementedError(f"interpolate(): there is no mode {mode!r} for an input of {dims} dimensions")


def _goal(input: Tensor, size: Any, scale_factor: Any) -> tuple[list[int] | None, list[float] | None]:
    """The wanted sizes or the scales of all dimensions but the first two."""
    if (size is None) == (scale_factor is None):
        raise _C.ValueError("interpolate(): either size or scale_factor is given")
    given, name = (scale_factor, "scale_factor") if size is None else (size, "size")
    dims = input.dim() - 2
    if is_number(given):
        given = listed(given) * dims
    elif isinstance(given, SupportsFloat) and not hasattr(given, "__len__"):  # NumPy's too
        given = [float(given)] * dims
    values: list[Any] = list(given)
    if len(values) != dims:
        raise _C.ValueError(f"interpolate(): {name} has {len(values)} numbers, but the input {dims + 2} dimensions")
    return (None, values) if size is None else (values, None)


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Elements of images [N, C, H, W] at the positions of `grid` [N, height, width, 2]: x and y from -1 to 1, which are
    the centres of the outer elements with `align_corners`, else their edges. Or of volumes [N, C, D, H, W] at positions
    [N, depth, height, width, 3] of x, y and z.

    mode: "bilinear", "nearest", or of images "bicubic". padding_mode: what lies beyond the image: "zeros", its
    "border", or its "reflection".
    """
    checked(input, "grid_sample"), checked(grid, "grid_sample", "grid")
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    if mode not in modes or padding_mode not in paddings:
        raise _C.ValueError(f"grid_sample(): mode is one of {modes} and padding_mode one of {paddings}, "
                            f"not {mode!r} and {padding_mode!r}")
    return _C.grid_sampler(input, grid, modes.index(mode), paddings.index(padding_mode), bool(align_corners))


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """A grid [N, H, W, 2] for grid_sample out of matrices `theta` [N, 2, 3]: where each position of an image of `size`
    (N, C, H, W) comes from. Or [N, D, H, W, 3] out of [N, 3, 4], for volumes of (N, C, D, H, W)."""
    if not checked(theta, "affine_grid", "theta").is_floating_point():
        raise _C.ValueError(f"affine_grid(): theta must be of floating-point dtype, not {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3) or tuple(theta.shape) != (size[0], dims, dims + 1):
        raise _C.ValueError(f"affine_grid(): theta {tuple(theta.shape)} is not [N, 2, 3] for a size (N, C, H, W), or "
                            f"[N, 3, 4] for (N, C, D, H, W); the size is {tuple(size)}")

    def coordinates(count: int) -> Tensor:
        if count == 1:
            return _C.zeros(1, dtype=theta.dtype, device=theta.device)
        ends = 1.0 if align_corners else 1 - 1 / count
        return _C.linspace(-ends, ends, count, dtype=theta.dtype, device=theta.device)

    axes = _C.meshgrid([coordinates(count) for count in size[2:]], indexing="ij")[::-1]  # x first
    points = _C.stack([*axes, _C.ones_like(axes[0])], -1).reshape(1, math.prod(size[2:]), dims + 1)
    return points.expand(size[0], -1, dims + 1).bmm(theta.transpose(1, 2)).reshape(size[0], *size[2:], dims)


def unfold(
    input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Each window of images [N, C, H, W], or [C, H, W], as a column: [N, C * window, L]."""
    return _nn.im2col(input, kernel_size, dilation, padding, stride)


def fold(
    input: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Images [N, C, *output_size] whose windows are the columns of `input` [N, C * window, L], added up where they
    overlap."""
    return _nn.col2im(input, expanded(output_size, 2), kernel_size, dilation, padding, stride)


def upsample(
    input: Tensor, size: Sizes | None = None, scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest", align_corners: bool | None = None,
) -> Tensor:
    """interpolate() under an older name; warns."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Sizes | None = None, scale_factor: int | None = None) -> Tensor:
    """interpolate() with mode="nearest"; warns."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
                  stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Sizes | None = None, scale_factor: Sizes | None = None) -> Tensor:
    """interpolate() with mode="bilinear" and align_corners; warns."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
                  stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
