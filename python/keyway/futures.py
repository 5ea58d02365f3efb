"""Tasks that run beside each other, and futures of what they give.

    left = keyway.futures.fork(encode, a)
    right = encode(b)
    decode(left.wait(), right)

Tasks run in the threads of keyway.set_num_interop_threads, with the modes of the thread that launched them: of gradients
and inference, autocast, keys, devices and streams, the default device. What a `with` has put on a thread's stack stays
there: vmap, forward mode, hooks of saved tensors, modes of __keyway_dispatch__. Operators let go of the interpreter's lock, so
tasks that call operators run at once. Whoever waits for a task that no thread has begun runs it; so tasks may fork tasks
and wait for them.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from keyway import _C

__all__ = ["Future", "collect_all", "fork", "wait", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")
P = ParamSpec("P")


class Future(Generic[T]):
    """What a task, or somebody else, will give."""

    def __init__(self, *, devices: Sequence[object] | None = None) -> None:
        """One that set_result or set_exception completes. `devices` is PyTorch's, and changes nothing: who uses a result
        in another stream waits for the stream that it was computed in."""
        self._completion = _C._Completion(None, ())
        self._value: Any = None
        self._exception: BaseException | None = None

    def done(self) -> bool:
        return self._completion.done()

    def wait(self) -> T:
        """Waits until it is done. Gives the value, or raises the exception."""
        self._completion.wait()
        return self.value()

    def value(self) -> T:
        """The same without waiting: raises RuntimeError if it is not done."""
        if not self._completion.done():
            raise RuntimeError("Future.value() is called before there is one; wait() waits for it")
        if self._exception is not None:
            raise self._exception
        return self._value  # type: ignore[no-any-return]

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of what callback(self) gives or raises, which is called when this one is done."""
        after: Future[S] = Future()
        after._completion = _C._Completion(None, (self._completion,))
        self._when_done(lambda future: after._complete_with(callback, future))
        return after

    def add_done_callback(self, callback: Callable[[Future[T]], object]) -> None:
        """Calls callback(self) when it is done: in the thread that completes it, or now. What it raises is a warning."""
        self._when_done(lambda future: _warned(callback, future))

    def set_result(self, result: T) -> None:
        """Completes it with a value. RuntimeError if it has been completed."""
        self._begin()
        self._value = result
        self._completion.complete()

    def set_exception(self, result: BaseException) -> None:
        """Completes it with an exception, which wait() raises. RuntimeError if it has been completed."""
        if not isinstance(result, BaseException):
            raise TypeError(f"Future.set_exception() takes an exception, not {type(result).__name__}")
        self._begin()
        self._exception = result
        self._completion.complete()

    def _begin(self) -> None:
        if not self._completion.begin():
            raise RuntimeError("the future is completed already, or its task has begun; that is done once")

    def _complete_with(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        if not self._completion.begin():
            return
        try:
            self._value = function(*args, **kwargs)
        except BaseException as error:
            self._exception = error
        self._completion.complete()

    def _when_done(self, callback: Callable[[Future[T]], None]) -> None:
        """The callback is held by what completes this; so it holds this weakly."""
        this = weakref.ref(self)

        def call() -> None:
            future = this()
            if future is not None:
                callback(future)

        self._completion.when_done(call)


def _warned(callback: Callable[[Future[T]], object], future: Future[T]) -> None:
    try:
        callback(future)
    except Exception as error:
        warnings.warn(f"a callback of a future failed: {type(error).__name__}: {error}", stacklevel=2)


def fork(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
    """Calls the function in a thread of the pool, and gives a future of what it returns or raises."""
    future: Future[T] = Future()
    future._completion = _C._Completion(lambda: future._complete_with(function, *args, **kwargs), ())
    future._completion.launch()
    return future


def wait(future: Future[T]) -> T:
    """future.wait()"""
    return future.wait()


def collect_all(futures: Iterable[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future that is done when all are: with the list of them as its value, or by the exception of the first in the list
    that failed."""
    collected = list(futures)
    together: Future[list[Future[Any]]] = Future()
    together._completion = _C._Completion(None, [each._completion for each in collected])
    left = list(range(len(collected)))

    def complete() -> list[Future[Any]]:
        for each in collected:
            each.value()
        return collected

    def one_is_done(future: Future[Any]) -> None:
        if left.pop() == 0:  # the last one: threads agree who that is
            together._complete_with(complete)

    if not collected:
        together.set_result(collected)
    for each in collected:
        each._when_done(one_is_done)
    return together


def wait_all(futures: Iterable[Future[Any]]) -> list[Any]:
    """The values of all, in their order."""
    return [each.wait() for each in collect_all(futures).wait()]
