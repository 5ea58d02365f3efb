"""Methods that call a Python function for each element, which is slow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyway import _C
from keyway._tensor.attach import attach
from keyway._C import Tensor
from keyway._tensor.methods import checked


def _written(self: Tensor, function: str, call: Callable[..., Any], **others: Tensor) -> Tensor:
    tensors = {"self": self, **others}
    for name, tensor in tensors.items():
        if not checked(tensor, function, name).is_cpu:
            raise _C.TypeError(f"{function}(): calls Python for each element, in the host's memory, not on "
                               f"{tensor.device}")
    elements = (tensor.expand(self.shape).reshape(-1).tolist() for tensor in tensors.values())
    made = [call(*values) for values in zip(*elements)]
    return self.copy_(_C.tensor(made, dtype=self.dtype, device="cpu").reshape(self.shape))


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Gives each element what a function makes of it."""
    return _written(self, "apply_", callable)


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Gives each element what a function makes of it and that of another tensor, which broadcasts."""
    return _written(self, "map_", callable, tensor=tensor)


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Gives each element what a function makes of it and those of two other tensors, which broadcast."""
    return _written(self, "map2_", callable, x=x, y=y)


attach(Tensor, apply_, map_, map2_)
