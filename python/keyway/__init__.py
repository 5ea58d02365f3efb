"""Keyway: tensors, operators, autograd and the operator registry."""

from keyway._C import *  # noqa: F403
