"""Element-wise functions of the array API: operators under the standard's names, and what can be made of them."""

from __future__ import annotations

from keyway import _C
from keyway._C import maximum, minimum

bitwise_invert = _C.bitwise_not
equal = _C.eq
sign = _C.sgn


def clip(x: _C.Tensor, /, min: float | _C.Tensor | None = None, max: float | _C.Tensor | None = None) -> _C.Tensor:
    """Each element, or the bound that it lies beyond. Bounds are numbers or arrays, in the dtype of `x`."""
    for bound, nearer in ((min, maximum), (max, minimum)):
        if bound is not None:
            x = nearer(x, _C.as_tensor(bound, dtype=x.dtype, device=x.device))
    return x.clone() if min is None and max is None else x
