"""Nested tuples, lists and dictionaries, as the arguments and results of functions are."""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def children(tree: Any) -> list[Any] | None:
    """What a tuple, a list or a dictionary is made of; None for a leaf."""
    if isinstance(tree, (tuple, list)):
        return list(tree)
    return list(tree.values()) if isinstance(tree, dict) else None


def with_children(tree: Any, items: list[Any]) -> Any:
    """The same with other items: a dictionary has its keys, a named tuple its class."""
    if isinstance(tree, dict):
        return type(tree)(zip(tree, items))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*items)
    return tuple(items) if isinstance(tree, tuple) else list(items)


def leaves_of(tree: Any) -> list[Any]:
    """In order."""
    items = children(tree)
    return [tree] if items is None else [leaf for item in items for leaf in leaves_of(item)]


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with each leaf replaced by what `function` makes of it."""
    items = children(tree)
    return function(tree) if items is None else with_children(tree, [tree_map(function, item) for item in items])


def broadcast(prefix: Any, tree: Any) -> list[Any] | None:
    """For each leaf of a tree, the leaf of `prefix` that it is below: of (0, None) one for all leaves of the first item
    and one for all of the second. None if they do not fit."""
    items = children(tree)
    heads = children(prefix)
    if heads is None:
        return [prefix] * len(leaves_of(tree))
    if items is None or len(items) != len(heads):
        return None
    if isinstance(tree, dict) and isinstance(prefix, dict):
        if tree.keys() != prefix.keys():
            return None
        heads = [prefix[key] for key in tree]
    parts = [broadcast(head, item) for head, item in zip(heads, items)]
    return None if any(part is None for part in parts) else [leaf for part in parts for leaf in part or ()]


def rebuilt(tree: Any, leaves: list[Any]) -> Any:
    """The tree with other leaves, in order."""
    rest = iter(leaves)
    return tree_map(lambda leaf: next(rest), tree)
