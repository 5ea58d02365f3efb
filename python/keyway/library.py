"""Operators and kernels that Python registers.

>>> @keyway.library.custom_op("my::scale", mutates_args=())
... def scale(x: keyway.Tensor, by: float) -> keyway.Tensor:
...     return x.mul(by)

or, piece by piece,

>>> lib = keyway.library.Library("my", "DEF")
>>> lib.define("shift(Tensor x, float by) -> Tensor")
>>> lib.impl("shift", lambda x, by: x.add(by), "CPU")

What is registered is called from C++ too. Kernels run with the interpreter lock; an exception of theirs reaches the
caller with its traceback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from keyway import _C
from keyway._autocast import autocast_kernel
from keyway._library.custom_op import CustomOpDef, DeviceTypes, custom_op, keys_of_devices, known_custom_op
from keyway._library.gradient_kernel import register_gradient
from keyway._library.infer_schema import infer_schema
from keyway._library.opcheck import OpCheckError, opcheck
from keyway._library.ops import operator_function
from keyway._library.registrations import Library, fallthrough_kernel, kept_library
from keyway._library.signatures import check_kernel
from keyway._transforms.vmap import vmap_kernel

__all__ = [
    "CustomOpDef",
    "Library",
    "OpCheckError",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "impl",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
]


def _full_name(op: Any) -> str:
    """Of an operator that is given as a name, an overload, a packet or a custom operator."""
    name = op if isinstance(op, str) else operator_function(op).name()
    if "::" not in name:
        raise _C.ValueError(f"'{name}' has no namespace: the full name of an operator is 'namespace::name'")
    return name


def _library_for(name: str, lib: Library | None) -> Library:
    return kept_library(name.partition("::")[0]) if lib is None else lib


def define(
    qualname: str | Library, schema: str, *, lib: Library | None = None, tags: str | Iterable[str] = ()
) -> Callable[..., Any] | None:
    """Defines the operator `qualname` ("my::scale") with a schema that begins with the arguments:
    "(Tensor x, float by) -> Tensor"; for good, or with `lib`. With a Library in place of the name, `schema` has the
    name, and a decorator is given that registers the function for every backend (CompositeImplicitAutograd)."""
    if isinstance(qualname, Library):
        library = qualname
        name = library.define(schema, tags=tags)

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            library.impl(name, fn)
            return fn

        return register
    if not schema.lstrip().startswith("("):
        raise _C.ValueError(f"define('{qualname}'): the schema begins with the arguments, '(Tensor x) -> Tensor', for the "
                            f"name is given: '{schema}'")
    _library_for(_full_name(qualname), lib).define(qualname + schema.lstrip(), tags=tags)
    return None


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Library | None = None) -> Any:
    """Registers `func` as the kernel of an operator for device types ("cpu", ["cpu", "cuda"], "default" for all) or
    dispatch keys ("CPU", "AutogradCPU"); a decorator if func is not given. As PyTorch's first form, impl(library, name, key), it is a decorator too."""
    if isinstance(qualname, Library):

        def register_for_key(fn: Callable[..., Any]) -> Callable[..., Any]:
            qualname.impl(types, fn, func or "")
            return fn

        return register_for_key
    if types in (None, "default"):
        return register_kernel(qualname, None, func, lib=lib)
    names = [types] if isinstance(types, str) else list(types)
    keys = [name for name in names if _is_dispatch_key(name)]
    devices = [name for name in names if name not in keys]

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        name = _full_name(qualname)
        for key in keys:
            _library_for(name, lib).impl(name, fn, key)
        return fn if not devices else register_kernel(qualname, devices, fn, lib=lib)

    return register if func is None else register(func)


def _is_dispatch_key(name: Any) -> bool:
    try:
        _C.DispatchKey(name)
    except _C.Error:
        return False
    return True


def register_kernel(
    op: Any, device_types: DeviceTypes, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Any:
    """Registers a kernel of an operator (its name, an overload or a custom operator) for devices; None stands for all.
    A decorator if func is not given."""
    name = _full_name(op)
    custom = known_custom_op(name)

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        if custom is not None:
            return custom.register_kernel(device_types, fn)
        for key in keys_of_devices(device_types):
            _library_for(name, lib).impl(name, fn, key)
        return fn

    return register if func is None else register(func)


def register_fake(
    op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None, allow_override: bool = False
) -> Any:
    """Registers what gives an operator's results for meta tensors: shapes and dtypes, without data. A decorator if func
    is not given."""
    name = _full_name(op)
    custom = known_custom_op(name)

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        if custom is not None:
            return custom.register_fake(fn)
        _library_for(name, lib).impl(name, fn, "Meta", allow_override=allow_override)
        return fn

    return register if func is None else register(func)


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    """Registers the gradient of an operator: see CustomOpDef.register_autograd. The operator has kernels for devices,
    or gets them later; its kernel at Autograd becomes this one."""
    name = _full_name(op)
    custom = known_custom_op(name)
    if custom is not None:
        custom.register_autograd(backward, setup_context=setup_context)
    else:
        register_gradient(name, backward, setup_context, _library_for(name, lib))


def register_autocast(
    op: Any, device_type: str, cast_inputs: _C.dtype, /, *, lib: Library | None = None
) -> None:
    """Registers what autocast does with an operator's calls on devices of a type: floating tensors among the arguments
    but those of float64 are converted to `cast_inputs`. Raises keyway.TypeError for another dtype than float16, bfloat16
    and float32."""
    name = _full_name(op)
    custom = known_custom_op(name)
    if custom is not None:
        custom.register_autocast(device_type, cast_inputs)
    else:
        kernel = autocast_kernel(operator_function(name), device_type, cast_inputs)
        _library_for(name, lib).impl(name, kernel, f"Autocast{device_type.upper()}")


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None) -> Any:
    """Registers how vmap calls an operator for all examples at once; a decorator without `func`. Without a rule it is
    called for one example after the other.

    ``func(info, in_dims, *args, **kwargs)`` gets tensors of all examples, and returns results and their ``out_dims``.
    ``info.batch_size`` and ``info.randomness`` are those of the vmap; ``in_dims`` has the structure of ``args``, with
    None for what is the same for all.
    """
    name = _full_name(op)
    custom = known_custom_op(name)

    def register(rule: Callable[..., Any]) -> Callable[..., Any]:
        if custom is not None:
            custom.register_vmap(rule)
        else:
            check_kernel(name, rule, ["info", "in_dims"])
            _library_for(name, lib).impl(name, vmap_kernel(operator_function(name), rule, name), "Batched")
        return rule

    return register if func is None else register(func)
