"""Averages of a model's weights over training."""

from __future__ import annotations

import copy
import math
from typing import Any, Callable, Iterable, Iterator, Union

import keyway
from keyway._C import Tensor
from keyway.autograd.grad_mode import no_grad
from keyway.nn.modules.batchnorm import _BatchNorm, _InstanceNorm
from keyway.nn.modules.module import Module
from keyway.optim.lr_scheduler import LRScheduler
from keyway.optim.optimizer import Optimizer

__all__ = ["SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
           "get_swa_multi_avg_fn", "update_bn"]

Count = Union[Tensor, int]
AverageFunction = Callable[[Tensor, Tensor, Count], Tensor]
MultiAverageFunction = Callable[[list[Tensor], list[Tensor], Count], None]


def get_ema_avg_fn(decay: float = 0.999) -> AverageFunction:
    """decay * average + (1 - decay) * parameter. Raises ValueError for a decay outside of [0, 1]."""
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    def average(ema_param: Tensor, current_param: Tensor, num_averaged: Count) -> Tensor:
        with no_grad():
            return ema_param.mul(decay).add(current_param, alpha=1 - decay)

    return average


def get_swa_avg_fn() -> AverageFunction:
    """The mean of all parameters so far."""

    def average(averaged_param: Tensor, current_param: Tensor, num_averaged: Count) -> Tensor:
        with no_grad():
            return averaged_param.add(current_param.sub(averaged_param).div(num_averaged + 1))

    return average


def _of_lists(average: AverageFunction) -> MultiAverageFunction:
    def of_lists(averages: list[Tensor], currents: list[Tensor], num_averaged: Count) -> None:
        with no_grad():
            for averaged, current in zip(averages, currents):
                averaged.copy_(average(averaged, current, num_averaged))

    return of_lists


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverageFunction:
    """get_ema_avg_fn for lists, whose first is changed in place."""
    return _of_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> MultiAverageFunction:
    """get_swa_avg_fn for lists, whose first is changed in place."""
    return _of_lists(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model, `module`, whose parameters are averages of those that update_parameters() was called with.

    The first are copied; then avg_fn(average, parameter, how many so far) is the new average, or multi_avg_fn changes
    lists of averages in place; by default it is the mean. Buffers are copied, or with `use_buffers` averaged, too.
    """

    n_averaged: Tensor

    def __init__(self, model: Module, device: Any = None, avg_fn: AverageFunction | None = None,
                 multi_avg_fn: MultiAverageFunction | None = None, use_buffers: bool = False) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise keyway.ValueError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", keyway.zeros([], dtype=keyway.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _members(self, model: Module) -> Iterator[Tensor]:
        yield from model.parameters()
        if self.use_buffers:
            yield from model.buffers()

    def update_parameters(self, model: Module) -> None:
        """Takes the parameters of the model into the averages."""
        averages = list(self._members(self.module))
        currents = [current.detach().to(device=averaged.device)
                    for averaged, current in zip(averages, self._members(model))]
        with no_grad():
            if int(self.n_averaged) == 0:
                for averaged, current in zip(averages, currents):
                    averaged.copy_(current)
            else:
                average = self.multi_avg_fn or _of_lists(self.avg_fn or get_swa_avg_fn())
                average(averages, currents, int(self.n_averaged))
            if not self.use_buffers:
                for own, other in zip(self.module.buffers(), model.buffers()):
                    own.copy_(other)
            self.n_averaged.add_(1)


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Makes the statistics of all batch normalisations in the model those of the batches of `loader`: tensors, or
    tuples or lists whose first element is the model's input. Where a batch raises, the model trains, or does not, as
    before, with the momenta of before."""
    momenta = {module: module.momentum for module in model.modules()
               if isinstance(module, _BatchNorm) and not isinstance(module, _InstanceNorm)}
    if not momenta:
        return
    was_training = model.training
    try:
        model.train()
        for module in momenta:
            module.reset_running_stats()
            module.momentum = None
        with no_grad():
            for batch in loader:
                input = batch[0] if isinstance(batch, (list, tuple)) else batch
                model(input if device is None else input.to(device))
    finally:
        for module, momentum in momenta.items():
            module.momentum = momentum
        model.train(was_training)


class SWALR(LRScheduler):
    """From the present learning rate to `swa_lr`, one or one for each group, in `anneal_epochs` steps along a cosine or
    a line; constant after them."""

    def __init__(self, optimizer: Optimizer, swa_lr: float | list[float], anneal_epochs: int = 10,
                 anneal_strategy: str = "cos", last_epoch: int = -1) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        groups = optimizer.param_groups
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            raise ValueError(f"swa_lr must have the length of optimizer.param_groups, {len(groups)}, not {len(rates)}")
        for group, rate in zip(groups, rates):
            group["swa_lr"] = rate
        self.anneal_epochs = anneal_epochs
        self.anneal_strategy = anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        """How much of `swa_lr` there is at a step."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self.anneal_strategy == "cos" else t

    def get_lr(self) -> list[float]:
        step = max(1, self.last_epoch) if self.anneal_epochs == 0 else self.last_epoch
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            goal = group["swa_lr"]
            start = goal if before == 1 else (group["lr"] - before * goal) / (1 - before)
            rates.append(goal * now + start * (1 - now))
        return rates
