"""Collating: several examples as one batch."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import keyway
from keyway._C import Tensor


def default_collate(batch: Sequence[Any]) -> Any:
    """Examples of one kind as a batch with one dimension more.

    Tensors are stacked; numbers become a tensor (of float64, int64 or bool), NumPy's arrays and scalars one of their
    dtype; text stays a list; of dicts, tuples, named tuples and lists, each position is collated. Raises TypeError for
    others, ValueError for sequences of different lengths.
    """
    first = batch[0]
    kind = type(first)
    if isinstance(first, Tensor):
        return keyway.stack(list(batch))
    if isinstance(first, float):
        return keyway.tensor(batch, dtype=keyway.float64)
    if isinstance(first, int):
        return keyway.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if kind.__module__ == "numpy":
        return keyway.stack([keyway.as_tensor(example) for example in batch])
    if isinstance(first, Mapping):
        return _like(first, {key: default_collate([example[key] for example in batch]) for key in first})
    if isinstance(first, Sequence):
        if any(len(example) != len(first) for example in batch):
            raise ValueError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch)]
        return kind(*columns) if hasattr(first, "_fields") else columns
    raise TypeError("default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
                    f"{kind.__name__}")


def _like(mapping: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    """Values in a mapping of the same class, if it can be copied and changed."""
    if type(mapping) is dict or not isinstance(mapping, MutableMapping):
        return values
    same = copy.copy(mapping)
    same.update(values)
    return same


def default_convert(data: Any) -> Any:
    """One example as it is, but NumPy's arrays as tensors, also those inside dicts, tuples, named tuples and lists."""
    if type(data).__module__ == "numpy":
        return data if data.dtype.kind in "SUO" else keyway.as_tensor(data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return [default_convert(value) for value in data]
    return data
