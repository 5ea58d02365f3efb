"""What a thread's backward is for."""

from __future__ import annotations

from _thread import _local  # threading's, without threading
from collections.abc import Callable
from typing import Any


class _Running(_local):
    for_inputs = False


_running = _Running()


def is_for_inputs() -> bool:
    """Within a backward: whether it is for chosen tensors, as grad() and backward(inputs=...) are."""
    return _running.for_inputs


def run(for_inputs: bool, function: Callable[..., Any], *args: Any) -> Any:
    """A backward of the extension, which is for chosen tensors or for all leaves."""
    before, _running.for_inputs = _running.for_inputs, for_inputs
    try:
        return function(*args)
    finally:
        _running.for_inputs = before
