"""keyway.library.custom_op: operators made of Python functions, their gradients, and opcheck."""

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


def test_gradients_of_the_last_arguments_may_be_left_out_where_these_are_no_tensors():
    @custom_op("custom::scaled_by", mutates_args=())
    def scaled_by(x: keyway.Tensor, by: float = 2.0) -> keyway.Tensor:
        return x * by

    scaled_by.register_autograd(lambda ctx, grad: grad * 7)
    x = keyway.ones(2, requires_grad=True)
    scaled_by(x).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]
    assert repr(scaled_by) == "<CustomOpDef(custom::scaled_by)>" and scaled_by._name == "scaled_by"
