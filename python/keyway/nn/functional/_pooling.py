"""Pooling whose indices can be asked for, adaptive pooling of some dimensions, and by norms."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

from keyway import _C
from keyway._C import Tensor, _nn
from keyway._tensor.methods import checked
from keyway._functions.numbers import Sizes, expanded, is_number
from keyway.nn.functional._wide import widened


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


def _adaptive_max_pool(dims: int) -> Any:
    pool = getattr(_C if dims == 1 else _nn, f"adaptive_max_pool{dims}d")

    def adaptive_max_pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        values, indices = pool(input, _filled(output_size, input, dims, "max"))
        return (values, indices) if return_indices else values

    adaptive_max_pool.__name__ = adaptive_max_pool.__qualname__ = f"adaptive_max_pool{dims}d"
    adaptive_max_pool.__doc__ = (f"The largest of windows such that the last {dims} dimensions become `output_size`; "
                                 "None keeps one's size. With `return_indices`, also where it is, counted over these "
                                 "dimensions.")
    return adaptive_max_pool


adaptive_max_pool1d = _adaptive_max_pool(1)
adaptive_max_pool2d = _adaptive_max_pool(2)
adaptive_max_pool3d = _adaptive_max_pool(3)


def _fractional_max_pool(dims: int) -> Any:
    name = f"fractional_max_pool{dims}d"
    pool = getattr(_nn, name)

    def fractional_max_pool(
        input: Tensor, kernel_size: Sizes, output_size: Sizes | None = None,
        output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        if checked(input, name).dim() not in (dims + 1, dims + 2):
            raise _C.ValueError(f"{name}: the input has {dims + 1} or {dims + 2} dimensions, not {input.dim()}")
        if output_size is None:
            if output_ratio is None:
                raise _C.ValueError(f"{name}: neither output_size nor output_ratio is given")
            ratios = list(output_ratio) if isinstance(output_ratio, Sequence) else [output_ratio] * dims
            if len(ratios) != dims:
                raise _C.ValueError(f"{name}: output_ratio has {len(ratios)} numbers for {dims} dimensions")
            output_size = [int(size * ratio) for size, ratio in zip(input.shape[-dims:], ratios)]
        if _random_samples is None:
            batch = input.size(0) if input.dim() == dims + 2 else 1
            _random_samples = _C.rand(batch, input.size(-dims - 1), dims, dtype=input.dtype, device=input.device)
        values, indices = pool(input, kernel_size, output_size, _random_samples)
        return (values, indices) if return_indices else values

    fractional_max_pool.__name__ = fractional_max_pool.__qualname__ = name
    fractional_max_pool.__doc__ = (f"The largest of windows of `kernel_size` spread over the last {dims} dimensions by "
                                   "pseudorandom steps, so that these become `output_size`, or their size times "
                                   "`output_ratio`; with `return_indices`, also where it is, counted over these "
                                   "dimensions.")
    return fractional_max_pool


fractional_max_pool2d = _fractional_max_pool(2)
fractional_max_pool3d = _fractional_max_pool(3)


def _lp_pool(dims: int) -> Any:
    avg_pool: Callable[..., Tensor] = getattr(_C if dims == 1 else _nn, f"avg_pool{dims}d")

    def lp_pool(
        input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
    ) -> Tensor:
        lengths = expanded(kernel_size, dims)
        means = avg_pool(widened(input).pow(norm_type), lengths, lengths if stride is None else stride, 0, ceil_mode)
        return means.mul(math.prod(lengths)).pow(1 / norm_type).to(input.dtype)

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
    """The given size, of the last dimensions or of all, if windows of it are as many as the input has positions; else
    the least."""
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
        checked(input, f"max_unpool{dims}d")
        windows = expanded(kernel_size, dims)
        steps, pads = windows if stride is None else expanded(stride, dims), expanded(padding, dims)
        sizes = _unpooled_size(input, windows, steps, pads, output_size)
        if dims == 3:
            return _nn.max_unpool3d(input, indices, sizes, steps, pads)
        if dims == 2:
            return _nn.max_unpool2d(input, indices, sizes)
        return _nn.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*sizes, 1]).squeeze(-1)

    max_unpool.__name__ = max_unpool.__qualname__ = f"max_unpool{dims}d"
    max_unpool.__doc__ = (f"What max_pool{dims}d has taken, back at its positions, with the indices it returns; zeros "
                          "between them. output_size: of the result, if it is not the least that has as many windows.")
    return max_unpool


max_unpool1d = _max_unpool(1)
max_unpool2d = _max_unpool(2)
max_unpool3d = _max_unpool(3)


def _with_indices(name: str, pool: Any, position: int) -> Any:
    def with_indices(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        if len(args) > position:
            return pool(input, *args[:position], True, *args[position + 1:], **kwargs)
        return pool(input, *args, **{**kwargs, "return_indices": True})

    with_indices.__name__ = with_indices.__qualname__ = f"{name}_with_indices"
    with_indices.__doc__ = f"{name} with its indices, whatever `return_indices` is."
    return with_indices


max_pool1d_with_indices = _with_indices("max_pool1d", max_pool1d, 5)
max_pool2d_with_indices = _with_indices("max_pool2d", max_pool2d, 5)
max_pool3d_with_indices = _with_indices("max_pool3d", max_pool3d, 5)
adaptive_max_pool1d_with_indices = _with_indices("adaptive_max_pool1d", adaptive_max_pool1d, 1)
adaptive_max_pool2d_with_indices = _with_indices("adaptive_max_pool2d", adaptive_max_pool2d, 1)
adaptive_max_pool3d_with_indices = _with_indices("adaptive_max_pool3d", adaptive_max_pool3d, 1)
fractional_max_pool2d_with_indices = _with_indices("fractional_max_pool2d", fractional_max_pool2d, 3)
fractional_max_pool3d_with_indices = _with_indices("fractional_max_pool3d", fractional_max_pool3d, 3)
