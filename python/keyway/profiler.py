"""The profiler: which operators are called, for how long, by which kernels, and which memory they make; and the dispatch
trace.

>>> with keyway.profiler.profile() as prof:
...     step()
>>> print(prof.key_averages().table(sort_by="total"))
"""

from __future__ import annotations

import enum
import json
import pathlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ContextDecorator, contextmanager
from typing import Any, NamedTuple

from keyway import _C

# PyTorch's names of columns.
_COLUMNS = {
    "self_cpu_time_total": "self",
    "cpu_time_total": "total",
    "cpu_time": "mean",
    "count": "calls",
    "name": "op",
}


class _Span(NamedTuple):
    """A block that record_function() named. Times in seconds of time.perf_counter()."""

    name: str
    thread: int
    begin: float
    end: float


class FunctionEventAvg:
    """The calls of one operator by one row of kernels; or the blocks of one name, whose own time has that of the
    operators in it. Times in microseconds, as PyTorch gives them."""

    def __init__(self, key: str, count: int, self_seconds: float, total_seconds: float, dispatch_keys: str = "",
                 kernel: str = "") -> None:
        self.key = key
        self.dispatch_keys = dispatch_keys
        self.kernel = kernel
        self.count = count
        self.self_cpu_time_total = self_seconds * 1e6
        self.cpu_time_total = total_seconds * 1e6

    @property
    def cpu_time(self) -> float:
        """The mean of a call."""
        return self.cpu_time_total / self.count


class EventList(list[FunctionEventAvg]):
    """What a profile adds up to: a row for each operator and row of kernels, then one for each name of blocks."""

    def __init__(self, profiling: Any, spans: list[_Span]) -> None:
        times: dict[str, list[float]] = {}
        for span in spans:
            times.setdefault(span.name, []).append(span.end - span.begin)
        self._spans = [FunctionEventAvg(name, len(each), sum(each), sum(each)) for name, each in times.items()]
        calls = [FunctionEventAvg(row.op, row.calls, row.self_seconds, row.total_seconds, row.keys, row.kernel)
                 for row in profiling.rows("self")]
        super().__init__(calls + self._spans)
        self._profiling = profiling

    def table(self, sort_by: str = "self", row_limit: int = 20) -> str:
        """As text, times in milliseconds: `row_limit` rows and one for the others, the largest by `sort_by` first: op,
        calls, self, total or mean, or PyTorch's names of these. Below them the blocks of record_function()."""
        text: str = self._profiling.table(_COLUMNS.get(sort_by, sort_by), row_limit)
        return text + "".join(f"block {row.key}: {row.count} times, total {row.cpu_time_total / 1e3:.3f} ms, mean "
                              f"{row.cpu_time / 1e3:.3f} ms\n" for row in self._spans)


class ProfilerActivity(enum.Enum):
    """What is profiled: the calls of operators, wherever their kernels run."""

    CPU = "CPU"
    CUDA = "CUDA"


def supported_activities() -> set[ProfilerActivity]:
    """What profile() may be told to profile."""
    return set(ProfilerActivity)


class ProfilerAction(enum.Enum):
    """What a profile does in one step of a schedule."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0
             ) -> Callable[[int], ProfilerAction]:
    """A function from the number of a step to what profile(schedule=...) does in it: nothing for `skip_first` steps; then
    in turns nothing for `wait` steps and for `warmup` ones, and `active` steps that are recorded, after whose last
    `on_trace_ready` is called. There are `repeat` turns, or if that is 0, no end of them. Raises keyway.ValueError for
    numbers below 0 and without active steps."""
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise _C.ValueError("schedule: wait, warmup, repeat and skip_first must not be negative, and active must be "
                            f"positive, but they are {wait}, {warmup}, {repeat}, {skip_first} and {active}")
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        turn, position = divmod(step - skip_first, length)
        if step < skip_first or (repeat > 0 and turn >= repeat) or position < wait:
            return ProfilerAction.NONE
        if position < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if position == length - 1 else ProfilerAction.RECORD

    return action


_recording: list[profile] = []  # those that record now, of all threads


class record_function(ContextDecorator):
    """A context manager, or a decorator, that names what runs within: profiles that record when it begins have a row
    for the name in key_averages(), and a block around its operators in events() and in the trace."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._begun: list[tuple[float, list[list[_Span]]]] = []

    def _recreate_cm(self) -> record_function:  # for each call of a decorated function, as they may be nested
        return type(self)(self.name, self.args)

    def __enter__(self) -> record_function:
        thread = threading.get_ident()
        listening = [each._spans for each in _recording if each._all_threads or each._thread == thread]
        self._begun.append((time.perf_counter(), listening))
        return self

    def __exit__(self, *exception: object) -> None:
        begin, listening = self._begun.pop()
        if listening:
            span = _Span(self.name, _C._Profiling.thread_number(), begin, time.perf_counter())
            for spans in listening:
                spans.append(span)


class FunctionEvent:
    """One call of an operator, or one block of record_function(). Times in microseconds; `args` is what the trace says of the call."""

    def __init__(self, event: dict[str, Any]) -> None:
        self.name: str = event["name"]
        self.key = self.name
        self.start: float = float(event["ts"])
        self.cpu_time_total: float = float(event.get("dur", 0.0))
        self.thread: Any = event.get("tid")
        self.args: dict[str, Any] = event.get("args", {})


class MemoryBlock(NamedTuple):
    """One memory that tensors shared. Times in seconds after the profile began."""

    op: str  # the innermost call that gave it; empty: it was there before a call took it
    site: str  # where that was called, "model.py:12"
    tensor: str  # that it was seen by first, "float32[2, 3]"
    device: str
    bytes: int
    made: float
    freed: float | None  # None: it lives


class profile:
    """A context manager that adds up the calls of operators that this thread makes, with those of a backward that it
    runs; those of all threads with all_threads=True. Each call is remembered for export_chrome_trace() and events(),
    unless record_events=False; with record_shapes=True also its arguments.

    With `schedule`, a function from the number of a step to a ProfilerAction, as schedule() makes them, it records some
    of the steps that step() ends, and each stretch of them anew. `on_trace_ready` is called with the profile after each
    stretch, and when it stops while it records. With profile_memory=True it notes which call made which memory, and
    when that was freed: memory_table(), export_memory_timeline(). `activities`, `with_stack`, `with_flops` and
    `with_modules` change nothing.
    """

    def __init__(self, *, activities: Iterable[ProfilerActivity] | None = None,
                 schedule: Callable[[int], ProfilerAction] | None = None,
                 on_trace_ready: Callable[[profile], Any] | None = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, all_threads: bool = False, record_events: bool = True) -> None:
        self._all_threads = all_threads
        self._schedule = schedule
        self._on_trace_ready = on_trace_ready
        self._record_shapes = record_shapes
        self._records_events = record_events or record_shapes
        self._records_memory = profile_memory
        self._thread = 0
        self._action: ProfilerAction | None = None  # None while it does not run
        self.step_num = 0
        self._renew()

    def _renew(self) -> None:
        self._origin = time.perf_counter()  # that events are counted from
        self._profiling = _C._Profiling(self._records_events, self._record_shapes, self._records_memory)
        self._spans: list[_Span] = []

    def _action_now(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self._schedule is None else self._schedule(self.step_num)

    def start(self) -> None:
        """Raises keyway.ValueError if it runs already."""
        if self._action is not None:
            raise _C.ValueError("the profiler is running already")
        action = self._action_now()
        if action in _RECORDING:
            self._begin_recording()
        self._action = action

    def stop(self) -> None:
        """Raises keyway.ValueError if it does not run, or was started on another thread."""
        if self._action is None:
            raise _C.ValueError("the profiler is not running")
        records = self._action in _RECORDING
        if records:
            self._end_recording()
        self._action = None
        if records:
            self._report()

    def step(self) -> None:
        """Ends a step and begins the next, for which `schedule` says what is done. Raises as stop() does."""
        if self._action is None:
            raise _C.ValueError("the profiler is not running")
        before, self.step_num = self._action, self.step_num + 1
        after = self._action_now()
        ends = before is ProfilerAction.RECORD_AND_SAVE or (before in _RECORDING and after not in _RECORDING)
        if ends:
            self._end_recording()
            self._action = after
            self._report()
        if after in _RECORDING and (ends or before not in _RECORDING):
            self._renew()
            self._begin_recording()
        self._action = after

    def _begin_recording(self) -> None:
        self._profiling.start(self._all_threads)
        self._thread = threading.get_ident()
        _recording.append(self)

    def _end_recording(self) -> None:
        self._profiling.stop()
        _recording.remove(self)

    def _report(self) -> None:
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def key_averages(self) -> EventList:
        """What the calls so far add up to."""
        return EventList(self._profiling, self._spans)

    def events(self) -> list[FunctionEvent]:
        """The calls so far, one by one, and the blocks. Raises keyway.ValueError if they were not recorded."""
        return [FunctionEvent(event) for event in json.loads(self._trace())["traceEvents"] if event.get("ph") == "X"]

    def export_chrome_trace(self, path: str) -> None:
        """Writes the calls in Chrome's trace event format, which Perfetto reads. Raises keyway.ValueError if they were
        not recorded."""
        text = self._trace()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def memory_table(self, row_limit: int = 20) -> str:
        """As text: what lived on each device when the most did, by operator and line, `row_limit` rows a device. Seen is
        the memory of tensors that calls take and give; that it was freed is noticed at the next call. Raises
        keyway.ValueError without profile_memory=True, as the others for memory do."""
        return self._profiling.memory_table(row_limit)

    def memory_blocks(self) -> list[MemoryBlock]:
        """The memory of tensors, in the order in which it was seen."""
        return [MemoryBlock(**block) for block in json.loads(self._profiling.memory_blocks())]

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Writes how much memory lives at each time, and who made it: as a page that needs nothing else if `path` ends
        with .html, as JSON, a list of the fields of MemoryBlock, if it ends with .json. Of one device if it is given, as
        "cpu". Raises keyway.ValueError for another ending."""
        blocks = [block._asdict() for block in self.memory_blocks() if device in (None, block.device)]
        text = json.dumps(blocks)
        if path.endswith(".html"):
            page = (pathlib.Path(__file__).with_name("_pages") / "memory_timeline.html").read_text(encoding="utf-8")
            page = page.replace("ELEMENTS", _C._graph.page_elements(), 1)
            text = page.replace("BLOCKS", text.replace("<", "\\u003c"), 1)
        elif not path.endswith(".json"):
            raise _C.ValueError(f"export_memory_timeline: path must end with .html or .json, but is '{path}'")
        pathlib.Path(path).write_text(text, encoding="utf-8")

    def _trace(self) -> str:
        if not self._records_events:
            raise _C.ValueError("nothing was recorded: profile with record_events=True")
        text: str = self._profiling.trace()
        if not self._spans:
            return text
        trace = json.loads(text)
        trace["traceEvents"] += [
            {"name": span.name, "cat": "user_annotation", "ph": "X", "pid": 1, "tid": span.thread,
             "ts": (span.begin - self._origin) * 1e6, "dur": (span.end - span.begin) * 1e6} for span in self._spans]
        return json.dumps(trace) + "\n"


@contextmanager
def trace() -> Iterator[list[str]]:
    """The dispatch trace: every kernel that the process calls meanwhile, a line each, nested as the calls are. The list
    that it gives is filled when the block ends."""
    lines: list[str] = []
    observing = _C._Trace()
    with observing:
        yield lines
    lines += observing.lines()
