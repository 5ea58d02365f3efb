"""keyway.library.Library: operators and kernels of Python's, called from both languages, and undone."""

import gc
import inspect
import subprocess
import sys
import threading
import traceback

import keyway
import pytest
from keyway.library import Library, fallthrough_kernel


@pytest.fixture
def cpu():
    """Kernels for CPU tensors over those of the library itself."""
    library = Library("keyway", "IMPL", "CPU")
    yield library
    library.destroy()


def ones():
    return keyway.ones([2])


def test_an_operator_is_defined_and_implemented_piece_by_piece():
    with Library("lib_define", "DEF") as lib:
        assert lib.define("scale(Tensor x, float by=2.0) -> Tensor", tags="pointwise") == "lib_define::scale"
        lib.impl("scale", lambda x, by=2.0: x.mul(by), "CPU")
        assert keyway.ops.lib_define.scale(ones()).sum().item() == 4.0
        assert keyway.ops.lib_define.scale(ones(), by=5).sum().item() == 10.0
        assert keyway.ops.lib_define.scale.default.tags == ["pointwise"]


def test_arguments_of_every_kind_reach_the_kernel_as_python_objects():
    seen = []

    def kernel(*args, **kwargs):
        seen.append((args, kwargs))
        return args[0]

    with Library("lib_kinds", "DEF") as lib:
        lib.define(
            "f(Tensor x, Tensor[] xs, Tensor?[] ys, int[] sizes, float[2] pair, bool flag, Scalar n, str? s, *, "
            "ScalarType dtype, Device device, complex z) -> Tensor(a)"
        )
        lib.impl("f", kernel, "CompositeExplicitAutograd")
        x = ones()
        keyway.ops.lib_kinds.f(x, [x], [None, x], [1, 2], 0.5, True, 3, None, dtype=keyway.int32, device="cpu", z=2j)
    args, kwargs = seen[0]
    assert args[0] is x and args[1] == (x,) and args[2][0] is None and args[2][1] is x
    assert args[3:] == ((1, 2), (0.5, 0.5), True, 3, None)
    assert kwargs == {"dtype": keyway.int32, "device": keyway.device("cpu"), "z": 2j}


def test_dictionaries_are_those_of_python():
    with Library("lib_dicts", "DEF") as lib:
        lib.define("f(Dict(str, Tensor) a, Dict(int, float[])? b=None) -> (Dict(str, Tensor), Dict(int, float[]))")
        lib.impl("f", lambda a, b=None: (a, b or {}), "CompositeExplicitAutograd")
        x = ones()
        named, lists = keyway.ops.lib_dicts.f({"y": x, "x": x}, {3: (1.0, 2)})
        assert list(named) == ["y", "x"] and named["x"] is x
        assert lists == {3: (1.0, 2.0)}
        assert keyway.ops.lib_dicts.f({}) == ({}, {})
        for wrong, text in [
            ([], "must be dict of str to Tensor, not list"),
            ({1: x}, "dict with a key of type int"),
            ({"x": 1}, "dict with a value of type int"),
        ]:
            with pytest.raises(keyway.TypeError, match=text):
                keyway.ops.lib_dicts.f(wrong)


def test_a_dictionary_may_change_while_it_is_read():
    class Number:
        def __index__(self):
            given.clear()
            return 2

    with Library("lib_changing", "DEF") as lib:
        lib.define("f(Dict(int, int) a) -> int")
        lib.impl("f", lambda a: sum(a.values()), "CompositeExplicitAutograd")
        given = {key: Number() for key in range(100)}
        assert keyway.ops.lib_changing.f(given) == 200
        assert given == {}


def test_a_default_is_a_value_of_its_type_however_it_is_written():
    seen = []
    with Library("lib_defaults", "DEF") as lib:
        lib.define("f(ScalarType s=float16, ScalarType t=6, Layout l=strided, MemoryFormat m=channels_last, "
                   "Device d='cpu', complex z=1, float x=2) -> int")
        lib.impl("f", lambda *args, **kwargs: (seen.append((args, kwargs)), 0)[1], "CompositeExplicitAutograd")
        f = keyway.ops.lib_defaults.f
        f()
        defaults = {name: p.default for name, p in inspect.signature(f.default).parameters.items()}
        f(**defaults)
    expected = {"s": keyway.float16, "t": keyway.float32, "l": keyway.strided, "m": keyway.channels_last,
                "d": keyway.device("cpu"), "z": 1 + 0j, "x": 2.0}
    assert {name: (value, type(value)) for name, value in defaults.items()} == {
        name: (value, type(value)) for name, value in expected.items()}
    # A kernel is called without what has its default value.
    assert seen == [((), {}), ((), {})]


def test_a_kernel_need_not_know_arguments_that_have_their_default_value(cpu):
    cpu.impl("add.Tensor", lambda self, other: self)
    x = ones()
    assert keyway.add(x, ones()) is x
    with pytest.raises(TypeError, match="alpha"):
        keyway.add(x, ones(), alpha=2)


def test_a_kernel_of_python_is_called_from_cpp(cpu):
    calls = []

    def mul(self, other):
        calls.append(other)
        return self.add(other)

    x = ones().requires_grad_()
    y = x.mul(ones())
    cpu.impl("mul.Tensor", mul)
    y.sum().backward()  # whose formula, in C++, multiplies
    assert len(calls) == 1
    assert x.grad.sum().item() == 4.0  # 1 + 1 and not 1 * 1


def test_kernels_that_were_replaced_come_back(cpu):
    cpu.impl("mul.Tensor", lambda self, other: self)
    x = keyway.full([1], 3.0)
    assert x.mul(x) is x
    cpu.destroy()
    assert x.mul(x).item() == 9.0


def test_a_library_that_goes_takes_its_registrations_with_it():
    lib = Library("lib_collected", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    del lib
    gc.collect()
    with pytest.raises(AttributeError):
        keyway.ops.lib_collected.f


def test_a_second_python_kernel_is_refused_unless_it_is_allowed(cpu):
    cpu.impl("mul.Tensor", lambda self, other: self)
    with pytest.raises(keyway.RegistrationError, match="keyway::mul.Tensor has a Python kernel for CPU already"):
        cpu.impl("mul.Tensor", lambda self, other: other)
    cpu.impl("mul.Tensor", lambda self, other: other, allow_override=True)
    x, y = ones(), ones()
    assert x.mul(y) is y


def test_with_keyset_a_kernel_redispatches(cpu):
    below = keyway.DispatchKeySet.full_after("Autograd")
    with Library("keyway", "IMPL", "Autograd") as lib:
        lib.impl(
            "mul.Tensor",
            lambda keys, self, other: keyway.ops.keyway.mul.Tensor.redispatch(keys & below, self, other),
            with_keyset=True,
        )
        assert not ones().requires_grad_().mul(ones()).requires_grad
    assert ones().requires_grad_().mul(ones()).requires_grad


def test_a_fallthrough_kernel_passes_the_call_on():
    with Library("keyway", "IMPL", "Autograd") as lib:
        lib.impl("mul.Tensor", fallthrough_kernel)
        assert not ones().requires_grad_().mul(ones()).requires_grad


def test_a_fallback_serves_every_operator_and_gets_it():
    seen = []

    def log(op, *args, **kwargs):
        seen.append(op)
        with keyway.ExcludeDispatchKeyGuard("Functionalize"):
            return op(*args, **kwargs)

    with Library("_", "IMPL", "Functionalize") as lib:
        lib.fallback(log)
        x = ones()
        with keyway.IncludeDispatchKeyGuard("Functionalize"):
            y = keyway.add(x, x, alpha=2)
        assert y.sum().item() == 6.0
    assert seen == [keyway.ops.keyway.add.Tensor]


@pytest.mark.parametrize(
    ("schema", "result", "text"),
    [
        ("f(Tensor x) -> Tensor", 3, r"the Python kernel .*kernel \(.*test_library.py:\d+\) returned int as result 0"),
        ("f(Tensor x) -> Tensor", None, "returned NoneType as result 0, which is Tensor"),
        ("f(Tensor x) -> (Tensor, int)", 3, "returned int, but the schema has 2 results"),
        ("f(Tensor x) -> (int, int)", (1, 2, 3), "returned 3 values, but the schema has 2 results"),
        ("f(Tensor x) -> (int, int)", (1, "2"), "returned str as result 1, which is int"),
        ("f(Tensor x) -> ()", 3, "returned int, but the schema has no results"),
        ("f(Tensor(a!) x) -> Tensor(a!)", keyway.ones([1]), "it is to return its argument 'x'"),
    ],
)
def test_results_that_the_schema_does_not_allow_are_an_error(schema, result, text):
    def kernel(x):
        return result

    with Library("lib_results", "DEF") as lib:
        lib.define(schema)
        lib.impl("f", kernel, "CPU")
        with pytest.raises(keyway.TypeError, match="lib_results::f: .*" + text):
            keyway.ops.lib_results.f(ones())


def test_an_exception_of_a_kernel_crosses_cpp_with_its_traceback(cpu):
    error = KeyError("lost")

    def kernel(self, other):
        raise error

    x = ones().requires_grad_()
    y = x.mul(x)
    cpu.impl("mul.Tensor", kernel)
    with pytest.raises(KeyError) as caught:
        y.sum().backward()
    assert caught.value is error
    assert traceback.extract_tb(error.__traceback__)[-1].name == "kernel"


def test_endless_recursion_through_the_dispatcher_is_a_recursion_error(cpu):
    cpu.impl("mul.Tensor", lambda self, other: self.mul(other))
    with pytest.raises(RecursionError):
        ones().mul(ones())


def test_a_result_whose_conversion_calls_its_kernel_again_is_a_recursion_error(cpu):
    number = keyway.ones([])
    cpu.impl("_local_scalar_dense", lambda x: number)
    with pytest.raises(RecursionError):
        number.item()


def test_a_library_cannot_be_undone_from_inside_its_kernel(cpu):
    cpu.impl("mul.Tensor", lambda self, other: cpu.destroy())
    with pytest.raises(keyway.RegistrationError, match="from inside a call"):
        ones().mul(ones())


def test_undoing_waits_for_calls_that_want_the_interpreter_lock(cpu):
    entered, over = threading.Event(), []

    def kernel(self, other):
        entered.set()
        for _ in range(20):
            threading.Event().wait(0.001)  # gives the interpreter lock up again and again
        over.append(True)
        return self

    cpu.impl("mul.Tensor", kernel)
    thread = threading.Thread(target=lambda: ones().mul(ones()))
    thread.start()
    entered.wait()
    cpu.destroy()
    assert over == [True]
    thread.join()


def test_registering_and_undoing_while_other_threads_call(cpu):
    stop = threading.Event()
    failed = []

    def call():
        x = keyway.full([1], 3.0)
        while not stop.is_set():
            if x.mul(x).item() not in (6.0, 9.0):
                failed.append(x)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        cpu.impl("mul.Tensor", lambda self, other: self.add(other))
        cpu.destroy()
    stop.set()
    for thread in threads:
        thread.join()
    assert not failed


@pytest.mark.parametrize(
    ("register", "text"),
    [
        (lambda lib: lib.define("f(tensor x) -> Tensor"), "did you mean 'Tensor'"),
        (lambda lib: lib.define("other::f(Tensor x) -> Tensor"), "namespace lib_refused"),
        (lambda lib: lib.impl("f", 3, "CPU"), "a kernel is a function, not int"),
        (lambda lib: lib.impl("f", None, "CPU"), "a kernel is a function, not NoneType"),
        (lambda lib: lib.impl("keyway::add.Tensor", min, "CPU"), "namespace lib_refused"),
        (lambda lib: lib.fallback(min, "CPU"), "its library is '_'"),
    ],
)
def test_what_cannot_be_registered_is_refused(register, text):
    with Library("lib_refused", "DEF") as lib:
        with pytest.raises(keyway.RegistrationError, match=text):
            register(lib)


def test_a_namespace_is_owned_once_and_an_impl_library_defines_nothing():
    with Library("lib_owned", "DEF"):
        with pytest.raises(keyway.RegistrationError, match="owned"):
            Library("lib_owned", "DEF")
        with pytest.raises(keyway.RegistrationError, match="only adds kernels"):
            Library("lib_owned", "IMPL").define("f(Tensor x) -> Tensor")
    with pytest.raises(keyway.ValueError, match="DEF, FRAGMENT or IMPL"):
        Library("lib_owned", "FRAGMENTS")


def test_decorators_of_the_module_register_to_operators_by_name():
    keyway.library.define("lib_module::twice", "(Tensor x) -> Tensor")

    @keyway.library.impl("lib_module::twice", "cpu")
    def twice(x):
        return x.mul(2)

    @keyway.library.register_fake("lib_module::twice")
    def fake(x):
        return keyway.empty_like(x)

    def backward(ctx, grad):
        return grad.mul(2)

    keyway.library.register_autograd("lib_module::twice", backward)
    x = keyway.ones([3], dtype=keyway.float64).requires_grad_()
    found = keyway.library.opcheck("lib_module::twice", (x,))
    assert set(found.values()) == {"SUCCESS"}


def test_a_program_ends_with_kernels_registered_and_a_thread_in_one():
    program = """
import threading, keyway
lib = keyway.library.Library("keyway", "IMPL", "CPU")
inside = threading.Event()
def kernel(self, other):
    inside.set()
    threading.Event().wait()
lib.impl("mul.Tensor", kernel)
threading.Thread(target=lambda: keyway.ones([1]).mul(keyway.ones([1])), daemon=True).start()
inside.wait()
"""
    ended = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True, text=True)
    assert ended.returncode == 0
    assert ended.stderr.count("arning: ") == 1
    assert "RuntimeWarning: the kernel of keyway::mul.Tensor for CPU at " in ended.stderr
    assert " takes the place of the one at " in ended.stderr


def test_a_library_of_one_key_takes_no_kernel_for_another():
    with Library("lib_key", "DEF") as lib, Library("lib_key", "IMPL", "CPU") as cpu_only:
        lib.define("f(Tensor x) -> Tensor")
        with pytest.raises(keyway.RegistrationError, match="is for kernels of CPU, and one is given for Meta"):
            cpu_only.impl("f", lambda x: x, "Meta")
        cpu_only.impl("f", lambda x: x.mul(2), "CPU")
        assert keyway.ops.lib_key.f(keyway.ones([1])).item() == 2.0


@pytest.mark.parametrize(
    ("namespace", "schema", "taken"),
    [
        ("load_library", "f(Tensor x) -> Tensor", "load_library"),
        ("lib_taken", "f.overloads(Tensor x) -> Tensor", "overloads"),
        ("lib_taken", "f.default(Tensor x) -> Tensor", "default"),
        ("lib_taken", "__f(Tensor x) -> Tensor", "__f"),
    ],
)
def test_names_by_which_no_operator_could_be_called_are_refused(namespace, schema, taken):
    with pytest.raises(keyway.RegistrationError, match=f"in keyway.ops the name '{taken}' is taken"):
        Library(namespace, "FRAGMENT").define(schema)


def test_define_by_name_takes_a_schema_without_one():
    with pytest.raises(keyway.ValueError, match="the schema begins with the arguments"):
        keyway.library.define("lib_named::y", "y(Tensor x) -> Tensor")
    assert dir(keyway.ops.lib_named) == []


def test_impl_takes_dispatch_keys_and_devices():
    keyway.library.define("lib_keys::f", "(Tensor x) -> Tensor")
    keyway.library.impl("lib_keys::f", "CPU", lambda x: x.mul(2))

    @keyway.library.impl("lib_keys::f", "meta")
    def on_meta(x):
        return keyway.empty([5], device="meta")

    assert keyway.ops.lib_keys.f(keyway.ones([1])).item() == 2.0
    assert tuple(keyway.ops.lib_keys.f(keyway.ones([1], device="meta")).shape) == (5,)
    with pytest.raises(keyway.Error, match="nowhere"):
        keyway.library.impl("lib_keys::f", "nowhere", lambda x: x)


def test_kernels_are_held_against_the_schema_when_they_are_registered(cpu):
    with Library("lib_checked", "DEF") as lib:
        lib.define("f(Tensor x, int n, *, float by=1.0) -> Tensor")
        for wrong in (lambda x: x, lambda x, n, m: x, lambda x, *, n: x, lambda: None):
            with pytest.raises(keyway.RegistrationError, match="cannot be called with the arguments of lib_checked::f"):
                lib.impl("f", wrong, "CPU")
            with pytest.raises(keyway.RegistrationError, match="cannot be called with the arguments of lib_checked::f"):
                keyway.library.register_fake("lib_checked::f", wrong)
        with pytest.raises(keyway.RegistrationError, match="behind keys"):
            lib.impl("f", lambda x, n: x, "CPU", with_keyset=True)
        lib.impl("f", lambda x, n: x.mul(n), "CPU")  # need not know what has a default
        lib.impl("f", lambda x, *rest, **named: x, "Meta")
        assert keyway.ops.lib_checked.f(keyway.ones([1]), 3).item() == 3.0


def test_a_kernel_of_no_operator_is_warned_of_at_the_end_of_the_program():
    program = """
from keyway.library import Library
lib = Library("keyway", "IMPL", "CPU")
lib.impl("rellu", lambda x: x)
early = Library("mine", "FRAGMENT")
early.impl("f", lambda x: x, "CPU")
early.define("f(Tensor x) -> Tensor")
"""
    ended = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True, text=True)
    assert ended.returncode == 0
    assert ended.stderr.count("RuntimeWarning") == 1
    assert "[keyway]" not in ended.stderr  # it is said once, by Python
    assert "never defined, keyway::rellu" in ended.stderr and "did you mean 'keyway::relu'?" in ended.stderr
