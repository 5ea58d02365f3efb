"""Schedules of learning rates: step() after each optimizer.step(), or after each epoch."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from types import FunctionType
from typing import Any, Callable, Iterable, Sequence

from keyway._graphs.watched import note_schedule
from keyway.optim._cycles import (
    CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts, CyclicLR as CyclicLR,
)  # fmt: skip
from keyway.optim._one_cycle import OneCycleLR as OneCycleLR
from keyway.optim._plateau import ReduceLROnPlateau as ReduceLROnPlateau
from keyway.optim._schedule import LRScheduler as LRScheduler
from keyway.optim.optimizer import Optimizer

_LRScheduler = LRScheduler  # its name of old


class LambdaLR(LRScheduler):
    """The first learning rate times lr_lambda(step); one function for all groups, or one for each."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
                 last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        self.lr_lambdas: list[Any] = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [base * function(self.last_epoch) for base, function in zip(self.base_lrs, self.lr_lambdas)]

    def state_dict(self) -> dict[str, Any]:
        """All that the schedule knows, but the optimizer; of functions, nothing, and of other callables, attributes."""
        state = {name: value for name, value in super().state_dict().items() if name != "lr_lambdas"}
        state["lr_lambdas"] = [None if isinstance(f, FunctionType) else dict(vars(f)) for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if attributes is not None:
                vars(function).update(attributes)


class MultiplicativeLR(LambdaLR):
    """The present learning rate times lr_lambda(step); one function for all groups, or one for each."""

    def get_lr(self) -> list[float]:
        if self._is_initial:
            return self._current()
        return [lr * function(self.last_epoch) for lr, function in zip(self._current(), self.lr_lambdas)]


class _Multiplied(LRScheduler):
    """Schedules that multiply the present learning rates, whoever set them."""

    def get_lr(self) -> list[float]:
        ratio = self._ratio(self.last_epoch)
        return [lr * ratio for lr in self._current()]

    def _ratio(self, step: int) -> float:
        """What step number `step` multiplies by."""
        raise NotImplementedError


class StepLR(_Multiplied):
    """Times `gamma` every `step_size` steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _ratio(self, step: int) -> float:
        return self.gamma if step > 0 and step % self.step_size == 0 else 1.0

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(_Multiplied):
    """Times `gamma` at each of the steps `milestones`."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1,
                 last_epoch: int = -1) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _ratio(self, step: int) -> float:
        return float(self.gamma ** self.milestones[step])

    def _get_closed_form_lr(self) -> list[float]:
        passed = sum(count for step, count in self.milestones.items() if step <= self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(_Multiplied):
    """Times `gamma` every step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _ratio(self, step: int) -> float:
        return 1.0 if self._is_initial or step == 0 else self.gamma

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class ConstantLR(_Multiplied):
    """Times `factor` for the first `total_iters` steps."""

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 < factor <= 1:
            raise ValueError(f"the constant factor is {factor}, but must be in (0, 1]")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _ratio(self, step: int) -> float:
        if step == 0:
            return self.factor
        return 1 / self.factor if step == self.total_iters else 1.0

    def _get_closed_form_lr(self) -> list[float]:
        return [base * (self.factor if self.last_epoch < self.total_iters else 1.0) for base in self.base_lrs]


class LinearLR(_Multiplied):
    """Times a factor that goes in a line from `start_factor` to `end_factor` in `total_iters` steps, and stays
    there."""

    def __init__(self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5,
                 last_epoch: int = -1) -> None:
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise ValueError(f"the factors are {start_factor} and {end_factor}, but must be in (0, 1] and [0, 1]")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _ratio(self, step: int) -> float:
        if step == 0:
            return self.start_factor
        if self._is_initial or step > self.total_iters:
            return 1.0
        return self._factor(step) / self._factor(step - 1)

    def _factor(self, step: int) -> float:
        return self.start_factor + (self.end_factor - self.start_factor) * step / self.total_iters

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self._factor(min(self.last_epoch, self.total_iters)) for base in self.base_lrs]


class PolynomialLR(_Multiplied):
    """Times (1 - step / total_iters)^power, which becomes 0 and stays so."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _ratio(self, step: int) -> float:
        if self._is_initial or step == 0 or step > self.total_iters:
            return 1.0
        return float(((self.total_iters - step) / (self.total_iters - step + 1)) ** self.power)

    def _get_closed_form_lr(self) -> list[float]:
        left = 1 - min(self.last_epoch, self.total_iters) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """From the first learning rate to `eta_min` and back along a cosine; half a period is `T_max` steps."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if self._is_initial or step == 0:
            return self._current()
        if (step - 1) % (2 * self.T_max) == self.T_max:  # from the lowest point there is nothing to be multiplied
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [lr + (base - self.eta_min) * rise for lr, base in zip(self._current(), self.base_lrs)]
        ratio = self._height(step) / self._height(step - 1)
        return [self.eta_min + (lr - self.eta_min) * ratio for lr in self._current()]

    def _get_closed_form_lr(self) -> list[float]:
        height = self._height(self.last_epoch) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def _height(self, step: int) -> float:
        """Twice the part of the way from `eta_min` to the top that a step is at."""
        return 1 + math.cos(math.pi * step / self.T_max)


class _Several(LRScheduler):
    """Schedules that are made of others, which may be such schedules too."""

    _schedulers: list[LRScheduler]

    def _restart(self) -> None:
        self._set_first_rates()
        self._begin_again(is_initial=False)

    def _set_first_rates(self) -> None:
        self._set([group["initial_lr"] for group in self.optimizer.param_groups])

    def state_dict(self) -> dict[str, Any]:
        """All that the schedules know, but the optimizer."""
        state = super().state_dict()
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)


class ChainedScheduler(_Several):
    """Several schedules of one optimizer, which all step at once."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained")
        optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        if any(scheduler.optimizer is not optimizer for scheduler in schedulers):
            raise ValueError("ChainedScheduler expects all schedulers to belong to the same optimizer")
        self._schedulers = list(schedulers)
        self.optimizer = optimizer
        self._last_lr = self._current()

    def step(self) -> None:  # type: ignore[override]
        """Has each schedule give the groups its next learning rates."""
        note_schedule()
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._current()

    def _begin_again(self, is_initial: bool) -> None:
        for scheduler in self._schedulers:
            scheduler._begin_again(is_initial)
        self._last_lr = self._current()


class SequentialLR(_Several):
    """One schedule after the other: the next begins, with its step 0, at each of the steps `milestones`.

    It begins from the first learning rates if it has a closed form, as those have that multiply these by what the
    step's number says; MultiplicativeLR and SWALR go on from the present ones.
    """

    def __init__(self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int],
                 last_epoch: int = -1) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler to be chained")
        if any(scheduler.optimizer is not optimizer for scheduler in schedulers):
            raise ValueError("SequentialLR expects all schedulers to belong to the same optimizer")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(f"SequentialLR expects one milestone fewer than schedulers, not {len(milestones)} for "
                             f"{len(schedulers)}")
        self._schedulers = list(schedulers)
        self._milestones = list(milestones)
        self.optimizer = optimizer
        self.last_epoch = last_epoch + 1
        self._set_first_rates()
        self._schedulers[0]._begin_again(is_initial=True)
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Gives the groups their next learning rates."""
        note_schedule()
        step = self.last_epoch + 1
        i = bisect.bisect_right(self._milestones, step)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == step:
            scheduler._restart()
        else:
            scheduler.step()
        self.last_epoch = step
        self._last_lr = scheduler.get_last_lr()

    def _begin_again(self, is_initial: bool) -> None:
        self.last_epoch = 0
        self._schedulers[0]._begin_again(is_initial)
        self._last_lr = self._schedulers[0].get_last_lr()
