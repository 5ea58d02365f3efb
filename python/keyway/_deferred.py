"""deferred(): a region whose calls are recorded, and made together later."""

from __future__ import annotations

from typing import Any

from keyway._C import _graph


class deferred:
    """Within ``with deferred():`` calls are recorded, not made, until their results are needed.

    >>> with keyway.deferred() as region:
    ...     for _ in range(100):
    ...         x = (x * 0.5 + 1).tanh()  # nothing is computed
    ...     print(x[0].item())  # all of it, as one graph
    >>> print(region.explain())

    Results are those of the calls made one by one, to the last bit, and so are changes in place, gradients and random
    draws. Recorded calls are made, which is a flush, where a number or memory is read, where a call cannot be recorded
    (its results' sizes depend on values, it is of another library, a mode of Python sees it), where a generator is
    seeded or read, where another thread uses a tensor that they compute or change, and at the end. The graph of a flush
    runs as a plan, or by the graph backend of its device, when an equal one comes for the second time.

    A call that Keyway knows to be wrong raises where it is made. Another error is raised at the flush, and names the line;
    the calls behind it are not made, and to use their results is an error.

    Memory that others read or write by themselves, such as an array over a tensor's memory, is not seen: flush() first. A
    region within another one is a part of that, and flushes at its end. It belongs to its thread.
    """

    def __init__(self) -> None:
        self._region: _graph.Deferred | None = None

    def __enter__(self) -> deferred:
        if self._region is not None:
            raise RuntimeError("deferred: a region is entered once")
        self._region = _graph.Deferred()
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered().finish()

    def _entered(self) -> _graph.Deferred:
        if self._region is None:
            raise RuntimeError("deferred: the region is not entered")
        return self._region

    def flush(self) -> None:
        """Makes the calls that are recorded."""
        self._entered().flush()

    def explain(self) -> str:
        """How many calls were recorded, how often they were flushed, and why."""
        return self._entered().explain()

    def statistics(self) -> dict[str, int]:
        """How many ``deferred_calls`` and ``immediate_calls`` there were, ``flushes``, and how many of these were of
        ``known_graphs``."""
        return self._entered().statistics()
