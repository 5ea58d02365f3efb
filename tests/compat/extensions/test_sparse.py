"""torch_sparse: matrices of which only some values are stored, their formats and their parts. The oracles are dense matrices
in NumPy, and SciPy's sparse ones."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse
import torch
import torch_sparse
from sparse_values import COLUMNS, GRAPH, REDUCTIONS, ROWS, SIZES, assert_caches, assert_matrix, graph, grid, matrix, values
from torch_sparse import SparseTensor
from values import DTYPES, array, assert_close, assert_derivative, normal

# ---- Construction and formats

@pytest.mark.parametrize("dtype", DTYPES)
def test_to_dense_puts_each_value_at_its_row_and_column(dtype):
    value = values(dtype=dtype)
    result = matrix(value).to_dense()
    assert result.dtype == dtype
    assert_close(result, grid(value))


@pytest.mark.parametrize("dtype", DTYPES)
def test_coordinates_in_any_order_are_sorted_with_their_values(dtype):
    order = [5, 0, 6, 2, 4, 1, 3]
    value = values(2, dtype)
    shuffled = matrix(value[torch.tensor(order)], [ROWS[i] for i in order], [COLUMNS[i] for i in order])
    assert shuffled.storage.row().tolist() == ROWS
    assert shuffled.storage.col().tolist() == COLUMNS
    assert_close(shuffled.storage.value(), array(value))


def test_sizes_that_are_not_given_are_one_more_than_the_largest_coordinates():
    assert matrix(sizes=None).sparse_sizes() == (5, 6)
    assert matrix(sizes=(9, None)).sparse_sizes() == (9, 6)


def test_values_may_have_dimensions_of_their_own():
    value = values(3, torch.float64, 2, 3)
    result = matrix(value)
    assert result.sizes() == [5, 6, 2, 3] and result.dim() == 4
    assert_close(result.to_dense(), grid(value))


def test_a_matrix_without_values_is_ones_in_the_dtype_asked_for():
    result = matrix().to_dense(torch.int64)
    assert result.dtype == torch.int64
    assert_close(result, grid(None))


def test_row_pointers_stand_for_the_rows():
    pointers = np.cumsum([0, *np.bincount(ROWS, minlength=5)])
    given = SparseTensor(rowptr=torch.from_numpy(pointers), col=torch.tensor(COLUMNS), value=values())
    assert given.sparse_sizes() == SIZES
    assert given.storage.row().tolist() == ROWS
    assert_matrix(given, grid(values()))


def test_csr_is_that_of_scipy():
    expected = scipy.sparse.csr_matrix(grid(values()))
    for actual, wanted in zip(matrix(values()).csr(), (expected.indptr, expected.indices, expected.data)):
        assert_close(actual, wanted)


def test_csc_is_that_of_scipy():
    expected = scipy.sparse.csc_matrix(grid(values()))
    for actual, wanted in zip(matrix(values()).csc(), (expected.indptr, expected.indices, expected.data)):
        assert_close(actual, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_from_dense_stores_what_is_not_zero(dtype):
    dense = (normal(4, 6, 7, dtype=dtype) * torch.from_numpy(np.random.default_rng(5).random((6, 7)) < 0.4).to(dtype))
    result = SparseTensor.from_dense(dense)
    assert result.nnz() == np.count_nonzero(array(dense))
    assert_matrix(result, array(dense))


def test_from_dense_stores_vectors_of_which_any_value_is_not_zero():
    dense = torch.zeros(3, 4, 2, dtype=torch.float64)
    dense[0, 1, 1], dense[2, 3, 0], dense[2, 0] = 5, -2, torch.tensor([1.0, -1.0], dtype=torch.float64)
    result = SparseTensor.from_dense(dense)
    assert list(zip(*(one.tolist() for one in result.coo()[:2]))) == [(0, 1), (2, 0), (2, 3)]
    assert_matrix(result, array(dense))


def test_from_dense_can_leave_out_the_values():
    result = SparseTensor.from_dense(torch.from_numpy(grid(values())), has_value=False)
    assert not result.has_value()
    assert_close(result.to_dense(), grid(None))


def test_from_edge_index_takes_rows_and_columns_in_one_tensor():
    result = SparseTensor.from_edge_index(torch.tensor([ROWS, COLUMNS]), values(), SIZES)
    assert_matrix(result, grid(values()))


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_matrices_of_scipy_keep_their_values(layout):
    source = scipy.sparse.random(8, 5, 0.4, layout, rng=np.random.default_rng(6))
    result = SparseTensor.from_scipy(source)
    assert_matrix(result, source.toarray())
    assert_caches(result)


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_scipy_gets_the_values_in_each_layout(layout):
    result = matrix(values()).to_scipy(layout=layout)
    assert result.format == layout
    np.testing.assert_array_equal(result.toarray(), grid(values()))


def test_scipy_gets_ones_for_a_matrix_without_values():
    result = matrix().to_scipy(layout="csr", dtype=torch.int32)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result.toarray(), grid(None))


def test_functions_convert_coordinates_to_and_from_scipy():
    result = torch_sparse.to_scipy(torch.tensor([ROWS, COLUMNS]), values(), *SIZES)
    np.testing.assert_array_equal(result.toarray(), grid(values()))
    index, value = torch_sparse.from_scipy(scipy.sparse.csr_matrix(grid(values())))
    assert_close(index, [ROWS, COLUMNS])
    assert_close(value, array(values()))


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (5, 3)])
def test_eye_has_ones_on_the_diagonal(sizes, cached):
    result = SparseTensor.eye(*sizes, dtype=torch.float64, fill_cache=cached)
    assert (result.storage.num_cached_keys() > 0) == cached
    assert_matrix(result, np.eye(*sizes))
    assert_caches(result)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_function_eye_gives_coordinates_and_ones(dtype):
    index, value = torch_sparse.eye(4, dtype=dtype)
    assert value.dtype == dtype
    assert_close(index, [range(4)] * 2)
    assert_close(value, np.ones(4))


def test_a_matrix_may_have_nothing():
    empty = SparseTensor(row=torch.tensor([], dtype=torch.long), col=torch.tensor([], dtype=torch.long),
                         value=torch.zeros(0, dtype=torch.float64), sparse_sizes=(3, 2))
    assert_matrix(empty, np.zeros((3, 2)))
    assert_matrix(empty.t(), np.zeros((2, 3)))
    assert_close(empty.sum(dim=1), np.zeros(3))
    assert_close(empty.matmul(normal(1, 2, 4)), np.zeros((3, 4)))


@pytest.mark.parametrize("wrong", [{"value": torch.ones(6)}, {"sizes": (4, 6)}, {"sizes": (5, 5)}, {"rows": ROWS[1:]}])
def test_sizes_and_counts_that_do_not_fit_are_refused(wrong):
    with pytest.raises(AssertionError):
        matrix(**wrong)


@pytest.mark.parametrize("count", [0, 1, 10, 100_000])
def test_indices_become_pointers(count):
    index = np.sort(np.random.default_rng(7).integers(0, 50_000, count))
    expected = np.searchsorted(index, np.arange(50_001))
    assert_close(torch.ops.torch_sparse.ind2ptr(torch.from_numpy(index), 50_000), expected)


@pytest.mark.parametrize("count", [1, 10, 100_000])
def test_pointers_become_indices(count):
    counts = np.random.default_rng(8).integers(0, 4, count)
    pointers = np.cumsum([0, *counts])
    result = torch.ops.torch_sparse.ptr2ind(torch.from_numpy(pointers), int(pointers[-1]))
    assert_close(result, np.repeat(np.arange(count), counts))


# ---- Properties and values

def test_counts_of_a_matrix():
    sparse = matrix(values(1, torch.float64, 2))
    assert (sparse.nnz(), sparse.numel(), sparse.size(-1)) == (7, 14, 2)
    assert sparse.density() == 7 / 30 and sparse.sparsity() == 1 - 7 / 30
    assert sparse.avg_row_length() == 7 / 5 and sparse.avg_col_length() == 7 / 6


def test_bandwidths_are_distances_from_the_diagonal():
    distances = np.abs(np.subtract(ROWS, COLUMNS))
    assert matrix().bandwidth() == distances.max()
    assert matrix().avg_bandwidth() == pytest.approx(distances.mean())
    assert matrix().bandwidth_proportion(2) == np.mean(distances <= 2)


def test_equal_matrices_have_the_same_sizes_places_and_values():
    sparse = matrix(values())
    assert sparse == matrix(values())
    assert sparse != matrix(values(2))
    assert sparse != matrix(values(), sizes=(5, 7))
    assert sparse != matrix()
    assert sparse != matrix(values(), columns=[0, *COLUMNS[1:]])
    assert sparse != "matrix"


def test_a_matrix_is_symmetric_where_it_is_its_transpose():
    dense = np.triu(array(normal(9, 5, 5)))
    assert SparseTensor.from_dense(torch.from_numpy(dense + dense.T)).is_symmetric()
    assert not SparseTensor.from_dense(torch.from_numpy(dense)).is_symmetric()
    assert not matrix().is_symmetric()
    assert SparseTensor.from_dense(torch.from_numpy(dense + dense.T), has_value=False).is_symmetric()


def test_to_symmetric_adds_the_transpose():
    value = normal(10, len(GRAPH))
    rows, columns = zip(*GRAPH)
    dense = grid(value, rows, columns, (6, 6))
    assert_matrix(graph(value).to_symmetric(), dense + dense.T)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_to_symmetric_reduces_the_values_of_both_directions(reduce):
    value = normal(11, len(ROWS))
    found = {}
    for row, column, one in zip(ROWS, COLUMNS, array(value)):
        found.setdefault((row, column), []).append(one)
        found.setdefault((column, row), []).append(one)
    expected = np.zeros((6, 6))
    for place, both in found.items():
        expected[place] = REDUCTIONS[reduce](both)
    assert_matrix(matrix(value).to_symmetric(reduce), expected)


@pytest.mark.parametrize("name, dtype", [("half", torch.float16), ("bfloat16", torch.bfloat16), ("float", torch.float32),
                                         ("double", torch.float64), ("int", torch.int32), ("long", torch.int64),
                                         ("short", torch.int16), ("char", torch.int8), ("byte", torch.uint8),
                                         ("bool", torch.bool)])
def test_values_are_converted(name, dtype):
    value = torch.tensor([1.0, 0, 3, 4, 100, 6, 2])
    result = getattr(matrix(value), name)()
    assert result.dtype() == dtype and result.storage.value().dtype == dtype
    assert_close(result.to_dense(), grid(value.bool() if dtype == torch.bool else value))


def test_to_takes_dtypes_and_devices():
    sparse = matrix(values())
    assert sparse.to(torch.float32).dtype() == torch.float32
    assert sparse.to("cpu", torch.int64).dtype() == torch.int64
    assert sparse.to(device="cpu") == sparse.cpu() == sparse
    assert sparse.type_as(torch.zeros(1, dtype=torch.float16)).dtype() == torch.float16
    assert sparse.device() == torch.device("cpu") and not sparse.is_cuda()


def test_values_are_set_in_the_order_of_rows_or_of_columns():
    by_columns = np.lexsort((ROWS, COLUMNS))
    value = values(12)
    assert_matrix(matrix().set_value(value, layout="coo"), grid(value))
    expected = np.zeros(SIZES)
    expected[np.asarray(ROWS)[by_columns], np.asarray(COLUMNS)[by_columns]] = array(value)
    assert_matrix(matrix().set_value(value, layout="csc"), expected)


def test_set_value_leaves_the_matrix_and_set_value_in_place_does_not():
    sparse = matrix(values())
    sparse.set_value(values(2), layout="coo")
    assert_matrix(sparse, grid(values()))
    sparse.set_value_(values(2), layout="coo")
    assert_matrix(sparse, grid(values(2)))
    assert not sparse.set_value(None).has_value()


def test_a_matrix_is_filled_with_one_value():
    assert_matrix(matrix(values()).fill_value(2.5, torch.float64), 2.5 * grid(None))
    sparse = matrix()
    sparse.fill_value_(-3, torch.int64)
    assert_matrix(sparse, -3 * grid(None))


def test_a_clone_has_memory_of_its_own_and_a_copy_has_not():
    sparse = matrix(values())
    clone, shared, deep = sparse.clone(), sparse.copy(), copy.deepcopy(sparse)
    sparse.storage.value().mul_(2)
    assert_matrix(clone, grid(values()))
    assert_matrix(deep, grid(values()))
    assert_matrix(shared, 2 * grid(values()))


def test_a_matrix_can_be_pickled():
    sparse = matrix(values()).fill_cache_()
    result = pickle.loads(pickle.dumps(sparse))
    assert result == sparse
    assert result.storage.cached_keys() == sparse.storage.cached_keys()


def test_the_text_of_a_matrix_has_its_sizes():
    text = repr(matrix(values()))
    assert text.startswith("SparseTensor(row=tensor([0, 0, 1, 3, 3, 3, 4])")
    assert "size=(5, 6), nnz=7, density=23.33%" in text


def test_a_matrix_that_requires_gradients_has_values():
    sparse = matrix().requires_grad_(dtype=torch.float64)
    assert sparse.requires_grad() and not sparse.detach().requires_grad() and not matrix().requires_grad()
    (sparse.to_dense() * torch.from_numpy(np.arange(30.0).reshape(SIZES))).sum().backward()
    assert_close(sparse.storage.value().grad, np.arange(30.0).reshape(SIZES)[ROWS, COLUMNS])


def test_a_matrix_in_ordinary_memory_is_not_pinned():
    assert matrix(values()).is_pinned() is False


@pytest.mark.skipif(not hasattr(torch.Tensor, "share_memory_"), reason="there is no memory that processes share")
def test_a_matrix_can_go_into_shared_memory():
    sparse = matrix(values())
    sparse.share_memory_()
    assert sparse.is_shared()
    assert_matrix(sparse, grid(values()))


@pytest.mark.parametrize("sizes", [(5, 6), (8, 6), (5, 9), (8, 9)])
@pytest.mark.parametrize("cached", [False, True])
def test_resizing_adds_empty_rows_and_columns(sizes, cached):
    sparse = matrix(values())
    if cached:
        sparse.fill_cache_()
    expected = np.zeros(sizes)
    expected[:5, :6] = grid(values())
    result = sparse.sparse_resize(sizes)
    assert_matrix(result, expected)
    assert_close(result.storage.rowcount(), np.count_nonzero(expected, axis=1))
    assert_close(result.storage.colcount(), np.count_nonzero(expected, axis=0))


def test_resizing_drops_empty_rows_at_the_end():
    assert_matrix(matrix(values(), sizes=(9, 8)).fill_cache_().sparse_resize(SIZES), grid(values()))


@pytest.mark.parametrize("sizes", [(6, 5), (2, 15), (-1, 10), (3, -1)])
def test_reshaping_keeps_the_order_of_a_dense_matrix(sizes):
    assert_matrix(matrix(values()).sparse_reshape(*sizes), grid(values()).reshape(sizes))


def test_caches_are_filled_and_cleared():
    sparse = matrix(values())
    assert sparse.storage.cached_keys() == []
    sparse.fill_cache_()
    assert sparse.storage.cached_keys() == ["rowcount", "colptr", "colcount", "csr2csc", "csc2csr"]
    assert_close(sparse.storage.rowcount(), np.bincount(ROWS, minlength=5))
    assert_close(sparse.storage.colcount(), np.bincount(COLUMNS, minlength=6))
    assert_close(sparse.storage.csr2csc(), np.lexsort((ROWS, COLUMNS)))
    assert_close(sparse.storage.csc2csr(), np.argsort(np.lexsort((ROWS, COLUMNS))))
    assert sparse.clear_cache_().storage.num_cached_keys() == 0


# ---- Places with several values

@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_coalesce_reduces_values_of_one_place(reduce, dtype):
    if reduce == "mean" and not dtype.is_floating_point:
        dtype = torch.float32
    rows, columns = [1, 0, 1, 2, 1, 0], [2, 0, 2, 1, 2, 3]
    value = normal(13, 6, dtype=dtype)
    sparse = matrix(value, rows, columns, (3, 4))
    found = {}
    for row, column, one in zip(rows, columns, array(value)):
        found.setdefault((row, column), []).append(one)
    expected = np.zeros((3, 4))
    for place, several in found.items():
        expected[place] = REDUCTIONS[reduce](several)
    assert not sparse.is_coalesced()
    result = sparse.coalesce(reduce)
    assert result.is_coalesced() and result.nnz() == 4
    assert_matrix(result, expected)


def test_coalesce_of_a_matrix_without_values_leaves_one_of_each_place():
    result = matrix(None, [1, 0, 1], [2, 0, 2], (2, 3)).coalesce()
    assert (result.storage.row().tolist(), result.storage.col().tolist()) == ([0, 1], [0, 2])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_function_coalesce_sorts_and_adds(dtype):
    rows, columns = [3, 0, 3, 1, 0], [1, 1, 1, 0, 0]
    value = normal(14, 5, 2, dtype=dtype)
    index, result = torch_sparse.coalesce(torch.tensor([rows, columns]), value, 4, 2)
    assert index.tolist() == [[0, 0, 1, 3], [0, 1, 0, 1]]
    assert_close(result, grid(value, rows, columns, (4, 2))[array(index[0]), array(index[1])])


def test_the_function_coalesce_takes_the_reduction():
    _, result = torch_sparse.coalesce(torch.tensor([[1, 0, 1], [0, 0, 0]]), torch.tensor([3.0, 1, 7]), 2, 1, op="max")
    assert_close(result, [1, 7])


def test_derivative_of_coalesce():
    rows, columns = [3, 0, 3, 1, 0], [1, 1, 1, 0, 0]
    assert_derivative(lambda value: matrix(value, rows, columns, (4, 2)).coalesce().to_dense(), normal(15, 5))


# ---- Transposes

@pytest.mark.parametrize("dtype", DTYPES)
def test_t_swaps_rows_and_columns(dtype):
    assert_matrix(matrix(values(dtype=dtype)).t(), grid(values(dtype=dtype)).T)


def test_t_swaps_what_is_cached():
    result = matrix(values()).fill_cache_().t()
    assert result.storage.num_cached_keys() == 5
    assert_matrix(result, grid(values()).T)
    assert_caches(result)


def test_t_twice_is_the_matrix():
    assert matrix(values()).t().t() == matrix(values())


def test_t_leaves_the_dimensions_of_values():
    value = values(3, torch.float64, 2)
    assert_matrix(matrix(value).t(), grid(value).swapaxes(0, 1))


@pytest.mark.parametrize("coalesced", [False, True])
def test_the_function_transpose_swaps_coordinates(coalesced):
    index, value = torch_sparse.transpose(torch.tensor([ROWS, COLUMNS]), values(), *SIZES, coalesced=coalesced)
    order = np.lexsort((ROWS, COLUMNS)) if coalesced else np.arange(7)
    assert_close(index, np.asarray([COLUMNS, ROWS])[:, order])
    assert_close(value, array(values())[order])


def test_derivative_of_a_transpose():
    assert_derivative(lambda value: matrix(value).t().to_dense(), values())


# ---- Parts

@pytest.mark.parametrize("at", range(5))
def test_select_of_a_row_is_a_matrix_of_one_row(at):
    assert_matrix(matrix(values()).select(0, at), grid(values())[at:at + 1])


@pytest.mark.parametrize("at", range(6))
def test_select_of_a_column_is_a_matrix_of_one_column(at):
    assert_matrix(matrix(values()).select(1, at), grid(values())[:, at:at + 1])


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("dim, start, length", [(0, 1, 3), (0, 2, 1), (0, 0, 5), (0, -2, 2), (-2, 3, 1), (1, 0, 3), (1, 2, 4),
                                                (1, 3, 1), (-1, -3, 2), (0, 2, 0), (1, 6, 0)])
def test_narrow_keeps_some_rows_or_columns(dim, start, length, cached):
    sparse = matrix(values())
    if cached:
        sparse.fill_cache_()
    start_of = start % SIZES[dim] if start < 0 else start
    expected = np.take(grid(values()), range(start_of, start_of + length), axis=dim)
    result = sparse.narrow(dim, start, length)
    assert_matrix(result, expected)
    assert_caches(result)


def test_narrow_of_row_pointers_alone():
    pointers = torch.tensor([0, 2, 3, 3, 6, 7])
    result = SparseTensor(rowptr=pointers, col=torch.tensor(COLUMNS), value=values(), is_sorted=True).narrow(0, 1, 3)
    assert not result.storage.has_row()
    assert_matrix(result, grid(values())[1:4])


@pytest.mark.parametrize("act", [lambda sparse: sparse.narrow(2, 1, 2),
                                 lambda sparse: sparse.index_select(2, torch.tensor([1, 2])),
                                 lambda sparse: sparse.masked_select(-1, torch.tensor([False, True, True, False]))])
def test_parts_of_the_dimensions_of_values(act):
    value = values(16, torch.float64, 4)
    assert_matrix(act(matrix(value)), grid(value)[:, :, 1:3])
    with pytest.raises((ValueError, IndexError)):
        act(matrix())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim, index", [(0, [3, 0, 3, 2]), (1, [4, 4, 0, 3, 5]), (0, []), (-2, [4]), (-1, [0, 1])])
def test_index_select_takes_rows_or_columns_in_any_order(dim, index, dtype):
    result = matrix(values(dtype=dtype)).index_select(dim, torch.tensor(index, dtype=torch.long))
    assert_matrix(result, np.take(grid(values(dtype=dtype)), np.asarray(index, int), axis=dim))
    assert_close(result.storage.rowcount(), np.bincount(array(result.storage.row()), minlength=result.size(0)))


@pytest.mark.parametrize("dim", [0, 1])
def test_masked_select_takes_the_rows_or_columns_of_a_mask(dim):
    mask = np.arange(SIZES[dim]) % 3 != 1
    result = matrix(values()).masked_select(dim, torch.from_numpy(mask))
    assert_matrix(result, np.compress(mask, grid(values()), axis=dim))
    assert_close(result.storage.colcount(), np.bincount(array(result.storage.col()), minlength=result.size(1)))


def test_values_are_selected_by_their_positions():
    chosen = [1, 2, 5]
    expected = np.zeros(SIZES)
    for one in chosen:
        expected[ROWS[one], COLUMNS[one]] = array(values())[one]
    assert_matrix(matrix(values()).index_select_nnz(torch.tensor(chosen), layout="coo"), expected)
    mask = torch.tensor([one in chosen for one in range(7)])
    assert_matrix(matrix(values()).masked_select_nnz(mask, layout="coo"), expected)


def test_values_are_selected_by_a_mask_in_the_order_of_columns():
    order = np.lexsort((ROWS, COLUMNS))
    mask = np.asarray([True, False, False, True, True, False, True])
    expected = np.zeros(SIZES)
    for one in order[mask]:
        expected[ROWS[one], COLUMNS[one]] = array(values())[one]
    assert_matrix(matrix(values()).masked_select_nnz(torch.from_numpy(mask), layout="csc"), expected)


@pytest.mark.parametrize("key, expected", [
    (3, np.s_[3:4]), (np.s_[1:4], np.s_[1:4]), (np.s_[-3:], np.s_[-3:]), (np.s_[:, 2:-1], np.s_[:, 2:-1]),
    (np.s_[..., 4], np.s_[:, 4:5]), (np.s_[1:, :3], np.s_[1:, :3]), ([4, 0, 3], [4, 0, 3]), (np.s_[3:1], np.s_[3:1]),
    (np.asarray([1, 1, 3]), [1, 1, 3]), ([True, False, True, True, False], [0, 2, 3]),
    (np.s_[:, [5, 0]], np.s_[:, [5, 0]]), (np.s_[2:, [False, True, True, False, True, False]], np.s_[2:, [1, 2, 4]])])
def test_brackets_index_like_numpy_but_keep_both_dimensions(key, expected):
    assert_matrix(matrix(values())[key], grid(values())[expected])


def test_brackets_take_tensors():
    index, mask = torch.tensor([3, 1]), torch.tensor([True, False, True, False, False, True])
    assert_matrix(matrix(values())[index, mask], grid(values())[[3, 1]][:, [0, 2, 5]])


def test_brackets_refuse_steps():
    with pytest.raises(ValueError):
        matrix(values())[::2]


def test_permute_reorders_rows_and_columns_alike():
    value, order = normal(17, len(GRAPH)), [4, 2, 0, 5, 1, 3]
    rows, columns = zip(*GRAPH)
    expected = grid(value, rows, columns, (6, 6))[order][:, order]
    assert_matrix(graph(value).permute(torch.tensor(order)), expected)


def test_derivative_of_parts():
    def parts(value):
        sparse = matrix(value)
        return (sparse.narrow(0, 1, 3).to_dense(), sparse.index_select(1, torch.tensor([4, 4, 0])).to_dense(),
                sparse.masked_select(0, torch.tensor([True, False, False, True, True])).to_dense())

    assert_derivative(parts, values())


def test_saint_subgraph_keeps_the_edges_among_the_nodes():
    value, nodes = normal(18, len(GRAPH)), [5, 0, 4, 1]
    rows, columns = zip(*GRAPH)
    result, edges = graph(value).saint_subgraph(torch.tensor(nodes))
    dense = grid(value, rows, columns, (6, 6))
    assert_close(result.to_dense(), dense[nodes][:, nodes])
    assert sorted(edges.tolist()) == [at for at, (row, column) in enumerate(GRAPH) if row in nodes and column in nodes]
    assert_close(result.storage.value(), array(value)[array(edges)])


def test_reverse_cuthill_mckee_orders_as_scipy_does():
    pattern = scipy.sparse.random(30, 30, 0.05, "csr", rng=np.random.default_rng(19))
    pattern = scipy.sparse.csr_matrix(pattern + pattern.T)
    result, order = SparseTensor.from_scipy(pattern).reverse_cuthill_mckee()
    expected = scipy.sparse.csgraph.reverse_cuthill_mckee(pattern, symmetric_mode=True)
    assert_close(order, expected)
    assert_matrix(result, pattern.toarray()[expected][:, expected])
