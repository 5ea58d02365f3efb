"""OneCycleLR: up to a high learning rate, and down to a low one."""

from __future__ import annotations

import math
from typing import Any, Sequence

from keyway.optim._schedule import LRScheduler
from keyway.optim.optimizer import Optimizer

_Phase = tuple[float, str, str, str, str]  # its last step; where learning rate and momentum begin and end


def _cosine(start: float, end: float, part: float) -> float:
    return end + (start - end) / 2 * (1 + math.cos(math.pi * part))


def _line(start: float, end: float, part: float) -> float:
    return start + (end - start) * part


class OneCycleLR(LRScheduler):
    """From max_lr / div_factor up to `max_lr` in `pct_start` of all steps, then down to the first one /
    final_div_factor; with `three_phase`, back to the first one in as many steps, and down from there.

    `total_steps` is given, or `epochs` and `steps_per_epoch`. Between them it goes along a cosine or, with
    anneal_strategy="linear", a line. With `cycle_momentum`, "momentum", or the first of "betas", goes the opposite way.
    """

    def __init__(self, optimizer: Optimizer, max_lr: float | Sequence[float], total_steps: int | None = None,
                 epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
                 anneal_strategy: str = "cos", cycle_momentum: bool = True,
                 base_momentum: float | Sequence[float] = 0.85,
                 max_momentum: float | Sequence[float] = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
                 three_phase: bool = False, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.total_steps = _count_steps(total_steps, epochs, steps_per_epoch)
        if not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        self.cycle_momentum = cycle_momentum
        self._phases = _phases(self.total_steps, pct_start, three_phase)
        if last_epoch == -1:
            highest = _for_each_group(optimizer, "max_lr", max_lr)
            if cycle_momentum:
                _prepare_momentum(optimizer, base_momentum, max_momentum)
            _prepare_lr(optimizer, highest, div_factor, final_div_factor)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of step `last_epoch`. Sets the momentum as well."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is "
                             f"{self.total_steps}")
        start = 0.0
        for end, *names in self._phases:
            if step <= end or end == self._phases[-1][0]:
                break
            start = end
        part = (step - start) / (end - start) if end > start else 1.0
        anneal = _cosine if self._anneal_func_type == "cos" else _line
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                _set_momentum(group, anneal(group[names[2]], group[names[3]], part))
        return [anneal(group[names[0]], group[names[1]], part) for group in self.optimizer.param_groups]


def _count_steps(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    counts = {"total_steps": total_steps}
    if total_steps is None:
        counts = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, count in counts.items():
        if count is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        if count <= 0 or not isinstance(count, int):
            raise ValueError(f"Expected positive integer {name}, but got {count}")
    return math.prod(count for count in counts.values() if count is not None)


def _phases(total: int, pct_start: float, three_phase: bool) -> list[_Phase]:
    up = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
    if not three_phase:
        return [(pct_start * total - 1, *up), (total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    return [(pct_start * total - 1, *up),
            (2 * pct_start * total - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
            (total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")]


def _for_each_group(optimizer: Optimizer, name: str, value: Any) -> list[float]:
    count = len(optimizer.param_groups)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(values) != count:
        raise ValueError(f"expected {count} values for {name}, got {len(values)}")
    return values


def _prepare_lr(optimizer: Optimizer, max_lrs: list[float], div_factor: float, final_div_factor: float) -> None:
    for group, highest in zip(optimizer.param_groups, max_lrs):
        group["initial_lr"] = highest / div_factor
        group["max_lr"] = highest
        group["min_lr"] = group["initial_lr"] / final_div_factor


def _check_momentum(optimizer: Optimizer) -> None:
    if any("momentum" not in group and "betas" not in group for group in optimizer.param_groups):
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")


def _prepare_momentum(optimizer: Optimizer, base_momentum: Any, max_momentum: Any) -> None:
    _check_momentum(optimizer)
    highest = _for_each_group(optimizer, "max_momentum", max_momentum)
    lowest = _for_each_group(optimizer, "base_momentum", base_momentum)
    for group, high, low in zip(optimizer.param_groups, highest, lowest):
        _set_momentum(group, high)
        group["max_momentum"] = high
        group["base_momentum"] = low


def _set_momentum(group: dict[str, Any], value: float) -> None:
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value
