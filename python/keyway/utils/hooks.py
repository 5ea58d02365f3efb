"""Handles of hooks."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from keyway import _C

__all__ = ["RemovableHandle"]


class RemovableHandle:
    """Takes a hook out again: by ``remove()``, or at the end of a ``with`` block. It keeps nothing alive."""

    _ids = itertools.count()

    def __init__(self, hooks: OrderedDict[int, Callable[..., Any]]) -> None:
        self.hooks_ref = weakref.ref(hooks)
        self.id = next(self._ids)

    @classmethod
    def register(cls, hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any],
                 what: str) -> RemovableHandle:
        """Adds ``hook`` to ``hooks``, for the method ``what``. Raises keyway.TypeError for what cannot be called."""
        if not callable(hook):
            raise _C.TypeError(f"{what}: a {type(hook).__name__} cannot be called")
        handle = cls(hooks)
        hooks[handle.id] = hook
        _C._autograd.note_leaf_hook_change()
        return handle

    def remove(self) -> None:
        """Takes the hook out. Does nothing if it is out already."""
        hooks = self.hooks_ref()
        if hooks is not None:
            hooks.pop(self.id, None)
            _C._autograd.note_leaf_hook_change()

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()
