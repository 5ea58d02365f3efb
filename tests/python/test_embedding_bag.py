"""Bags of rows of a table, against loops over them."""

import math

import keyway
import pytest
from keyway import nn
from keyway.nn import functional as F

TABLE = [[1.0, -2.0], [3.0, 0.5], [-4.0, 2.5], [0.25, 7.0]]


def bags_of(indices, offsets, include_last_offset):
    ends = offsets[1:] if include_last_offset else [*offsets[1:], len(indices)]
    return [indices[begin:end] for begin, end in zip(offsets, ends)]


def expected(indices, offsets, mode, include_last_offset=False, padding_idx=None):
    rows = []
    for bag in bags_of(indices, offsets, include_last_offset):
        columns = list(zip(*[TABLE[i] for i in bag if i != padding_idx])) or [(), ()]
        if mode == "max":
            rows.append([max(column, default=0.0) for column in columns])
        else:
            rows.append([sum(column) / (max(len(column), 1) if mode == "mean" else 1) for column in columns])
    return rows


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding_idx", [None, 2])
@pytest.mark.parametrize("dtype", [keyway.float64, keyway.float32, keyway.float16, keyway.bfloat16])
def test_bags_are_those_of_a_loop(mode, padding_idx, dtype):
    table = keyway.tensor(TABLE, dtype=dtype)
    for indices, offsets, last in (([1, 2, 0, 2, 2, 1], [0, 2, 2, 4], False), ([1, 2, 0, 3], [0, 1, 3], True),
                                   ([2, 2], [0, 0, 2], False), ([], [0, 0], False), ([0, 1], [0], True)):
        for kind in (keyway.int64, keyway.int32):
            bags = F.embedding_bag(keyway.tensor(indices, dtype=kind), table, keyway.tensor(offsets), mode=mode,
                                   include_last_offset=last, padding_idx=padding_idx)
            wanted = expected(indices, offsets, mode, last, padding_idx)
            assert bags.dtype is dtype and bags.shape == (len(wanted), 2)
            assert bags.tolist() == [pytest.approx(row, rel=1e-2) for row in wanted]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_gradients_of_bags(mode):
    table = keyway.tensor(TABLE, dtype=keyway.float64, requires_grad=True)
    indices, offsets = keyway.tensor([1, 2, 0, 2, 3, 1]), keyway.tensor([0, 2, 2, 4])
    for padding_idx in (None, 0, -1):
        assert keyway.autograd.gradcheck(
            lambda t: F.embedding_bag(indices, t, offsets, mode=mode, padding_idx=padding_idx), (table,))
        assert keyway.autograd.gradgradcheck(
            lambda t: F.embedding_bag(indices, t, offsets, mode=mode, padding_idx=padding_idx), (table,))
    weights = keyway.tensor([0.5, 2, 1, -1, 3, 0.25], dtype=keyway.float64, requires_grad=True)
    if mode == "sum":
        assert keyway.autograd.gradcheck(
            lambda t, w: F.embedding_bag(indices, t, offsets, mode="sum", per_sample_weights=w), (table, weights))


def test_gradients_can_be_scaled_by_how_often_a_row_is_read():
    table = keyway.tensor(TABLE, requires_grad=True)
    F.embedding_bag(keyway.tensor([[1, 1], [1, 0]]), table, mode="sum", scale_grad_by_freq=True).sum().backward()
    assert table.grad.tolist() == [[1, 1], [pytest.approx(1), pytest.approx(1)], [0, 0], [0, 0]]


def test_rows_of_two_dimensions_are_bags_and_weights_weigh():
    table, rows = keyway.tensor(TABLE), keyway.tensor([[0, 1], [3, 3]])
    assert F.embedding_bag(rows, table).tolist() == [[2.0, -0.75], [0.25, 7.0]]
    weights = keyway.tensor([[1.0, 2.0], [4.0, 0.0]])
    assert F.embedding_bag(rows, table, mode="sum", per_sample_weights=weights).tolist() == [[7.0, -1.0], [1.0, 28.0]]
    assert F.embedding_bag(keyway.zeros(2, 0, dtype=keyway.int64), table).tolist() == [[0.0, 0.0]] * 2


def test_the_operator_also_says_where_elements_come_from():
    values, bags, sizes, indices = keyway.embedding_bag(
        keyway.tensor(TABLE), keyway.tensor([1, 2, 0, 2, 2, 1]), keyway.tensor([0, 2, 2, 5]), mode=2)
    assert bags.tolist() == [0, 0, 2, 2, 2, 3] and sizes.tolist() == [2, 0, 3, 1]
    assert indices.tolist() == [[1, 2], [0, 0], [0, 2], [1, 1]]
    assert values.tolist() == [[3.0, 2.5], [0.0, 0.0], [1.0, 2.5], [3.0, 0.5]]


def test_a_bag_with_what_is_no_number_is_none():
    table = keyway.tensor([[math.nan, 1.0], [2.0, 3.0]])
    assert math.isnan(F.embedding_bag(keyway.tensor([[1, 0, 1]]), table, mode="max")[0, 0].item())
    assert F.embedding_bag(keyway.tensor([[1, 0]]), table, mode="sum", padding_idx=0).tolist() == [[2.0, 3.0]]


@pytest.mark.parametrize("arguments, message", [
    ({"offsets": [0]}, "if input is 2D"), ({"mode": "x"}, "one of sum, mean or max"),
    ({"mode": "max", "scale_grad_by_freq": True}, "does not support scaling"), ({"padding_idx": 4}, "padding_idx"),
    ({"per_sample_weights": [1.0]}, "must have the shape"), ({"per_sample_weights": [[1.0, 1.0]]}, "mode='sum'"),
    ({"sparse": True}, "requires !sparse")])
def test_what_is_no_bag_is_refused(arguments, message):
    given = {k: keyway.tensor(v) if isinstance(v, list) else v for k, v in arguments.items()}
    with pytest.raises(keyway.Error, match=message):
        F.embedding_bag(keyway.tensor([[0, 1]]), keyway.tensor(TABLE), **given)


def test_offsets_and_indices_are_checked():
    table, indices = keyway.tensor(TABLE), keyway.tensor([0, 1])
    with pytest.raises(keyway.Error, match="'offsets' must have 0 at position 0"):
        F.embedding_bag(indices, table, keyway.tensor([1]))
    with pytest.raises(keyway.Error, match="must be from 0 to the number of indices, 2"):
        F.embedding_bag(indices, table, keyway.tensor([0, 3]))
    with pytest.raises(keyway.IndexError, match="has 4 at position 0"):
        F.embedding_bag(indices.add(4), table, keyway.tensor([0]))
    with pytest.raises(keyway.ValueError, match="offsets has to be a 1D Tensor"):
        F.embedding_bag(indices, table)


def test_the_module_keeps_its_padding_and_says_what_it_is():
    layer = nn.EmbeddingBag(4, 2, padding_idx=-1, mode="sum")
    assert repr(layer) == "EmbeddingBag(4, 2, mode='sum', padding_idx=3)" and layer.weight[3].tolist() == [0.0, 0.0]
    layer(keyway.tensor([[3, 1]])).sum().backward()
    assert layer.weight.grad.tolist() == [[0, 0], [1, 1], [0, 0], [0, 0]]
    frozen = nn.EmbeddingBag.from_pretrained(keyway.tensor([[3.0, 4.0], [0.0, 0.0]]), max_norm=1.0)
    assert frozen(keyway.tensor([[0, 1]])).tolist()[0] == pytest.approx([0.3, 0.4]) and not frozen.weight.requires_grad
