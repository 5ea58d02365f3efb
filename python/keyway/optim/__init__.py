"""Optimizers, and schedules of their learning rates."""

from keyway.optim import lr_scheduler as lr_scheduler
from keyway.optim.adam import Adam as Adam, AdamW as AdamW
from keyway.optim.optimizer import Optimizer as Optimizer
from keyway.optim.sgd import SGD as SGD
