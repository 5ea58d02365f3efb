"""Optimizers, and schedules of their learning rates."""

from keyway.optim import lr_scheduler as lr_scheduler, swa_utils as swa_utils
from keyway.optim.adadelta import Adadelta as Adadelta
from keyway.optim.adafactor import Adafactor as Adafactor
from keyway.optim.adagrad import Adagrad as Adagrad
from keyway.optim.adam import Adam as Adam, AdamW as AdamW
from keyway.optim.adamax import Adamax as Adamax
from keyway.optim.asgd import ASGD as ASGD
from keyway.optim.lbfgs import LBFGS as LBFGS
from keyway.optim.muon import Muon as Muon
from keyway.optim.nadam import NAdam as NAdam
from keyway.optim.optimizer import Optimizer as Optimizer
from keyway.optim.radam import RAdam as RAdam
from keyway.optim.rmsprop import RMSprop as RMSprop
from keyway.optim.rprop import Rprop as Rprop
from keyway.optim.sgd import SGD as SGD
