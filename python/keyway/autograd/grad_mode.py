"""Whether calls are recorded for backward: modes of the calling thread, as context managers and decorators."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from keyway import _C
from keyway._C import _autograd

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]

# Of a code object's co_flags.
GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200


class Mode:
    """A context manager that may be entered several times, and that decorates functions and generators."""

    def __init__(self) -> None:
        self._entered: list[Any] = []

    def clone(self) -> Mode:
        """Another of the same mode, not entered."""
        return type(self)()

    def _enter(self) -> Any:
        raise NotImplementedError

    def _leave(self, before: Any) -> None:
        _autograd.set_grad_enabled(before)

    def __enter__(self) -> None:
        self._entered.append(self._enter())

    def __exit__(self, *exception: object) -> None:
        self._leave(self._entered.pop())

    def __call__(self, function: F) -> F:
        decorated: F = _decorated(self.clone, function)
        return decorated


def _decorated(mode: Callable[[], Mode], function: Callable[..., Any]) -> Any:
    if isinstance(function, type):
        warnings.warn("a mode decorates functions and methods: decorate a class's __init__ instead of the "
                      "class, which becomes a function", FutureWarning, stacklevel=3)
    flags = _code_flags(function)
    if flags & GENERATOR:
        return _decorated_generator(mode, function)
    if flags & (COROUTINE | ASYNC_GENERATOR):
        raise _C.TypeError("a mode is one thread's, and cannot decorate what other tasks interrupt")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with mode():
            return function(*args, **kwargs)

    return call


def _code_flags(function: Any) -> int:
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return getattr(code, "co_flags", 0)


def _decorated_generator(mode: Callable[[], Mode], function: Callable[..., Any]) -> Any:
    """The generator's own code runs in the mode; whoever consumes it does not."""

    @functools.wraps(function)
    def generate(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        with mode():
            generator = function(*args, **kwargs)
        resume: Callable[[], Any] = lambda: next(generator)
        while True:
            try:
                with mode():
                    item = resume()
            except StopIteration as end:
                return end.value
            try:
                sent = yield item
            except GeneratorExit:
                with mode():
                    generator.close()
                raise
            except BaseException as error:
                resume = functools.partial(generator.throw, error)
            else:
                resume = functools.partial(generator.send, sent)

    return generate


class _PlainMode(Mode):
    """A mode without parameters, which decorates without parentheses too."""

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if function is None else _decorated(cls, function)

    enabled: bool

    def _enter(self) -> bool:
        before = _C.is_grad_enabled()
        _autograd.set_grad_enabled(self.enabled)
        return before


class no_grad(_PlainMode):  # noqa: N801
    """Calls of this thread are not recorded: what they return does not require grad."""

    enabled = False


class enable_grad(_PlainMode):  # noqa: N801
    """Calls of this thread are recorded again, within no_grad."""

    enabled = True


class set_grad_enabled(Mode):  # noqa: N801
    """Calls of this thread are recorded, or not: from now on, or as a context manager until the end of the block."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = bool(mode)
        self.prev = _C.is_grad_enabled()
        _autograd.set_grad_enabled(self.mode)

    def clone(self) -> set_grad_enabled:
        return type(self)(self.mode)

    def _enter(self) -> bool:
        _autograd.set_grad_enabled(self.mode)
        return self.prev

    def __call__(self, function: F) -> F:
        _autograd.set_grad_enabled(self.prev)
        return super().__call__(function)

    def __repr__(self) -> str:
        return f"set_grad_enabled(mode={self.mode})"


class inference_mode(Mode):  # noqa: N801
    """Calls of this thread record nothing, not even views and versions.

    Tensors that are made meanwhile can never be part of a graph. ``inference_mode(False)`` leaves the mode for a block.
    """

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else _decorated(cls, mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode

    def clone(self) -> inference_mode:
        return type(self)(self.mode)

    def _enter(self) -> Any:
        return _autograd.enter_inference_mode(self.mode)

    def _leave(self, before: Any) -> None:
        _autograd.leave_inference_mode(before)
