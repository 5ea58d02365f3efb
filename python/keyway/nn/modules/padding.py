"""Borders around tensors."""

from __future__ import annotations

from typing import ClassVar

from keyway._C import Tensor
from keyway._functions.numbers import Sizes, expanded
from keyway.nn import functional as F
from keyway.nn.modules.module import Module


class _Pad(Module):
    """`padding`: one size for all, or two for each of the last dimensions, the last one first."""

    _dims: ClassVar[int]
    _mode: ClassVar[str]

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = tuple(expanded(padding, 2 * self._dims))

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    _mode = "constant"

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """A border of `value` around the last dimension."""

    _dims = 1


class ConstantPad2d(_ConstantPad):
    """A border of `value` around the last two dimensions."""

    _dims = 2


class ConstantPad3d(_ConstantPad):
    """A border of `value` around the last three dimensions."""

    _dims = 3


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad):
    """A border of zeros around the last dimension."""

    _dims = 1


class ZeroPad2d(_ZeroPad):
    """A border of zeros around the last two dimensions."""

    _dims = 2


class ZeroPad3d(_ZeroPad):
    """A border of zeros around the last three dimensions."""

    _dims = 3


class CircularPad1d(_Pad):
    """A border around the last dimension, of the elements at the other end."""

    _dims = 1
    _mode = "circular"


class CircularPad2d(_Pad):
    """A border around the last two dimensions, of the elements at the other ends."""

    _dims = 2
    _mode = "circular"


class CircularPad3d(_Pad):
    """A border around the last three dimensions, of the elements at the other ends."""

    _dims = 3
    _mode = "circular"


class ReflectionPad1d(_Pad):
    """A border around the last dimension, mirrored at the edge."""

    _dims = 1
    _mode = "reflect"


class ReflectionPad2d(_Pad):
    """A border around the last two dimensions, mirrored at the edge."""

    _dims = 2
    _mode = "reflect"


class ReflectionPad3d(_Pad):
    """A border around the last three dimensions, mirrored at the edge."""

    _dims = 3
    _mode = "reflect"


class ReplicationPad1d(_Pad):
    """A border around the last dimension, of the elements at the edge."""

    _dims = 1
    _mode = "replicate"


class ReplicationPad2d(_Pad):
    """A border around the last two dimensions, of the elements at the edge."""

    _dims = 2
    _mode = "replicate"


class ReplicationPad3d(_Pad):
    """A border around the last three dimensions, of the elements at the edge."""

    _dims = 3
    _mode = "replicate"
