"""What torch.utils._python_dispatch and torch.utils._pytree have that Keyway has too, for classes with __torch_dispatch__:
modes, and tensors that Tensor._make_wrapper_subclass makes. Operators are found as torch.ops.aten has them."""

import keyway
from keyway._transforms.trees import leaves_of, rebuilt
from keyway.utils.python_dispatch import *  # noqa: F403
from keyway.utils.python_dispatch import KeywayDispatchMode, disable_current_modes

_get_current_dispatch_mode = keyway.utils.python_dispatch.get_current_dispatch_mode
_get_current_dispatch_mode_stack = keyway.utils.python_dispatch.get_current_dispatch_mode_stack
_disable_current_modes = disable_current_modes


class TorchDispatchMode(KeywayDispatchMode):
    def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
        return self.__torch_dispatch__(func, types, args, kwargs or {})


def tree_flatten(tree):
    """The leaves, and what tree_unflatten takes for the structure."""
    return leaves_of(tree), tree


def tree_unflatten(leaves, structure):
    return rebuilt(structure, list(leaves))


def _dispatch(cls, func, types, args=(), kwargs=None):
    return cls.__torch_dispatch__(func, types, args, kwargs or {})


_make_wrapper = keyway.Tensor._make_wrapper_subclass


def _make_wrapper_subclass(cls, *args, **kwargs):
    if hasattr(cls, "__torch_dispatch__") and not hasattr(cls, "__keyway_dispatch__"):
        cls.__keyway_dispatch__ = classmethod(_dispatch)
    return _make_wrapper(cls, *args, **kwargs)


keyway.Tensor._make_wrapper_subclass = staticmethod(_make_wrapper_subclass)


class _Aten(type(keyway.ops.keyway)):
    """torch.ops.aten: what is registered there, else the operators of Keyway."""

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(keyway.ops.keyway, name)


keyway.ops.aten = _Aten("aten")
