"""The graph of gradients: its nodes, and who keeps what they save."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from keyway._tensor.attach import attach
from keyway._C import Tensor, _autograd
from keyway.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    Gradients = tuple[Tensor | None, ...]

__all__ = ["Node", "save_on_cpu", "saved_tensors_hooks"]

Node = _autograd.Node


class saved_tensors_hooks:  # noqa: N801
    """Within the block, ``pack_hook(tensor)`` is kept in place of each tensor that a call saves for backward.

    Backward calls ``unpack_hook`` with what was kept, and gets a tensor of the same shape, dtype and device. The tensor
    that is packed has no history, and the memory of what is saved: who keeps it as it is does not notice when that is
    changed in place. Of the calling thread; while a hook runs, none is called.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _autograd.enter_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception: object) -> None:
        _autograd.leave_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):  # noqa: N801
    """Within the block, what calls save for backward is copied to the host's memory, and back when it is needed.

    ``pin_memory`` changes nothing.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.to(device="cpu", copy=True)),
                         lambda packed: packed[1].to(device=packed[0]))


def _register_hook(self: Node, fn: Callable[[Gradients, Gradients], Gradients | None]) -> RemovableHandle:
    """Calls ``fn(grad_inputs, grad_outputs)`` after the node has run; a tuple that it returns replaces grad_inputs.

    Returns a handle, whose ``remove()`` undoes it.
    """
    return RemovableHandle.register(_autograd.node_post_hooks(self), fn, "register_hook")


def _register_prehook(self: Node, fn: Callable[[Gradients], Gradients | None]) -> RemovableHandle:
    """Calls ``fn(grad_outputs)`` before the node runs; a tuple that it returns replaces grad_outputs.

    Returns a handle, whose ``remove()`` undoes it.
    """
    return RemovableHandle.register(_autograd.node_pre_hooks(self), fn, "register_prehook")


attach(Node, _register_hook, _register_prehook)
