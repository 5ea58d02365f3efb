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
    with pytest.raises(keyway.AutogradError, match="float64 or complex128 on the CPU"):
        gradcheck(lambda a: a.exp(), leaf(dtype=keyway.float32))
    with pytest.raises(keyway.ValueError, match="no input requires a gradient"):
        gradcheck(lambda a: a.exp(), keyway.ones(2, dtype=keyway.float64))


def test_complex_tensors_are_checked_as_their_parts():
    z = keyway.tensor([[1 + 2j, -0.5j], [0.3, 2 - 1j]], dtype=keyway.complex128, requires_grad=True)
    assert gradcheck(lambda a: (a * a.conj()).real, z) and gradgradcheck(lambda a: a.exp().abs(), z)
    assert gradcheck(lambda a, b: a * b, (z, keyway.tensor([2.0, 3.0], dtype=keyway.float64, requires_grad=True)))

    class WithoutConjugate(keyway.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.saved_tensors[0] * grad

    with pytest.raises(keyway.AutogradError, match=r"with respect to input 0 at \[0, 0, 1\]"):
        gradcheck(WithoutConjugate.apply, z)


def test_exceptions_of_the_function_come_out():
    def fails(a):
        raise LookupError("in the function")

    with pytest.raises(LookupError, match="in the function"):
        gradcheck(fails, leaf(), raise_exception=False)


def test_a_check_of_nothing_is_refused():
    x = keyway.ones(2, dtype=keyway.float64, requires_grad=True)
    with pytest.raises(keyway.ValueError, match="nothing to check"):
        gradcheck(lambda a: a, (x,), check_backward_ad=False)
    with pytest.raises(keyway.ValueError, match="nothing to check"):
        gradgradcheck(lambda a: a, (x,), check_rev_over_rev=False)
