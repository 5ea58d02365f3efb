"""Runs one program of fuzz_python.py: a file of statements, a line each.

    python3 program.py FILE [PROGRESS]

Exceptions are what statements are for; an internal error of the interpreter, a statement that takes longer than 20 seconds and a
forked child that dies end the process by a signal. A statement that computes for 4 seconds is interrupted, as by Ctrl-C: one
that asks for 2**64 layers is no hang, as long as it can be. The file PROGRESS gets two numbers of 8 bytes: that of the statement
that runs, and how many raised nothing.
"""

from __future__ import annotations

import copy
import gc
import mmap
import os
import pickle
import resource
import signal
import sys
import threading
import warnings
import weakref
from typing import Any

import keyway
from keyway import nn
from keyway.utils.python_dispatch import KeywayDispatchMode, return_and_correct_aliasing, tree_leaves, tree_map_only

SECONDS = 20  # of the clock, till a statement counts as a hang
COMPUTING = 4  # of the processor's time, till it is interrupted
GIGABYTES = 4

t = [
    keyway.randn(3, 3, requires_grad=True), keyway.randn(3, 3), keyway.randn(2, 3, 4), keyway.ones(3), keyway.randn(3, 3, dtype=keyway.float64).t(),
    keyway.tensor(2.0, requires_grad=True), keyway.randn(2, 2, dtype=keyway.complex64), keyway.tensor([0, 2, 1]), keyway.tensor([True, False, True]),
    keyway.empty(3, 3, device="meta"), keyway.ones(1).expand(4), keyway.randn(4, 3, dtype=keyway.bfloat16),
]
v: list[Any] = [None] * 8
libs: list[Any] = []


def put(index: int, result: Any) -> None:
    """Keeps a result: the first tensor in it, unless it is large, or another value."""
    values = list(result) if isinstance(result, (tuple, list)) else [result]
    for value in values:
        if isinstance(value, keyway.Tensor):
            if value.numel() <= 4096:
                t[index] = value
            return
    keep(result)


def keep(value: Any) -> None:
    v[hash(str(type(value))) % len(v)] = value


def lib() -> Any:
    if not libs:
        libs.append(keyway.library.Library("fuzz", "FRAGMENT"))
    return libs[-1]


def ops(fuzz: str) -> Any:
    return getattr(keyway.ops.fuzz, fuzz)


def during(register: Any, statement: str) -> None:
    """A statement while a kernel of an operator of Keyway's own is another."""
    library = keyway.library.Library("keyway", "IMPL")
    try:
        register(library)
        run(statement)
    finally:
        library.destroy()


def within(mode: Any, *statements: str) -> None:
    with mode:
        for statement in statements:
            run(statement)


def function(forward: Any, backward: Any) -> Any:
    return type("F", (keyway.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


class mode(KeywayDispatchMode):  # noqa: N801  as the functions that statements call
    def __init__(self, handler: Any) -> None:
        self.handler = handler

    def __keyway_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.handler(func, args, kwargs or {})


class Wrapper(keyway.Tensor):
    """A wrapper of one tensor; what its calls give are wrappers, or what its handler gives."""

    handler = None

    @classmethod
    def __keyway_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        (first, *_) = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Wrapper)]
        if first.handler is not None:
            return first.handler(func, args, kwargs or {})
        args, kwargs = tree_map_only(Wrapper, lambda w: w.inner, ((given := args), kwargs or {}))
        return return_and_correct_aliasing(func, given, kwargs, tree_map_only(keyway.Tensor, wrap, func(*args, **kwargs)))


def wrap(inner: Any, handler: Any = None) -> Any:
    made = keyway.Tensor._make_wrapper_subclass(Wrapper, inner.shape, inner.stride(), inner.storage_offset(), dtype=inner.dtype,
                                                device=inner.device)
    made.inner = inner
    if handler is not None:
        made.handler = handler
    return made


def together(*statements: str) -> None:
    threads = [threading.Thread(target=run, args=(statement,)) for statement in statements]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_fork(statement: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        limit(SECONDS // 2, COMPUTING // 2)
        run(statement)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), os.WTERMSIG(status))


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def limit(seconds: int, computing: int) -> None:
    """From now on: the clock's signal ends the process, the processor's is heard by Python's loops alone."""
    signal.alarm(seconds)
    signal.setitimer(signal.ITIMER_PROF, computing)


def run(statement: str) -> bool:
    """Whether the statement raised nothing."""
    try:
        exec(statement, globals())
        return True
    except SystemError as error:  # the interpreter's word for an extension that broke its rules
        print(f"SystemError: {error}", file=sys.stderr, flush=True)
        os.abort()
    except BaseException:  # whatever a statement of random values deserves
        return False


def main() -> None:
    with open(sys.argv[1]) as file:
        statements = file.read().splitlines()
    progress = None
    if len(sys.argv) > 2:
        with open(sys.argv[2], "r+b") as file:
            progress = mmap.mmap(file.fileno(), 16)
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda _: None
    threading.excepthook = lambda _: None
    signal.signal(signal.SIGPROF, interrupt)
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    passed = 0
    for number, statement in enumerate(statements):
        if progress:
            progress[:] = number.to_bytes(8, "little") + passed.to_bytes(8, "little")
        try:
            limit(SECONDS, COMPUTING)
            passed += run(statement)
        except KeyboardInterrupt:  # heard when the statement had come to its end
            pass
    limit(SECONDS, 0)


if __name__ == "__main__":
    main()
