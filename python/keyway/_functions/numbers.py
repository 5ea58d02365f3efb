"""Arguments that are one number, or one for each dimension."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex, Union

Sizes = Union[int, Sequence[int]]


def is_number(value: Any) -> bool:
    """Whether it is one integer: an int, or a NumPy one."""
    return isinstance(value, SupportsIndex) and not hasattr(value, "__len__")


def listed(value: Any) -> list[Any]:
    """A list of one number, or of those that are given."""
    return [operator.index(value)] if is_number(value) else list(value)


def expanded(value: Any, dims: int) -> list[Any]:
    """One number for all dimensions as a list, or a list of one for each."""
    values = listed(value)
    return values * dims if len(values) == 1 else values
