"""Eight models: inference of one example, and training steps of a batch; eager, and compiled. One text for Keyway and
PyTorch. "steps" is what a capture takes with the first run of its plan, in eager calls.

    python graphs.py keyway --threads 1          # or torch; JSON: milliseconds of a call, and of the calls until it is compiled
    python graphs.py both PYTHON --threads 1     # Keyway in this Python, PyTorch in another; prints a table

Eager and compiled calls take turns: each figure is the least of many turns, a turn is the mean of several calls. With one
thread processor time counts, which other programs do not take from; with more, wall time.
"""

import json
import math
import subprocess
import sys
import time

TURNS = 40
TURN_SECONDS = 0.004


def models(nn, lib):
    """Name: a function that makes the model, and the shape of a batch."""

    class Residual(nn.Module):
        def __init__(self, block, out):
            super().__init__()
            self.block, self.out = block, out

        def forward(self, x):
            return self.out(x + self.block(x))

    class Mixer(nn.Module):
        def __init__(self, tokens, width):
            super().__init__()
            self.norm_tokens, self.norm_width = nn.LayerNorm(width), nn.LayerNorm(width)
            self.tokens = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
            self.width = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

        def forward(self, x):
            x = x + self.tokens(self.norm_tokens(x).transpose(1, 2)).transpose(1, 2)
            return x + self.width(self.norm_width(x))

    class UNet(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.down, self.deep = block(1, width, 1), block(width, 2 * width, 2)
            self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
            self.out = nn.Sequential(block(2 * width, width, 1), nn.Conv2d(width, 1, 1))

        def forward(self, x):
            high = self.down(x)
            return self.out(lib.cat([high, self.up(self.deep(high))], 1))

    class Decoder(nn.Module):
        """Transformer layers over tokens that see those before them."""

        def __init__(self, width, layers, tokens):
            super().__init__()
            self.layers = nn.ModuleList(
                [nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True) for _ in range(layers)])
            mask = lib.full((tokens, tokens), -math.inf).triu(1)
            self.register_buffer("mask", mask)

        def forward(self, x):
            for layer in self.layers:
                x = layer(x, src_mask=self.mask)
            return x

    class Last(nn.Module):
        def __init__(self, recurrent, out):
            super().__init__()
            self.recurrent, self.out = recurrent, out

        def forward(self, x):
            return self.out(self.recurrent(x)[0][:, -1])

    def block(channels, width, stride):
        return nn.Sequential(nn.Conv2d(channels, width, 3, stride=stride, padding=1), nn.BatchNorm2d(width), nn.ReLU())

    def residual(width):
        return Residual(nn.Sequential(block(width, width, 1), nn.Conv2d(width, width, 3, padding=1),
                                      nn.BatchNorm2d(width)), nn.ReLU())

    return {
        "mlp": (lambda: nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.GELU(),
                                      nn.Linear(512, 10)), (64, 256)),
        "convnet": (lambda: nn.Sequential(block(3, 16, 1), nn.MaxPool2d(2), block(16, 32, 1), nn.MaxPool2d(2),
                                          nn.Flatten(), nn.Linear(32 * 64, 10)), (16, 3, 32, 32)),
        "resnet": (lambda: nn.Sequential(block(3, 16, 1), residual(16), residual(16), block(16, 32, 2), residual(32),
                                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)), (8, 3, 32, 32)),
        "lstm": (lambda: Last(nn.LSTM(64, 128, batch_first=True), nn.Linear(128, 10)), (16, 32, 64)),
        "encoder": (lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True), 2), (8, 32, 64)),
        "decoder": (lambda: Decoder(64, 2, 32), (8, 32, 64)),
        "unet": (lambda: UNet(16), (4, 1, 32, 32)),
        "mixer": (lambda: nn.Sequential(nn.Linear(48, 64), Mixer(64, 64), Mixer(64, 64), nn.LayerNorm(64)), (8, 64, 48)),
    }


def seconds(calls, clock):
    """The least means of calls, in turns."""
    for call in calls:
        call()
    begin = clock()
    calls[0]()
    count = max(3, int(TURN_SECONDS / max(clock() - begin, 1e-7)))
    best = [math.inf] * len(calls)
    for _ in range(TURNS):
        for number, call in enumerate(calls):
            for _ in range(3):  # what the other one has left in the caches goes
                call()
            begin = clock()
            for _ in range(count):
                call()
            best[number] = min(best[number], (clock() - begin) / count)
    return best


def capture_seconds(lib, call, x, clock):
    """The least time that a capture takes with the first run of its plan."""
    best = math.inf
    for _ in range(20):
        begin = clock()
        step = lib.compile(call)
        step(x)
        step(x)
        best = min(best, clock() - begin)
    return best


def measure(lib, nn, threads):
    lib.set_num_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    figures = {}
    for name, (make, shape) in models(nn, lib).items():
        lib.manual_seed(0)
        batch = lib.randn(*shape)
        for mode in ("inference", "training"):
            x = batch[:1].contiguous() if mode == "inference" else batch
            model = make()
            model.train(mode == "training")
            optimizer = lib.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

            def infer(x):
                with lib.no_grad():
                    return model(x)

            def train(x):
                optimizer.zero_grad()
                loss = model(x).square().mean()
                loss.backward()
                optimizer.step()
                return loss.detach()

            call = infer if mode == "inference" else train
            call(x)
            # PyTorch compiles the model, Keyway the whole step: what each is told to be best at.
            if lib.__name__ == "torch":
                lib._dynamo.reset()  # models share code, of which it compiles eight kinds at most
                compiled_model = lib.compile(model)

                def step(x):
                    if mode == "inference":
                        with lib.no_grad():
                            return compiled_model(x)
                    optimizer.zero_grad()
                    loss = compiled_model(x).square().mean()
                    loss.backward()
                    optimizer.step()
                    return loss.detach()
            else:
                step = lib.compile(call)
            begin = time.perf_counter()
            for _ in range(3):
                step(x)
            first = time.perf_counter() - begin
            eager, compiled = seconds([lambda: call(x), lambda: step(x)], clock)
            figures[f"{name} {mode}"] = {"eager_ms": eager * 1e3, "compiled_ms": compiled * 1e3, "first_ms": first * 1e3}
            if lib.__name__ != "torch":
                figures[f"{name} {mode}"]["steps"] = capture_seconds(lib, call, x, clock) / eager
            print(name, mode, {k: round(v, 3) for k, v in figures[f"{name} {mode}"].items()}, file=sys.stderr)
    return figures


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def table(keyway, torch):
    print(f"{'':22}{'eager':>9}{'plan':>9}{'ratio':>8}{'steps':>7}"
          f"{'torch':>9}{'compile':>9}{'to compile':>11}{'first':>9}{'first':>9}")
    for row, own in keyway.items():
        line = (f"{row:22}{own['eager_ms']:9.3f}{own['compiled_ms']:9.3f}{own['eager_ms'] / own['compiled_ms']:8.2f}"
                f"{own['steps']:7.2f}")
        if row in torch:
            peer = torch[row]
            line += (f"{peer['eager_ms']:9.3f}{peer['compiled_ms']:9.3f}{peer['compiled_ms'] / own['compiled_ms']:11.2f}"
                     f"{own['first_ms']:9.1f}{peer['first_ms']:9.1f}")
        print(line)
    for mode in ("inference", "training"):
        rows = [row for row in keyway if row.endswith(mode)]
        line = f"{mode}: {geometric_mean([keyway[r]['eager_ms'] / keyway[r]['compiled_ms'] for r in rows]):.2f} of eager"
        if torch:
            line += f", {geometric_mean([torch[r]['compiled_ms'] / keyway[r]['compiled_ms'] for r in rows]):.2f} of torch.compile"
        print(line)


def main():
    threads = int(sys.argv[sys.argv.index("--threads") + 1]) if "--threads" in sys.argv else 1
    if sys.argv[1] == "both":
        sides = {}
        for lib, python in (("keyway", sys.executable), ("torch", sys.argv[2])):
            ran = subprocess.run([python, __file__, lib, "--threads", str(threads)], stdout=subprocess.PIPE, check=True)
            sides[lib] = json.loads(ran.stdout)
        table(sides["keyway"], sides["torch"])
        return
    if sys.argv[1] == "keyway":
        import keyway as lib
        from keyway import nn
        import keyway.optim  # noqa: F401
    else:
        import torch as lib
        from torch import nn
    print(json.dumps(measure(lib, nn, threads)))


main()
