"""What a file of a program says of its arguments and results for Python: how tensors are nested, and other values; and
beside which sizes it was captured."""

from __future__ import annotations

import json
from typing import Any

from keyway import _C, return_types
from keyway._graphs.captured import Output
from keyway._transforms.trees import leaves_of

_CONSTANTS = (bool, int, float, str, type(None))


def encoded_trees(arguments: Any, results: Any) -> str:
    """Trees with an Output for each tensor, as a text. Raises keyway.TypeError for what a file cannot hold."""
    return json.dumps([_encoded(arguments, "an argument"), _encoded(results, "a result")], separators=(",", ":"))


def decoded_trees(text: str, argument_count: int, result_count: int) -> tuple[Any, Any]:
    """Raises keyway.ParseError for what encoded_trees did not give for so many tensors."""
    try:
        arguments, results = map(_decoded, json.loads(text))
        is_call = type(arguments) is list and [type(part) for part in arguments] == [list, dict]
        if is_call and _numbers(arguments) == [*range(argument_count)] and set(_numbers(results)) <= {*range(result_count)}:
            return arguments, results
    except (ValueError, RecursionError, IndexError, TypeError):
        pass
    raise _C.ParseError("the file does not say how the arguments and results of the program are nested")


def encoded_sizes(sizes: dict[str, int]) -> str:
    """Sizes of dimensions, as a text."""
    return json.dumps(sizes, separators=(",", ":"))


def decoded_sizes(text: str, names: list[str]) -> dict[str, int]:
    """Raises keyway.ParseError for what encoded_sizes did not give for dimensions of these names."""
    try:
        sizes = json.loads(text)
        if type(sizes) is dict and set(sizes) == {*names} and all(type(size) is int and size >= 0 for size in sizes.values()):
            return sizes
    except (ValueError, RecursionError):
        pass
    raise _C.ParseError("the file does not say with which sizes the program was captured")


def _numbers(tree: Any) -> list[int]:
    return [leaf.number for leaf in leaves_of(tree) if isinstance(leaf, Output)]


def _encoded(tree: Any, what: str) -> Any:
    if isinstance(tree, Output):
        return ["tensor", tree.number]
    if type(tree) in _CONSTANTS:
        return ["value", tree]
    if type(tree) in (list, tuple):
        return [type(tree).__name__, [_encoded(item, what) for item in tree]]
    if type(tree) is _result_class(type(tree).__name__):
        return ["named", [type(tree).__name__, [_encoded(item, what) for item in tree]]]
    if type(tree) is dict and all(type(key) is str for key in tree):
        return ["dict", [[key, _encoded(item, what)] for key, item in tree.items()]]
    raise _C.TypeError(f"export: {what} is a {type(tree).__name__}, which a file cannot hold: use tensors, numbers, texts "
                       "and None, in lists, tuples and dictionaries with texts as keys")


def _result_class(name: str) -> Any:
    """That of results with names, as of sort(); None if there is none such."""
    found = getattr(return_types, name, None)
    return found if isinstance(found, type) and issubclass(found, tuple) else None


def _decoded(item: Any) -> Any:
    kind, content = item
    if kind == "tensor" and type(content) is int:
        return Output(content)
    if kind == "value" and type(content) in _CONSTANTS:
        return content
    if kind in ("list", "tuple") and type(content) is list:
        return (list if kind == "list" else tuple)(map(_decoded, content))
    if kind == "named":
        name, items = content
        return _result_class(name)([_decoded(item) for item in items])
    if kind == "dict" and type(content) is list:
        return {key: _decoded(value) for key, value in content if type(key) is str}
    raise ValueError
