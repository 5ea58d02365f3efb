"""unique and unique_consecutive in PyTorch's forms: what was not asked for is not returned."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor


def _wanted(found: tuple[Tensor, ...], return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = found
    asked = (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
    return values if len(asked) == 1 else asked


def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Each different element once, in order, or each different slice along `dim`; with `return_inverse` also where each
    is among them, with `return_counts` how often each stands there.

    Raises keyway.IndexError for a dimension that is not there.
    """
    if dim is None:
        found = _C._unique2(input, sorted, return_inverse, return_counts)
    else:
        found = _C.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _wanted(found, return_inverse, return_counts)


_consecutive_by_schema = _C.unique_consecutive


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Elements, or slices along `dim`, without those that equal the one before; with `return_inverse` also where each
    went, with `return_counts` how many went there.

    Raises keyway.IndexError for a dimension that is not there.
    """
    found = _consecutive_by_schema(input, return_inverse, return_counts, dim)
    return _wanted(found, return_inverse, return_counts)


attach(Tensor, unique, unique_consecutive)
