#!/usr/bin/env python3
"""Calls Keyway and PyTorch with PyTorch's own sample inputs (its OpInfo database) and lists where they differ.

    python3 compare_opinfo.py [--only REGEX] [--inputs sample|reference] [--dtypes float32,int64] [--mutate]

Runs under a Python that has both packages. Each sample is called as a function, a method, in place and with out=, with the
gradient of its inputs where PyTorch has one; then come the inputs that PyTorch refuses. A difference is one line: operator,
form of the call, what differs, in how many calls, and the first of them. Needs PyTorch 2: neither the build nor the tests
need this file.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import re
import signal
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import keyway
import torch
from torch.testing._internal.common_methods_invocations import op_db

sys.path.insert(0, __file__.rpartition("/")[0])
from mutations import by_name, mutated
from translate import Untranslatable, compare, described, to_keyway

DTYPES = "float32,float64,int64,bool,complex64,complex128,float16,bfloat16,uint8,int32,int8,int16"

# Values are drawn, or are whatever the memory held.
WITHOUT_VALUES = re.compile(
    r"empty|^rand|^normal|^bernoulli|^multinomial|dropout|rrelu|uniform|cauchy|exponential$|geometric|log_normal|^resize"
)


@dataclasses.dataclass
class Outcome:
    """What a call gave: a result, or the exception."""

    result: Any = None
    error: Exception | None = None


def outcome(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Outcome:
    try:
        return Outcome(result=function(*args, **kwargs))
    except Untranslatable:
        raise
    except Exception as error:  # whatever it is: its kind is what is compared
        return Outcome(error=error)


class Differences:
    """Counts of differences, with the first call of each. They are printed when an operator is done."""

    def __init__(self) -> None:
        self.calls = 0
        self.distinct = 0
        self.counts: collections.Counter[tuple[str, str, str]] = collections.Counter()
        self.first: dict[tuple[str, str, str], str] = {}

    def note(self, op: str, form: str, kind: str, example: str) -> None:
        self.counts[op, form, kind] += 1
        self.first.setdefault((op, form, kind), example)

    def print_and_clear(self) -> None:
        for (op, form, kind), count in sorted(self.counts.items()):
            print(f"{op} [{form}] {kind} ({count}x): {self.first[op, form, kind]}", flush=True)
        self.distinct += len(self.counts)
        self.counts.clear()
        self.first.clear()


def short(error: Exception | None) -> str:
    return f"{type(error).__name__}: {str(error).strip()}".splitlines()[0][:200]


def judge(differences: Differences, op: str, form: str, example: str, expected: Outcome, actual: Outcome, values: bool) -> None:
    differences.calls += 1
    if expected.error is not None and actual.error is not None:
        if not isinstance(actual.error, type(expected.error)):
            kinds = f"{type(actual.error).__name__}, no {type(expected.error).__name__}"
            differences.note(op, form, kinds, f"{example}: {short(actual.error)} / {short(expected.error)}")
    elif actual.error is not None:
        differences.note(op, form, "refused", f"{example}: {short(actual.error)}")
    elif expected.error is not None:
        differences.note(op, form, "accepted", f"{example}: PyTorch: {short(expected.error)}")
    else:
        difference = compare(actual.result, expected.result, values)
        if difference:
            differences.note(op, form, difference.kind, f"{example}: {difference.text}")


def at_path(root: Any, path: str) -> Any:
    for name in path.split("."):
        root = getattr(root, name)
    return root


def with_keyway(function: types.FunctionType) -> types.FunctionType:
    """A wrapper of the database, with keyway for torch."""
    names = dict(function.__globals__, torch=keyway, F=keyway.nn.functional)
    return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)


def keyway_function(op: Any) -> Callable[..., Any] | None:
    """Keyway's function of the same name, or None if it has none."""
    if isinstance(op.op, types.FunctionType) and op.op.__module__.startswith("torch.testing") and not op.op.__closure__:
        return with_keyway(op.op)
    try:
        return at_path(keyway, op.name)
    except AttributeError:
        return None


def copies(sample: Any, requires_grad: bool) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a sample as new leaves."""

    def copied(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            size = 1 + sum((n - 1) * s for n, s in zip(value.shape, value.stride())) if value.numel() else 0
            memory = torch.as_strided(value.detach(), (size,), (1,), value.storage_offset()).clone()
            fresh = torch.as_strided(memory, value.shape, value.stride(), 0)
            return fresh.requires_grad_(requires_grad and value.requires_grad)
        if type(value) in (list, tuple):
            return type(value)(copied(v) for v in value)
        return value

    return [copied(sample.input), *map(copied, sample.args)], {k: copied(v) for k, v in sample.kwargs.items()}


def leaves(value: Any, Tensor: type) -> list[Any]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item, Tensor)]
    if isinstance(value, dict):
        return leaves(list(value.values()), Tensor)
    return []


def gradients(arguments: Any, result: Any, Tensor: type) -> list[Any]:
    """Of the sum of all results that have a gradient, with weights that tell elements apart."""
    module = torch if Tensor is torch.Tensor else keyway
    total = None
    for leaf in leaves(result, Tensor):
        if not leaf.requires_grad:
            continue
        real = module.view_as_real(leaf) if leaf.is_complex() else leaf
        flat = real.reshape(-1)
        part = (flat * (module.arange(flat.shape[0], dtype=flat.dtype) % 7 + 1)).sum()
        total = part if total is None else total + part
    if total is None:
        return []
    total.backward()
    return [leaf.grad for leaf in leaves(arguments, Tensor) if leaf.requires_grad]


class Comparison:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.differences = Differences()

    def run(self) -> None:
        """Each operator in a process of its own, so that the rest is seen when one takes its process down."""
        missing, calls, distinct = set(), 0, 0
        for op in op_db:
            name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
            if self.options.only and not re.search(self.options.only, name):
                continue
            function = keyway_function(op)
            if function is None:
                missing.add(op.name)
                continue
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                signal.alarm(self.options.seconds)
                self.operator(op, name, function)
                os.write(writing, json.dumps([self.differences.calls, self.differences.distinct]).encode())
                os._exit(0)
            os.close(writing)
            with os.fdopen(reading) as pipe:
                counts = pipe.read()
            _, status = os.waitpid(child, 0)
            if not counts:
                print(f"{name} died with signal {os.WTERMSIG(status)} (by Keyway's fault or PyTorch's)", flush=True)
                continue
            calls, distinct = (sum(pair) for pair in zip((calls, distinct), json.loads(counts)))
        print(f"\n{calls} calls, {distinct} distinct differences")
        print(f"not in Keyway ({len(missing)}): {' '.join(sorted(missing))}")

    def operator(self, op: Any, name: str, function: Callable[..., Any]) -> None:
        for dtype in map(lambda text: getattr(torch, text), self.options.dtypes.split(",")):
            if dtype in op.dtypes:
                self.samples(op, name, function, dtype)
        self.refusals(op, name, function)
        self.differences.print_and_clear()

    def samples(self, op: Any, name: str, function: Callable[..., Any], dtype: torch.dtype) -> None:
        with_grad = op.supports_autograd and dtype in (torch.float64, torch.complex128, torch.float32)
        with_grad = with_grad and dtype in op.supported_backward_dtypes("cpu")
        inputs = op.reference_inputs if self.options.inputs == "reference" else op.sample_inputs
        try:
            samples = list(inputs("cpu", dtype, requires_grad=with_grad))
        except Exception:  # of the database itself: some need what is not installed
            return
        for number, sample in enumerate(samples[: self.options.limit]):
            try:
                self.forms(op, name, function, sample, with_grad, thin=number >= 40)
            except Untranslatable:
                continue

    def forms(self, op: Any, name: str, function: Callable[..., Any], sample: Any, with_grad: bool, thin: bool) -> None:
        self.form(op, name, "function", op.op, function, sample, with_grad)
        if thin:
            return
        for form, variant in (("method", op.method_variant), ("inplace", op.inplace_variant)):
            if variant is None:
                continue
            method = getattr(variant, "__name__", "")
            if not hasattr(torch.Tensor, method):
                continue
            theirs, ours = getattr(torch.Tensor, method), getattr(keyway.Tensor, method, None)
            if ours is None:
                self.differences.note(name, form, "missing", method)
                continue
            self.form(op, name, form, theirs, ours, sample, with_grad and form == "method")
        if op.supports_out and not isinstance(op.op, types.FunctionType):
            self.outs(op, name, function, sample)
        if self.options.mutate:
            self.mutations(op, name, function, sample)

    def form(self, op: Any, name: str, form: str, theirs: Any, ours: Any, sample: Any, with_grad: bool) -> None:
        args, kwargs = copies(sample, with_grad)
        our_args, our_kwargs = to_keyway(args), to_keyway(kwargs)
        example = described(args, kwargs)
        values = not WITHOUT_VALUES.search(op.name)
        expected, actual = outcome(theirs, *args, **kwargs), outcome(ours, *our_args, **our_kwargs)
        judge(self.differences, name, form, example, expected, actual, values)
        if form == "inplace":
            judge(self.differences, name, "inplace argument", example, Outcome(args[0]), Outcome(our_args[0]), values)
        if not with_grad or expected.error or actual.error or not values:
            return
        expected = outcome(gradients, [args, kwargs], expected.result, torch.Tensor)
        actual = outcome(gradients, [our_args, our_kwargs], actual.result, keyway.Tensor)
        judge(self.differences, name, form + " gradient", example, expected, actual, values)

    def outs(self, op: Any, name: str, function: Callable[..., Any], sample: Any) -> None:
        args, kwargs = copies(sample, False)
        plain = outcome(op.op, *args, **kwargs)
        results = plain.result if isinstance(plain.result, tuple) else (plain.result,)
        if plain.error or not all(isinstance(r, torch.Tensor) for r in results):
            return
        if op.name in ("tril", "triu"):
            return  # PyTorch 2.15 writes outside of an out= that is transposed
        tries: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
            "empty": lambda r: r.new_empty(0),
            "transposed": lambda r: r.new_empty(r.shape[::-1]).permute(list(reversed(range(r.dim())))),
            "larger": lambda r: r.new_empty([n + 1 for n in r.shape]),
            "float64": lambda r: r.new_empty(r.shape, dtype=torch.float64),
            "int64": lambda r: r.new_empty(r.shape, dtype=torch.int64),
            "uint8": lambda r: r.new_empty(r.shape, dtype=torch.uint8),
            "complex64": lambda r: r.new_empty(r.shape, dtype=torch.complex64),
        }
        for what, make in tries.items():
            outs = tuple(make(r) for r in results)
            out = outs if isinstance(plain.result, tuple) else outs[0]
            our_out = to_keyway(out)
            args, kwargs = copies(sample, False)
            our_args, our_kwargs = to_keyway(args), to_keyway(kwargs)
            expected, actual = outcome(op.op, *args, **kwargs, out=out), outcome(function, *our_args, **our_kwargs, out=our_out)
            values = not WITHOUT_VALUES.search(op.name)
            judge(self.differences, name, f"out {what}", described(args, kwargs), expected, actual, values)

    def mutations(self, op: Any, name: str, function: Callable[..., Any], sample: Any) -> None:
        args, kwargs = copies(sample, False)
        calls = list(mutated(args, kwargs))
        packet = getattr(torch.ops.aten, op.name, None)
        if packet is not None:
            # What PyTorch itself refuses under these names is not asked of Keyway.
            calls += [call for call in by_name(args, kwargs, packet) if outcome(op.op, *call[1], **call[2]).error is None]
        for what, args, kwargs in calls:
            try:
                our_args, our_kwargs = to_keyway(args), to_keyway(kwargs)
            except Untranslatable:
                continue
            example = what + " " + described(args, kwargs)
            values = not WITHOUT_VALUES.search(op.name)
            expected, actual = outcome(op.op, *args, **kwargs), outcome(function, *our_args, **our_kwargs)
            judge(self.differences, name, re.sub(r"#\d+ ", "", what), example, expected, actual, values)

    def refusals(self, op: Any, name: str, function: Callable[..., Any]) -> None:
        if op.error_inputs_func is None:
            return
        for given in op.error_inputs("cpu"):
            sample = given.sample_input
            try:
                args, kwargs = [sample.input, *sample.args], sample.kwargs
                our_args, our_kwargs = to_keyway(args), to_keyway(kwargs)
            except Untranslatable:
                continue
            expected, actual = outcome(op.op, *args, **kwargs), outcome(function, *our_args, **our_kwargs)
            judge(self.differences, name, "refusal", described(args, kwargs), expected, actual, True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="operators whose name matches")
    parser.add_argument("--inputs", choices=["sample", "reference"], default="sample")
    parser.add_argument("--dtypes", default=DTYPES)
    parser.add_argument("--mutate", action="store_true", help="also with one argument of another kind each")
    parser.add_argument("--seconds", type=int, default=300, help="what an operator may take; beyond that signal 14 ends it")
    parser.add_argument("--limit", type=int, default=100, help="samples of an operator and dtype at most")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    Comparison(options).run()


if __name__ == "__main__":
    main()
