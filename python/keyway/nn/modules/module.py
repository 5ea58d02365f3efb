"""Module: what has parameters and a forward()."""

from __future__ import annotations

from typing import Any, Callable, ClassVar, TypeVar

import keyway
from keyway import _C
from keyway._backends import with_device_methods
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.nn.modules._backward_hooks import BackwardHooks
from keyway.nn.modules._hooks import Hooks
from keyway.nn.modules._state import State
from keyway.nn.parameter import is_lazy
from keyway.utils.hooks import RemovableHandle

M = TypeVar("M", bound="Module")

listener: Callable[[Module], None] | None = None  # told of each call, while a thread is in a capture


@with_device_methods
class Module(State):
    """The base of all layers and models.

    A subclass calls super().__init__() first, makes its parameters and submodules attributes, and defines forward().
    A call of the module calls forward() with the hooks around it.
    """

    _shown_members: ClassVar[tuple[str, ...]] = ()  # members that stand in the module's text with their names
    training: bool
    _forward_pre_hooks: Hooks
    _forward_hooks: Hooks
    _backward_pre_hooks: Hooks
    _backward_hooks: Hooks
    _always_called: set[int]
    _was_hooked = False  # there is or was a hook of calls

    def __init__(self) -> None:
        super().__init__()
        self.__dict__.update(training=True, _forward_pre_hooks=Hooks(), _forward_hooks=Hooks(),
                             _backward_pre_hooks=Hooks(), _backward_hooks=Hooks(), _always_called=set[int]())

    # ---- calls -------------------------------------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; to be defined by each subclass."""
        raise keyway.NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if listener is not None:
            listener(self)
        if not self._was_hooked:
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called = set[int]()
        try:
            args, kwargs = self._run_pre_hooks(args, kwargs)
            around = self._hooks_of_backward()
            if around is not None:
                args = around.around_inputs(args)
            result = self.forward(*args, **kwargs)
            for number, (hook, with_kwargs) in list(self._forward_hooks.items()):
                called.add(number)
                changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
                result = result if changed is None else changed
            return result if around is None else around.around_results(result)
        except Exception:
            for number in [n for n in self._forward_hooks if n in self._always_called and n not in called]:
                hook, with_kwargs = self._forward_hooks[number]
                hook(self, args, kwargs, None) if with_kwargs else hook(self, args, None)
            raise

    def _run_pre_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for hook, with_kwargs in list(self._forward_pre_hooks.values()):
            changed = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if changed is None:
                continue
            if not with_kwargs:
                args = changed if isinstance(changed, tuple) else (changed,)
            elif isinstance(changed, tuple) and len(changed) == 2:
                args, kwargs = changed
            else:
                raise keyway.TypeError("a forward pre-hook with keywords returns None or a tuple of the new arguments "
                                       f"and the new keywords, not {type(changed).__name__}")
        return args, kwargs

    def _hooks_of_backward(self) -> BackwardHooks | None:
        """What calls the hooks of backward for one call of the module; None without such hooks."""
        if not self._backward_hooks and not self._backward_pre_hooks:
            return None
        return BackwardHooks(self, [hook for hook, _ in self._backward_pre_hooks.values()],
                             [hook for hook, _ in self._backward_hooks.values()])

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has hook(module, grad_outputs) called when the gradients of the results have been computed; what it returns,
        if not None, replaces them."""
        self._was_hooked = True
        return self._backward_pre_hooks.add(hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has hook(module, grad_inputs, grad_outputs) called when the gradients of the positional arguments have been
        computed; what it returns, if not None, replaces these. Where no argument requires grad, it is called with None
        for each, and returns None."""
        self._was_hooked = True
        return self._backward_hooks.add(hook, prepend=prepend)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Has hook(module, args) called before each forward(); what it returns, if not None, replaces the positional
        arguments. With `with_kwargs` it is hook(module, args, kwargs) and returns both."""
        self._was_hooked = True
        return self._forward_pre_hooks.add(hook, prepend=prepend, with_kwargs=with_kwargs)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Has hook(module, args, result) called after each forward(); what it returns, if not None, replaces the
        result. With `with_kwargs` it is hook(module, args, kwargs, result). With `always_call` it is called, with None
        as the result, where forward() raised as well."""
        self._was_hooked = True
        handle = self._forward_hooks.add(hook, prepend=prepend, with_kwargs=with_kwargs)
        if always_call:
            self._always_called.add(handle.id)
        return handle

    # ---- all modules below -------------------------------------------------------------------------------------------

    def apply(self: M, fn: Callable[[Module], Any]) -> M:
        """Calls `fn` with every module below and this one, children first."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self: M, mode: bool = True) -> M:
        """Says whether the module is being trained: what dropout and its like look at."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: M) -> M:
        """train(False)."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Says whether gradients flow to the parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or makes them zero."""
        for parameter in self.parameters():
            zero_grad_of(parameter, set_to_none)

    # ---- dtype and device --------------------------------------------------------------------------------------------

    def _apply(self: M, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> M:
        """Replaces the data of parameters and their gradients, and the buffers, by what `fn` makes of them. The
        parameters stay the objects they are."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        with no_grad():
            for parameter in self._parameters.values():
                if parameter is None:
                    continue
                grad = parameter.grad
                parameter.grad = None
                parameter.set_data(fn(parameter))
                if grad is not None:
                    grad.set_data(fn(grad))
                    parameter.grad = grad
            for name, buffer in self._buffers.items():
                if buffer is None:
                    continue
                if is_lazy(buffer):
                    buffer.set_data(fn(buffer))
                else:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self: M, *args: Any, **kwargs: Any) -> M:
        """Moves parameters and buffers, in place: to(device), to(dtype), to(device, dtype), to(tensor), and
        non_blocking=. The dtype is that of floating-point and complex members; others keep theirs."""
        wanted = _conversion(*args, **kwargs)
        dtype = wanted.pop("dtype", None)
        target = wanted.get("device")
        if target is not None and _C.device(target).type != "meta" and any(
                tensor.is_meta for tensor in (*self.parameters(), *self.buffers())):
            raise keyway.NotImplementedError("Module.to: there is no data to move from the meta device; to_empty() "
                                             "gives members there without values")
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise keyway.TypeError(f"Module.to takes floating-point and complex dtypes only, not {dtype}")

        def convert(tensor: Tensor) -> Tensor:
            takes_dtype = tensor.is_floating_point() or tensor.is_complex()
            return tensor.to(dtype=dtype if takes_dtype else None, **wanted)

        return self._apply(convert)

    def to_empty(self: M, *, device: Any, recurse: bool = True) -> M:
        """Moves parameters and buffers to a device, in place, without their values: what they hold then is not said."""
        return self._apply(lambda tensor: keyway.empty_like(tensor, device=device), recurse=recurse)

    def type(self: M, dst_type: _C.dtype) -> M:
        """Converts all parameters and buffers to a dtype."""
        return self._apply(lambda tensor: tensor.to(dtype=dst_type))

    def float(self: M) -> M:
        """Converts floating-point parameters and buffers to float32."""
        return self._to_floating(_C.float32)

    def double(self: M) -> M:
        """Converts floating-point parameters and buffers to float64."""
        return self._to_floating(_C.float64)

    def half(self: M) -> M:
        """Converts floating-point parameters and buffers to float16."""
        return self._to_floating(_C.float16)

    def bfloat16(self: M) -> M:
        """Converts floating-point parameters and buffers to bfloat16."""
        return self._to_floating(_C.bfloat16)

    def _to_floating(self: M, dtype: _C.dtype) -> M:
        return self._apply(lambda tensor: tensor.to(dtype=dtype) if tensor.is_floating_point() else tensor)

    def cpu(self: M) -> M:
        """Moves parameters and buffers to the host's memory."""
        return self.to("cpu")

    def cuda(self: M, device: Any = None) -> M:
        """Moves parameters and buffers to a CUDA device."""
        return self.to("cuda" if device is None else device)

    # ---- text --------------------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What stands between the brackets of the module's text, besides its submodules."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in self._shown_members)

    def _unusual_members(self, **usual: Any) -> str:
        """", name=value" of each of these members that has not its usual value."""
        values = {name: getattr(self, name) for name in usual}
        return "".join(f", {name}={value}" for name, value in values.items() if value != usual[name])

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


def zero_grad_of(parameter: Tensor, set_to_none: bool) -> None:
    """Drops a gradient; or makes it zero, and if it has a history, another tensor without one."""
    if set_to_none or parameter.grad is None:
        parameter.grad = None
        return
    if parameter.grad.is_leaf and not parameter.grad.requires_grad:
        parameter.grad.zero_()
    else:
        parameter.grad = keyway.zeros_like(parameter.grad.detach())


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _conversion(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """The keywords of Tensor.to for what Module.to was given."""
    known = {"device", "dtype", "non_blocking", "tensor", "memory_format"}
    if set(kwargs) - known:
        raise keyway.TypeError(f"Module.to got an unexpected keyword argument '{min(set(kwargs) - known)}'")
    wanted = {name: value for name, value in kwargs.items() if value is not None}
    rest = list(args)
    like = wanted.pop("tensor", None)
    if rest and isinstance(rest[0], Tensor):
        like = rest.pop(0)
    if like is not None:
        wanted.update(device=like.device, dtype=like.dtype)
    elif rest and not isinstance(rest[0], _C.dtype):
        device = rest.pop(0)
        if device is not None:
            wanted["device"] = _C.device(device)
    if rest and (rest[0] is None or isinstance(rest[0], _C.dtype)):
        dtype = rest.pop(0)
        if dtype is not None:
            wanted["dtype"] = dtype
    if rest and isinstance(rest[0], bool):
        wanted["non_blocking"] = rest.pop(0)
    if rest:
        raise keyway.TypeError(f"Module.to does not take {type(rest[0]).__name__} there")
    return wanted
