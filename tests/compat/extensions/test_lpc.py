"""torchlpc: y[t] = x[t] - a[t, 0] y[t - 1] - a[t, 1] y[t - 2] - ..., in which the coefficients change with time."""

import numpy as np
import pytest
import scipy.signal
import torch
import torchlpc
from torchlpc import sample_wise_lpc
from torchlpc.core import LPC
from torchlpc.recurrence import Recurrence
from values import array, assert_close, assert_derivative, normal

DTYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]
ORDERS = [1, 2, 5]


def filtered(x, a, zi=None):
    """The recursion, sample by sample; `zi` are the values before the first, the latest first."""
    x, a = array(x), array(a)
    batch, length, order = a.shape
    y = np.zeros((batch, order + length), dtype=np.result_type(x, a))
    if zi is not None:
        y[:, :order] = array(zi)[:, ::-1]
    for t in range(length):
        y[:, order + t] = x[:, t] - (a[:, t] * y[:, t:t + order][:, ::-1]).sum(1)
    return y[:, order:]


def inputs(seed, batch=3, length=20, order=2, dtype=torch.float64):
    """Coefficients are small, so that values do not grow."""
    return (normal(seed, batch, length, dtype=dtype), normal(seed + 1, batch, length, order, dtype=dtype) * (0.5 / order),
            normal(seed + 2, batch, order, dtype=dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ORDERS)
def test_the_filter_is_the_recursion(order, dtype):
    x, a, zi = inputs(1, order=order, dtype=dtype)
    assert_close(sample_wise_lpc(x, a, zi), filtered(x, a, zi))


@pytest.mark.parametrize("order", ORDERS)
def test_the_filter_begins_with_zeros(order):
    x, a, _ = inputs(4, order=order)
    assert_close(sample_wise_lpc(x, a), filtered(x, a))


@pytest.mark.parametrize("order", ORDERS)
def test_constant_coefficients_are_a_filter_of_scipy(order):
    x, a, _ = inputs(7, order=order)
    a = a[:, :1].expand(-1, 20, -1)
    expected = [scipy.signal.lfilter([1.0], [1.0, *array(a)[row, 0]], array(x)[row]) for row in range(3)]
    assert_close(sample_wise_lpc(x, a), expected)


@pytest.mark.parametrize("order", ORDERS)
def test_the_last_values_are_the_state_for_the_next_samples(order):
    x, a, zi = inputs(10, length=30, order=order)
    first, state = sample_wise_lpc(x[:, :17], a[:, :17], zi, return_zf=True)
    second = sample_wise_lpc(x[:, 17:], a[:, 17:], state)
    assert_close(torch.cat([first, second], 1), filtered(x, a, zi))


@pytest.mark.parametrize("order", ORDERS)
def test_the_state_is_the_last_values_backwards(order):
    y, state = sample_wise_lpc(*inputs(13, order=order), return_zf=True)
    assert_close(state, array(y)[:, ::-1][:, :order])


def test_the_filter_takes_inputs_that_are_not_contiguous():
    x, a, zi = inputs(16)
    x, a = x.t().contiguous().t(), a.transpose(1, 2).contiguous().transpose(1, 2)
    assert not x.is_contiguous() and not a.is_contiguous()
    assert_close(sample_wise_lpc(x, a, zi), filtered(x, a, zi))


def test_many_rows_are_filtered_by_several_threads():
    x, a, zi = inputs(19, batch=300, length=100)
    assert_close(sample_wise_lpc(x, a, zi), filtered(x, a, zi))


def test_one_sample_is_a_filter():
    x, a, zi = inputs(22, length=1, order=1)
    assert_close(sample_wise_lpc(x, a, zi), filtered(x, a, zi))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_the_filter_has_the_derivatives_of_its_values(dtype, order):
    assert_derivative(sample_wise_lpc, *inputs(25, batch=2, length=8, order=order, dtype=dtype))


@pytest.mark.parametrize("which", [0, 1, 2])
def test_each_input_may_be_the_only_one_with_a_gradient(which):
    tensors = inputs(28, batch=2, length=8)

    def function(one):
        return sample_wise_lpc(*tensors[:which], one, *tensors[which + 1:])

    assert_derivative(function, tensors[which])


@pytest.mark.parametrize("order", ORDERS)
def test_the_filter_has_second_derivatives(order):
    tensors = [tensor.requires_grad_() for tensor in inputs(31, batch=2, length=6, order=order)]
    assert torch.autograd.gradgradcheck(sample_wise_lpc, tensors)


@pytest.mark.parametrize("order", ORDERS)
def test_the_filter_has_tangents_in_forward_mode(order):
    tensors = [tensor.requires_grad_() for tensor in inputs(34, batch=2, length=6, order=order)]
    assert torch.autograd.gradcheck(sample_wise_lpc, tensors, check_forward_ad=True, check_backward_ad=False)


@pytest.mark.parametrize("function", [LPC, Recurrence])
def test_vmap_filters_each_example(function):
    x, a, zi = inputs(37, batch=12, order=1 if function is Recurrence else 2)
    expected = filtered(x, a, zi).reshape(4, 3, 20)
    tensors = (-a.squeeze(2), x, zi.squeeze(1)) if function is Recurrence else (x, a, zi)
    grouped = [tensor.reshape(4, 3, *tensor.shape[1:]) for tensor in tensors]
    assert_close(torch.func.vmap(function.apply)(*grouped), expected)


def test_a_jacobian_in_forward_mode_is_the_gradient():
    x, a, zi = inputs(40, batch=2, length=6)

    def loss(a):
        return (LPC.apply(x, a, zi) ** 2).sum()

    leaf = a.clone().requires_grad_()
    loss(leaf).backward()
    assert_close(torch.func.jacfwd(loss)(a), array(leaf.grad))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_operator_lpc_is_the_recursion(dtype):
    x, a, zi = inputs(43, order=3, dtype=dtype)
    assert_close(torch.ops.torchlpc.lpc(x, a, zi), filtered(x, a, zi))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_operator_scan_is_that_of_order_one(dtype):
    x, a, zi = inputs(46, order=1, dtype=dtype)
    assert_close(torch.ops.torchlpc.scan(x, -a.squeeze(2), zi.squeeze(1)), filtered(x, a, zi))


def test_the_operators_have_the_schemas_of_their_definition():
    assert str(torch.ops.torchlpc.lpc.default._schema) == "torchlpc::lpc(Tensor a, Tensor b, Tensor c) -> Tensor"


@pytest.mark.parametrize("operator", ["lpc", "scan"])
def test_integers_are_refused(operator):
    x = torch.ones(2, 5, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="floating point or complex"):
        getattr(torch.ops.torchlpc, operator)(x, x, x[:, 0])


def test_dtypes_have_to_agree():
    x, a, zi = inputs(49)
    with pytest.raises(RuntimeError, match="same scalar type"):
        torch.ops.torchlpc.lpc(x, a.float(), zi)


def test_dimensions_of_an_operator_are_checked():
    x, a, zi = inputs(52)
    with pytest.raises(RuntimeError, match="must be 2D"):
        torch.ops.torchlpc.lpc(x[0], a, zi)


def test_lengths_have_to_agree():
    x, a, zi = inputs(55)
    with pytest.raises(AssertionError):
        sample_wise_lpc(x[:, 1:], a, zi)


def test_the_library_of_operators_is_loaded():
    assert torchlpc.EXTENSION_LOADED
