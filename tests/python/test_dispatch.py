"""Dispatch keys, explanations, the profiler, the trace and the snapshot."""

import json
import threading

import keyway
import pytest
from keyway import DispatchKey, DispatchKeySet
from keyway.library import Library


def test_keys_are_made_by_name_and_compare():
    assert DispatchKey("AutogradCPU") == DispatchKey.AutogradCPU != DispatchKey.CPU
    assert len({DispatchKey("CPU"), DispatchKey.CPU}) == 1
    assert DispatchKey.Autograd.is_alias and not DispatchKey.CPU.is_alias
    assert DispatchKey.CPU != "CPU" and DispatchKey.CPU.name == "CPU"
    with pytest.raises(keyway.ValueError, match="'Nope' is no dispatch key"):
        DispatchKey("Nope")
    with pytest.raises(keyway.TypeError, match="not int"):
        DispatchKey(3)


def test_sets_of_keys():
    keys = DispatchKeySet("CPU", DispatchKey.AutogradCPU)
    assert keys == keyway.DispatchKeySet("AutogradCPU", "CPU") == DispatchKeySet("CPU") | "AutogradCPU"
    assert "CPU" in keys and keys.has(DispatchKey.AutogradCPU) and "Meta" not in keys
    assert keys.highest_priority_key() == DispatchKey.AutogradCPU
    assert list(keys) == keys.keys() == [DispatchKey.AutogradCPU, DispatchKey.CPU]
    assert keys - DispatchKeySet("Autograd") == keys.remove("AutogradCPU") == DispatchKeySet("CPU")
    assert keys & DispatchKeySet.full_after("Autograd") == DispatchKeySet("CPU")
    assert keys and not DispatchKeySet()
    assert repr(keys) == "DispatchKeySet({AutogradCPU, CPU})"
    with pytest.raises(keyway.ValueError, match="stands for no one position"):
        DispatchKeySet.full_after("CompositeImplicitAutograd")


def test_the_keys_of_a_tensor():
    x = keyway.ones([1])
    assert "CPU" in keyway.dispatch_keys(x) and "AutogradCPU" not in keyway.dispatch_keys(x)
    assert "AutogradCPU" in keyway.dispatch_keys(x.requires_grad_())


def test_guards_change_the_calls_of_their_thread_only():
    x = keyway.ones([1]).requires_grad_()
    elsewhere = []
    with keyway.ExcludeDispatchKeyGuard("Autograd"):
        assert not x.mul(x).requires_grad
        thread = threading.Thread(target=lambda: elsewhere.append(x.mul(x).requires_grad))
        thread.start()
        thread.join()
    assert elsewhere == [True]
    assert x.mul(x).requires_grad


def test_guards_take_back_what_they_changed_in_any_order():
    x = keyway.ones([1])
    outer, inner = keyway.ExcludeDispatchKeyGuard("Autograd"), keyway.ExcludeDispatchKeyGuard("Autograd", "Tracer")
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert not keyway.explain("relu", x).excluded
    with pytest.raises(keyway.ValueError, match="did not enter"):
        inner.__exit__(None, None, None)


def test_explain_says_where_a_call_ends_and_why():
    x = keyway.ones([1]).requires_grad_()
    found = keyway.explain(keyway.add, x, keyway.ones([1]))
    assert found.op == "add.Tensor"
    assert found.key == DispatchKey.AutogradCPU and found.kernel.key == DispatchKey.Autograd
    assert found.rule == "alias kernel" and found.kernel.site.startswith("ops/schemas/")
    assert set(found.arguments) == {"self", "other"} and "AutogradCPU" in found.arguments["self"]
    assert any(kernel.name == "cpu::add_Tensor" for kernel, why in found.others)
    assert "ends at                    AutogradCPU" in str(found)
    assert json.loads(found.to_json())["op"] == "add.Tensor"


def test_explain_takes_names_packets_overloads_and_custom_operators():
    x = keyway.ones([1])
    for op in ("relu", "keyway::relu", keyway.relu, keyway.ops.keyway.relu, keyway.ops.keyway.relu.default):
        assert keyway.explain(op, x).op == "relu"
    with pytest.raises(keyway.NotImplementedError, match="there is no operator keyway::nothing"):
        keyway.explain("nothing")
    with pytest.raises(keyway.TypeError, match="3 is no operator"):
        keyway.explain(3)
    with pytest.raises(keyway.TypeError, match="must be Tensor"):
        keyway.explain("relu", 3)


def test_explain_names_a_kernel_of_python_and_where_it_is():
    def my_relu(self):
        return self.clone()

    with Library("keyway", "IMPL", "CPU") as lib:
        lib.impl("relu", my_relu)
        kernel = keyway.explain("relu", keyway.ones([1])).kernel
    assert "my_relu" in kernel.name
    assert kernel.site == f"{__file__}:{my_relu.__code__.co_firstlineno}"


def test_what_if_changes_nothing():
    with Library("dispatch_what_if", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        changes = keyway.what_if("dispatch_what_if::f", "CPU")
        assert [key for key, before, after in changes] == [DispatchKey.CPU]
        with pytest.raises(keyway.NotImplementedError):
            keyway.ops.dispatch_what_if.f(keyway.ones([1]))


def test_a_profile_adds_up_calls_and_times():
    x = keyway.ones([4])
    with keyway.profiler.profile() as prof:
        for _ in range(3):
            x.add(x)
        x.relu()
    x.relu()
    rows = {row.key: row for row in prof.key_averages()}
    assert {name: row.count for name, row in rows.items()} == {"add.Tensor": 3, "relu": 1}
    add = rows["add.Tensor"]
    assert 0 < add.self_cpu_time_total <= add.cpu_time_total
    assert add.cpu_time == add.cpu_time_total / 3
    table = prof.key_averages().table(sort_by="count", row_limit=1)
    assert table.index("add.Tensor") < table.index("1 other")
    with pytest.raises(keyway.ValueError, match="sorted by"):
        prof.key_averages().table(sort_by="taste")


def test_a_profile_of_all_threads_hears_others():
    with keyway.profiler.profile(all_threads=True) as prof:
        thread = threading.Thread(target=lambda: keyway.ones([1]).relu())
        thread.start()
        thread.join()
    assert "relu" in {row.key for row in prof.key_averages()}


def test_a_profile_is_exported_as_a_trace(tmp_path):
    with keyway.profiler.profile(record_shapes=True) as prof:
        keyway.ones([2]).relu()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    assert "relu" in (tmp_path / "trace.json").read_text()
    assert json.loads((tmp_path / "trace.json").read_text())
    events = prof.events()
    assert "relu" in {event.name for event in events} and all(event.cpu_time_total >= 0 for event in events)
    with keyway.profiler.profile(record_events=False) as silent:
        keyway.ones([2])
    with pytest.raises(keyway.ValueError, match="record_events=True"):
        silent.export_chrome_trace(str(tmp_path / "none.json"))


def test_a_profiler_runs_once_at_a_time_and_stops_on_its_thread():
    prof = keyway.profiler.profile()
    with pytest.raises(keyway.ValueError, match="not running"):
        prof.stop()
    refused = []

    def stop():
        try:
            prof.stop()
        except keyway.ValueError as error:
            refused.append(str(error))

    with prof:
        with pytest.raises(keyway.ValueError, match="running already"):
            prof.start()
        thread = threading.Thread(target=stop)
        thread.start()
        thread.join()
    assert refused == ["the profiler was started on another thread"]


def test_the_trace_has_a_line_for_every_kernel():
    x = keyway.ones([1]).requires_grad_()
    with keyway.profiler.trace() as lines:
        x.relu()
    assert [line.split()[:3] for line in lines] == [["relu", "->", "Autograd"], ["relu", "->", "CPU"]]


def test_the_snapshot_has_what_python_registers():
    with Library("dispatch_snapshot", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x, "CPU")
        (op,) = json.loads(keyway.registry_snapshot("dispatch_snapshot::f"))["operators"]
    assert op["name"] == "dispatch_snapshot::f"
    assert [kernel["key"] for kernel in op["kernels"]] == ["CPU"]


def test_a_profile_tells_when_it_is_ready():
    ready = []
    activities = [keyway.profiler.ProfilerActivity.CPU]
    with keyway.profiler.profile(activities=activities, on_trace_ready=ready.append) as prof:
        keyway.ones([2]).relu()
    assert ready == [prof] and keyway.profiler.ProfilerActivity.CPU in keyway.profiler.supported_activities()
