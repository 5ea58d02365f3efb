"""torch_spline_conv: B-spline bases, and convolutions over graphs with weights at their knots. The oracle of bases is
SciPy's B-spline, that of the rest is written out over edges."""

import itertools

import numpy as np
import pytest
import torch
from scipy.interpolate import BSpline
from torch_spline_conv import spline_basis, spline_conv, spline_weighting
from values import array, assert_close, assert_derivative, normal, whole

DEGREES = [1, 2, 3]
EDGES = torch.tensor([[0, 0, 1, 2, 2, 3], [1, 2, 0, 3, 0, 2]])


def pseudo_coordinates(seed, edges, dims, dtype=torch.float64):
    """Points in (0, 1), off the knots, where bases of degree 1 have no derivative."""
    return torch.from_numpy(np.random.default_rng(seed).uniform(0.01, 0.99, (edges, dims))).to(dtype)


def expected_basis(pseudo, kernel_size, is_open, degree):
    """Of every point, the products over dimensions of the B-splines that are not zero there, and the knots they belong
    to: the first dimension runs fastest."""
    spline = BSpline.basis_element(np.arange(degree + 2))
    values, knots = [], []
    for point in pseudo:
        scaled = point * (np.asarray(kernel_size) - degree * np.asarray(is_open))
        first = np.floor(scaled).astype(int)
        for offsets in itertools.product(range(degree + 1), repeat=len(point)):
            offsets = offsets[::-1]
            values.append(np.prod([spline(s - f + degree - k) for s, f, k in zip(scaled, first, offsets)]))
            knots.append(sum((f + k) % size * stride for f, k, size, stride in
                             zip(first, offsets, kernel_size, np.cumprod([1, *kernel_size]))))
    return np.reshape(values, (len(pseudo), -1)), np.reshape(knots, (len(pseudo), -1))


def settings(kernel_size, is_open):
    return torch.tensor(kernel_size), torch.tensor(is_open, dtype=torch.uint8)


def basis_of(pseudo, kernel_size, is_open, degree):
    return spline_basis(pseudo, *settings(kernel_size, is_open), degree)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("degree", DEGREES)
def test_a_basis_is_that_of_b_splines(degree, dtype):
    pseudo = pseudo_coordinates(1, 20, 1, dtype)
    basis, knots = basis_of(pseudo, [6], [1], degree)
    values, places = expected_basis(array(pseudo), [6], [1], degree)
    assert_close(basis, values)
    assert_close(knots, places)


@pytest.mark.parametrize("degree", DEGREES)
def test_a_basis_in_two_dimensions_is_a_product(degree):
    pseudo = pseudo_coordinates(2, 20, 2)
    basis, knots = basis_of(pseudo, [5, 4], [1, 1], degree)
    values, places = expected_basis(array(pseudo), [5, 4], [1, 1], degree)
    assert_close(basis, values)
    assert_close(knots, places)


@pytest.mark.parametrize("degree", DEGREES)
def test_a_basis_in_three_dimensions_may_be_closed_in_some(degree):
    pseudo = pseudo_coordinates(3, 10, 3)
    basis, knots = basis_of(pseudo, [5, 4, 6], [1, 0, 1], degree)
    values, places = expected_basis(array(pseudo), [5, 4, 6], [1, 0, 1], degree)
    assert_close(basis, values)
    assert_close(knots, places)


@pytest.mark.parametrize("degree", DEGREES)
def test_a_closed_spline_goes_round(degree):
    basis, knots = basis_of(torch.tensor([[0.95]], dtype=torch.float64), [5], [0], degree)
    values, places = expected_basis([[0.95]], [5], [0], degree)
    assert 0 in places  # behind the last knot is the first one
    assert_close(basis, values)
    assert_close(knots, places)


@pytest.mark.parametrize("degree", DEGREES)
def test_bases_of_a_point_add_up_to_one(degree):
    basis, _ = basis_of(pseudo_coordinates(4, 50, 2), [6, 7], [1, 0], degree)
    assert_close(basis.sum(1), np.ones(50))


@pytest.mark.parametrize("degree", DEGREES)
def test_knots_are_within_the_kernel(degree):
    _, knots = basis_of(pseudo_coordinates(5, 50, 2), [6, 7], [1, 0], degree)
    assert knots.min() >= 0 and knots.max() < 42 and knots.shape == (50, (degree + 1) ** 2)


@pytest.mark.parametrize("degree", DEGREES)
def test_a_basis_has_the_derivative_of_its_values(degree):
    assert_derivative(lambda pseudo: basis_of(pseudo, [5, 6], [1, 0], degree)[0], pseudo_coordinates(6, 5, 2))


def test_knots_carry_no_gradient():
    _, knots = basis_of(pseudo_coordinates(7, 5, 1).requires_grad_(), [5], [1], 1)
    assert not knots.requires_grad and knots.dtype == torch.int64


def weighted(x, weight, basis, knots):
    return np.einsum("ei,esio,es->eo", x, weight[knots], basis)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weighting_multiplies_with_the_weights_of_the_knots(dtype):
    x, weight, basis = normal(8, 6, 3, dtype=dtype), normal(9, 10, 3, 2, dtype=dtype), normal(10, 6, 4, dtype=dtype)
    knots = whole(11, 0, 10, 6, 4)
    expected = weighted(array(x), array(weight), array(basis), knots.numpy())
    assert_close(spline_weighting(x, weight, basis, knots), expected, 1e-4 if dtype == torch.float32 else None)


def test_weighting_has_the_derivative_by_x():
    weight, basis, knots = normal(12, 10, 3, 2), normal(13, 6, 4), whole(14, 0, 10, 6, 4)
    assert_derivative(lambda x: spline_weighting(x, weight, basis, knots), normal(15, 6, 3))


def test_weighting_has_the_derivative_by_the_weights():
    x, basis, knots = normal(16, 6, 3), normal(17, 6, 4), whole(18, 0, 10, 6, 4)
    assert_derivative(lambda weight: spline_weighting(x, weight, basis, knots), normal(19, 10, 3, 2))


def test_weighting_has_the_derivative_by_the_basis():
    x, weight, knots = normal(20, 6, 3), normal(21, 10, 3, 2), whole(22, 0, 10, 6, 4)
    assert_derivative(lambda basis: spline_weighting(x, weight, basis, knots), normal(23, 6, 4))


def convolution(seed, dtype=torch.float64, dims=2):
    """Features of 4 nodes, coordinates of the edges, and weights for kernels of 5 knots in each dimension."""
    return (normal(seed, 4, 3, dtype=dtype), pseudo_coordinates(seed, 6, dims, dtype),
            normal(seed + 1, 5 ** dims, 3, 2, dtype=dtype))


def expected_convolution(x, pseudo, weight, degree, norm=True, root_weight=None, bias=None):
    x, weight = array(x), array(weight)
    dims = pseudo.shape[1]
    basis, knots = expected_basis(array(pseudo), [5] * dims, [1] * dims, degree)
    rows, columns = EDGES.numpy()
    messages = weighted(x[columns], weight, basis, knots)
    result = np.zeros((len(x), weight.shape[2]))
    np.add.at(result, rows, messages)
    if norm:
        result /= np.maximum(np.bincount(rows, minlength=len(x)), 1)[:, None]
    if root_weight is not None:
        result += x @ array(root_weight)
    return result if bias is None else result + array(bias)


def convolved(x, pseudo, weight, degree=1, **options):
    dims = pseudo.shape[1]
    return spline_conv(x, EDGES, pseudo, weight, *settings([5] * dims, [1] * dims), degree, **options)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("degree", DEGREES)
def test_a_convolution_averages_over_edges(degree, dtype):
    inputs = convolution(24, dtype)
    assert_close(convolved(*inputs, degree), expected_convolution(*inputs, degree),
                 1e-4 if dtype == torch.float32 else None)


def test_a_convolution_without_norm_adds_up():
    inputs = convolution(26)
    assert_close(convolved(*inputs, norm=False), expected_convolution(*inputs, 1, norm=False))


def test_a_convolution_adds_the_nodes_own_features():
    inputs, root_weight = convolution(28), normal(30, 3, 2)
    assert_close(convolved(*inputs, root_weight=root_weight), expected_convolution(*inputs, 1, root_weight=root_weight))


def test_a_convolution_adds_a_bias():
    inputs, bias = convolution(31), normal(33, 2)
    assert_close(convolved(*inputs, bias=bias), expected_convolution(*inputs, 1, bias=bias))


def test_features_and_coordinates_of_one_dimension_may_be_vectors():
    x, pseudo, weight = normal(34, 4), pseudo_coordinates(34, 6, 1), normal(35, 5, 1, 2)
    result = spline_conv(x, EDGES, pseudo.squeeze(1), weight, *settings([5], [1]))
    assert_close(result, expected_convolution(x.unsqueeze(1), pseudo, weight, 1))


@pytest.mark.parametrize("degree", DEGREES)
def test_a_convolution_has_the_derivatives_of_its_values(degree):
    assert_derivative(lambda x, pseudo, weight, root_weight, bias:
                      convolved(x, pseudo, weight, degree, root_weight=root_weight, bias=bias),
                      *convolution(36), normal(38, 3, 2), normal(39, 2))


def test_bfloat16_is_rounded_float32():
    inputs = convolution(40, torch.bfloat16)
    exact = expected_convolution(*inputs, 1)
    assert_close(convolved(*inputs), exact, 0.1)


def test_a_library_without_cuda_says_so():
    assert torch.ops.torch_spline_conv.cuda_version() == -1
