"""LRScheduler: what schedules of learning rates have in common."""

from __future__ import annotations

import warnings
from typing import Any, Callable

from keyway._C import Tensor
from keyway._graphs.watched import note_schedule
from keyway.optim.optimizer import Optimizer


def warn_of_epoch() -> None:
    """Of the caller's caller: that step() of a schedule is given an epoch."""
    warnings.warn("the argument epoch of step() is deprecated: step() goes to the next step", stacklevel=3)


class LRScheduler:
    """The base of schedules. A subclass defines get_lr(): the learning rates of all groups at step `last_epoch`.

    `last_epoch` is the number of the latest step; the first, 0, is done when the schedule is made. To go on with a
    later one, the groups must have "initial_lr". `base_lrs` are the learning rates that the groups had at first. A
    subclass may define _get_closed_form_lr() as well, which looks at these and not at the present ones: step(epoch)
    takes it. A learning rate that is a Tensor is filled.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming an optimizer")
        if "base_lrs" not in vars(self):  # a subclass may have its own
            self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._is_initial = False
        self._get_lr_called_within_step = False
        self._last_lr: list[float] = []
        self._begin()

    def _begin(self) -> None:
        """The first step. Schedules that multiply leave the learning rates to go on from as they are then."""
        self._is_initial = True
        try:
            self._advance()
        finally:
            self._is_initial = False

    def step(self, epoch: int | None = None) -> None:
        """Gives the groups their next learning rates; with `epoch`, which is deprecated, those of that step."""
        note_schedule()
        if self._step_count == 1 and getattr(self.optimizer, "_step_count", 1) == 0:
            warnings.warn("lr_scheduler.step() was called before optimizer.step(): the first learning rate is skipped. "
                          "Call them in the opposite order", stacklevel=2)
        if epoch is None:
            self._advance()
            return
        warn_of_epoch()
        self._step_count += 1
        self.last_epoch = epoch
        self._apply(getattr(self, "_get_closed_form_lr", None))

    def _advance(self) -> None:
        """To the next step. After an error the schedule is where it was."""
        self._step_count += 1
        self.last_epoch += 1
        try:
            self._apply()
        except BaseException:
            self._step_count -= 1
            self.last_epoch -= 1
            raise

    def _apply(self, compute: Callable[[], list[float]] | None = None) -> None:
        """Gives the groups the learning rates of step `last_epoch`, as `compute`, or get_lr(), has them."""
        self._get_lr_called_within_step = True
        try:
            self._set((compute or self.get_lr)())
        finally:
            self._get_lr_called_within_step = False
        self._last_lr = self._current()

    def _set(self, lrs: list[float]) -> None:
        for group, lr in zip(self.optimizer.param_groups, lrs):
            set_lr(group, lr)

    def _restart(self) -> None:
        """Step 0 again: from the first learning rates if there is a closed form, else from the present ones."""
        if hasattr(self, "_get_closed_form_lr"):
            self._set(self.base_lrs)
        self._begin_again(is_initial=False)

    def _begin_again(self, is_initial: bool) -> None:
        """Step 0 again, from the present learning rates."""
        self.last_epoch = -1
        if is_initial:
            self._begin()
        else:
            self._advance()

    def get_lr(self) -> list[float]:
        """The learning rates of step `last_epoch`; the groups still have those of the step before."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr()")

    def get_last_lr(self) -> list[float]:
        """The learning rates that the latest step gave."""
        return self._last_lr

    def _current(self) -> list[float]:
        return [copied(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All that the schedule knows, but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        self.__dict__.update(state_dict)


def set_lr(group: dict[str, Any], lr: Any) -> None:
    """Gives a group a learning rate; one that is a Tensor is filled."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(lr)
    else:
        group["lr"] = lr


def copied(lr: Any) -> Any:
    return lr.clone() if isinstance(lr, Tensor) else lr
