"""Random statements of Keyway's Python API: what a program of fuzz_python.py is made of.

A statement is one line of Python over the names of program.py: the tensors t[0] to t[11], the values v[0] to v[7], and put(),
which keeps a result. Most arguments fit what they are given to; about one in eight is a value of any other kind.
"""

from __future__ import annotations

import keyword
import random
import re
from collections.abc import Callable

import keyway

TENSORS, VALUES = 12, 8

# What may end or stop a process by intent, changes files, or asks for more threads than there are.
_LEFT_OUT = re.compile(
    r"^(load|save|load_plugin|load_library|set_num_threads|set_num_interop_threads|compile|from_file|share_memory_|breakpoint|"
    r"testing|cuda|manual_seed_all|profiler|set_default_device|set_default_dtype)$"
)

_NUMBERS = ["-1", "0", "1", "2", "3", "5", "-2", "7", "2**31", "2**63-1", "-2**63", "2**64"]
_FLOATS = ["0.5", "-1.0", "0.0", "1e-3", "2.5", "float('nan')", "float('inf')", "1e300"]
_DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64", "float8_e4m3fn", "uint64", "qint8"]
_ANYTHING = [
    "None", "True", "'text'", "b'bytes'", "[]", "()", "{}", "object()", "[None]", "[1, 'a']", "1j", "range(3)", "slice(None)",
    "lambda *a: None", "keyway", "keyway.Tensor", "Exception()", "[[1.0], [2.0, 3.0]]", "keyway.float32", "keyway.device('meta')",
    "keyway.ops.keyway.add", "keyway.ops.keyway.relu.default", "keyway.Generator()", "type", "float('nan')", "2**70", "-1",
]
_KEYS = ["CPU", "Meta", "Autograd", "AutogradCPU", "ADInplaceOrView", "Batched", "Profiler", "Tracer", "Python", "ForwardAD", "CUDA",
         "Functionalize", "CopyOnWrite", "BackendSelect", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "AutocastCPU", "SparseCPU"]
_SCHEMAS = [
    "(Tensor x) -> Tensor", "(Tensor self, Tensor x) -> Tensor", "(Tensor x, int n=1) -> Tensor", "(Tensor(a!) x) -> Tensor(a!)",
    "(Tensor(a) x) -> Tensor(a)", "(Tensor x) -> (Tensor, Tensor)", "(Tensor[] x) -> Tensor[]", "(Tensor? x=None) -> Tensor?",
    "(Scalar s, *, Device? device=None) -> Tensor", "() -> ()", "(Tensor(a!) x) -> ()", "(str s='a', float[] f=[]) -> int",
    "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "(bool b, ScalarType? dtype=None) -> bool[]", "(Tensor x -> Tensor", "",
]
_KERNELS = [
    "lambda *a, **k: a[0]", "lambda *a, **k: None", "lambda *a, **k: (t[0], t[1])", "lambda *a, **k: t[0].clone()", "lambda *a, **k: 1 / 0",
    "lambda *a, **k: [1, 2]", "lambda x: x", "lambda: t[2]", "lambda *a, **k: keyway.empty_like(a[0])", "lambda *a, **k: a[0].add_(1)",
    "lambda *a, **k: 'text'", "lambda *a, **k: gc.collect()", "lambda *a, **k: a", "lambda *a, **k: t[0] @ t[1]", "5", "None",
    "lambda *a, **k: a[0].sum().backward()", "lambda *a, **k: keyway.relu(a[0])",
]
_HOOKS = ["lambda g: None", "lambda g: g * 2", "lambda g: t[3]", "lambda g: 1", "lambda g: 1 / 0", "lambda g: g.zero_()", "lambda *a: a",
          "lambda g: g.sum().backward()", "lambda g: g.detach().requires_grad_()", "None", "lambda g: gc.collect()"]

# What the methods of modes and of classes of wrapper tensors do: f(*a, **k) is the call.
_HANDLERS = ["f(*a, **k)"] * 5 + [
    "f(*a)", "None", "NotImplemented", "a[0]", "t[0]", "(t[0], t[1])", "[f(*a, **k)]", "wrap(f(*a, **k))", "f(*a, **k).detach()", "1 / 0",
    "5", "'text'", "a", "keyway.relu(t[0])", "a[0].add_(1)", "a[0].t_()", "a[0].set_data(t[0])", "a[0].sum().backward()", "gc.collect()",
    "a[0].__dict__.clear()", "keyway._C._set_dispatch_modes(()) or f(*a, **k)", "mode(lambda f, a, k: 1).__enter__()",
    "[m.__exit__() for m in keyway._C._dispatch_modes()] and f(*a, **k)", "f.redispatch(keyway.DispatchKeySet('CPU'), *a, **k)",
    "f(*[x.requires_grad_() if isinstance(x, keyway.Tensor) else x for x in a], **k)", "setattr(a[0], '__class__', keyway.Tensor) or f(*a, **k)",
]


def arguments_of(schema: str) -> list[tuple[str, str, bool]]:
    """(type, name, by keyword alone) of each argument of a schema."""
    inside, depth, parts, by_name, found = schema.partition("(")[2].rpartition(") ->")[0], 0, [""], False, []
    for character in inside:
        depth += character in "([" and 1 or (character in ")]" and -1 or 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    for part in map(str.strip, parts):
        if part == "*":
            by_name = True
        elif part:
            kind, _, rest = part.rpartition(" ")
            found.append((kind, rest.partition("=")[0], by_name))
    return found


class Statements:
    """Draws statements. The same seed gives the same ones, as long as the API has the same names."""

    def __init__(self, seed: int, plugins: list[str]) -> None:
        self.draw = random.Random(seed)
        self.plugins = plugins
        self.made = 0
        self.overloads = [
            (f"getattr(keyway.ops.keyway.{name}, {overload!r})" if keyword.iskeyword(overload) else f"keyway.ops.keyway.{name}.{overload}", arguments_of(getattr(packet, overload).schema))
            for name in dir(keyway.ops.keyway)
            if not _LEFT_OUT.match(name)
            for packet in [getattr(keyway.ops.keyway, name)]
            for overload in packet.overloads()
        ]
        self.methods = [name for name in dir(keyway.Tensor) if not _LEFT_OUT.match(name) and name not in ("__class__", "__init_subclass__")]
        rooms = {"keyway": keyway, "keyway.nn.functional": keyway.nn.functional, "keyway.linalg": keyway.linalg, "keyway.fft": keyway.fft,
                 "keyway.special": keyway.special, "keyway.func": keyway.func, "keyway.autograd": keyway.autograd,
                 "keyway.library": keyway.library, "keyway.nn.utils": keyway.nn.utils, "keyway.array_api": keyway.array_api}
        self.functions = [
            f"{room}.{name}" for room, module in rooms.items() for name in dir(module)
            if not name.startswith("_") and not _LEFT_OUT.match(name) and callable(getattr(module, name))
        ]
        self.layers = [name for name in dir(keyway.nn) if name[0].isupper()]
        self.kinds: list[tuple[int, Callable[[], str]]] = [
            (30, self.operator), (25, self.method), (14, self.function), (6, self.fresh), (8, self.index), (6, self.change), (6, self.view),
            (6, self.backward), (4, self.hook), (5, self.redispatch), (5, self.definition), (5, self.kernel), (2, self.library), (2, self.plugin),
            (2, self.transform), (2, self.layer), (3, self.state), (2, self.forget), (2, self.copying), (2, self.gradient_of_ones_own),
            (4, self.mode), (4, self.wrapper),
        ]

    def statement(self) -> str:
        chance = self.draw.random()
        if chance < 0.012:
            return f"together({self.one()!r}, {self.one()!r})"
        if chance < 0.016:
            return f"in_fork({self.one()!r})"
        return self.one()

    def one(self) -> str:
        (kind,) = self.draw.choices([kind for _, kind in self.kinds], [weight for weight, _ in self.kinds])
        return kind()

    # Values.

    def of(self, values: list[str]) -> str:
        return self.draw.choice(values)

    def tensor(self) -> str:
        return f"t[{self.draw.randrange(TENSORS)}]"

    def number(self) -> str:
        return self.of(_NUMBERS[:4]) if self.draw.random() < 0.8 else self.of(_NUMBERS)

    def anything(self) -> str:
        return self.of([self.tensor(), self.number(), self.of(_FLOATS), self.of(_ANYTHING), f"v[{self.draw.randrange(VALUES)}]"])

    def list_of(self, item: Callable[[], str], most: int = 4) -> str:
        return "[" + ", ".join(item() for _ in range(self.draw.randrange(most))) + "]"

    def value(self, kind: str) -> str:
        """A value of a schema's type, or sometimes of any other."""
        if self.draw.random() < 0.12:
            return self.anything()
        if kind.endswith("?"):
            return "None" if self.draw.random() < 0.4 else self.value(kind[:-1])
        listed = re.fullmatch(r"(.*)\[\d*\]", kind)
        if listed:
            return self.list_of(lambda: self.value(listed.group(1)))
        simple = {"int": self.number, "SymInt": self.number, "float": lambda: self.of(_FLOATS), "bool": lambda: self.of(["True", "False"]),
                  "Scalar": lambda: self.of([self.number(), self.of(_FLOATS), "1j"]), "ScalarType": lambda: "keyway." + self.of(_DTYPES),
                  "str": lambda: self.of(["'mean'", "'sum'", "'none'", "''", "'linear'"]), "Device": lambda: self.of(["'cpu'", "'meta'", "'cuda'"]),
                  "Layout": lambda: "keyway.strided", "Generator": lambda: "keyway.Generator()",
                  "MemoryFormat": lambda: self.of(["keyway.contiguous_format", "keyway.channels_last", "keyway.preserve_format"])}
        return simple[kind]() if kind in simple else self.tensor()

    def call(self, arguments: list[tuple[str, str, bool]]) -> str:
        words = [f"{name}={self.value(kind)}" if by_name else self.value(kind)
                 for kind, name, by_name in arguments if not by_name or self.draw.random() < 0.5 or name == "out"]
        if self.draw.random() < 0.03:
            words.append(self.of([self.anything(), f"nothing={self.anything()}"]))
        positional = [word for word in words if not re.match(r"[a-z_]\w*=[^=]", word)]
        return ", ".join(positional + [word for word in words if word not in positional])

    def some_call(self) -> str:
        words = [self.tensor()] if self.draw.random() < 0.7 else []
        return ", ".join(words + [self.anything() for _ in range(self.draw.randrange(3))])

    def kept(self, expression: str) -> str:
        return f"put({self.draw.randrange(TENSORS)}, {expression})"

    def new_name(self) -> str:
        self.made += 1
        return f"fuzz::op{self.made}"

    def known_name(self) -> str:
        return f"fuzz::op{self.draw.randint(max(1, self.made - 4), max(1, self.made))}"

    # Statements.

    def operator(self) -> str:
        name, arguments = self.draw.choice(self.overloads)
        return self.kept(f"{name}({self.call(arguments)})")

    def method(self) -> str:
        name = self.of(self.methods)
        call = "" if self.draw.random() < 0.2 else f"({self.some_call() if self.draw.random() < 0.5 else ''})"
        return self.kept(f"{self.tensor()}.{name}{call}")

    def function(self) -> str:
        return self.kept(f"{self.of(self.functions)}({self.some_call()})")

    def fresh(self) -> str:
        sizes = ", ".join(self.of(["0", "1", "2", "3", "4"]) for _ in range(self.draw.randrange(4)))
        return self.kept(self.of([
            f"keyway.randn([{sizes}], requires_grad=True)", f"keyway.randn([{sizes}])", f"keyway.ones([{sizes}], dtype=keyway.{self.of(_DTYPES)})",
            f"keyway.empty([{sizes}], device='meta')", f"keyway.randn([{sizes}], dtype=keyway.complex128, requires_grad=True)",
            f"keyway.tensor({self.anything()})", f"keyway.randint(0, 3, [{sizes}])", f"nn.Parameter(keyway.randn([{sizes}]))",
        ]))

    def index(self) -> str:
        item = self.of([self.number(), "...", "None", ":", "1:", "::2", "t[7]", self.tensor(), "[0, 1]", f"({self.number()}, ...)", "..., 0",
                        self.anything()])
        if self.draw.random() < 0.4:
            return f"{self.tensor()}[{item}] = {self.of([self.tensor(), '2.0', self.anything()])}"
        return self.kept(f"{self.tensor()}[{item}]")

    def change(self) -> str:
        call = self.of(["add_(1)", f"mul_({self.tensor()})", "exp_()", "zero_()", f"copy_({self.tensor()})", "sigmoid_()", "t_()", "squeeze_()",
                        f"resize_([{self.number()}])", "detach_()", "requires_grad_()", f"set_({self.tensor()})", "swapaxes_(0, 1)",
                        f"index_put_([t[7]], {self.tensor()})", "unsqueeze_(0)", "as_strided_([2, 2], [1, 1])"])
        return f"{self.tensor()}.{call}"

    def view(self) -> str:
        call = self.of(["t()", "view(-1)", "unsqueeze(0)", "expand(2, 3, 3)", "transpose(0, -1)", "detach()", "view_as(t[0])", "unfold(0, 2, 1)",
                        "unbind()", "split(1)", "real", "imag", "diagonal()", "T", "data", "grad", "_base", "narrow(0, 0, 1)",
                        f"as_strided([{self.number()}, 2], [{self.number()}, 1], {self.number()})", f"view(keyway.{self.of(_DTYPES)})"])
        return self.kept(f"{self.tensor()}.{call}")

    def backward(self) -> str:
        many = self.of(["", "create_graph=True", "retain_graph=True", "allow_unused=True"])
        return self.of([
            f"{self.tensor()}.sum().backward({many if 'unused' not in many else ''})", f"{self.tensor()}.backward({self.anything()})",
            self.kept(f"keyway.autograd.grad(({self.tensor()} * {self.tensor()}).sum(), [{self.tensor()}, {self.tensor()}], {many})"),
            f"keyway.autograd.backward([{self.tensor()}, {self.tensor()}], {self.of(['None', '[None, t[0]]', self.anything()])})",
            f"{self.tensor()}.grad = {self.of(['None', self.tensor(), self.anything()])}", f"{self.tensor()}.retain_grad()",
        ])

    def hook(self) -> str:
        return self.of([
            f"keep({self.tensor()}.register_hook({self.of(_HOOKS)}))", f"keep({self.tensor()}.grad_fn.register_hook({self.of(_HOOKS)}))",
            f"keep({self.tensor()}.grad_fn.register_prehook({self.of(_HOOKS)}))", f"v[{self.draw.randrange(VALUES)}].remove()",
            f"keep({self.tensor()}.register_post_accumulate_grad_hook({self.of(_HOOKS)}))", f"keep({self.tensor()}.grad_fn.next_functions)",
            f"keep({self.tensor()}.grad_fn({self.tensor()}))",
        ])

    def redispatch(self) -> str:
        name, arguments = self.draw.choice(self.overloads)
        likely = ["CPU", "Meta", "AutogradCPU", "ADInplaceOrView", "Batched"]
        keys = ", ".join(repr(self.of(likely if self.draw.random() < 0.7 else _KEYS)) for _ in range(self.draw.randint(1, 3)))
        return self.kept(f"{name}.redispatch(keyway.DispatchKeySet({keys}), {self.call(arguments)})")

    def definition(self) -> str:
        schema, kernel = self.of(_SCHEMAS), self.of(_KERNELS)
        return self.of([
            f"keep(keyway.library.custom_op({self.new_name()!r}, {kernel}, mutates_args=(), schema={schema!r}))",
            f"keyway.library.define({self.new_name()!r}, {schema!r})", f"lib().define({('op' + str(self.made) + schema)!r})",
            f"v[{self.draw.randrange(VALUES)}] = keyway.library.custom_op({self.new_name()!r}, {kernel}, mutates_args={self.of(['()', '[0]', repr('unknown')])})",
        ])

    def kernel(self) -> str:
        name, kernel, key = self.known_name(), self.of(_KERNELS), self.of(_KEYS)
        builtin = self.draw.choice(self.overloads)[0].split("keyway.ops.keyway.")[1].split(",")[0].removesuffix(".default")
        return self.of([
            f"keyway.library.impl({name!r}, {key!r}, {kernel})", f"lib().impl({name.split('::')[1]!r}, {kernel}, {key!r})",
            f"keyway.library.register_fake({name!r}, {kernel})", f"keyway.library.register_autograd({name!r}, {kernel})",
            f"keyway.library.register_kernel({name!r}, 'cpu', {kernel})", f"keyway.library.register_vmap({name!r}, {kernel})",
            self.kept(f"ops(fuzz={name.split('::')[1]!r})({self.some_call()})"), self.kept(f"ops(fuzz={name.split('::')[1]!r})({self.some_call()})"),
            f"during(lambda m: m.impl({builtin!r}, {kernel}, {key!r}), {self.one_call()!r})",
            f"during(lambda m: m.fallback({kernel}, {key!r}), {self.one_call()!r})",
            f"keyway.library.opcheck(v[{self.draw.randrange(VALUES)}], [{self.some_call()}])",
        ])

    def one_call(self) -> str:
        return self.draw.choice([self.operator, self.method, self.redispatch])()

    def library(self) -> str:
        return self.of(["libs.append(keyway.library.Library('fuzz', 'FRAGMENT'))", "lib().destroy()", "libs.clear()",
                        f"libs.append(keyway.library.Library({self.anything()}, {self.of([repr('DEF'), repr('IMPL'), self.anything()])}))"])

    def plugin(self) -> str:
        if not self.plugins:
            return self.library()
        return self.of([f"keep(keyway.load_plugin({self.of(self.plugins)!r}))", f"keep(keyway.load_plugin({self.of(self.plugins)!r}))",
                        f"v[{self.draw.randrange(VALUES)}].unload()", self.kept(f"keyway.ops.doubling.twice({self.some_call()})"),
                        self.kept(f"keyway.ones(2, 2, device={self.of([repr('npu'), repr('test_backend'), repr('privateuseone')])})")])

    def transform(self) -> str:
        inner = f"lambda x: {self.of(['x', 't[0]', '(x * x).sum()', 'x @ x', 'x.add_(1)', 'x.item()', 'keyway.relu(x)', 'None', 'x.sum().backward()', 'x[0]'])}"
        transform = self.of(["vmap", "func.grad", "func.jacrev", "func.jacfwd", "func.hessian", "func.vjp", "func.jvp", "func.functionalize"])
        return self.kept(f"keyway.{transform}({inner})({self.some_call()})")

    def layer(self) -> str:
        return self.kept(f"nn.{self.of(self.layers)}({', '.join(self.of([self.number(), self.anything()]) for _ in range(self.draw.randrange(4)))})"
                         f"({self.some_call()})")

    def state(self) -> str:
        mode = self.of(["no_grad()", "inference_mode()", "enable_grad()", "autocast('cpu')", "autograd.detect_anomaly()", "device('meta')",
                        "autograd.forward_ad.dual_level()", f"autograd.graph.saved_tensors_hooks({self.of(_HOOKS)}, {self.of(_HOOKS)})"])
        return f"within(keyway.{mode}, {self.one_call()!r}, {self.backward()!r})"

    def handler(self) -> str:
        return f"lambda f, a, k: {self.of(_HANDLERS)}"

    def mode(self) -> str:
        statements = ", ".join(repr(statement) for statement in (self.one_call(), self.change(), self.backward(), self.wrapper(), self.one_call()))
        return f"within(mode({self.handler()}), {statements})"

    def wrapper(self) -> str:
        sizes = ", ".join(self.of(["0", "1", "2", "3"]) for _ in range(self.draw.randrange(4)))
        return self.of([
            self.kept(f"wrap({self.tensor()})"), self.kept(f"wrap({self.tensor()}, {self.handler()})"), self.kept(f"wrap({self.tensor()}).requires_grad_()"),
            self.kept(f"nn.Parameter(wrap({self.tensor()}, {self.handler()}))"), self.kept(f"keyway._C._alias_of({self.tensor()})"),
            self.kept(f"keyway.Tensor._make_wrapper_subclass(Wrapper, [{sizes}], dtype=keyway.{self.of(_DTYPES)}, device={self.of([repr('cpu'), repr('meta')])})"),
            self.kept(f"keyway.Tensor._make_wrapper_subclass({self.anything()}, {self.anything()}, {self.anything()}, {self.number()})"),
            f"{self.tensor()}.data = {self.tensor()}", f"{self.tensor()}.inner = {self.anything()}", f"{self.tensor()}.__class__ = {self.of(['Wrapper', 'keyway.Tensor'])}",
        ])

    def forget(self) -> str:
        return self.of(["gc.collect()", f"t[{self.draw.randrange(TENSORS)}] = keyway.ones(3, 3)", f"v[{self.draw.randrange(VALUES)}] = None",
                        f"keep(weakref.ref({self.tensor()}))", f"{self.tensor()}.attribute = {self.tensor()}", f"del {self.tensor()}.attribute"])

    def copying(self) -> str:
        return self.kept(self.of([f"copy.deepcopy({self.tensor()})", f"pickle.loads(pickle.dumps({self.tensor()}))", f"copy.copy({self.anything()})",
                                  f"keyway.from_dlpack({self.tensor()})", f"keyway.frombuffer(bytearray(12), dtype=keyway.float32, count={self.number()})",
                                  f"memoryview({self.tensor()})", f"pickle.loads(pickle.dumps({self.anything()}))"]))

    def gradient_of_ones_own(self) -> str:
        forward = self.of(["x * 2", "x", "(x, x)", "x.view(-1)", "x.add_(1)", "None", "ctx.mark_dirty(x) or x.mul_(2)", "ctx.save_for_backward(x) or x"])
        backward = self.of(["g[0]", "None", "g", "1", "ctx.saved_tensors[0]", "g[0].view(-1)", "1 / 0", "(g[0], g[0])", "g[0].sum().backward()"])
        return self.kept(f"function(lambda ctx, x: {forward}, lambda ctx, *g: {backward}).apply({self.some_call()})")
