"""Pooling whose indices can be asked for, adaptive pooling of some dimensions, and by norms."""

from __future__ import annotations

import math
from typing import Any, Sequence, Union

from keyway import _C
from keyway._C import Tensor, _nn
from keyway._methods import _checked
from keyway._numbers import expanded, is_number

Sizes = Union[int, Sequence[int]]


def _max_pool(dims: int) -> Any:
    pool = getattr(_C, f"max_pool{dims}d")
    pool_with_indices = getattr(_C if dims == 1 else _nn, f"max_pool{dims}d_with_indices")

    def max_pool(
        input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> Any:
        stride = kernel_size if stride is None else stride
        chosen = pool_with_indices if return_indices else pool
        return chosen(input, kernel_size, stride, padding, dilation, ceil_mode)

    max_pool.__name__ = max_pool.__qualname__ = f"max_pool{dims}d"
    max_pool.__doc__ = (f"The largest of each window over the last {dims} dimensions, steps of `stride` (the kernel's "
                        "size "
                        "if it is None) apart; with `return_indices`, also where it is, counted over these dimensions.")
    return max_pool


max_pool1d = _max_pool(1)
max_pool2d = _max_pool(2)
max_pool3d = _max_pool(3)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means of windows such that the last two dimensions become `output_size`, one int or two; None keeps one's
    size."""
    return _nn.adaptive_avg_pool2d(input, _filled(output_size, input, 2))


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means of windows such that the last three dimensions become `output_size`, one int or three; None keeps one's
    size."""
    return _nn.adaptive_avg_pool3d(input, _filled(output_size, input, 3))


def _filled(output_size: Any, input: Tensor, dims: int, name: str = "avg") -> Any:
    sizes = [output_size] * dims if is_number(output_size) else list(output_size)
    if len(sizes) != dims or len(sizes) > input.dim():
        raise _C.ValueError(f"adaptive_{name}_pool{dims}d: output_size has {len(sizes)} sizes for {dims} dimensions of "
                            f"an input of {input.dim()}")
    return [now if size is None else size for size, now in zip(sizes, input.shape[-dims:])]


def _windows(size: int, count: int, device: Any) -> Tensor:
    """The places of `count` windows that together cover `size` places, [count, longest]; shorter ones repeat their
    last."""
    outputs = _C.arange(count, device=device)
    begins = outputs.mul(size).floor_divide(count)
    ends = outputs.add(1).mul(size).add(count - 1).floor_divide(count)
    longest = max(-(-(i + 1) * size // count) - i * size // count for i in range(count))
    return begins.unsqueeze(1).add(_C.arange(longest, device=device)).minimum(ends.sub(1).unsqueeze(1))


def _in_windows(input: Tensor, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The elements of all windows over the last dimensions, [..., *sizes, window], and their places there, [*sizes,
    window]."""
    dims, first = len(sizes), input.dim() - len(sizes)
    windows, places, length = input, _C.zeros([1], dtype=_C.int64, device=input.device), 1
    for at, (count, size) in enumerate(zip(sizes, input.shape[first:])):
        within, here = _windows(size, count, input.device), first + 2 * at
        chosen = windows.index_select(here, within.reshape(-1))
        windows = chosen.reshape([*chosen.shape[:here], *within.shape, *chosen.shape[here + 1 :]])
        apart = [1] * (2 * dims)
        apart[2 * at : 2 * at + 2] = within.shape
        places = places.mul(size).add(within.reshape(apart))
        length *= within.size(1)
    order = [*range(0, 2 * dims, 2), *range(1, 2 * dims, 2)]
    windows = windows.permute([*range(first), *(first + d for d in order)])
    return windows.reshape([*input.shape[:first], *sizes, length]), places.permute(order).reshape([*sizes, length])


def _adaptive_max_pool(dims: int) -> Any:
    def adaptive_max_pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        name = f"adaptive_max_pool{dims}d"
        if input.dim() not in (dims + 1, dims + 2):
            raise _C.ValueError(f"{name}: the input has {dims + 1} or {dims + 2} dimensions, not {input.dim()}")
        sizes = _filled(output_size, input, dims, "max")
        if any(size < 0 for size in sizes):
            raise _C.ValueError(f"{name}: output_size must not be negative, but is {tuple(sizes)}")
        if 0 in input.shape[input.dim() - dims - 1 :]:
            raise _C.ValueError(f"{name}: there is nothing to choose from in an input of shape {tuple(input.shape)}")
        if 0 in sizes:
            values = input.new_empty([*input.shape[:-dims], *sizes])
            return (values, _C.empty_like(values, dtype=_C.int64)) if return_indices else values
        windows, places = _in_windows(input, sizes)
        values, chosen = windows.max(-1)
        if not return_indices:
            return values
        return values, places.expand(windows.shape).gather(-1, chosen.unsqueeze(-1)).squeeze(-1)

    adaptive_max_pool.__name__ = adaptive_max_pool.__qualname__ = f"adaptive_max_pool{dims}d"
    adaptive_max_pool.__doc__ = (f"The largest of windows such that the last {dims} dimensions become `output_size`; "
                                 "None keeps one's size. With `return_indices`, also where it is, counted over these "
                                 "dimensions.")
    return adaptive_max_pool


adaptive_max_pool1d = _adaptive_max_pool(1)
adaptive_max_pool2d = _adaptive_max_pool(2)
adaptive_max_pool3d = _adaptive_max_pool(3)


def _lp_pool(dims: int) -> Any:
    avg_pool = getattr(_C if dims == 1 else _nn, f"avg_pool{dims}d")

    def lp_pool(
        input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
    ) -> Tensor:
        lengths = expanded(kernel_size, dims)
        means = avg_pool(input.pow(norm_type), lengths, lengths if stride is None else stride, 0, ceil_mode)
        result: Tensor = means.mul(math.prod(lengths)).pow(1 / norm_type)
        return result

    lp_pool.__name__ = lp_pool.__qualname__ = f"lp_pool{dims}d"
    lp_pool.__doc__ = (f"The sum of the `norm_type`-th powers of each window over the last {dims} dimensions, and of "
                       "that the root.")
    return lp_pool


lp_pool1d = _lp_pool(1)
lp_pool2d = _lp_pool(2)
lp_pool3d = _lp_pool(3)


def _unpooled_size(
    input: Tensor, kernel_size: list[int], stride: list[int], padding: list[int], output_size: Sequence[int] | None
) -> list[int]:
    """The given size, of the last dimensions or of all, if windows of it are as many as the input has places; else the
    least."""
    dims = len(kernel_size)
    if input.dim() not in (dims + 1, dims + 2) or not len(stride) == len(padding) == dims:
        raise _C.ValueError(f"max_unpool{dims}d(): the input has {input.dim()} dimensions, kernel_size {dims} numbers, "
                            f"stride {len(stride)} and padding {len(padding)}")
    least = [(n - 1) * step + window - 2 * pad
             for n, step, window, pad in zip(input.shape[-dims:], stride, kernel_size, padding)]
    if output_size is None:
        return least
    wanted = list(output_size)[-dims:]
    if len(output_size) not in (dims, dims + 2):
        raise _C.ValueError(f"max_unpool{dims}d(): output_size has {len(output_size)} sizes, not {dims} or {dims + 2}")
    if not all(n - step < size < n + step for n, step, size in zip(least, stride, wanted)):
        raise _C.ValueError(f"max_unpool{dims}d(): output_size is {wanted}, but must be less than the stride {stride} "
                            f"away from {least}")
    return wanted


def _max_unpool(dims: int) -> Any:
    def max_unpool(
        input: Tensor, indices: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor:
        _checked(input, f"max_unpool{dims}d")
        windows = expanded(kernel_size, dims)
        steps, pads = windows if stride is None else expanded(stride, dims), expanded(padding, dims)
        sizes = _unpooled_size(input, windows, steps, pads, output_size)
        if dims == 3:
            return _nn.max_unpool3d(input, indices, sizes, steps, pads)
        if dims == 2:
            return _nn.max_unpool2d(input, indices, sizes)
        return _nn.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*sizes, 1]).squeeze(-1)

    max_unpool.__name__ = max_unpool.__qualname__ = f"max_unpool{dims}d"
    max_unpool.__doc__ = (f"What max_pool{dims}d has taken, back in its places, with the indices it returns; zeros "
                          "between them. output_size: of the result, if it is not the least that has as many windows.")
    return max_unpool


max_unpool1d = _max_unpool(1)
max_unpool2d = _max_unpool(2)
max_unpool3d = _max_unpool(3)
