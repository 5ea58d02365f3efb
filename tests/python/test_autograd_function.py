"""keyway.autograd.Function."""

import keyway
import pytest
from keyway.autograd import Function, gradcheck, gradgradcheck
from keyway.autograd.function import FunctionCtx, once_differentiable


class Power(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x.pow(n)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad.mul(x.pow(ctx.n - 1)).mul(ctx.n), None


class PowerLater(Function):
    @staticmethod
    def forward(x, n):
        return x.pow(n)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.n = inputs
        assert isinstance(output, keyway.Tensor)
        ctx.save_for_backward(x)

    backward = Power.backward


def leaf(value=2.0, size=2, **options):
    return keyway.full((size,), value, **options).requires_grad_()


@pytest.mark.parametrize("function", [Power, PowerLater])
def test_gradients_of_every_order_are_right(function):
    x = leaf(1.5, dtype=keyway.float64)
    assert gradcheck(lambda a: function.apply(a, 3), x)
    assert gradgradcheck(lambda a: function.apply(a, 3), [x])


def test_the_node_shows_its_context():
    x = leaf()
    y = Power.apply(x, 3)
    assert repr(y.grad_fn) == "<PowerBackward>"
    assert y.grad_fn.saved_tensors[0] is x
    assert (y.grad_fn.n, y.grad_fn.needs_input_grad) == (3, (True, False))
    with pytest.raises(AttributeError):
        y.grad_fn.missing  # noqa: B018


def test_nothing_is_recorded_where_nothing_requires_grad():
    assert not Power.apply(keyway.ones(1), 2).requires_grad
    with keyway.no_grad():
        assert not Power.apply(leaf(), 2).requires_grad


def test_forward_runs_without_recording_and_backward_only_if_a_graph_is_made():
    log = []

    class Modes(Function):
        @staticmethod
        def forward(ctx, x):
            log.append(keyway.is_grad_enabled())
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            log.append(keyway.is_grad_enabled())
            return grad

    x = leaf()
    y = Modes.apply(x).sum()
    y.backward(retain_graph=True)
    keyway.autograd.grad(y, x, create_graph=True)
    assert log == [False, False, True]


def test_several_outputs_and_missing_gradients():
    class Both(Function):
        materialize = True

        @classmethod
        def run(cls, x, materialize):
            cls.materialize = materialize
            return cls.apply(x)

        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(Both.materialize)
            return x.mul(2), x.mul(3), "as it is"

        @staticmethod
        def backward(ctx, first, second, text):
            assert text is None
            if not Both.materialize:
                assert second is None
                return first.mul(2)
            assert second.sum().item() == 0
            return first.mul(2).add(second.mul(3))

    for materialize in (True, False):
        x = leaf()
        first, second, text = Both.run(x, materialize)
        assert text == "as it is" and second.requires_grad
        first.sum().backward()
        assert x.grad.sum().item() == 4


def test_outputs_can_be_marked_as_not_differentiable():
    class Sign(Function):
        @staticmethod
        def forward(ctx, x):
            sign = x.sign()
            ctx.mark_non_differentiable(sign)
            return x.mul(2), sign

        @staticmethod
        def backward(ctx, grad, _):
            return grad.mul(2)

    value, sign = Sign.apply(leaf())
    assert value.requires_grad and not sign.requires_grad


def test_inputs_changed_in_place_keep_their_object_and_get_a_history():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad.mul(2)

    x = leaf()
    y = x.clone()
    version = y._version
    assert Double.apply(y) is y
    assert y._version > version and y.grad_fn.name() == "DoubleBackward"
    y.sum().backward()
    assert x.grad.sum().item() == 4
    with pytest.raises(keyway.AutogradError, match="leaf that requires grad"):
        Double.apply(x)


def test_an_input_that_is_returned_becomes_a_view():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad.mul(5)

    x = leaf()
    y = Same.apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr()
    y.sum().backward()
    assert x.grad.sum().item() == 10


@pytest.mark.parametrize("result, error, text", [
    ((), keyway.AutogradError, "PiecesBackward: backward returned 0 gradients, but forward took 2 arguments"),
    ((None, None, 1), keyway.AutogradError, "returned 3 gradients"),
    ((5, None), keyway.TypeError, "returned a int as gradient 0"),
    ((None, "g"), keyway.TypeError, "returned a str as gradient 1"),
    ((None, keyway.ones(2)), keyway.AutogradError, "argument 1 of forward, which is no Tensor"),
    ((keyway.ones(3), None), keyway.AutogradError, r"gradient of shape \[3\] for a tensor of shape \[2\]"),
])
def test_wrong_gradients_are_refused(result, error, text):
    class Pieces(Function):
        @staticmethod
        def forward(ctx, x, n):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return result

    with pytest.raises(error, match=text):
        Pieces.apply(leaf(), 1).sum().backward()


def test_none_beyond_the_arguments_is_passed_over():
    class More(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad, None, None

    x = leaf()
    More.apply(x).sum().backward()
    assert x.grad.sum().item() == 2


@pytest.mark.parametrize("result", [5, [keyway.ones(1)]])
def test_a_result_that_is_no_tensor_or_tuple_is_refused(result):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return result

    with pytest.raises(keyway.TypeError, match="WrongBackward: forward returned a"):
        Wrong.apply(leaf())


def test_forward_may_return_none():
    class Nothing(Function):
        @staticmethod
        def forward(ctx, x):
            pass

    assert Nothing.apply(leaf()) is None


def test_saved_tensors_that_change_in_place_are_noticed():
    x = leaf()
    middle = x.mul(1)
    y = Power.apply(middle, 2)
    middle.add_(1)
    with pytest.raises(keyway.AutogradError, match="PowerBackward: a tensor of shape .2. .* was changed in place"):
        y.sum().backward()


def test_saved_tensors_are_freed_after_backward():
    y = Power.apply(leaf(), 2).sum()
    y.backward()
    with pytest.raises(keyway.AutogradError, match="a second time"):
        y.backward()


def test_outputs_and_none_can_be_saved():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y, None)
            return y

        @staticmethod
        def backward(ctx, grad):
            y, nothing = ctx.saved_tensors
            assert nothing is None
            return grad.mul(y)

    x = leaf(0.5, dtype=keyway.float64)
    assert gradcheck(Exp.apply, x)
    assert gradgradcheck(Exp.apply, x)


@pytest.mark.parametrize("method", ["save_for_backward", "mark_dirty", "mark_non_differentiable"])
def test_context_methods_refuse_what_is_no_tensor(method):
    class Saves(Function):
        @staticmethod
        def forward(ctx, x):
            getattr(ctx, method)(x, 5)

    with pytest.raises(keyway.TypeError, match=f"{method}: argument 1 is a int, not a Tensor"):
        Saves.apply(leaf())


def test_a_context_outlives_its_graph_without_harm():
    kept = []

    class Keeps(Function):
        @staticmethod
        def forward(ctx, x):
            assert isinstance(ctx, FunctionCtx)
            kept.append(ctx)
            ctx.save_for_backward(x)
            return x.clone()

    Keeps.apply(leaf())
    with pytest.raises(keyway.AutogradError, match="after its graph is gone"):
        kept[0].saved_tensors  # noqa: B018


def test_once_differentiable_raises_on_the_second_derivative():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.mul(x)

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            assert not keyway.is_grad_enabled()
            return grad.mul(ctx.saved_tensors[0]).mul(2)

    x = leaf()
    (first,) = keyway.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    assert first.sum().item() == 8
    with pytest.raises(keyway.AutogradError, match="once_differentiable"):
        first.sum().backward()


def test_functions_have_no_objects_and_no_default_formulas():
    with pytest.raises(keyway.TypeError, match="Power.apply"):
        Power()
    with pytest.raises(keyway.NotImplementedError, match="forward"):
        Function.apply(leaf())

    class Forward(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

    with pytest.raises(keyway.NotImplementedError, match="backward"):
        Forward.apply(leaf()).sum().backward()


def test_exceptions_cross_the_engine_with_their_traceback():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise LookupError("in backward")

    with pytest.raises(LookupError, match="in backward") as caught:
        Fails.apply(leaf()).mul(2).sum().backward()
    assert caught.traceback[-1].name == "backward"


def test_backward_can_run_within_backward():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            with keyway.enable_grad():
                ctx.inner = x.detach().requires_grad_()
                ctx.result = ctx.inner.pow(3)
            return ctx.result.detach()

        @staticmethod
        def backward(ctx, grad):
            ctx.result.backward(grad)
            return ctx.inner.grad

    x = leaf()
    Inner.apply(x).sum().backward()
    assert x.grad.sum().item() == 24


def test_backward_may_be_named_vjp_and_only_one_of_the_names_is_used():
    class Triple(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def vjp(ctx, grad):
            return grad * 3

    x = keyway.ones(2, requires_grad=True)
    Triple.apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with pytest.raises(keyway.Error, match="both backward and vjp"):
        type("Both", (Function,), {"backward": Triple.backward, "vjp": Triple.vjp})
