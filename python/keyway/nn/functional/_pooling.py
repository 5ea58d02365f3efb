"""Pooling whose indices can be asked for, and adaptive pooling of some dimensions."""

from __future__ import annotations

from typing import Any, Sequence, Union

from keyway import _C
from keyway._C import Tensor, _nn

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


def _filled(output_size: Any, input: Tensor, dims: int) -> Any:
    sizes = [output_size] * dims if isinstance(output_size, int) else list(output_size)
    if len(sizes) != dims or len(sizes) > input.dim():
        raise _C.ValueError(f"adaptive_avg_pool{dims}d: output_size has {len(sizes)} sizes for {dims} dimensions of an "
                         f"input of {input.dim()}")
    return [now if size is None else size for size, now in zip(sizes, input.shape[-dims:])]
