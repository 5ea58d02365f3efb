"""Types for hints: what arguments of Keyway's functions may be."""

from __future__ import annotations

from typing import TypeAlias, Union

from keyway._C import device

Number: TypeAlias = Union[bool, int, float, complex]
"""A number, which an operator takes as a Scalar."""

Device: TypeAlias = Union[device, str, int]
"""A device, its name as in "cuda:1", or the index of a CUDA device."""
