"""Numbers, histograms, texts and graphs of a training run, in files that TensorBoard shows.

    with SummaryWriter("runs/first") as writer:
        for step, loss in enumerate(losses):
            writer.add_scalar("loss/train", loss, step)

`tensorboard --logdir runs` shows them. Nothing else than Keyway is needed to write them.
"""

from __future__ import annotations

import datetime
import os
import socket
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, SupportsFloat, SupportsInt

import keyway
from keyway import _C
from keyway._C import Tensor
from keyway._graphs.nodes import GraphNode as GraphNode, graph_nodes, model_nodes
from keyway.graph import Graph

__all__ = ["GraphNode", "SummaryWriter"]


class SummaryWriter:
    """Writes what a run tells, into a file of a folder. May be called from any thread."""

    def __init__(self, log_dir: str | os.PathLike[str] | None = None, comment: str = "", purge_step: int | None = None,
                 max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = "") -> None:
        """log_dir: by default one in `runs`, named after the time, the machine and `comment`. purge_step: what an earlier
        run wrote there for this step and later ones is not to be shown. Events are kept until there are more than
        max_queue, or until another comes after flush_secs."""
        if log_dir is None:
            now = datetime.datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self._writer = _C._SummaryWriter(os.fsencode(self.log_dir), filename_suffix, max_queue, flush_secs,
                                         _step(purge_step))
        self._at_exit = weakref.finalize(self, self._writer.close)  # the program's exit, too

    def get_logdir(self) -> str:
        return self.log_dir

    def add_scalar(self, tag: str, scalar_value: SupportsFloat, global_step: SupportsInt | None = None,
                   walltime: float | None = None) -> None:
        """A number, or a tensor or array of one element; kept as float32. walltime: seconds since 1970, now by default."""
        self._writer.add_scalar(tag, _number(scalar_value), _step(global_step), walltime)

    def add_scalars(self, main_tag: str, tag_scalar_dict: Mapping[str, SupportsFloat],
                    global_step: SupportsInt | None = None, walltime: float | None = None) -> None:
        """Several numbers in one chart. Each has a folder of its own, named after both tags."""
        scalars = [(tag, _number(value)) for tag, value in tag_scalar_dict.items()]
        self._writer.add_scalars(main_tag, scalars, _step(global_step), walltime)

    def add_histogram(self, tag: str, values: Any, global_step: SupportsInt | None = None,
                      bins: str | int | Iterable[float] = "tensorflow", walltime: float | None = None,
                      max_bins: int | None = None) -> None:
        """How values, a tensor or what makes one, are distributed. bins: "tensorflow" for 0 and 1e-12 times powers of 1.1
        of both signs; how many of one width; or their edges. max_bins: neighbours are put together if there are more."""
        tensor = values if isinstance(values, Tensor) else keyway.as_tensor(values)
        self._writer.add_histogram(tag, tensor, _step(global_step), _edges(bins, tensor), walltime, max_bins or 0)

    def add_text(self, tag: str, text_string: str, global_step: SupportsInt | None = None,
                 walltime: float | None = None) -> None:
        """Text in Markdown."""
        self._writer.add_text(tag, text_string, _step(global_step), walltime)

    def add_graph(self, model: Iterable[GraphNode] | Graph | Callable[..., Any], input_to_model: Any = None,
                  walltime: float | None = None) -> None:
        """A graph: a keyway.graph.Graph; a model, which is called with `input_to_model`, a tensor or a tuple of arguments;
        or node by node, as GraphNodes or tuples of their fields. Calls of a model stand in boxes of its modules, and its
        parameters in those of the modules that they belong to."""
        if isinstance(model, Graph):
            nodes: Iterable[GraphNode] = graph_nodes(model._calls)
        elif callable(model):
            nodes = model_nodes(model, input_to_model if isinstance(input_to_model, tuple) else (input_to_model,))
        else:
            nodes = model
        rows: list[tuple[object, ...]] = []
        for name, op, inputs, attributes, output_shapes, device in (GraphNode(*node) for node in nodes):
            rows.append((name, op, list(inputs), dict(attributes), [list(shape) for shape in output_shapes], device))
        self._writer.add_graph(rows, walltime)

    def flush(self) -> None:
        """Writes what is kept."""
        self._writer.flush()

    def close(self) -> None:
        """Writes what is kept, and closes the files. What is added later goes into new ones."""
        self._writer.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _step(step: SupportsInt | None) -> int | None:
    return None if step is None else int(step)


def _number(value: SupportsFloat) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"a scalar is a number, or a tensor of one, not {type(value).__name__}")
    return float(value)


def _edges(bins: str | int | Iterable[float], values: Tensor) -> list[float] | None:
    if isinstance(bins, str):
        if bins != "tensorflow":
            raise ValueError(f'bins are "tensorflow", a number of bins, or edges, not {bins!r}')
        return None
    if not isinstance(bins, int):
        return [float(edge) for edge in bins]
    if bins < 1 or values.numel() == 0:
        raise ValueError(f"add_histogram: there are {bins} bins for {values.numel()} values, and both must be 1 or more")
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    return [low + i * ((high - low) / bins) for i in range(bins)] + [high]
