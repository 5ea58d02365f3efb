"""Plans with and without parts that run beside each other: programs that have some, in so many threads.

    python plan_parts.py --threads 2     # prints milliseconds of a run: wall time, and processor time of all threads

Runs with parts and without take turns: each figure is the least of many turns, a turn is the mean of several runs.
"""

import argparse
import math
import time

import keyway
from keyway import nn
import keyway.optim  # noqa: F401

TURNS = 30
TURN_SECONDS = 0.01
LEARNING_RUNS = 20


class Towers(nn.Module):
    """Branches of one input, whose results are joined."""

    def __init__(self, towers):
        super().__init__()
        self.towers = nn.ModuleList(towers)

    def forward(self, x):
        return keyway.cat([tower(x) for tower in self.towers], 1)


def perceptron(width, layers):
    parts = []
    for _ in range(layers):
        parts += [nn.Linear(width, width), nn.Tanh()]
    return nn.Sequential(*parts)


def convolutions(channels, layers):
    parts = []
    for _ in range(layers):
        parts += [nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*parts)


class Last(nn.Module):
    def __init__(self, recurrent):
        super().__init__()
        self.recurrent = recurrent

    def forward(self, x):
        return self.recurrent(x)[0][:, -1]


def programs():
    """Name: a model, and the shape of a batch."""
    return {
        "4 perceptrons of width 64": (lambda: Towers([perceptron(64, 6) for _ in range(4)]), (64, 64)),
        "4 perceptrons of width 256": (lambda: Towers([perceptron(256, 6) for _ in range(4)]), (64, 256)),
        "4 convolutional towers": (lambda: Towers([convolutions(16, 3) for _ in range(4)]), (4, 16, 16, 16)),
        "perceptron": (lambda: perceptron(256, 4), (32, 256)),
        "LSTM in both directions": (lambda: Last(nn.LSTM(64, 128, batch_first=True, bidirectional=True)), (16, 32, 64)),
        "transformer layer": (
            lambda: nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True), (8, 32, 64)),
    }


def compiled(name, mode, interop_threads):
    keyway.set_num_interop_threads(interop_threads)
    keyway.manual_seed(0)
    make, shape = programs()[name]
    model, x = make(), keyway.randn(*shape)
    optimizer = keyway.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def infer():
        with keyway.no_grad():
            return model(x)

    def train():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step = keyway.compile(infer if mode == "inference" else train)
    for _ in range(LEARNING_RUNS):
        step()
    return step


def seconds(steps, threads):
    """Of each, the least wall time and the least processor time."""
    begin = time.perf_counter()
    steps[0]()
    count = max(3, int(TURN_SECONDS / max(time.perf_counter() - begin, 1e-7)))
    best = [(math.inf, math.inf)] * len(steps)
    for _ in range(TURNS):
        for number, step in enumerate(steps):
            keyway.set_num_interop_threads(threads[number])
            step()
            wall, processor = time.perf_counter(), time.process_time()
            for _ in range(count):
                step()
            wall, processor = (time.perf_counter() - wall) / count, (time.process_time() - processor) / count
            best[number] = (min(best[number][0], wall), min(best[number][1], processor))
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    threads = parser.parse_args().threads
    keyway.set_num_threads(threads)
    print(f"{'':36}{'in turn':>9}{'CPU':>9}{'parts':>9}{'CPU':>9}{'faster':>8}")
    for name in programs():
        for mode in ("inference", "training"):
            steps = [compiled(name, mode, number) for number in (1, threads)]
            (wall, processor), (parts_wall, parts_processor) = seconds(steps, (1, threads))
            print(f"{name + ' ' + mode:36}{wall * 1e3:9.3f}{processor * 1e3:9.3f}{parts_wall * 1e3:9.3f}"
                  f"{parts_processor * 1e3:9.3f}{wall / parts_wall:8.2f}  {steps[1].explain().splitlines()[-1]}")


main()
