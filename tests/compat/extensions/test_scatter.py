"""torch_scatter: what lands at one position is reduced. The oracle collects the values of each position in Python."""

import numpy as np
import pytest
import torch
import torch_scatter
from values import DTYPES, FLOATS, array, assert_close, assert_derivative, normal, whole

INDEX = [0, 2, 2, 0, 5, 2, 0, 3]  # position 1 and position 4 get nothing
POINTERS = [0, 3, 3, 4, 8]  # the segments of 8 values, the second one empty
SORTED = [0, 0, 0, 2, 3, 3, 3, 3]  # the same segments as an index
REDUCTIONS = {"sum": np.sum, "add": np.sum, "mul": np.prod, "mean": np.mean, "min": np.min, "max": np.max}


def collected(values, index, dim, size):
    """For each position of the result the values that land there, and where they are along `dim`."""
    values = np.moveaxis(values, dim, 0)
    index = np.broadcast_to(index, values.shape)
    found = {}
    for at in np.ndindex(*values.shape):
        found.setdefault((index[at], *at[1:]), []).append((values[at], at[0]))
    return found, (size, *values.shape[1:])


def reduced(src, index, reduce, dim=0, size=6):
    """The reductions of what `collected` finds; nothing gives 0, and for a product 1."""
    values = array(src)
    index = np.asarray(index)
    if index.ndim == 1:
        index = index.reshape(-1, *[1] * (values.ndim - 1))
    found, shape = collected(values, index, dim, size)
    result = np.full(shape, 1.0 if reduce == "mul" else 0.0)
    for at, pairs in found.items():
        result[at] = REDUCTIONS[reduce]([value for value, _ in pairs])
    if not src.dtype.is_floating_point:
        result = np.floor(result)
    return np.moveaxis(result, 0, dim)


def positions(src, index, reduce, dim=0, size=6):
    """Where the first smallest or largest value of each position is, or the length of `dim` where nothing landed."""
    values = array(src)
    found, shape = collected(values, np.asarray(index).reshape(-1, *[1] * (values.ndim - 1)), dim, size)
    result = np.full(shape, values.shape[dim])
    for at, pairs in found.items():
        best = REDUCTIONS[reduce]([value for value, _ in pairs])
        result[at] = next(where for value, where in pairs if value == best)
    return np.moveaxis(result, 0, dim)


def distinct(*shape, dtype=torch.float64):
    """Values that all differ, in a random order, so that the smallest and the largest are single ones."""
    count = int(np.prod(shape))
    return torch.from_numpy(np.random.default_rng(3).permutation(count).reshape(shape) - count // 2).to(dtype)


def index_tensor(values=INDEX):
    return torch.tensor(values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_sum_adds_what_lands_at_a_position(dtype):
    src = normal(1, 8, 3, dtype=dtype)
    assert_close(torch_scatter.scatter_sum(src, index_tensor(), dim=0), reduced(src, INDEX, "sum"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_add_is_scatter_sum(dtype):
    src = normal(2, 8, 3, dtype=dtype)
    assert_close(torch_scatter.scatter_add(src, index_tensor(), dim=0), reduced(src, INDEX, "add"))


@pytest.mark.parametrize("dtype", FLOATS)
def test_scatter_mul_multiplies_and_leaves_one_where_nothing_lands(dtype):
    src = normal(3, 8, 3, dtype=dtype)
    assert_close(torch_scatter.scatter_mul(src, index_tensor(), dim=0), reduced(src, INDEX, "mul"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_mean_divides_by_the_count_and_rounds_integers_down(dtype):
    src = normal(4, 8, 3, dtype=dtype)
    assert_close(torch_scatter.scatter_mean(src, index_tensor(), dim=0), reduced(src, INDEX, "mean"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_min_gives_values_and_their_positions(dtype):
    src = distinct(8, 3, dtype=dtype)
    values, where = torch_scatter.scatter_min(src, index_tensor(), dim=0)
    assert_close(values, reduced(src, INDEX, "min"))
    assert_close(where, positions(src, INDEX, "min"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_max_gives_values_and_their_positions(dtype):
    src = distinct(8, 3, dtype=dtype)
    values, where = torch_scatter.scatter_max(src, index_tensor(), dim=0)
    assert_close(values, reduced(src, INDEX, "max"))
    assert_close(where, positions(src, INDEX, "max"))


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_scatter_takes_the_reduction_by_name(reduce):
    src = normal(5, 8, 2)
    assert_close(torch_scatter.scatter(src, index_tensor(), dim=0, reduce=reduce), reduced(src, INDEX, reduce))


def test_scatter_refuses_a_reduction_it_does_not_know():
    with pytest.raises(ValueError):
        torch_scatter.scatter(normal(5, 8), index_tensor(), reduce="median")


def test_dim_size_gives_more_positions_than_the_index_has():
    src = normal(6, 8)
    assert_close(torch_scatter.scatter_sum(src, index_tensor(), dim_size=9), reduced(src, INDEX, "sum", size=9))


def test_an_index_with_one_dimension_is_that_of_all_rows():
    src = normal(7, 2, 8, 3)
    expected = reduced(src, np.asarray(INDEX).reshape(8, 1, 1), "sum", dim=1)
    assert_close(torch_scatter.scatter_sum(src, index_tensor(), dim=1), expected)


def test_a_negative_dim_counts_from_the_last():
    src = normal(8, 4, 8)
    assert_close(torch_scatter.scatter_sum(src, index_tensor(), dim=-1),
                 reduced(src, np.asarray(INDEX).reshape(8, 1), "sum", dim=1))


def test_an_index_of_the_shape_of_src_may_differ_from_row_to_row():
    src, index = normal(9, 8, 4), whole(9, 0, 6, 8, 4)
    assert_close(torch_scatter.scatter_sum(src, index, dim=0, dim_size=6), reduced(src, index.numpy(), "sum"))


def test_src_and_index_may_be_transposed():
    src, index = normal(10, 4, 8).t(), whole(10, 0, 6, 4, 8).t()
    assert not src.is_contiguous() and not index.is_contiguous()
    values, _ = torch_scatter.scatter_max(src, index, dim=0, dim_size=6)
    assert_close(values, reduced(src, index.numpy(), "max"))


def test_scatter_sum_adds_to_what_out_has():
    src, out = normal(11, 8), normal(12, 6)
    expected = array(out) + reduced(src, INDEX, "sum")
    result = torch_scatter.scatter_sum(src, index_tensor(), out=out)
    assert_close(out, expected)
    assert result.data_ptr() == out.data_ptr()


def test_scatter_mul_multiplies_what_out_has():
    src, out = normal(13, 8), normal(14, 6)
    expected = array(out) * reduced(src, INDEX, "mul")
    torch_scatter.scatter_mul(src, index_tensor(), out=out)
    assert_close(out, expected)


def test_scatter_max_keeps_what_is_larger_in_out():
    src, out = normal(15, 8), torch.full((6,), 0.5, dtype=torch.float64)
    expected = array(out).copy()
    np.maximum.at(expected, INDEX, array(src))
    torch_scatter.scatter_max(src, index_tensor(), out=out)
    assert_close(out, expected)


def test_scatter_min_keeps_what_is_smaller_in_out():
    src, out = normal(16, 8), torch.full((6,), -0.5, dtype=torch.float64)
    expected = array(out).copy()
    np.minimum.at(expected, INDEX, array(src))
    torch_scatter.scatter_min(src, index_tensor(), out=out)
    assert_close(out, expected)


def test_many_values_are_summed_by_several_threads():
    src, index = normal(17, 200_000, 4), whole(17, 0, 1000, 200_000)
    expected = np.zeros((1000, 4))
    np.add.at(expected, index.numpy(), array(src))
    assert_close(torch_scatter.scatter_sum(src, index, dim=0, dim_size=1000), expected, 1e-9)


def test_many_values_are_compared_by_several_threads():
    src, index = normal(18, 100_000), whole(18, 0, 100, 100_000)
    expected = np.full(100, -np.inf)
    np.maximum.at(expected, index.numpy(), array(src))
    values, where = torch_scatter.scatter_max(src, index, dim_size=100)
    assert_close(values, expected)
    assert_close(src[where], expected)


@pytest.mark.parametrize("reduce", ["sum", "mul", "mean", "min", "max"])
def test_scatter_has_the_derivative_of_its_values(reduce):
    assert_derivative(lambda src: torch_scatter.scatter(src, index_tensor(), 0, reduce=reduce), normal(19, 8, 2))


def test_scatter_sum_of_scatter_sum_has_second_derivatives():
    src = normal(20, 8).requires_grad_()
    assert torch.autograd.gradgradcheck(lambda x: torch_scatter.scatter_sum(x * x, index_tensor()), [src])


def test_positions_of_scatter_max_carry_no_gradient():
    _, where = torch_scatter.scatter_max(normal(21, 8).requires_grad_(), index_tensor())
    assert not where.requires_grad and where.dtype == torch.int64


@pytest.mark.parametrize("dtype", DTYPES)
def test_segment_sum_csr_adds_from_pointer_to_pointer(dtype):
    src = normal(22, 8, 3, dtype=dtype)
    expected = reduced(src, SORTED, "sum", size=4)
    assert_close(torch_scatter.segment_sum_csr(src, torch.tensor(POINTERS)), expected)
    assert_close(torch_scatter.segment_add_csr(src, torch.tensor(POINTERS)), expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_segment_mean_csr_divides_by_the_length_of_the_segment(dtype):
    src = normal(23, 8, 3, dtype=dtype)
    assert_close(torch_scatter.segment_mean_csr(src, torch.tensor(POINTERS)), reduced(src, SORTED, "mean", size=4))


@pytest.mark.parametrize("dtype", DTYPES)
def test_segment_min_csr_gives_values_and_their_positions(dtype):
    src = distinct(8, 3, dtype=dtype)
    values, where = torch_scatter.segment_min_csr(src, torch.tensor(POINTERS))
    assert_close(values, reduced(src, SORTED, "min", size=4))
    assert_close(where, positions(src, SORTED, "min", size=4))


@pytest.mark.parametrize("dtype", DTYPES)
def test_segment_max_csr_gives_values_and_their_positions(dtype):
    src = distinct(8, 3, dtype=dtype)
    values, where = torch_scatter.segment_max_csr(src, torch.tensor(POINTERS))
    assert_close(values, reduced(src, SORTED, "max", size=4))
    assert_close(where, positions(src, SORTED, "max", size=4))


@pytest.mark.parametrize("reduce", ["sum", "add", "mean", "min", "max"])
def test_segment_csr_takes_the_reduction_by_name(reduce):
    src = normal(24, 8)
    assert_close(torch_scatter.segment_csr(src, torch.tensor(POINTERS), reduce=reduce),
                 reduced(src, SORTED, reduce, size=4))


def test_segment_csr_has_pointers_for_each_row():
    src, pointers = normal(25, 2, 5, 3), torch.tensor([[0, 2, 5], [1, 1, 4]])
    values = array(src)
    expected = [[values[row, a:b].sum(0) for a, b in zip(line, line[1:])] for row, line in enumerate(pointers.tolist())]
    assert_close(torch_scatter.segment_sum_csr(src, pointers), expected)


def test_segment_csr_writes_into_out():
    src, out = normal(26, 8), torch.full((4,), 7.0, dtype=torch.float64)
    torch_scatter.segment_csr(src, torch.tensor(POINTERS), out, reduce="sum")
    assert_close(out, reduced(src, SORTED, "sum", size=4))


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
def test_segment_csr_has_the_derivative_of_its_values(reduce):
    assert_derivative(lambda src: torch_scatter.segment_csr(src, torch.tensor(POINTERS), reduce=reduce), normal(27, 8, 2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_csr_repeats_each_row_for_its_segment(dtype):
    src = normal(28, 4, 2, dtype=dtype)
    assert_close(torch_scatter.gather_csr(src, torch.tensor(POINTERS)), array(src)[SORTED])


def test_gather_csr_writes_into_out():
    src, out = normal(29, 4), torch.zeros(8, dtype=torch.float64)
    torch_scatter.gather_csr(src, torch.tensor(POINTERS), out)
    assert_close(out, array(src)[SORTED])


def test_gather_csr_has_the_derivative_of_its_values():
    assert_derivative(lambda src: torch_scatter.gather_csr(src, torch.tensor(POINTERS)), normal(30, 4, 2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_segment_sum_coo_adds_equal_indices(dtype):
    src = normal(31, 8, 3, dtype=dtype)
    expected = reduced(src, SORTED, "sum", size=4)
    assert_close(torch_scatter.segment_sum_coo(src, index_tensor(SORTED)), expected)
    assert_close(torch_scatter.segment_add_coo(src, index_tensor(SORTED)), expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_segment_mean_coo_divides_by_the_count(dtype):
    src = normal(32, 8, 3, dtype=dtype)
    assert_close(torch_scatter.segment_mean_coo(src, index_tensor(SORTED)), reduced(src, SORTED, "mean", size=4))


@pytest.mark.parametrize("dtype", DTYPES)
def test_segment_min_coo_gives_values_and_their_positions(dtype):
    src = distinct(8, 3, dtype=dtype)
    values, where = torch_scatter.segment_min_coo(src, index_tensor(SORTED))
    assert_close(values, reduced(src, SORTED, "min", size=4))
    assert_close(where, positions(src, SORTED, "min", size=4))


@pytest.mark.parametrize("dtype", DTYPES)
def test_segment_max_coo_gives_values_and_their_positions(dtype):
    src = distinct(8, 3, dtype=dtype)
    values, where = torch_scatter.segment_max_coo(src, index_tensor(SORTED))
    assert_close(values, reduced(src, SORTED, "max", size=4))
    assert_close(where, positions(src, SORTED, "max", size=4))


def test_segment_coo_with_dim_size_leaves_zeros_behind():
    src = normal(33, 8)
    assert_close(torch_scatter.segment_coo(src, index_tensor(SORTED), dim_size=7, reduce="sum"),
                 reduced(src, SORTED, "sum", size=7))


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
def test_segment_coo_has_the_derivative_of_its_values(reduce):
    assert_derivative(lambda src: torch_scatter.segment_coo(src, index_tensor(SORTED), reduce=reduce), normal(34, 8, 2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_coo_takes_the_row_of_each_index(dtype):
    src = normal(35, 4, 2, dtype=dtype)
    assert_close(torch_scatter.gather_coo(src, index_tensor(SORTED)), array(src)[SORTED])


def test_gather_coo_has_the_derivative_of_its_values():
    assert_derivative(lambda src: torch_scatter.gather_coo(src, index_tensor(SORTED)), normal(36, 4, 2))


def groups_of(src, index=INDEX):
    return [(to, [at for at, one in enumerate(index) if one == to]) for to in sorted(set(index))]


@pytest.mark.parametrize("unbiased", [False, True])
def test_scatter_std_is_that_of_each_group(unbiased):
    src = normal(37, 8)
    expected = np.zeros(6)
    for to, at in groups_of(src):
        values = array(src)[at]
        divisor = max(len(at) - 1, 1) if unbiased else len(at)
        expected[to] = np.sqrt(((values - values.mean()) ** 2).sum() / divisor)
    assert_close(torch_scatter.scatter_std(src, index_tensor(), unbiased=unbiased), expected, 1e-5)


def test_scatter_std_has_the_derivative_of_its_values():
    groups = [0, 0, 1, 1, 1, 2, 2, 2]  # with one value the root has no derivative
    assert_derivative(lambda src: torch_scatter.scatter_std(src, index_tensor(groups)), normal(38, 8))


def test_scatter_logsumexp_is_that_of_each_group():
    src = normal(39, 8) * 30
    expected = np.zeros(6)
    for to, at in groups_of(src):
        expected[to] = np.logaddexp.reduce(array(src)[at])
    assert_close(torch_scatter.scatter_logsumexp(src, index_tensor()), expected, 1e-10)


def test_scatter_logsumexp_has_the_derivative_of_its_values():
    assert_derivative(lambda src: torch_scatter.scatter_logsumexp(src, index_tensor()), normal(40, 8))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scatter_softmax_is_that_of_each_group(dtype):
    src = normal(41, 8, dtype=dtype)
    expected = np.exp(array(src))
    for _, at in groups_of(src):
        expected[at] /= expected[at].sum()
    assert_close(torch_scatter.scatter_softmax(src, index_tensor()), expected)


def test_scatter_softmax_has_the_derivative_of_its_values():
    assert_derivative(lambda src: torch_scatter.scatter_softmax(src, index_tensor()), normal(42, 8))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scatter_log_softmax_is_that_of_each_group(dtype):
    src = normal(43, 8, dtype=dtype)
    expected = array(src).copy()
    for _, at in groups_of(src):
        expected[at] -= np.logaddexp.reduce(expected[at])
    assert_close(torch_scatter.scatter_log_softmax(src, index_tensor()), expected)


def test_scatter_log_softmax_has_the_derivative_of_its_values():
    assert_derivative(lambda src: torch_scatter.scatter_log_softmax(src, index_tensor()), normal(44, 8))


@pytest.mark.parametrize("function", ["scatter_softmax", "scatter_log_softmax", "scatter_logsumexp"])
def test_exponentials_of_integers_are_refused(function):
    with pytest.raises(ValueError):
        getattr(torch_scatter, function)(torch.arange(8), index_tensor())


def test_pointers_with_more_dimensions_than_src_are_refused():
    with pytest.raises(RuntimeError):
        torch_scatter.segment_sum_csr(normal(45, 8), torch.tensor([[[0, 3, 8]]]))


def test_a_library_without_cuda_says_so():
    assert torch.ops.torch_scatter.cuda_version() == -1
