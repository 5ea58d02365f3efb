"""Wrapper tensors: subclasses without memory, whose classes answer calls. The numbers are those of plain tensors."""

import copy
import gc
import io
import pickle
import threading
import weakref

import keyway
import numpy as np
import pytest
from keyway import Tensor, nn, ops
from keyway.utils.python_dispatch import (
    KeywayDispatchMode, is_traceable_wrapper_subclass, is_wrapper_tensor, return_and_correct_aliasing,
    transform_subclass, tree_map_only,
)  # fmt: skip


class Two(Tensor):
    """Two tensors of one shape, each call made of both."""

    @staticmethod
    def __new__(cls, a, b):
        return Tensor._make_wrapper_subclass(cls, a.shape, strides=a.stride(), storage_offset=a.storage_offset(),
                                             dtype=a.dtype, device=a.device)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __repr__(self):
        return f"Two({self.a.tolist()}, {self.b.tolist()})"

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, outer_size, outer_stride):
        return Two(inner["a"], inner["b"])

    @classmethod
    def __keyway_dispatch__(cls, func, types, args=(), kwargs=None):
        a, b = (func(*tree_map_only(Two, lambda t: getattr(t, part), args),
                     **tree_map_only(Two, lambda t: getattr(t, part), kwargs or {})) for part in "ab")
        return return_and_correct_aliasing(func, args, kwargs, cls.joined(a, b))

    @classmethod
    def joined(cls, a, b):
        if isinstance(a, Tensor):
            return cls(a, b)
        if isinstance(a, (list, tuple)):
            return type(a)(cls.joined(x, y) for x, y in zip(a, b)) if type(a) in (list, tuple) else tuple(map(cls.joined, a, b))
        return a


class SlotTwo(Two):
    __slots__ = ("extra",)


def two(seed=0, *shape):
    generator = np.random.default_rng(seed)
    return Two(*(keyway.from_numpy(generator.standard_normal(shape or (2, 3))) for _ in "ab"))


def numbers(value):
    return [value.a.detach().numpy().copy(), value.b.detach().numpy().copy()]


def assert_same(value, *expected):
    assert type(value) is Two or isinstance(value, Two)
    for part, wanted in zip((value.a, value.b), expected):
        np.testing.assert_allclose(part.detach().numpy(), wanted.detach().numpy(), rtol=1e-12)
    assert value.shape == value.a.shape and value.stride() == value.a.stride() and value.dtype == value.a.dtype


def test_a_wrapper_has_the_metadata_that_it_is_made_with():
    x = two()
    assert isinstance(x, Tensor) and type(x) is Two and is_wrapper_tensor(x) and not is_wrapper_tensor(x.a)
    assert (x.shape, x.stride(), x.dtype, str(x.device)) == ((2, 3), (3, 1), keyway.float64, "cpu")
    y = Tensor._make_wrapper_subclass(Two, [2, 2, 2, 2], memory_format=keyway.channels_last, dtype=keyway.int8, device="meta")
    assert y.stride() == (8, 1, 4, 2) and y.is_meta and y.dtype == keyway.int8
    assert Tensor._make_wrapper_subclass(Two, (3,), (2,), 5).storage_offset() == 5
    assert Tensor._make_wrapper_subclass(Two, (1 << 40,)).nbytes == 1 << 42  # of no memory


@pytest.mark.parametrize(("arguments", "error", "text"), [
    ((Tensor, [2]), keyway.TypeError, "keyway.Tensor is no subclass of Tensor"),
    ((int, [2]), keyway.TypeError, "int is no subclass of Tensor"),
    ((nn.Parameter, [2]), keyway.TypeError, "Parameter defines no __keyway_dispatch__"),
    ((3, [2]), keyway.TypeError, "must be a class, not int"),
    ((Two, [-1]), keyway.Error, "-1"),
    ((Two, [2], [1, 1]), keyway.ValueError, "2 strides are given for 1 sizes"),
    ((Two, [2], [-1]), keyway.Error, "-1"),
    ((Two, [1 << 62, 4]), keyway.Error, "sizes"),
    ((Two, [2], None, -3), keyway.Error, "-3"),
    ((Two, [2], None, None, None, "x"), keyway.TypeError, "must be a dtype, not str"),
])  # fmt: skip
def test_a_wrapper_that_cannot_be_is_an_error(arguments, error, text):
    with pytest.raises(error, match=text):
        Tensor._make_wrapper_subclass(*arguments)


def test_calls_are_answered_by_the_class():
    x, y = two(1), two(2)
    assert_same(x + y, x.a + y.a, x.b + y.b)
    assert_same(x * 2 - y, x.a * 2 - y.a, x.b * 2 - y.b)
    assert_same(x @ y.t(), x.a @ y.a.t(), x.b @ y.b.t())
    assert_same(keyway.cat([x, y], 1), keyway.cat([x.a, y.a], 1), keyway.cat([x.b, y.b], 1))
    assert_same(x[:, 1:], x.a[:, 1:], x.b[:, 1:])
    assert_same(x[0, keyway.tensor([2, 0])], x.a[0, [2, 0]], x.b[0, [2, 0]])
    values, indices = x.sort(1)
    assert_same(values, x.a.sort(1).values, x.b.sort(1).values)
    assert indices.a.equal(x.a.sort(1).indices)
    left, right = x.split(2, 1)
    assert_same(right, x.a[:, 2:], x.b[:, 2:])
    assert_same(nn.functional.layer_norm(x, [3]), nn.functional.layer_norm(x.a, [3]), nn.functional.layer_norm(x.b, [3]))


def test_a_wrapper_and_a_plain_tensor_meet():
    x, y = two(), keyway.ones(2, 3, dtype=keyway.float64)
    assert_same(x + y, x.a + y, x.b + y)
    assert_same(y + x, x.a + y, x.b + y)
    assert_same(keyway.where(y > 0, x, y), x.a, x.b)


def test_gradients_are_wrappers():
    x, w = two(1).requires_grad_(), two(2, 3, 4).requires_grad_()
    (x @ w).tanh().sum().backward()
    for part in "ab":
        p, q = (getattr(t, part).detach().requires_grad_() for t in (x, w))
        (p @ q).tanh().sum().backward()
        np.testing.assert_allclose(getattr(x.grad, part).numpy(), p.grad.numpy(), rtol=1e-12)
        np.testing.assert_allclose(getattr(w.grad, part).numpy(), q.grad.numpy(), rtol=1e-12)
    before = numbers(w.grad)
    (x @ w).tanh().sum().backward()
    np.testing.assert_allclose(numbers(w.grad), 2 * np.array(before), rtol=1e-12)


def test_gradients_of_gradients_flow_through_wrappers():
    x = two().requires_grad_()
    (grad,) = keyway.autograd.grad((x**3).sum(), x, create_graph=True)
    assert type(grad) is Two and grad.requires_grad
    (second,) = keyway.autograd.grad(grad.sum(), x)
    assert_same(second, 6 * x.a, 6 * x.b)


def test_saved_tensors_are_wrappers_with_their_attributes():
    x = two().requires_grad_()
    x.note = "kept"
    hidden = x * 1
    hidden.note = "hidden"
    packed = []
    with keyway.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        y = hidden * hidden
    assert [(type(t), t.note, t.a is hidden.a, t is hidden) for t in packed] == [(Two, "hidden", True, False)] * 2
    del hidden
    y.sum().backward()
    assert_same(x.grad, 2 * x.a, 2 * x.b)


def test_checkpointed_functions_of_wrappers_have_gradients():
    x = two().requires_grad_()
    keyway.utils.checkpoint.checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False).sum().backward()
    assert_same(x.grad, x.a.sin().exp() * x.a.cos(), x.b.sin().exp() * x.b.cos())


def test_functions_of_python_take_wrappers():
    class Square(keyway.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    class Same(keyway.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = two().requires_grad_()
    same = Same.apply(x)
    assert type(same) is Two and same.a is x.a
    Square.apply(same).sum().backward()
    assert_same(x.grad, 6 * x.a, 6 * x.b)


def test_changes_in_place_count_in_the_versions_of_views_and_bases():
    x = two()
    v = x[0]
    w = v[1:]
    x.add_(1)
    assert (x._version, v._version, w._version) == (1, 1, 1)
    w.mul_(2)
    assert (x._version, v._version, w._version) == (2, 2, 2)
    assert_same(v, x.a[0], x.b[0])
    assert v.add_(1) is v and keyway.add(x, 1, out=x) is x
    assert x.a._version == 0  # the wrapper's is what counts


def test_a_saved_wrapper_that_was_changed_is_an_error():
    x = two().requires_grad_()
    hidden = x * 1
    y = hidden.exp() * hidden
    hidden.view(-1).add_(1)
    with pytest.raises(keyway.AutogradError, match="changed in place"):
        y.sum().backward()


def test_a_view_that_is_changed_in_place_has_the_right_gradient():
    x = two().requires_grad_()
    y = x * 1
    y[0].mul_(x[1])
    y.sum().backward()
    for part in "ab":
        p = getattr(x, part).detach().requires_grad_()
        q = p * 1
        q[0].mul_(p[1])
        q.sum().backward()
        np.testing.assert_allclose(getattr(x.grad, part).numpy(), p.grad.numpy(), rtol=1e-12)


def test_a_leaf_cannot_be_changed_in_place():
    x = two().requires_grad_()
    with pytest.raises(keyway.AutogradError, match="leaf that requires grad"):
        x.add_(1)
    with keyway.no_grad():
        x.add_(1)


def test_geometry_that_changes_in_place_is_taken_over_from_the_view():
    x = two()
    a = x.a
    x.t_()
    assert_same(x, a.t(), x.b)
    assert x.shape == (3, 2) and x.stride() == (1, 3)
    x.unsqueeze_(0)
    assert_same(x, a.t()[None], x.b)
    y = two().requires_grad_()
    z = y * 2
    z.transpose_(0, 1)
    (z[0] * 3).sum().backward()
    expected = np.zeros((2, 3))
    expected[:, 0] = 6
    np.testing.assert_allclose(y.grad.a.numpy(), expected)


def test_data_is_exchanged_among_wrappers_of_one_class():
    x, y = two(1).requires_grad_(), two(2)
    assert type(x.data) is Two and not x.data.requires_grad and x.data.a is x.a
    x.data = y
    assert x.a is y.a and x.requires_grad and x._version == y._version
    with pytest.raises(keyway.TypeError, match="wrapper tensor"):
        x.data = keyway.ones(2, 3, dtype=keyway.float64)
    plain = keyway.ones(2, 3, dtype=keyway.float64)
    with pytest.raises(keyway.TypeError, match="wrapper tensor"):
        plain.data = x.detach()
    with pytest.raises(keyway.TypeError, match="a Other cannot take the place of a Two"):
        x.data = Other(keyway.ones(2, 3))


def test_results_that_are_arguments_become_tensors_of_their_own():
    class Lazy(Two):
        @classmethod
        def __keyway_dispatch__(cls, func, types, args=(), kwargs=None):
            if func in (ops.keyway.detach.default, ops.keyway.relu.default):
                return args[0]
            return super().__keyway_dispatch__(func, types, args, kwargs)

    x = Lazy(keyway.ones(2), keyway.ones(2)).requires_grad_()
    y = x.relu()
    assert y is not x and type(y) is Lazy and y.a is x.a and y.grad_fn.name() == "ReluBackward0"
    d = x.detach()
    assert not d.requires_grad and d.a is x.a
    d.add_(1)
    assert x._version == 1


# ---- what has no memory


@pytest.mark.parametrize("read", [
    lambda x: x.data_ptr(), lambda x: x.numpy(), np.asarray, lambda x: x.tolist(), memoryview, keyway.to_dlpack,
    lambda x: keyway.save({"x": x}, io.BytesIO()), lambda x: np.from_dlpack(x), lambda x: list(x.a[0]) and x.tolist(),
])  # fmt: skip
def test_memory_that_is_asked_for_is_refused(read):
    with pytest.raises((keyway.Error, BufferError, RuntimeError, TypeError), match="(wrapper tensor|file)"):
        read(two())


def test_a_wrapper_cannot_be_resized():
    x = two()
    for resize in (lambda: x.resize_(1), lambda: x.resize_(100), lambda: x.resize_as_(keyway.ones(4))):
        with pytest.raises(keyway.NotImplementedError, match="a wrapper tensor has no memory, and cannot be resized"):
            resize()
    assert x.resize_(2, 3) is x and x.shape == x.a.shape


def test_item_goes_through_dispatch():
    x = two(0, 1)
    assert x.item() == x.a.item() and float(x) == x.a.item() and bool(x) == bool(x.a)
    with pytest.raises(keyway.TypeError, match="argument 'name'|nobody|returned"):
        class Odd(Two):
            @classmethod
            def __keyway_dispatch__(cls, func, types, args=(), kwargs=None):
                return "seven"
        Odd(keyway.ones(1), keyway.ones(1)).item()


def test_kernels_below_cannot_be_reached():
    x, y = two(), keyway.ones(2, 3, dtype=keyway.float64)
    with pytest.raises(keyway.TypeError, match="an argument is a wrapper tensor"):
        ops.keyway.add.Tensor.redispatch(keyway.DispatchKeySet("CPU"), y, x)
    with keyway.ExcludeDispatchKeyGuard("Python"):
        assert type(x + y) is Two
    with pytest.raises(keyway.TypeError, match="cannot be made of a wrapper tensor"):
        Tensor(x)
    with pytest.raises(keyway.TypeError, match="Two answers calls by __keyway_dispatch__"):
        Tensor._make_subclass(Two, y)


def test_a_wrapper_whose_class_was_changed_is_an_error_and_no_crash():
    class Gone(Two):
        pass

    x = Gone(keyway.ones(2), keyway.ones(2))
    x.__class__ = nn.Parameter
    with pytest.raises(keyway.TypeError, match="nobody answers the call"):
        x + 1
    with pytest.raises(keyway.TypeError, match="nobody answers the call"):
        keyway.ones(2).add_(x)


def test_a_wrapper_without_its_attributes_is_an_error_and_no_crash():
    x = Tensor._make_wrapper_subclass(Two, [2])
    with pytest.raises(AttributeError, match="'a'"):
        x + 1
    assert repr(Tensor._make_wrapper_subclass(Other, [2])) == "Other(..., size=(2,))"


# ---- text, copies, parts


class Other(Tensor):
    @staticmethod
    def __new__(cls, inner):
        made = Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made

    @classmethod
    def __keyway_dispatch__(cls, func, types, args=(), kwargs=None):
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        return cls(func(*tree_map_only(Other, lambda t: t.inner, args), **(kwargs or {})))


def test_text():
    x = Two(keyway.ones(2), keyway.zeros(2))
    assert repr(x) == str(x) == f"{x}" == "Two([1.0, 1.0], [0.0, 0.0])"
    assert repr(Other(keyway.ones(2, 2))) == "Other(..., size=(2, 2))"
    assert "requires_grad=True" in str(Other(keyway.ones(2)).requires_grad_())


@pytest.mark.parametrize("make", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), copy.copy])
def test_copies_are_wrappers_with_their_attributes(make):
    x = two().requires_grad_()
    x.note = [1]
    y = make(x)
    assert type(y) is Two and y is not x and y.requires_grad and y.is_leaf and y.note == [1]
    assert_same(y, x.a, x.b)
    shared = make is copy.copy
    assert (y.a is x.a) == shared and (y.note is x.note) == shared
    with keyway.no_grad():
        y.add_(1)
    assert x._version == (1 if shared else 0)
    assert_same(y * 2, y.a * 2, y.b * 2)


def test_slots_are_copied_too():
    x = SlotTwo(keyway.ones(2), keyway.ones(2))
    x.extra = "more"
    assert [made.extra for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.data)] == ["more"] * 4


def test_deep_copies_have_gradients_and_share_what_is_shared():
    x = two().requires_grad_()
    (x * x).sum().backward()
    first, second = copy.deepcopy([x, x])
    assert first is second and type(first.grad) is Two
    assert_same(first.grad, x.grad.a, x.grad.b)


def test_wrappers_are_taken_apart_and_put_together():
    x = two()
    assert is_traceable_wrapper_subclass(x) and not is_traceable_wrapper_subclass(x.a)
    assert not is_traceable_wrapper_subclass(Other(keyway.ones(2)))
    doubled = transform_subclass(x, lambda name, inner: inner * 2)
    assert_same(doubled, x.a * 2, x.b * 2)
    with pytest.raises(keyway.ValueError, match=r"gave a tensor of shape \(3, 2\)"):
        transform_subclass(x, lambda name, inner: inner.t())


# ---- several classes, modes, threads


def test_the_class_that_declines_leaves_the_call_to_the_next():
    class Outer(Tensor):
        asked = []

        @staticmethod
        def __new__(cls, inner):
            made = Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
            made.inner = inner
            return made

        @classmethod
        def __keyway_dispatch__(cls, func, types, args=(), kwargs=None):
            cls.asked.append(types)
            return cls(func(*tree_map_only(Outer, lambda t: t.inner, args), **(kwargs or {})))

    x, y = Other(keyway.ones(2)), Outer(keyway.full([2], 2.0))
    result = x + y
    assert type(result) is Outer and type(result.inner) is Other and result.inner.inner.tolist() == [3, 3]
    assert Outer.asked == [(Other, Outer)]


def test_a_subclass_is_asked_before_its_base():
    class Nearer(Two):
        @classmethod
        def __keyway_dispatch__(cls, func, types, args=(), kwargs=None):
            assert types == (Nearer, Two)
            return super().__keyway_dispatch__(func, types, args, kwargs)

    x, y = two(), Nearer(keyway.ones(2, 3, dtype=keyway.float64), keyway.ones(2, 3, dtype=keyway.float64))
    assert type(x + y) is Nearer


def test_classes_that_all_decline_are_an_error_with_operator_and_classes():
    x, y = Other(keyway.ones(2)), Declining._make()
    with pytest.raises(keyway.TypeError, match=r"add.Tensor: nobody answers the call: .*\(Other, Declining\)"):
        x + y


class Declining(Tensor):
    @classmethod
    def _make(cls):
        return Tensor._make_wrapper_subclass(cls, [2])

    @classmethod
    def __keyway_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def test_a_mode_is_asked_before_the_classes_and_sees_what_they_call():
    seen = []

    class Mode(KeywayDispatchMode):
        declines = False

        def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((func.__name__, types))
            return NotImplemented if self.declines and types else func(*args, **(kwargs or {}))

    x = two()
    with Mode():
        x + 1
    assert seen == [("add.Scalar", (Two,))]  # what the class calls is called below the mode
    seen.clear()
    with Mode() as mode:
        mode.declines = True
        x + 1
    assert seen == [("add.Scalar", (Two,)), ("add.Scalar", ()), ("add.Scalar", ())]


def test_wrappers_of_several_devices():
    class Mixed(Two):
        pass

    x = Mixed(keyway.ones(2, 3), keyway.empty(2, 3, device="meta")).requires_grad_()
    y = Tensor._make_wrapper_subclass(Two, [2, 3], device="meta")
    y.a, y.b = keyway.empty(2, 3, device="meta"), keyway.empty(2, 3, device="meta")
    (x * 3).sum().backward()
    assert x.device.type == "cpu" and x.grad.a.tolist() == [[3] * 3] * 2 and x.grad.b.is_meta
    assert (y * 2).is_meta and (y * 2).a.is_meta


def test_threads_call_wrappers_at_the_same_time():
    x = two().requires_grad_()

    def work():
        for _ in range(30):
            (x * x).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(x.grad.a.numpy(), 240 * x.a.numpy(), rtol=1e-9)


def test_vmap_forward_mode_and_autocast_come_before_wrappers():
    x = two(0, 3, 4)
    batched = keyway.vmap(lambda row: row.exp() * row)(x)
    assert_same(batched, x.a.exp() * x.a, x.b.exp() * x.b)
    value, tangent = keyway.func.jvp(lambda t: t.sin(), (x,), (x,))
    assert_same(tangent, x.a.cos() * x.a, x.b.cos() * x.b)
    single = Two(keyway.ones(2, 2), keyway.ones(2, 2))
    with keyway.autocast("cpu", dtype=keyway.bfloat16):
        assert (single @ single).a.dtype == keyway.bfloat16


# ---- modules


class Layered(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 5), nn.Linear(5, 1)

    def forward(self, x):
        return self.second(self.first(x).tanh())


def wrapped(module):
    for child in module.modules():
        for name, parameter in list(child.named_parameters(recurse=False)):
            setattr(child, name, nn.Parameter(Two(parameter.detach().clone(), parameter.detach() * 2)))
    return module


@pytest.mark.parametrize("optimizer", [
    lambda p: keyway.optim.SGD(p, lr=0.05, momentum=0.9), lambda p: keyway.optim.Adam(p, lr=0.01),
    lambda p: keyway.optim.AdamW(p, lr=0.01, foreach=True), lambda p: keyway.optim.Adam(p, lr=0.01, fused=True),
])  # fmt: skip
def test_a_module_of_wrappers_trains_as_both_modules_would(optimizer):
    keyway.manual_seed(5)
    model = Layered()
    first, second = copy.deepcopy(model), copy.deepcopy(model)
    with keyway.no_grad():
        for parameter in second.parameters():
            parameter.mul_(2)
    model = wrapped(model)
    assert all(isinstance(p, nn.Parameter) and type(p) is Two for p in model.parameters())
    assert len(list(model.parameters())) == 4 and set(model.state_dict()) == set(first.state_dict())
    x = keyway.randn(16, 3)

    def train(module):
        steps = optimizer(module.parameters())
        for _ in range(4):
            steps.zero_grad()
            module(x).pow(2).mean().backward()
            steps.step()

    for module in (model, first, second):
        train(module)
    for two_of, p, q in zip(model.parameters(), first.parameters(), second.parameters()):
        np.testing.assert_allclose(two_of.a.detach().numpy(), p.detach().numpy(), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(two_of.b.detach().numpy(), q.detach().numpy(), rtol=1e-5, atol=1e-7)


def test_modules_of_wrappers_are_converted_copied_and_loaded():
    model = wrapped(Layered())
    other = copy.deepcopy(model)
    assert all(isinstance(p, nn.Parameter) and type(p) is Two for p in other.parameters())
    weight = other.first.weight
    other.double()
    assert other.first.weight is weight and weight.dtype == weight.a.dtype == keyway.float64
    with keyway.no_grad():
        other.first.weight.zero_()
    model.load_state_dict(other.state_dict())
    assert model.first.weight.a.abs().sum().item() == 0
    assert not isinstance(weight.data, nn.Parameter) and not isinstance(weight * 1, nn.Parameter)
    assert not isinstance(weight, nn.UninitializedParameter)


def test_wrappers_and_what_they_hold_are_freed():
    x = two().requires_grad_()
    inner = weakref.ref(x.a)
    y = (x * x).exp()
    y.sum().backward()
    del x, y
    gc.collect()
    assert inner() is None


def test_a_wrapper_that_only_the_graph_holds_keeps_its_attributes():
    x = two().requires_grad_()
    y = (x * 2) * (x * 3)
    gc.collect()
    y.sum().backward()
    assert_same(x.grad, 12 * x.a, 12 * x.b)
