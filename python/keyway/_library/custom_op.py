"""custom_op: an operator made of a Python function, and what is registered to it afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from keyway import _C
from keyway._autocast import autocast_kernel
from keyway._library.gradient_kernel import GradientFormula, GradientKernel
from keyway._library.infer_schema import gives_tuple_of_one, infer_schema
from keyway._library.ops import operator_function
from keyway._library.registrations import Library
from keyway._library.schema import Schema, as_list
from keyway._library.signatures import check_kernel
from keyway._transforms.vmap import vmap_kernel

DeviceTypes = str | Sequence[str] | None

_custom_ops: dict[str, CustomOpDef] = {}


def keys_of_devices(device_types: DeviceTypes) -> list[str]:
    """The dispatch keys of kernels for these devices; for all of them, if they are None."""
    if device_types is None:
        return ["CompositeExplicitAutograd"]
    names = [device_types] if isinstance(device_types, str) else list(device_types)
    return [_key_of_device(_C.device(name).type) for name in names]


def _key_of_device(device_type: str) -> str:
    return "Meta" if device_type == "meta" else _C.DispatchKey(device_type.upper()).name


class CustomOpDef:
    """An operator that custom_op made. Called as a function; keyway.ops.<namespace>.<name> is the same operator."""

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable[..., Any]) -> None:
        self._namespace = namespace
        self._name = name
        self._qualname = f"{namespace}::{name}"
        self._definition = name + schema
        self._init_fn = fn
        self._fake_fn: Callable[..., Any] | None = None
        self._gives_tuple_of_one = False
        self._formula: GradientFormula | None = None
        self.__doc__ = fn.__doc__
        self.__name__ = name
        # By dispatch key, with what Library.impl is to know: what is registered again where the operator comes back.
        self._kernels: dict[str, tuple[Callable[..., Any], dict[str, bool]]] = {}
        self._lib: Library = Library(namespace, "FRAGMENT")

    def _take_its_name(self, complete: Callable[[], Any]) -> None:
        """Defines the operator and calls `complete`, which registers what it needs. The operator of that name goes; it
        is there again where that fails. Raises keyway.RegistrationError from inside one of its kernels."""
        before = _custom_ops.get(self._qualname)
        if before is not None:
            before._retire()
        _custom_ops[self._qualname] = self
        try:
            self._install()
            complete()
        except BaseException:
            self._lib.destroy()
            del _custom_ops[self._qualname]
            if before is not None:
                _custom_ops[self._qualname] = before
                before._install()
            raise

    def _install(self) -> None:
        """Defines the operator, with all that has been registered to it."""
        self._lib.define(self._definition)
        self._opoverload = operator_function(self._qualname)
        self._schema = Schema(self._opoverload)
        self._schema.gives_tuple_of_one = self._gives_tuple_of_one
        self._gives_list = self._schema.gives_list
        self._gradient = GradientKernel(self._opoverload, self._schema, self._formula)
        self._gradient.register(self._lib)
        self._lib.impl(self._qualname, self._fake_kernel, "Meta")
        if self._schema.mutated:
            self._lib.impl(self._qualname, self._count_changes, "ADInplaceOrView", with_keyset=True)
        self._register_again()

    def _register_again(self) -> None:
        for key, (kernel, options) in self._kernels.items():
            self._lib.impl(self._qualname, kernel, key, allow_override=True, **options)

    def _retire(self) -> None:
        try:
            self._lib.destroy()
        except _C.RegistrationError:
            self._register_again()  # of its registrations the latest may have gone
            raise

    def _impl(self, kernel: Callable[..., Any], key: str, **options: bool) -> None:
        self._check_is_current()
        self._lib.impl(self._qualname, kernel, key, allow_override=True, **options)
        self._kernels[key] = kernel, options

    def _check_is_current(self) -> None:
        """What is registered to a definition that another one has replaced would serve that one."""
        if _custom_ops.get(self._qualname) is not self:
            raise _C.RegistrationError(
                f"{self._qualname} was defined again since: register to what custom_op returned then"
            )

    def _fake_kernel(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._fake_fn is not None:
            return self._schema.result_of(self._fake_fn, args, kwargs)
        if self._schema.mutated and not self._schema.returns:
            return None
        raise _C.NotImplementedError(
            f"{self._qualname} has no kernel for meta tensors: @{self.__name__}.register_fake gives it one"
        )

    def _count_changes(self, keys: _C.DispatchKeySet, /, *args: Any, **kwargs: Any) -> Any:
        """Tells autograd that tensors were changed, whatever the kernel changed them with."""
        result = self._opoverload.redispatch(keys & _C.DispatchKeySet.full_after("ADInplaceOrView"), *args, **kwargs)
        for tensor in self._schema.mutated_tensors(args, kwargs):
            _C._bump_version(tensor)
        return result

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        result = self._opoverload(*args, **kwargs)
        if self._gives_tuple_of_one:
            return (result,)
        return as_list(result) if self._gives_list else result

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types: DeviceTypes, fn: Callable[..., Any] | None = None, /) -> Callable[..., Any]:
        """Registers an implementation for devices ("cpu", ["cpu", "cuda"]; None: all), in place of the one before; a
        decorator if fn is not given. Results must not share memory with arguments or with each other. Raises
        keyway.ValueError for devices of an operator that no call tells a device: one without a tensor and a device among
        its arguments."""

        def register(kernel: Callable[..., Any]) -> Callable[..., Any]:
            types = [p.type for p in self._schema.parameters]
            if device_types is not None and not any(text.startswith(("Tensor", "Device")) for text in types):
                raise _C.ValueError(
                    f"{self._qualname} takes neither a tensor nor a device: nothing says on which device it is called. "
                    "Leave out device_types, or give it an argument of the type keyway.device"
                )
            checked = self._schema.refusing_aliases(self._qualname, kernel)
            for key in keys_of_devices(device_types):
                self._impl(checked, key)
            return kernel

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Registers what gives the results for meta tensors: their shapes and dtypes, without data. A decorator."""
        self._check_is_current()
        check_kernel(self._qualname, fn)
        self._fake_fn = fn
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Registers the gradient. backward(ctx, *grads) gives a gradient, or None, for each positional argument (of a list
        of tensors, a list; of a list of lists, one of lists), and as many as there are, which is checked;
        setup_context(ctx, inputs, output) saves what it needs; with keyword-only arguments,
        setup_context(ctx, inputs, keyword_only_inputs, output). Raises keyway.Error for an operator that writes to its
        arguments."""
        self._check_is_current()
        self._formula = self._gradient.formula = GradientFormula(self._schema, backward, setup_context)

    def register_autocast(self, device_type: str, cast_inputs: _C.dtype, /) -> None:
        """Registers what autocast does with calls on devices of the type: floating tensors among the arguments but those
        of float64 are converted to `cast_inputs`. Raises keyway.TypeError for another dtype than float16, bfloat16 and
        float32."""
        kernel = autocast_kernel(self._opoverload, device_type, cast_inputs)
        self._impl(kernel, f"Autocast{device_type.upper()}")

    def register_vmap(self, func: Callable[..., Any] | None = None, /) -> Any:
        """Registers how vmap calls it for all examples at once; a decorator without `func`. See
        keyway.library.register_vmap."""

        def register(rule: Callable[..., Any]) -> Callable[..., Any]:
            check_kernel(self._qualname, rule, ["info", "in_dims"])
            self._impl(vmap_kernel(self._opoverload, rule, self._qualname), "Batched")
            return rule

        return register if func is None else register(func)


def known_custom_op(name: str) -> CustomOpDef | None:
    """The custom operator of that full name."""
    return _custom_ops.get(name)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: Iterable[str] | Literal["unknown"],
    device_types: DeviceTypes = None,
    schema: str | None = None,
) -> Any:
    """Makes the operator `name` ("my::scale") of a function; a decorator if fn is not given.

    `mutates_args` names the arguments that it writes to; `device_types` says where it may be called (None: on every
    device but meta); `schema` is "(Tensor x, float by) -> Tensor", or read off the type hints (infer_schema). The same
    name made again replaces the operator, but not from inside one of its kernels, and not where making it fails. A gradient is an error in backward until register_autograd gives one, and
    meta tensors are until register_fake does.

    >>> @keyway.library.custom_op("my::scale", mutates_args=())
    ... def scale(x: keyway.Tensor, by: float) -> keyway.Tensor:
    ...     return x.mul(by)
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        namespace, colons, short = str(name).partition("::")
        if not (colons and namespace.isidentifier() and short.isidentifier()):
            raise _C.ValueError(f"custom_op('{name}'): the name of an operator is 'namespace::name'")
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema.strip()
        if not text.startswith("("):
            raise _C.ValueError(f"custom_op('{name}'): a schema begins with its arguments: '(Tensor x) -> Tensor'")
        made = CustomOpDef(namespace, short, text, function)
        made._gives_tuple_of_one = schema is None and gives_tuple_of_one(function)

        def complete() -> None:
            if schema is not None:
                made._schema.check_mutates_args(name, mutates_args)
            made.register_kernel(device_types, function)

        made._take_its_name(complete)
        return made

    return make if fn is None else make(fn)
