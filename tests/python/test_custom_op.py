"""keyway.library.custom_op: operators made of Python functions, their gradients, and opcheck."""

import warnings
from collections.abc import Sequence

import keyway
import pytest
from keyway import Tensor
from keyway.library import OpCheckError, custom_op, opcheck


def doubles(*shape):
    return keyway.full(list(shape), 2.0, dtype=keyway.float64).requires_grad_()


def make_scale(name):
    @custom_op(f"custom::{name}", mutates_args=())
    def scale(x: Tensor, by: float = 2.0) -> Tensor:
        """Multiplies."""
        return x.mul(by)

    return scale


def add_gradient(scale):
    def setup_context(ctx, inputs, output):
        ctx.by = inputs[1]

    scale.register_autograd(lambda ctx, grad: (grad.mul(ctx.by), None), setup_context=setup_context)


def test_a_custom_operator_is_called_as_a_function_and_by_its_name():
    scale = make_scale("called")
    x = keyway.ones([2])
    assert scale(x).sum().item() == keyway.ops.custom.called(x).sum().item() == 4.0
    assert scale(x, by=3).sum().item() == 6.0
    assert keyway.ops.custom.called.default.schema == "custom::called(Tensor x, float by=2.0) -> Tensor"
    assert scale.__doc__ == "Multiplies."


def test_a_schema_may_be_given():
    scale = custom_op("custom::given", lambda x: x.mul(2), mutates_args=(), schema="(Tensor x) -> Tensor")
    assert scale(keyway.ones([2])).sum().item() == 4.0
    with pytest.raises(keyway.ValueError, match="mutates_args is .*, but the schema writes to"):
        custom_op("custom::wrong", lambda x: None, mutates_args=(), schema="(Tensor(a!) x) -> ()")
    assert not hasattr(keyway.ops.custom, "wrong")


def test_the_same_name_again_replaces_the_operator():
    make_scale("again")

    @custom_op("custom::again", mutates_args=())
    def again(x: Tensor) -> Tensor:
        return x.neg()

    assert keyway.ops.custom.again(keyway.ones([2])).sum().item() == -2.0


def test_kernels_are_chosen_by_device():
    @custom_op("custom::by_device", mutates_args=(), device_types="cuda")
    def by_device(x: Tensor) -> Tensor:
        return x.clone()

    with pytest.raises(keyway.NotImplementedError, match="custom::by_device"):
        by_device(keyway.ones([1]))

    @by_device.register_kernel("cpu")
    def on_cpu(x):
        return x.mul(7)

    assert by_device(keyway.ones([1])).item() == 7.0


def test_a_gradient_without_a_formula_is_an_error_in_backward():
    y = make_scale("no_gradient")(doubles(2))
    assert y.requires_grad
    with pytest.raises(keyway.AutogradError, match="custom::no_gradient has no gradient: register_autograd"):
        y.sum().backward()


def test_a_gradient_that_is_registered_is_called_with_what_was_saved():
    scale = make_scale("gradient")
    add_gradient(scale)
    x = doubles(2)
    y = scale(x, 5.0)
    assert y.grad_fn.name() == "custom_gradientBackward"
    y.sum().backward()
    assert x.grad.sum().item() == 10.0


def test_nothing_is_recorded_where_no_gradient_is_asked_for():
    scale = make_scale("recorded")
    assert not scale(keyway.ones([2])).requires_grad
    with keyway.no_grad():
        assert not scale(doubles(2)).requires_grad


def test_below_autograd_a_kernel_records_nothing():
    seen = []

    @custom_op("custom::below", mutates_args=())
    def below(x: Tensor) -> Tensor:
        y = x.mul(2)
        seen.append(y.requires_grad)
        return y

    below(doubles(2))
    assert seen == [False]


def test_lists_of_tensors_have_lists_of_gradients():
    needed = []

    @custom_op("custom::total", mutates_args=())
    def total(xs: list[Tensor], by: float) -> Tensor:
        return xs[0].add(xs[1]).mul(by)

    def setup_context(ctx, inputs, output):
        ctx.by = inputs[1]

    def backward(ctx, grad):
        needed.append(ctx.needs_input_grad)
        return [grad.mul(ctx.by) if needs else None for needs in ctx.needs_input_grad[0]], None

    total.register_autograd(backward, setup_context=setup_context)
    x, y = doubles(2), keyway.ones([2], dtype=keyway.float64)
    total([x, y], 3.0).sum().backward()
    assert needed == [([True, False], False)]
    assert x.grad.sum().item() == 6.0
    assert y.grad is None


def test_a_list_as_result_has_one_list_of_gradients():
    @custom_op("custom::split", mutates_args=())
    def split(x: Tensor) -> list[Tensor]:
        return [x.mul(2), x.mul(3)]

    split.register_autograd(lambda ctx, grads: grads[0].mul(2).add(grads[1].mul(3)))
    split.register_fake(lambda x: [keyway.empty_like(x), keyway.empty_like(x)])
    assert set(opcheck(split, (doubles(2),)).values()) == {"SUCCESS"}


def test_keyword_only_arguments_reach_setup_context():
    @custom_op("custom::keyword", mutates_args=())
    def keyword(x: Tensor, *, by: float = 4.0) -> Tensor:
        return x.mul(by)

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        ctx.by = keyword_only_inputs["by"]

    keyword.register_autograd(lambda ctx, grad: grad.mul(ctx.by), setup_context=setup_context)
    x = doubles(1)
    keyword(x).backward()
    assert x.grad.item() == 4.0


def test_another_number_of_gradients_is_an_error():
    scale = make_scale("gradients")
    scale.register_autograd(lambda ctx, grad: (grad, None, None))
    with pytest.raises(keyway.ValueError, match="custom::gradients: backward gave 3 gradients, but .* 2 positional"):
        scale(doubles(2)).sum().backward()


def test_what_is_written_to_is_known_to_autograd():
    @custom_op("custom::increment", mutates_args={"x"})
    def increment(x: Tensor) -> None:
        with keyway.ExcludeDispatchKeyGuard("ADInplaceOrView"):  # as what is no operator writes
            x.add_(1)

    x = keyway.ones([2])
    version = x._version
    assert increment(x) is None
    assert x.sum().item() == 4.0
    assert x._version > version
    with pytest.raises(keyway.AutogradError, match="custom::increment writes to a tensor that requires a gradient"):
        increment(doubles(2).mul(1))
    with pytest.raises(keyway.ValueError, match="only a functional operator"):
        increment.register_autograd(lambda ctx: None)


def test_results_that_share_memory_with_arguments_are_refused():
    @custom_op("custom::same", mutates_args=())
    def same(x: Tensor) -> Tensor:
        return x

    with pytest.raises(keyway.ValueError, match="custom::same: a result of .* shares memory"):
        same(keyway.ones([2]))


def test_meta_tensors_need_a_fake_kernel():
    scale = make_scale("fake")
    meta = keyway.ones([2, 3], device="meta")
    with pytest.raises(keyway.NotImplementedError, match="custom::fake has no kernel for meta tensors"):
        scale(meta)
    scale.register_fake(lambda x, by=2.0: keyway.empty_like(x))
    assert scale(meta).shape == (2, 3)


@pytest.mark.parametrize("name", ["scale", "a::b::c", "a::", "::b", "a::b.c", "a b::c", 3])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises((keyway.ValueError, keyway.TypeError), match="'namespace::name'"):
        custom_op(name, lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor")


def test_opcheck_finds_nothing_wrong_with_an_operator_that_is_right():
    scale = make_scale("right")
    add_gradient(scale)
    scale.register_fake(lambda x, by=2.0: keyway.empty_like(x))
    found = opcheck(scale, (doubles(2, 3), 3.0))
    assert found == {
        "test_schema": "SUCCESS",
        "test_autograd_registration": "SUCCESS",
        "test_faketensor": "SUCCESS",
        "test_gradcheck": "SUCCESS",
    }
    assert set(opcheck(keyway.ops.keyway.mul.Tensor, (doubles(2), doubles(2))).values()) == {"SUCCESS"}


def test_opcheck_finds_an_argument_that_is_written_to_in_secret():
    @custom_op("custom::secret", mutates_args=())
    def secret(x: Tensor) -> Tensor:
        x.add_(1)
        return x.clone()

    with pytest.raises(OpCheckError, match="test_schema failed: .*changed the elements of argument 'x'"):
        opcheck(secret, (keyway.ones([2]),))


def test_opcheck_finds_a_gradient_that_was_forgotten():
    with keyway.library.Library("custom_lib", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x.detach().clone(), "CPU")
        with pytest.raises(OpCheckError, match="test_autograd_registration failed: .*no kernel at AutogradCPU"):
            opcheck("custom_lib::f", (doubles(2),), test_utils="test_autograd_registration")


def test_opcheck_finds_a_fake_kernel_that_is_wrong():
    scale = make_scale("wrong_fake")
    scale.register_fake(lambda x, by=2.0: keyway.empty([3], device="meta"))
    found = opcheck(scale, (keyway.ones([2]),), raise_exception=False)
    assert "result 0 has shape" in found["test_faketensor"]


def test_opcheck_finds_a_gradient_that_is_wrong():
    scale = make_scale("wrong_gradient")
    scale.register_autograd(lambda ctx, grad: (grad.mul(3.0), None))
    with pytest.raises(OpCheckError, match="test_gradcheck failed"):
        opcheck(scale, (doubles(2),), test_utils=["test_gradcheck"])


def test_opcheck_has_no_other_checks():
    with pytest.raises(keyway.ValueError, match="opcheck has no check test_it"):
        opcheck(keyway.ops.keyway.relu, (keyway.ones([1]),), test_utils="test_it")


def test_lists_of_tensors_are_lists_in_and_out():
    @custom_op("custom::halves", mutates_args=())
    def halves(x: Sequence[keyway.Tensor]) -> list[keyway.Tensor]:
        seen.append(type(x))
        return [tensor / 2 for tensor in x]

    seen = []
    assert [tensor.tolist() for tensor in halves((keyway.ones(1), keyway.ones(2)))] == [[0.5], [0.5, 0.5]]
    assert seen == [list] and isinstance(halves([keyway.ones(1)]), list)


def test_fewer_gradients_than_arguments_are_an_error():
    @custom_op("custom::scaled_by", mutates_args=())
    def scaled_by(x: Tensor, by: float = 2.0) -> Tensor:
        return x * by

    scaled_by.register_autograd(lambda ctx, grad: grad * 7)
    with pytest.raises(keyway.ValueError, match="custom::scaled_by: backward gave 1 gradients, but .* 2 positional"):
        scaled_by(keyway.ones(2, requires_grad=True)).sum().backward()
    scaled_by.register_autograd(lambda ctx, grad: (grad * 7, None))
    x = keyway.ones(2, requires_grad=True)
    scaled_by(x).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]
    assert repr(scaled_by) == "<CustomOpDef(custom::scaled_by)>" and scaled_by._name == "scaled_by"


def test_an_argument_that_is_keyword_only_may_be_written_to_and_may_be_left_out():
    @custom_op("custom::into", mutates_args=["buf"])
    def into(a: Tensor, *, buf: Tensor) -> None:
        buf.copy_(a)

    @custom_op("custom::maybe_into", mutates_args=["buf"])
    def maybe_into(a: Tensor, *, buf: Tensor | None = None) -> None:
        if buf is not None:
            buf.copy_(a)

    buf = keyway.zeros(2)
    assert into(keyway.ones(2), buf=buf) is None
    assert buf.tolist() == [1.0, 1.0] and buf._version > 0
    assert maybe_into(keyway.ones(2)) is None
    maybe_into(keyway.full([2], 3.0), buf=buf)
    assert buf.tolist() == [3.0, 3.0]
    with pytest.raises(keyway.TypeError, match="misses argument 'buf'"):
        into(keyway.ones(2))


def test_arguments_may_have_the_names_that_wrappers_use():
    @custom_op("custom::names", mutates_args=["fn"])
    def names(self: Tensor, *, keys: int, args: int, fn: Tensor) -> Tensor:
        fn.fill_(args)
        return self * keys

    names.register_fake(lambda self, *, keys, args, fn: keyway.empty_like(self))
    fn = keyway.zeros(1)
    assert names(self=doubles(1).detach(), keys=3, args=4, fn=fn).item() == 6.0 and fn.item() == 4.0
    assert keyway.ops.custom.names(self=doubles(1).detach(), keys=2, args=5, fn=fn).item() == 4.0
    on_meta = keyway.empty(2, device="meta")
    assert names(self=on_meta, keys=1, args=1, fn=on_meta).is_meta


def test_keyword_only_arguments_named_self_and_keys_pass_autograd():
    @custom_op("custom::self_keys", mutates_args=())
    def self_keys(x: Tensor, *, self: int, keys: int) -> Tensor:
        return x * self * keys

    self_keys.register_autograd(lambda ctx, grad: grad * 6)
    x = doubles(1)
    self_keys(x, self=2, keys=3).backward()
    assert x.grad.item() == 6.0


def test_a_kernel_of_numpy_runs_where_an_input_requires_a_gradient():
    numpy = pytest.importorskip("numpy")

    @custom_op("custom::of_numpy", mutates_args=())
    def of_numpy(x: Tensor) -> Tensor:
        return keyway.tensor(numpy.sin(x.numpy()))

    x = doubles(1)
    assert of_numpy(x).item() == pytest.approx(0.9092974268256817)  # sin(2)
    with keyway.no_grad():
        assert x.numpy().tolist() == [2.0]
    with pytest.raises(keyway.AutogradError, match="requires grad"):
        x.numpy()


def test_results_that_are_no_tensors_need_no_gradient():
    @custom_op("custom::count", mutates_args=())
    def count(x: Tensor) -> int:
        return x.numel()

    @custom_op("custom::both", mutates_args=())
    def both(x: Tensor) -> tuple[Tensor, float]:
        return x * 2, 1.5

    both.register_autograd(lambda ctx, grad, _: grad * 2)
    x = doubles(3)
    assert count(x) == 3
    y, number = both(x)
    y.sum().backward()
    assert number == 1.5 and x.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_tuple_of_one_result_is_what_the_function_says():
    @custom_op("custom::single", mutates_args=())
    def single(x: Tensor) -> tuple[Tensor]:
        return (x * 2,)

    single.register_fake(lambda x: (keyway.empty_like(x),))
    single.register_autograd(lambda ctx, grad: grad * 2)
    x = doubles(1)
    (y,) = single(x)
    y.backward()
    assert y.item() == 4.0 and x.grad.item() == 2.0
    assert keyway.ops.custom.single(x).item() == 4.0  # the schema knows no tuple
    assert single(keyway.empty(2, device="meta"))[0].is_meta


def test_a_definition_that_was_replaced_takes_no_kernels():
    old = make_scale("stale")
    new = custom_op("custom::stale", lambda x: x.neg(), mutates_args=(), schema="(Tensor x) -> Tensor")
    for register in (
        lambda: old.register_kernel("cpu", lambda x, by: x),
        lambda: old.register_fake(lambda x, by=2.0: x),
        lambda: old.register_autograd(lambda ctx, grad: (grad, None)),
    ):
        with pytest.raises(keyway.RegistrationError, match="custom::stale was defined again since"):
            register()
    assert new(keyway.ones(1)).item() == -1.0


def test_a_redefinition_that_fails_leaves_the_operator_as_it_was():
    scale = make_scale("kept")
    add_gradient(scale)
    scale.register_fake(lambda x, by=2.0: keyway.empty_like(x))
    for wrong in (
        lambda: custom_op("custom::kept", lambda x, y: x, mutates_args=(), schema="(Tensor x) -> Tensor"),
        lambda: custom_op("custom::kept", lambda x: x, mutates_args=(), schema="(Tensr x) -> Tensor"),
        lambda: custom_op("custom::kept", lambda x: x, mutates_args=["x"], schema="(Tensor x) -> Tensor"),
    ):
        with pytest.raises(keyway.Error):
            wrong()
    x = doubles(1)
    keyway.ops.custom.kept(x, 3).backward()
    assert x.grad.item() == 3.0
    assert scale(keyway.empty(2, device="meta")).is_meta


def test_an_operator_that_is_redefined_within_its_own_kernel_stays_and_can_be_redefined_later():
    def once_more():
        return custom_op("custom::within", lambda x: x.mul(3), mutates_args=(), schema="(Tensor x) -> Tensor")

    @custom_op("custom::within", mutates_args=())
    def within(x: Tensor) -> Tensor:
        with pytest.raises(keyway.RegistrationError, match="from inside"):
            once_more()
        return x.mul(2)

    assert within(keyway.ones(1)).item() == 2.0
    assert within(keyway.ones(1)).item() == 2.0
    assert once_more()(keyway.ones(1)).item() == 3.0


def test_devices_of_an_operator_that_no_call_tells_a_device_are_refused():
    with pytest.raises(keyway.ValueError, match="takes neither a tensor nor a device"):
        custom_op("custom::of_int", lambda n: n, mutates_args=(), schema="(int n) -> int", device_types="cpu")
    made = custom_op("custom::of_int", lambda n: n + 1, mutates_args=(), schema="(int n) -> int")
    assert made(1) == 2


def test_a_kernel_for_meta_is_one_of_a_device():
    scale = make_scale("meta_kernel")
    scale.register_kernel("meta", lambda x, by=2.0: keyway.empty([7], device="meta"))
    assert tuple(scale(keyway.empty(2, device="meta")).shape) == (7,)


def test_a_device_may_be_a_default():
    @custom_op("custom::on_device", mutates_args=())
    def on_device(x: Tensor, device: keyway.device = keyway.device("cpu")) -> Tensor:
        return x.mul(2).to(device)

    assert on_device._opoverload.schema == 'custom::on_device(Tensor x, Device device="cpu") -> Tensor'
    assert on_device(keyway.ones(1)).device == keyway.device("cpu")


def test_functions_that_cannot_be_called_as_the_schema_says_are_refused_when_they_are_registered():
    scale = make_scale("checked")
    with pytest.raises(keyway.RegistrationError, match=r"\(x, by, more\) cannot be called with the arguments of custom::ch"):
        scale.register_kernel("cpu", lambda x, by, more: x)
    with pytest.raises(keyway.RegistrationError, match=r"\(\) cannot be called with the arguments of custom::checked"):
        scale.register_fake(lambda: None)
    with pytest.raises(keyway.RegistrationError, match="behind info and in_dims"):
        scale.register_vmap(lambda info, x: None)
    with pytest.raises(keyway.TypeError, match=r"register_autograd.* is called as .*\(ctx, grad0\), and takes \(ctx\)"):
        scale.register_autograd(lambda ctx: None)
    with pytest.raises(keyway.TypeError, match="setup|missing a required argument: 'i'"):
        scale.register_autograd(lambda ctx, grad: (grad, None), setup_context=lambda ctx, i, o: None)
    assert scale(keyway.ones(1)).item() == 2.0


def test_opcheck_finds_two_results_that_share_memory():
    with keyway.library.Library("custom_twins", "DEF") as lib:
        lib.define("twins(Tensor x) -> (Tensor, Tensor)")

        def twins(x):
            y = x.mul(2)
            return y, y.view(-1)

        lib.impl("twins", twins, "CPU")
        lib.impl("twins", twins, "Meta")
        with pytest.raises(OpCheckError, match="results 1 and 2 share memory, which the schema does not say"):
            opcheck(keyway.ops.custom_twins.twins, (keyway.ones(2),))
        lib.define("halves(Tensor x) -> (Tensor, Tensor)")
        lib.impl("halves", lambda x: (x.mul(2)[:1], x.mul(2)[1:]), "CPU")
        opcheck(keyway.ops.custom_twins.halves, (keyway.ones(2),), test_utils="test_schema")


def test_a_result_that_loses_its_gradient_is_warned_of_once():
    with keyway.library.Library("custom_lost", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.define("sizes(Tensor x) -> int")
        lib.define("meant(Tensor x) -> Tensor")
        lib.impl("f", lambda x: keyway.tensor(x.detach().tolist()), "CPU")
        lib.impl("meant", lambda x: keyway.tensor(x.detach().tolist()), "CPU")
        lib.impl("meant", keyway.library.fallthrough_kernel, "Autograd")
        lib.impl("sizes", lambda x: x.numel(), "CPU")
        x = keyway.ones(1, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            keyway.ops.custom_lost.f(x.detach())
            keyway.ops.custom_lost.sizes(x)
            keyway.ops.custom_lost.meant(x)
            with keyway.no_grad():
                keyway.ops.custom_lost.f(x)
        with pytest.warns(UserWarning, match="custom_lost::f has no kernel at Autograd"):
            keyway.ops.custom_lost.f(x)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            keyway.ops.custom_lost.f(x)
