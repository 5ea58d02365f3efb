"""Schedules that go round: CyclicLR, and CosineAnnealingWarmRestarts."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

from keyway._graphs.watched import note_schedule
from keyway.optim._one_cycle import _check_momentum, _for_each_group, _set_momentum
from keyway.optim._schedule import LRScheduler, set_lr
from keyway.optim.optimizer import Optimizer


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the first learning rate to `eta_min` along half a cosine of `T_0` steps, then from the top again; each time
    it takes `T_mult` times as many steps. step(epoch) goes to any epoch, be it between two steps."""

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0 = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_i = T_0
        self.T_cur: float = 0
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        part = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Gives the groups the learning rates of the next step, or of `epoch`."""
        note_schedule()
        if epoch is None:
            super().step()
            return
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        self.last_epoch = math.floor(epoch)
        self._locate(epoch)
        self._apply()

    def _advance(self) -> None:
        self._step_count += 1
        self.last_epoch += 1
        if self.last_epoch == 0 or not self._last_lr:
            self._locate(self.last_epoch)
        else:
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        self._apply()

    def _locate(self, epoch: float) -> None:
        self.T_i, self.T_cur = self.T_0, epoch
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult


class CyclicLR(LRScheduler):
    """From `base_lr` up to `max_lr` in a line of `step_size_up` steps, and down again in `step_size_down` (by default
    as many), over and over.

    What is added to `base_lr` is scaled by scale_fn(x), where x is the number of the cycle, from 1 on, or, with
    scale_mode="iterations", of the step. Modes have their own: "triangular" 1, "triangular2" half of that of the cycle
    before, "exp_range" gamma to the power of the step. With `cycle_momentum`, "momentum", or the first of "betas", goes
    from `max_momentum` down to `base_momentum` and up again.
    """

    def __init__(self, optimizer: Optimizer, base_lr: float | Sequence[float], max_lr: float | Sequence[float],
                 step_size_up: int = 2000, step_size_down: int | None = None, mode: str = "triangular",
                 gamma: float = 1.0, scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
                 cycle_momentum: bool = True, base_momentum: float | Sequence[float] = 0.8,
                 max_momentum: float | Sequence[float] = 0.9, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.total_size = float(step_size_up + (step_size_up if step_size_down is None else step_size_down))
        self.step_ratio = step_size_up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self._scale_fn = scale_fn
        self.max_lrs = _for_each_group(optimizer, "max_lr", max_lr)
        self.cycle_momentum = cycle_momentum
        self.base_lrs = _for_each_group(optimizer, "base_lr", base_lr)
        if cycle_momentum:
            _check_momentum(optimizer)
            self.base_momentums = _for_each_group(optimizer, "base_momentum", base_momentum)
            self.max_momentums = _for_each_group(optimizer, "max_momentum", max_momentum)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, self.base_lrs):
                set_lr(group, lr)
        super().__init__(optimizer, last_epoch)

    def scale_fn(self, x: float) -> float:
        """What the cycle, or the step, `x` is scaled by."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        if self.mode == "triangular":
            return 1.0
        return float(0.5 ** (x - 1) if self.mode == "triangular2" else self.gamma**x)

    def get_lr(self) -> list[float]:
        """The learning rates of step `last_epoch`. Sets the momentum as well."""
        turns = self.last_epoch / self.total_size
        cycle = math.floor(turns) + 1
        part = turns - math.floor(turns)
        height = part / self.step_ratio if part <= self.step_ratio else (part - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                _set_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """All that the schedule knows, but the optimizer and `scale_fn`."""
        return {name: value for name, value in super().state_dict().items() if name != "_scale_fn"}
