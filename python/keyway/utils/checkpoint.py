"""checkpoint: memory for time. What a function would save for backward is computed again there."""

from __future__ import annotations

import weakref

from keyway import _C
from keyway._C import Tensor
from keyway.autograd.grad_mode import enable_grad
from keyway.autograd.graph import saved_tensors_hooks

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["checkpoint"]



class _Place:
    """Stands in the graph for a saved tensor; has it from when it is computed again until it is used."""

    def __init__(self, tensor: Tensor) -> None:
        self.like = (tensor.shape, tensor.dtype, tensor.device)
        self.tensor: Tensor | None = None


class _AllFilled(Exception):
    """Every place has its tensor: the rest of the function need not run."""


class _Checkpoint:
    """One call of a function under `checkpoint`."""

    def __init__(self, call: Callable[[], Any], arguments: list[Any], preserve_rng_state: bool) -> None:
        self.call = call
        self.versions = [(value, value._version) for value in arguments
                         if isinstance(value, Tensor) and not value.is_inference()]
        self.rng_state = _C.default_generator.get_state() if preserve_rng_state else None
        self.places: list[weakref.ref[_Place]] = []

    def run(self) -> Any:
        with saved_tensors_hooks(self._pack, self._unpack):
            return self.call()

    def _pack(self, tensor: Tensor) -> _Place:
        place = _Place(tensor)
        self.places.append(weakref.ref(place))
        return place

    def _unpack(self, place: _Place) -> Tensor:
        if place.tensor is None:
            self._compute_again()
        tensor, place.tensor = place.tensor, None
        if tensor is None:
            raise _C.AutogradError("checkpoint: the function saved fewer tensors when it was called again")
        return tensor

    def _compute_again(self) -> None:
        for value, version in self.versions:
            if value._version != version:
                raise _C.AutogradError(
                    f"checkpoint: an argument of shape {tuple(value.shape)} was changed in place: it is at version "
                    f"{value._version}, but was given at {version}; clone() it before the change")
        rest = iter(self.places)
        missing = sum(1 for place in self.places if place() is not None)

        def fill(tensor: Tensor) -> Tensor:
            nonlocal missing
            reference = next(rest, None)
            if reference is None:
                raise _C.AutogradError("checkpoint: the function saved more tensors when it was called again")
            place = reference()
            if place is not None:
                now = (tensor.shape, tensor.dtype, tensor.device)
                if place.like != now:
                    raise _C.AutogradError(f"checkpoint: the function saved {place.like}, but when it was called "
                                           f"again {now}")
                place.tensor = tensor
                missing -= 1
                if missing == 0:
                    raise _AllFilled
            return tensor

        later = _C.default_generator.get_state()
        try:
            if self.rng_state is not None:
                _C.default_generator.set_state(self.rng_state)
            with enable_grad(), saved_tensors_hooks(fill, lambda tensor: tensor):
                self.call()
        except _AllFilled:
            pass
        finally:
            if self.rng_state is not None:
                _C.default_generator.set_state(later)


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool = False, preserve_rng_state: bool = True,
               **kwargs: Any) -> Any:
    """Returns ``function(*args, **kwargs)``, and keeps nothing of what its calls save for backward but the arguments.

    Backward calls the function again, up to the last tensor that it needs. It must then do the same: draw the same
    random numbers, for which the state of the CPU's default generator is restored with ``preserve_rng_state``, and see
    the same tensors: arguments that were changed in place raise keyway.AutogradError, and so do other numbers, shapes
    or dtypes of saved tensors. Gradients of whatever the function uses are computed, and by whatever means:
    backward, grad, backward of backward. ``use_reentrant=True``, PyTorch's older form, raises
    keyway.NotImplementedError.
    """
    if use_reentrant:
        raise _C.NotImplementedError("checkpoint: use_reentrant=True is not there; without it, more is possible")
    arguments = [*args, *kwargs.values()]
    return _Checkpoint(lambda: function(*args, **kwargs), arguments, preserve_rng_state).run()
