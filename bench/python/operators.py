#!/usr/bin/env python3
"""Where keyway's operators are slower than torch's: calls of usual sizes in both, in turns in one process, on one thread,
those with the smallest ratio first. A ratio of 2 is twice as fast as torch.

    PYTHONPATH=build/release/python python3 bench/python/operators.py [--dtype bfloat16] [--backward] [--only conv,pool]
"""

from __future__ import annotations

import argparse
import json
import re
import time
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Callable

import keyway
import keyway.linalg
import keyway.nn.functional
import torch
import torch.nn.functional

# Name: call, as both libraries have it. Operands: see operands().
CALLS = {
    "add": "x + y",
    "add/strided": "x.t() + y.t().contiguous().t()",
    "add/broadcast": "x + row",
    "mul/number": "x * 2.5",
    "div": "x / y",
    "pow/2": "x ** 2",
    "pow": "lib.pow(x.abs(), y)",
    "sqrt": "lib.sqrt(x.abs())",
    "exp": "lib.exp(x)",
    "log": "lib.log(x.abs())",
    "sin": "lib.sin(x)",
    "tanh": "lib.tanh(x)",
    "erf": "lib.erf(x)",
    "sigmoid": "lib.sigmoid(x)",
    "relu": "F.relu(x)",
    "gelu": "F.gelu(x)",
    "gelu/tanh": "F.gelu(x, approximate='tanh')",
    "silu": "F.silu(x)",
    "softplus": "F.softplus(x)",
    "elu": "F.elu(x)",
    "hardswish": "F.hardswish(x)",
    "leaky_relu": "F.leaky_relu(x)",
    "clamp": "lib.clamp(x, -1, 1)",
    "where": "lib.where(x > 0, x, y)",
    "gt": "x > y",
    "maximum": "lib.maximum(x, y)",
    "addcmul": "lib.addcmul(x, x, y)",
    "lerp": "lib.lerp(x, y, 0.3)",
    "masked_fill": "x.masked_fill(mask, 0.5)",
    "floor": "lib.floor(x)",
    "to/float64": "x.to(lib.float64)",
    "to/int64": "x.to(lib.int64)",
    "contiguous/transposed": "x.t().contiguous()",
    "contiguous/4d": "images.permute(0, 2, 3, 1).contiguous()",
    "cat": "lib.cat([x, y], 1)",
    "stack": "lib.stack([x, y])",
    "flip": "lib.flip(x, [1])",
    "roll": "lib.roll(x, 3, 1)",
    "tril": "lib.tril(x)",
    "repeat": "x.repeat(2, 2)",
    "repeat_interleave": "x.repeat_interleave(2, 0)",
    "chunk": "x.chunk(4, 1)",
    "pad": "F.pad(images, [1, 1, 1, 1])",
    "pad/reflect": "F.pad(images, [1, 1, 1, 1], mode='reflect')",
    "sum": "x.sum()",
    "sum/0": "x.sum(0)",
    "sum/1": "x.sum(1)",
    "sum/middle": "images.sum([0, 2, 3])",
    "mean/1": "x.mean(1)",
    "amax/1": "x.amax(1)",
    "max/1": "x.max(1)",
    "max/0": "x.max(0)",
    "argmax/1": "x.argmax(1)",
    "any": "mask.any()",
    "prod/1": "x.prod(1)",
    "var/1": "x.var(1)",
    "std/0": "x.std(0)",
    "norm": "lib.linalg.vector_norm(x)",
    "norm/1": "lib.linalg.vector_norm(x, dim=1)",
    "logsumexp/1": "x.logsumexp(1)",
    "cumsum/1": "x.cumsum(1)",
    "cumsum/0": "x.cumsum(0)",
    "count_nonzero": "lib.count_nonzero(mask)",
    "softmax/1": "F.softmax(x, 1)",
    "softmax/0": "F.softmax(x, 0)",
    "log_softmax/1": "F.log_softmax(x, 1)",
    "sort/1": "x.sort(1)",
    "argsort/1": "x.argsort(1)",
    "topk/1": "x.topk(5, 1)",
    "median/1": "x.median(1)",
    "unique": "lib.unique(classes)",
    "nonzero": "mask.nonzero()",
    "bincount": "lib.bincount(classes)",
    "index/rows": "x[classes]",
    "index/mask": "x[mask]",
    "index_select": "x.index_select(0, classes)",
    "index_select/1": "x.index_select(1, classes)",
    "gather/1": "x.gather(1, indices)",
    "scatter_add/1": "zeros.scatter_add(1, indices, x)",
    "index_add": "zeros.index_add(0, classes, x[:256])",
    "embedding": "F.embedding(classes, x)",
    "one_hot": "F.one_hot(classes, 512)",
    "mm": "lib.mm(x, y)",
    "mm/transposed": "lib.mm(x, y.t())",
    "bmm": "lib.bmm(batches, batches)",
    "mv": "lib.mv(x, vector)",
    "linear": "F.linear(x, y, vector)",
    "linear/1": "F.linear(x[:1], y, vector)",
    "einsum": "lib.einsum('bij,bjk->bik', batches, batches)",
    "outer": "lib.outer(vector, vector)",
    "dot": "lib.dot(vector, vector)",
    "conv1d": "F.conv1d(lines, kernel1, padding=1)",
    "conv2d/1x1": "F.conv2d(images, kernel2[:, :, :1, :1])",
    "conv2d/3x3": "F.conv2d(images, kernel2, padding=1)",
    "conv2d/3x3/stride": "F.conv2d(images, kernel2, stride=2, padding=1)",
    "conv2d/depthwise": "F.conv2d(images, kernel_each, padding=1, groups=64)",
    "conv_transpose2d": "F.conv_transpose2d(images, kernel2, stride=2)",
    "max_pool2d": "F.max_pool2d(images, 2)",
    "max_pool2d/3": "F.max_pool2d(images, 3, 2, 1)",
    "avg_pool2d": "F.avg_pool2d(images, 2)",
    "adaptive_avg_pool2d/1": "F.adaptive_avg_pool2d(images, 1)",
    "adaptive_avg_pool2d/7": "F.adaptive_avg_pool2d(images, 7)",
    "batch_norm/train": "F.batch_norm(images, None, None, channels, channels, training=True)",
    "batch_norm/eval": "F.batch_norm(images, channels, channels.abs(), channels, channels)",
    "group_norm": "F.group_norm(images, 8)",
    "instance_norm": "F.instance_norm(images)",
    "layer_norm": "F.layer_norm(x, [512], vector, vector)",
    "rms_norm": "F.rms_norm(x, [512], vector)",
    "interpolate/nearest": "F.interpolate(images, scale_factor=2, mode='nearest')",
    "interpolate/bilinear": "F.interpolate(images, scale_factor=2, mode='bilinear')",
    "grid_sample": "F.grid_sample(images, grid, align_corners=False)",
    "pixel_shuffle": "F.pixel_shuffle(images, 2)",
    "unfold": "F.unfold(images, 3, padding=1)",
    "dropout": "F.dropout(x, 0.5)",
    "rand": "lib.rand(512, 512)",
    "randn": "lib.randn(512, 512)",
    "randint": "lib.randint(0, 100, (512, 512))",
    "randperm": "lib.randperm(10000)",
    "bernoulli": "lib.bernoulli(lib.full((512, 512), 0.5))",
    "multinomial": "lib.multinomial(x.abs(), 4)",
    "arange": "lib.arange(100000)",
    "linspace": "lib.linspace(0, 1, 100000)",
    "zeros": "lib.zeros(512, 512)",
    "mse_loss": "F.mse_loss(x, y)",
    "l1_loss": "F.l1_loss(x, y)",
    "smooth_l1_loss": "F.smooth_l1_loss(x, y)",
    "bce_with_logits": "F.binary_cross_entropy_with_logits(x, y.sigmoid())",
    "cross_entropy": "F.cross_entropy(x, labels)",
    "cross_entropy/smooth": "F.cross_entropy(x, labels, label_smoothing=0.1)",
    "kl_div": "F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction='batchmean')",
    "cosine_similarity": "F.cosine_similarity(x, y)",
    "normalize": "F.normalize(x)",
    "cdist": "lib.cdist(x[:128], y[:128])",
    "attention": "F.scaled_dot_product_attention(heads, heads, heads)",
    "attention/causal": "F.scaled_dot_product_attention(heads, heads, heads, is_causal=True)",
    "glu": "F.glu(x)",
    "fft": "lib.fft.fft(x.float())",
    "rfft": "lib.fft.rfft(x.float())",
    "searchsorted": "lib.searchsorted(vector.sort()[0], x)",
    "bucketize": "lib.bucketize(x, vector.sort()[0])",
    "histc": "lib.histc(x.float(), 50)",
    "meshgrid": "lib.meshgrid(vector, vector, indexing='ij')",
    "cumprod/1": "x.cumprod(1)",
    "logcumsumexp/1": "x.logcumsumexp(1)",
    "diff": "lib.diff(x)",
    "isnan": "lib.isnan(x)",
    "equal": "lib.equal(x, x)",
    "allclose": "lib.allclose(x, x)",
    "nan_to_num": "lib.nan_to_num(x)",
}


def operands(lib: ModuleType, dtype: str) -> dict[str, object]:
    drawn = torch.Generator().manual_seed(1)

    def of(tensor: torch.Tensor) -> object:
        return tensor if lib is torch else keyway.tensor(tensor.numpy())

    def real(*sizes: int) -> object:
        return of(torch.randn(sizes, generator=drawn)).to(getattr(lib, dtype))

    def whole(high: int, *sizes: int) -> object:
        return of(torch.randint(0, high, sizes, generator=drawn))

    return {
        "lib": lib, "F": lib.nn.functional, "x": real(512, 512), "y": real(512, 512), "row": real(1, 512),
        "vector": real(512), "zeros": real(512, 512) * 0, "batches": real(16, 64, 64), "lines": real(8, 64, 256),
        "images": real(8, 64, 28, 28), "kernel1": real(64, 64, 3), "kernel2": real(64, 64, 3, 3),
        "kernel_each": real(64, 1, 3, 3), "channels": real(64), "heads": real(2, 8, 128, 64),
        "grid": real(8, 28, 28, 2), "mask": whole(2, 512, 512).to(lib.bool), "classes": whole(512, 256),
        "indices": whole(512, 512, 512), "labels": whole(512, 512),
    }


def best(functions: list[Callable[[], object]], seconds: float) -> list[float]:
    """The shortest time of each, in microseconds; they run in turns."""
    times = [float("inf")] * len(functions)
    calls = []
    for function in functions:
        function()
        begin = time.perf_counter()
        function()
        calls.append(max(1, int(0.002 / (time.perf_counter() - begin + 1e-9))))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, function in enumerate(functions):
            begin = time.perf_counter()
            for _ in range(calls[i]):
                function()
            times[i] = min(times[i], (time.perf_counter() - begin) / calls[i])
    return [1e6 * t for t in times]


def machine() -> str:
    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return f"{date.today()}; {cpu.group(1) if cpu else 'unknown processor'}, one thread; PyTorch {torch.__version__}"


def with_backward(names: dict[str, object], code: object) -> Callable[[], object]:
    def run() -> None:
        result = eval(code, names)
        result = result[0] if isinstance(result, tuple) else result
        result.sum().backward()
        names["x"].grad = names["images"].grad = None
    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--backward", action="store_true", help="and the gradient of the sum by x and images")
    parser.add_argument("--only", default="", help="parts of names, with commas")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each row")
    parser.add_argument("--json", type=Path, help="write the times into this file too: tools/bench/figures.py reads it")
    options = parser.parse_args()
    sides = [operands(lib, options.dtype) for lib in (keyway, torch)]
    for lib in (keyway, torch):
        lib.set_num_threads(1)
    if options.backward:
        for names in sides:
            names["x"].requires_grad_(True)
            names["images"].requires_grad_(True)
    rows = []
    for name, text in CALLS.items():
        if not any(part in name for part in options.only.split(",")):
            continue
        code = compile(text, name, "eval")
        runs = [with_backward(names, code) if options.backward else (lambda names=names: eval(code, names))
                for names in sides]
        try:
            ours, theirs = best(runs, options.seconds)
        except Exception as error:  # what one of them does not take, or has no gradient of
            print(f"{name}: {type(error).__name__}: {str(error)[:120]}")
            continue
        rows.append((theirs / ours, name, ours, theirs))
    print(f"{'ratio':>7} {'keyway us':>10} {'torch us':>10}  call")
    for ratio, name, ours, theirs in sorted(rows):
        print(f"{ratio:7.2f} {ours:10.1f} {theirs:10.1f}  {name}")
    if options.json:
        what = f"Calls from Python, {options.dtype}{', with backward' if options.backward else ''}"
        calls = ",\n".join(f"  {json.dumps(name)}: [{ours:.4g}, {theirs:.4g}]" for _, name, ours, theirs in rows)
        head = json.dumps({"what": what, "machine": machine()}, indent=1).removesuffix("\n}")
        options.json.write_text(f'{head},\n "calls": {{\n{calls}\n }}\n}}\n')


if __name__ == "__main__":
    main()
