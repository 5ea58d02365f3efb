#!/usr/bin/env python3
"""Calls Keyway and PyTorch with PyTorch's own sample inputs (its OpInfo database) and lists where they differ.

    python3 compare_opinfo.py [--only REGEX] [--inputs sample|reference] [--dtypes float32,int64] [--mutate] [--strict]

Runs under a Python that has both packages (build/peer, which tools/setup.sh --bench makes, with a build's Python folder in
PYTHONPATH). Each sample is called as a function, a method, in place and with out=, with the gradient of its inputs where
PyTorch has one; then come the inputs that PyTorch refuses. A difference is one line: operator, form of the call, what
differs, in how many calls, and the first of them. accepted.json says which differences are meant, and why; they are counted
and not printed. With --strict any other difference fails, and so does an entry of that list that no difference matches.
Neither the build nor the tests need this file.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import random
import re
import signal
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keyway
import numpy
import torch
from torch.testing._internal.common_methods_invocations import op_db

sys.path.insert(0, __file__.rpartition("/")[0])
from mutations import by_name, mutated
from translate import Untranslatable, compare, described, to_keyway

DTYPES = "float32,float64,int64,bool,complex64,complex128,float16,bfloat16,uint8,int32,int8,int16"

# Values are drawn, or are whatever the memory held.
WITHOUT_VALUES = re.compile(
    r"empty|^rand|^normal|^bernoulli|^multinomial|dropout|rrelu|uniform|cauchy|exponential$|geometric|log_normal|^resize|"
    r"fractional_max_pool|multi_head_attention_forward"
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


class Accepted:
    """The differences of accepted.json: each entry says why, and has patterns of the lines that it stands for."""

    def __init__(self, path: Path) -> None:
        entries = json.loads(path.read_text())
        self.patterns = {pattern: re.compile(pattern) for entry in entries for pattern in entry["match"]}
        self.unmatched = set(self.patterns)

    def has(self, line: str) -> bool:
        matching = {pattern for pattern, compiled in self.patterns.items() if compiled.fullmatch(line)}
        self.unmatched -= matching
        return bool(matching)


def short(error: Exception | None) -> str:
    return f"{type(error).__name__}: {str(error).strip()}".splitlines()[0][:200]


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
    for owner in (keyway, keyway.Tensor):
        try:
            found = at_path(owner, op.name)
        except AttributeError:
            continue
        if callable(found):
            return found
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


def seed() -> None:
    """The samples of the database are drawn: the same ones in each run, whatever was compared before."""
    torch.manual_seed(0)
    numpy.random.seed(0)
    random.seed(0)


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
        real = module.view_as_real(leaf.resolve_conj()) if leaf.is_complex() else leaf
        flat = real.reshape(-1)
        part = (flat * (module.arange(flat.shape[0], dtype=flat.dtype) % 7 + 1)).sum()
        total = part if total is None else total + part
    if total is None:
        return []
    total.backward()
    return [leaf.grad for leaf in leaves(arguments, Tensor) if leaf.requires_grad]


class Comparison:
    """The calls of one operator: how many there were, and the differences with their first calls."""

    def __init__(self, op: Any, options: argparse.Namespace) -> None:
        self.op, self.options = op, options
        self.name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
        self.function = keyway_function(op)
        self.calls = 0
        self.found: dict[tuple[str, str], list[Any]] = {}

    def has_values(self, kwargs: dict[str, Any]) -> bool:
        return not WITHOUT_VALUES.search(self.op.name) and not kwargs.get("dropout_p")

    def note(self, form: str, kind: str, example: str) -> None:
        self.found.setdefault((form, kind), [0, example])[0] += 1

    def lines(self) -> list[tuple[str, int, str]]:
        """What differs, in how many calls, and the first of them."""
        return [(f"{self.name} [{form}] {kind}", *first) for (form, kind), first in sorted(self.found.items())]

    def judge(
        self, form: str, example: str, expected: Outcome, actual: Outcome, values: bool,
        computed_in: torch.dtype | None = None,
    ) -> None:
        self.calls += 1
        if expected.error is not None and actual.error is not None:
            if not isinstance(actual.error, type(expected.error)):
                kinds = f"{type(actual.error).__name__}, no {type(expected.error).__name__}"
                self.note(form, kinds, f"{example}: {short(actual.error)} / {short(expected.error)}")
        elif actual.error is not None:
            self.note(form, "refused", f"{example}: {short(actual.error)}")
        elif expected.error is not None:
            self.note(form, "accepted", f"{example}: PyTorch: {short(expected.error)}")
        else:
            difference = compare(actual.result, expected.result, values, computed_in)
            if difference:
                self.note(form, difference.kind, f"{example}: {difference.text}")

    def run(self) -> None:
        for dtype in map(lambda text: getattr(torch, text), self.options.dtypes.split(",")):
            if dtype in self.op.dtypes:
                seed()
                self.samples(dtype)
        seed()
        self.refusals()

    def samples(self, dtype: torch.dtype) -> None:
        with_grad = self.op.supports_autograd and dtype in (torch.float64, torch.complex128, torch.float32)
        with_grad = with_grad and dtype in self.op.supported_backward_dtypes("cpu")
        inputs = self.op.reference_inputs if self.options.inputs == "reference" else self.op.sample_inputs
        try:
            samples = list(inputs("cpu", dtype, requires_grad=with_grad))
        except Exception:  # of the database itself: some need what is not installed
            return
        for number, sample in enumerate(samples[: self.options.limit]):
            try:
                self.forms(sample, with_grad, thin=number >= 40)
            except Untranslatable:
                continue

    def forms(self, sample: Any, with_grad: bool, thin: bool) -> None:
        self.form("function", self.op.op, self.function, sample, with_grad)
        if thin:
            return
        for form, variant in (("method", self.op.method_variant), ("inplace", self.op.inplace_variant)):
            if variant is None:
                continue
            method = getattr(variant, "__name__", "")
            if not hasattr(torch.Tensor, method):
                continue
            theirs, ours = getattr(torch.Tensor, method), getattr(keyway.Tensor, method, None)
            if ours is None:
                self.note(form, "missing", method)
                continue
            self.form(form, theirs, ours, sample, with_grad and form == "method")
        if self.op.supports_out and not isinstance(self.op.op, types.FunctionType):
            self.outs(sample)
        if self.options.mutate:
            self.mutations(sample)

    def form(self, form: str, theirs: Any, ours: Any, sample: Any, with_grad: bool) -> None:
        args, kwargs = copies(sample, with_grad)
        our_args, our_kwargs = to_keyway(args), to_keyway(kwargs)
        example = described(args, kwargs)
        values = self.has_values(kwargs)
        expected, actual = outcome(theirs, *args, **kwargs), outcome(ours, *our_args, **our_kwargs)
        self.judge(form, example, expected, actual, values)
        if form == "inplace":
            self.judge("inplace argument", example, Outcome(args[0]), Outcome(our_args[0]), values)
        if not with_grad or expected.error or actual.error or not values:
            return
        expected = outcome(gradients, [args, kwargs], expected.result, torch.Tensor)
        actual = outcome(gradients, [our_args, our_kwargs], actual.result, keyway.Tensor)
        self.judge(form + " gradient", example, expected, actual, values)

    def outs(self, sample: Any) -> None:
        args, kwargs = copies(sample, False)
        plain = outcome(self.op.op, *args, **kwargs)
        results = plain.result if isinstance(plain.result, tuple) else (plain.result,)
        if plain.error or not all(isinstance(r, torch.Tensor) for r in results):
            return
        if self.op.name in ("tril", "triu", "lu_unpack", "linalg.lu"):
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
            expected = outcome(self.op.op, *args, **kwargs, out=out)
            actual = outcome(self.function, *our_args, **our_kwargs, out=our_out)
            values = self.has_values(kwargs)
            self.judge(f"out {what}", described(args, kwargs), expected, actual, values, results[0].dtype)

    def mutations(self, sample: Any) -> None:
        args, kwargs = copies(sample, False)
        calls = list(mutated(args, kwargs))
        packet = getattr(torch.ops.aten, self.op.name, None)
        if packet is not None:
            # What PyTorch itself refuses under these names is not asked of Keyway.
            calls += [call for call in by_name(args, kwargs, packet) if not outcome(self.op.op, *call[1], **call[2]).error]
        for what, args, kwargs in calls:
            try:
                our_args, our_kwargs = to_keyway(args), to_keyway(kwargs)
            except Untranslatable:
                continue
            example = what + " " + described(args, kwargs)
            values = self.has_values(kwargs)
            expected, actual = outcome(self.op.op, *args, **kwargs), outcome(self.function, *our_args, **our_kwargs)
            self.judge(re.sub(r"#\d+ ", "", what), example, expected, actual, values)

    def refusals(self) -> None:
        if self.op.error_inputs_func is None:
            return
        for given in self.op.error_inputs("cpu"):
            sample = given.sample_input
            try:
                args, kwargs = [sample.input, *sample.args], sample.kwargs
                our_args, our_kwargs = to_keyway([args, kwargs], {})
            except Untranslatable:
                continue
            expected, actual = outcome(self.op.op, *args, **kwargs), outcome(self.function, *our_args, **our_kwargs)
            self.judge("refusal", described(args, kwargs), expected, actual, True)


class Child:
    """A process that compares one operator, so that the rest is seen when one takes its process down."""

    def __init__(self, comparison: Comparison) -> None:
        self.name = comparison.name
        self.reading, writing = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(self.reading)
            signal.alarm(comparison.options.seconds)
            comparison.run()
            with os.fdopen(writing, "w") as pipe:
                json.dump([comparison.calls, comparison.lines()], pipe)
            os._exit(0)
        os.close(writing)

    def answer(self) -> tuple[int, list[tuple[str, int, str]]]:
        """The number of calls, and the lines of the comparison."""
        with os.fdopen(self.reading) as pipe:
            text = pipe.read()
        _, status = os.waitpid(self.process, 0)
        if text:
            return json.loads(text)
        return 0, [(f"{self.name} died", 1, f"signal {os.WTERMSIG(status)}, by Keyway's fault or PyTorch's")]


def run(options: argparse.Namespace) -> bool:
    """True if nothing differs but what is accepted."""
    accepted = Accepted(Path(__file__).with_name("accepted.json"))
    comparisons = [Comparison(op, options) for op in op_db]
    missing = {comparison.op.name for comparison in comparisons if comparison.function is None}
    chosen = [comparison for comparison in comparisons
              if comparison.function is not None and re.search(options.only or "", comparison.name)]
    calls = new = known = 0
    children: collections.deque[Child] = collections.deque()
    while chosen or children:
        while chosen and len(children) < options.jobs:
            children.append(Child(chosen.pop(0)))
        made, lines = children.popleft().answer()
        calls += made
        for line, count, example in lines:
            if accepted.has(line):
                known += 1
            else:
                new += 1
                print(f"{line} ({count}x): {example}", flush=True)
    print(f"\n{calls} calls, {new} distinct differences beside {known} that are accepted")
    print(f"not in Keyway ({len(missing)}): {' '.join(sorted(missing))}")
    if options.strict:
        for pattern in sorted(accepted.unmatched):
            print(f"accepted.json: nothing differs as {pattern!r} says")
    return not new and not (options.strict and accepted.unmatched)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="operators whose name matches")
    parser.add_argument("--inputs", choices=["sample", "reference"], default="sample")
    parser.add_argument("--dtypes", default=DTYPES)
    parser.add_argument("--mutate", action="store_true", help="also with one argument of another kind each")
    parser.add_argument("--strict", action="store_true", help="fail for entries of accepted.json that nothing matches, too")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--seconds", type=int, default=300, help="what an operator may take; beyond that signal 14 ends it")
    parser.add_argument("--limit", type=int, default=100, help="samples of an operator and dtype at most")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    print(f"PyTorch {torch.__version__}, Keyway {keyway.__version__}", flush=True)
    sys.exit(0 if run(options) else 1)


if __name__ == "__main__":
    main()
