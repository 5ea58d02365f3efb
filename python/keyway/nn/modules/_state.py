"""State: a module's parameters and persistent buffers as a dictionary, and back."""

from __future__ import annotations

import itertools
import warnings
from collections import OrderedDict
from typing import Any, Callable, ClassVar, Iterator, Mapping, NamedTuple

import keyway
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.nn.modules._hooks import Hooks
from keyway.nn.modules._members import Members
from keyway.nn.parameter import Parameter, is_lazy
from keyway.utils.hooks import RemovableHandle

_EXTRA = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    """What load_state_dict did not find, and what it found no place for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class State(Members):
    """What of a module is saved and loaded. `_version` is that of the class's own state, and is saved with it."""

    _version: ClassVar[int] = 1

    _state_dict_pre_hooks: Hooks
    _state_dict_hooks: Hooks
    _load_state_dict_pre_hooks: Hooks
    _load_state_dict_post_hooks: Hooks

    def __init__(self) -> None:
        super().__init__()
        # Not one by one: setting an attribute of a module looks at what it is.
        self.__dict__.update(_state_dict_pre_hooks=Hooks(), _state_dict_hooks=Hooks(),
                             _load_state_dict_pre_hooks=Hooks(), _load_state_dict_post_hooks=Hooks())

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
        `destination` if there is one. The attribute `_metadata` of what is returned has the versions of the modules.
        """
        into: Any = destination
        if into is None:
            into = OrderedDict()
            into._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(into, "_metadata"):
            into._metadata[prefix[:-1]] = metadata
        for hook, _ in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(into, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=into, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook, _ in list(self._state_dict_hooks.values()):
            if hook(self, into, prefix, metadata) is not None:
                raise keyway.Error("a state_dict post-hook returns None: it changes the dict that it is given")
        result: dict[str, Any] = into
        return result

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(module, prefix, keep_vars) called before state_dict() reads the module."""
        return self._state_dict_pre_hooks.add(hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(module, state_dict, prefix, local_metadata) called when state_dict() has read the module and all
        below it. It may change the dict in place."""
        return self._state_dict_hooks.add(hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        called before load_state_dict() changes the module. It may change the dict and the lists in place."""
        return self._load_state_dict_pre_hooks.add(hook, with_kwargs=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any],
                                           with_module: bool = False) -> RemovableHandle:
        """As register_load_state_dict_pre_hook, without the module unless `with_module`."""
        return self._load_state_dict_pre_hooks.add(hook, with_kwargs=with_module)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Has hook(module, incompatible_keys) called when load_state_dict() has changed the module and all below it. It
        may change the lists of missing and unexpected keys in place."""
        return self._load_state_dict_post_hooks.add(hook)

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Adds this module's own state. To be overridden by a class whose state is more than its members."""
        for name, tensor in self._own_state():
            destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()
        if self._has_extra_state():
            destination[prefix + _EXTRA] = self.get_extra_state()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True,
                        assign: bool = False) -> _IncompatibleKeys:
        """Copies what `state_dict` holds into the members of the same names; with `assign`, they become the members.

        Raises keyway.Error, listing everything that does not fit: wrong shapes and types, and if `strict`, missing and
        unexpected names. What fits has been copied then.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"load_state_dict takes a dict, not {type(state_dict).__name__}")
        keys = _IncompatibleKeys([], [])
        errors: list[str] = []
        versions = getattr(state_dict, "_metadata", {})
        state: Any = OrderedDict(state_dict)
        state._metadata = versions
        self._load(state, versions, "", assign, strict, keys, errors)
        if strict and keys.unexpected_keys:
            errors.insert(0, "Unexpected key(s) in state_dict: " + _quoted(keys.unexpected_keys))
        if strict and keys.missing_keys:
            errors.insert(0, "Missing key(s) in state_dict: " + _quoted(keys.missing_keys))
        if errors:
            raise keyway.Error(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return keys

    def _load(self, state: dict[str, Any], versions: Mapping[str, Any], prefix: str, assign: bool, strict: bool,
              keys: _IncompatibleKeys, errors: list[str]) -> None:
        metadata: dict[str, Any] = dict(versions.get(prefix[:-1], {}))
        if assign:
            metadata["assign_to_params_buffers"] = assign
        for hook, with_module in list(self._load_state_dict_pre_hooks.values()):
            hook(*([self] if with_module else []), state, prefix, metadata, strict, *keys, errors)
        self._load_from_state_dict(state, prefix, metadata, strict, *keys, errors)
        for name, module in self._modules.items():
            if module is not None:
                inner = f"{prefix}{name}."
                below = {key: value for key, value in state.items() if key.startswith(inner)}
                module._load(below, versions, inner, assign, strict, keys, errors)
        for hook, _ in list(self._load_state_dict_post_hooks.values()):
            if hook(self, keys) is not None:
                raise keyway.Error("a load_state_dict post-hook returns None: it changes the keys that it is given")

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any],
                              strict: bool,
                              missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str]) -> None:
        """Takes this module's own state. To be overridden together with _save_to_state_dict."""
        for name, tensor in self._own_state():
            if prefix + name not in state_dict:
                missing_keys.append(prefix + name)
                continue
            why = self._load_member(name, prefix + name, tensor, state_dict[prefix + name], local_metadata)
            if why:
                error_msgs.append(why)
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

    def _load_member(self, name: str, key: str, member: Tensor, value: Any, metadata: dict[str, Any]) -> str:
        """Takes one value; returns why not, or nothing."""
        if not isinstance(value, Tensor):
            return f'While copying the parameter named "{key}", expected a Tensor but received {type(value)}'
        if is_lazy(value):
            return "" if is_lazy(member) else f'"{key}" is uninitialized in the state, but has a shape in the module'
        if is_lazy(member):
            member.materialize(value.shape)  # type: ignore[attr-defined]
        if value.dim() == 1 and member.dim() == 0 and len(value) == 1:  # what was saved before numbers had no dimension
            value = value[0]
        if value.shape != member.shape:
            return (f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in "
                    f"current model is {member.shape}.")
        if not metadata.get("assign_to_params_buffers", False):
            if member.is_meta and not value.is_meta:
                warnings.warn(f"load_state_dict: '{key}' is on the meta device, where values are not kept; assign=True "
                              "puts the state's tensor there", stacklevel=3)
            with no_grad():
                member.copy_(value)
            return ""
        if isinstance(member, Parameter):
            if isinstance(value, Parameter):
                value.requires_grad_(member.requires_grad)
            else:
                value = Parameter(value, member.requires_grad)
        setattr(self, name, value)
        return ""

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        """The tensors of this module itself that are saved. Loading may replace them meanwhile."""
        buffers = ((n, b) for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set)
        members = itertools.chain(self._parameters.items(), buffers)
        return iter([(name, tensor) for name, tensor in members if tensor is not None])

    def _has_extra_state(self) -> bool:
        return type(self).get_extra_state is not State.get_extra_state


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys) + ". "
