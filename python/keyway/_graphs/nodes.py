"""Graphs as TensorBoard shows them: boxes with names, in boxes of the modules that made them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from keyway import nn, no_grad
from keyway._C import Tensor, _graph
from keyway._graphs.captured import named_tensors
from keyway._transforms.trees import leaves_of


class GraphNode(NamedTuple):
    """An operation of a graph, as add_graph takes it."""

    name: str
    """Its own; slashes make boxes, as "encoder/linear"."""
    op: str
    inputs: Sequence[str] = ()
    """Names of nodes, "name:1" for the second result of one."""
    attributes: Mapping[str, str | bool | int | float | Sequence[int]] = {}
    output_shapes: Sequence[Sequence[int]] = ()
    device: str = ""


class _Scope(NamedTuple):
    """The calls [begin, end) were made by a module."""

    name: str
    begin: int
    end: int


def model_nodes(model: Callable[..., Any], arguments: tuple[Any, ...]) -> list[GraphNode]:
    """The nodes of the graph of model(*arguments), at the level of what is written."""
    function = model.forward if isinstance(model, nn.Module) else model
    capture = _graph.Capture("program")
    try:
        for name, tensor in named_tensors(function, arguments, {}):
            capture.add_argument(tensor, name)
        scopes: list[_Scope] = []
        with no_grad(), _noting(model, capture, scopes):
            results = model(*arguments)
        outputs = [leaf for leaf in leaves_of(results) if isinstance(leaf, Tensor)]
        del results
        graph = capture.finish(outputs)
    finally:
        capture.abandon()
    names: dict[int, str] = {}
    if isinstance(model, nn.Module):
        named = [*model.named_parameters(), *model.named_buffers()]
        names = {id(tensor): name for name, tensor in named}
    return graph_nodes(graph, scopes, names)


@contextmanager
def _noting(model: Callable[..., Any], capture: _graph.Capture, scopes: list[_Scope]) -> Iterator[None]:
    """Notes which calls each module of the model makes; inner modules first."""
    begins: list[int] = []
    hooks = []

    def enter(module: nn.Module, args: Any) -> None:
        begins.append(capture.call_count())

    def leaver(name: str) -> Callable[..., None]:
        return lambda module, args, result: scopes.append(_Scope(name, begins.pop(), capture.call_count()))

    try:
        for name, module in model.named_modules() if isinstance(model, nn.Module) else ():
            if name:
                hooks += [module.register_forward_pre_hook(enter), module.register_forward_hook(leaver(name))]
        yield
    finally:
        for hook in hooks:
            hook.remove()


def graph_nodes(graph: _graph.Graph, scopes: Sequence[_Scope] = (), names: Mapping[int, str] = {}) -> list[GraphNode]:
    """The nodes of a graph. names: of tensors that are state, by their id()."""
    boxes = graph.boxes()
    first = next((i for i, box in enumerate(boxes) if "::" in box[0]), len(boxes))  # the first call
    titles: list[str] = []
    taken: set[str] = set()
    for number, (kind, _, _, _, site, state) in enumerate(boxes):
        if "::" in kind:
            title = _within(number - first, scopes) + kind.removeprefix("keyway::").split("::")[-1].split(".")[0]
        elif state is not None and id(state) in names:
            title = names[id(state)].replace(".", "/")
        else:
            title = _plain(site) or kind
        titles.append(_unused(title, taken))
    nodes = []
    for title, (kind, needs, dtype, sizes, site, _) in zip(titles, boxes):
        attributes: dict[str, str | bool | int | float | Sequence[int]] = {"dtype": dtype} if dtype else {}
        if "::" in kind and site:
            attributes["site"] = site
        nodes.append(GraphNode(title, kind, [titles[need] for need in needs], attributes, sizes))
    return nodes


def _within(call: int, scopes: Sequence[_Scope]) -> str:
    """The innermost module that made the call, as a folder."""
    for scope in scopes:
        if scope.begin <= call < scope.end:
            return scope.name.replace(".", "/") + "/"
    return ""


def _plain(name: str) -> str:
    """A name with no other characters than TensorBoard takes."""
    return "".join(c if c.isalnum() and c.isascii() or c in "_./" else "_" for c in name).strip("/.")


def _unused(title: str, taken: set[str]) -> str:
    name, number = title, 1
    while name in taken:
        number += 1
        name = f"{title}_{number}"
    taken.add(name)
    return name
