#!/usr/bin/env python3
"""Runs ONNX models beside onnxruntime, with random inputs, and prints how far the outputs are apart and how long a run takes.

    PYTHONPATH=build/release/python python tools/oracle/compare_onnx.py model.onnx --shape input=1,576 --value sr=16000

The Python has the package onnxruntime. Sizes that the model leaves open are 1 where no shape is given.
"""

import argparse
import re
import time

import numpy as np
import onnxruntime

import keyway


def random_input(kind, shape, draw):
    dtype, dims = re.fullmatch(r"(\w+)\[(.*)\]", kind).groups()
    if shape is None:
        shape = [int(dim) if dim.isdigit() else 1 for dim in dims.split(", ") if dim]
    if dtype.startswith("float"):
        return draw.standard_normal(shape).astype(dtype) / 8
    return draw.integers(0, 2 if dtype == "bool" else 256, shape).astype(dtype)


def best_time(run):
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3


def difference(found, expected):
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{list(found.shape)} is not {expected.dtype}{list(expected.shape)}"
    return f"{np.max(np.abs(found.astype('f8') - expected.astype('f8')), initial=0):.2e}"


def compare(path, shapes, values):
    model = keyway.onnx.load(path)
    draw = np.random.default_rng(0)
    inputs = {name: random_input(kind, shapes.get(name), draw) for name, kind in model.inputs.items()}
    for name, value in values.items():
        if name in inputs:
            inputs[name] = np.full_like(inputs[name], value)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = keyway.get_num_threads()
    session = onnxruntime.InferenceSession(path, options)
    tensors = {name: keyway.tensor(array) for name, array in inputs.items()}
    expected = session.run(list(model.outputs), inputs)
    found = model.run(tensors)
    for (name, tensor), array in zip(found.items(), expected):
        print(f"{path}: {name}: apart {difference(tensor.numpy(), array)}")
    print(f"{path}: Keyway {best_time(lambda: model.run(tensors)):.2f} ms, "
          f"onnxruntime {best_time(lambda: session.run(None, inputs)):.2f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--shape", action="append", default=[], metavar="INPUT=SIZES", help="an input's sizes: x=1,3,224,224")
    parser.add_argument("--value", action="append", default=[], metavar="INPUT=NUMBER", help="what an input is filled with")
    options = parser.parse_args()
    pairs = (text.split("=") for text in options.shape)
    shapes = {name: [int(size) for size in sizes.split(",")] for name, sizes in pairs}
    values = {name: float(number) for name, number in (text.split("=") for text in options.value)}
    for path in options.models:
        compare(path, shapes, values)


if __name__ == "__main__":
    main()
