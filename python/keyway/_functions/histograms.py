"""How many elements are where."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Union

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor
from keyway._tensor.methods import checked, stored


class Histogram(NamedTuple):
    """What histogram returns."""

    hist: Tensor
    bin_edges: Tensor


def histogram(
    input: Tensor, bins: Union[int, Tensor], *, range: Sequence[float] | None = None, weight: Tensor | None = None,
    density: bool = False, out: Sequence[Tensor] | None = None,
) -> Histogram:
    """How many elements of a tensor are in each of some bins, and the edges of the bins, which grow.

    `bins` is their number, of equal width between the ends of `range`, by default the least and the greatest element;
    or a vector of edges, of the dtype of `input`. A bin has its left edge, the last one its right edge too; what is
    outside is not counted. `weight`, of the input's shape and dtype, is what an element counts. With `density`, the
    bins times their widths add up to 1. Gradients do not pass.

    Raises keyway.DtypeError for dtypes other than float32 and float64, keyway.TypeError for different ones, and
    keyway.ValueError for shapes that do not fit, no bins, and a range that is not finite or does not grow.
    """
    x = checked(input, "histogram").detach()
    if x.dtype not in (_C.float32, _C.float64):
        raise _C.DtypeError(f"histogram(): argument 'input' is {x.dtype}, but must be float32 or float64")
    for name, tensor in (("bins", bins), ("weight", weight)):
        if isinstance(tensor, Tensor) and tensor.dtype is not x.dtype:
            raise _C.TypeError(f"histogram(): argument '{name}' is {tensor.dtype}, but 'input' is {x.dtype}")
    if weight is not None and weight.shape != x.shape:
        raise _C.ValueError(f"histogram(): argument 'weight' has shape {list(weight.shape)}, but 'input' has "
                            f"{list(x.shape)}")
    edges = _given_edges(bins, range) if isinstance(bins, Tensor) else _equal_edges(x, bins, range)
    counts = _counts(x.reshape(-1), edges, None if weight is None else weight.detach().reshape(-1))
    if density:
        counts = counts.div(counts.sum()).div(edges.diff())
    if out is None:
        return Histogram(counts, edges)
    return Histogram(*(stored(made, target, "histogram") for target, made in zip(out, (counts, edges))))


def _given_edges(bins: Tensor, range: Sequence[float] | None) -> Tensor:
    if range is not None:
        raise _C.TypeError("histogram(): argument 'range' is for a number of bins, not for their edges")
    if bins.dim() != 1 or bins.numel() < 2:
        raise _C.ValueError(f"histogram(): argument 'bins' is a vector of two edges or more, not {list(bins.shape)}")
    return bins.detach().clone()


def _equal_edges(x: Tensor, bins: int, range: Sequence[float] | None) -> Tensor:
    if bins < 1:
        raise _C.ValueError(f"histogram(): argument 'bins' is at least 1, not {bins}")
    if range is not None:
        low, high = (float(end) for end in range)
    elif x.numel() == 0:
        low, high = 0.0, 1.0
    else:
        low, high = float(x.min()), float(x.max())
    if not (math.isfinite(low) and math.isfinite(high)) or low > high:
        raise _C.ValueError(f"histogram(): the range is finite and grows, but is from {low} to {high}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return _C.linspace(low, high, bins + 1, dtype=x.dtype, device=x.device)


def _counts(x: Tensor, edges: Tensor, weight: Tensor | None) -> Tensor:
    last = edges.size(0) - 1
    bins_of_x = _C.searchsorted(edges, x, right=True).sub(1)
    bins_of_x = bins_of_x.masked_fill(x == edges[last], last - 1)
    inside = _C.logical_and(x >= edges[0], x <= edges[last])
    amounts = _C.ones_like(x) if weight is None else weight
    return edges.new_zeros(last).index_add(0, bins_of_x.masked_select(inside), amounts.masked_select(inside))


attach(Tensor, histogram)
