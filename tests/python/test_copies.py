"""Functions that end in _copy: what views show, in memory of its own."""

import pytest

import keyway


def table():
    return keyway.arange(6.0).reshape(2, 3)


COPIES = {
    "alias_copy": ((), [[0, 1, 2], [3, 4, 5]]),
    "as_strided_copy": (((2, 2), (1, 2)), [[0, 2], [1, 3]]),
    "detach_copy": ((), [[0, 1, 2], [3, 4, 5]]),
    "diagonal_copy": ((1,), [1, 5]),
    "expand_copy": (((2, 2, 3),), [[[0, 1, 2], [3, 4, 5]]] * 2),
    "narrow_copy": ((1, 1, 2), [[1, 2], [4, 5]]),
    "permute_copy": (((1, 0),), [[0, 3], [1, 4], [2, 5]]),
    "select_copy": ((1, -1), [2, 5]),
    "slice_copy": ((1, 0, 3, 2), [[0, 2], [3, 5]]),
    "squeeze_copy": ((), [[0, 1, 2], [3, 4, 5]]),
    "t_copy": ((), [[0, 3], [1, 4], [2, 5]]),
    "transpose_copy": ((0, 1), [[0, 3], [1, 4], [2, 5]]),
    "unfold_copy": ((1, 2, 1), [[[0, 1], [1, 2]], [[3, 4], [4, 5]]]),
    "unsqueeze_copy": ((0,), [[[0, 1, 2], [3, 4, 5]]]),
    "view_copy": (((3, 2),), [[0, 1], [2, 3], [4, 5]]),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_shows_what_the_view_does_and_shares_no_memory(name):
    arguments, expected = COPIES[name]
    x = table()
    made = getattr(keyway, name)(x, *arguments)
    x.zero_()
    assert made.tolist() == expected and made.is_contiguous()


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_goes_into_out_of_the_same_dtype(name):
    arguments, expected = COPIES[name]
    out = keyway.empty(0)
    assert getattr(keyway, name)(table(), *arguments, out=out) is out and out.tolist() == expected
    with pytest.raises(keyway.TypeError, match="float64"):
        getattr(keyway, name)(table(), *arguments, out=keyway.empty(0, dtype=keyway.float64))


def test_copies_of_several_views_are_a_tuple_or_go_into_tensors():
    x = table()
    parts = keyway.unbind_copy(x)
    halves = keyway.split_copy(x, 1)
    rest = keyway.split_with_sizes_copy(x, [1, 2], 1)
    x.zero_()
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3, 4, 5]]
    assert [part.tolist() for part in halves] == [[[0, 1, 2]], [[3, 4, 5]]]
    assert [part.tolist() for part in rest] == [[[0], [3]], [[1, 2], [4, 5]]]
    outs = [keyway.empty(0), keyway.empty(0)]
    assert keyway.unbind_copy(table(), out=outs) is None and outs[1].tolist() == [3, 4, 5]
    with pytest.raises(keyway.ValueError, match="2"):
        keyway.unbind_copy(table(), out=outs[:1])


def test_copies_of_complex_numbers_and_their_parts():
    x = keyway.tensor([[1.0, 2.0]])
    assert keyway.view_as_complex_copy(x).tolist() == [1 + 2j]
    assert keyway.view_as_real_copy(keyway.tensor([1 + 2j])).tolist() == [[1.0, 2.0]]
    assert keyway.view_copy(keyway.tensor([1.0]), keyway.int32).tolist() == [0x3F800000]
    assert keyway.view_copy(table().t(), (6,)).tolist() == [0, 3, 1, 4, 2, 5]
    with pytest.raises(keyway.TypeError, match="one of both"):
        keyway.view_copy(x)


def test_gradients_pass_through_copies():
    x = table().requires_grad_()
    (keyway.t_copy(x) * keyway.tensor([1.0, 2.0])).sum().backward()
    assert x.grad.tolist() == [[1, 1, 1], [2, 2, 2]]
    assert x.narrow_copy(0, 1, 1).tolist() == [[3, 4, 5]]


def test_a_scatter_into_a_strided_view_leaves_the_input():
    x = table().requires_grad_()
    src = keyway.tensor([9.0, 8.0], requires_grad=True)
    made = keyway.as_strided_scatter(x, src, (2,), (4,), 1)
    assert made.tolist() == [[0, 9, 2], [3, 4, 8]] and x.tolist() == [[0, 1, 2], [3, 4, 5]]
    made.sum().backward()
    assert x.grad.tolist() == [[1, 0, 1], [1, 1, 0]] and src.grad.tolist() == [1, 1]
    with pytest.raises(keyway.ValueError, match="shape"):
        x.as_strided_scatter(src, (1,), (4,))


def test_as_strided_scatter_counts_in_the_memory_of_the_input():
    x = keyway.arange(8.0)[::2]
    assert keyway.as_strided_scatter(x, keyway.tensor([9.0, 9.0]), (2,), (2,), 0).tolist() == [9, 9, 4, 6]
    x = keyway.arange(6.0)[2:]
    assert keyway.as_strided_scatter(x, keyway.tensor([9.0, 9.0]), (2,), (1,), 3).tolist() == [2, 9, 9, 5]
