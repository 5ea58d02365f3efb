"""GradScaler: a loss is multiplied before backward, and its gradients are divided before they are used."""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import Any

from keyway import _C
from keyway._C import Tensor
from keyway.optim.optimizer import Optimizer

__all__ = ["GradScaler"]


class _Steps:
    """What became of one optimizer's gradients since the last update."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer  # held, so that no other one has its id
        self.found_inf: dict[Any, Tensor] = {}  # by device
        self.unscaled = False
        self.stepped = False


class GradScaler:
    """Keeps gradients of float16 from becoming zeros: scale() multiplies a loss by a large number, unscale_() divides
    the gradients by it, and step() leaves a step out whose gradients are not all finite.

    >>> scaler = keyway.amp.GradScaler("cpu", init_scale=1024.0)
    >>> weight = keyway.ones(2, requires_grad=True)
    >>> optimizer = keyway.optim.SGD([weight], lr=0.5)
    >>> scaler.scale(weight.sum()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> weight
    tensor([0.5000, 0.5000], requires_grad=True)

    update() multiplies the scale by ``backoff_factor`` if a step since the last one was left out, and by
    ``growth_factor`` after ``growth_interval`` updates in a row without. With enabled=False losses and gradients are
    left as they are, and step() is the optimizer's.
    """

    def __init__(self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True) -> None:
        if growth_factor <= 1.0:
            raise _C.ValueError(f"GradScaler: growth_factor is {growth_factor}, but must be greater than 1")
        if not 0.0 < backoff_factor < 1.0:
            raise _C.ValueError(f"GradScaler: backoff_factor is {backoff_factor}, but must lie between 0 and 1")
        if growth_interval < 1:
            raise _C.ValueError(f"GradScaler: growth_interval is {growth_interval}, but must be at least 1")
        self._device = device
        self._enabled = bool(enabled)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        # Numbers until the first loss says which device they belong to.
        self._init_scale = init_scale
        self._init_growth_tracker = 0
        self._scale: Tensor | None = None
        self._growth_tracker: Tensor | None = None
        self._optimizers: dict[int, _Steps] = {}  # by id

    # --- Losses and gradients

    def scale(self, outputs: Any) -> Any:
        """A loss, or lists and tuples of losses, times the scale. Raises keyway.TypeError for anything else."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale_on(outputs.device)
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(output) for output in outputs)
        raise _C.TypeError(f"GradScaler.scale: argument 'outputs' is a Tensor or a list or tuple of such, not "
                           f"{type(outputs).__name__}")

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of an optimizer's parameters, in place, once between updates: before they are clipped,
        say; else step() does it. Raises keyway.ValueError for gradients of float16, and keyway.Error a second time."""
        if not self._enabled:
            return
        steps = self._steps_of(optimizer)
        if steps.stepped:
            raise _C.Error("GradScaler.unscale_: it is called after step() of this optimizer, before update()")
        if steps.unscaled:
            raise _C.Error("GradScaler.unscale_: it was called for this optimizer already since the last update()")
        steps.found_inf = self._unscale(optimizer)
        steps.unscaled = bool(steps.found_inf)

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step() with divided gradients, if all are finite; else None. Waits for the device.

        It does not wait where all parameters take fused steps (SGD, Adam and AdamW, if no hooks come before the step),
        and for an optimizer that sets `_step_supports_amp_scaling`. There optimizer.step() is called in any case. It
        divides the gradients by `optimizer.grad_scale`, which is None after unscale_(), those of float16 too, and
        changes nothing where `optimizer.found_inf` is 1: then the gradients are still scaled.

        Raises keyway.Error for a closure, a second step before update(), and an optimizer without gradients."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs or any(callable(argument) for argument in args):
            raise _C.Error("GradScaler.step: there is no step with a closure: the loss could not be scaled within it")
        steps = self._steps_of(optimizer)
        if steps.stepped:
            raise _C.Error("GradScaler.step: it was called for this optimizer already since the last update()")
        is_left_to_it = getattr(optimizer, "_step_supports_amp_scaling", False)
        is_scaled = is_left_to_it and not steps.unscaled
        if is_scaled:
            steps.found_inf = self._unscale(optimizer, is_check=True)
        elif not steps.unscaled:
            self.unscale_(optimizer)
        if not steps.found_inf:
            raise _C.Error("GradScaler.step: none of the optimizer's parameters has a gradient")
        result = None
        if is_left_to_it:
            result = self._step_of(optimizer, list(steps.found_inf.values()), is_scaled, args, kwargs)
        elif not any(found.item() for found in steps.found_inf.values()):
            result = optimizer.step(*args, **kwargs)
        steps.stepped = True  # one that raises is no step
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """The scale for what follows: `new_scale`, if it is given, else by what became of the steps. Raises
        keyway.Error if there was none."""
        if not self._enabled:
            return
        scale, tracker = self._numbers("update")
        if new_scale is not None:
            scale.fill_(new_scale.item() if isinstance(new_scale, Tensor) else new_scale)
        else:
            found = [value.to(scale.device) for steps in self._optimizers.values() for value in steps.found_inf.values()]
            if not found:
                raise _C.Error("GradScaler.update: no gradients were unscaled since the last one")
            _C._amp_update_scale_(scale, tracker, _greatest(found), self._growth_factor, self._backoff_factor,
                                  self._growth_interval)
        self._optimizers.clear()

    # --- Its numbers

    def is_enabled(self) -> bool:
        """Whether it scales anything."""
        return self._enabled

    def get_scale(self) -> float:
        """What losses are multiplied by; 1 if it is not enabled. Waits for the device."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale)

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by after good steps."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets it."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after a step that was left out."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets it."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many good steps in a row the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets it."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker)

    def state_dict(self) -> dict[str, Any]:
        """Its numbers, to go on from later: to be taken after update(). Empty if it is not enabled."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from there. Raises keyway.Error for the state of one that was not enabled."""
        if not self._enabled:
            return
        if not state_dict:
            raise _C.Error("GradScaler.load_state_dict: the state is empty, that of a scaler that was not enabled")
        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None:
            scale, tracker = self._numbers("load_state_dict")
            scale.fill_(self._init_scale)
            tracker.fill_(self._init_growth_tracker)

    # --- Within

    def __getstate__(self) -> dict[str, Any]:
        if self._optimizers:
            raise _C.Error("a GradScaler is pickled after update(): steps since the last one cannot be kept")
        state = self.__dict__.copy()
        state.update(_init_scale=self.get_scale() if self._enabled else self._init_scale,
                     _init_growth_tracker=self._get_growth_tracker(), _scale=None, _growth_tracker=None)
        return state

    def _steps_of(self, optimizer: Optimizer) -> _Steps:
        return self._optimizers.setdefault(id(optimizer), _Steps(optimizer))

    def _scale_on(self, device: _C.device) -> Tensor:
        if self._scale is None:
            self._scale = _C.full((), self._init_scale, dtype=_C.float32, device=device)
            self._growth_tracker = _C.full((), self._init_growth_tracker, dtype=_C.int32, device=device)
        return self._scale.to(device)

    def _numbers(self, caller: str) -> tuple[Tensor, Tensor]:
        if self._scale is None or self._growth_tracker is None:
            raise _C.Error(f"GradScaler.{caller}: no loss was scaled yet")
        return self._scale, self._growth_tracker

    def _step_of(self, optimizer: Any, found: list[Tensor], is_scaled: bool, args: Any, kwargs: Any) -> Any:
        """optimizer.step(), which divides the gradients, if they are scaled, and leaves the step out by itself."""
        scale, _ = self._numbers("step")
        own = getattr(optimizer, "grad_scale", None)
        if is_scaled:
            own = scale if own is None else scale * own
        optimizer.grad_scale = own
        optimizer.found_inf = _greatest([value.to(scale.device) for value in found])
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale, optimizer.found_inf

    def _unscale(self, optimizer: Optimizer, is_check: bool = False) -> dict[Any, Tensor]:
        """Whether gradients are not finite, by device. Divides them, unless it `is_check`."""
        scale, _ = self._numbers("step" if is_check else "unscale_")
        # In float64: the reciprocal of a large float32 may not be a normal one.
        inverse = _C.ones_like(scale) if is_check else scale.double().reciprocal().float()
        groups: defaultdict[Any, list[Tensor]] = defaultdict(list)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                if grad.dtype == _C.float16 and not is_check:
                    raise _C.ValueError("GradScaler.unscale_: a gradient is float16, which its divided values may not "
                                        "fit in: parameters of float32 have others")
                groups[grad.device, grad.dtype].append(grad)
        found: dict[Any, Tensor] = {}
        for (device, _), grads in groups.items():
            flag = found.setdefault(device, _C.zeros((), dtype=_C.float32, device=device))
            _C._amp_foreach_non_finite_check_and_unscale_(grads, flag, inverse.to(device))
        return found


def _greatest(numbers: list[Tensor]) -> Tensor:
    return functools.reduce(_C.maximum, numbers)
