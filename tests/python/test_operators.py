"""Operators as Python calls them: arguments, results, errors, and the objects that tensors are."""

import gc
import math
import resource
import sys
import threading
import weakref

import keyway
import pytest
from keyway.autograd import gradcheck
from keyway.testing import assert_close


def values(x):
    """The elements of a tensor of one dimension."""
    return [x.select(0, i).item() for i in range(x.size(0))]


# --- Calls

def test_a_function_and_a_method_give_the_same():
    a, b = keyway.arange(3), keyway.full((3,), 10)
    assert values(keyway.add(a, b)) == values(a.add(b)) == [10, 11, 12]


def test_the_first_argument_of_a_function_is_called_input_and_others_keep_their_names():
    a = keyway.arange(3)
    assert values(keyway.add(input=a, other=a, alpha=2)) == [0, 3, 6]
    assert values(keyway.sub(a, other=1)) == [-1, 0, 1]


def test_an_argument_behind_the_star_is_taken_by_name_only():
    a = keyway.arange(3)
    with pytest.raises(keyway.TypeError, match="takes 2 positional arguments, not 3"):
        keyway.add(a, a, 2)


def test_an_overload_is_chosen_by_the_types_of_the_arguments():
    a = keyway.full((2,), 2.0)
    assert values(keyway.pow(a, 3)) == [8.0, 8.0]
    assert values(keyway.pow(3, a)) == values(keyway.pow(self=3, exponent=a)) == [9.0, 9.0]
    assert values(keyway.pow(keyway.tensor([3.0]), a)) == [9.0, 9.0]
    with pytest.raises(keyway.TypeError, match=r"no overload takes \(int, int\)"):
        keyway.pow(2, 3)
    assert values(keyway.div(a, a)) == [1.0, 1.0]
    assert values(keyway.div(a, 4)) == values(keyway.div(a, 4.0)) == [0.5, 0.5]


def test_an_alias_is_the_operator_under_another_name():
    a = keyway.tensor([0.5, -2.5])
    assert keyway.absolute(a).tolist() == a.absolute().tolist() == [0.5, 2.5]
    assert keyway.multiply(a, 2).tolist() == a.multiply(keyway.tensor(2.0)).tolist() == [1.0, -5.0]
    assert keyway.subtract(10, a, alpha=2).tolist() == [9.0, 15.0] and keyway.greater(a, 0).tolist() == [True, False]
    assert keyway.arccos.overloads == keyway.acos.overloads and keyway.clip(a, -1, 0.25).tolist() == [0.25, -1.0]
    assert keyway.divide(a, 2, out=a) is a and a.true_divide_(0.5) is a and a.tolist() == [0.5, -2.5]
    with pytest.raises(keyway.TypeError, match="not_equal\\(\\): no overload takes"):
        keyway.not_equal(a)


def test_a_list_of_sizes_may_be_written_without_brackets():
    a = keyway.arange(6)
    assert a.view(2, 3).shape == a.view((2, 3)).shape == a.view([2, 3]).shape == (2, 3)
    assert keyway.ones(2, 3).shape == (2, 3)
    assert a.view(2, 3).permute(1, 0).shape == (3, 2)


def test_none_stands_for_an_optional_argument_that_is_left_out():
    a = keyway.full((2, 2), 3.0)
    assert keyway.clamp(a, None, 2.0).sum().item() == 8.0
    assert keyway.sum(a, dtype=None).item() == 12.0


def test_numbers_are_those_of_python_and_tensors_without_dimensions():
    a = keyway.ones(2)
    assert values(a.mul(2)) == values(a.mul(2.0)) == values(a.mul(keyway.full((), 2.0))) == [2.0, 2.0]
    assert a.mul(True).dtype is keyway.float32
    assert a.mul(1 + 2j).dtype is keyway.complex64

    class Two:
        def __index__(self):
            return 2

    assert values(keyway.arange(Two())) == [0, 1]


def test_quotients_are_rounded_as_rounding_mode_says():
    a = keyway.tensor([-7, 7])
    assert a.div(2, rounding_mode="floor").tolist() == [-4, 3]
    assert a.div(keyway.tensor(2), rounding_mode="trunc").tolist() == [-3, 3]
    assert a.div(2, rounding_mode=None).tolist() == [-3.5, 3.5]
    assert keyway.tensor([3], dtype=keyway.uint8).div(-1, rounding_mode=None).tolist() == [-3.0]
    assert keyway.tensor(a).div_(2, rounding_mode="floor").dtype is keyway.int64
    assert values(keyway.div(a, a, rounding_mode="floor", out=keyway.empty(2, dtype=keyway.int64))) == [1, 1]
    with pytest.raises(keyway.Error, match="rounding_mode"):
        a.div(2, rounding_mode="ceil")
    with pytest.raises(keyway.Error, match="int64"):
        keyway.tensor(a).div_(2, rounding_mode=None)


def test_numbers_beyond_the_range_of_a_dtype_keep_their_meaning():
    small = keyway.tensor([4, 5], dtype=keyway.uint8)
    assert small.clamp(-3, 300).tolist() == [4, 5] and small.clamp_min(-3).dtype is keyway.uint8
    assert keyway.div(-3, small).tolist() == pytest.approx([-0.75, -0.6])
    assert keyway.div(-3, small.char(), rounding_mode="floor").tolist() == [-1, -1]
    half = keyway.tensor([4.0], dtype=keyway.float16)
    assert half.copysign(-1e10).tolist() == [-4.0] and keyway.xlogy(half, 1e10).tolist() == [math.inf]
    assert keyway.ldexp(half, keyway.tensor([-20], dtype=keyway.int32)).dtype is keyway.float16
    wide = keyway.ldexp(keyway.tensor([2.0**-10], dtype=keyway.float16), keyway.tensor([20]))
    assert wide.tolist() == [1024.0]
    assert keyway.logaddexp2(keyway.tensor([True]), keyway.tensor([1.0])).tolist() == [2.0]


def test_results_lie_in_memory_as_pytorchs_do():
    image = keyway.rand(2, 3, 4, 5).contiguous(memory_format=keyway.channels_last)
    assert keyway.cat([image, image], 1).is_contiguous(memory_format=keyway.channels_last)
    assert keyway.cat([image, image.contiguous()], 1).is_contiguous()
    assert keyway.ones(2, 3).nonzero().stride() == (1, 6)
    assert keyway.zeros(2, 3).nonzero().shape == (0, 2) and keyway.tensor(1.0).nonzero().shape == (1, 0)
    assert keyway.rand(5, 6, 7).rot90().stride() == (7, 42, 1)


def test_results_with_names_are_written_one_below_the_other():
    result = keyway.tensor([2, 5]).max(0)
    assert repr(result) == "keyway.return_types.max(\nvalues=tensor(5),\nindices=tensor(1))"


def test_the_gradient_of_clamp_goes_to_the_bound_that_holds():
    x, low, high = (keyway.tensor(v, requires_grad=True) for v in ([1.0, 3, 5], [2.0, 3, 2], [4.0, 3, 1]))
    assert keyway.clamp(x, low, high).tolist() == [2.0, 3.0, 1.0]
    keyway.clamp(x, low, high).sum().backward()
    assert (x.grad.tolist(), low.grad.tolist(), high.grad.tolist()) == ([0, 1, 0], [1, 0, 0], [0, 0, 1])
    x, low, high = (keyway.tensor(v, requires_grad=True) for v in ([1.0, 1, 4, 4], [0.0, 1, 1, 5], [4.0, 4, 4, 4]))
    keyway.clamp(x, low, high).sum().backward()
    assert (x.grad.tolist(), low.grad.tolist(), high.grad.tolist()) == (
        [1, 0.5, 0.5, 0], [0, 0.5, 0, 0], [0, 0, 0.5, 1])


def test_what_meets_a_bound_that_is_a_number_has_no_slope_and_equal_tensors_share_theirs():
    x, y = (keyway.tensor([0.0, 1.0, 2.0], requires_grad=True) for _ in range(2))
    x.clamp(0, 2).sum().backward()
    assert x.grad.tolist() == [0, 1, 0]
    for function in (keyway.fmax, keyway.fmin):
        x.grad = y.grad = None
        function(x, y).sum().backward()
        assert x.grad.tolist() == y.grad.tolist() == [0.5, 0.5, 0.5]


def test_losses_norms_and_angles_have_the_slopes_of_pytorch_at_zero():
    def slope(function):
        x = keyway.tensor([0.0, 0.0, 4.0], requires_grad=True)
        function(x).sum().backward()
        return x.grad.tolist()

    entropy = keyway.nn.functional.binary_cross_entropy_with_logits
    assert slope(lambda x: entropy(x[:2], keyway.tensor([1.0, 0.0]), reduction="sum")) == [-0.5, 0.5, 0]
    assert slope(lambda x: keyway.linalg.vector_norm(x, 0.5)) == [0, 0, 1]
    assert slope(lambda x: keyway.linalg.vector_norm(x, -1)) == [0, 0, 0]
    assert slope(lambda x: keyway.atan2(x, x)) == [0, 0, 0]


def test_powers_have_gradients_at_zero():
    x, n = (keyway.tensor(v, requires_grad=True) for v in ([0.0, 0, 0, 2], [0.0, 2, 1, 0]))
    x.pow(n).sum().backward()
    assert x.grad.tolist() == [0, 0, 1, 0]
    assert n.grad.tolist() == pytest.approx([0, 0, 0, 0.6931472])
    n = keyway.tensor([0.0, 2.0], requires_grad=True)
    keyway.pow(0.0, n).sum().backward()
    assert n.grad.tolist() == [0, 0]


def test_every_name_of_the_library_is_a_function_or_a_method():
    everywhere = [*vars(keyway).values(), *vars(keyway._C._nn).values(), *vars(keyway.Tensor).values()]
    reached = {op for f in everywhere if isinstance(f, keyway.OperatorFunction) for op in f.overloads}
    assert len(reached) > 400
    assert {"keyway::add.Tensor", "keyway::add_.Tensor", "keyway::add.out", "keyway::sort.stable"} <= reached


# --- Results

def test_results_with_names_are_named_tuples():
    found = keyway.sort(keyway.arange(3), descending=True)
    assert isinstance(found, tuple) and type(found).__name__ == "sort"
    assert values(found.values) == [2, 1, 0] and values(found.indices) == [2, 1, 0]
    largest, where = keyway.max(keyway.arange(3), 0)
    assert (largest.item(), where.item()) == (2, 2)


def test_a_list_of_tensors_comes_as_a_tuple():
    parts = keyway.split(keyway.arange(5), 2)
    assert isinstance(parts, tuple) and [values(p) for p in parts] == [[0, 1], [2, 3], [4]]


def test_a_call_that_writes_returns_the_object_that_it_wrote_to():
    a = keyway.ones(2)
    assert a.add_(1) is a
    out = keyway.empty(2)
    assert keyway.add(a, a, out=out) is out
    assert values(out) == [4.0, 4.0]


def test_several_results_go_into_a_tuple_given_as_out():
    out = keyway.empty(0), keyway.empty(0, dtype=keyway.int64)
    found = keyway.max(keyway.ones(2, 3), 1, out=out)
    assert found.values is out[0] and found.indices is out[1]
    assert values(out[0]) == [1.0, 1.0]


def test_out_that_is_none_is_out_that_is_left_out():
    a = keyway.ones(2)
    assert values(keyway.add(a, a, out=None)) == [2.0, 2.0]


def test_a_factory_takes_requires_grad():
    assert keyway.ones(2, requires_grad=True).requires_grad
    assert not keyway.ones(2, requires_grad=False).requires_grad
    assert keyway.zeros_like(keyway.ones(2), requires_grad=True).requires_grad
    with pytest.raises(keyway.TypeError, match="requires_grad"):
        keyway.ones(2, requires_grad=1)
    with pytest.raises(keyway.Error, match="floating"):
        keyway.ones(2, dtype=keyway.int64, requires_grad=True)


# --- Errors

def test_a_call_that_no_overload_takes_lists_them_with_the_reasons():
    with pytest.raises(keyway.TypeError) as raised:
        keyway.add(keyway.ones(1), "text")
    text = str(raised.value)
    assert text.startswith("add(): no overload takes (Tensor, str):")
    assert "add(Tensor | Number input, Tensor other, *, Number alpha=1)" in text
    assert "argument 'other' (position 2) must be Tensor, not str" in text


def test_an_error_of_the_library_is_also_pythons_own_of_that_kind():
    with pytest.raises(keyway.Error) as raised:
        keyway.index_select(keyway.ones(2), 0, keyway.arange(3))
    assert isinstance(raised.value, IndexError) and isinstance(raised.value, keyway.IndexError)
    with pytest.raises(TypeError):
        keyway.mm(1, 2)


@pytest.mark.parametrize(("call", "text"), [
    (lambda a: keyway.mm(a, a, foo=2), "(?s)mm.*unexpected keyword argument 'foo'"),
    (lambda a: keyway.sigmoid(a, input=a), "(?s)sigmoid.*several values for argument 'input'"),
    (lambda a: keyway.mm(a), "(?s)mm.*misses argument 'mat2'"),
    (lambda a: keyway.mm(a, None), "(?s)mm.*argument 'mat2' .* must be Tensor, not NoneType"),
    (lambda a: keyway.add(a, a, out=1), "argument 'out' must be a Tensor, not int"),
    (lambda a: keyway.sort(a, out=(a,)), "argument 'out' must be a tuple of 2 Tensors"),
    (lambda a: keyway.ones("2"), "(?s)ones.*argument 'size' .* must be tuple of ints, not str"),
    (lambda a: keyway.ones((2, "3")), "(?s)ones.*argument 'size'"),
    (lambda a: keyway.ones(1.5), "(?s)ones.*argument 'size'"),
    (lambda a: a.view(2, dtype=keyway.int8), "(?s)view.*dtype"),
])
def test_a_wrong_argument_is_named(call, text):
    with pytest.raises(keyway.TypeError, match=text):
        call(keyway.ones(2, 2))


def test_integers_that_do_not_fit_are_refused():
    for number in (2**64, -(2**63) - 1, 10**400):
        with pytest.raises(keyway.Error, match="64 bits"):
            keyway.arange(3).add(number)
        with pytest.raises(keyway.Error, match="64 bits"):
            keyway.ones(number)


def test_an_exception_of_an_argument_comes_out_as_it_was():
    class Bad:
        def __index__(self):
            raise LookupError("no number today")

    for call in (lambda: keyway.ones(2).mul(Bad()), lambda: keyway.ones((1, Bad())), lambda: keyway.arange(Bad())):
        with pytest.raises(LookupError, match="no number today"):
            call()


def test_keywords_that_were_made_at_run_time_and_odd_names_are_taken_or_refused():
    a = keyway.ones(2)
    assert values(keyway.add(a, **{"oth" + "er": a})) == [2.0, 2.0]
    for name in ("", "other\0", "\udc80", "日本"):
        with pytest.raises((keyway.TypeError, UnicodeEncodeError)):
            keyway.add(a, a, **{name: 1})


# --- Objects

def test_a_tensor_is_one_object_as_long_as_anybody_holds_it():
    w = keyway.ones(2, requires_grad=True)
    w.grad = keyway.zeros(2)
    assert w.grad is w.grad


def test_attributes_live_on_while_only_cpp_holds_the_tensor_also_twice():
    w = keyway.ones(2)
    w.grad = keyway.zeros(2)
    w.grad.tag = "kept"
    for turn in range(3):
        gc.collect()
        assert w.grad.tag == ("kept" if turn == 0 else turn)
        w.grad.tag = turn + 1


def test_a_subclass_lives_on_while_only_cpp_holds_the_tensor():
    class Mine(keyway.Tensor):
        pass

    made = keyway.ones(2)
    made.__class__ = Mine
    w = keyway.ones(2)
    w.grad = made
    del made
    gc.collect()
    assert type(w.grad) is Mine
    gc.collect()
    assert type(w.grad) is Mine


def test_an_object_with_attributes_goes_with_its_tensor():
    class Witness:
        pass

    w = keyway.ones(2)
    w.grad = keyway.zeros(2)
    w.grad.witness = Witness()
    seen = weakref.ref(w.grad.witness)
    gc.collect()
    assert seen() is not None
    w.grad = None
    assert seen() is None


@pytest.mark.parametrize("subclass", [False, True])
def test_a_tensor_that_refers_to_itself_is_collected(subclass):
    class Mine(keyway.Tensor):
        pass

    a = keyway.ones(2)
    if subclass:
        a.__class__ = Mine
    a.me = a
    seen = weakref.ref(a)
    del a
    gc.collect()
    assert seen() is None and gc.garbage == []


def test_a_tensor_that_refers_to_itself_is_kept_with_its_attributes_while_cpp_holds_it():
    w = keyway.ones(2)
    w.grad = keyway.zeros(2)
    w.grad.me = w.grad
    gc.collect()
    assert w.grad.me is w.grad


# --- Threads and memory

def test_threads_call_at_once():
    wrong = []

    def work(number):
        a = keyway.full((100,), float(number))
        for _ in range(200):
            if keyway.add(a, a).sum().item() != 200.0 * number:
                wrong.append(number)
            try:
                keyway.mm(a, a)
            except keyway.Error:
                continue
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def mixed_calls(a, b):
    """Ten calls, two of which fail."""
    keyway.add(a, b)
    a.mul(2.5)
    keyway.max(a, 0).values.sum().item()
    keyway.add(a, b, alpha=2)
    keyway.split(a, 2)
    a.view(2, 2).shape
    keyway.zeros(2, dtype=keyway.int64)
    a.tag = [a]
    for wrong in ("text", keyway.ones(3)):
        try:
            keyway.add(a, wrong)
        except keyway.Error:
            pass
    a.detach().clone().mul_(2)


def peak_kilobytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux only")
def test_memory_does_not_grow_over_calls_and_errors():
    a, b = keyway.ones(4), keyway.ones(4)
    for _ in range(2000):
        mixed_calls(a, b)
    before = peak_kilobytes()
    for _ in range(10000):
        mixed_calls(a, b)
    # A leak of one object a call would be 100000 times 32 bytes or more.
    assert peak_kilobytes() - before < 1024


def test_keywords_have_numpys_names_too():
    x = keyway.tensor([[1.0, 2.0], [3.0, 5.0]])
    assert x.sum(axis=0, keepdims=True).tolist() == [[4.0, 7.0]]
    assert keyway.cat([x, x], axis=1).shape == (2, 4)
    assert [part.shape for part in keyway.split(x, split_size_or_sections=1)] == [(1, 2), (1, 2)]
    with pytest.raises(keyway.TypeError, match="got an unexpected keyword argument 'axes'"):
        x.cumsum(0, axes=0)
    with pytest.raises(keyway.TypeError, match="got several values for argument 'axis'"):
        x.cumsum(0, axis=0)


@pytest.mark.parametrize("call", [
    lambda x: x.sum(2), lambda x: x.softmax(-3), lambda x: x.transpose(0, 2), lambda x: keyway.cat([x, x], 2),
    lambda x: x.unsqueeze(4), lambda x: x.gather(2, keyway.zeros(2, 2, dtype=keyway.int64)), lambda x: x.flip(2)])
def test_a_dimension_that_is_not_there_is_an_index_error(call):
    with pytest.raises(keyway.IndexError, match="is not from -"):
        call(keyway.zeros(2, 2))


def test_a_dimension_that_stands_twice_is_no_index_error():
    with pytest.raises(keyway.ValueError, match="stands twice"):
        keyway.zeros(2, 2).sum((0, 0))


def test_division_by_infinity_rounds_down():
    x, inf = keyway.tensor([-2.0, 2.0, -0.0, math.inf]), math.inf
    assert repr(keyway.floor_divide(x, inf).tolist()) == "[-1.0, 0.0, -0.0, nan]"
    assert repr(keyway.floor_divide(x, -inf).tolist()) == "[0.0, -1.0, 0.0, nan]"


def test_an_empty_list_of_tensors_is_an_error_of_the_value():
    with pytest.raises(keyway.ValueError, match="'tensors': a list of tensors must not be empty"):
        keyway.cat([])


def test_bounds_may_be_tensors():
    x = keyway.tensor([-1.0, float("nan"), 5.0], requires_grad=True)
    assert keyway.clamp_min(x, keyway.tensor(0.5))[0].item() == 0.5 and x.clamp_max(keyway.tensor([[1.0]]))[0, 2] == 1
    x.clamp_min(keyway.zeros(3)).nansum().backward()
    assert x.grad[0] == 0 and x.grad[2] == 1
    y = keyway.tensor([1, 5])
    assert y.clamp_max_(keyway.tensor([3, 3])) is y and y.tolist() == [1, 3]


def test_random_integers_go_into_out_and_between_bounds():
    out = keyway.empty(0, dtype=keyway.int32)
    assert keyway.randint(3, 4, (2,), out=out) is out and out.tolist() == [3, 3]
    assert keyway.randperm(1, out=keyway.empty(0)).tolist() == [0.0]
    assert keyway.randint_like(keyway.zeros(2), 3, 4).tolist() == [3.0, 3.0]
    assert keyway.rand(2, dtype=keyway.complex64).dtype is keyway.complex64


def test_layers_stand_at_the_top_too():
    x = keyway.ones(1, 1, 4)
    assert keyway.conv1d(x, keyway.ones(1, 1, 2), padding="same").tolist() == [[[2, 2, 2, 1]]]
    assert keyway.max_pool1d(x, 2).shape == keyway.avg_pool1d(x, 2).shape == (1, 1, 2)
    assert keyway.group_norm(x, 1).tolist() == [[[0, 0, 0, 0]]]
    assert keyway.batch_norm(x, None, None, keyway.ones(1), keyway.ones(1), False, 0.1, 0.0, True).tolist() == [[[0] * 4]]


def test_an_outer_product_promotes():
    a = keyway.addr(keyway.ones(2, 2, dtype=keyway.int64), keyway.tensor([1, 2]), keyway.tensor([0.5, 1.0]))
    assert a.tolist() == [[1.5, 2.0], [2.0, 3.0]]


def test_scattered_elements_may_be_added_or_multiplied():
    x, index = keyway.ones(3), keyway.tensor([0, 0, 2])
    assert x.scatter(0, index, keyway.tensor([2.0, 3.0, 4.0]), reduce="multiply").tolist() == [6, 1, 4]
    assert x.scatter_(0, index, 2.0, reduce="add").tolist() == [5, 1, 3]


def test_flags_go_to_bool_and_uint8():
    x = keyway.tensor([[1.0, 0.0], [2.0, 3.0]])
    for dim in ((), (1,), ((0, 1),)):
        for given in (x, x.byte()):
            for dtype in (keyway.bool, keyway.uint8):
                out = keyway.empty(0, dtype=dtype)
                assert keyway.all(given, *dim, out=out) is out and out.tolist() == keyway.all(given, *dim).tolist()
                assert keyway.any(given, *dim, out=out) is out and out.dtype is dtype
            with pytest.raises(keyway.TypeError, match="'out' is float32, but must be bool or uint8"):
                keyway.any(given, *dim, out=keyway.empty(0))


def test_float_power_in_place_is_of_double_precision_only():
    x = keyway.tensor([2.0, 4.0], dtype=keyway.float64)
    assert x.float_power_(2) is x and x.tolist() == [4.0, 16.0]
    assert x.float_power_(keyway.tensor([1, -1])).tolist() == [4.0, 0.0625]
    leaf = keyway.tensor([3.0], dtype=keyway.float64, requires_grad=True)
    (leaf * 1).float_power_(2).backward()
    assert leaf.grad.tolist() == [6.0]
    with pytest.raises(keyway.TypeError, match="the result is complex128, but argument 'self' is float64"):
        x.float_power_(1j)
    assert x.tolist() == [4.0, 0.0625]


def test_logcumsumexp_of_complex_numbers():
    x = keyway.tensor([1 + 2j, 2 - 1j, -1j, float("-inf")], dtype=keyway.complex128)
    assert_close(x.logcumsumexp(0), x.exp().cumsum(0).log())
    inputs = (x[:3].clone().requires_grad_(),)
    assert gradcheck(lambda z: z.logcumsumexp(0), inputs)
    wide = keyway.tensor([1000 + 1j, 1000 + 1j], dtype=keyway.complex64)
    assert_close(wide.logcumsumexp(0)[1], wide[1] + math.log(2))


def test_a_new_tensor_was_not_changed_yet():
    x = keyway.ones(2, requires_grad=True)
    for made in (x, keyway.zeros(2), keyway.full((2,), 3), keyway.rand(2), keyway.randn(2), x.clone(), x.t().clone()):
        assert made._version == 0
    assert x.clone().grad_fn is not None and keyway.zeros(2).add_(1)._version == 1


def test_a_volume_without_a_batch_is_padded_by_what_is_opposite():
    x = keyway.arange(6.0).view(2, 3)
    padded = keyway.nn.functional.pad(x, (1, 1), mode="circular")
    assert padded.tolist() == [[2, 0, 1, 2, 0], [5, 3, 4, 5, 3]]


def test_the_gradient_of_a_similarity_does_not_know_of_the_least_length():
    x, y = keyway.tensor([3.0, 4.0], requires_grad=True), keyway.tensor([5.0, 0.0])
    similarity = keyway.nn.functional.cosine_similarity(x, y, 0, 10.0)
    assert similarity.item() == pytest.approx(0.15)
    similarity.backward()
    # Of x . y / (a b), where a = 10 counts as a length of x, with the slope x / 5; b = 10.
    assert x.grad.tolist() == pytest.approx([5 / 100 - 15 / 1000 * 3 / 5, -15 / 1000 * 4 / 5])
