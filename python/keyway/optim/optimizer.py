"""Optimizer: changes parameters by their gradients."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import defaultdict
from typing import Any, Callable, Iterable, Union

import keyway
from keyway._C import Tensor
from keyway._graphs.watched import add_optimizer, current as current_capture
from keyway.autograd.grad_mode import enable_grad, set_grad_enabled
from keyway.nn.modules._hooks import Hooks
from keyway.nn.modules.module import zero_grad_of
from keyway.optim._fused import check_may_make_state, is_captured
from keyway.optim._prepared import scalar
from keyway.utils.hooks import RemovableHandle

Params = Union[Iterable[Tensor], Iterable[dict[str, Any]], Iterable[tuple[str, Tensor]]]


class Optimizer:
    """The base of all optimizers.

    `params` are parameters, or groups of them: dicts with "params" and whichever options differ from `defaults`; in
    either place, pairs of names and parameters too, if all have names. A subclass defines _update(), which changes one
    parameter, or the parts of a complex one, and may define _update_fused(), which changes many; or it defines step().
    `state` holds what is remembered of each parameter.

    A subclass that puts an update in the place of another optimizer's also says:

    - who counts the steps. With `_counts_steps`, which all of this package's set but SGD, Muon and LBFGS, step() adds 1
      to state["step"] behind each update, which must have put a tensor there. A class whose update counts by itself, or
      not at all, sets `_counts_steps = False`.
    - what is fused. SGD, Adam and AdamW change most parameters in _update_fused(); the update gets those alone that it
      gives back: all, if the subclass returns list(group["params"]) there, or is made with fused=False.
    - whether a CUDA graph may have its steps, by `_may_be_captured`, which is False at first: see below.
    - `_NUMBERS`, the names of what a state holds that does not follow the parameter's dtype and device.

    An update that raises is no step: it is not counted, and a state that it began is dropped. What it changed of the
    parameter, or of a state that was there, stays, as in PyTorch; so it changes its numbers last.

    Options that optimizers have for PyTorch's sake change no result: `foreach`, as steps go over all parameters at once
    where they can, `capturable`, and `fused` where there is no fused operator. With `differentiable`, steps are
    recorded for autograd.

    Fused steps can be captured into a CUDA graph, and those of optimizers whose results do not depend on the number of
    the step: SGD, Adadelta, RMSprop, Rprop and Muon. The others keep that number on the host, where a replay does not
    change it: a capture refuses their steps, also with `capturable`. State is made before, by a first step.

    While `grad_scale` and `found_inf` are set, float32 numbers that GradScaler sets for a step, fused steps divide the
    gradients by the first, in place, and change nothing where the second is 1.
    """

    _NUMBERS: tuple[str, ...] = ("step",)  # what a state holds that is no part of a parameter
    _counts_steps = False  # whether state["step"] is their number, a tensor as the other numbers of a state are
    _FIXED: dict[str, Any] = {}  # options that no state changes
    _takes_complex = True
    _may_be_captured = False  # True: updates look at no number that stands on the host, such as that of the step
    _supports_amp_scaling: bool | None = None  # what _step_supports_amp_scaling was set to

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._begin()
        if isinstance(params, Tensor):
            raise TypeError("an optimizer takes an iterable of Tensors or dicts, not one Tensor")
        given: list[Any] = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        _check_options(defaults)
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "step" in vars(cls):
            cls.step = _with_hooks(vars(cls)["step"])  # type: ignore[method-assign]

    def _begin(self) -> None:
        """What is not saved with an optimizer: its hooks, and the number of its steps."""
        self._pre_hooks = Hooks()
        self._post_hooks = Hooks()
        self._state_dict_pre_hooks = Hooks()
        self._state_dict_post_hooks = Hooks()
        self._load_state_dict_pre_hooks = Hooks()
        self._load_state_dict_post_hooks = Hooks()
        self._step_count = 0
        self._is_in_step = False

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._begin()
        self.__dict__.update(state)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group of parameters that are trained alike: the dict itself, with the options that it lacks.

        Raises TypeError for what is no group or no Tensor; ValueError for a Tensor that was computed or is in a group,
        and where some parameters have names and others have none.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"a group of parameters is a dict, not {type(param_group).__name__}")
        params, names = _named(param_group["params"])
        others = {id(p) for group in self.param_groups for p in group["params"]}
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is "
                                f"{type(parameter).__name__}")
            if not parameter.is_leaf and not self.defaults.get("differentiable") and not parameter.retains_grad:
                raise ValueError("can't optimize a non-leaf Tensor")
        if any(id(parameter) in others for parameter in params):
            raise ValueError("some parameters appear in more than one parameter group")
        if len({id(parameter) for parameter in params}) < len(params):
            warnings.warn("optimizer contains a parameter group with duplicate parameters", stacklevel=3)
        if self.param_groups and ("param_names" in self.param_groups[0]) != (names is not None):
            raise ValueError("all optimizer param groups should be with names, or all without")
        param_group["params"] = params
        if names is not None:
            param_group["param_names"] = names
        for name, value in self.defaults.items():
            param_group.setdefault(name, value)
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or makes them zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                zero_grad_of(parameter, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes every parameter that has a gradient. `closure`, if given, computes the loss and the gradients first;
        its result is returned.

        Raises keyway.Error where `grad_scale` or `found_inf` is set, and one of these steps cannot be fused.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if self._is_scaled() and not self._takes_grad_scale():
            raise keyway.Error(f"{type(self).__name__}.step: grad_scale and found_inf are for fused steps of all "
                               "parameters, with dampening from the second one on")
        watched = current_capture()
        if watched is not None:
            add_optimizer(watched, self)
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            for group in self.param_groups:
                for parameter in self._update_fused(group):
                    if parameter.grad is None:
                        continue
                    self._check_capture(parameter, group)
                    state = self.state[parameter]
                    is_first = not state
                    if group.get("differentiable"):  # what steps before have saved of it is not changed
                        state.update({name: value.clone() for name, value in state.items()
                                      if isinstance(value, Tensor)})
                    update = self._update_parts if parameter.is_complex() else self._update
                    try:
                        update(parameter, parameter.grad, group, state)
                    except BaseException:  # one that raises is no step, and begins no state
                        if is_first:
                            del self.state[parameter]
                        raise
                    if self._counts_steps:
                        state["step"].add_(1)
                    if not state:
                        del self.state[parameter]
        return loss

    def _check_capture(self, parameter: Tensor, group: dict[str, Any]) -> None:
        """Raises keyway.Error where a step is captured that looks at its number, or that makes its state."""
        if not is_captured(parameter):
            return
        if not self._may_be_captured:
            raise keyway.Error(f"{type(self).__name__}: the number of the step stands on the host where steps are not "
                               "fused: they cannot be captured")
        if self._lacks_state(group, self.state.get(parameter, {})):
            check_may_make_state(parameter)

    def _lacks_state(self, group: dict[str, Any], state: dict[str, Any]) -> bool:
        """Whether the next step of a parameter makes something that it remembers."""
        return not state

    def _update_fused(self, group: dict[str, Any]) -> list[Tensor]:
        """Changes those of a group's parameters that one operator changes together, and gives the others back."""
        return list(group["params"])

    @property
    def _step_supports_amp_scaling(self) -> bool:
        """Whether GradScaler leaves it to step() to divide the gradients and to leave a step out. It does not where
        something else sees them before: a step() of a subclass, unless this sets it, and hooks."""
        if self._supports_amp_scaling is not None:
            return self._supports_amp_scaling
        return type(self).step is Optimizer.step and not self._pre_hooks and self._takes_grad_scale()

    @_step_supports_amp_scaling.setter
    def _step_supports_amp_scaling(self, value: bool) -> None:
        self._supports_amp_scaling = value

    def _takes_grad_scale(self) -> bool:
        """Whether the next step changes all parameters that have a gradient by operators that take `grad_scale` and
        `found_inf`."""
        return False

    def _is_scaled(self) -> bool:
        given = vars(self)
        return given.get("grad_scale") is not None or given.get("found_inf") is not None

    def _scaling_on(self, device: keyway.device) -> tuple[Tensor | None, Tensor | None]:
        """`grad_scale` and `found_inf` on a device."""
        grad_scale, found_inf = vars(self).get("grad_scale"), vars(self).get("found_inf")
        return (None if grad_scale is None else grad_scale.to(device),
                None if found_inf is None else found_inf.to(device))

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        """Changes `parameter` in place; called without recording. `state` is its own, empty at first; with
        `_counts_steps` its number of steps does not count this one yet."""
        raise keyway.NotImplementedError(f"{type(self).__name__} defines neither step() nor _update()")

    def _update_parts(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        """_update() for a complex parameter: of its real and imaginary parts, each by itself. Its state is complex."""
        if not self._takes_complex:
            raise keyway.Error(f"{type(self).__name__} does not support complex parameters")
        parts = keyway.view_as_real(parameter)
        given = {name: keyway.view_as_real(value) if isinstance(value, Tensor) and value.is_complex() else value
                 for name, value in state.items()}
        states = dict(given)
        self._update(parts, keyway.view_as_real(grad), group, states)
        for name, value in states.items():
            if value is not given.get(name):
                is_of_parts = isinstance(value, Tensor) and value.shape == parts.shape
                state[name] = keyway.view_as_complex(value) if is_of_parts else value

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(optimizer, args, kwargs) called before each step, with the arguments of step(), the optimizer first;
        a tuple of both that it returns replaces them."""
        return self._pre_hooks.add(hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(optimizer, args, kwargs) called after each step."""
        return self._post_hooks.add(hook)

    # ---- state -------------------------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has hook(optimizer) called before state_dict() reads the optimizer."""
        return self._state_dict_pre_hooks.add(hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has hook(optimizer, state_dict) called after state_dict(); what it returns, if not None, replaces the
        dict."""
        return self._state_dict_post_hooks.add(hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has hook(optimizer, state_dict) called before load_state_dict(); what it returns, if not None, replaces the
        dict."""
        return self._load_state_dict_pre_hooks.add(hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has hook(optimizer) called when load_state_dict() has changed the optimizer."""
        return self._load_state_dict_post_hooks.add(hook, prepend=prepend)

    def state_dict(self) -> dict[str, Any]:
        """{"state": of each parameter, by number, "param_groups": the options}; parameters are numbered over all
        groups. Tensors are shared."""
        for hook, _ in list(self._state_dict_pre_hooks.values()):
            hook(self)
        numbers: dict[int, int] = {}
        for parameter in self._all_parameters():
            numbers.setdefault(id(parameter), len(numbers))
        groups = [
            {**{k: v for k, v in group.items() if k != "params"}, "params": [numbers[id(p)] for p in group["params"]]}
            for group in self.param_groups
        ]
        saved: dict[str, Any] = {
            "state": {numbers.get(id(key), key): value for key, value in self.state.items()}, "param_groups": groups}
        for hook, _ in list(self._state_dict_post_hooks.values()):
            changed = hook(self, saved)
            saved = saved if changed is None else changed
        return saved

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state; its tensors are copied, to the dtypes and devices of the parameters, but numbers as
        that of steps as they are.

        Options that the state lacks are the defaults. Raises ValueError if the groups differ in number or size; then
        nothing has changed.
        """
        state_dict = state_dict.copy()
        for hook, _ in list(self._load_state_dict_pre_hooks.values()):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved_groups = state_dict["param_groups"]
        if len(saved_groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(self.param_groups, saved_groups)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                             "group")
        numbers = [number for group in saved_groups for number in group["params"]]
        parameter_of = dict(zip(numbers, self._all_parameters()))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for number, values in state_dict["state"].items():
            if number in parameter_of:
                parameter = parameter_of[number]
                state[parameter] = {name: self._loaded(name, value, parameter) for name, value in values.items()}
            else:
                state[number] = values
        self.state = state
        self.param_groups = [self._loaded_group(group, saved) for group, saved in zip(self.param_groups, saved_groups)]
        for hook, _ in list(self._load_state_dict_post_hooks.values()):
            hook(self)

    def _loaded_group(self, group: dict[str, Any], saved: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a group, with the options that were saved."""
        loaded = copy.deepcopy({name: value for name, value in saved.items() if name != "params"})
        if "param_names" in group:
            loaded.setdefault("param_names", group["param_names"])
        return {**self.defaults, **loaded, **self._FIXED, "params": group["params"]}

    def _loaded(self, name: str, value: Any, parameter: Tensor) -> Any:
        """A copy of what a state holds; numbers keep their dtype and device: a fused step moves that of steps."""
        if name not in self._NUMBERS:
            return _moved(value, parameter)
        if isinstance(value, Tensor):
            return value.detach().clone()
        return scalar(float(value)) if self._counts_steps else copy.deepcopy(value)

    def _all_parameters(self) -> list[Tensor]:
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def __repr__(self) -> str:
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            options = "".join(f"\n    {key}: {group[key]}" for key in sorted(group) if key != "params")
            text += f"\nParameter Group {i}{options}\n"
        return text + ")"


def _named(given: Any) -> tuple[list[Any], list[str] | None]:
    """The parameters of a group as a list, and their names if they have some."""
    if isinstance(given, (set, frozenset)):
        raise TypeError("parameters must be in a fixed order, as in a list, not in a set")
    params = [given] if isinstance(given, Tensor) else list(given)
    with_names = [isinstance(parameter, tuple) for parameter in params]
    if not any(with_names):
        return params, None
    if not all(with_names):
        raise ValueError("all optimizer params should be with names, or all without")
    return [parameter for _, parameter in params], [str(name) for name, _ in params]


def _check_options(options: dict[str, Any]) -> None:
    """Raises for options that exclude each other."""
    if options.get("fused") and options.get("foreach"):
        raise keyway.Error("`fused` and `foreach` cannot be `True` together")
    if options.get("fused") and options.get("differentiable"):
        raise keyway.Error("`fused` does not support `differentiable`")


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step() with the hooks of steps around it; where one calls another, those of the outer."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if getattr(self, "_is_in_step", True):  # a wrapper that did not call Optimizer.__init__ has no hooks
            return step(self, *args, **kwargs)
        given: tuple[Any, ...] = (self, *args)
        for hook, _ in list(self._pre_hooks.values()):
            changed = hook(self, given, kwargs)
            if isinstance(changed, tuple) and len(changed) == 2:
                given, kwargs = changed
            elif changed is not None:
                raise keyway.Error("a step pre-hook returns None or a tuple of the new arguments and the new keywords, "
                                   f"not {changed}")
        self._is_in_step = True
        try:
            result = step(*given, **kwargs)
        finally:
            self._is_in_step = False
        self._step_count += 1
        for hook, _ in list(self._post_hooks.values()):
            hook(self, given, kwargs)
        return result

    return hooked


Optimizer.step = _with_hooks(Optimizer.step)  # type: ignore[method-assign]


def _moved(value: Any, parameter: Tensor) -> Any:
    """A copy of what a state holds; tensors, also those in lists and dicts, are where the parameter is."""
    if isinstance(value, dict):
        return {name: _moved(part, parameter) for name, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_moved(part, parameter) for part in value)
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    value = value.detach()
    if not parameter.is_floating_point():
        return value.to(device=parameter.device, copy=True)
    return value.to(device=parameter.device, dtype=parameter.dtype, copy=True)


def check_not_negative(**options: float) -> None:
    """Raises ValueError for a negative option."""
    for name, value in options.items():
        if not value >= 0:
            raise ValueError(f"Invalid {name} value: {value}; it must not be negative")
