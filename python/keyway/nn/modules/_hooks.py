"""Hooks: functions that are called around a module's forward, or an optimizer's step."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Callable

from keyway.nn.modules import _changes
from keyway.utils.hooks import RemovableHandle


class Hooks(OrderedDict[int, Any]):
    """Hooks in the order they are called in: number to (function, whether it takes keyword arguments)."""

    def add(self, function: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """Has a function called behind the others, or before them; the handle takes it away again."""
        handle = RemovableHandle(self)
        self[handle.id] = (function, with_kwargs)
        if prepend:
            self.move_to_end(handle.id, last=False)
        return handle

    def __setitem__(self, number: int, hook: Any) -> None:
        _changes.note()
        super().__setitem__(number, hook)

    def __delitem__(self, number: int) -> None:
        _changes.note()
        super().__delitem__(number)
