"""gradcheck and gradgradcheck."""

import keyway
import pytest
from keyway.autograd import Function, gradcheck, gradgradcheck


def leaf(value=0.5, size=3, dtype=keyway.float64):
    return keyway.full((size,), value, dtype=dtype).requires_grad_()


class Wrong(Function):
    @staticmethod
    def forward(ctx, x):
        return x.mul(3)

    @staticmethod
    def backward(ctx, grad):
        return grad.mul(2)


class WrongTwice(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.mul(x)

    @staticmethod
    def backward(ctx, grad):
        return grad.mul(ctx.saved_tensors[0].detach()).mul(2)


def test_right_gradients_pass():
    assert gradcheck(lambda a, b: (a.mul(b), a.exp()), (leaf(), leaf(2.0)))
    assert gradgradcheck(lambda a, b: (a.mul(b), a.exp()), (leaf(), leaf(2.0)))


def test_wrong_gradients_are_found():
    with pytest.raises(keyway.AutogradError, match=r"result 0 at \[0\] with respect to input 0 at \[0\] is 2, .* is (2.99|3)"):
        gradcheck(Wrong.apply, leaf())
    assert gradcheck(Wrong.apply, leaf(), raise_exception=False) is False


def test_wrong_second_derivatives_are_found():
    assert gradcheck(WrongTwice.apply, leaf())
    with pytest.raises(keyway.AutogradError, match="gradcheck"):
        gradgradcheck(WrongTwice.apply, leaf())


def test_what_is_no_tensor_passes_through():
    assert gradcheck(lambda a, n, text, b: a.pow(n).add(b), (leaf(), 3, "text", keyway.ones(3, dtype=keyway.float64)))


def test_inputs_that_are_computed_serve_too():
    assert gradcheck(lambda a: a.exp(), leaf().mul(2))


def test_inputs_that_cannot_be_checked_are_refused():
    with pytest.raises(keyway.AutogradError, match="float64 on the CPU"):
        gradcheck(lambda a: a.exp(), leaf(dtype=keyway.float32))
    with pytest.raises(keyway.AutogradError, match="no input requires a gradient"):
        gradcheck(lambda a: a.exp(), keyway.ones(2, dtype=keyway.float64))
    with pytest.raises(keyway.NotImplementedError, match="complex"):
        gradcheck(lambda a: a.mul(1j), leaf())


def test_exceptions_of_the_function_come_out():
    def fails(a):
        raise LookupError("in the function")

    with pytest.raises(LookupError, match="in the function"):
        gradcheck(fails, leaf(), raise_exception=False)
