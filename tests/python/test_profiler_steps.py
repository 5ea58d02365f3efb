"""The profiler's named blocks, and its schedules."""

import threading

import pytest

import keyway
from keyway.profiler import ProfilerAction, profile, record_function, schedule


def test_a_schedule_goes_in_turns():
    none, warmup = ProfilerAction.NONE, ProfilerAction.WARMUP
    record, save = ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE
    turn = [none, none, warmup, record, save]
    twice = schedule(wait=2, warmup=1, active=2, repeat=2, skip_first=1)
    assert [twice(step) for step in range(13)] == [none, *turn, *turn, none, none]
    for_ever = schedule(wait=0, warmup=0, active=1)
    assert [for_ever(step) for step in (0, 1, 1000)] == [save] * 3
    for wrong in ({"wait": -1}, {"active": 0}, {"repeat": -1}):
        with pytest.raises(keyway.ValueError, match="must not be negative"):
            schedule(**{"wait": 1, "warmup": 1, "active": 1, **wrong})


def test_a_profile_records_the_steps_that_its_schedule_says():
    operators = [keyway.sin, keyway.cos, keyway.exp, keyway.log1p, keyway.sqrt, keyway.tanh, keyway.erf]
    reports = []

    def report(prof):
        reports.append((prof.step_num, sorted(row.key for row in prof.key_averages())))

    x = keyway.ones(2)
    with profile(schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=report) as prof:
        for operator in operators:
            operator(x)
            prof.step()
    # Steps 2 and 3 are recorded, and 6; step 7 has begun, and nothing ran in it.
    assert reports == [(4, ["exp", "log1p"]), (7, ["erf"])]
    with pytest.raises(keyway.ValueError, match="not running"):
        prof.step()
    idle = []
    with profile(schedule=schedule(wait=5, warmup=0, active=1), on_trace_ready=idle.append):
        x.sin()
    assert idle == []


def test_named_blocks_are_rows_and_events():
    @record_function("decorated")
    def decorated(depth):
        return decorated(depth - 1) if depth > 0 else keyway.ones(2).exp()

    with record_function("before"):
        pass
    with profile() as prof:
        with record_function("outer"), record_function("inner"):
            keyway.ones(2).sin()
        with pytest.raises(ZeroDivisionError), record_function("outer"):
            1 // 0
        decorated(2)
        other = threading.Thread(target=decorated, args=(0,))
        other.start()
        other.join()
    rows = {row.key: row for row in prof.key_averages()}
    assert "before" not in rows
    assert {name: rows[name].count for name in ("outer", "inner", "decorated")} == {
        "outer": 2, "inner": 1, "decorated": 3}
    assert rows["outer"].cpu_time_total >= rows["inner"].cpu_time_total > 0
    assert "block inner: 1 times" in prof.key_averages().table()

    events = {event.name: event for event in prof.events() if event.name in ("inner", "sin")}
    block, operator = events["inner"], events["sin"]
    slack = 50  # microseconds between the beginnings of the two clocks
    assert block.start - slack <= operator.start
    assert operator.start + operator.cpu_time_total <= block.start + block.cpu_time_total + slack
    assert block.thread == operator.thread

    with profile(all_threads=True) as everyone:
        other = threading.Thread(target=decorated, args=(0,))
        other.start()
        other.join()
    assert {row.key: row.count for row in everyone.key_averages()}["decorated"] == 1
