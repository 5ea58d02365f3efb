"""Hooks: functions that are called around a module's forward."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from typing import Any, Callable

_numbers = itertools.count()


class RemovableHandle:
    """Takes a hook away again: by remove(), or at the end of a `with` block."""

    def __init__(self, hooks: OrderedDict[int, Any]) -> None:
        self.id = next(_numbers)
        self._hooks = weakref.ref(hooks)

    def remove(self) -> None:
        """Removes the hook; nothing happens if it is gone already."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class Hooks(OrderedDict[int, Any]):
    """Hooks in the order they are called in: number to (function, whether it takes keyword arguments)."""

    def add(self, function: Callable[..., Any], *, prepend: bool, with_kwargs: bool) -> RemovableHandle:
        handle = RemovableHandle(self)
        self[handle.id] = (function, with_kwargs)
        if prepend:
            self.move_to_end(handle.id, last=False)
        return handle
