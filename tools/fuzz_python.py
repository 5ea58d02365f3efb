#!/usr/bin/env python3
"""Random programs against the Python API: no program of pure Python, ctypes aside, ends by a signal, or hangs.

A program is a list of steps: tensors and views, calls of every operator with right and with wrong values, definitions,
kernels and fallbacks, redispatches, in-place changes, hooks, functions with gradients, vmap, threads, fork, plug-ins,
garbage collection. What a step does follows from the seed and the step's number alone, so that a program without some of
its steps is a program too. Each runs in a child process. Exceptions are what steps are expected to end by; a signal, a
failed exit or a time limit is a finding: it is shrunk to few steps, which are printed with the command that repeats them.

    PYTHONPATH=build/release/python python tools/fuzz_python.py --programs 100 --steps 300
"""

from __future__ import annotations

import argparse
import copy
import gc
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

MEMORY = 6 << 30  # bytes of address space of a program
KEYS = ["CPU", "Meta", "CUDA", "AutogradCPU", "AutogradMeta", "Autograd", "ADInplaceOrView", "BackendSelect", "Python",
        "Functionalize", "Tracer", "Forward", "AutocastCPU", "Batched", "Profiler", "Undefined", "SparseCPU",
        "QuantizedCPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "nonsense"]  # fmt: skip
# They read and write files.
LEFT_OUT = {"save", "load"}


class Program:
    """What steps have made, and how they choose from it."""

    def __init__(self, keyway: Any, plugins: list[str]) -> None:
        self.keyway = keyway
        self.plugins = plugins
        self.tensors: list[Any] = [keyway.ones(2, 3)]
        self.objects: list[Any] = []  # libraries, guards, handles, operators
        names = keyway._C._operator_names()
        self.operators = [keyway._C._find_overload(name) for name in names]
        self.schemas = {op: keyway._C._schema_of(op) for op in self.operators}
        self.defined: list[str] = []
        self.depth = 0

    def tensor(self, rng: random.Random) -> Any:
        return rng.choice(self.tensors[-30:])

    def keep(self, value: Any, rng: random.Random) -> None:
        if isinstance(value, self.keyway.Tensor):
            self.tensors.append(value)
        elif isinstance(value, (list, tuple)):
            for item in value[:4]:
                self.keep(item, rng)
        if len(self.tensors) > 60:
            del self.tensors[rng.randrange(30)]
        if len(self.objects) > 40:
            del self.objects[rng.randrange(20)]

    # --- values

    def sizes(self, rng: random.Random) -> list[int]:
        return [rng.choice([0, 1, 1, 2, 3, 4, 7]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4]))]

    def new_tensor(self, rng: random.Random) -> Any:
        k = self.keyway
        dtype = rng.choice([k.float32, k.float32, k.float64, k.int64, k.int32, k.uint8, k.bool, k.float16, k.bfloat16,
                            k.complex64, k.complex128])  # fmt: skip
        device = "meta" if rng.random() < 0.15 else "cpu"
        made = rng.choice([k.zeros, k.ones, k.empty])(self.sizes(rng), dtype=dtype, device=device)
        if rng.random() < 0.3 and (dtype.is_floating_point or dtype.is_complex):
            made.requires_grad_()
        return made

    def wrong(self, rng: random.Random) -> Any:
        k = self.keyway
        return rng.choice([
            None, True, 0, 1, -1, 2, 3, -7, 64, 2**31, 2**63 - 1, -(2**63), 2**64, 1.5, float("nan"), float("inf"), 1j, "",
            "cpu", "meta", "sum", "\0", "é" * 9, b"x", [], [0], [1, 2], [-1], [[1], [2]], (), (1,), {}, {"a": 1}, object(),
            int, len, range(3), k.float32, k.device("cpu"), k.strided, k.contiguous_format, k.DispatchKeySet("CPU"),
            k.Tensor, k.ones, self.tensor(rng), [self.tensor(rng)], [self.tensor(rng), None], self.new_tensor(rng),
            slice(None), Ellipsis, NotImplemented, iter([1]),
        ])  # fmt: skip

    def value(self, text: str, rng: random.Random) -> Any:
        """Of a schema's type, mostly."""
        k = self.keyway
        if rng.random() < 0.04:
            return self.wrong(rng)
        if text.endswith("?") and rng.random() < 0.5:
            return None
        base = text.split("(")[0].rstrip("?").split("[")[0].rstrip("?")
        if "[" in text:
            count = rng.choice([0, 1, 2, 2, 3])
            return [self.value(base, rng) for _ in range(count)]
        small = rng.choice([0, 1, 1, 2, 3, -1, -2])
        makers: dict[str, Callable[[], Any]] = {
            "Tensor": lambda: self.tensor(rng) if rng.random() < 0.8 else self.new_tensor(rng),
            "int": lambda: small, "SymInt": lambda: small, "float": lambda: rng.choice([0.0, 0.5, 1.0, -2.0]),
            "bool": lambda: rng.random() < 0.5, "Scalar": lambda: rng.choice([0, 1, 2, 0.5, -1.5, True, 1j]),
            "complex": lambda: 1j, "str": lambda: rng.choice(["", "sum", "mean", "reflect", "ij,jk->ik", "linear"]),
            "ScalarType": lambda: rng.choice([k.float32, k.int64, k.bool, k.complex64, k.float16]),
            "Device": lambda: rng.choice(["cpu", "meta", k.device("cpu")]), "Layout": lambda: k.strided,
            "MemoryFormat": lambda: rng.choice([k.contiguous_format, k.preserve_format, k.channels_last]),
            "Generator": lambda: k.Generator(),
        }  # fmt: skip
        return makers.get(base, lambda: self.wrong(rng))()

    def arguments(self, op: Any, rng: random.Random) -> tuple[list[Any], dict[str, Any]]:
        schema = self.schemas.get(op) or self.keyway._C._schema_of(op)
        args, kwargs = [], {}
        for name, text, keyword_only, _, has_default in schema[0]:
            if has_default and rng.random() < 0.6:
                if not keyword_only:
                    break
                continue
            if keyword_only or rng.random() < 0.1:
                kwargs[name] = self.value(text, rng)
            elif not kwargs:
                args.append(self.value(text, rng))
        return args, kwargs

    def operator(self, rng: random.Random) -> Any:
        if self.defined and rng.random() < 0.3:
            return self.keyway._C._find_overload(rng.choice(self.defined)) or self.operators[0]
        return rng.choice(self.operators)

    def keys(self, rng: random.Random) -> Any:
        return self.keyway.DispatchKeySet(*rng.sample(KEYS[:18], rng.choice([1, 1, 2, 3])))


# --- steps: each takes the program and its random numbers


def call(p: Program, rng: random.Random) -> None:
    op = p.operator(rng)
    args, kwargs = p.arguments(op, rng)
    p.keep(op(*args, **kwargs), rng)


def make(p: Program, rng: random.Random) -> None:
    p.keep(p.new_tensor(rng), rng)


def view(p: Program, rng: random.Random) -> None:
    x, n = p.tensor(rng), rng.choice([-1, 0, 1, 2])
    p.keep(rng.choice([
        lambda: x[n], lambda: x.t(), lambda: x.unsqueeze(n), lambda: x.expand(2, *x.shape), lambda: x[..., ::2],
        lambda: x.as_strided(p.sizes(rng), [rng.choice([0, 1, 2]) for _ in range(2)], n), lambda: x.view(-1),
        lambda: x.detach(), lambda: x.real, lambda: x.imag, lambda: x[None], lambda: x[p.wrong(rng)], lambda: x.data,
        lambda: x.view(rng.choice([p.keyway.uint8, p.keyway.int32, p.keyway.complex64])), lambda: x.chunk(2, n),
    ])(), rng)  # fmt: skip


def change(p: Program, rng: random.Random) -> None:
    x, y = p.tensor(rng), p.tensor(rng)

    def assign() -> None:
        x[rng.choice([0, -1, slice(None), slice(1, None), y, None])] = rng.choice([y, 1, 2.5])

    rng.choice([
        lambda: x.add_(y), lambda: x.zero_(), lambda: x.mul_(2), lambda: x.copy_(y), lambda: x.resize_(p.sizes(rng)),
        lambda: x.t_(), lambda: x.requires_grad_(), lambda: setattr(x, "data", y), lambda: setattr(x, "grad", y), assign,
        lambda: x.detach_(), lambda: x.exp_(), lambda: x.index_add_(0, y, x), lambda: x.resize_([2**40]),
    ])()  # fmt: skip


def backward(p: Program, rng: random.Random) -> None:
    x = p.tensor(rng)
    many = {"retain_graph": rng.random() < 0.3, "create_graph": rng.random() < 0.2}
    if rng.random() < 0.5:
        x.sum().backward(**many)
    else:
        y = p.tensor(rng)
        p.keep(p.keyway.autograd.grad([x.sum()], [y], allow_unused=rng.random() < 0.8, **many), rng)


def hook(p: Program, rng: random.Random) -> None:
    x = p.tensor(rng)
    results = [lambda g: None, lambda g: g * 2, lambda g: p.wrong(rng), lambda g: 1 / 0, lambda g: x.sum().backward(),
               lambda g: g.resize_([0]), lambda g: gc.collect() and None]  # fmt: skip
    place = x if rng.random() < 0.6 else x.grad_fn
    register = rng.choice(["register_hook", "register_hook", "register_prehook", "register_post_accumulate_grad_hook"])
    handle = getattr(place, register)(rng.choice(results))
    p.objects.append(handle)
    if rng.random() < 0.2:
        handle.remove()


def function(p: Program, rng: random.Random) -> None:
    choice = rng.randrange(6)

    class Odd(p.keyway.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return [x, x * 2, x.view(-1), p.wrong(rng), (x * 2, None), x.mul_(2)][choice]

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            saved = ctx.saved_tensors
            return rng.choice([grads[0], saved[0], None, p.wrong(rng), (grads[0], grads[0]), p.tensor(rng)])

    p.keep(Odd.apply(p.tensor(rng)), rng)


def kernel_of(p: Program, rng: random.Random, keys: bool = False, op: bool = False) -> Callable[..., Any]:
    """A kernel that keeps to its contract or does not."""
    kind, number = rng.randrange(9), rng.randrange(1 << 30)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        own = random.Random(number)
        given = args[keys + op :]
        if p.depth > 3:
            return given[0] if given else None
        p.depth += 1
        try:
            if kind == 0:
                return p.wrong(own)
            if kind == 1:
                raise ValueError("a kernel's")
            if kind == 2:
                return own.choice(STEPS)(p, own)
            if kind == 3 and keys and op:
                below = args[0] & p.keyway.DispatchKeySet.full_after(own.choice(KEYS[:16]))
                return args[1].redispatch(below, *given, **kwargs)
            if kind == 4 and p.objects:
                getattr(own.choice(p.objects), "destroy", lambda: None)()
            if kind == 5:
                return [p.tensor(own), p.tensor(own)]
            return given[0] * 2 if kind == 6 and given else p.tensor(own)
        finally:
            p.depth -= 1

    return kernel


def define(p: Program, rng: random.Random) -> None:
    types = ["Tensor", "Tensor", "Tensor(a!)", "Tensor?", "Tensor[]", "Tensor?[]", "int", "int[]", "int[2]", "float?", "str",
             "Scalar", "ScalarType?", "Device?", "bool", "Generator?", "Layout?", "MemoryFormat?"]  # fmt: skip
    arguments = [f"{rng.choice(types)} {name}" for name in rng.sample(["self", "x", "dim", "axis", "n", "out"], rng.randrange(4))]
    if arguments and rng.random() < 0.3:
        arguments.insert(rng.randrange(len(arguments)), "*")
    returns = rng.choice(["Tensor", "()", "(Tensor, Tensor)", "Tensor[]", "int", "(Tensor, int)", "str", "Tensor(a!)", "Tensor?"])
    name = f"f{rng.randrange(6)}" + rng.choice(["", "", ".o", ".out"])
    library = p.keyway.library.Library("fuzzed", "FRAGMENT")
    p.objects.append(library)
    full = library.define(f"{name}({', '.join(arguments)}) -> {returns}")
    p.defined.append(full)
    for key in rng.sample(KEYS, 2):
        with_keys = rng.random() < 0.3
        library.impl(full, kernel_of(p, rng, with_keys), key, with_keyset=with_keys)


def override(p: Program, rng: random.Random) -> None:
    op = p.operator(rng)
    library = p.keyway.library.Library(op.name().partition("::")[0], "IMPL")
    with_keys = rng.random() < 0.5
    kernel = p.keyway.library.fallthrough_kernel if rng.random() < 0.1 else kernel_of(p, rng, with_keys)
    library.impl(op.name(), kernel, rng.choice(KEYS), with_keyset=with_keys, allow_override=True)
    args, kwargs = p.arguments(op, rng)
    try:
        p.keep(op(*args, **kwargs), rng)
    finally:
        if rng.random() < 0.9:
            library.destroy()
        else:
            p.objects.append(library)


def fallback(p: Program, rng: random.Random) -> None:
    library = p.keyway.library.Library("_", "IMPL")
    key = rng.choice(KEYS)
    library.fallback(kernel_of(p, rng, True, True), key, with_keyset=True)
    try:
        with p.keyway.IncludeDispatchKeyGuard(key):
            call(p, rng)
    finally:
        library.destroy()


def redispatch(p: Program, rng: random.Random) -> None:
    op = p.operator(rng)
    args, kwargs = p.arguments(op, rng)
    keys = p.keys(rng)
    if rng.random() < 0.5 and args and isinstance(args[0], p.keyway.Tensor):
        own = p.keyway.dispatch_keys(args[0])
        functionalities = ("Autograd", "ADInplaceOrView", "Forward", "Batched", "Profiler", "Tracer")
        keys = own & p.keyway.DispatchKeySet.full_after(rng.choice(functionalities)) if rng.random() < 0.5 else own | keys
    p.keep(op.redispatch(keys, *args, **kwargs), rng)


def guard(p: Program, rng: random.Random) -> None:
    made = rng.choice([p.keyway.IncludeDispatchKeyGuard, p.keyway.ExcludeDispatchKeyGuard])(p.keys(rng))
    with made:
        call(p, rng)
    made.__exit__()


def transform(p: Program, rng: random.Random) -> None:
    k, op = p.keyway, p.operator(rng)
    args, kwargs = p.arguments(op, rng)

    def run(x: Any) -> Any:
        return op(x, *args[1:], **kwargs)

    rng.choice([
        lambda: p.keep(k.vmap(run, randomness="different")(p.tensor(rng)), rng),
        lambda: p.keep(k.func.grad(lambda x: run(x).sum())(p.tensor(rng)), rng),
        lambda: k.func.jvp(run, (p.tensor(rng),), (p.tensor(rng),)),
        lambda: p.objects.append(k.vmap(lambda x: p.objects.append(x) or x)(p.tensor(rng))),
        lambda: k.func.hessian(lambda x: run(x).sum())(p.tensor(rng)),
    ])()  # fmt: skip


def method(p: Program, rng: random.Random) -> None:
    """Any method or function with anything."""
    place = rng.choice([p.tensor(rng), p.tensor(rng), p.keyway, p.keyway.linalg, p.keyway.fft, p.keyway.nn.functional,
                        *p.objects[-3:]])  # fmt: skip
    names = [name for name in dir(place) if not name.startswith("_") and name not in LEFT_OUT]
    found = getattr(place, rng.choice(names))
    if callable(found) and not isinstance(found, type):
        args = [p.tensor(rng) if rng.random() < 0.5 else p.wrong(rng) for _ in range(rng.randrange(4))]
        p.keep(found(*args), rng)


def convert(p: Program, rng: random.Random) -> None:
    x = p.tensor(rng)
    p.keep(rng.choice([
        lambda: x.numpy(), lambda: pickle.loads(pickle.dumps(x)), lambda: copy.deepcopy(x), lambda: memoryview(x),
        lambda: p.keyway.from_dlpack(x), lambda: p.keyway.from_numpy(x.numpy()[::-1]), lambda: repr(x), lambda: x.tolist(),
        lambda: p.keyway.tensor(p.wrong(rng)), lambda: p.keyway.asarray(p.wrong(rng)), lambda: hash(x), lambda: bool(x),
        lambda: p.keyway.frombuffer(bytearray(9), dtype=x.dtype, count=rng.choice([-1, 0, 1, -2, 2**62])),
        lambda: p.keyway.Tensor._make_subclass(p.wrong(rng), x), lambda: pickle.loads(pickle.dumps(p.operator(rng))),
    ])(), rng)  # fmt: skip


def look(p: Program, rng: random.Random) -> None:
    op = p.operator(rng)
    args, kwargs = p.arguments(op, rng)
    rng.choice([
        lambda: str(p.keyway.explain(op, *args, **kwargs)), lambda: p.keyway.what_if(op, rng.choice(KEYS)),
        lambda: p.keyway.registry_snapshot("fuzzed"), lambda: p.keyway.library.opcheck(op, args, kwargs),
        lambda: op.__signature__, lambda: op.schema, lambda: p.keyway.dispatch_keys(p.wrong(rng)),
    ])()  # fmt: skip


def forget(p: Program, rng: random.Random) -> None:
    if p.objects and rng.random() < 0.6:
        gone = p.objects.pop(rng.randrange(len(p.objects)))
        getattr(gone, rng.choice(["destroy", "remove", "__exit__"]), lambda: None)()
    if len(p.tensors) > 5:
        del p.tensors[rng.randrange(len(p.tensors) - 1)]
    if rng.random() < 0.3:
        gc.collect()


def threads(p: Program, rng: random.Random) -> None:
    """Several at once; what they do must not hang, so it is waited for."""
    numbers = [rng.randrange(1 << 30) for _ in range(3)]

    def run(number: int) -> None:
        own = random.Random(number)
        for _ in range(4):
            attempt(own.choice(CALM), p, own)

    started = [threading.Thread(target=run, args=[number]) for number in numbers]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def fork(p: Program, rng: random.Random) -> None:
    number = rng.randrange(1 << 30)
    child = os.fork()
    if child == 0:
        own = random.Random(number)
        for _ in range(3):
            attempt(own.choice(CALM), p, own)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), os.WTERMSIG(status))


def plugin(p: Program, rng: random.Random) -> None:
    if not p.plugins:
        return make(p, rng)
    loaded = p.keyway.load_plugin(rng.choice(p.plugins))
    p.objects.append(loaded)
    call(p, rng)
    if rng.random() < 0.7:
        loaded.unload()
    return None


CALM = [make, view, change, backward, convert, look, forget, call]
STEPS = [call] * 8 + [make] * 3 + [view, change] * 4 + [backward, hook, function, define, override] * 2
STEPS += [fallback, redispatch, redispatch, guard, transform, transform, method, method, method, convert, look, forget]
STEPS += [threads, fork, plugin]


def attempt(step: Callable[[Program, random.Random], None], p: Program, rng: random.Random) -> None:
    try:
        step(p, rng)
    except MemoryError:
        pass
    except Exception:
        sys.exc_info()  # expected


def run_child(options: argparse.Namespace) -> None:
    """The program itself. It says which step it is at, for the parent."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import faulthandler

    import keyway

    faulthandler.enable()
    warnings.simplefilter("ignore")
    keyway.set_num_threads(2)
    p = Program(keyway, options.plugin)
    left_out = options.without.split(",")
    STEPS[:] = [make if step.__name__ in left_out else step for step in STEPS]
    steps = range(options.steps) if options.keep is None else [int(i) for i in options.keep.split(",")]
    for i in steps:
        rng = random.Random(f"{options.seed}:{i}")
        step = rng.choice(STEPS)
        os.write(1, f"{i} {step.__name__}\n".encode())
        attempt(step, p, rng)
    os.write(1, b"end\n")


# --- the parent


def run_program(options: argparse.Namespace, seed: int, steps: list[int] | None) -> tuple[str, list[str], str]:
    """How it ended: "" if well; the steps that were begun; what it said."""
    command = [sys.executable, os.path.abspath(__file__), "--child", "--seed", str(seed), "--steps", str(options.steps)]
    command += [part for path in options.plugin for part in ("--plugin", path)]
    if steps is not None:
        command += ["--keep", ",".join(map(str, steps))]
    if options.without:
        command += ["--without", options.without]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               start_new_session=True)  # fmt: skip
    try:
        out, said = program.communicate(timeout=options.limit)
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, signal.SIGKILL)  # what it forked, too
        out, said = program.communicate()
        return f"it hangs ({options.limit} s)", out.splitlines(), said
    begun, code = out.splitlines(), program.returncode
    if code < 0:
        return f"signal {signal.Signals(-code).name}", begun, said
    if code != 0 or begun[-1:] != ["end"]:
        return f"exit code {code}", begun, said
    return "", begun, said


def shrink(options: argparse.Namespace, seed: int, how: str, steps: list[int]) -> list[int]:
    """Steps that still end in the same way: parts are left out, halves first, then ever smaller ones."""
    size = len(steps) // 2
    while size > 0:
        at = 0
        while at < len(steps):
            fewer = steps[:at] + steps[at + size :]
            if fewer and run_program(options, seed, fewer)[0] == how:
                steps = fewer
            else:
                at += size
        size //= 2
    return steps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=20, help="how many; their seeds count from --seed")
    parser.add_argument("--steps", type=int, default=300, help="of each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=300, help="seconds that a program may take")
    parser.add_argument("--plugin", action="append", default=[], help="a plug-in's file to load and unload; repeatable")
    parser.add_argument("--keep", help="the numbers of the steps that are run, with commas: all others are left out")
    parser.add_argument("--without", default="", help="kinds of steps that are left out, with commas: fork,threads")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        run_child(options)
        return 0
    kept = None if options.keep is None else [int(i) for i in options.keep.split(",")]
    found = 0
    for seed in range(options.seed, options.seed + options.programs):
        how, begun, said = run_program(options, seed, kept)
        if not how:
            continue
        if not begun:
            sys.exit(f"no program can begin: {how}\n{said}")
        found += 1
        steps = [int(line.split()[0]) for line in begun if line != "end"]
        if not options.no_shrink and steps:
            steps = shrink(options, seed, how, steps)
            again, begun, said = run_program(options, seed, steps)
            how = how if again == how else f"{how}, not every time"
        keep = ",".join(map(str, steps))
        print(f"seed {seed}: {how}\n  --programs 1 --seed {seed} --steps {options.steps} --keep {keep}")
        print("  " + ", ".join(begun[-12:]) + "\n" + "\n".join("  " + line for line in said.splitlines()[-25:]), flush=True)
    print(f"{options.programs} programs of {options.steps} steps: {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
