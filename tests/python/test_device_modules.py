"""keyway.<name>, tensor.<name>() and keyway.accelerator of device types that plug-ins bring; on the example of a backend,
whose two devices are of type sim."""

import gc
import inspect
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import keyway
import pytest
from keyway.utils.data import DataLoader

PLUGIN = os.environ.get("KEYWAY_EXAMPLE_BACKEND", "")

pytestmark = pytest.mark.skipif(not PLUGIN, reason="ctest says where the example of a backend is")


@pytest.fixture(scope="module")
def sim():
    plugin = keyway.load_plugin(PLUGIN)
    yield keyway.sim
    gc.collect()
    plugin.unload()  # which is refused while a tensor lives
    assert keyway.sim.device_count() == 0 and not keyway.sim.is_available()


def in_process(program, **environment):
    """What a program of its own prints."""
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False,
                         env={**os.environ, **environment})
    assert run.stderr == ""
    return run.stdout.splitlines()


# --- The module


def test_a_device_type_has_a_module(sim):
    from keyway import sim as imported
    import keyway.sim  # noqa: F401  as a module of the package

    assert imported is sim is keyway.get_device_module("sim") is keyway.get_device_module(keyway.device("sim:1"))
    assert keyway.get_device_module("cuda") is keyway.cuda
    assert sim.is_available() and sim.device_count() == 2
    assert repr(sim) == "<module 'keyway.sim', devices of type sim>"


def test_it_has_what_keyway_cuda_has_but_for_graphs(sim):
    for name in set(keyway.cuda.__all__) - {"CUDAGraph", "graph"}:
        assert inspect.getdoc(getattr(sim, name)), name


def test_names_that_are_no_device_types_are_not_there():
    with pytest.raises(AttributeError, match="module 'keyway' has no attribute 'nothing'"):
        keyway.nothing
    with pytest.raises(ModuleNotFoundError, match="No module named 'keyway.nothing'"):
        __import__("keyway.nothing")
    with pytest.raises(keyway.ValueError, match="there is no device type 'nothing'"):
        keyway.get_device_module("nothing")
    assert not hasattr(keyway, "_nothing")


def test_devices_are_made_current_for_good_and_for_a_while(sim):
    assert sim.current_device() == 0
    with sim.device(1):
        assert sim.current_device() == 1 and keyway.ones(1, device="sim").device.index == 1
        with sim.device(None), sim.device_of(keyway.ones(1, device="sim:0")), sim.device_of(keyway.ones(1)):
            assert sim.current_device() == 0
    sim.set_device("sim:1")
    assert sim.current_device() == 1
    sim.set_device(0)
    sim.synchronize()
    sim.synchronize(keyway.device("sim", 1))


@pytest.mark.parametrize("call", ["set_device", "synchronize", "current_stream", "default_stream", "Stream"])
def test_devices_of_other_types_and_out_of_range_are_refused(sim, call):
    with pytest.raises(keyway.ValueError, match="keyway.sim is about devices of type sim, not about cpu"):
        getattr(sim, call)("cpu")
    with pytest.raises(keyway.IndexError, match="device sim:2 is out of range: the number of sim devices is 2"):
        getattr(sim, call)(2)
    with pytest.raises(keyway.TypeError, match="a device of type sim is text, as 'sim:1', a number or a device, not list"):
        getattr(sim, call)([])


def test_streams_and_events_are_of_the_type(sim):
    stream, event = sim.Stream(1), sim.Event(enable_timing=True)
    assert isinstance(stream, sim.Stream) and isinstance(stream, keyway.Stream)
    assert not isinstance(stream, (keyway.cuda.Stream, sim.Event)) and not isinstance(3, sim.Stream)
    assert isinstance(event, sim.Event) and not isinstance(event, keyway.cuda.Event)
    assert str(event.device) == "sim"
    with sim.stream(stream):
        assert sim.current_device() == 1 and sim.current_stream() == stream
        event.record()
    assert str(event.device) == "sim:1" and event.query()
    event.wait(sim.current_stream())
    stream.wait_stream(sim.default_stream())
    assert stream.record_event().query() and isinstance(keyway.Event("sim"), sim.Event)
    sim.set_stream(sim.default_stream(1))
    assert sim.current_device() == 1
    sim.set_device(0)
    assert isinstance(keyway.Stream("sim:1"), sim.Stream) and keyway.Stream("sim:1").device.index == 1
    assert sim.Stream.synchronize is keyway.Stream.synchronize and "query" in dir(sim.Event)


def test_seeds_begin_a_sequence_on_one_device_or_on_all(sim):
    def drawn(index):
        return keyway.rand(3, device=f"sim:{index}").tolist()

    sim.manual_seed_all(5)
    first = [drawn(0), drawn(1)]
    sim.manual_seed(5)
    assert drawn(0) == first[0] and drawn(1) != first[1]
    with keyway.random.fork_rng(device_type="sim"):
        sim.manual_seed_all(7)
        drawn(0)
    sim.manual_seed_all(5)
    with keyway.random.fork_rng([1], device_type="sim"):
        drawn(0), drawn(1)
    assert drawn(0) != first[0] and drawn(1) == first[1]


def test_checkpoints_draw_the_same_numbers_again(sim):
    from keyway.utils.checkpoint import checkpoint

    x = keyway.ones(100, device="sim", requires_grad=True)
    y = checkpoint(lambda x: keyway.nn.functional.dropout(x, 0.5) * x, x, use_reentrant=False)
    y.sum().backward()
    assert (x.grad.cpu() == 2 * y.detach().cpu()).all()


def test_an_allocator_without_statistics_says_so(sim):
    for call in (sim.memory_allocated, sim.memory_summary, sim.empty_cache):
        with pytest.raises(keyway.NotImplementedError, match="the allocator of device type sim keeps no memory"):
            call()


# --- Tensors and modules


def test_tensors_and_modules_have_methods_of_the_type(sim):
    x = keyway.ones(2, 3)
    assert x.sim().is_sim and not x.is_sim and str(x.sim().device) == "sim:0"
    assert str(x.sim(1).device) == str(x.sim("sim:1").device) == str(x.sim(device=keyway.device("sim:1")).device) == "sim:1"
    with pytest.raises(keyway.ValueError, match=r"sim\(\): cpu is no device of type sim"):
        x.sim("cpu")
    model = keyway.nn.Linear(3, 2).sim(1)
    assert {str(parameter.device) for parameter in model.parameters()} == {"sim:1"}
    packed = keyway.nn.utils.rnn.pack_sequence([keyway.ones(3), keyway.ones(2)]).sim()
    assert packed.data.is_sim


def test_training_with_autocast_and_a_gradient_scaler(sim):
    keyway.manual_seed(3)
    model = keyway.nn.Linear(4, 1).sim()
    optimizer = keyway.optim.AdamW(model.parameters(), lr=0.05)
    scaler = keyway.amp.GradScaler("sim", init_scale=256.0)
    x, y = keyway.randn(64, 4), keyway.randn(64, 1)
    losses = []
    for _ in range(12):
        optimizer.zero_grad()
        with keyway.autocast("sim", dtype=keyway.bfloat16):
            output = model(x.sim())
            assert output.dtype == keyway.bfloat16
        loss = ((output.float() - y.sim()) ** 2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < 0.9 * losses[0]


def test_states_are_saved_and_mapped_to_devices(sim, tmp_path):
    file = tmp_path / "model.safetensors"
    keyway.save({"weight": keyway.arange(4.0, device="sim:1")}, file)
    assert keyway.load(file)["weight"].tolist() == [0, 1, 2, 3]
    assert str(keyway.load(file, map_location="sim:1")["weight"].device) == "sim:1"


def test_dlpack_hands_memory_of_the_type_on(sim):
    x = keyway.arange(6, device="sim:1").reshape(2, 3).t()
    assert x.__dlpack_device__() == (12, 1)
    for taken in (keyway.from_dlpack(x), keyway.from_dlpack(x.__dlpack__(stream=-1))):
        assert taken.device == keyway.device("sim:1") and taken.data_ptr() == x.data_ptr()
        assert taken.stride() == (1, 3) and taken.tolist() == [[0, 3], [1, 4], [2, 5]]
    there = keyway.from_dlpack(x, device="cpu")
    assert there.is_cpu and there.tolist() == x.tolist()
    with pytest.raises(BufferError, match="a stream of sim:1 has no number in DLPack"):
        x.__dlpack__(stream=5)
    with pytest.raises(BufferError, match="can only be handed out there"):
        keyway.from_dlpack(x, device="sim:0")


def test_memory_is_pinned_for_the_type_or_an_error_says_that_it_cannot(sim):
    with pytest.raises(keyway.Error, match="sim"):
        next(iter(DataLoader([keyway.ones(1)] * 2, pin_memory=True, pin_memory_device="sim")))


def test_numbers_are_printed_and_profiled(sim):
    x = keyway.tensor([1.5, 2.5], device="sim")
    assert repr(x) == "tensor([1.5000, 2.5000], device='sim:0')"
    with keyway.profiler.profile() as profile:
        x + 1
    assert "add" in str(profile.key_averages().table())


# --- The accelerator


def test_the_accelerator_is_the_first_type_that_has_devices(sim):
    if keyway.cuda.is_available():
        pytest.skip("it is CUDA")
    from keyway import accelerator

    assert accelerator.current_accelerator() == keyway.device("sim") and accelerator.is_available()
    assert keyway.get_device_module() is sim
    assert accelerator.device_count() == 2 and accelerator.current_device_index() == 0
    with accelerator.device_index(1):
        assert accelerator.current_device_index() == 1 and accelerator.current_stream() == sim.default_stream(1)
    accelerator.set_device_index("sim:1")
    assert sim.current_device() == 1
    accelerator.set_stream(sim.default_stream(0))
    accelerator.synchronize()
    assert sim.current_device() == 0 and isinstance(keyway.Stream(), sim.Stream)


def test_without_a_device_there_is_none():
    assert in_process("""
        import keyway
        from keyway import accelerator
        if keyway.cuda.is_available():
            print(None, 0, False, "no cuda device: ")
        else:
            try:
                accelerator.synchronize()
            except keyway.Error as error:
                print(accelerator.current_accelerator(), accelerator.device_count(), accelerator.is_available(), "cuda" in str(error))
        """)[0] in ("None 0 False True", "None 0 False no cuda device: ")


# --- Where a type comes from


def packaged(folder, entry, body):
    """Lays a package into a folder as an installer would."""
    info = folder / "keyway_sim-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: keyway-sim\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[keyway.backends]\n{entry}\n")
    (folder / "keyway_sim.py").write_text(textwrap.dedent(body))
    return str(folder)


USES = """
    import keyway
    try:
        x = {expression}
        print(x.device, x.is_sim, keyway.sim.device_count())
    except keyway.Error as error:
        print(type(error).__name__, error, type(error.__cause__).__name__)
    """
LOADS = f"""
    import keyway
    def load():
        keyway.load_plugin({PLUGIN!r})
    """


@pytest.mark.parametrize("expression", ["keyway.ones(2, device='sim')", "keyway.ones(2).to('sim')",
                                        "keyway.ones(2, device=keyway.sim.Stream().device)", "keyway.ones(2).sim()"])
def test_an_installed_package_brings_its_type_when_it_is_named(tmp_path, expression):
    folder = packaged(tmp_path, "sim = keyway_sim:load", LOADS)
    if expression.endswith(".sim()"):
        expression = f"keyway.sim and {expression}"
    path = os.pathsep.join([folder, os.environ["PYTHONPATH"]])
    assert in_process(USES.format(expression=expression), PYTHONPATH=path) == ["sim:0 True 2"]


@pytest.mark.parametrize(("entry", "body", "said"), [
    ("sim = keyway_sim:load", "def load(): raise OSError('no driver')",
     "the backend of device type sim was not loaded: its entry point keyway_sim:load of keyway-sim failed: no driver OSError"),
    ("sim = keyway_sim:load", "def load(): pass",
     "the entry point keyway_sim:load of keyway-sim has loaded no backend of device type sim NoneType"),
    ("sim = keyway_sim:absent", "", "module 'keyway_sim' has no attribute 'absent' AttributeError"),
    ("sim = keyway_sim:load", "import keyway\ndef load(): keyway.device('sim')", "there is no device type 'sim'"),
])
def test_a_package_whose_backend_does_not_load_is_named(tmp_path, entry, body, said):
    path = os.pathsep.join([packaged(tmp_path, entry, body), os.environ["PYTHONPATH"]])
    line, = in_process(USES.format(expression="keyway.ones(2, device='sim')"), PYTHONPATH=path)
    assert line.startswith("RegistrationError ") and said in line


def test_a_folder_brings_a_type_when_it_is_named(tmp_path):
    (tmp_path / "libkeyway_sim.so").symlink_to(Path(PLUGIN).resolve())
    for expression in ("keyway.sim and keyway.ones(2).sim()", "keyway.ones(2, device='sim')"):
        assert in_process(USES.format(expression=expression), KEYWAY_PLUGIN_PATH=str(tmp_path)) == ["sim:0 True 2"]
