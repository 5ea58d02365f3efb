"""keyway.utils.tensorboard: the bytes of event files, and what a reader finds in them.

GOLDEN are records that TensorBoard 2.21 wrote: its RecordWriter, with its classes of protobuf, for the same values, and
NumPy's counts where there are bins. Files of these tests were read back with its event_file_loader by hand.
"""

import math
import os
import struct
import subprocess
import sys
import threading

import numpy
import pytest

import keyway
from keyway import nn
from keyway.utils.tensorboard import GraphNode, SummaryWriter

TIME = 1700000000.5
GOLDEN = {
    "version": (
        "1800000000000000a37f4b220900002040fc54d9411a0d627261696e2e4576656e743a322b353110"
    ),
    "scalar": (
        "200000000000000029eda9500900002040fc54d94110072a130a110a0a6c6f73732f747261696e15cdcccc3d0dd9184f"
    ),
    "zero": (
        "1800000000000000a37f4b220900002040fc54d9412a0d0a0b0a047a65726f15000000009ccde993"
    ),
    "histogram": (
        "c900000000000000353dc6ce0900002040fc54d94110ac022aba010ab7010a01772ab1010900000000000004c011000000000000104019"
        "0000000000001c40210000000000001040290000000000304040324000000000000010c000000000000000c0000000000000f0bf000000"
        "0000000000000000000000f03f0000000000000040000000000000104000000000000020403a400000000000000000000000000000f03f"
        "0000000000000000000000000000f03f00000000000008400000000000000000000000000000f03f000000000000f03f3727f94a"
    ),
    "default_bins": (
        "9800000000000000a0e783f50900002040fc54d94110032a8a010a87010a01772a810109000000000000f03f11000000000000f43f1900"
        "00000000000840210000000000000a40290000000000800c40322808996919155aed3f2b14facdbe24f03f6349c61505c2f13fba508d31"
        "9f88f33f333fe81caf7cf53f3a280000000000000000000000000000004000000000000000000000000000000000000000000000f03fcf"
        "ef6a55"
    ),
    "text": (
        "440000000000000043592e9a0900002040fc54d94110022a370a350a116e6f74652f746578745f73756d6d617279421608071204120208"
        "01420c2a2a6772c3b6c39f65722a2a4a080a060a04746578744bc5f888"
    ),
    "graph": (
        "010100000000000007454e690900002040fc54d94122f5010a2a0a01781205696e7075742a1e0a0e5f6f75747075745f73686170657312"
        "0c0a0a3a0812020802120208030a2b0a066e65742f6d6d12026d6d1a01781a056e65742f7722036370752a0e0a05616c70686112052500"
        "00003f0a240a056e65742f771209706172616d657465722a100a0573697a657312070a051a030390030a270a086e65742f72656c751204"
        "72656c751a066e65742f6d6d2a0d0a07696e706c616365120228000a290a017912066f75747075741a086e65742f72656c752a120a0577"
        "68657265120912076d61696e2e70790a1c0a016e1205636f756e742a100a016e120b18ffffffffffffffffff012202081625cb9d5b"
    ),
    "purge": (
        "0f000000000000006d532b090900002040fc54d94110053a0208015ecbb75c"
    ),
}

NODES = [
    GraphNode("x", "input", output_shapes=[[2, 3]]),
    GraphNode("net/mm", "mm", ["x", "net/w"], {"alpha": 0.5}, device="cpu"),
    GraphNode("net/w", "parameter", attributes={"sizes": [3, 400]}),
    GraphNode("net/relu", "relu", ["net/mm"], {"inplace": False}),
    GraphNode("y", "output", ["net/relu"], {"where": "main.py"}),
    GraphNode("n", "count", attributes={"n": -1}),
]


def crc32c(data):
    """Bit by bit, by the definition."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    """The frames of a file, as bytes, with their checksums looked at."""
    data, found = path.read_bytes(), []
    while data:
        (size,) = struct.unpack_from("<Q", data)
        frame, data = data[: size + 16], data[size + 16:]
        assert len(frame) == size + 16
        assert struct.unpack_from("<I", frame, 8)[0] == masked(frame[:8])
        assert struct.unpack("<I", frame[-4:])[0] == masked(frame[12:-4])
        found.append(frame)
    return found


def fields(message):
    """The fields of a message of protobuf: number -> values, in their order; strings and messages as bytes."""

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    at, found = 0, {}
    while at < len(message):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(kind) or varint()
            value = message[at: at + size]
            at += size
            if kind != 2:
                (value,) = struct.unpack("<d" if kind == 1 else "<f", value)
        found.setdefault(tag >> 3, []).append(value)
    return found


def events(folder):
    """The events of the files of a folder, without the versions."""
    found = [fields(frame[12:-4]) for path in sorted(folder.iterdir()) if path.is_file() for frame in records(path)]
    return [event for event in found if 3 not in event]


def values(folder):
    """(tag, step, fields of the value) of each summary."""
    found = []
    for event in events(folder):
        (value,) = [fields(value) for value in fields(event[5][0])[1]]
        found.append((value[1][0].decode(), event.get(2, [0])[0], value))
    return found


def histogram(folder):
    """The last histogram: its numbers by field, limits, counts."""
    histo = fields(values(folder)[-1][2][5][0])
    lists = [list(struct.unpack(f"<{len(histo[i][0]) // 8}d", histo[i][0])) for i in (6, 7)]
    return [histo.get(i, [0.0])[0] for i in range(1, 6)], *lists


def tensorflow_edges():
    positive, edge = [], 1e-12
    while edge < 1e20:
        positive.append(edge)
        edge *= 1.1
    return [-edge for edge in reversed(positive)] + [0.0] + positive


ADDED = {
    "scalar": lambda w: w.add_scalar("loss/train", 0.1, 7, TIME),
    "zero": lambda w: w.add_scalar("zero", 0.0, 0, TIME),
    "histogram": lambda w: w.add_histogram(
        "w", [-2.5, -1.0, 0.0, 0.25, 0.25, 3.0, 4.0], 300, [-4, -2, -1, 0, 1, 2, 4, 8], TIME),
    "default_bins": lambda w: w.add_histogram("w", keyway.tensor([1.0, 1.0, 1.25]), 3, walltime=TIME),
    "text": lambda w: w.add_text("note", "**größer**", 2, TIME),
    "graph": lambda w: w.add_graph(NODES, walltime=TIME),
}


@pytest.mark.parametrize("name", ADDED)
def test_records_are_the_bytes_that_tensorboard_writes(tmp_path, name):
    with SummaryWriter(tmp_path) as writer:
        ADDED[name](writer)
    (path,) = tmp_path.iterdir()
    version, record = records(path)
    assert record.hex() == GOLDEN[name]
    wall_time = struct.pack("<d", fields(version[12:-4])[1][0])
    assert version[12:-4] == bytes.fromhex(GOLDEN["version"])[12:-4].replace(struct.pack("<d", TIME), wall_time)


def test_the_checksum_is_that_of_the_standard():
    assert crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32C, for the oracle above


def test_a_scalar_is_a_number_or_a_tensor_or_array_of_one(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step, value in enumerate([1, 2.5, True, keyway.tensor([[3.5]], requires_grad=True), numpy.float16(4.5),
                                      numpy.array([5.5]).squeeze(), math.inf, 1e300]):
            writer.add_scalar("a", value, keyway.tensor(step))
        for wrong in ("1.5", [1.0, 2.0], None):
            with pytest.raises(TypeError):
                writer.add_scalar("a", wrong)
        with pytest.raises((ValueError, RuntimeError)):
            writer.add_scalar("a", keyway.ones(2))
    found = [(step, value[2][0]) for tag, step, value in values(tmp_path)]
    assert found == list(enumerate([1, 2.5, 1, 3.5, 4.5, 5.5, math.inf, math.inf]))


@pytest.mark.parametrize("made", [
    lambda: numpy.random.default_rng(0).normal(size=1000), lambda: numpy.array([0.0]), lambda: numpy.arange(-5, 5),
    lambda: numpy.array([1e-13, -1e-13, 3e25, 1e20, 9e19]), lambda: numpy.array([[True, False], [True, True]]),
    lambda: numpy.float32(numpy.random.default_rng(1).lognormal(size=(10, 20))),
], ids=["normal", "zero", "ints", "outside", "bools", "float32"])
@pytest.mark.parametrize("bins", ["tensorflow", 7, [-3.0, -1.0, 0.5, 2.0], "of_a_generator"])
def test_histograms_are_those_of_numpy(tmp_path, made, bins):
    array = made()
    flat = array.astype(float).reshape(-1)
    edges = {"tensorflow": tensorflow_edges(), "of_a_generator": [-10, 0, 10]}.get(bins, bins) if isinstance(bins, str) else bins
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("h", keyway.from_numpy(array), bins=bins if bins != "of_a_generator" else iter([-10, 0, 10]))
    numbers, limits, counts = histogram(tmp_path)
    expected, expected_limits = numpy.histogram(flat, edges)
    assert numbers == pytest.approx([flat.min(), flat.max(), flat.size, flat.sum(), flat @ flat], rel=1e-12)
    some = numpy.nonzero(expected)[0]
    if some.size == 0:
        assert counts == [0]
        return
    first, last = some[0], some[-1] + 1
    assert counts == [0, *expected[first:last]]
    assert limits == pytest.approx(expected_limits[first:last + 1].tolist(), rel=1e-15, abs=1e-15)
    if not isinstance(bins, int):
        assert limits == expected_limits[first:last + 1].tolist()


def test_max_bins_puts_neighbours_together(tmp_path):
    array = numpy.random.default_rng(2).uniform(0, 10, 500)
    edges = list(range(11))
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("h", array, bins=edges, max_bins=4)
    _, limits, counts = histogram(tmp_path)
    assert limits == [0, 2, 4, 6, 8, 10]
    assert counts == [0, *numpy.histogram(array, limits)[0]]


def test_histograms_refuse_what_has_no_bins(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for wrong, match in (((keyway.ones(0),), "no values"), ((keyway.ones(2, dtype=keyway.complex64),), "real"),
                             ((keyway.ones(2), 0, [1.0]), "two edges"), ((keyway.ones(2), 0, [1.0, 1.0]), "edges of bins rise"),
                             ((keyway.ones(2), 0, "auto"), "tensorflow"), ((keyway.ones(2), 0, 0), "1 or more")):
            with pytest.raises((ValueError, TypeError), match=match):
                writer.add_histogram("h", *wrong)
    assert values(tmp_path) == []


def test_nan_is_counted_and_in_no_bin(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("h", [1.0, math.nan], bins=[0, 2])
    numbers, limits, counts = histogram(tmp_path)
    assert numbers[2] == 2 and all(map(math.isnan, numbers[:2] + numbers[3:]))
    assert (limits, counts) == ([0, 2], [0, 1])


def test_scalars_of_one_chart_are_files_of_one_tag(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("loss/all", {"train": 1.5, "test": keyway.tensor(2.5)}, 4)
    for name, value in (("train", 1.5), ("test", 2.5)):
        ((tag, step, found),) = values(tmp_path / f"loss_all_{name}")
        assert (tag, step, found[2]) == ("loss/all", 4, [value])


def test_a_purge_step_is_told(tmp_path):
    with SummaryWriter(tmp_path, purge_step=5):
        pass
    (path,) = tmp_path.iterdir()
    version, start = [fields(frame[12:-4]) for frame in records(path)]
    assert version[2] == [5]
    expected = fields(bytes.fromhex(GOLDEN["purge"])[12:-4])
    assert {**start, 1: [TIME]} == expected


def test_events_are_written_when_there_are_many_or_flush_is_called(tmp_path):
    writer = SummaryWriter(tmp_path, max_queue=3, filename_suffix=".mine")
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("events.out.tfevents.") and path.name.endswith(".mine")
    assert path.stat().st_size == 0
    for step in range(3):
        writer.add_scalar("a", step, step)
    assert len(records(path)) == 4
    writer.add_scalar("a", 3, 3)
    assert len(records(path)) == 4
    writer.flush()
    assert len(records(path)) == 5
    writer.close()
    writer.add_scalar("b", 1)  # into a new file
    writer.close()
    writer.close()
    assert len(list(tmp_path.iterdir())) == 2
    impatient = SummaryWriter(tmp_path / "impatient", flush_secs=0)
    (path,) = (tmp_path / "impatient").iterdir()
    assert len(records(path)) == 1
    impatient.add_scalar("a", 1)
    assert len(records(path)) == 2


def test_what_is_kept_is_written_when_the_program_ends(tmp_path):
    program = f"import keyway.utils.tensorboard as t; w = t.SummaryWriter({str(tmp_path)!r}); w.add_scalar('a', 1.5)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    ((tag, _, value),) = values(tmp_path)
    assert (tag, value[2]) == ("a", [1.5])


def test_threads_may_write_at_once(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        threads = [threading.Thread(target=lambda t=t: [writer.add_scalar(str(t), step, step) for step in range(200)])
                   for t in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = values(tmp_path)
    for t in range(4):
        assert [step for tag, step, _ in found if tag == str(t)] == list(range(200))


def test_graphs_refuse_what_readers_cannot_show(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for wrong, error, match in (([GraphNode("a", "x"), GraphNode("a", "y")], ValueError, "two nodes have the name 'a'"),
                                    ([GraphNode("", "x")], ValueError, "has no name"),
                                    ([GraphNode("a", "x", attributes={"k": object()})], TypeError, "attribute 'k' is a object"),
                                    ([GraphNode("a", "x", attributes={"k": 2**70})], TypeError, "attribute 'k' is a int")):
            with pytest.raises(error, match=match):
                writer.add_graph(wrong)
        writer.add_graph([("a", "x"), ("b", "y", ["a"])])  # plain tuples
    (event,) = events(tmp_path)
    assert [fields(node)[1] for node in fields(event[4][0])[1]] == [[b"a"], [b"b"]]


def nodes_in(folder):
    """name -> (operator, inputs) of the graph in a folder."""
    (event,) = events(folder)
    nodes = [fields(node) for node in fields(event[4][0])[1]]
    return {node[1][0].decode(): (node[2][0].decode(), [name.decode() for name in node.get(3, [])]) for node in nodes}


def test_a_model_is_a_graph_in_boxes_of_its_modules(tmp_path):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
            self.head = nn.Linear(4, 2)

        def forward(self, x, scale):
            return self.head(self.encoder(x)) * scale

    model = Model()
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, (keyway.randn(5, 3), keyway.ones(2)))
    assert nodes_in(tmp_path) == {
        "x": ("input", []),
        "scale": ("input", []),
        "encoder/0/weight": ("state", []),
        "encoder/0/bias": ("state", []),
        "head/weight": ("state", []),
        "head/bias": ("state", []),
        "encoder/0/linear": ("keyway::linear", ["x", "encoder/0/weight", "encoder/0/bias"]),
        "encoder/1/relu": ("keyway::relu", ["encoder/0/linear"]),
        "head/linear": ("keyway::linear", ["encoder/1/relu", "head/weight", "head/bias"]),
        "mul": ("keyway::mul.Tensor", ["head/linear", "scale"]),
        "output": ("output", ["mul"]),
    }
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_captured_graph_is_one_for_tensorboard(tmp_path):
    graph = keyway.graph.capture(lambda x: (x * 2, x.relu_() * 2), keyway.randn(3))
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(graph)
        with pytest.raises(TypeError):
            writer.add_graph(3)
    assert nodes_in(tmp_path) == {
        "x": ("input", []),
        "mul": ("keyway::mul.Scalar", ["x"]),
        "relu_": ("keyway::relu_", ["x"]),
        "mul_2": ("keyway::mul.Scalar", ["relu_"]),
        "output": ("output", ["mul"]),
        "output_2": ("output", ["mul_2"]),
    }


def test_a_model_that_cannot_be_captured_is_an_error_and_keeps_no_hooks(tmp_path):
    class Asks(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = nn.ReLU()

        def forward(self, x):
            return self.part(x) if x.sum() > 0 else x

    model = Asks()
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(keyway.ValueError, match="capture"):
            writer.add_graph(model, keyway.ones(3))
    assert not model.part._forward_hooks and not model.part._forward_pre_hooks
    assert not keyway.graph.is_capturing()


def test_a_folder_that_cannot_be_made_is_an_error_of_the_system(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError) as raised:
        SummaryWriter(tmp_path / "file" / "run")
    assert str(tmp_path / "file") in str(raised.value)


def test_the_default_folder_has_the_comment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    writer = SummaryWriter(comment="_lr0.1")
    assert writer.log_dir.startswith("runs" + os.sep) and writer.log_dir.endswith("_lr0.1")
    assert writer.get_logdir() == writer.log_dir
    assert (tmp_path / writer.log_dir).is_dir()
