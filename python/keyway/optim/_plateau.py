"""ReduceLROnPlateau: a lower learning rate once a measure does not get better any more."""

from __future__ import annotations

import math
from typing import Any, Sequence

import keyway
from keyway._graphs.watched import note_schedule
from keyway.optim._one_cycle import _for_each_group
from keyway.optim._schedule import LRScheduler, warn_of_epoch
from keyway.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """Times `factor`, but not below `min_lr`, once step(measure) has seen no improvement more than `patience` times in
    a row; `cooldown` steps after that do not count.

    An improvement is, for mode "min", a measure below best * (1 - threshold), or with threshold_mode="abs", below best
    - threshold; for mode "max", above the opposite. A change of less than `eps` is not made.
    """

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
                 threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
                 min_lr: float | Sequence[float] = 0, eps: float = 1e-8) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.factor = factor
        self.optimizer = optimizer
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs: list[Any] = _for_each_group(optimizer, "min_lrs", min_lr)
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = self._current()
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self._reset()

    def _reset(self) -> None:
        """Forgets the measures so far."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether steps do not count yet."""
        return self.cooldown_counter > 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Looks at a measure: a number, or a tensor of one element. `epoch`, which is deprecated, is its step.

        Raises keyway.Error if groups were added and `min_lrs` has not one number for each.
        """
        note_schedule()
        self._match_groups()
        measure = float(metrics.item() if hasattr(metrics, "item") else metrics)
        if epoch is not None:
            warn_of_epoch()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(measure, self.best):
            self.best = measure
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._current()

    def is_better(self, a: float, best: float) -> bool:
        """Whether measure `a` is an improvement of the best so far."""
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            return sign * a > sign * best * (1 + sign * self.threshold)
        return sign * a > sign * best + self.threshold

    def _match_groups(self) -> None:
        """Groups that were added have the least learning rate of all, if there is one for all."""
        count = len(self.optimizer.param_groups)
        if len(self.min_lrs) == count:
            return
        if self.default_min_lr is None:
            raise keyway.Error(f"ReduceLROnPlateau: there are {len(self.min_lrs)} min_lrs, but {count} groups: give "
                               "`min_lrs` one number for each group")
        self.min_lrs = [self.default_min_lr] * count

    def _reduce(self) -> None:
        lrs = []
        for group, least in zip(self.optimizer.param_groups, self.min_lrs):
            lr = float(group["lr"])
            lower = max(lr * self.factor, least)
            lrs.append(lower if lr - lower > self.eps else lr)
        self._set(lrs)
