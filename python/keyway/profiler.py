"""The profiler: which operators are called, for how long, by which kernels; and the dispatch trace.

>>> with keyway.profiler.profile() as prof:
...     step()
>>> print(prof.key_averages().table(sort_by="total"))
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from keyway import _C

# PyTorch's names of columns.
_COLUMNS = {
    "self_cpu_time_total": "self",
    "cpu_time_total": "total",
    "cpu_time": "mean",
    "count": "calls",
    "name": "op",
}


class FunctionEventAvg:
    """The calls of one operator by one row of kernels. Times in microseconds, as PyTorch gives them."""

    def __init__(self, row: Any) -> None:
        self.key: str = row.op
        self.dispatch_keys: str = row.keys
        self.kernel: str = row.kernel
        self.count: int = row.calls
        self.self_cpu_time_total: float = row.self_seconds * 1e6
        self.cpu_time_total: float = row.total_seconds * 1e6

    @property
    def cpu_time(self) -> float:
        """The mean of a call."""
        return self.cpu_time_total / self.count


class EventList(list[FunctionEventAvg]):
    """What a profile adds up to, a row for each operator and row of kernels."""

    def __init__(self, profiling: Any) -> None:
        super().__init__(FunctionEventAvg(row) for row in profiling.rows("self"))
        self._profiling = profiling

    def table(self, sort_by: str = "self", row_limit: int = 20) -> str:
        """As text, times in milliseconds: `row_limit` rows and one for the others, the largest by `sort_by` first: op,
        calls, self, total or mean, or PyTorch's names of these."""
        text: str = self._profiling.table(_COLUMNS.get(sort_by, sort_by), row_limit)
        return text


class profile:
    """A context manager that adds up the calls of operators that this thread makes, with those of a backward that it
    runs; those of all threads with all_threads=True. With record_events=True each call is remembered for
    export_chrome_trace(), with record_shapes=True also its arguments."""

    def __init__(self, *, all_threads: bool = False, record_events: bool = False, record_shapes: bool = False) -> None:
        self._all_threads = all_threads
        self._records_events = record_events or record_shapes
        self._profiling = _C._Profiling(self._records_events, record_shapes)

    def start(self) -> None:
        """Raises keyway.Error if it runs already."""
        self._profiling.start(self._all_threads)

    def stop(self) -> None:
        """Raises keyway.Error if it does not run, or was started on another thread."""
        self._profiling.stop()

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def key_averages(self) -> EventList:
        """What the calls so far add up to."""
        return EventList(self._profiling)

    def export_chrome_trace(self, path: str) -> None:
        """Writes the calls in Chrome's trace event format, which Perfetto reads. Raises keyway.ValueError if they were
        not recorded."""
        if not self._records_events:
            raise _C.ValueError("nothing to export: profile with record_events=True")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._profiling.trace())


@contextmanager
def trace() -> Iterator[list[str]]:
    """The dispatch trace: every kernel that the process calls meanwhile, a line each, nested as the calls are. The list
    that it gives is filled when the block ends."""
    lines: list[str] = []
    observing = _C._Trace()
    with observing:
        yield lines
    lines += observing.lines()
