"""Copying and pickling tensors: as their elements, dtype, shape, device and Python attributes. A wrapper tensor has no
elements: what it stands for are its attributes."""

from __future__ import annotations

import copyreg
from typing import Any

from keyway import _C
from keyway._tensor.attach import attach

_VIRTUAL = "meta"  # tensors there have no elements


def _state(tensor: _C.Tensor) -> Any:
    """What a class says is its state, or what Python would take for it; None if there is nothing."""
    getstate = getattr(type(tensor), "__getstate__", None)
    if getstate is not None and getstate is not getattr(object, "__getstate__", None):
        return getstate(tensor)
    names = copyreg._slotnames(type(tensor))  # type: ignore[attr-defined]
    slots = {name: getattr(tensor, name) for name in names if hasattr(tensor, name)}
    attributes = dict(tensor.__dict__)
    if slots:
        return attributes or None, slots
    return attributes or None


def _rebuild(cls: type[_C.Tensor], data: Any, dtype: _C.dtype, sizes: tuple[int, ...], strides: tuple[int, ...], device: str,
             requires_grad: bool) -> _C.Tensor:  # fmt: skip
    """The tensor that was pickled. Raises keyway.ParseError for bytes that do not fit the rest."""
    if data is None:
        tensor = _C.empty_strided(sizes, strides, dtype=dtype, device=device)
    else:
        tensor = _C._tensor_of_bytes(_C.Tensor, data, dtype, sizes, strides).to(device=device)
    return _as(cls, tensor, requires_grad)


def _rebuild_wrapper(cls: type[_C.Tensor], sizes: tuple[int, ...], strides: tuple[int, ...], offset: int, dtype: _C.dtype,
                     device: str, requires_grad: bool) -> _C.Tensor:  # fmt: skip
    return _C.Tensor._make_wrapper_subclass(cls, sizes, strides, offset, dtype=dtype, device=device,
                                            requires_grad=requires_grad)


def _parts_of_wrapper(tensor: _C.Tensor) -> tuple[Any, ...]:
    return (type(tensor), tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset(), tensor.dtype,
            str(tensor.device), tensor.requires_grad)  # fmt: skip


def _as(cls: type[_C.Tensor], tensor: _C.Tensor, requires_grad: bool) -> _C.Tensor:
    if cls is not _C.Tensor:
        return cls._make_subclass(cls, tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


def _reduce(self: _C.Tensor, protocol: Any = None) -> tuple[Any, ...]:
    """Pickles the elements of the tensor, not those of its storage; without history."""
    if _C._is_wrapper(self):
        return _rebuild_wrapper, _parts_of_wrapper(self), _state(self)
    plain = self.detach()
    if self.device.type == _VIRTUAL:
        data: Any = None
    else:
        plain = plain.to(device="cpu")
        if not plain.is_contiguous():
            plain = plain.clone()  # dense, in the order of dimensions that the tensor has in memory
        if int(protocol) >= 5:
            from pickle import PickleBuffer  # here, for it takes long

            data = PickleBuffer(memoryview(_C._bytes_of(plain)))
        else:
            data = _C._copy_of_bytes(plain)
    parts = (type(self), data, self.dtype, tuple(plain.shape), tuple(plain.stride()), str(self.device),
             self.requires_grad)  # fmt: skip
    return _rebuild, parts, _state(self)


def _set_state(tensor: _C.Tensor, state: Any) -> _C.Tensor:
    setstate = getattr(type(tensor), "__setstate__", None)
    if setstate is not None:
        if state is not None:
            setstate(tensor, state)
        return tensor
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    tensor.__dict__.update(attributes or {})
    for name, value in (slots or {}).items():
        setattr(tensor, name, value)
    return tensor


def _copy(self: _C.Tensor) -> _C.Tensor:
    """A tensor over the same memory, without history, with the same attributes."""
    if _C._is_wrapper(self):
        return _set_state(_C._alias_of(self).requires_grad_(self.requires_grad), _state(self))
    return _set_state(_as(type(self), self.detach(), self.requires_grad), _state(self))


def _deepcopy(self: _C.Tensor, memo: dict[Any, Any]) -> _C.Tensor:
    """A copy with a storage of its own; tensors that share one and are copied together share the copy.

    Raises keyway.AutogradError for a tensor that was computed from one that requires a gradient.
    """
    from copy import deepcopy

    made: _C.Tensor | None = memo.get(id(self))
    if made is not None:
        return made
    if not self.is_leaf:
        raise _C.AutogradError(
            "only tensors that are leaves of the graph can be deep-copied: detach() this one, or clone() it to keep "
            "its history"
        )
    if _C._is_wrapper(self):
        made = memo[id(self)] = _rebuild_wrapper(*_parts_of_wrapper(self))
        if self.grad is not None:
            made.grad = deepcopy(self.grad, memo)
        return _set_state(made, deepcopy(_state(self), memo))
    key = "keyway storage", _C._storage_address(self), self.dtype
    if key not in memo:
        from keyway.autograd.grad_mode import no_grad  # here, for it needs what is attached

        with no_grad():
            memo[key] = self._lazy_clone()
    made = memo[key].as_strided(self.shape, self.stride(), self.storage_offset()).detach()
    made = memo[id(self)] = _as(type(self), made, self.requires_grad)
    if self.grad is not None:
        made.grad = deepcopy(self.grad, memo)
    return _set_state(made, deepcopy(_state(self), memo))


attach(_C.Tensor, __reduce_ex__=_reduce, __copy__=_copy, __deepcopy__=_deepcopy)


def _generator(device: str, state: tuple[int, int]) -> _C.Generator:
    generator = _C.Generator(device)
    generator.set_state(state)
    return generator


# A generator of its own, in the same state; of the default generator too.
copyreg.pickle(_C.Generator, lambda generator: (_generator, (str(generator.device), generator.get_state())))
