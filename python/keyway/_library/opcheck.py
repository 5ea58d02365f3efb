"""opcheck: whether an operator was registered as it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from keyway import _C
from keyway._library.ops import operator_function
from keyway._library.schema import tensors_in
from keyway.autograd.gradcheck import gradcheck


class OpCheckError(_C.Error):
    """What opcheck found: the text names the check."""


class _Call:
    """A call of one overload that can be made again and again, each time with arguments of its own."""

    def __init__(self, op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        function = operator_function(op)
        name = _C._explain(function, *args, **kwargs).op
        self.overload = operator_function(name)
        self.name: str = self.overload.name()
        self.args, self.kwargs = args, kwargs

    def run(self, change: Callable[[_C.Tensor], _C.Tensor]) -> Any:
        """With every tensor among the arguments changed."""
        args = [_with_tensors(arg, change) for arg in self.args]
        return self.overload(*args, **{name: _with_tensors(arg, change) for name, arg in self.kwargs.items()})

    def tensors(self) -> list[_C.Tensor]:
        return list(tensors_in([*self.args, *self.kwargs.values()]))


def _with_tensors(value: Any, change: Callable[[_C.Tensor], _C.Tensor]) -> Any:
    if isinstance(value, _C.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_with_tensors(item, change) for item in value)
    return value


def _copy(tensor: _C.Tensor) -> _C.Tensor:
    """Of the same strides, with a history if the tensor requires a gradient: a copy may be written to."""
    return tensor.clone()


def _on_meta(tensor: _C.Tensor) -> _C.Tensor:
    return _C.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def _test_schema(call: _Call) -> str | None:
    """Kernels write to what the schema says, and give back memory of what it says."""
    with _C._check_schemas():
        call.run(_copy)
    return None


_GRADIENT_RULES = {"direct kernel", "alias kernel", "composite implicit"}


def _test_autograd_registration(call: _Call) -> str | None:
    """Something is registered for gradients where a gradient is asked for."""
    differentiable = [tensor for tensor in call.tensors() if tensor.requires_grad]
    if not differentiable:
        return "no argument requires a gradient"
    for device in sorted({tensor.device.type.upper() for tensor in differentiable}):
        rule = _C._explain_slot(call.name, "Autograd" + device)
        if rule not in _GRADIENT_RULES:
            raise OpCheckError(
                f"{call.name} has no kernel at Autograd{device} ({rule}): its results would have no gradient; "
                "keyway.library.register_autograd gives it one"
            )
    return None


def _test_faketensor(call: _Call) -> str | None:
    """The results for meta tensors are, without data, those for real ones."""
    real = call.run(_copy)
    fake = call.run(_on_meta)
    reals, fakes = list(tensors_in(real)), list(tensors_in(fake))
    if len(reals) != len(fakes):
        raise OpCheckError(f"{call.name} gives {len(reals)} tensors, but {len(fakes)} for meta tensors")
    for i, (a, b) in enumerate(zip(reals, fakes)):
        if not b.is_meta:
            raise OpCheckError(f"{call.name}: result {i} for meta tensors is on {b.device}")
        for what in ("shape", "dtype", "stride"):
            wanted, given = (getattr(t, what)() if what == "stride" else getattr(t, what) for t in (a, b))
            if wanted != given:
                raise OpCheckError(f"{call.name}: result {i} has {what} {wanted}, but for meta tensors {given}")
    return None


def _test_gradcheck(call: _Call) -> str | None:
    """Gradients are those of finite differences, where arguments of float64 require them."""
    inputs = [tensor.detach().clone().requires_grad_() for tensor in call.tensors() if tensor.requires_grad]
    if not inputs or any(tensor.dtype is not _C.float64 for tensor in inputs):
        return "no argument of float64 requires a gradient, or another one does"

    def function(*tensors: _C.Tensor) -> Any:
        rest = iter(tensors)
        result = call.run(lambda tensor: next(rest) if tensor.requires_grad else tensor.clone())
        return tuple(tensor for tensor in tensors_in(result) if tensor.requires_grad)

    gradcheck(function, tuple(inputs))
    return None


_TESTS: dict[str, Callable[[_Call], str | None]] = {
    "test_schema": _test_schema,
    "test_autograd_registration": _test_autograd_registration,
    "test_faketensor": _test_faketensor,
    "test_gradcheck": _test_gradcheck,
}


def opcheck(
    op: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = tuple(_TESTS),
    raise_exception: bool = True,
) -> dict[str, str]:
    """Checks an operator (an overload, a custom operator, a name) with sample arguments.

    test_schema: its kernels write to, and give back memory of, exactly what the schema says.
    test_autograd_registration: it has a kernel for gradients.
    test_faketensor: results for meta tensors have the shapes, dtypes and strides of those for real ones.
    test_gradcheck: gradients are those of finite differences, for arguments of float64.

    Returns what each came to: "SUCCESS", "SKIPPED: why", or the text of the error. Raises keyway.library.OpCheckError
    for the first that fails, unless raise_exception=False.
    """
    chosen = [test_utils] if isinstance(test_utils, str) else list(test_utils)
    if unknown := set(chosen) - set(_TESTS):
        raise _C.ValueError(f"opcheck has no check {', '.join(sorted(unknown))}; it has {', '.join(_TESTS)}")
    call = _Call(op, args, kwargs or {})
    found: dict[str, str] = {}
    for name in chosen:
        try:
            skipped = _TESTS[name](call)
            found[name] = "SUCCESS" if skipped is None else "SKIPPED: " + skipped
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck({call.name}): {name} failed: {error}") from error
            found[name] = f"{type(error).__name__}: {error}"
    return found
