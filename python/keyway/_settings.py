"""PyTorch's switches of the whole program, as far as they choose anything here."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

from keyway import _C
from keyway._tensor.attach import attach
from keyway.types import Device

F = TypeVar("F", bound=Callable[..., object])

_PRECISIONS = ("highest", "high", "medium")


class _Settings:
    deterministic = False
    warn_only = False
    precision = "highest"


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Asks for algorithms that give the same bits each time, and no others: operators of Keyway have no others, on any
    device, so that nothing changes but what `are_deterministic_algorithms_enabled` says."""
    _Settings.deterministic, _Settings.warn_only = bool(mode), bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether use_deterministic_algorithms asked for them."""
    return _Settings.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it asked to be warned only, where there were none."""
    return _Settings.warn_only


def set_float32_matmul_precision(precision: str) -> None:
    """How precisely products of float32 are computed at least: "highest", "high" or "medium". Keyway computes them in
    float32 whatever this says, unless KEYWAY_CUDA_ALLOW_TF32=1 is in the environment when CUDA is first used.

    Raises keyway.ValueError for other words.
    """
    if precision not in _PRECISIONS:
        raise _C.ValueError(f"set_float32_matmul_precision(): precision is one of {_PRECISIONS}, not {precision!r}")
    _Settings.precision = precision


def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision was given; at first "highest"."""
    return _Settings.precision


def get_default_device() -> _C.device:
    """Where factories make tensors when a call names no device: the CPU, unless this thread is in a `with device`
    statement or set_default_device has said otherwise."""
    return _C._get_default_device() or _C.device("cpu")


def set_default_device(device: Device | None) -> None:
    """Sets where factories of this thread make tensors when a call names no device: zeros, randn, arange, tensor and
    the like, and with them the parameters of modules. None: the CPU. Tensors made like others are where those are.

    >>> with keyway.device("meta"):
    ...     keyway.nn.Linear(4096, 4096).weight.device
    device(type='meta')
    """
    _C._set_default_device(None if device is None else _C.device(device))


def _decorate(self: _C.device, function: F) -> F:
    """Makes this the default device while `function` runs."""
    @functools.wraps(function)
    def run(*args: object, **kwargs: object) -> object:
        with self:
            return function(*args, **kwargs)
    return run  # type: ignore[return-value]


attach(_C.device, __call__=_decorate)
