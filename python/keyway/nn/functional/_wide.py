"""What functions of several steps compute in."""

from __future__ import annotations

from keyway import _C
from keyway._C import Tensor


def widened(x: Tensor) -> Tensor:
    """`x` itself, or in float32 if it is of 16-bit floats: no step then rounds or overflows that the result does not."""
    return x.float() if x.dtype in (_C.float16, _C.bfloat16) else x


def narrowed(result: Tensor, x: Tensor) -> Tensor:
    """A result of widened(x) in the dtype of `x`, if that was widened."""
    return result.to(x.dtype) if x.dtype in (_C.float16, _C.bfloat16) else result
