"""Schema: what glue in Python asks of an operator's schema."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from keyway import _C


class Parameter(NamedTuple):
    name: str
    type: str  # "Tensor(a!)[]?"
    keyword_only: bool
    writes: bool
    has_default: bool

    @property
    def takes_tensors(self) -> bool:
        return self.type.startswith("Tensor")


def tensors_in(value: Any) -> Iterator[_C.Tensor]:
    """The tensors of an argument or a result: itself, or those of a list."""
    if isinstance(value, _C.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def as_list(value: Any) -> Any:
    """An argument or a result as functions have it: lists, and lists in them, as lists."""
    return [as_list(item) for item in value] if isinstance(value, tuple) else value


class Schema:
    def __init__(self, overload: Any) -> None:
        arguments, self.returns = _C._schema_of(overload)
        self.name: str = overload.name()
        self.parameters = [Parameter(*argument) for argument in arguments]
        self.mutated = [parameter.name for parameter in self.parameters if parameter.writes]
        self.gives_tuple_of_one = False  # a custom operator of a function of `-> tuple[Tensor]`
        self.gives_list = len(self.returns) == 1 and "[" in self.returns[0]
        self.gives_lists_of_tensors = any(t.startswith("Tensor") and t.count("[") > 1 for t in self.returns)

    def mutated_tensors(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[_C.Tensor]:
        """Those of a call's tensors that it writes to."""
        for i, parameter in enumerate(self.parameters):
            if parameter.writes:
                yield from tensors_in(args[i] if i < len(args) else kwargs.get(parameter.name))

    def check_mutates_args(self, name: str, mutates_args: Iterable[str] | str) -> None:
        """Raises keyway.ValueError if a schema that was given says otherwise."""
        said = set(self.mutated) if mutates_args == "unknown" else set(mutates_args)
        if said != set(self.mutated):
            raise _C.ValueError(
                f"custom_op('{name}'): mutates_args is {sorted(said)}, but the schema writes to {sorted(self.mutated)}"
            )

    def result_of(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What a function of a custom operator gives, as the schema has it: lists are lists for it, and a tuple of one
        result is that."""
        result = function(*map(as_list, args), **{key: as_list(value) for key, value in kwargs.items()})
        is_tuple_of_one = self.gives_tuple_of_one and isinstance(result, tuple) and len(result) == 1
        return result[0] if is_tuple_of_one else result

    def refusing_aliases(self, name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel with a check that no result shares memory with an argument or another result, of which autograd
        would know nothing."""

        @functools.wraps(kernel)
        def checked(*args: Any, **kwargs: Any) -> Any:
            result = self.result_of(kernel, args, kwargs)
            seen = list(tensors_in([*args, *kwargs.values()]))
            for tensor in tensors_in(result):
                if any(_C._share_memory(tensor, other) for other in seen):
                    raise _C.ValueError(
                        f"{name}: a result of {kernel.__qualname__} shares memory with an argument or another result, "
                        "which the schema does not say: return a clone"
                    )
                seen.append(tensor)
            return result

        return checked
