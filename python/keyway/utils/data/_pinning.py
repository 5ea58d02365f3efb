"""What a DataLoader with pin_memory=True does to its batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyway._C import Tensor


def pinned(batch: Any, device: str) -> Any:
    """`batch` with each of its tensors in memory that is pinned for devices of that type.

    Goes into mappings and sequences, whose types are kept where these can be made of their elements, and calls
    `pin_memory()` of what else has such a method; anything else stays as it is.
    """
    if isinstance(batch, Tensor):
        return batch.pin_memory(device) if batch.is_cpu else batch
    if isinstance(batch, (str, bytes)):
        return batch
    if isinstance(batch, Mapping):
        items = {key: pinned(value, device) for key, value in batch.items()}
        return _made_as(batch, items)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):  # a named tuple
        return type(batch)(*(pinned(element, device) for element in batch))
    if isinstance(batch, tuple):
        return tuple(pinned(element, device) for element in batch)
    if isinstance(batch, Sequence):
        return _made_as(batch, [pinned(element, device) for element in batch])
    return batch.pin_memory() if hasattr(batch, "pin_memory") else batch


def _made_as(original: Any, elements: Any) -> Any:
    try:
        return type(original)(elements)
    except TypeError:  # its type wants to be made in another way
        return elements
