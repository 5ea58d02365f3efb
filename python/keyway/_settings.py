"""PyTorch's switches of the whole program, as far as they choose anything here."""

from __future__ import annotations

from keyway import _C
from keyway.types import Device

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
    """Where factories without `device` make tensors: in the host's memory."""
    return _C.device("cpu")


def set_default_device(device: Device | None) -> None:
    """Takes the CPU, where factories make tensors anyway. Raises keyway.NotImplementedError for other devices: name them
    in each call."""
    if device is not None and _C.device(device).type != "cpu":
        raise _C.NotImplementedError(f"set_default_device(): factories make tensors on the CPU unless a call names "
                                     f"another device, not on {device}")
