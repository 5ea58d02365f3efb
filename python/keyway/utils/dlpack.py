"""Tensors shared with other libraries by DLPack capsules, under PyTorch's names."""

from __future__ import annotations

from typing import Any

from keyway._C import Tensor, from_dlpack as from_dlpack
from keyway._tensor.methods import checked

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule of the tensor's memory that one other library may take, once; from_dlpack takes it back."""
    return checked(tensor, "to_dlpack", "tensor").__dlpack__()
