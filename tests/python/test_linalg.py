"""Decompositions of matrices and equations with them, against NumPy's and their own definitions."""

import math
import os
import subprocess
import sys

import keyway
import numpy as np
import pytest
from keyway import linalg

DTYPES = [keyway.float32, keyway.float64, keyway.complex64, keyway.complex128]
SHAPES = [(3, 3), (4, 2), (2, 4), (1, 1), (0, 0), (3, 0), (0, 2), (2, 5, 3), (2, 1, 3, 4), (0, 3, 3)]
SQUARE = [(3, 3), (1, 1), (0, 0), (2, 4, 4), (2, 3, 2, 2), (0, 3, 3)]


def matrices(*shape, dtype=keyway.float64, seed=0):
    keyway.manual_seed(seed)
    return keyway.randn(*shape, dtype=dtype)


def positive(*shape, dtype=keyway.float64):
    x = matrices(*shape, dtype=dtype)
    return x @ x.mH + keyway.eye(shape[-1], dtype=dtype)


def close(a, b, dtype):
    tolerance = 1e-4 if dtype in (keyway.float32, keyway.complex64) else 1e-10
    expected = b.numpy() if isinstance(b, keyway.Tensor) else b
    np.testing.assert_allclose(a.numpy(), expected, tolerance, tolerance)


def layouts(x):
    """The same matrices, in other orders in memory."""
    yield x
    yield x.mT.contiguous().mT
    wide = keyway.zeros(*x.shape[:-1], 2 * x.size(-1), dtype=x.dtype)
    wide[..., ::2] = x
    yield wide[..., ::2]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE)
def test_cholesky_gives_triangles_whose_product_is_the_matrix(shape, dtype):
    for a in layouts(positive(*shape, dtype=dtype)):
        lower, upper = linalg.cholesky(a), linalg.cholesky(a, upper=True)
        close(lower @ lower.mH, a, dtype)
        close(upper.mH @ upper, a, dtype)
        assert keyway.equal(lower, lower.tril()) and keyway.equal(upper, upper.triu())
        close(keyway.cholesky_inverse(lower) @ a, keyway.eye(shape[-1], dtype=dtype).expand(shape), dtype)
        close(a @ keyway.cholesky_solve(a, upper, upper=True), a, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_lu_gives_factors_whose_product_is_the_matrix(shape, dtype):
    for a in layouts(matrices(*shape, dtype=dtype)):
        p, lower, upper = linalg.lu(a)
        close(p @ lower @ upper, a, dtype)
        assert keyway.equal(lower.triu(1), keyway.zeros_like(lower)) and keyway.equal(upper, upper.triu())
        assert (lower.diagonal(dim1=-2, dim2=-1) == 1).all()
        again = keyway.lu_unpack(*linalg.lu_factor_ex(a)[:2])
        assert all(keyway.equal(x, y) for x, y in zip(again, (p, lower, upper)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_qr_gives_orthonormal_columns_and_a_triangle(shape, dtype):
    for a in layouts(matrices(*shape, dtype=dtype)):
        for mode in ("reduced", "complete"):
            q, r = linalg.qr(a, mode)
            columns = min(shape[-2:]) if mode == "reduced" else shape[-2]
            assert q.shape == shape[:-1] + (columns,) and r.shape == shape[:-2] + (columns, shape[-1])
            close(q @ r, a, dtype)
            close(q.mH @ q, keyway.eye(columns, dtype=dtype).expand(*shape[:-2], columns, columns), dtype)
            assert keyway.equal(r, r.triu())
        close(linalg.qr(a, "r").R, linalg.qr(a).R, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_svd_gives_orthonormal_vectors_and_descending_values(shape, dtype):
    for a in layouts(matrices(*shape, dtype=dtype)):
        for full in (False, True):
            u, s, vh = linalg.svd(a, full_matrices=full)
            rank = min(shape[-2:])
            close((u[..., :rank] * s.unsqueeze(-2)) @ vh[..., :rank, :], a, dtype)
            close(u.mH @ u, keyway.eye(u.size(-1), dtype=dtype).expand(*shape[:-2], u.size(-1), u.size(-1)), dtype)
            close(vh @ vh.mH, keyway.eye(vh.size(-2), dtype=dtype).expand(*shape[:-2], vh.size(-2), vh.size(-2)), dtype)
            assert (s[..., 1:] <= s[..., :-1]).all()
        close(linalg.svdvals(a), s, dtype)
        old = keyway.svd(a)
        close(old.U @ keyway.diag_embed(old.S).to(dtype) @ old.V.mH, a, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE)
def test_eigenvectors_are_only_scaled_by_their_matrix(shape, dtype):
    for a in layouts(matrices(*shape, dtype=dtype)):
        values, vectors = linalg.eig(a)
        complex_a = a.to(vectors.dtype)
        close(complex_a @ vectors, vectors * values.unsqueeze(-2), dtype)
        close(linalg.vector_norm(vectors, dim=-2), keyway.ones(*shape[:-1], dtype=values.real.dtype), dtype)
        hermitian = a + a.mH
        for triangle, half in (("L", hermitian.tril()), ("U", hermitian.triu())):
            values, vectors = linalg.eigh(half, triangle)  # the other triangle is not read
            close(hermitian @ vectors, vectors * values.unsqueeze(-2), dtype)
            close(vectors.mH @ vectors, keyway.eye(shape[-1], dtype=dtype).expand(shape), dtype)
            assert (values[..., 1:] >= values[..., :-1]).all()
            close(linalg.eigvalsh(half, triangle), values, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("sizes", [((3, 3), (3, 2)), ((2, 3, 3), (3, 3)), ((3, 3), (4, 3, 3)), ((2, 1, 2, 2), (3, 2, 2))])
def test_solutions_solve_their_equations(sizes, left, dtype):
    a, b = matrices(*sizes[0], dtype=dtype), matrices(*sizes[1], dtype=dtype, seed=1)
    if not left:
        b = b.mT
    side = (lambda m, x: m @ x) if left else (lambda m, x: x @ m)
    rhs = b.broadcast_to(side(a, b).shape)
    for x in layouts(a):
        close(side(x, linalg.solve(x, b, left=left)), rhs, dtype)
        factors = linalg.lu_factor(x)
        close(side(x, linalg.lu_solve(*factors, b, left=left)), rhs, dtype)
        close(side(x.mH, linalg.lu_solve(*factors, b, left=left, adjoint=True)), rhs, dtype)
        for upper in (True, False):
            triangle = x.triu() if upper else x.tril()
            close(side(triangle, linalg.solve_triangular(x, b, upper=upper, left=left)), rhs, dtype)
            unit = triangle - keyway.diag_embed(triangle.diagonal(dim1=-2, dim2=-1)) + keyway.eye(a.size(-1), dtype=dtype)
            close(side(unit, linalg.solve_triangular(x, b, upper=upper, left=left, unitriangular=True)), rhs, dtype)


def test_vectors_are_solved_for_each_matrix():
    a = matrices(2, 3, 3)
    close((a @ linalg.solve(a, matrices(2, 3, seed=1)).unsqueeze(-1)).squeeze(-1), matrices(2, 3, seed=1), keyway.float64)
    assert linalg.solve(a, keyway.ones(3, dtype=keyway.float64)).shape == (2, 3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE)
def test_inverses_and_determinants_are_numpys(shape, dtype):
    a = matrices(*shape, dtype=dtype) + 2 * keyway.eye(shape[-1], dtype=dtype)
    close(linalg.inv(a), np.linalg.inv(a.numpy()), dtype)
    close(keyway.det(a), np.linalg.det(a.numpy()), dtype)
    sign, size = np.linalg.slogdet(a.numpy())
    close(linalg.slogdet(a).sign, sign, dtype)
    close(a.slogdet().logabsdet, size, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 5, 3), (2, 3, 5), (0, 3), (3, 0)])
def test_pseudoinverses_and_ranks_are_numpys(shape, dtype):
    a = matrices(*shape, dtype=dtype)
    close(linalg.pinv(a), np.linalg.pinv(a.numpy()), dtype)
    assert (linalg.matrix_rank(a) == min(shape[-2:])).all()
    if a.numel() > 0:
        low = a[..., :1] @ a[..., :1, :]
        assert (linalg.matrix_rank(low) == 1).all()
        close(linalg.pinv(low), np.linalg.pinv(low.numpy(), rcond=1e-5), dtype)
        assert (linalg.matrix_rank(low, atol=1e6, rtol=0.0) == 0).all()
        assert (linalg.matrix_rank(a @ a.mH + a @ a.mH, hermitian=True) == min(shape[-2:])).all()


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss", None])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_least_squares_are_numpys(shape, driver):
    a, b = matrices(*shape), matrices(shape[0], 2, seed=1)
    x, residuals, rank, values = linalg.lstsq(a, b, driver=driver)
    expected = np.linalg.lstsq(a.numpy(), b.numpy(), rcond=None)
    close(x, expected[0], keyway.float64)
    if driver not in ("gelsy", None):
        close(residuals, expected[1], keyway.float64)
    assert driver == "gels" or rank.item() == min(shape)
    assert values.numel() == (min(shape) if driver in ("gelsd", "gelss") else 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponentials_are_those_of_the_eigenvalues(dtype):
    a = matrices(3, 4, 4, dtype=dtype) * keyway.tensor([0.01, 1.0, 8.0], dtype=dtype).reshape(3, 1, 1)
    values, vectors = np.linalg.eig(a.numpy().astype(np.complex128))
    expected = (vectors * np.exp(values)[:, None]) @ np.linalg.inv(vectors)
    actual = keyway.matrix_exp(a).numpy()
    scale = np.abs(expected).max((1, 2), keepdims=True)
    np.testing.assert_allclose(actual / scale, (expected if dtype.is_complex else expected.real) / scale, 0,
                               1e-11 if dtype in (keyway.float64, keyway.complex128) else 1e-4)  # fmt: skip


def test_norms_and_condition_numbers_are_numpys():
    a = matrices(4, 4)
    for p in (None, 2, -2, 1, -1, math.inf, -math.inf, "fro", "nuc"):
        assert linalg.cond(a, p).item() == pytest.approx(np.linalg.cond(a.numpy(), p))
        assert linalg.matrix_norm(a, p or "fro").item() == pytest.approx(np.linalg.norm(a.numpy(), p))
    batch = matrices(2, 3, 4)
    assert linalg.matrix_norm(batch, 2, (0, 2), True).shape == (1, 3, 1)
    close(keyway.norm(batch, "nuc", (1, 2)), np.linalg.norm(batch.numpy(), "nuc", (1, 2)), keyway.float64)
    assert linalg.cond(keyway.zeros(2, 2), 1).item() == math.inf


def test_tensors_are_inverted_as_matrices():
    a = keyway.eye(24, dtype=keyway.float64).reshape(4, 6, 8, 3) + 0.1 * matrices(4, 6, 8, 3)
    close(linalg.tensorinv(a), np.linalg.tensorinv(a.numpy()), keyway.float64)
    b = matrices(4, 6, seed=1)
    close(linalg.tensorsolve(a, b), np.linalg.tensorsolve(a.numpy(), b.numpy()), keyway.float64)
    moved = a.permute(0, 2, 1, 3)
    close(linalg.tensorsolve(moved, b, (1,)), np.linalg.tensorsolve(moved.numpy(), b.numpy(), (1,)), keyway.float64)


def symmetric(f):
    return lambda x: f((x + x.mH) / 2)


GRADIENTS = {
    "cholesky": (lambda x: linalg.cholesky(x @ x.mH + keyway.eye(3, dtype=x.dtype)), (3, 3)),
    "cholesky upper": (lambda x: linalg.cholesky(x @ x.mH + keyway.eye(3, dtype=x.dtype), upper=True), (3, 3)),
    "lu": (lambda x: linalg.lu(x)[1:], (3, 3)),
    "lu wide": (lambda x: linalg.lu(x)[1:], (2, 2, 4)),
    "lu tall": (lambda x: linalg.lu(x)[1:], (4, 2)),
    "qr": (lambda x: linalg.qr(x), (2, 4, 3)),
    "qr wide": (lambda x: linalg.qr(x), (2, 4)),
    "householder": (lambda x: keyway.linalg.householder_product(x.tril(-1), x[0] * 0.3), (4, 3)),
    "eigvalsh": (symmetric(linalg.eigvalsh), (3, 3)),
    "eigh": (symmetric(lambda x: (lambda v: (v.eigenvalues, v.eigenvectors.abs()))(linalg.eigh(x))), (3, 3)),
    "eigvals": (lambda x: linalg.eigvals(x).abs().sort().values, (3, 3)),
    "eig": (lambda x: linalg.eig(x).eigenvectors.abs(), (2, 3, 3)),
    "svdvals": (linalg.svdvals, (2, 3, 4)),
    "svd": (lambda x: (lambda r: (r.U.abs(), r.S, r.Vh.abs()))(linalg.svd(x, full_matrices=False)), (2, 4, 3)),
    "svd wide": (lambda x: (lambda r: (r.U.abs(), r.S, r.Vh.abs()))(linalg.svd(x, full_matrices=False)), (2, 4)),
    "det": (keyway.det, (2, 3, 3)),
    "slogdet": (linalg.slogdet, (2, 3, 3)),
    "inv": (linalg.inv, (2, 3, 3)),
    "pinv": (linalg.pinv, (2, 4, 3)),
    "pinv wide": (linalg.pinv, (2, 3)),
    "matrix_exp": (keyway.matrix_exp, (2, 3, 3)),
    "solve": (lambda x: linalg.solve(x[..., :3], x[..., 3:]), (2, 3, 5)),
    "solve right": (lambda x: linalg.solve(x[..., :3], x[..., 3:].mT, left=False), (2, 3, 5)),
    "solve broadcast": (lambda x: linalg.solve(x[0, :, :3], x[..., 3:]), (2, 3, 5)),
    "lu_solve": (lambda x: linalg.lu_solve(*linalg.lu_factor(x[..., :3]), x[..., 3:], adjoint=True), (3, 5)),
    "triangular": (lambda x: linalg.solve_triangular(x[..., :3] + 3 * keyway.eye(3, dtype=x.dtype), x[..., 3:],
                                                     upper=True), (2, 3, 5)),
    "triangular unit": (lambda x: linalg.solve_triangular(x[..., :3], x[..., 3:].mT, upper=False, left=False,
                                                          unitriangular=True), (3, 5)),
    "lstsq": (lambda x: linalg.lstsq(x[..., :2], x[..., 2:], driver="gels").solution, (4, 3)),
    "lstsq gelsd": (lambda x: linalg.lstsq(x[..., :2], x[..., 2:], driver="gelsd").solution, (4, 3)),
    "cholesky_solve": (lambda x: keyway.cholesky_solve(x[..., 3:], linalg.cholesky(positive(3, 3, dtype=x.dtype))
                                                       + 0.1 * x[..., :3].tril()), (3, 5)),
    "nuclear norm": (lambda x: linalg.matrix_norm(x, "nuc"), (3, 2)),
    "cond": (lambda x: linalg.cond(x), (3, 3)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [keyway.float64, keyway.complex128])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_agree_with_differences(name, dtype):
    f, shape = GRADIENTS[name]
    x = matrices(*shape, dtype=dtype, seed=3).requires_grad_()
    assert keyway.autograd.gradcheck(f, (x,))


@pytest.mark.parametrize("name", ["cholesky", "qr", "eigvalsh", "svdvals", "det", "inv", "solve", "pinv", "matrix_exp"])
def test_gradients_have_gradients(name):
    f, shape = GRADIENTS[name]
    x = matrices(*shape, seed=3).requires_grad_()
    assert keyway.autograd.gradgradcheck(f, (x,))


def test_the_determinant_of_a_singular_matrix_has_a_gradient():
    x = keyway.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=keyway.float64, requires_grad=True)
    keyway.det(x).backward()
    close(x.grad, np.array([[4.0, -2.0], [-2.0, 1.0]]), keyway.float64)


def test_a_matrix_without_a_decomposition_is_an_error_of_its_own():
    singular = keyway.tensor([[1.0, 2.0], [2.0, 4.0]])
    batch = keyway.stack([keyway.eye(2), singular])
    for call, text in [
        (lambda: linalg.inv(batch), r"linalg.inv: \(batch element 1\): the diagonal element 2 of U is zero"),
        (lambda: linalg.solve(singular, keyway.ones(2)), "the equations cannot be solved"),
        (lambda: linalg.cholesky(-keyway.eye(2)), "not positive-definite"),
        (lambda: linalg.eigh(keyway.full((2, 2), math.nan)), "infinite or no numbers"),
        (lambda: linalg.svd(keyway.full((2, 2), math.inf)), "infinite or no numbers"),
        (lambda: linalg.lu_factor(keyway.zeros(1, 1)), "diagonal element 1"),
    ]:
        with pytest.raises(keyway.linalg.LinAlgError, match=text):
            call()
    assert linalg.inv_ex(batch).info.tolist() == [0, 2]
    assert issubclass(keyway.linalg.LinAlgError, RuntimeError)


def test_what_has_no_gradient_says_so():
    x = matrices(4, 2).requires_grad_()
    with pytest.raises(keyway.AutogradError, match="mode 'complete' has no gradient"):
        linalg.qr(x, "complete").Q.sum().backward()
    with pytest.raises(keyway.AutogradError, match="mode 'r' has no gradient"):
        linalg.qr(x, "r").R.sum().backward()


def test_results_go_where_they_are_wanted():
    a = positive(3, 3)
    inverse = keyway.empty(3, 3, dtype=keyway.float64)
    assert linalg.inv(a, out=inverse) is inverse
    close(inverse @ a, keyway.eye(3, dtype=keyway.float64), keyway.float64)
    values, vectors = keyway.empty(0, dtype=keyway.float64), keyway.empty(3, 3, dtype=keyway.float64)
    linalg.eigh(a, out=(values, vectors))
    close(a @ vectors, vectors * values, keyway.float64)
    with pytest.raises(keyway.Error, match="dtype"):
        linalg.cholesky(a, out=keyway.empty(3, 3))


def test_matrices_without_data_have_results_without_data():
    a = keyway.empty(2, 4, 3, device="meta")
    assert linalg.svd(a).U.shape == (2, 4, 4) and linalg.qr(a).R.shape == (2, 3, 3)
    assert linalg.inv(a[:, :3]).shape == (2, 3, 3) and linalg.lstsq(a, a).solution.shape == (2, 3, 3)
    assert linalg.eig(a[:, :3]).eigenvalues.dtype is keyway.complex64


@pytest.mark.parametrize("vectors", [lambda x: linalg.eigh(x).eigenvectors, lambda x: linalg.eig(x).eigenvectors,
                                     lambda x: linalg.svd(x).U])  # fmt: skip
def test_what_depends_on_the_angles_of_complex_vectors_has_no_gradient(vectors):
    x = positive(3, 3, dtype=keyway.complex128).requires_grad_()
    with pytest.raises(keyway.AutogradError, match="angles"):
        vectors(x).imag.sum().backward()


def test_a_library_that_is_missing_is_named_with_what_to_install():
    program = "import keyway\ntry:\n    keyway.linalg.inv(keyway.eye(2))\nexcept keyway.NotImplementedError as e:\n    print(e)"
    run = subprocess.run([sys.executable, "-c", program], env=os.environ | {"KEYWAY_LAPACK": "libnone.so"}, text=True,
                         stdout=subprocess.PIPE, check=True)  # fmt: skip
    assert "need LAPACK: libnone.so: cannot open" in run.stdout and "install liblapack3" in run.stdout


@pytest.mark.parametrize("dtype", [keyway.float16, keyway.bfloat16])
@pytest.mark.parametrize(("size", "value", "scale"), [(8, 1e-3, 1e3), (3600, 1000.0, 1e-3), (3, 0.0, 1e4)])
def test_gradients_of_norms_of_16_bits_stay_in_range(dtype, size, value, scale):
    """The elements are divided by the norm before they meet the gradient."""
    x = keyway.full((2, size), value, dtype=dtype, requires_grad=True)
    (keyway.linalg.vector_norm(x, dim=1) * scale).sum().backward()
    wanted = scale / size ** 0.5 if value else 0.0
    keyway.testing.assert_close(x.grad, keyway.full_like(x, wanted), rtol=0.02, atol=1e-6)
    for function in (lambda x: x.norm(dim=1), lambda x: keyway.nn.functional.pairwise_distance(x, x.detach() * 0)):
        y = x.detach().requires_grad_()
        (function(y) * scale).sum().backward()
        assert y.grad.isfinite().all()


@pytest.mark.parametrize("matrix", [[[2.0] * 17] * 17, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]])
def test_too_few_eigenvectors_are_no_error_of_the_gradient(matrix):
    x = keyway.tensor(matrix, requires_grad=True)
    linalg.eig(x)[0].abs().sum().backward()
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("uplo", ["L", "U"])
@pytest.mark.parametrize("dtype", [keyway.float32, keyway.complex128])
def test_eigh_reads_one_triangle(uplo, dtype):
    full = keyway.tensor([[2.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 1.0]], dtype=dtype)
    unread = keyway.ones(3, 3).triu(1) if uplo == "L" else keyway.ones(3, 3).tril(-1)
    for strange in (float("nan"), float("inf")):
        half = full.masked_fill(unread.bool(), strange)
        keyway.testing.assert_close(keyway.linalg.eigvalsh(half, UPLO=uplo), keyway.linalg.eigvalsh(full))
        values, vectors = keyway.linalg.eigh(half, UPLO=uplo)
        keyway.testing.assert_close(vectors @ keyway.diag(values).to(dtype=dtype) @ vectors.mH, full)
        with pytest.raises(keyway.LinAlgError):
            keyway.linalg.eigh(half, UPLO="U" if uplo == "L" else "L")


# The least column sum, row sum or singular value of none.
LEAST_OF_NONE = {
    (-1, (0, 0)): "least sum over columns, but matrices of 0 x 0 have none",
    (-1, (2, 3, 0)): "least sum over columns, but matrices of 3 x 0 have none",
    (-math.inf, (0, 0)): "least sum over rows, but matrices of 0 x 0 have none",
    (-math.inf, (0, 3)): "least sum over rows, but matrices of 0 x 3 have none",
    (-2, (0, 0)): "least singular value, but matrices of 0 x 0 have none",
    (-2, (0, 3)): "least singular value, but matrices of 0 x 3 have none",
    (-2, (2, 3, 0)): "least singular value, but matrices of 3 x 0 have none",
}


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 3, 0)])
def test_norms_of_matrices_without_elements_are_zero_but_for_the_least_of_none(shape, order, keepdim):
    matrices = keyway.zeros(*shape, requires_grad=True)
    for norm in (linalg.matrix_norm, lambda x, order, keepdim: linalg.norm(x, order, (-2, -1), keepdim)):
        if (order, shape) in LEAST_OF_NONE:
            with pytest.raises(keyway.ValueError, match=LEAST_OF_NONE[order, shape]):
                norm(matrices, order, keepdim=keepdim)
            continue
        result = norm(matrices, order, keepdim=keepdim)
        assert result.shape == ((*shape[:-2], 1, 1) if keepdim else shape[:-2])
        assert (result == 0).all()
        result.sum().backward()
        assert matrices.grad.shape == shape


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf])
def test_condition_numbers_of_matrices_without_elements_are_zero(order):
    assert linalg.cond(keyway.zeros(0, 0), order).item() == 0
    assert linalg.cond(keyway.zeros(2, 0, 0), order).tolist() == [0, 0]
    if order in ("fro", "nuc"):
        with pytest.raises(keyway.ValueError, match="matrices are square"):
            linalg.cond(keyway.zeros(0, 3), order)
    else:
        assert linalg.cond(keyway.zeros(0, 3), order).item() == 0
