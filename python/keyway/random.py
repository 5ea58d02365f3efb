"""The numbers that random functions draw when no generator is given: their seed and their state."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex

from keyway import _C
from keyway._C import Generator, Tensor, default_generator as default_generator, initial_seed as initial_seed

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]

_WORDS = 2**64
_NO_OTHERS = ("cpu", "meta")  # device types without generators beside the host's


def seed_number(seed: SupportsIndex | float) -> int:
    """A seed in [-2^63, 2^64) as generators take it: one below 0 counts as 2^64 more."""
    number = operator.index(seed) if isinstance(seed, SupportsIndex) else int(seed)
    if not -(_WORDS >> 1) <= number < _WORDS:
        raise _C.ValueError(f"manual_seed(): argument 'seed' is in [-2^63, 2^64), not {number}")
    return number % _WORDS


def manual_seed(seed: SupportsIndex | float) -> Generator:
    """Starts the default generators of all devices over, from a seed in [-2^63, 2^64); one below 0 counts as 2^64 more.
    Returns that of the host. Raises keyway.ValueError for other seeds."""
    _C.manual_seed(seed_number(seed))
    return default_generator


def seed() -> int:
    """Starts the default generators over, from a seed that is different each time; returns it."""
    fresh = default_generator.seed()
    _C.manual_seed(fresh)
    return fresh


def get_rng_state() -> Tensor:
    """The state of the host's default generator: 16 bytes, uint8."""
    words = [word - _WORDS if word >> 63 else word for word in default_generator.get_state()]
    return _C.tensor(words, dtype=_C.int64, device="cpu").view(_C.uint8)


def set_rng_state(new_state: Tensor) -> None:
    """Gives the host's default generator a state that get_rng_state returned. Raises keyway.TypeError for what is not
    uint8, and keyway.ValueError for another shape."""
    if not isinstance(new_state, Tensor) or new_state.dtype != _C.uint8:
        raise _C.TypeError("set_rng_state(): argument 'new_state' must be a Tensor of uint8")
    if tuple(new_state.shape) != (16,):
        raise _C.ValueError(f"set_rng_state(): argument 'new_state' has shape [16], not {list(new_state.shape)}")
    first, second = new_state.cpu().clone().view(_C.int64).tolist()
    default_generator.set_state((first % _WORDS, second % _WORDS))


State = tuple[Generator, tuple[int, int]]  # of a generator


def generator_states(arguments: Iterable[Any]) -> list[State]:
    """The states of the default generators of the host and of the devices that tensors among `arguments` are on."""
    devices = {str(value.device): value.device for value in arguments if isinstance(value, Tensor)}
    return _states_of((device.type, device) for _, device in sorted(devices.items()) if device.type not in _NO_OTHERS)


def _states_of(devices: Iterable[tuple[str, Any]]) -> list[State]:
    generators = [default_generator, *(_C._devices.default_generator(*device) for device in devices)]
    return [(generator, generator.get_state()) for generator in generators]


@contextlib.contextmanager
def drawing_from(states: list[State]) -> Iterator[None]:
    """Within the block generators go on from these states, and afterwards from where they were before it."""
    later = [(generator, generator.get_state()) for generator, _ in states]
    try:
        for generator, state in states:
            generator.set_state(state)
        yield
    finally:
        for generator, state in later:
            generator.set_state(state)


@contextlib.contextmanager
def fork_rng(devices: Iterable[Any] | None = None, enabled: bool = True, *, device_type: str = "cuda") -> Iterator[None]:
    """A context after which the default generators of the host and of `devices` of a type, by default all of them, go on
    as if nothing had been drawn in it. Without `enabled` it changes nothing."""
    if not enabled:
        yield
        return
    wanted = range(_C._devices.device_count(device_type)) if devices is None else devices
    with drawing_from(_states_of((device_type, device) for device in wanted if device != "cpu")):
        yield
