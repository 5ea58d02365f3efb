"""Optimizer: changes parameters by their gradients."""

from __future__ import annotations

import copy
import functools
from collections import defaultdict
from typing import Any, Callable, Iterable, TypeVar, Union, cast

import keyway
from keyway._C import Tensor
from keyway.autograd.grad_mode import enable_grad, no_grad
from keyway.nn.modules._hooks import Hooks
from keyway.nn.modules.module import zero_grad_of
from keyway.utils.hooks import RemovableHandle

Params = Union[Iterable[Tensor], Iterable[dict[str, Any]]]


Step = TypeVar("Step", bound=Callable[..., Any])


def _with_hooks(step: Step) -> Step:
    """A step() with the optimizer's hooks around it: around the outermost one, where one calls another's."""

    @functools.wraps(step)
    def stepped(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if self._is_stepping:
            return step(self, *args, **kwargs)
        args = (self, *args)
        for hook, _ in list(self._pre_hooks.values()):
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise keyway.Error(f"a hook before {step.__qualname__} must return None or a tuple of (new_args, "
                                   f"new_kwargs), but got {changed}.")
            args, kwargs = changed
        self._is_stepping = True
        try:
            result = step(*args, **kwargs)
        finally:
            self._is_stepping = False
        self._step_count += 1
        for hook, _ in list(self._post_hooks.values()):
            hook(self, args, kwargs)
        return result

    return cast(Step, stepped)


class Optimizer:
    """The base of all optimizers.

    `params` are parameters, or pairs of names and parameters, or groups of them: dicts with "params" and whichever
    options differ from `defaults`. Names are "param_names" of their group. A subclass defines _update(), which changes
    one parameter, and may define _update_fused(), which changes many. `state` holds what is remembered of each
    parameter.
    """

    _takes_complex = True
    _is_stepping = False

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._pre_hooks = Hooks()
        self._post_hooks = Hooks()
        self._state_hooks = {when: Hooks() for when in ("before", "after", "before load", "after load")}
        self._step_count = 0
        if isinstance(params, Tensor):
            raise TypeError("an optimizer takes an iterable of Tensors or dicts, not one Tensor")
        given: list[Any] = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group of parameters that are trained alike.

        Raises TypeError for what is no group or no Tensor; ValueError for a Tensor that was computed, or is in a group.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"a group of parameters is a dict, not {type(param_group).__name__}")
        given = param_group["params"]
        if isinstance(given, (set, frozenset)):
            raise TypeError("parameters must be in a fixed order, as in a list, not in a set")
        params = [given] if isinstance(given, Tensor) else list(given)
        names = [entry[0] for entry in params if isinstance(entry, tuple)]
        if names and len(names) != len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        if any(("param_names" in group) != bool(names) for group in self.param_groups):
            raise ValueError("all optimizer param groups should be with/without names")
        params = [entry[1] for entry in params] if names else params
        seen = {id(p) for group in self.param_groups for p in group["params"]}
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is "
                                f"{type(parameter).__name__}")
            if not parameter.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(parameter) in seen:
                raise ValueError("some parameters appear in more than one place of the parameter groups")
            seen.add(id(parameter))
        named = {"param_names": names} if names else {}
        self.param_groups.append({**self.defaults, **param_group, "params": params, **named})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or makes them zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                zero_grad_of(parameter, set_to_none)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in vars(cls):
            cls.step = _with_hooks(vars(cls)["step"])  # type: ignore[method-assign]

    @_with_hooks
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes every parameter that has a gradient. `closure`, if given, computes the loss and the gradients first;
        its result is returned."""
        with no_grad():
            return self._step(closure)

    def _step(self, closure: Callable[[], Any] | None) -> Any:
        """What step() does between the hooks; called without recording."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in self._update_fused(group):
                if parameter.grad is None:
                    continue
                if parameter.is_complex():
                    self._update_complex(parameter, parameter.grad, group, self.state[parameter])
                else:
                    self._update(parameter, parameter.grad, group, self.state[parameter])
        return loss

    def _update_complex(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        """Changes real and imaginary parts as a real parameter of twice as many elements. Its state is complex."""
        if not self._takes_complex:
            raise keyway.Error(f"{type(self).__name__} does not support complex parameters")
        parts = keyway.view_as_real(parameter)
        real = {name: keyway.view_as_real(value) if isinstance(value, Tensor) and value.is_complex() else value
                for name, value in state.items()}
        self._update(parts, keyway.view_as_real(grad), group, real)
        for name, value in real.items():
            is_like = isinstance(value, Tensor) and value.shape == parts.shape
            state[name] = keyway.view_as_complex(value) if is_like else value

    def _update_fused(self, group: dict[str, Any]) -> list[Tensor]:
        """Changes those of a group's parameters that one operator changes together, and gives the others back."""
        return list(group["params"])

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        """Changes `parameter` in place; called without recording. `state` is its own, empty at first."""
        raise keyway.NotImplementedError(f"{type(self).__name__} defines neither step() nor _update()")

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(optimizer, args, kwargs) called before each step, with the arguments of step(), of which the first
        is the optimizer. It may return a tuple of other ones."""
        return self._pre_hooks.add(hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(optimizer, args, kwargs) called after each step."""
        return self._post_hooks.add(hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has hook(optimizer) called before state_dict()."""
        return self._state_hooks["before"].add(hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has hook(optimizer, state_dict) called with what state_dict() has made; what it returns, if not None,
        replaces it."""
        return self._state_hooks["after"].add(hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has hook(optimizer, state_dict) called with a shallow copy of what load_state_dict() is given; what it
        returns, if not None, is loaded instead."""
        return self._state_hooks["before load"].add(hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Has hook(optimizer) called after load_state_dict()."""
        return self._state_hooks["after load"].add(hook, prepend=prepend)

    # ---- state -------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """{"state": of each parameter, by number, "param_groups": the options}; parameters are numbered over all
        groups. Tensors are shared."""
        for hook, _ in list(self._state_hooks["before"].values()):
            hook(self)
        numbers = {id(p): i for i, p in enumerate(self._all_parameters())}
        groups = [
            {**{k: v for k, v in group.items() if k != "params"}, "params": [numbers[id(p)] for p in group["params"]]}
            for group in self.param_groups
        ]
        states = {"state": {numbers[id(p)]: state for p, state in self.state.items()}, "param_groups": groups}
        return self._changed_state("after", states)

    def _changed_state(self, when: str, states: dict[str, Any]) -> dict[str, Any]:
        """A state after hooks have seen it."""
        for hook, _ in list(self._state_hooks[when].values()):
            changed = hook(self, states)
            states = states if changed is None else changed
        return states

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state; its tensors are copied, to the dtypes and devices of the parameters.

        Raises ValueError if the groups differ in number or size; then nothing has changed.
        """
        state_dict = self._changed_state("before load", dict(state_dict))
        saved_groups = state_dict["param_groups"]
        if len(saved_groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(self.param_groups, saved_groups)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                             "group")
        numbers = [number for group in saved_groups for number in group["params"]]
        parameter_of = dict(zip(numbers, self._all_parameters()))
        state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        for number, values in state_dict["state"].items():
            parameter = parameter_of[number]
            state[parameter] = {name: _loaded(name, value, parameter) for name, value in values.items()}
        self.state = state
        self.param_groups = [
            {**copy.deepcopy({k: v for k, v in saved.items() if k != "params"}), "params": group["params"]}
            for group, saved in zip(self.param_groups, saved_groups)
        ]
        for hook, _ in list(self._state_hooks["after load"].values()):
            hook(self)

    def _all_parameters(self) -> list[Tensor]:
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def __repr__(self) -> str:
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            options = "".join(f"\n    {key}: {group[key]}" for key in sorted(group) if key != "params")
            text += f"\nParameter Group {i}{options}\n"
        return text + ")"


def _loaded(name: str, value: Any, parameter: Tensor) -> Any:
    """A copy of what a state holds; numbers of steps keep their dtype and stay on the host."""
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    value = value.detach()
    if name == "step" or not parameter.is_floating_point():
        return value.clone()
    return value.to(device=parameter.device, dtype=parameter.dtype, copy=True)


def ways(**options: bool | None) -> dict[str, bool | None]:
    """The options that say how a step is computed, not what: `foreach`, `fused`, `capturable`, `differentiable`.

    `foreach` changes nothing. Raises keyway.NotImplementedError for capturable=True and differentiable=True, which are
    not there, and keyway.Error where `foreach` and `fused` are both true.
    """
    for name in ("capturable", "differentiable"):
        if options.get(name):
            raise keyway.NotImplementedError(f"{name}=True is not there: steps are neither captured nor differentiated")
    if options.get("fused") and options.get("foreach"):
        raise keyway.Error("`fused` and `foreach` cannot be `True` together.")
    return options


def check_not_negative(**options: float) -> None:
    """Raises ValueError for a negative option."""
    for name, value in options.items():
        if not value >= 0:
            raise ValueError(f"Invalid {name} value: {value}; it must not be negative")
