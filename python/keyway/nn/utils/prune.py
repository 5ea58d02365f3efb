"""Pruning: parameters some of whose elements are held at zero by a mask, which multiplies them before each call."""

from __future__ import annotations

import math
from typing import Any, Iterable, Union

import keyway
from keyway import _C
from keyway._C import Tensor
from keyway.nn.modules.module import Module

Amount = Union[int, float]


class BasePruningMethod:
    """A hook that multiplies <name>_orig, the parameter, by <name>_mask, a buffer. A subclass defines compute_mask(),
    and PRUNING_TYPE: "unstructured" for elements, "structured" for slices of `dim`, "global" for several tensors as
    one."""

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of a tensor whose mask so far is `default_mask`."""
        raise keyway.NotImplementedError(f"{type(self).__name__} does not define compute_mask()")

    def apply_mask(self, module: Module) -> Tensor:
        """The product of the parameter and the mask."""
        mask, original = getattr(module, self._tensor_name + "_mask"), getattr(module, self._tensor_name + "_orig")
        pruned: Tensor = mask.to(dtype=original.dtype).mul(original)
        return pruned

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None,
              **kwargs: Any) -> BasePruningMethod:
        """Prunes a parameter of a module by cls(*args, **kwargs), in addition to what it has been pruned by; the
        elements of least `importance_scores`, of the parameter's shape, go first where the method looks at values."""
        old = _hook_of(module, name)
        method = cls(*args, **kwargs)
        method._tensor_name = name
        tensor = getattr(module, name)
        scores = tensor if importance_scores is None else importance_scores
        if scores.shape != tensor.shape:
            raise keyway.ValueError(f"importance_scores should have the same shape as parameter {name} of {module}")
        chosen: BasePruningMethod = method
        if old is not None:
            chosen = old[1] if isinstance(old[1], PruningContainer) else PruningContainer(old[1])
            chosen.add_pruning_method(method)
            del module._forward_pre_hooks[old[0]]
            mask = chosen.compute_mask(scores, getattr(module, name + "_mask"))
        else:
            mask = method.compute_mask(scores.detach(), _C.ones_like(tensor.detach()))
            module.register_parameter(name + "_orig", module._parameters.pop(name))
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, chosen.apply_mask(module))
        module.register_forward_pre_hook(chosen)
        return chosen

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A tensor times its mask; nothing is registered."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise keyway.ValueError("importance_scores should have the same shape as tensor t")
        default_mask = _C.ones_like(t) if default_mask is None else default_mask
        return t.mul(self.compute_mask(scores, default_mask))

    def remove(self, module: Module) -> None:
        """Makes the pruned parameter a parameter of its own again."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        original = module._parameters.pop(name + "_orig")
        assert original is not None
        original.set_data(weight.detach())
        del module._buffers[name + "_mask"]
        if hasattr(module, name):
            delattr(module, name)
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods that prune one parameter, each what the ones before it have left."""

    PRUNING_TYPE = "combined"

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: list[BasePruningMethod] = []
        for method in args:
            if not self._pruning_methods:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Adds a method. Raises ValueError if it prunes another parameter."""
        if not isinstance(method, BasePruningMethod):
            raise keyway.TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise keyway.ValueError("Can only add pruning methods acting on the parameter named "
                                    f"'{self._tensor_name}' to PruningContainer; found '{method._tensor_name}'")
        self._pruning_methods.append(method)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """What the latest method leaves of the elements, or slices, that are not pruned yet."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()  # type: ignore[attr-defined]  # structured methods have one
            kept = mask.sum([i for i in range(t.dim()) if i != dim]).ne(0)
            selected: Any = (slice(None),) * dim + (kept,)
        elif method.PRUNING_TYPE == "unstructured":
            selected = mask.eq(1)
        elif method.PRUNING_TYPE == "global":
            selected = slice(None)
        else:
            raise keyway.ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        new = mask.clone()
        new[selected] = method.compute_mask(t.detach()[selected], mask[selected]).to(dtype=new.dtype)
        return new


class Identity(BasePruningMethod):
    """Prunes nothing, but registers the mask."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _Unstructured(BasePruningMethod):
    def __init__(self, amount: Amount) -> None:
        _check_amount(amount)
        self.amount = amount


class RandomUnstructured(_Unstructured):
    """Prunes `amount` elements at random: a number of them, or a part in [0, 1]."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without(default_mask, _C.rand(list(t.shape), device=t.device), _count(self.amount, t.numel()))


class L1Unstructured(_Unstructured):
    """Prunes the `amount` elements of least magnitude: a number of them, or a part in [0, 1]."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without(default_mask, t.abs(), _count(self.amount, t.numel()))


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.dim = dim

    def _scores(self, t: Tensor, dim: int) -> Tensor:
        """What is least for the slices of `dim` that go first."""
        raise keyway.NotImplementedError(f"{type(self).__name__} does not define how slices are chosen")

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.dim() <= 1:
            raise keyway.ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor "
                                    f"of shape {tuple(t.shape)} with {t.dim()} dims")
        if not -t.dim() <= self.dim < t.dim():
            raise keyway.IndexError(f"Invalid dimension {self.dim} for tensor of shape {tuple(t.shape)}")
        dim = self.dim % t.dim()
        scores = self._scores(t, dim)
        kept = _without(_C.ones_like(scores), scores, _count(self.amount, t.size(dim)))
        shape = [1] * t.dim()
        shape[dim] = -1
        return default_mask.mul(kept.reshape(shape).to(dtype=default_mask.dtype))


class RandomStructured(_Structured):
    """Prunes `amount` slices of `dim` at random: a number of them, or a part in [0, 1]."""

    def _scores(self, t: Tensor, dim: int) -> Tensor:
        return _C.rand(t.size(dim), device=t.device)


class LnStructured(_Structured):
    """Prunes the `amount` slices of `dim` of least norm of order `n`: a number of them, or a part in [0, 1]."""

    def __init__(self, amount: Amount, n: float | str, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Tensor, dim: int) -> Tensor:
        rows = t.movedim(dim, 0).reshape(t.size(dim), -1)
        order = 2 if self.n == "fro" else float(self.n)
        return _C.linalg_vector_norm(rows, order, 1)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise keyway.ValueError(f"the mask has shape {tuple(self.mask.shape)}, but the parameter "
                                    f"{tuple(default_mask.shape)}")
        return default_mask.mul(self.mask.to(dtype=default_mask.dtype))


def _check_amount(amount: Any) -> None:
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise keyway.TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (isinstance(amount, float) and amount > 1.0):
        raise keyway.ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
                                "integer")


def _count(amount: Amount, size: int) -> int:
    """How many of `size` go."""
    if isinstance(amount, int) and amount > size:
        raise keyway.ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount if isinstance(amount, int) else round(amount * size)


def _without(mask: Tensor, scores: Tensor, count: int) -> Tensor:
    """The mask with zeros at the `count` least scores."""
    flat = mask.clone().reshape(-1)
    if count > 0:
        flat[scores.detach().reshape(-1).topk(count, largest=False).indices] = 0
    return flat.reshape(mask.shape)


def _hook_of(module: Module, name: str) -> tuple[int, BasePruningMethod] | None:
    for number, (hook, _) in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return number, hook
    return None


def identity(module: Module, name: str) -> Module:
    """Registers a mask of ones for a parameter. Returns the module, as the functions below do."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Amount) -> Module:
    """Prunes by RandomUnstructured."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: Amount, importance_scores: Tensor | None = None) -> Module:
    """Prunes by L1Unstructured."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Amount, dim: int) -> Module:
    """Prunes by RandomStructured."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: Amount, n: float | str, dim: int,
                  importance_scores: Tensor | None = None) -> Module:
    """Prunes by LnStructured."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prunes by CustomFromMask."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Iterable[tuple[Module, str]], pruning_method: type[BasePruningMethod],
                        importance_scores: dict[tuple[Module, str], Tensor] | None = None, **kwargs: Any) -> None:
    """Prunes parameters, pairs of a module and a name, as if they were one tensor. Raises TypeError for a method that
    is not unstructured."""
    pairs = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    given = [scores.get(pair, getattr(*pair)).detach() for pair in pairs]
    masks = [getattr(module, name + "_mask", _C.ones_like(tensor)) for (module, name), tensor in zip(pairs, given)]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise keyway.TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                               f"{pruning_method} of type {method.PRUNING_TYPE}")
    method._tensor_name = "temp"
    container = PruningContainer(method)
    flat = _C.cat([tensor.reshape(-1) for tensor in given])
    mask = container.compute_mask(flat, _C.cat([mask.reshape(-1) for mask in masks]))
    at = 0
    for (module, name), tensor in zip(pairs, given):
        custom_from_mask(module, name, mask.narrow(0, at, math.prod(tensor.shape)).view_as(tensor))
        at += tensor.numel()


def remove(module: Module, name: str) -> Module:
    """Makes a pruned parameter a parameter of its own again, with the values it has. Returns the module; raises
    ValueError for one that is not pruned."""
    found = _hook_of(module, name)
    if found is None:
        raise keyway.ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    found[1].remove(module)
    del module._forward_pre_hooks[found[0]]
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for each in module.modules()
               for hook, _ in each._forward_pre_hooks.values())
