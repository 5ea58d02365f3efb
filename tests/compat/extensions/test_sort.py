"""torchsort: differentiable ranks and sorted values, projections onto a polytope of permutations. They come down to
regressions under an order, whose oracle is a minimum of maxima over blocks, and not an algorithm that merges blocks."""

import numpy as np
import pytest
import torch
from torchsort import isotonic_cpu, soft_rank, soft_sort
from values import array, assert_close, normal

STRENGTHS = [0.1, 1.0, 10.0]
REGULARIZATIONS = ["l2", "kl"]
EXACT = 1e-8  # blocks of values that are nearer than 1e-9 are one


def regression(value_of_block, length):
    """The decreasing sequence whose i-th element is the least over starts up to i of the greatest over ends from i on."""
    return np.array([min(max(value_of_block(start, end) for end in range(i, length)) for start in range(i + 1))
                     for i in range(length)])


def expected_l2(y):
    return regression(lambda start, end: y[start:end + 1].mean(), len(y))


def expected_kl(y, w):
    def value(start, end):
        return np.logaddexp.reduce(y[start:end + 1]) - np.logaddexp.reduce(w[start:end + 1])

    return regression(value, len(y))


def expected_rank(x, regularization, strength):
    """Row by row, of ascending order: the smallest has rank 1."""
    theta, w = x / strength, np.arange(len(x), 0, -1.0)
    order = np.argsort(-theta)
    sorted_theta = theta[order]
    if regularization == "l2":
        ranks = sorted_theta - expected_l2(sorted_theta - w)
    else:
        ranks = np.exp(sorted_theta - expected_kl(sorted_theta, np.log(w)))
    result = np.empty(len(x))
    result[order] = ranks
    return result


def expected_sort(x, regularization, strength):
    w, s = np.arange(len(x), 0, -1.0) / strength, np.sort(-x)[::-1]
    solution = expected_l2(w - s) if regularization == "l2" else expected_kl(w, s)
    return -(w - solution)


def rows(expected, x, *arguments):
    return np.stack([expected(row, *arguments) for row in array(x)])


@pytest.mark.parametrize("regularization", REGULARIZATIONS)
@pytest.mark.parametrize("strength", STRENGTHS)
def test_soft_rank_is_the_projection(strength, regularization):
    x = normal(1, 4, 9)
    assert_close(soft_rank(x, regularization, strength), rows(expected_rank, x, regularization, strength), EXACT)


@pytest.mark.parametrize("regularization", REGULARIZATIONS)
@pytest.mark.parametrize("strength", STRENGTHS)
def test_soft_sort_is_the_projection(strength, regularization):
    x = normal(2, 4, 9)
    assert_close(soft_sort(x, regularization, strength), rows(expected_sort, x, regularization, strength), EXACT)


@pytest.mark.parametrize("function, expected", [(soft_rank, expected_rank), (soft_sort, expected_sort)])
@pytest.mark.parametrize("regularization", REGULARIZATIONS)
def test_float32_is_exact_to_its_precision(regularization, function, expected):
    x = normal(3, 4, 9, dtype=torch.float32)
    assert_close(function(x, regularization, 1.0), rows(expected, x, regularization, 1.0), 1e-4)


def test_soft_rank_with_little_strength_is_the_rank():
    x = normal(4, 4, 9)
    assert_close(soft_rank(x, regularization_strength=1e-4), array(x).argsort(1).argsort(1) + 1, EXACT)


def test_soft_sort_with_little_strength_is_sorted():
    x = normal(5, 4, 9)
    assert_close(soft_sort(x, regularization_strength=1e-4), np.sort(array(x), 1), EXACT)


def test_soft_rank_with_much_strength_is_the_same_for_all():
    assert_close(soft_rank(normal(6, 4, 9), regularization_strength=1e6), np.full((4, 9), 5.0), 1e-4)


def test_soft_sort_with_much_strength_is_the_mean():
    x = normal(7, 4, 9)
    assert_close(soft_sort(x, regularization_strength=1e6), array(x).mean(1, keepdims=True).repeat(9, 1), 1e-4)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_soft_ranks_add_up_as_ranks_do(strength):
    assert_close(soft_rank(normal(8, 4, 9), regularization_strength=strength).sum(1), np.full(4, 45.0))


@pytest.mark.parametrize("strength", STRENGTHS)
def test_soft_sort_keeps_the_sum(strength):
    x = normal(9, 4, 9)
    assert_close(soft_sort(x, regularization_strength=strength).sum(1), array(x).sum(1))


@pytest.mark.parametrize("regularization", REGULARIZATIONS)
def test_soft_ranks_are_in_the_order_of_the_values(regularization):
    x = normal(10, 4, 9)
    ranks = np.take_along_axis(array(soft_rank(x, regularization)), array(x).argsort(1), 1)
    assert (np.diff(ranks) >= -EXACT).all()


@pytest.mark.parametrize("regularization", REGULARIZATIONS)
def test_soft_sort_is_ascending(regularization):
    assert (np.diff(array(soft_sort(normal(11, 4, 9), regularization))) >= -EXACT).all()


@pytest.mark.parametrize("regularization", REGULARIZATIONS)
def test_soft_rank_does_not_change_with_a_shift(regularization):
    x = normal(12, 4, 9)
    assert_close(soft_rank(x + 3, regularization), array(soft_rank(x, regularization)), EXACT)


@pytest.mark.parametrize("function", [soft_rank, soft_sort])
def test_permuted_values_have_the_permuted_result(function):
    x, order = normal(13, 1, 9), np.random.default_rng(13).permutation(9)
    expected = array(function(x))
    assert_close(function(x[:, torch.from_numpy(order)]), expected[:, order] if function is soft_rank else expected, EXACT)


@pytest.mark.parametrize("function", [soft_rank, soft_sort])
def test_a_row_does_not_depend_on_the_others(function):
    x = normal(14, 5, 9)
    assert_close(function(x)[2:3], array(function(x[2:3])))


@pytest.mark.parametrize("function", [soft_rank, soft_sort])
def test_values_that_are_not_contiguous(function):
    x = normal(15, 9, 4).t()
    assert not x.is_contiguous()
    assert_close(function(x), array(function(x.contiguous())))


@pytest.mark.parametrize("function", [soft_rank, soft_sort])
@pytest.mark.parametrize("regularization", REGULARIZATIONS)
@pytest.mark.parametrize("strength", STRENGTHS)
def test_the_derivatives_are_those_of_the_values(strength, regularization, function):
    x = normal(16, 3, 6).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: function(x, regularization, strength), [x])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_isotonic_l2_is_a_regression(dtype):
    y = normal(17, 5, 12, dtype=dtype)
    assert_close(isotonic_cpu.isotonic_l2(y), rows(expected_l2, y))


def test_isotonic_l2_leaves_what_is_in_order():
    y = normal(18, 5, 12).sort(1, descending=True)[0]
    assert_close(isotonic_cpu.isotonic_l2(y), array(y))


def test_isotonic_l2_of_ascending_values_is_their_mean():
    y = normal(19, 5, 12).sort(1)[0]
    assert_close(isotonic_cpu.isotonic_l2(y), array(y).mean(1, keepdims=True).repeat(12, 1))


def test_isotonic_l2_in_half_precision():
    y = normal(20, 5, 6, dtype=torch.float16)
    assert_close(isotonic_cpu.isotonic_l2(y), rows(expected_l2, y))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_isotonic_kl_is_a_regression(dtype):
    y, w = normal(21, 5, 12, dtype=dtype), normal(22, 5, 12, dtype=dtype)
    expected = [expected_kl(*pair) for pair in zip(array(y), array(w))]
    assert_close(isotonic_cpu.isotonic_kl(y, w), expected)


def test_a_gradient_of_isotonic_l2_is_averaged_in_each_block():
    solution, grad = torch.tensor([[3.0, 2.0, 2.0, 2.0, 1.0, 1.0]]), torch.tensor([[1.0, 2.0, 3.0, 7.0, 5.0, 6.0]])
    assert isotonic_cpu.isotonic_l2_backward(solution, solution, grad).tolist() == [[1.0, 4.0, 4.0, 4.0, 5.5, 5.5]]


def test_a_gradient_of_isotonic_kl_is_shared_as_the_exponentials():
    solution, grad, s = torch.tensor([[2.0, 2.0, 1.0]]), torch.tensor([[1.0, 2.0, 5.0]]), normal(23, 1, 3).float()
    part = np.exp(array(s)[0, :2]) / np.exp(array(s)[0, :2]).sum()
    assert_close(isotonic_cpu.isotonic_kl_backward(s, solution, grad), [[3 * part[0], 3 * part[1], 5.0]])


@pytest.mark.parametrize("function", [soft_rank, soft_sort])
def test_a_vector_is_refused(function):
    with pytest.raises(ValueError):
        function(normal(24, 9))


@pytest.mark.parametrize("function", [soft_rank, soft_sort])
def test_an_unknown_regularization_is_refused(function):
    with pytest.raises(ValueError):
        function(normal(25, 2, 9), regularization="l1")


def test_a_function_of_the_module_refuses_what_is_no_tensor():
    with pytest.raises(TypeError):
        isotonic_cpu.isotonic_l2([[1.0, 2.0]])


def test_a_function_of_the_module_refuses_a_dtype_it_has_no_code_for():
    with pytest.raises(RuntimeError, match="isotonic_l2"):
        isotonic_cpu.isotonic_l2(torch.ones(2, 3, dtype=torch.int64))


def test_functions_of_the_module_have_their_texts():
    assert "Isotonic L2 Backward" in isotonic_cpu.isotonic_l2_backward.__doc__
