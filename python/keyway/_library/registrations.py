"""Library: registrations of a namespace, undone together."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, Literal

from keyway import _C
from keyway._library.ops import unreachable_name
from keyway._library.signatures import check_kernel

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def fallthrough_kernel(*args: Any, **kwargs: Any) -> Any:
    """Stands for no kernel where one is registered: calls go on to the next key."""
    raise _C.NotImplementedError("fallthrough_kernel is to be registered, not to be called")


def _function_of(fn: Callable[..., Any]) -> Callable[..., Any] | None:
    """As the extension takes a kernel: None for fallthrough_kernel."""
    if not callable(fn):
        raise _C.RegistrationError(f"a kernel is a function, not {type(fn).__name__}")
    return None if fn is fallthrough_kernel else fn


def _site() -> tuple[str, int]:
    """Where the package was called from."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == _PACKAGE:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


@atexit.register
def _warn_of_what_serves_nothing() -> None:
    """Kernels may come before their operators; those whose operators never came were given under a wrong name."""
    import warnings

    kind = RuntimeWarning
    for text in _C._take_dangling_warnings():
        warnings.warn(text, kind, stacklevel=1)


class Library:
    """Registrations of the namespace `ns`, in force from the moment of each call until destroy(), or until the object
    goes.

    `kind`: "DEF" owns the namespace (once in a process), "FRAGMENT" adds operators to one, "IMPL" adds kernels only.
    `dispatch_key` is that of its kernels, if it is given; else each says its own. Raises keyway.RegistrationError for
    what cannot be registered; then nothing of it is. Nor is it where a filter of `warnings` makes an error of a
    RuntimeWarning: that a kernel takes another's place, or takes a gradient away.
    """

    _python_kernels: set[tuple[str, str]] = set()  # of all libraries: what one may not take from another unasked

    def __init__(self, ns: str, kind: Literal["DEF", "FRAGMENT", "IMPL"], dispatch_key: Any = "") -> None:
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._kernels: set[tuple[str, str]] = set()
        self._registrations = _C._Registrations(ns, kind, *_site())

    def define(self, schema: str, *, tags: str | Iterable[str] = ()) -> str:
        """Defines an operator: "scale(Tensor x, float by) -> Tensor". Gives its full name: "my::scale". Names that
        `keyway.ops` takes for something else (a namespace `load_library`, an overload `overloads`) are refused."""
        if self.kind == "IMPL":
            raise _C.RegistrationError(f"library {self.ns} is an IMPL library, which only adds kernels: {schema}")
        name = self._qualified(schema.partition("(")[0].strip())
        namespace, _, short = name.partition("::")
        if taken := unreachable_name(namespace, *short.partition(".")[::2]):
            raise _C.RegistrationError(f"operator {name} could not be called: in keyway.ops the name '{taken}' is taken")
        self._registrations.define(schema, [tags] if isinstance(tags, str) else list(tags), *_site())
        return name

    def impl(
        self,
        op_name: Any,
        fn: Callable[..., Any],
        dispatch_key: Any = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
        all_arguments: bool = False,
    ) -> None:
        """Registers `fn` as the kernel of an operator (its name, with or without namespace, or itself) for a key, or
        for the library's, or for every backend (CompositeImplicitAutograd). `fn` gets the arguments as the schema names
        them, without those at the end that have their default value (all_arguments: with them); with_keyset: before
        them the keyway.DispatchKeySet to redispatch from. It returns what the schema says, checked. fallthrough_kernel
        makes the key transparent. Where the operator is defined, a function that cannot be called so is refused.

        A kernel of Python's for the same operator and key is refused, unless allow_override; those of C++ come back
        when this one goes.
        """
        name = self._qualified(op_name if isinstance(op_name, str) else op_name.name())
        key = self._key_of(dispatch_key) or "CompositeImplicitAutograd"
        kernel = (name, _C.DispatchKey(key).name)
        if kernel in Library._python_kernels and not allow_override:
            raise _C.RegistrationError(
                f"operator {name} has a Python kernel for {kernel[1]} already: allow_override=True puts another over it"
            )
        function = _function_of(fn)
        if function is not None:
            check_kernel(name, function, ["keys"] if with_keyset else [])
        self._registrations.impl(name, key, function, with_keyset, all_arguments, *_site())
        self._kernels.add(kernel)
        Library._python_kernels.add(kernel)

    def fallback(self, fn: Callable[..., Any], dispatch_key: Any = "", *, with_keyset: bool = False) -> None:
        """Registers `fn` as the kernel of a key for every operator that has none of its own there; it gets the operator
        before the arguments, and before that the key set if with_keyset. The library's namespace is "_"."""
        if self.ns != "_":
            raise _C.RegistrationError(f"a fallback serves every namespace: its library is '_', not '{self.ns}'")
        key = self._key_of(dispatch_key)
        if not key:
            raise _C.RegistrationError("a fallback needs a dispatch key")
        self._registrations.fallback(key, _function_of(fn), with_keyset, *_site())

    def destroy(self) -> None:
        """Undoes the registrations, the latest first: kernels that they had replaced come back, operators lose their
        schema. Waits for calls that are under way in their kernels. Raises keyway.RegistrationError from inside one."""
        try:
            self._registrations.undo(*_site())
        except Warning:  # of what is undone: a filter makes it an error
            self._forget()
            raise
        self._forget()

    _destroy = destroy  # PyTorch's name

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *exception: object) -> None:
        self.destroy()

    def _forget(self) -> None:
        Library._python_kernels -= self._kernels
        self._kernels.clear()

    def __del__(self) -> None:
        Library._python_kernels.difference_update(getattr(self, "_kernels", ()))

    def __repr__(self) -> str:
        return f"Library('{self.ns}', '{self.kind}')"

    def _qualified(self, name: str) -> str:
        return name if "::" in name else f"{self.ns}::{name}"

    def _key_of(self, dispatch_key: Any) -> Any:
        if dispatch_key == "" or self.dispatch_key == "":
            return dispatch_key if dispatch_key != "" else self.dispatch_key
        own, given = _C.DispatchKey(self.dispatch_key), _C.DispatchKey(dispatch_key)
        if own != given:
            raise _C.RegistrationError(
                f"{self!r} is for kernels of {own.name}, and one is given for {given.name}: leave out one of both keys, "
                "or use another library"
            )
        return dispatch_key


_kept: dict[str, Library] = {}


def kept_library(namespace: str) -> Library:
    """The library of what is registered for as long as the process runs."""
    if namespace not in _kept:
        _kept[namespace] = Library(namespace, "FRAGMENT")
    return _kept[namespace]
