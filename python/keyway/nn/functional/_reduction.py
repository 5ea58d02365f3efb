"""Reductions of losses: their names, and the numbers that operators take."""

from __future__ import annotations

import warnings

from keyway import _C
from keyway._C import Tensor

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def chosen_name(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction that is meant where the older arguments may be given, which warn."""
    if size_average is None and reduce is None:
        return reduction
    averages = size_average is None or size_average
    name = "none" if reduce is not None and not reduce else ("mean" if averages else "sum")
    warnings.warn(f"size_average and reduce args are deprecated: give reduction='{name}'", stacklevel=4)
    return name


def number(reduction: str) -> int:
    """Raises ValueError for what is no reduction."""
    if reduction not in _NUMBERS:
        raise _C.ValueError(f"{reduction!r} is not a valid value for reduction: give 'none', 'mean' or 'sum'")
    return _NUMBERS[reduction]


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """Raises ValueError for what is no reduction."""
    kind = number(reduction)
    return losses if kind == 0 else losses.mean() if kind == 1 else losses.sum()
