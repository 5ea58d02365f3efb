"""Programs for all sizes: captured with arguments of several sizes, called as the function that they come from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from keyway import _C
from keyway._C import Tensor, _graph
from keyway._graphs.captured import Captured, Graph, Output, named_tensors, with_tensors, without_tensors
from keyway._graphs.decompositions import DecompositionTable, resolved
from keyway._tensor.serialization import encoded_path
from keyway._graphs.exported_notes import decoded_sizes, decoded_trees, encoded_sizes, encoded_trees
from keyway._graphs.shapes import Sizes, dynamic_formulas, example_sizes, limits, resized, sizes_to_capture
from keyway._transforms.trees import leaves_like, leaves_of, same_structure, tree_map
from keyway.autograd.grad_mode import no_grad
from keyway.nn.modules.module import Module
from keyway.random import get_rng_state, set_rng_state

_NOTE = "keyway.program.python"
_SIZES = "keyway.program.sizes"

class ExportedProgram:
    """A program for all sizes of its named dimensions, with its state.

    It is called as the function that it comes from: with tensors in the same places, which may have other sizes where
    dimensions have names, and other arguments equal. Where gradients are recorded and a tensor requires grad, the
    results can be differentiated; else calls run as plans, one for each sizes.
    """

    def __init__(self, program: _graph.Program, arguments: Any = None, results: Any = None,
                 example: Sizes | None = None) -> None:  # fmt: skip
        self._program = program
        self._arguments = arguments  # as [args, kwargs], with an Output for each tensor; None: tensors alone
        self._results = results  # likewise; None: a tuple of tensors
        self._example = example  # sizes beside which it was captured; None: not known

    def __str__(self) -> str:
        return str(self._program)

    def __repr__(self) -> str:
        return f"<keyway.export.ExportedProgram of {', '.join(self.dimensions) or 'fixed sizes'}>"

    @property
    def dimensions(self) -> list[str]:
        """The names of dimensions."""
        return self._program.dimensions()

    @property
    def state_dict(self) -> dict[str, Tensor]:
        """The tensors that the program uses beside its arguments, by name."""
        return dict(self._program.state())

    @property
    def metadata(self) -> dict[str, str]:
        """The texts that were saved with it."""
        return {key: text for key, text in self._program.notes().items() if key not in (_NOTE, _SIZES)}

    def parameters(self) -> Iterator[Tensor]:
        """The state that requires grad, as optimizers take it."""
        return (tensor for _, tensor in self._program.state() if tensor.requires_grad)

    def graph(self, sizes: Mapping[str, int] | None = None) -> Graph:
        """The graph for these sizes of the dimensions, which is called with tensors alone and gives a tuple."""
        return Graph(self._program.graph(dict(sizes or {})))

    def run_decompositions(self, decomp_table: DecompositionTable | None = None) -> ExportedProgram:
        """The program in which operators of a table are replaced by what their decompositions call, until there are none:
        with the default table it consists of operators of the Core ATen set, as far as Keyway has decompositions. It
        refers to the same state. Last bits of its results may be others. Arguments that do not lie in memory as new
        tensors do may be refused, where operators choose by that what they call.

        ``decomp_table``: from operators to functions of their arguments; by default
        keyway.export.default_decompositions().

        Raises keyway.ValueError as keyway.graph.Graph.decomposed does, and for a decomposition that calls other
        operators for other sizes.
        """
        table = resolved(decomp_table)

        def decomposed(sizes: Sizes) -> Graph:
            return Graph(_graph.decompose(self._program.graph(sizes), table))

        names, state = self._program.argument_names(), self._program.state()
        example = self._example or dict.fromkeys(self.dimensions, 4)
        program, _ = _fitted(decomposed, example, names, state)
        return ExportedProgram(program, self._arguments, self._results, self._example)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file: see keyway.export.save."""
        self._program.save(encoded_path(path), self._notes())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the program gives. What it writes to, arguments or state, is written to."""
        if self._arguments is None:
            if kwargs:
                raise _C.ValueError("the program takes tensors by their places alone")
            return tuple(self._program.run(list(args)))
        given = [list(args), kwargs]
        if not same_structure(self._arguments, given):
            raise _C.ValueError("the arguments have another structure than the program has")
        tensors = []
        for was, leaf in zip(leaves_of(self._arguments), leaves_like(self._arguments, given)):
            if isinstance(was, Output):
                if not isinstance(leaf, Tensor):
                    raise _C.TypeError(f"an argument is a {type(leaf).__name__}, and the program takes a Tensor")
                tensors.append(leaf)
            elif type(leaf) is not type(was) or (leaf != was and repr(leaf) != repr(was)):
                raise _C.ValueError(f"an argument is {leaf!r}, and was {was!r} when the program was captured")
        return with_tensors(self._results, self._program.run(tensors))

    def _notes(self) -> dict[str, str]:
        notes = self.metadata
        if self._arguments is not None:
            notes[_NOTE] = encoded_trees(self._arguments, self._results)
        if self._example is not None:
            notes[_SIZES] = encoded_sizes(self._example)
        return notes


def export(mod: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *,
           dynamic_shapes: Any = None) -> ExportedProgram:  # fmt: skip
    """Captures ``mod(*args, **kwargs)`` as a program that needs no Python.

    ``mod`` is a module or a function. It is called with copies of the tensors among the arguments, and captured as it is
    written: results can be differentiated. Parameters and buffers of a module have their names in state_dict; other
    tensors that the program uses are state, too.

    ``dynamic_shapes`` names the dimensions that may have other sizes: ``{"x": {0: "batch", 1: "2 * width"}}``, by
    parameter, or a tuple with an item for each argument; an item is a dictionary, a tuple of names and None, or None.
    The program is then captured with several sizes of each, and integers that follow from sizes become formulas: sums,
    products and quotients of the names. Where none fits, an error names the call and the numbers. No size is special:
    the program holds for 0 and 1, too.

    The random generator and the buffers of a module are afterwards as before; other state that the program writes to is
    as after one call.

    Raises keyway.ValueError for what a program cannot follow: see keyway.graph.capture.
    """
    kwargs = dict(kwargs or {})
    forward = mod.forward if isinstance(mod, Module) else mod
    named = named_tensors(forward, args, kwargs)
    formulas = dynamic_formulas(forward, args, kwargs, dynamic_shapes)
    example = example_sizes(named, formulas)
    restored = _Restored(mod)

    def captured(sizes: Sizes) -> Graph:
        tensors = iter(zip(named, formulas))

        def other(leaf: Any) -> Any:
            if not isinstance(leaf, Tensor):
                return leaf
            (_, tensor), its_formulas = next(tensors)
            return resized(tensor, its_formulas, sizes)

        with restored:
            other_args, other_kwargs = tree_map(other, [list(args), kwargs])
            graph = Captured(mod, tuple(other_args), other_kwargs, "program").graph()
            restored.add(_graph.written_state(graph._calls))
        return graph

    arguments = without_tensors([list(args), kwargs])
    names = [name for name, _ in named]
    state = list(mod.state_dict(keep_vars=True).items()) if isinstance(mod, Module) else []
    program, graphs = _fitted(captured, example, names, state)
    notes = {encoded_trees(arguments, graph._results) for graph in graphs}
    if len(notes) > 1:
        raise _C.ValueError("export: a result beside tensors follows from sizes: return tensors alone")
    return _noted(program, notes.pop(), example)


def loaded(program: _graph.Program) -> ExportedProgram:
    """The program of a file, with what Python has noted there."""
    note, sizes = (program.notes().get(key) for key in (_NOTE, _SIZES))
    example = None if sizes is None else decoded_sizes(sizes, program.dimensions())
    return ExportedProgram(program, example=example) if note is None else _noted(program, note, example)


def _noted(program: _graph.Program, note: str, example: Sizes | None) -> ExportedProgram:
    trees = decoded_trees(note, program.argument_count(), program.result_count())
    return ExportedProgram(program, *trees, example)


def _fitted(captured: Callable[[Sizes], Graph], example: Sizes, names: list[str],
            state: list[tuple[str, Tensor]]) -> tuple[_graph.Program, list[Graph]]:  # fmt: skip
    """The program of as many captures as its formulas need, and these."""
    above, sizes, graphs = _captures(captured, example)
    lowest, highest = limits(example, above)
    while True:
        calls = [graph._calls for graph in graphs]
        telling = _graph.telling_sizes(calls, sizes, lowest, highest)
        if telling is None:
            return _graph.Program(calls, sizes, names, state), graphs
        sizes.append(telling)
        graphs.append(captured(telling))


def _captures(captured: Callable[[Sizes], Graph], example: Sizes) -> tuple[bool, list[Sizes], list[Graph]]:
    """The program for several sizes: above those of the example, or, if it fails there, below."""
    if not example:
        return True, [{}], [captured({})]
    above = sizes_to_capture(example, above=True)
    try:
        return True, above, [captured(sizes) for sizes in above]
    except Exception:
        below = sizes_to_capture(example, above=False)
        if not below:
            raise
        try:
            return False, below, [captured(sizes) for sizes in below]
        except Exception:
            pass
        raise


class _Restored:
    """Within it, the random generator and some tensors may change: afterwards they are as before."""

    def __init__(self, mod: Callable[..., Any]) -> None:
        self._tensors: list[Tensor] = []
        if isinstance(mod, Module):
            self.add(list(mod.buffers()))

    def add(self, tensors: list[Tensor]) -> None:
        self._tensors += [tensor for tensor in tensors if not any(tensor is known for known in self._tensors)]

    def __enter__(self) -> None:
        self._generator = get_rng_state()
        self._saved = [tensor.detach().clone() for tensor in self._tensors]

    def __exit__(self, *failed: object) -> None:
        set_rng_state(self._generator)
        with no_grad():
            for tensor, saved in zip(self._tensors, self._saved):
                tensor.copy_(saved)
