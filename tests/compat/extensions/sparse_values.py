"""The matrices that the tests of torch_sparse share, and how they are compared with dense ones in NumPy."""

import numpy as np
import torch
from torch_sparse import SparseTensor
from values import array, assert_close, normal

ROWS = [0, 0, 1, 3, 3, 3, 4]  # row 2 has nothing
COLUMNS = [1, 4, 0, 0, 2, 5, 4]  # column 3 has nothing
SIZES = (5, 6)
# A graph in which every node has a neighbour, as a square matrix: (row, column) of each edge.
GRAPH = [(0, 1), (0, 3), (0, 4), (1, 0), (1, 2), (2, 2), (2, 5), (3, 0), (3, 5), (4, 1), (5, 0), (5, 1), (5, 3), (5, 4)]
REDUCTIONS = {"sum": np.sum, "mean": np.mean, "min": np.min, "max": np.max}


def matrix(value=None, rows=ROWS, columns=COLUMNS, sizes=SIZES):
    """A SparseTensor of the values at these places."""
    return SparseTensor(row=torch.tensor(rows), col=torch.tensor(columns), value=value, sparse_sizes=sizes)


def grid(value, rows=ROWS, columns=COLUMNS, sizes=SIZES):
    """The same matrix in NumPy; values at one place are added up."""
    value = np.ones(len(rows)) if value is None else array(value)
    result = np.zeros((*sizes, *value.shape[1:]), value.dtype)
    np.add.at(result, (np.asarray(rows), np.asarray(columns)), value)
    return result


def assert_matrix(actual, expected):
    """`actual`, a SparseTensor, is sorted by row and column and has the values of `expected`, a dense matrix."""
    rows, columns, _ = actual.coo()
    places = list(zip(rows.tolist(), columns.tolist()))
    assert places == sorted(places)
    assert actual.storage.rowptr().tolist() == np.cumsum([0, *np.bincount(array(rows), minlength=actual.size(0))]).tolist()
    assert_close(actual.to_dense(), expected)


def assert_caches(actual):
    """What `actual` has stored beside rows, columns and values is what a new matrix of the same values computes."""
    rows, columns, value = actual.coo()
    fresh = SparseTensor(row=rows, col=columns, value=value, sparse_sizes=actual.sparse_sizes())
    for name in ("rowptr", "rowcount", "colptr", "colcount", "csr2csc", "csc2csr"):
        assert_close(getattr(actual.storage, name)(), array(getattr(fresh.storage, name)()))


def graph(value=None):
    rows, columns = zip(*GRAPH)
    return matrix(value, list(rows), list(columns), (6, 6))


def values(seed=1, dtype=torch.float64, *trailing):
    return normal(seed, len(ROWS), *trailing, dtype=dtype)
