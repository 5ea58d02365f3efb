"""Whether Python functions can be called as the schemas of their operators say: asked when they are registered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from keyway import _C
from keyway._library.schema import Schema

if TYPE_CHECKING:
    import inspect


def _signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """None where Python does not know: of functions that are written in C."""
    import inspect  # here, for it takes long

    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _refusal(signature: inspect.Signature, args: Sequence[Any], kwargs: dict[str, Any]) -> str | None:
    """Why a function cannot be called with these arguments."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    return None


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", None) or repr(function)


def check_call(what: str, function: Callable[..., Any], args: Sequence[str], kwargs: Sequence[str] = ()) -> None:
    """Raises keyway.TypeError unless the function takes positional arguments of these names, for people, and keywords.
    `what` says what it is registered as."""
    signature = _signature_of(function)
    why = None if signature is None else _refusal(signature, args, dict.fromkeys(kwargs))
    if why is not None:
        given = ", ".join([*args, *(f"{name}={name}" for name in kwargs)])
        raise _C.TypeError(f"{what}: it is called as {_name_of(function)}({given}), and takes {signature}: {why}")


def check_kernel(name: str, kernel: Callable[..., Any], first: Sequence[str] = ()) -> None:
    """Raises keyway.RegistrationError unless the kernel can be called with the arguments of the operator after `first`:
    with all, or without those that have defaults, of which a kernel need not know. An operator that is not defined yet
    is not known."""
    found = _C._find_overload(name)
    signature = _signature_of(kernel)
    if found is None or signature is None:
        return
    schema = Schema(found)
    ways = []
    for required_only in (False, True):
        asked = [p for p in schema.parameters if not (required_only and p.has_default)]
        args = [*first, *(p.name for p in asked if not p.keyword_only)]
        ways.append(_refusal(signature, args, {p.name: None for p in asked if p.keyword_only}))
    if None not in ways:
        behind = f", behind {' and '.join(first)}" if first else ""
        raise _C.RegistrationError(
            f"{_name_of(kernel)}{signature} cannot be called with the arguments of {found.schema}{behind}: {ways[0]}"
        )
