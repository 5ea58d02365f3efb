"""Products, norms and comparisons of whole tensors."""

import math

import keyway
import numpy as np
import pytest

X = keyway.arange(12, dtype=keyway.float64).view(3, 4)


@pytest.mark.parametrize("equation, shapes", [
    ("ij,jk", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]), ("iij->j", [(2, 2, 3)]),
    ("...i,i", [(2, 3), (3,)]), ("i,j,k->kji", [(2,), (3,), (2,)]), ("ab,b,bc->ac", [(2, 3), (3,), (3, 2)]),
    ("a...,...b->b...a", [(2, 3), (3, 2)]), ("ij,kj->", [(1, 3), (2, 3)]),
])
def test_einsum_has_gradients(equation, shapes):
    generator = keyway.Generator().manual_seed(0)
    tensors = [keyway.randn(s, dtype=keyway.float64, generator=generator).requires_grad_() for s in shapes]
    assert keyway.autograd.gradcheck(lambda *t: keyway.einsum(equation, *t), tensors)
    on_meta = keyway.einsum(equation, [keyway.empty(s, device="meta") for s in shapes])
    assert on_meta.shape == keyway.einsum(equation, *tensors).shape


def test_einsum_takes_lists_of_numbers_and_paths():
    assert keyway.einsum(X, [0, 1], X, [2, 1], [2, 0]).tolist() == keyway.matmul(X, X.T).tolist()
    assert keyway.einsum(X, [..., 1]).tolist() == X.tolist()
    chain = [X, X.T, X]
    expected = (X @ X.T @ X).tolist()
    for path in (None, [1, 2, 0, 1], [0, 2, 0, 1]):
        assert keyway._C.einsum("ab,bc,cd->ad", chain, path=path).tolist() == expected
    with pytest.raises(keyway.ValueError, match="path"):
        keyway._C.einsum("ab,bc", [X, X.T], path=[0, 5])


def test_tensordot_takes_a_number_or_two_lists():
    assert keyway.tensordot(X, X, 2).item() == (X * X).sum().item()
    assert keyway.tensordot(X, X, ([1], [1])).tolist() == (X @ X.T).tolist()
    assert keyway.tensordot(X, X, dims=0).shape == (3, 4, 3, 4)
    with pytest.raises(keyway.ValueError, match="tensordot"):
        keyway.tensordot(X, X, 1)


@pytest.mark.parametrize("order", [2, 1, 3, 0.5, math.inf, -math.inf, -1])
def test_norms_have_gradients(order):
    x = keyway.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]], dtype=keyway.float64, requires_grad=True)
    assert keyway.autograd.gradcheck(lambda x: keyway.linalg.vector_norm(x, order, 1), (x,))


def test_the_gradient_of_a_norm_at_zero_is_zero():
    x = keyway.zeros(3, requires_grad=True)
    x.norm().backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_norms_of_matrices():
    x = keyway.tensor([[1.0, -2.0], [3.0, 4.0]])
    assert keyway.linalg.norm(x, 1).item() == 6 and keyway.linalg.norm(x, math.inf).item() == 7
    assert keyway.linalg.matrix_norm(x, -1, keepdim=True).tolist() == [[4]]
    assert keyway.norm(x).item() == x.norm("fro").item() == pytest.approx(math.sqrt(30))
    with pytest.raises(keyway.ValueError, match="not 3"):
        keyway.linalg.matrix_norm(x, 3)


def test_chains_of_products():
    assert keyway.linalg.multi_dot([X, X.T, X[:, 0]]).tolist() == (X @ X.T @ X[:, 0]).tolist()
    assert keyway.chain_matmul(X, X.T, X).tolist() == (X @ X.T @ X).tolist()
    assert keyway.linalg.vecdot(keyway.tensor([1j]), keyway.tensor([1j])).item() == 1


def test_products_that_add_in_place_and_to_out():
    x = keyway.ones(3, dtype=keyway.float64)
    assert x.addmv_(X, keyway.ones(4, dtype=keyway.float64), beta=2).tolist() == [8, 24, 40]
    out = keyway.empty(0, dtype=keyway.float64)
    assert keyway.matmul(X, X.T, out=out) is out and out.shape == (3, 3)
    assert keyway.ones(2, 2).addr_(keyway.ones(2), keyway.ones(2), alpha=3).tolist() == [[4, 4]] * 2


def test_complex_products_have_gradients():
    z = keyway.tensor([[1 + 2j, 3 - 1j]], dtype=keyway.complex128)
    parts = keyway.view_as_real(z).clone().requires_grad_()
    assert keyway.autograd.gradcheck(
        lambda p: keyway.view_as_real(keyway.view_as_complex(p) @ keyway.view_as_complex(p).mT), (parts,))


def test_whether_tensors_are_close():
    a, b = keyway.tensor([1.0, math.nan]), keyway.tensor([1.0 + 1e-6, math.nan])
    assert keyway.isclose(a, b).tolist() == [True, False]
    assert keyway.allclose(a, b, equal_nan=True) and not keyway.allclose(a, b)
    assert not keyway.equal(a, a) and keyway.equal(X, X.clone()) and not keyway.equal(X, X.T)
    with pytest.raises(keyway.DtypeError):
        keyway.isclose(a, X)


def test_bilinear_layers():
    layer = keyway.nn.Bilinear(2, 3, 4)
    x, y = keyway.randn(5, 2), keyway.randn(5, 3)
    expected = keyway.einsum("bi,oij,bj->bo", x, layer.weight, y) + layer.bias
    assert keyway.allclose(layer(x, y), expected, atol=1e-5)
    assert layer.extra_repr() == "in1_features=2, in2_features=3, out_features=4, bias=True"


def test_powers_of_matrices():
    x = keyway.tensor([[1, 1], [1, 0]])
    assert x.matrix_power(10).tolist() == [[89, 55], [55, 34]]  # Fibonacci's numbers
    assert keyway.linalg.matrix_power(x, 0).tolist() == [[1, 0], [0, 1]]
    once = keyway.matrix_power(x, 1)
    assert keyway.equal(once, x) and once.data_ptr() != x.data_ptr()
    batch = keyway.stack([x, 2 * x]).to(keyway.float64)
    out = keyway.empty(0, dtype=keyway.float64)
    assert keyway.matrix_power(batch, 3, out=out) is out
    np.testing.assert_allclose(out.numpy(), np.linalg.matrix_power(batch.numpy(), 3))
    with pytest.raises(keyway.ValueError, match="square"):
        keyway.ones(2, 3).matrix_power(2)
    assert x.double().matrix_power(-2).tolist() == [[1, -1], [-1, 2]]


def test_matrices_of_powers():
    assert keyway.linalg.vander(keyway.tensor([1, 2, 3])).tolist() == [[1, 1, 1], [1, 2, 4], [1, 3, 9]]
    assert keyway.linalg.vander(keyway.tensor([[2.0], [3.0]]), N=3).tolist() == [[[1, 2, 4]], [[1, 3, 9]]]
    assert keyway.linalg.vander(keyway.tensor(2.0), N=2).tolist() == [[1.0, 2.0]]
    with pytest.raises(keyway.ValueError, match="at least 2"):
        keyway.linalg.vander(keyway.tensor([1.0]))
    with pytest.raises(keyway.NotImplementedError, match="bool"):
        keyway.linalg.vander(keyway.tensor([True, False]))


def test_the_frobenius_norm_is_that_of_the_dimensions():
    x = keyway.tensor([[3.0, 4.0], [0.0, 12.0]])
    assert keyway.frobenius_norm(x, 1).tolist() == [5.0, 12.0]
    assert keyway.frobenius_norm(x, (0, 1), True).tolist() == [[13.0]] and keyway.frobenius_norm(x, ()).item() == 13.0
