"""The profiler: which operators are called, for how long, by which kernels; and the dispatch trace.

>>> with keyway.profiler.profile() as prof:
...     step()
>>> print(prof.key_averages().table(sort_by="total"))
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterable, Iterator
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


class ProfilerActivity(enum.Enum):
    """What is profiled: the calls of operators, wherever their kernels run."""

    CPU = "CPU"
    CUDA = "CUDA"


def supported_activities() -> set[ProfilerActivity]:
    """What profile() may be told to profile."""
    return set(ProfilerActivity)


class FunctionEvent:
    """One call of an operator. Times in microseconds; `args` is what the trace says of the call."""

    def __init__(self, event: dict[str, Any]) -> None:
        self.name: str = event["name"]
        self.key = self.name
        self.start: float = float(event["ts"])
        self.cpu_time_total: float = float(event.get("dur", 0.0))
        self.thread: Any = event.get("tid")
        self.args: dict[str, Any] = event.get("args", {})


class profile:
    """A context manager that adds up the calls of operators that this thread makes, with those of a backward that it
    runs; those of all threads with all_threads=True. Each call is remembered for export_chrome_trace() and events(),
    unless record_events=False; with record_shapes=True also its arguments.

    `on_trace_ready` is called with the profile when it stops. `activities`, `profile_memory`, `with_stack`,
    `with_flops` and `with_modules` change nothing.
    """

    def __init__(self, *, activities: Iterable[ProfilerActivity] | None = None,
                 on_trace_ready: Callable[[profile], Any] | None = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, all_threads: bool = False, record_events: bool = True) -> None:
        self._all_threads = all_threads
        self._on_trace_ready = on_trace_ready
        self._records_events = record_events or record_shapes
        self._profiling = _C._Profiling(self._records_events, record_shapes)

    def start(self) -> None:
        """Raises keyway.Error if it runs already."""
        self._profiling.start(self._all_threads)

    def stop(self) -> None:
        """Raises keyway.Error if it does not run, or was started on another thread."""
        self._profiling.stop()
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def key_averages(self) -> EventList:
        """What the calls so far add up to."""
        return EventList(self._profiling)

    def events(self) -> list[FunctionEvent]:
        """The calls so far, one by one. Raises keyway.ValueError if they were not recorded."""
        return [FunctionEvent(event) for event in json.loads(self._trace())["traceEvents"] if event.get("ph") == "X"]

    def export_chrome_trace(self, path: str) -> None:
        """Writes the calls in Chrome's trace event format, which Perfetto reads. Raises keyway.ValueError if they were
        not recorded."""
        text = self._trace()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _trace(self) -> str:
        if not self._records_events:
            raise _C.ValueError("nothing was recorded: profile with record_events=True")
        text: str = self._profiling.trace()
        return text


@contextmanager
def trace() -> Iterator[list[str]]:
    """The dispatch trace: every kernel that the process calls meanwhile, a line each, nested as the calls are. The list
    that it gives is filled when the block ends."""
    lines: list[str] = []
    observing = _C._Trace()
    with observing:
        yield lines
    lines += observing.lines()
