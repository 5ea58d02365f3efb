"""What distributions share: arguments of one shape, probabilities beside logits, properties computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from keyway import _C
from keyway._C import Tensor
from keyway._functions.shapes import broadcast_tensors
from keyway._tensor.type_info import finfo
from keyway.autograd.grad_mode import enable_grad

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "softplus", "sum_rightmost",
]


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors and numbers as tensors of one shape; a number takes dtype and device of the first tensor, or the
    default dtype where that holds integers.

    Raises keyway.ValueError for what is neither.
    """
    for value in values:
        if not isinstance(value, (Tensor, int, float)):
            raise _C.ValueError(f"broadcast_all: a parameter is a number or a Tensor, not a {type(value).__name__}")
    like = next((value for value in values if isinstance(value, Tensor)), None)
    dtype = _C.get_default_dtype() if like is None or not like.is_floating_point() else like.dtype
    device = None if like is None else like.device
    return tuple(broadcast_tensors(*(value if isinstance(value, Tensor) else _C.tensor(value, dtype=dtype, device=device)
                                     for value in values)))


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities that are neither 0 nor 1, as far as the dtype can tell: their logits are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x))"""
    return _C.logaddexp(x, _C.zeros_like(x))


def sum_rightmost(values: Tensor, dims: int) -> Tensor:
    """The sums over the last `dims` dimensions."""
    return values.sum(list(range(-dims, 0))) if dims else values


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of logits; without `is_binary` of the categories along the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Logits of probabilities; without `is_binary` their logarithms."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


class lazy_property:  # noqa: N801
    """A property that is computed when it is first asked for, and kept."""

    def __init__(self, wrapped: Callable[[Any], Tensor]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Tensor:
        if instance is None:
            return self  # type: ignore[return-value]
        with enable_grad():
            value = self.wrapped(instance)
        vars(instance)[self.wrapped.__name__] = value
        return value

    if TYPE_CHECKING:  # what is assigned is kept in the place of what would be computed

        def __set__(self, instance: Any, value: Tensor) -> None: ...
