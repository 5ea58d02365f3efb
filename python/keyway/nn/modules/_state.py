"""State: a module's parameters and persistent buffers as a dictionary, and back."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import Any, Callable, Iterator, Mapping, NamedTuple

import keyway
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.nn.modules._hooks import Hooks
from keyway.nn.modules._members import Members
from keyway.nn.parameter import Parameter, is_lazy
from keyway.utils.hooks import RemovableHandle

_EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """What load_state_dict did not find, and what it found no place for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class State(Members):
    """What of a module is saved and loaded."""

    def __init__(self) -> None:
        super().__init__()
        self._state_dict_pre_hooks = Hooks()
        self._state_dict_hooks = Hooks()
        self._load_state_dict_pre_hooks = Hooks()
        self._load_state_dict_post_hooks = Hooks()

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(module, prefix, keep_vars) called before state_dict() looks at this module."""
        return self._state_dict_pre_hooks.add(hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(module, state_dict, prefix, local_metadata) called when state_dict() has put in this module and all
        below it; it may change the dictionary."""
        return self._state_dict_hooks.add(hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        called before this module loads; it may change the dictionary, which is a copy, and the lists."""
        return self._load_state_dict_pre_hooks.add(hook, with_kwargs=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any],
                                           with_module: bool = False) -> RemovableHandle:
        """As register_load_state_dict_pre_hook, without the module unless `with_module`."""
        return self._load_state_dict_pre_hooks.add(hook, with_kwargs=with_module)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(module, incompatible_keys) called when this module and all below it have loaded; it may change the
        lists of names."""
        return self._load_state_dict_post_hooks.add(hook)

    def get_extra_state(self) -> Any:
        """What state_dict() is to hold besides tensors. A class that has some overrides this and set_extra_state."""
        raise keyway.NotImplementedError(f"{type(self).__name__} has no extra state: get_extra_state is not overridden")

    def set_extra_state(self, state: Any) -> None:
        """Takes what get_extra_state gave."""
        raise keyway.NotImplementedError(f"{type(self).__name__} has no extra state: set_extra_state is not overridden")

    def state_dict(
        self, *, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """All parameters and persistent buffers by their full names, in the order of the modules.

        They share memory with the module's, and have no history unless `keep_vars` is true. They are put into
        `destination` if there is one.
        """
        into: dict[str, Any] = OrderedDict() if destination is None else destination
        for hook, _ in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(into, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=into, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook, _ in list(self._state_dict_hooks.values()):
            if hook(self, into, prefix, {}) is not None:
                raise keyway.Error("state_dict post-hook must return None")
        return into

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Adds this module's own state. To be overridden by a class whose state is more than its members."""
        for name, tensor in self._own_state():
            destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()
        if self._has_extra_state():
            destination[prefix + _EXTRA] = self.get_extra_state()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True,
                        assign: bool = False) -> IncompatibleKeys:
        """Copies what `state_dict` holds into the members of the same names; with `assign`, they become the members.

        Raises keyway.Error, listing everything that does not fit: wrong shapes and types, and if `strict`, missing and
        unexpected names. What fits has been copied then.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"load_state_dict takes a dict, not {type(state_dict).__name__}")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        self._load(dict(state_dict), "", assign, strict, missing, unexpected, errors)
        if strict and unexpected:
            errors.insert(0, "Unexpected key(s) in state_dict: " + ", ".join(f'"{key}"' for key in unexpected) + ".")
        if strict and missing:
            errors.insert(0, "Missing key(s) in state_dict: " + ", ".join(f'"{key}"' for key in missing) + ".")
        if errors:
            raise keyway.Error(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return IncompatibleKeys(missing, unexpected)

    def _load(self, state: dict[str, Any], prefix: str, assign: bool, strict: bool, missing: list[str],
              unexpected: list[str], errors: list[str]) -> None:
        metadata = {"assign_to_params_buffers": assign}
        self._load_from_state_dict(state, prefix, metadata, strict, missing, unexpected, errors)
        for name, module in self._modules.items():
            if module is not None:
                module._load(state, f"{prefix}{name}.", assign, strict, missing, unexpected, errors)
        for hook, _ in list(self._load_state_dict_post_hooks.values()):
            if hook(self, IncompatibleKeys(missing, unexpected)) is not None:
                raise keyway.Error("Hooks registered with register_load_state_dict_post_hook change the keys in place "
                                   "and return None")

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any],
                              strict: bool,
                              missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str]) -> None:
        """Takes this module's own state. To be overridden together with _save_to_state_dict."""
        for hook, with_module in list(self._load_state_dict_pre_hooks.values()):
            hook(*([self] if with_module else []), state_dict, prefix, local_metadata, strict, missing_keys,
                 unexpected_keys, error_msgs)
        for name, tensor in self._own_state():
            if prefix + name not in state_dict:
                missing_keys.append(prefix + name)
                continue
            why = self._load_member(name, tensor, state_dict[prefix + name], local_metadata)
            if why:
                error_msgs.append(f'"{prefix}{name}": {why}')
        if self._has_extra_state() and prefix + _EXTRA in state_dict:
            self.set_extra_state(state_dict[prefix + _EXTRA])
        elif self._has_extra_state():
            missing_keys.append(prefix + _EXTRA)
        unexpected_keys.extend(key for key in state_dict if self._is_unexpected(key, prefix))

    def _is_unexpected(self, key: str, prefix: str) -> bool:
        """Whether a key under this module's prefix names neither a member nor something in a submodule."""
        if not key.startswith(prefix):
            return False
        first, dot, _ = key[len(prefix):].partition(".")
        if dot:
            return self._modules.get(first) is None
        if first == _EXTRA:
            return not self._has_extra_state()
        return all(first != name for name, _ in self._own_state())

    def _load_member(self, name: str, member: Tensor, value: Any, metadata: dict[str, Any]) -> str:
        """Takes one value; returns why not, or nothing."""
        if not isinstance(value, Tensor):
            return f"the state has a {type(value).__name__} where a Tensor is expected"
        if is_lazy(value):
            return "" if is_lazy(member) else "in the state it is uninitialized, but in the module it has a shape"
        if is_lazy(member):
            member.materialize(value.shape)  # type: ignore[attr-defined]
        if value.shape != member.shape:
            return f"its shape in the state is {tuple(value.shape)}, but in the module it is {tuple(member.shape)}"
        if not metadata.get("assign_to_params_buffers", False):
            with no_grad():
                member.copy_(value)
        elif isinstance(member, Parameter) and not isinstance(value, Parameter):
            setattr(self, name, Parameter(value, member.requires_grad))
        else:
            setattr(self, name, value)
        return ""

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        """The tensors of this module itself that are saved. Loading may replace them meanwhile."""
        buffers = ((n, b) for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set)
        members = itertools.chain(self._parameters.items(), buffers)
        return iter([(name, tensor) for name, tensor in members if tensor is not None])

    def _has_extra_state(self) -> bool:
        return type(self).get_extra_state is not State.get_extra_state
