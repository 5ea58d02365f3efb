"""Forward mode: derivatives that are computed along with the values, as tangents of dual tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

from keyway import _C
from keyway._C import Tensor, _forward
from keyway.autograd.grad_mode import Mode

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """What a dual tensor is made of; the tangent is None if it has none."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Enters a level, at which tensors can have tangents, and gives its number. Levels may be entered within each
    other."""
    return _forward.enter()


def exit_dual_level(*, level: int | None = None) -> None:
    """Leaves the innermost level, whose number ``level`` must be if it is given. Its tangents are gone."""
    _forward.leave(_forward.level() if level is None else level)


def _level(level: int | None) -> int:
    return _forward.level() if level is None else level


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """``tensor`` with a tangent at a level, the innermost if it is not given: a view over its memory.

    What is computed from dual tensors is dual. Raises keyway.ValueError outside of a level, or where the tangent's shape,
    dtype or device is not that of the tensor, and keyway.TypeError for a tensor that is neither floating nor complex.

    >>> with dual_level():
    ...     x = make_dual(keyway.tensor([1.0, 2.0]), keyway.tensor([1.0, 0.0]))
    ...     unpack_dual(x * x).tangent
    tensor([2., 0.])
    """
    for what, value in (("tensor", tensor), ("tangent", tangent)):
        if not isinstance(value, Tensor):
            raise _C.TypeError(f"make_dual: the {what} is a Tensor, not a {type(value).__name__}")
    number = _level(level)
    if number == 0:
        raise _C.ValueError("make_dual: there is no level of forward mode: enter one with dual_level() first")
    return _forward.make_dual(tensor, tangent, number)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and the tangent of a tensor at a level, the innermost if it is not given. Outside of all levels the
    tensor itself and None."""
    number = _level(level)
    if number == 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_forward.unpack_dual(tensor, number))


class dual_level(Mode):  # noqa: N801
    """A level of forward mode, for a block or for the calls of a function that it decorates."""

    def _enter(self) -> int:
        return enter_dual_level()

    def _leave(self, before: Any) -> None:
        exit_dual_level(level=before)

    def __enter__(self) -> int:  # type: ignore[override]
        super().__enter__()
        return int(self._entered[-1])
