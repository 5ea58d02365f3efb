"""Gradients from Python: an operator's kernel at Autograd, which records a node of what register_autograd was given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from keyway import _C
from keyway._library.ops import operator_function
from keyway._library.registrations import Library
from keyway._library.schema import Schema, tensors_in
from keyway._library.signatures import check_call
from keyway.autograd import Function

_BELOW = _C.DispatchKeySet.full_after("Autograd")


class GradientFormula:
    """What register_autograd was given, checked."""

    def __init__(
        self, schema: Schema, backward: Callable[..., Any], setup_context: Callable[..., Any] | None = None
    ) -> None:
        who = f"register_autograd({schema.name})"
        if schema.mutated:
            raise _C.ValueError(f"{who}: it writes to {', '.join(schema.mutated)}: only a functional operator, which "
                                "writes to no argument, has a gradient")
        if any(p.takes_tensors and p.keyword_only for p in schema.parameters):
            raise _C.NotImplementedError(f"{who}: a tensor that is a keyword-only argument cannot have a gradient")
        if len(schema.returns) > 1 and any("[" in text for text in schema.returns):
            raise _C.NotImplementedError(f"{who}: a list among several results cannot have a gradient")
        if schema.gives_lists_of_tensors:
            raise _C.NotImplementedError(f"{who}: a list of lists as the result, {schema.returns[0]}, cannot have a "
                                         "gradient: return one list")
        if not callable(backward) or not (setup_context is None or callable(setup_context)):
            raise _C.TypeError(f"{who}: backward and setup_context are functions")
        grads = ["grads"] if schema.gives_list else [f"grad{i}" for i in range(len(schema.returns))]
        check_call(who, backward, ["ctx", *grads])
        has_keywords = any(p.keyword_only for p in schema.parameters)
        if setup_context is not None:
            keywords = ["keyword_only_inputs"] if has_keywords else []
            check_call(who, setup_context, [], ["ctx", "inputs", *keywords, "output"])
        self.backward = backward
        self.setup_context = setup_context
        self.has_keywords = has_keywords
        self.gives_list = schema.gives_list


class GradientKernel:
    """An operator's kernel at Autograd: with a formula, what calls it in backward; without, what says so there."""

    def __init__(self, overload: Any, schema: Schema, formula: GradientFormula | None = None) -> None:
        self.overload = overload
        self.schema = schema
        self.formula = formula
        self.gives_tensors = not schema.returns or any(text.startswith("Tensor") for text in schema.returns)
        # A class of its own, so that nodes of the graph have its name.
        self.function: type[_Recorded] = type(schema.name.replace("::", "_").replace(".", "_"), (_Recorded,), {})

    def register(self, library: Library) -> None:
        library.impl(self.schema.name, self.__call__, "Autograd", with_keyset=True, all_arguments=True)

    def __call__(self, keys: _C.DispatchKeySet, /, *args: Any, **kwargs: Any) -> Any:
        call = _Call(self, keys, args, kwargs)
        if not self.gives_tensors or not _C.is_grad_enabled() or not any(t.requires_grad for t in tensors_in([*args, *kwargs.values()])):
            return call.below(args)
        if self.schema.gives_lists_of_tensors:
            raise _C.AutogradError(f"{self.schema.name} gives lists of lists of tensors, which have no gradient: call "
                                   "it under no_grad, or with detached tensors")
        for tensor in self.schema.mutated_tensors(args, kwargs):
            if tensor.requires_grad:
                raise _C.AutogradError(f"{self.schema.name} writes to a tensor that requires a gradient, and has none")
        return self.function.apply(*call.flat(args), call)


def register_gradient(
    name: str, backward: Callable[..., Any], setup_context: Callable[..., Any] | None, library: Library
) -> None:
    """Of an operator that was defined elsewhere."""
    overload = operator_function(name)
    schema = Schema(overload)
    GradientKernel(overload, schema, GradientFormula(schema, backward, setup_context)).register(library)


# How an argument is laid out flat: None for one that stays as it is, a list of those of its parts for a list.
_Layout: TypeAlias = "list[_Layout] | None"


def _parts_of(arg: Any) -> _Layout:
    return [_parts_of(item) for item in arg] if isinstance(arg, tuple) else None


def _layout_of(arg: Any) -> _Layout:
    """Only a list with tensors in it, or in lists of it, is laid out."""
    return _parts_of(arg) if next(tensors_in(arg), None) is not None else None


def _lay_out(name: str, value: Any, layout: _Layout, leaves: list[Any]) -> None:
    """Appends the leaves of an argument or of its gradients, which may be None for a whole list."""
    if layout is None:
        leaves.append(value)
    elif value is None or (isinstance(value, (list, tuple)) and len(value) == len(layout)):
        for item, part in zip([None] * len(layout) if value is None else value, layout):
            _lay_out(name, item, part, leaves)
    else:
        given = f"{len(value)} gradients" if isinstance(value, (list, tuple)) else f"a {type(value).__name__}"
        raise _C.ValueError(f"{name}: backward gave {given} for a list of {len(layout)} "
                            f"{'tensors' if all(part is None for part in layout) else 'lists'}")


def _gathered(leaves: Iterator[Any], layout: _Layout) -> Any:
    return next(leaves) if layout is None else [_gathered(leaves, part) for part in layout]


class _Call:
    """A call of the operator, as it reaches the kernel at Autograd. Function sees tensors as arguments of their own, so
    lists of them are laid out flat."""

    def __init__(self, kernel: GradientKernel, keys: _C.DispatchKeySet, args: Sequence[Any], kwargs: Any) -> None:
        self.kernel = kernel
        self.formula = kernel.formula
        self.keys = keys & _BELOW
        self.kwargs = kwargs
        self.layouts = [_layout_of(arg) for arg in args]

    def flat(self, args: Sequence[Any]) -> list[Any]:
        """Raises keyway.ValueError if backward gave other gradients than there are arguments."""
        name = self.kernel.schema.name
        if len(args) != len(self.layouts):
            raise _C.ValueError(f"{name}: backward gave {len(args)} gradients, but the operator has "
                                f"{len(self.layouts)} positional arguments")
        leaves: list[Any] = []
        for arg, layout in zip(args, self.layouts):
            _lay_out(name, arg, layout, leaves)
        return leaves

    def grouped(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        rest = iter(leaves)
        return tuple(_gathered(rest, layout) for layout in self.layouts)

    def below(self, args: Sequence[Any]) -> Any:
        """The operator below Autograd, where nothing is recorded."""
        with _C.ExcludeDispatchKeyGuard("Autograd"):
            return self.kernel.overload.redispatch(self.keys, *args, **self.kwargs)


class _GroupedContext:
    """A context whose needs_input_grad has a list where the operator takes one."""

    def __init__(self, ctx: Any, call: _Call) -> None:
        self.__dict__["_ctx"] = ctx
        self.__dict__["needs_input_grad"] = call.grouped(ctx.needs_input_grad[:-1])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._ctx, name, value)


class _Recorded(Function):
    @staticmethod
    def forward(ctx: Any, *leaves_and_call: Any) -> Any:
        *leaves, call = leaves_and_call
        args = call.grouped(leaves)
        output = call.below(args)
        ctx._keyway_call = call
        formula = call.formula
        if formula is not None and formula.setup_context is not None:
            ctx_ = _GroupedContext(ctx, call)
            if formula.has_keywords:
                formula.setup_context(ctx=ctx_, inputs=args, keyword_only_inputs=call.kwargs, output=output)
            else:
                formula.setup_context(ctx=ctx_, inputs=args, output=output)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        call, formula = ctx._keyway_call, ctx._keyway_call.formula
        if formula is None:
            raise _C.AutogradError(f"{call.kernel.schema.name} has no gradient: register_autograd gives it one")
        found = formula.backward(_GroupedContext(ctx, call), *([list(grads)] if formula.gives_list else grads))
        # Of one argument the gradient may stand alone; that of a list is a list.
        is_all = isinstance(found, tuple) or (isinstance(found, list) and len(call.layouts) != 1)
        return (*call.flat(found if is_all else (found,)), None)
