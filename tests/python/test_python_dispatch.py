"""Modes: objects that see every call of a thread."""

import gc
import subprocess
import sys
import threading
import traceback
import weakref

import keyway
import pytest
from keyway import nn, ops
from keyway.utils.python_dispatch import (
    KeywayDispatchMode, disable_current_modes, get_current_dispatch_mode, get_current_dispatch_mode_stack,
)  # fmt: skip


class Calls(KeywayDispatchMode):
    """Notes the operators, and lets them go on."""

    def __init__(self):
        self.names = []

    def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


class Answers(KeywayDispatchMode):
    """Answers calls of one operator with what it is given."""

    def __init__(self, name, answer):
        self.name, self.answer = name, answer

    def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
        if func.name() == self.name:
            return self.answer(*args) if callable(self.answer) else self.answer
        return func(*args, **(kwargs or {}))


def calls_of(function):
    with Calls() as mode:
        function()
    return mode.names


def test_a_mode_sees_the_calls_of_its_block_and_no_others():
    x = keyway.ones(2)
    with Calls() as mode:
        y = x + x
        y.mul_(3)
    (y - 1).exp()
    assert mode.names == ["add.Tensor", "mul_.Scalar"]
    assert y.tolist() == [6, 6]


def test_functions_are_overloads_and_arguments_are_those_of_the_schema():
    seen = []

    class Mode(KeywayDispatchMode):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((func, types, args, kwargs))
            return func(*args, **kwargs)

    x, out = keyway.ones(2), keyway.empty(2)
    with Mode():
        keyway.add(x, x)
        keyway.add(x, x, alpha=2)
        keyway.add(x, x, out=out)
    assert seen[0] == (ops.keyway.add.Tensor, (), (x, x), {})
    assert seen[1][2:] == ((x, x), {"alpha": 2})
    assert seen[2][0] is ops.keyway.add.out and seen[2][3]["out"] is out
    assert seen[0][0].overloadpacket is ops.keyway.add and seen[0][0]._overloadname == "Tensor"
    assert ops.keyway.relu.default._overloadname == "default"


def test_composites_arrive_as_what_they_are_made_of():
    x = keyway.ones(2, 3, 4)
    names = calls_of(lambda: keyway.matmul(x, x.transpose(1, 2)))
    assert "matmul.default" not in names and "bmm.default" in names
    weight = keyway.ones(4, 4, requires_grad=True)
    recorded = calls_of(lambda: keyway.matmul(x, weight))
    assert "matmul.default" not in recorded and "mm.default" in recorded


def test_the_calls_of_backward_come_to_the_mode():
    x = keyway.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp().sum()
    names = calls_of(y.backward)
    assert "mul.Tensor" in names  # grad * result
    assert x.grad.allclose(keyway.tensor([1.0, 2.0]).exp())


def test_a_mode_that_changes_what_backward_computes_changes_the_gradient():
    class Tenfold(KeywayDispatchMode):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            return out * 10 if func is ops.keyway.mul.Tensor else out

    x = keyway.tensor([3.0], requires_grad=True)
    y = x.exp()
    with Tenfold():
        y.backward()
    assert x.grad.allclose(10 * keyway.tensor([3.0]).exp())


def test_training_under_a_mode_gives_the_same_numbers():
    def trained():
        keyway.manual_seed(3)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.BatchNorm1d(8), nn.Linear(8, 2))
        adam = keyway.optim.Adam(model.parameters(), lr=0.01)
        x = keyway.randn(16, 4)
        for _ in range(5):
            adam.zero_grad()
            nn.functional.cross_entropy(model(x), keyway.arange(16) % 2).backward()
            adam.step()
        return [p.detach().clone() for p in model.parameters()]

    plain = trained()
    with Calls() as mode:
        watched = trained()
    assert len(mode.names) > 100
    assert all(keyway.equal(a, b) for a, b in zip(plain, watched))


def test_factories_come_to_the_mode():
    assert calls_of(lambda: keyway.zeros(2)) == ["zeros.default"]
    assert calls_of(lambda: keyway.rand(2, device="cpu")) == ["rand.default"]
    assert calls_of(lambda: keyway.arange(3)) == ["arange.default"]

    class OnMeta(KeywayDispatchMode):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            if func is ops.keyway.zeros.default:
                kwargs = {**kwargs, "device": "meta"}
            return func(*args, **kwargs)

    with OnMeta():
        assert keyway.zeros(1 << 40).is_meta


def test_the_innermost_mode_is_asked_first_and_what_it_calls_comes_to_the_outer_one():
    order = []

    class Mode(KeywayDispatchMode):
        def __init__(self, name):
            self.name = name

        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            order.append((self.name, [mode.name for mode in get_current_dispatch_mode_stack()]))
            return func(*args, **(kwargs or {}))

    with Mode("a"), Mode("b"):
        assert get_current_dispatch_mode().name == "b"
        keyway.ones(1)
    assert order == [("b", ["a"]), ("a", [])]
    assert get_current_dispatch_mode() is None and get_current_dispatch_mode_stack() == []


def test_a_mode_may_be_entered_twice():
    mode = Calls()
    with mode, mode:
        keyway.ones(1)
    assert mode.names == ["ones.default"] * 2


def test_a_call_that_a_handler_makes_of_its_own_does_not_come_back_to_it():
    class Mode(KeywayDispatchMode):
        depth = 0

        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            assert Mode.depth == 0
            Mode.depth += 1
            keyway.ones(2).add(1)
            out = func(*args, **(kwargs or {}))
            Mode.depth -= 1
            return out

    with Mode():
        assert keyway.ones(2).sum().item() == 2


def test_modes_that_handlers_enter_and_forget_end_with_the_handler():
    class Mode(KeywayDispatchMode):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            Calls().__enter__()
            return func(*args, **(kwargs or {}))

    with Mode() as mode:
        keyway.ones(1)
        assert get_current_dispatch_mode_stack() == [mode]


def test_a_mode_that_leaves_all_modes_within_a_handler_is_there_again_afterwards():
    class Mode(KeywayDispatchMode):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            keyway._C._set_dispatch_modes(())
            gc.collect()
            return func(*args, **(kwargs or {}))

    with Calls() as outer, Mode() as mode:
        keyway.ones(1)
        assert get_current_dispatch_mode_stack() == [outer, mode]
    assert outer.names == []


def test_modes_may_end_in_another_order():
    a, b = Calls(), Calls()
    a.__enter__()
    b.__enter__()
    a.__exit__()
    keyway.ones(1)
    b.__exit__()
    assert a.names == [] and b.names == ["ones.default"]
    with pytest.raises(keyway.ValueError, match="Calls: the mode is left, but this thread has not entered it"):
        a.__exit__()


def test_disabled_modes_come_back():
    with Calls() as mode:
        with disable_current_modes() as modes:
            keyway.ones(1)
        keyway.zeros(1)
    assert modes == [mode] and mode.names == ["zeros.default"]


def test_another_thread_has_modes_of_its_own():
    found = []

    def work():
        found.append(get_current_dispatch_mode_stack())
        found.append(calls_of(lambda: keyway.ones(1)))

    with Calls() as mode:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found == [[], ["ones.default"]] and mode.names == []


def test_threads_with_modes_compute_at_the_same_time():
    results = {}

    def work(i):
        with Calls() as mode:
            x = keyway.full([4], float(i), requires_grad=True)
            for _ in range(50):
                (x * x).sum().backward()
            results[i] = (x.grad.tolist(), len(mode.names))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {i: grad for i, (grad, _) in results.items()} == {i: [100.0 * i] * 4 for i in range(4)}
    assert len({count for _, count in results.values()}) == 1


def test_a_mode_answers_a_call():
    x = keyway.ones(2)
    with Answers("keyway::exp", keyway.tensor([7.0, 8.0])):
        assert x.exp().tolist() == [7, 8]


def test_an_answer_that_is_an_argument_has_the_history_of_the_call():
    x = keyway.tensor([1.0], requires_grad=True)
    with Answers("keyway::exp", lambda self: self):
        y = x.exp()
        assert y is not x and y.grad_fn.name() == "ExpBackward0"
        y.backward()
    assert x.is_leaf and x.grad.tolist() == [1.0]  # grad * result


def test_an_answer_that_was_given_before_has_a_history_of_its_own():
    kept = keyway.tensor([5.0])
    x, y = (keyway.tensor([value], requires_grad=True) for value in (1.0, 2.0))
    with Answers("keyway::exp", kept):
        first, second = x.exp(), y.exp()
        (first * 2 + second * 3).backward()
    assert x.grad.tolist() == [10.0] and y.grad.tolist() == [15.0]


def test_a_view_that_is_answered_with_a_copy_is_no_crash():
    base = keyway.arange(6.0).requires_grad_()
    x = base * 1
    with Answers("keyway::view", lambda self, size: self.clone().view(size)):
        v = x.view(2, 3)
        v.mul_(2)
        v.sum().backward()
    assert v.tolist() == [[0, 2, 4], [6, 8, 10]] and base.grad.shape == (6,)


@pytest.mark.parametrize(("answer", "text"), [
    ("nothing", r"exp: Answers.__keyway_dispatch__ returned str as result 0, which is Tensor"),
    (None, r"exp: Answers.__keyway_dispatch__ returned NoneType as result 0, which is Tensor"),
    ([keyway.ones(1)], r"exp: Answers.__keyway_dispatch__ returned list .*as result 0, which is Tensor"),
    (NotImplemented, r"exp: nobody answers the call: the innermost mode \(Answers\)"),
])  # fmt: skip
def test_answers_of_a_wrong_type_are_errors_with_operator_and_rule(answer, text):
    with Answers("keyway::exp", answer), pytest.raises(keyway.TypeError, match=text):
        keyway.ones(2).exp()


def test_a_wrong_number_of_answers_is_an_error_with_operator_and_rule():
    text = r"sort.stable: Answers.__keyway_dispatch__ returned 1 values, but the schema has 2 results"
    with Answers("keyway::sort.stable", (keyway.ones(1),)), pytest.raises(keyway.TypeError, match=text):
        keyway.ones(2).sort()


def test_an_in_place_operator_is_answered_by_its_argument():
    text = r"add_\.Scalar: .* returned another tensor as result 0, which is Tensor\(a!\): it is to return its argument 'self'"
    with Answers("keyway::add_.Scalar", lambda self, other: self + other), pytest.raises(keyway.TypeError, match=text):
        keyway.ones(2).add_(1)


def test_exceptions_come_out_as_they_are():
    class Mine(BaseException):
        pass

    class Mode(KeywayDispatchMode):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            raise Mine("here")

    x = keyway.ones(2, requires_grad=True)
    y = x.exp().sum()
    for call in (lambda: x * x, y.backward, lambda: keyway.matmul(x, x)):
        with Mode(), pytest.raises(Mine) as raised:
            call()
        assert "__keyway_dispatch__" in "".join(traceback.format_tb(raised.value.__traceback__))
    assert get_current_dispatch_mode() is None
    assert calls_of(lambda: keyway.ones(1)) == ["ones.default"]


def test_a_mode_without_the_method_says_so():
    with KeywayDispatchMode(), pytest.raises(keyway.NotImplementedError, match="defines no __keyway_dispatch__"):
        keyway.ones(1)
    keyway._C._set_dispatch_modes((object(),))
    with pytest.raises(AttributeError, match="__keyway_dispatch__"):
        keyway.ones(1)
    keyway._C._set_dispatch_modes(())


def test_lists_and_missing_tensors_are_handed_on():
    seen = {}

    class Mode(KeywayDispatchMode):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            seen[func.__name__] = args
            return func(*args, **(kwargs or {}))

    x, index = keyway.arange(6.0).reshape(2, 3), keyway.tensor([0, 2])
    with Mode():
        joined = keyway.cat([x, x], 1)
        picked = ops.keyway.index.Tensor(x, [None, index])
        keyway.layer_norm(x, [3], weight=keyway.ones(3))
    assert joined.shape == (2, 6) and picked.tolist() == [[0, 2], [3, 5]]
    assert seen["cat.default"][0] == (x, x) and seen["cat.default"][1] == 1
    assert seen["_index.default"][1][0] is None and seen["_index.default"][1][1] is index


def test_results_of_backward_that_nobody_wants_are_none():
    class Mode(KeywayDispatchMode):
        given = None

        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            if "convolution_backward" in func.__name__:
                Mode.given = out
            return out

    weight = keyway.ones(2, 3, 2, 2, requires_grad=True)
    y = nn.functional.conv2d(keyway.ones(1, 3, 4, 4), weight)
    with Mode():
        y.sum().backward()
    assert Mode.given is not None and Mode.given[0] is None and Mode.given[1] is not None
    assert weight.grad.unique().tolist() == [9.0]


def test_versions_and_views_are_kept_under_a_mode():
    x = keyway.ones(4)
    with Calls():
        v = x[1:3]
        v.add_(1)
    assert x._version == 1 and v._version == 1 and x.tolist() == [1, 2, 2, 1]
    y = keyway.ones(4, requires_grad=True) * 1
    with Calls():
        y[0].mul_(5)
        z = y * y
        y.add_(1)
        with pytest.raises(keyway.AutogradError, match="changed in place"):
            z.sum().backward()


def test_vmap_forward_mode_and_autocast_come_first():
    x = keyway.arange(6.0).reshape(3, 2)
    shapes = []

    class Shapes(Calls):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            shapes.append((func.__name__, [(tuple(a.shape), a.dtype) for a in args if isinstance(a, keyway.Tensor)]))
            return super().__keyway_dispatch__(func, types, args, kwargs)

    with Shapes():
        assert keyway.vmap(lambda row: row.exp())(x).shape == (3, 2)
    assert ("exp.default", [((3, 2), keyway.float32)]) in shapes
    with Calls() as mode:
        value, tangent = keyway.func.jvp(lambda t: t.sin(), (x,), (keyway.ones_like(x),))
    assert "sin.default" in mode.names and tangent.allclose(x.cos())
    shapes.clear()
    with Shapes(), keyway.autocast("cpu", dtype=keyway.bfloat16):
        keyway.mm(x, x.t())
    assert ("mm.default", [((3, 2), keyway.bfloat16), ((2, 3), keyway.bfloat16)]) in shapes


def test_inference_mode_and_no_grad_are_seen_by_handlers():
    seen = []

    class Mode(Calls):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((keyway.is_grad_enabled(), keyway.is_inference_mode_enabled()))
            return super().__keyway_dispatch__(func, types, args, kwargs)

    with Mode():
        keyway.ones(1)
        with keyway.no_grad():
            keyway.ones(1)
        with keyway.inference_mode():
            assert keyway.ones(1).is_inference()
    assert seen == [(True, False), (False, False), (False, True)]


def test_item_goes_through_the_mode():
    with Answers("keyway::_local_scalar_dense", 7):
        assert keyway.ones(1).item() == 7
        assert float(keyway.ones(1)) == 7.0
    with Answers("keyway::_local_scalar_dense", "x"), pytest.raises(keyway.TypeError, match="returned str as result 0"):
        keyway.ones(1).item()


def test_custom_operators_come_to_the_mode():
    @keyway.library.custom_op("test_python_dispatch::twice", mutates_args=())
    def twice(x: keyway.Tensor) -> keyway.Tensor:
        return x * 2

    with Calls() as mode:
        assert twice(keyway.ones(2)).tolist() == [2, 2]
    assert mode.names[:2] == ["ones.default", "twice.default"]


def test_profiles_have_what_handlers_call():
    with Calls(), keyway.profiler.profile() as profile:
        keyway.ones(2).exp()
    assert "exp" in str(profile.key_averages().table())


def test_the_key_python_cannot_be_passed_by():
    x = keyway.ones(1)
    with Calls() as mode, keyway.ExcludeDispatchKeyGuard("Python", "Autograd"):
        x.exp()
    assert mode.names == ["exp.default"]
    with keyway.IncludeDispatchKeyGuard("Python"):  # where nobody is there to answer
        assert keyway.ones(2).sum().item() == 2


def test_nothing_falls_through_at_the_key_python():
    library = keyway.library.Library("test_python_dispatch3", "FRAGMENT")
    library.define("f(Tensor x) -> Tensor")
    with pytest.raises(keyway.RegistrationError, match="nothing falls through at the key Python"):
        library.impl("f", keyway.library.fallthrough_kernel, "Python")


def test_geometry_that_a_handler_changes_leaves_history_alone():
    x = keyway.ones(2, 3, requires_grad=True) * 2
    x.retain_grad()
    with Answers("keyway::add.Tensor", lambda a, b: a.t_().t_() * 5):
        y = (x + x).sum()
    y.backward()
    assert x.grad.tolist() == [[2] * 3] * 2
    with keyway.ExcludeDispatchKeyGuard("Autograd"):
        x.t_()
    assert x.grad_fn.name() == "MulBackward0"


def test_recursion_without_end_is_an_exception():
    class Mode(KeywayDispatchMode):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            with self:
                return func(*args, **(kwargs or {}))

    with Mode(), pytest.raises(RecursionError):
        keyway.ones(1).exp()


def test_an_answer_for_a_view_that_is_none_is_an_error_where_its_geometry_would_be_taken():
    x = keyway.tensor([True, False, True])
    text = r"what answered the call of the view, float32\[4, 3, 3\] on cpu, is no view of the tensor, bool\[3\] on cpu"
    with Answers("keyway::as_strided", keyway.ones(4, 3, 3)), pytest.raises(keyway.TypeError, match=text):
        x.as_strided_([2, 2], [1, 1])
    assert x.shape == (3,)


def test_views_of_views_that_handlers_mix_up_are_no_circle():
    a, b, c = (keyway.ones(2, 2) for _ in range(3))
    for base, answer in ((a, b), (b, c), (a, c), (c, a), (c, b), (b, a), (a.t(), a)):
        with Answers("keyway::transpose.int", answer):
            view = base.t()
        assert view.requires_grad is False and view.add_(1) is view
    assert (a + b + c).grad_fn is None


def test_elements_are_read_without_asking_modes(tmp_path):
    class Liar(KeywayDispatchMode):
        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            return keyway.empty(100, 100, device="meta")

    x, y = keyway.arange(3.0), keyway.arange(6.0).reshape(2, 3).t()
    with Liar():
        keyway.save({"x": x, "y": y}, tmp_path / "file.safetensors")
        assert x.tolist() == [0, 1, 2]
        with pytest.raises((keyway.Error, ValueError)):
            keyway.empty(3).tolist() and keyway.empty(2, device="meta").tolist()
    state = keyway.load(tmp_path / "file.safetensors")
    assert state["y"].equal(y) and state["x"].equal(x)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_composites_that_never_end_since_a_handler_lies_are_an_exception(requires_grad):
    x = keyway.ones(2, dtype=keyway.complex64, requires_grad=requires_grad)  # nan_to_num asks for real numbers, and again
    with Answers("keyway::view_as_real", lambda x: x), pytest.raises(RecursionError):
        x.nan_to_num()


def test_modes_and_what_they_saw_are_freed():
    mode = Calls()
    with mode:
        x = keyway.ones(2, requires_grad=True)
        (x * 2).sum().backward()
    ended = weakref.ref(mode)
    del mode
    gc.collect()
    assert ended() is None


def test_a_program_that_ends_within_a_mode_ends():
    program = """
import keyway, threading
from keyway.utils.python_dispatch import KeywayDispatchMode
class Mode(KeywayDispatchMode):
    def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
def endless():
    with Mode():
        while True:
            keyway.ones(4).exp()
threading.Thread(target=endless, daemon=True).start()
Mode().__enter__()
keyway.ones(1)
print("end")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (0, "end\n"), run.stderr
