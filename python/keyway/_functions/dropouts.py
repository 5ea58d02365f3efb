"""Dropout of several kinds, and leaky ReLU with random slopes, under their names beside those of nn.functional."""

from __future__ import annotations

from typing import Any

from keyway import _C
from keyway._C import Generator, Tensor
from keyway._tensor.methods import checked


def _of_functional(name: str, function: str, inplace: bool) -> Any:
    def dropout(input: Tensor, p: float, train: bool) -> Tensor:
        from keyway.nn import functional

        made: Tensor = getattr(functional, function)(checked(input, name), p, train, inplace)
        return made

    dropout.__name__ = dropout.__qualname__ = name
    dropout.__doc__ = f"nn.functional.{function}" + (" in place." if inplace else ".")
    return dropout


feature_dropout = _of_functional("feature_dropout", "dropout2d", False)
feature_dropout_ = _of_functional("feature_dropout_", "dropout2d", True)
alpha_dropout = _of_functional("alpha_dropout", "alpha_dropout", False)
alpha_dropout_ = _of_functional("alpha_dropout_", "alpha_dropout", True)
feature_alpha_dropout = _of_functional("feature_alpha_dropout", "feature_alpha_dropout", False)
feature_alpha_dropout_ = _of_functional("feature_alpha_dropout_", "feature_alpha_dropout", True)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """x where it is positive, else a slope times x: while training one drawn between `lower` and `upper` for each
    element, else the middle of them."""
    from keyway.nn import functional

    return functional.rrelu(checked(input, "rrelu"), lower, upper, training, False, generator)


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """rrelu in place."""
    from keyway.nn import functional

    return functional.rrelu_(input, lower, upper, training, generator)
