"""Views, views in place, joining and repeating in PyTorch's forms."""

import keyway
import pytest


def test_a_tensor_transposed_in_place_keeps_its_history():
    x = keyway.arange(6, dtype=keyway.float32).view(2, 3).requires_grad_()
    y = x * 2
    version = y._version
    assert y.t_() is y and y.shape == (3, 2) and y._version == version + 1
    y.unsqueeze_(0).squeeze_().swapaxes_(0, 1).transpose_(0, 1)
    (y * keyway.arange(6, dtype=keyway.float32).view(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 4, 8], [2, 6, 10]]


def test_under_no_grad_history_follows_the_geometry_too():
    x = keyway.tensor([[1.0, 2.0]], requires_grad=True)
    y = x * 1
    with keyway.no_grad():
        y.t_()
    (y * keyway.tensor([[3.0], [4.0]])).sum().backward()
    assert x.grad.tolist() == [[3, 4]]


def test_a_view_transposed_in_place_still_is_a_view():
    x = keyway.ones(2, 3, requires_grad=True)
    base = x * 1
    view = base[:, :2]
    view.t_()
    view.mul_(keyway.tensor([[2.0], [3.0]]))
    base.sum().backward()
    assert x.grad.tolist() == [[2, 3, 1]] * 2


def test_a_leaf_that_requires_grad_is_not_transposed_in_place():
    x = keyway.ones(2, 3, requires_grad=True)
    with pytest.raises(keyway.AutogradError, match="t_"):
        x.t_()
    with keyway.no_grad():
        x.t_()
    (x * 2).sum().backward()
    assert x.grad.shape == (3, 2)


def test_what_was_saved_before_notices_a_change_of_geometry():
    x = keyway.ones(2, 3, requires_grad=True)
    y = x * 1
    z = y * y
    y.t_()
    with pytest.raises(keyway.AutogradError):
        z.sum().backward()


def test_resize_reads_the_same_memory():
    x = keyway.arange(6)
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]] and x._version == 1
    assert x.resize_as_(keyway.empty(3)).tolist() == [0, 1, 2]
    assert x.resize_(40).shape == (40,)
    assert keyway.empty(0).resize_(1, 2, 2, 3, memory_format=keyway.channels_last).stride() == (12, 1, 6, 2)
    with pytest.raises(keyway.AutogradError, match="resize_"):
        keyway.ones(2, requires_grad=True).resize_(3)


def test_a_view_of_another_dtype_shares_memory():
    x = keyway.tensor([1.0, 2.0])
    bits = x.view(keyway.int32)
    bits[0] = 0
    assert x.tolist() == [0, 2] and not bits.requires_grad
    assert x.view(keyway.uint8).shape == (8,) and x.view(keyway.float64).shape == (1,)
    with pytest.raises(keyway.ValueError, match="not divisible"):
        keyway.ones(3).view(keyway.float64)
    with pytest.raises(keyway.ValueError, match="stride"):
        keyway.ones(2, 2).t().view(keyway.uint8)


def test_parts_of_complex_numbers_are_views():
    z = keyway.tensor([1 + 2j, 3 - 4j])
    z.real = keyway.tensor([5.0, 6.0])
    z.imag.zero_()
    assert z.tolist() == [5, 6]
    assert keyway.complex(keyway.tensor([1.0]), keyway.tensor([[2.0], [3.0]])).tolist() == [[1 + 2j], [1 + 3j]]
    assert keyway.conj(keyway.tensor([1j])).tolist() == [-1j] and not z.is_conj()


def test_gradients_flow_through_the_parts_of_complex_numbers():
    x = keyway.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=keyway.float64, requires_grad=True)
    assert keyway.autograd.gradcheck(lambda x: keyway.view_as_real(keyway.view_as_complex(x).conj()) ** 2, (x,))
    length, angle = (keyway.tensor(v, dtype=keyway.float64, requires_grad=True) for v in ([2.0, 0.5], [0.3, -2.0]))
    assert keyway.autograd.gradcheck(lambda a, b: keyway.view_as_real(keyway.polar(a, b)), (length, angle))
    z = keyway.view_as_complex(x)
    (z * z.conj()).real.sum().backward()
    assert x.grad.tolist() == [[2, 4], [6, 8]]


def test_views_of_complex_numbers_and_of_their_parts_are_changed_where_gradients_are_recorded():
    x = keyway.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    keyway.view_as_complex(y).mul_(2j)
    assert y.tolist() == [[-4, 2], [-8, 6]]
    (y * keyway.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    assert x.grad.tolist() == [[20, -2], [2000, -200]]
    z = keyway.tensor([1 + 2j, 3 + 4j], requires_grad=True)
    parts = z * 1
    parts.real.mul_(3)
    parts.imag = parts.imag * 5
    keyway.view_as_real(parts).sum().backward()
    assert z.grad.tolist() == [3 + 5j, 3 + 5j]


def test_overlapping_windows_add_their_gradients():
    x = keyway.arange(4, dtype=keyway.float64).requires_grad_()
    x.unfold(0, 2, 1).sum().backward()
    assert x.grad.tolist() == [1, 2, 2, 1]


def test_a_diagonal_is_written_through():
    x = keyway.zeros(2, 2)
    x.diagonal(1).fill_(3)
    assert x.tolist() == [[0, 3], [0, 0]]


def test_functions_of_several_tensors_take_them_one_by_one_or_as_a_list():
    a, b = keyway.tensor([1, 2]), keyway.tensor([3, 4, 5])
    for grids in (keyway.meshgrid(a, b), keyway.meshgrid([a, b], indexing="ij")):
        assert [g.tolist() for g in grids] == [[[1, 1, 1], [2, 2, 2]], [[3, 4, 5]] * 2]
    assert [g.shape for g in keyway.meshgrid(a, b, indexing="xy")] == [(3, 2)] * 2
    assert keyway.cartesian_prod(a, b).shape == keyway.cartesian_prod([a, b]).shape == (6, 2)
    assert [t.shape for t in keyway.broadcast_tensors(a, b.unsqueeze(1))] == [(3, 2)] * 2
    assert keyway.broadcast_shapes((2, 1), 3, (1, 3)) == (2, 3)
    assert keyway.block_diag(a, b.unsqueeze(1)).tolist() == [[1, 2, 0], [0, 0, 3], [0, 0, 4], [0, 0, 5]]
    cubes = keyway.atleast_3d(keyway.tensor(1), a, keyway.ones(2, 3))
    assert [t.shape for t in cubes] == [(1, 1, 1), (1, 2, 1), (2, 3, 1)]
    with pytest.raises(keyway.TypeError, match="meshgrid"):
        keyway.meshgrid(1, 2)


def test_tensors_are_split_into_parts_and_at_indices():
    x = keyway.arange(5)
    assert [p.tolist() for p in x.tensor_split(3)] == [[0, 1], [2, 3], [4]]
    assert [p.tolist() for p in keyway.tensor_split(x, indices_or_sections=(1, 3))] == [[0], [1, 2], [3, 4]]
    assert [p.tolist() for p in x.tensor_split(keyway.tensor([2]))] == [[0, 1], [2, 3, 4]]
    assert [p.shape for p in keyway.ones(4, 2).hsplit(2)] == [(4, 1)] * 2
    with pytest.raises(keyway.ValueError, match="equal parts"):
        x.hsplit(2)


def test_repetitions_may_say_how_many_there_will_be():
    x = keyway.tensor([[1, 2], [3, 4]])
    assert x.repeat_interleave(2, dim=1).tolist() == [[1, 1, 2, 2], [3, 3, 4, 4]]
    assert x.repeat_interleave(keyway.tensor([0, 2]), 0, output_size=2).tolist() == [[3, 4], [3, 4]]
    counts = keyway.ones(2, dtype=keyway.int64, device="meta")
    on_meta = keyway.ones(2, device="meta").repeat_interleave(counts, output_size=7)
    assert on_meta.shape == (7,)
    with pytest.raises(keyway.ValueError, match="negative"):
        x.repeat_interleave(keyway.tensor([1, -1]), 0)


def test_triangles_have_indices():
    rows, columns = keyway.tril_indices(3, 4, 1)
    assert (keyway.ones(3, 4).tril(1).nonzero().t() == keyway.tril_indices(3, 4, 1)).all()
    assert (keyway.ones(3, 4).triu(-1).nonzero().t() == keyway.triu_indices(3, 4, -1)).all()
    assert rows.dtype is keyway.int64 and columns.numel() == 9
    assert keyway.tril_indices(2**20, 2**20, device="meta").shape == (2, 2**39 + 2**19)


def test_factories_write_to_what_they_are_given():
    out = keyway.empty(0, dtype=keyway.float64)
    assert keyway.zeros(2, 2, out=out) is out and out.tolist() == [[0, 0], [0, 0]] and out.dtype is keyway.float64
    assert keyway.ones(3, out=out).tolist() == [1, 1, 1]
    assert keyway.full((2,), 7, out=out).tolist() == [7, 7]
    assert keyway.arange(3, out=keyway.empty(0, dtype=keyway.int32)).dtype is keyway.int32
    assert keyway.eye(2, out=out).tolist() == [[1, 0], [0, 1]]
    assert keyway.linspace(0, 1, 3, out=out).tolist() == [0, 0.5, 1]
    for factory in (keyway.rand, keyway.randn, keyway.empty):
        assert factory(2, 3, out=out) is out and out.shape == (2, 3)


def test_where_a_tensor_is_cut_may_be_given_by_its_own_name():
    x = keyway.arange(6).reshape(2, 3)
    assert [p.tolist() for p in keyway.tensor_split(x, indices=(1,), dim=1)] == [[[0], [3]], [[1, 2], [4, 5]]]
    assert len(x.hsplit(sections=3)) == len(keyway.vsplit(x, indices=[0])) + 1
    for call in (lambda: x.hsplit(1.5), lambda: x.hsplit(), lambda: x.vsplit(2, indices=[1]),
                 lambda: keyway.dsplit(3, 1), lambda: x.tensor_split(2, parts=3)):  # fmt: skip
        with pytest.raises(keyway.TypeError):
            call()


def test_forms_of_pytorch_that_samples_found():
    x = keyway.tensor([[1.0, 0.0], [2.0, 3.0]])
    assert keyway.all(x, dim=[]).tolist() == [[True, False], [True, True]]
    assert keyway.any(x, dim=(0, 1), keepdim=True).tolist() == [[True]]
    assert keyway.all(x.byte(), dim=[0]).dtype is keyway.uint8
    assert keyway.arange(0.5, 4, 1.5, dtype=keyway.int64).tolist() == [0, 1, 2]
    assert keyway.arange(1, 2, 0.5, dtype=keyway.int64).tolist() == [1, 1]
    assert keyway.take_along_dim(x, keyway.tensor([[-1], [0]]), 1).tolist() == [[0.0], [2.0]]
    assert keyway.gather(x, 1, keyway.tensor([[1], [0]], dtype=keyway.int32)).tolist() == [[0.0], [2.0]]
    assert keyway.einsum("i->", keyway.tensor([200, 100], dtype=keyway.uint8)).item() == 300
    bytes_ = keyway.ones(2, 3, dtype=keyway.uint8)
    assert keyway.einsum("ij->i", bytes_[:, :1]).dtype is keyway.int64
    assert keyway.einsum("ij,ij->i", bytes_, bytes_).dtype is keyway.uint8
    assert keyway.einsum("ij,k->k", bytes_, bytes_[0]).dtype is keyway.int64
    assert keyway.einsum("ij,jk->k", bytes_, bytes_.T).tolist() == [6, 6]
    assert keyway.combinations(keyway.ones(1, requires_grad=True)).requires_grad
    assert x.bool().sum_to_size(()).dtype is keyway.int64
    assert keyway.equal(x[1].polygamma_(1), keyway.polygamma(1, keyway.tensor([2.0, 3.0])))


def test_split_takes_a_size_or_sizes_by_one_name():
    x = keyway.arange(5)
    assert [part.tolist() for part in keyway.split(x, 2)] == [[0, 1], [2, 3], [4]]
    assert [part.tolist() for part in keyway.split(tensor=x, split_size_or_sections=[1, 4])] == [[0], [1, 2, 3, 4]]
    assert [part.shape for part in keyway.split(keyway.ones(2, 4), 3, dim=-1)] == [(2, 3), (2, 1)]
    with pytest.raises(keyway.TypeError, match="split"):
        keyway.split([1, 2], 1)
