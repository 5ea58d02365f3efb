"""The default generator of random numbers: its seed, and its state as a tensor."""

from __future__ import annotations

import contextlib
import struct

from keyway import _C
from keyway._C import Tensor, initial_seed, manual_seed

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]

_FORMAT = "<QQ"


def seed() -> int:
    """Gives the CPU's default generator a seed that is drawn, and returns it."""
    return _C.default_generator.seed()


def get_rng_state() -> Tensor:
    """The state of the CPU's default generator: uint8 [16]."""
    return _C.tensor(list(struct.pack(_FORMAT, *_C.default_generator.get_state())), dtype=_C.uint8)


def set_rng_state(new_state: Tensor) -> None:
    """Has the CPU's default generator go on from a state that get_rng_state gave. Raises keyway.ValueError for what is
    none, keyway.TypeError for what is no uint8 Tensor."""
    if not isinstance(new_state, Tensor) or new_state.dtype != _C.uint8:
        raise _C.TypeError("set_rng_state: a state is a uint8 Tensor")
    if new_state.numel() != struct.calcsize(_FORMAT):
        raise _C.ValueError(f"set_rng_state: a state has {struct.calcsize(_FORMAT)} elements, not {new_state.numel()}")
    state, place = struct.unpack(_FORMAT, bytes(new_state.flatten().tolist()))
    _C.default_generator.set_state((state, place))


@contextlib.contextmanager
def fork_rng(enabled: bool = True) -> Iterator[None]:
    """Within the block random numbers are drawn as anywhere; after it the CPU's default generator is where it was
    before. Without `enabled` nothing is restored."""
    before = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(before)
