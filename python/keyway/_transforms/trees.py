"""Nested tuples, lists and dictionaries, as the arguments and results of functions are."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any


def children(tree: Any) -> list[Any] | None:
    """What a tuple, a list or a dictionary is made of, or a tuple with names; None for a leaf, as other kinds of tuples
    are, such as sizes."""
    if isinstance(tree, dict):
        return list(tree.values())
    is_node = type(tree) in (tuple, list) or (isinstance(tree, tuple) and (_has_fields(tree) or _is_sequence(tree)))
    return list(tree) if is_node else None


def _has_fields(tree: tuple[Any, ...]) -> bool:
    return hasattr(tree, "_fields")


def _is_sequence(tree: tuple[Any, ...]) -> bool:
    return hasattr(tree, "n_sequence_fields")


def with_children(tree: Any, items: list[Any]) -> Any:
    """The same with other items: a dictionary has its keys and its class, a tuple with names its class."""
    if isinstance(tree, dict):
        other = copy.copy(tree)  # keeps what makes the items of a defaultdict
        other.update(zip(tree, items))
        return other
    if isinstance(tree, tuple) and _has_fields(tree):
        return type(tree)(*items)
    return type(tree)(items)


def same_structure(tree: Any, other: Any) -> bool:
    """Whether both have leaves at the same positions: dictionaries by their keys."""
    items, others = children(tree), children(other)
    if items is None or others is None:
        return items is None and others is None
    if isinstance(tree, dict) or isinstance(other, dict):
        if not isinstance(tree, dict) or not isinstance(other, dict) or tree.keys() != other.keys():
            return False
        return all(same_structure(tree[key], other[key]) for key in tree)
    is_list = isinstance(tree, list)
    return is_list == isinstance(other, list) and len(items) == len(others) and all(map(same_structure, items, others))


def leaves_like(tree: Any, other: Any) -> list[Any]:
    """The leaves of `other`, in the order of those of `tree`. Requires: they have the same structure."""
    items = children(tree)
    if items is None:
        return [other]
    others = [other[key] for key in tree] if isinstance(tree, dict) else list(other)
    return [leaf for item, part in zip(items, others) for leaf in leaves_like(item, part)]


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
