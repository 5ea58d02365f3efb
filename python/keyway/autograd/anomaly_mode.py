"""Anomaly mode: finds the call whose gradient fails, or is not a number. For debugging, since it is slow."""

from __future__ import annotations

import warnings

from keyway import _C
from keyway._C import _autograd

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class detect_anomaly:  # noqa: N801
    """Within the block, a backward that fails tells where the call was made whose gradient it was computing.

    Each call that is recorded in the block keeps the stack of its caller, in ``node.metadata["traceback_"]``, and what
    a backward records also the node that it ran for, in ``node.metadata["parent_"]``. When the backward of such a node
    raises, a UserWarning for the node and one for each parent show these stacks, and the error goes on. With
    ``check_nan`` a node that returns a NaN among its gradients raises keyway.AutogradError.

    The mode is that of all threads; the end of the block brings back what was there at its beginning. Warns when it is
    made, since it makes recorded calls and backward slow.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> x = keyway.zeros(1, requires_grad=True)
    >>> with keyway.autograd.detect_anomaly():
    ...     y = x.sqrt().mul(0)
    ...     y.backward()
    Traceback (most recent call last):
        ...
    keyway.AutogradError: Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = bool(check_nan)
        self._entered: list[tuple[bool, bool]] = []
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
                      "enabled for debugging.", stacklevel=2)

    def __enter__(self) -> None:
        self._entered.append((_C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled()))
        _autograd.set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *exception: object) -> None:
        _autograd.set_anomaly_enabled(*self._entered.pop())


class set_detect_anomaly:  # noqa: N801
    """Turns anomaly mode on or off: from now on, or as a context manager until the end of the block.

    See `detect_anomaly`.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = _C.is_anomaly_enabled()
        self.prev_check_nan = _C.is_anomaly_check_nan_enabled()
        _autograd.set_anomaly_enabled(bool(mode), bool(check_nan))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _autograd.set_anomaly_enabled(self.prev, self.prev_check_nan)
