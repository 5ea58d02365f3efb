"""infer_schema: the schema of an operator, read off the type hints of a Python function."""

from __future__ import annotations

import collections.abc
import numbers
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from keyway import _C

if TYPE_CHECKING:
    import inspect

_BASE_TYPES: dict[Any, str] = {
    _C.Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    numbers.Number: "Scalar",
    _C.dtype: "ScalarType",
    _C.device: "Device",
}
# A number of any kind, in words of typing.
_SCALAR_UNIONS = ({int, float, bool}, {int, float}, {int, float, bool, complex}, {int, float, complex})
_LISTS_OF = {"Tensor", "Tensor?", "Tensor[]", "SymInt", "SymInt?", "SymInt[]", "float", "bool", "Scalar", "str",
             "ScalarType"}
_RETURNS = {"Tensor", "SymInt", "float", "bool", "Scalar", *(element + "[]" for element in _LISTS_OF)}


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _type_text(hint: Any) -> str | None:
    """'SymInt[]?' for `Sequence[int] | None`; None for a hint that no schema type stands for."""
    if isinstance(hint, collections.abc.Hashable) and hint in _BASE_TYPES:
        return _BASE_TYPES[hint]
    parts = typing.get_args(hint)
    if _is_union(hint):
        others = [part for part in parts if part is not type(None)]
        if set(others) in _SCALAR_UNIONS:
            inner: str | None = "Scalar"
        else:
            inner = _type_text(others[0]) if len(others) == 1 else None
        if inner is None or len(others) == len(parts):
            return inner
        return inner + "?"
    if typing.get_origin(hint) in (list, collections.abc.Sequence) and len(parts) == 1:
        element = _type_text(parts[0])
        return element + "[]" if element in _LISTS_OF else None
    return None


def _default_text(value: Any) -> str:
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    if isinstance(value, (str, _C.device)):
        escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, _C.dtype):
        return str(value).removeprefix("keyway.")
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_default_text, value))}]"
    raise TypeError


def gives_tuple_of_one(function: Callable[..., Any]) -> bool:
    """Whether a function says that it returns a tuple with one element. The schema knows one result and no tuple."""
    hint = typing.get_type_hints(function).get("return")
    parts = typing.get_args(hint)
    return typing.get_origin(hint) is tuple and len(parts) == 1 and parts != ((),)


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: Iterable[str] | Literal["unknown"],
    op_name: str | None = None,
) -> str:
    """The schema of an operator that the function is an implementation of: "(Tensor x, float by=2.0) -> Tensor", after
    `op_name` if that is given.

    Every parameter has a type hint: Tensor, int, float, bool, str, Number (or a union of int, float, bool, complex),
    keyway.dtype, keyway.device; Optional of these; Sequence or list of Tensor, Optional[Tensor], int, Optional[int],
    float, bool, Number, str, keyway.dtype, and of lists of Tensor and of int; Optional of those. The hint of the result
    is None, Tensor, int, float, bool, Number, a list that a parameter may be, or a tuple of them. `mutates_args` names
    the arguments that the function writes to; "unknown" stands for all tensors.

    Raises keyway.ValueError, which names function and parameter.
    """
    name = getattr(prototype_function, "__qualname__", repr(prototype_function))
    hints = _hints_of(prototype_function, name)
    unknown = mutates_args == "unknown"
    if isinstance(mutates_args, str) and not unknown:
        raise _C.ValueError(f"infer_schema({name}): mutates_args is 'unknown' or a list of names, not '{mutates_args}'")
    mutated = set() if unknown else set(mutates_args)
    texts: list[str] = []
    starred = False
    parameters = _parameters_of(prototype_function)
    for i, parameter in enumerate(parameters.values()):
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            texts.append("*")
            starred = True
        writes = parameter.name in mutated
        texts.append(_parameter_text(name, i, parameter, hints.get(parameter.name), writes, unknown))
    if not mutated <= set(parameters):
        wrong = ", ".join(sorted(mutated - set(parameters)))
        raise _C.ValueError(f"infer_schema({name}): mutates_args names {wrong}, which is no parameter")
    if "return" not in hints:
        raise _C.ValueError(f"infer_schema({name}): the result needs a type hint; `-> None` if there is none")
    return f"{op_name or ''}({', '.join(texts)}) -> {_returns_text(name, hints['return'])}"


def _parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    import inspect  # here, for it takes long

    return inspect.signature(function).parameters


def _hints_of(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except NameError as error:
        raise _C.ValueError(f"infer_schema({name}): a type hint cannot be read: {error}") from error


def _parameter_text(
    function: str, position: int, parameter: inspect.Parameter, hint: Any, writes: bool, unknown: bool
) -> str:
    where = f"infer_schema({function}): parameter '{parameter.name}'"
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
        raise _C.ValueError(f"{where} is {parameter.kind.description}, which no schema can say")
    if hint is None:
        raise _C.ValueError(f"{where} needs a type hint")
    text = _type_text(hint)
    if text is None:
        raise _C.ValueError(f"{where} has the type hint {hint!r}, which no schema type stands for")
    has_tensors = text.startswith("Tensor")
    if writes and not has_tensors:
        raise _C.ValueError(f"{where} is in mutates_args, and is no tensor")
    if has_tensors and (writes or unknown):
        text = text.replace("Tensor", f"Tensor(a{position}!)", 1)
    if parameter.default is parameter.empty:
        return f"{text} {parameter.name}"
    try:
        return f"{text} {parameter.name}={_default_text(parameter.default)}"
    except TypeError:
        raise _C.ValueError(f"{where} has the default {parameter.default!r}, which no schema can say") from None


def _returns_text(function: str, hint: Any) -> str:
    if hint is None or hint is type(None):
        return "()"
    parts = typing.get_args(hint) if typing.get_origin(hint) is tuple else (hint,)
    texts = [_type_text(part) for part in parts]
    if any(text not in _RETURNS for text in texts):
        raise _C.ValueError(f"infer_schema({function}): the result has the type hint {hint!r}, which no schema type "
                            "stands for; it is None, Tensor, int, float, bool, Number, a list or a tuple of them")
    joined = ", ".join(text for text in texts if text is not None)
    return joined if len(texts) == 1 else f"({joined})"
