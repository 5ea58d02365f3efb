"""torch_sparse: diagonals, reductions, products and concatenation of sparse matrices. The oracles are dense matrices in NumPy,
and differences of values."""

import numpy as np
import pytest
import scipy.sparse
import torch
import torch_sparse
from sparse_values import COLUMNS, REDUCTIONS, ROWS, SIZES, assert_caches, assert_matrix, grid, matrix, values
from torch_sparse import SparseTensor
from values import DTYPES, FLOATS, array, assert_close, assert_derivative, normal

# ---- Diagonals

DIAGONAL = ([0, 0, 1, 1, 2, 3, 3, 4], [0, 2, 1, 5, 0, 1, 3, 4])


def diagonal_matrix(value):
    return matrix(value, *DIAGONAL)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("k", [-3, -2, -1, 0, 1, 2, 4])
def test_remove_diag_drops_one_diagonal(k, cached):
    sparse = diagonal_matrix(normal(20, 8))
    if cached:
        sparse.fill_cache_()
    expected = grid(normal(20, 8), *DIAGONAL)
    expected[np.arange(6) - np.arange(5)[:, None] == k] = 0
    result = sparse.remove_diag(k)
    assert_matrix(result, expected)
    assert_caches(result)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("k", [-3, -1, 0, 1, 2, 4])
def test_set_diag_replaces_one_diagonal(k, cached):
    sparse = diagonal_matrix(normal(20, 8))
    if cached:
        sparse.fill_cache_()
    expected = grid(normal(20, 8), *DIAGONAL)
    on = np.arange(6) - np.arange(5)[:, None] == k
    new = normal(21, int(on.sum()))
    expected[on] = array(new)
    result = sparse.set_diag(new, k)
    assert_matrix(result, expected)
    assert_caches(result)


def test_set_diag_without_values_sets_ones():
    expected = grid(normal(20, 8), *DIAGONAL)
    np.fill_diagonal(expected, 1)
    assert_matrix(diagonal_matrix(normal(20, 8)).set_diag(), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [-1, 0, 2])
def test_fill_diag_sets_one_value(k, dtype):
    expected = grid(normal(20, 8, dtype=dtype), *DIAGONAL)
    expected[np.arange(6) - np.arange(5)[:, None] == k] = 7
    assert_matrix(diagonal_matrix(normal(20, 8, dtype=dtype)).fill_diag(7, k), expected)


def test_fill_diag_sets_all_of_a_vector():
    value = normal(22, 8, 3)
    expected = grid(value, *DIAGONAL)
    expected[np.arange(5), np.arange(5)] = -2
    assert_matrix(diagonal_matrix(value).fill_diag(-2), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_get_diag_has_zeros_where_nothing_is_stored(dtype):
    value = normal(20, 8, dtype=dtype)
    assert_close(diagonal_matrix(value).get_diag(), np.diag(grid(value, *DIAGONAL)))


@pytest.mark.parametrize("k", [-2, 0, 3])
def test_the_mask_of_what_is_beside_a_diagonal(k):
    """Where in the order of all values, after the diagonal has been added, those are that were there before."""
    rows, columns = zip(*[(row, column) for row, column in zip(*DIAGONAL) if column - row != k])
    diagonal = [(row, row + k) for row in range(5) if 0 <= row + k < 6]
    every = sorted([*zip(rows, columns), *diagonal])
    result = torch.ops.torch_sparse.non_diag_mask(torch.tensor(rows), torch.tensor(columns), 5, 6, k)
    assert result.dtype == torch.bool
    assert result.tolist() == [place not in diagonal for place in every]


# ---- Sums and products of elements

@pytest.mark.parametrize("dtype", DTYPES)
def test_adding_a_column_adds_to_what_each_row_stores(dtype):
    other = normal(23, 5, 1, dtype=dtype)
    expected = grid(values(dtype=dtype)) + np.where(grid(None) > 0, array(other), 0)
    assert_matrix(matrix(values(dtype=dtype)).add(other), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_adding_a_row_adds_to_what_each_column_stores(dtype):
    other = normal(24, 1, 6, dtype=dtype)
    expected = grid(values(dtype=dtype)) + np.where(grid(None) > 0, array(other), 0)
    assert_matrix(matrix(values(dtype=dtype)) + other, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5, 1), (1, 6)])
def test_multiplying_by_a_column_or_row_scales(shape, dtype):
    other = normal(25, *shape, dtype=dtype)
    assert_matrix(matrix(values(dtype=dtype)) * other, grid(values(dtype=dtype)) * array(other))


@pytest.mark.parametrize("shape", [(5, 1), (1, 6)])
def test_a_matrix_without_values_counts_as_ones(shape):
    other = normal(26, *shape)
    assert_matrix(matrix().mul(other), grid(None) * array(other))
    assert_matrix(matrix().add(other), grid(None) * (array(other) + 1))


@pytest.mark.parametrize("shape", [(5, 1), (1, 6)])
def test_sums_and_products_in_place_change_the_values(shape):
    other = normal(27, *shape)
    sparse, value = matrix(values()), grid(values())
    sparse *= other
    assert_matrix(sparse, value * array(other))
    sparse += other
    assert_matrix(sparse, (value + grid(None)) * array(other))


def test_sums_and_products_with_one_value_for_each_stored_one():
    other = values(28)
    assert_matrix(matrix(values()).add_nnz(other, layout="coo"), grid(values()) + grid(other))
    assert_matrix(matrix(values()).mul_nnz(other, layout="coo"), grid(values()) * grid(other))
    sparse = matrix(values())
    sparse.mul_nnz_(other, layout="coo").add_nnz_(other, layout="coo")
    assert_matrix(sparse, (grid(values()) + grid(None)) * grid(other))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_sum_of_two_matrices_has_the_places_of_both(dtype):
    rows, columns = [4, 0, 1, 2], [4, 1, 1, 7]
    value, other = values(dtype=dtype), normal(29, 4, dtype=dtype)
    expected = np.zeros((5, 8))
    expected[:, :6] = grid(value)
    result = matrix(value) + matrix(other, rows, columns, (3 + 2, 8))
    assert result.nnz() == 9
    assert_matrix(result, expected + grid(other, rows, columns, (5, 8)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_product_of_two_matrices_has_the_places_of_either(dtype):
    rows, columns = [0, 1, 2, 4], [1, 1, 5, 4]
    value, other = values(dtype=dtype), normal(30, 4, dtype=dtype)
    result = matrix(value) * matrix(other, rows, columns)
    assert result.nnz() == 2
    assert_matrix(result, grid(value) * grid(other, rows, columns))


@pytest.mark.parametrize("act", [lambda: matrix(values()) + normal(1, 4, 1), lambda: matrix(values()) * normal(1, 1, 5),
                                 lambda: matrix() * matrix(values()),
                                 lambda: matrix(normal(1, 2), [0, 0], [1, 1]) * matrix(values())])
def test_sums_and_products_that_are_not_defined_are_refused(act):
    with pytest.raises(ValueError):
        act()


def test_spadd_adds_coordinates():
    rows, columns = [0, 4, 2], [1, 5, 2]
    index, value = torch_sparse.spadd(torch.tensor([ROWS, COLUMNS]), values(), torch.tensor([rows, columns]), normal(31, 3),
                                      *SIZES)
    assert_close(matrix(value, *index.tolist()).to_dense(), grid(values()) + grid(normal(31, 3), rows, columns))
    assert value.numel() == 9


def test_derivative_of_sums_and_products():
    def act(value, column, other):
        return ((matrix(value) * column).to_dense(), (matrix(value) + column).to_dense(),
                (matrix(value) + matrix(other, [0, 1, 4], [1, 1, 4])).to_dense(),
                (matrix(value) * matrix(other, [0, 1, 4], [1, 1, 4])).to_dense())

    assert_derivative(act, values(), normal(32, 5, 1), normal(33, 3))


# ---- Reductions

@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_reductions_of_rows_and_columns_are_of_stored_values(reduce, dim, dtype):
    if reduce == "mean" and not dtype.is_floating_point:
        dtype = torch.float32
    value = values(34, dtype)
    along = ROWS if dim else COLUMNS
    expected = np.zeros(SIZES[0 if dim else 1])
    for at in set(along):
        expected[at] = REDUCTIONS[reduce](array(value)[np.asarray(along) == at])
    assert_close(getattr(matrix(value), reduce)(dim=dim), expected)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_reductions_of_everything_are_of_stored_values(reduce):
    assert_close(getattr(torch_sparse, reduce)(matrix(values(35))), REDUCTIONS[reduce](array(values(35))))


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_reductions_of_the_dimensions_of_values(reduce):
    value = values(36, torch.float64, 3, 2)
    expected = REDUCTIONS[reduce](array(value), axis=1)
    assert_close(getattr(matrix(value), reduce)(dim=2), expected)


def test_reductions_of_vectors():
    value = values(37, torch.float64, 3)
    assert_close(matrix(value).sum(dim=0), grid(value).sum(axis=0))
    assert_close(matrix(value).sum(dim=1), grid(value).sum(axis=1))


def test_reductions_without_values_count():
    assert matrix().sum().item() == 7 and matrix().max().item() == 1
    assert_close(matrix().sum(dim=0), np.bincount(COLUMNS, minlength=6))
    assert_close(matrix().sum(dim=1), np.bincount(ROWS, minlength=5))
    assert_close(matrix().mean(dim=1), np.ones(5))


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_derivative_of_reductions(reduce):
    def act(value):
        return tuple(getattr(matrix(value), reduce)(dim=dim) for dim in (None, 0, 1))

    assert_derivative(act, values(38))


# ---- Products of a sparse and a dense matrix

def product(value, dense, reduce):
    """For each row the reduction of its values times the rows of the dense matrix; 0 for an empty row."""
    weights = np.ones(len(ROWS)) if value is None else array(value)
    result = np.zeros((SIZES[0], dense.shape[-1]))
    for row in set(ROWS):
        found = [weight * array(dense)[column] for weight, at, column in zip(weights, ROWS, COLUMNS) if at == row]
        result[row] = REDUCTIONS[reduce](found, axis=0)
    return result if dense.dtype.is_floating_point else np.trunc(result)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_matmul_reduces_products(reduce, dtype):
    dense = normal(39, 6, 4, dtype=dtype)
    result = matrix(values(40, dtype)).matmul(dense, reduce)
    assert result.dtype == dtype
    assert_close(result, product(values(40, dtype), dense, reduce))


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_matmul_without_values_reduces_rows(reduce):
    dense = normal(41, 6, 4)
    assert_close(matrix().matmul(dense, reduce), product(None, dense, reduce))


def test_the_operator_of_matrix_products_is_the_sum():
    dense = normal(42, 6, 3)
    assert_close(matrix(values()) @ dense, grid(values()) @ array(dense))
    assert_close(torch_sparse.matmul(matrix(values()), dense, reduce="add"), grid(values()) @ array(dense))
    assert_close(matrix(values()).spmm(dense), grid(values()) @ array(dense))


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_matmul_of_several_dense_matrices(reduce):
    dense = normal(43, 2, 3, 6, 4)
    expected = [[product(values(), one, reduce) for one in several] for several in dense]
    assert_close(matrix(values()).matmul(dense, reduce), expected)


def test_matmul_of_strides():
    dense = normal(44, 3, 6).t()
    assert not dense.is_contiguous()
    assert_close(matrix(values()) @ dense, grid(values()) @ array(dense))


def test_matmul_converts_the_values_to_the_dtype_of_the_dense_matrix():
    dense = normal(45, 6, 3, dtype=torch.float32)
    result = matrix(values()) @ dense
    assert result.dtype == torch.float32
    assert_close(result, grid(values()) @ array(dense))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_matmul_of_a_large_matrix_is_that_of_scipy(dtype):
    source = scipy.sparse.random(3000, 500, 0.02, "csr", rng=np.random.default_rng(46), dtype=np.float64)
    dense = normal(47, 500, 33, dtype=dtype)
    result = SparseTensor.from_scipy(source).to(dtype) @ dense
    assert_close(result, source @ array(dense))


@pytest.mark.parametrize("name, best", [("spmm_min", np.argmin), ("spmm_max", np.argmax)])
def test_the_operators_of_extremes_tell_which_value_was_taken(name, best):
    sparse, dense = matrix(values(48)), normal(49, 6, 4)
    rowptr, col, value = sparse.csr()
    _, where = getattr(torch.ops.torch_sparse, name)(rowptr, col, value, dense)
    products = array(value)[:, None] * array(dense)[COLUMNS]
    expected = np.full((5, 4), 7)  # an empty row has taken none
    for row in set(ROWS):
        at = np.flatnonzero(np.asarray(ROWS) == row)
        expected[row] = at[best(products[at], axis=0)]
    assert_close(where, expected)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_derivatives_of_matmul(reduce):
    assert_derivative(lambda value, dense: matrix(value).matmul(dense, reduce), values(50), normal(51, 6, 3))


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_derivative_of_matmul_by_the_dense_matrix_alone(reduce):
    assert_derivative(lambda dense: matrix(values(50)).matmul(dense, reduce), normal(52, 6, 3))


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_derivative_of_matmul_by_the_values_alone(reduce):
    assert_derivative(lambda value: matrix(value).matmul(normal(53, 6, 3), reduce), values(54))


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_derivative_of_matmul_without_values(reduce):
    assert_derivative(lambda dense: matrix().matmul(dense, reduce), normal(55, 6, 3))


@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_derivatives_of_matmul_of_several_dense_matrices(reduce):
    assert_derivative(lambda value, dense: matrix(value).matmul(dense, reduce), values(56), normal(57, 2, 6, 3))


@pytest.mark.parametrize("dtype", FLOATS)
def test_gradients_of_matmul_have_the_dtype_of_the_inputs(dtype):
    value, dense = values(58, dtype).requires_grad_(), normal(59, 6, 4, dtype=dtype).requires_grad_()
    weights = normal(60, 5, 4, dtype=dtype)
    (matrix(value) @ dense).backward(weights)
    assert value.grad.dtype == dense.grad.dtype == dtype
    assert_close(dense.grad, grid(value).T @ array(weights))
    assert_close(value.grad, (array(weights) @ array(dense).T)[ROWS, COLUMNS])


def test_the_operator_asks_for_what_gradients_need():
    rowptr, col, value = matrix(values()).csr()
    with pytest.raises(RuntimeError, match="`row` is missing"):
        torch.ops.torch_sparse.spmm_sum(None, rowptr, col, value.requires_grad_(), None, None, normal(1, 6, 2))


def test_matmul_refuses_vectors_and_unknown_reductions():
    with pytest.raises(RuntimeError):
        matrix(values()) @ normal(1, 6)
    with pytest.raises(ValueError):
        matrix(values()).matmul(normal(1, 6, 2), reduce="median")
    with pytest.raises(ValueError):
        matrix(values()).matmul(3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_function_spmm_multiplies_coordinates(dtype):
    value, dense = values(61, dtype), normal(62, 6, 3, dtype=dtype)
    result = torch_sparse.spmm(torch.tensor([ROWS, COLUMNS]), value, *SIZES, dense)
    assert_close(result, grid(value) @ array(dense))


def test_the_function_spmm_takes_several_dense_matrices():
    index, batch = torch.tensor([ROWS, COLUMNS]), normal(64, 2, 6, 3)
    assert_close(torch_sparse.spmm(index, values(), *SIZES, batch), grid(values()) @ array(batch))


def test_derivatives_of_the_function_spmm():
    index = torch.tensor([ROWS, COLUMNS])
    assert_derivative(lambda value, dense: torch_sparse.spmm(index, value, *SIZES, dense), values(65), normal(66, 6, 2))


# ---- Products of two sparse matrices, and the framework's own sparse tensors

OTHER = ([0, 1, 1, 4, 5], [0, 2, 1, 3, 1])
needs_sparse_tensors = pytest.mark.skipif(not hasattr(torch, "sparse_coo_tensor"), reason="there are no sparse tensors")


@needs_sparse_tensors
def test_the_product_of_two_sparse_matrices_is_sparse():
    result = matrix(values(67)) @ matrix(normal(68, 5), *OTHER, (6, 4))
    assert isinstance(result, SparseTensor)
    assert_matrix(result, grid(values(67)) @ grid(normal(68, 5), *OTHER, (6, 4)))


@needs_sparse_tensors
def test_the_function_spspmm_multiplies_coordinates():
    index, value = torch_sparse.spspmm(torch.tensor([ROWS, COLUMNS]), values(67), torch.tensor(OTHER), normal(68, 5), 5, 6, 4)
    assert_close(matrix(value, *index.tolist(), (5, 4)).to_dense(), grid(values(67)) @ grid(normal(68, 5), *OTHER, (6, 4)))


@needs_sparse_tensors
def test_derivatives_of_the_product_of_two_sparse_matrices():
    assert_derivative(lambda value, other: (matrix(value) @ matrix(other, *OTHER, (6, 4))).to_dense(), values(67),
                      normal(68, 5))


@pytest.mark.parametrize("reduce, error", [("mean", NotImplementedError), ("max", NotImplementedError),
                                           ("median", ValueError)])
def test_products_of_sparse_matrices_are_sums_only(reduce, error):
    with pytest.raises(error):
        matrix(values()).matmul(matrix(normal(68, 5), *OTHER, (6, 4)), reduce)


@needs_sparse_tensors
def test_sparse_tensors_of_coordinates_and_back():
    tensor = matrix(values()).to_torch_sparse_coo_tensor()
    assert_close(tensor.to_dense(), grid(values()))
    assert SparseTensor.from_torch_sparse_coo_tensor(tensor) == matrix(values())


@needs_sparse_tensors
def test_sparse_tensors_of_row_pointers_and_back():
    tensor = matrix(values()).to_torch_sparse_csr_tensor()
    assert_close(tensor.to_dense(), grid(values()))
    assert SparseTensor.from_torch_sparse_csr_tensor(tensor) == matrix(values())


# ---- Concatenation

def pair(cached, *trailing):
    several = [matrix(values(69, torch.float64, *trailing)),
               matrix(normal(70, 3, *trailing), [0, 2, 2], [3, 0, 1], (3, 4))]
    if cached:
        several = [one.fill_cache_() for one in several]
    return several, [grid(values(69, torch.float64, *trailing)), grid(normal(70, 3, *trailing), [0, 2, 2], [3, 0, 1], (3, 4))]


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("dim", [0, -2])
def test_cat_of_rows_stacks(dim, cached):
    sparse, (first, second) = pair(cached)
    result = torch_sparse.cat(sparse, dim)
    assert_matrix(result, np.vstack([first, np.pad(second, ((0, 0), (0, 2)))]))
    assert_caches(result)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("dim", [1, -1])
def test_cat_of_columns_puts_side_by_side(dim, cached):
    sparse, (first, second) = pair(cached)
    result = torch_sparse.cat(sparse, dim)
    assert_matrix(result, np.hstack([first, np.pad(second, ((0, 2), (0, 0)))]))
    assert_caches(result)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("dims", [(0, 1), [1, 0]])
def test_cat_of_both_dimensions_makes_blocks(dims, cached):
    sparse, (first, second) = pair(cached)
    result = torch_sparse.cat(sparse, dims)
    assert_matrix(result, scipy.sparse.block_diag([first, second]).toarray())
    assert_close(result.storage.rowcount(), np.bincount(array(result.storage.row()), minlength=8))
    assert_close(result.storage.colptr(), scipy.sparse.csc_matrix(result.to_dense().numpy()).indptr)


@pytest.mark.parametrize("cached", [False, True])
def test_a_block_can_be_taken_out_again(cached):
    sparse, (_, second) = pair(cached)
    result = torch_sparse.cat(sparse, (0, 1)).__narrow_diag__((5, 6), (3, 4))
    assert_matrix(result, second)
    assert_caches(result)


def test_cat_of_the_dimensions_of_values():
    several = [matrix(values(71, torch.float64, 2)), matrix(values(72, torch.float64, 3))]
    expected = np.concatenate([grid(values(71, torch.float64, 2)), grid(values(72, torch.float64, 3))], axis=2)
    assert_matrix(torch_sparse.cat(several, 2), expected)


def test_cat_without_values_keeps_the_places():
    result = torch_sparse.cat([matrix(), matrix()], 1)
    assert not result.has_value()
    assert_matrix(result, np.hstack([grid(None)] * 2))


def test_cat_refuses_dimensions_that_are_not_there():
    with pytest.raises(IndexError):
        torch_sparse.cat([matrix(), matrix()], 2)


def test_derivative_of_cat():
    def act(first, second):
        several = [matrix(first), matrix(second)]
        return tuple(torch_sparse.cat(several, dim).to_dense() for dim in (0, 1, (0, 1)))

    assert_derivative(act, values(73), values(74))
