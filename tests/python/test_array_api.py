"""keyway.array_api, walked: every name of the standard is there and gives what NumPy gives."""

import inspect

import numpy as np
import pytest

import keyway
import keyway.array_api as xp

# The standard's functions of 2023.12.
STANDARD = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or
bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater
greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not
logical_or logical_xor maximum minimum multiply negative not_equal positive pow real remainder round sign signbit sin
sinh sqrt square subtract tan tanh trunc
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
zeros_like astype broadcast_arrays broadcast_to can_cast finfo iinfo isdtype result_type
take matmul matrix_transpose tensordot vecdot
concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack
argmax argmin nonzero searchsorted where unique_all unique_counts unique_inverse unique_values argsort sort
cumulative_sum max mean min prod std sum var all any __array_namespace_info__
""".split()

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
INTS, SMALL = RNG.integers(-5, 5, size=(3, 4)), RNG.integers(1, 5, size=(3, 4))
TRUTH = INTS > 0
COMPLEX = X + 1j * Y
CUBE = RNG.normal(size=(2, 3, 4))


def tensors(things):
    return [keyway.tensor(thing) if isinstance(thing, np.ndarray) else thing for thing in things]


def compare(mine, its):
    if isinstance(its, (tuple, list)):
        assert len(mine) == len(its)
        for a, b in zip(mine, its):
            compare(a, b)
        return
    assert isinstance(mine, keyway.Tensor)
    its = np.asarray(its)
    assert tuple(mine.shape) == its.shape
    assert mine.dtype is getattr(keyway, its.dtype.name)
    np.testing.assert_allclose(mine.numpy(), its, rtol=1e-12, atol=1e-12)


def test_every_name_of_the_standard_is_there():
    assert [name for name in STANDARD if not hasattr(xp, name)] == []
    assert set(STANDARD) <= set(xp.__all__) and all(hasattr(xp, name) for name in xp.__all__)
    for name in ("e", "inf", "nan", "newaxis", "pi", "bool", "int8", "uint64", "float32", "complex128"):
        assert hasattr(xp, name)
    assert xp.__array_api_version__ == "2023.12"


def test_every_function_is_documented():
    assert [name for name in STANDARD if not inspect.getdoc(getattr(xp, name))] == []


UNARY = {
    "abs ceil floor round trunc negative positive sign square isfinite isinf isnan": (X, INTS),
    "exp sin cos tan tanh sqrt log cosh sinh asinh log2 log10": (np.abs(X), COMPLEX),
    "expm1 signbit atan": (X, X * 20),
    "log1p": (np.abs(X),),
    "acosh": (1 + np.abs(X) * 1000, COMPLEX),
    "atanh asin acos": (np.tanh(X), COMPLEX),
    "bitwise_invert": (INTS, TRUTH),
    "logical_not": (TRUTH,),
}


def each(table):
    return [(name, data) for names, every in table.items() for name in names.split() for data in every]


@pytest.mark.parametrize("name, data", each(UNARY))
def test_functions_of_one_array(name, data):
    theirs = "arc" + name[1:] if name in ("acos", "acosh", "asin", "asinh", "atan", "atanh") else name
    compare(getattr(xp, name)(keyway.tensor(data)), getattr(np, theirs)(data))


BINARY = {
    "add subtract multiply maximum minimum remainder floor_divide": ((X, Y), (INTS, SMALL)),
    "equal not_equal less less_equal greater greater_equal": ((X, Y), (INTS, SMALL)),
    "divide hypot logaddexp copysign": ((X, Y),),
    "bitwise_and bitwise_or bitwise_xor": ((INTS, SMALL), (TRUTH, ~TRUTH)),
    "bitwise_left_shift bitwise_right_shift": ((INTS, SMALL),),
    "logical_and logical_or logical_xor": ((TRUTH, ~TRUTH),),
}  # fmt: skip


@pytest.mark.parametrize("name, data", each(BINARY))
def test_functions_of_two_arrays(name, data):
    compare(getattr(xp, name)(*tensors(data)), getattr(np, name)(*data))


@pytest.mark.parametrize("name", ["hypot", "logaddexp", "copysign"])
def test_functions_of_two_arrays_at_infinities_and_zeros(name):
    a, b = np.meshgrid([np.inf, -np.inf, 1, 0.0, -0.0, 1e300], [np.inf, -np.inf, 1, 0.0, -0.0, 1e300])
    compare(getattr(xp, name)(*tensors((a.copy(), b.copy()))), getattr(np, name)(a, b))


@pytest.mark.parametrize("name", ["sinh", "cosh", "asinh", "acosh"])
def test_hyperbolic_functions_overflow_where_they_must_and_only_there(name):
    data = np.array([1.0, 30, 300, 709.5, 1e9, 1e200, np.inf])
    with np.errstate(over="ignore"):
        its = getattr(np, {"asinh": "arcsinh", "acosh": "arccosh"}.get(name, name))(data)
    np.testing.assert_allclose(getattr(xp, name)(keyway.tensor(data)).numpy(), its, rtol=1e-12)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (2, 0, 1), ()])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "all", "any"])
def test_reductions(name, axis, keepdims):
    compare(getattr(xp, name)(keyway.tensor(CUBE), axis=axis, keepdims=keepdims),
            getattr(np, name)(CUBE, axis=axis, keepdims=keepdims))  # fmt: skip


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "all", "any"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_reductions_of_integers(name, dtype):
    data = np.abs(INTS).astype(dtype)
    compare(getattr(xp, name)(keyway.tensor(data), axis=0), getattr(np, name)(data, axis=0))


def test_reductions_of_nothing():
    compare(xp.sum(xp.zeros((0, 3), dtype=xp.float64), axis=0), np.zeros(3))
    compare(xp.prod(xp.zeros((0, 3), dtype=xp.float64), axis=0), np.ones(3))
    compare(xp.all(xp.zeros((0, 3)), axis=0), np.ones(3, bool))
    compare(xp.any(xp.zeros((0, 3)), axis=0), np.zeros(3, bool))
    with pytest.raises(keyway.Error):
        xp.max(xp.zeros((0, 3)), axis=0)


CASES = [
    ("clip", (X, -0.5, Y), lambda: np.clip(X, -0.5, Y)),
    ("clip", (INTS, None, 2), lambda: np.clip(INTS, None, 2)),
    ("pow", (X, 2), lambda: X**2),
    ("pow", (np.abs(X), Y), lambda: np.abs(X) ** Y),
    ("atan2", (X, Y), lambda: np.arctan2(X, Y)),
    ("concat", ([X, Y],), lambda: np.concatenate([X, Y])),
    ("expand_dims", (CUBE,), lambda: CUBE[None]),
    ("flip", (CUBE,), lambda: np.flip(CUBE)),
    ("moveaxis", (CUBE, (0, -1), (1, 0)), lambda: np.moveaxis(CUBE, (0, -1), (1, 0))),
    ("moveaxis", (CUBE, 0, -1), lambda: np.moveaxis(CUBE, 0, -1)),
    ("permute_dims", (CUBE, (2, 0, 1)), lambda: CUBE.transpose(2, 0, 1)),
    ("repeat", (CUBE, 3), lambda: np.repeat(CUBE, 3)),
    ("reshape", (CUBE, (4, -1)), lambda: CUBE.reshape(4, -1)),
    ("roll", (CUBE, 7), lambda: np.roll(CUBE, 7)),
    ("stack", ([X, Y],), lambda: np.stack([X, Y])),
    ("tile", (X, (2, 1, 3)), lambda: np.tile(X, (2, 1, 3))),
    ("tile", (X, (2,)), lambda: np.tile(X, (2,))),
    ("unstack", (CUBE,), lambda: list(CUBE)),
    ("broadcast_to", (X, (2, 3, 4)), lambda: np.broadcast_to(X, (2, 3, 4))),
    ("broadcast_arrays", (X, CUBE[:, :1, :1]), lambda: np.broadcast_arrays(X, CUBE[:, :1, :1])),
    ("matmul", (X, Y.T.copy()), lambda: X @ Y.T),
    ("matrix_transpose", (CUBE,), lambda: CUBE.swapaxes(-1, -2)),
    ("tensordot", (X, Y), lambda: np.tensordot(X, Y)),
    ("vecdot", (X, Y), lambda: (X * Y).sum(-1)),
    ("conj", (COMPLEX,), lambda: COMPLEX.conj()),
    ("imag", (COMPLEX,), lambda: COMPLEX.imag),
    ("real", (COMPLEX,), lambda: COMPLEX.real),
    ("vecdot", (COMPLEX, COMPLEX), lambda: (COMPLEX.conj() * COMPLEX).sum(-1)),
    ("vecdot", (INTS, SMALL), lambda: (INTS * SMALL).sum(-1)),
    ("nonzero", (INTS,), lambda: np.nonzero(INTS)),
    ("where", (TRUTH, X, Y), lambda: np.where(TRUTH, X, Y)),
    ("sort", (INTS,), lambda: np.sort(INTS)),
    ("argsort", (INTS,), lambda: np.argsort(INTS, kind="stable")),
    ("argmax", (X,), lambda: np.argmax(X)),
    ("argmin", (X,), lambda: np.argmin(X)),
    ("unique_values", (INTS,), lambda: np.unique(INTS)),
    ("unique_counts", (INTS,), lambda: np.unique(INTS, return_counts=True)),
    ("unique_inverse", (INTS,), lambda: np.unique(INTS, return_inverse=True)),
    ("arange", (5,), lambda: np.arange(5)),
    ("arange", (5, 1), lambda: np.arange(5, 1)),
    ("arange", (5, 1, -2), lambda: np.arange(5, 1, -2)),
    ("tril", (X,), lambda: np.tril(X)),
    ("triu", (X,), lambda: np.triu(X)),
    ("astype", (X, keyway.int64), lambda: X.astype(np.int64)),
    ("meshgrid", (X[0], Y[0], X[1, :2]), lambda: np.meshgrid(X[0], Y[0], X[1, :2])),
]


@pytest.mark.parametrize("name, given, its", CASES)
def test_other_functions(name, given, its):
    given = [tensors(thing) if isinstance(thing, list) else thing for thing in given]
    compare(getattr(xp, name)(*tensors(given)), its())


AXIS_CASES = [
    ("concat", ([X, Y],), {"axis": 1}, lambda: np.concatenate([X, Y], 1)),
    ("concat", ([X, INTS],), {"axis": None}, lambda: np.concatenate([X, INTS], None)),
    ("expand_dims", (CUBE,), {"axis": -1}, lambda: CUBE[..., None]),
    ("flip", (CUBE,), {"axis": (0, -1)}, lambda: np.flip(CUBE, (0, -1))),
    ("repeat", (CUBE, np.array([0, 2, 1])), {"axis": 1}, lambda: np.repeat(CUBE, [0, 2, 1], axis=1)),
    ("repeat", (CUBE, 0), {"axis": -1}, lambda: np.repeat(CUBE, 0, axis=-1)),
    ("roll", (CUBE, (1, -2)), {"axis": (0, 2)}, lambda: np.roll(CUBE, (1, -2), (0, 2))),
    ("roll", (CUBE, 1), {"axis": 1}, lambda: np.roll(CUBE, 1, 1)),
    ("squeeze", (CUBE[:1, :, :1],), {"axis": (0, 2)}, lambda: CUBE[0, :, 0]),
    ("stack", ([X, Y],), {"axis": -1}, lambda: np.stack([X, Y], -1)),
    ("unstack", (CUBE,), {"axis": 1}, lambda: list(np.moveaxis(CUBE, 1, 0))),
    ("take", (CUBE, np.array([2, -1, 0])), {"axis": 1}, lambda: np.take(CUBE, [2, -1, 0], 1)),
    ("tensordot", (X, CUBE), {"axes": ((0, 1), (1, 2))}, lambda: np.tensordot(X, CUBE, ((0, 1), (1, 2)))),
    ("tensordot", (X, Y), {"axes": 0}, lambda: np.tensordot(X, Y, 0)),
    ("vecdot", (X, Y), {"axis": 0}, lambda: (X * Y).sum(0)),
    ("argmax", (CUBE,), {"axis": 1, "keepdims": True}, lambda: np.argmax(CUBE, 1, keepdims=True)),
    ("argmin", (CUBE,), {"axis": -1}, lambda: np.argmin(CUBE, -1)),
    ("sort", (INTS,), {"axis": 0, "descending": True}, lambda: -np.sort(-INTS, 0)),
    ("argsort", (INTS,), {"descending": True}, lambda: np.argsort(-INTS, kind="stable")),
    ("std", (X,), {"correction": 1}, lambda: np.std(X, ddof=1)),
    ("sum", (SMALL.astype("uint8"),), {"dtype": keyway.float64}, lambda: SMALL.sum(dtype=float)),
    ("cumulative_sum", (X,), {"axis": 1}, lambda: np.cumsum(X, 1)),
    ("cumulative_sum", (INTS[0].astype("int8"),), {"include_initial": True},
     lambda: np.concatenate([[0], np.cumsum(INTS[0])])),
    ("eye", (3, 4), {"k": 1, "dtype": keyway.float64}, lambda: np.eye(3, 4, 1)),
    ("full", (3, 7), {"dtype": keyway.uint8}, lambda: np.full(3, 7, "uint8")),
    ("linspace", (1, 7, 5), {"dtype": keyway.float64}, lambda: np.linspace(1, 7, 5)),
    ("linspace", (1, 7, 5), {"dtype": keyway.float64, "endpoint": False}, lambda: np.linspace(1, 7, 5, False)),
    ("linspace", (1, 7, 1), {"dtype": keyway.float64}, lambda: np.linspace(1, 7, 1)),
    ("linspace", (1, 7j, 4), {"dtype": keyway.complex128}, lambda: np.linspace(1, 7j, 4)),
    ("meshgrid", (X[0], Y[0, :2]), {"indexing": "ij"}, lambda: np.meshgrid(X[0], Y[0, :2], indexing="ij")),
]  # fmt: skip


@pytest.mark.parametrize("name, given, keywords, its", AXIS_CASES)
def test_other_functions_with_keywords(name, given, keywords, its):
    given = [tensors(thing) if isinstance(thing, list) else thing for thing in given]
    compare(getattr(xp, name)(*tensors(given), **keywords), its())


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side):
    data, wanted = np.sort(RNG.integers(0, 9, 20)), RNG.integers(-1, 11, (4, 5))
    order = RNG.permutation(20)
    compare(xp.searchsorted(*tensors((data, wanted)), side=side), np.searchsorted(data, wanted, side))
    compare(xp.searchsorted(*tensors((data[order], wanted)), side=side, sorter=keyway.tensor(np.argsort(order))),
            np.searchsorted(data, wanted, side))  # fmt: skip


@pytest.mark.parametrize("data", [INTS, X, TRUTH, np.array([np.nan, 1, np.nan, 1]), np.zeros(0), np.array(3)])
def test_unique_all(data):
    values, indices, inverse, counts = np.unique(
        data, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    result = xp.unique_all(keyway.tensor(data))
    assert result._fields == ("values", "indices", "inverse_indices", "counts")
    compare(tuple(result), (values, indices, inverse.reshape(data.shape), counts))


@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128"])
def test_finfo(name):
    mine, its = xp.finfo(getattr(xp, name)), np.finfo(name)
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(mine, field) == getattr(its, field)
    assert mine.dtype is getattr(xp, its.dtype.name)


@pytest.mark.parametrize("name", ["int8", "int64", "uint16", "uint64"])
def test_iinfo(name):
    mine, its = xp.iinfo(xp.zeros(1, dtype=getattr(xp, name))), np.iinfo(name)
    assert (mine.bits, mine.max, mine.min) == (its.bits, its.max, its.min) and mine.dtype is getattr(xp, name)


def test_dtypes_are_promoted_and_asked_for_their_kind():
    assert xp.result_type(xp.int8, xp.zeros(1, dtype=xp.uint8)) is xp.int16
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.int64, xp.int8)
    assert xp.isdtype(xp.int8, "integral") and xp.isdtype(xp.int8, (xp.bool, "signed integer"))
    assert not xp.isdtype(xp.bool, "numeric")
    with pytest.raises(keyway.ValueError):
        xp.isdtype(xp.int8, "big")
    with pytest.raises(keyway.ValueError):
        xp.result_type()


def test_arrays_lead_to_their_namespace():
    assert keyway.ones(2).__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(keyway.ValueError):
        keyway.ones(2).__array_namespace__(api_version="1999.01")
    assert keyway.ones(2).to_device("meta").is_meta
    with pytest.raises(keyway.NotImplementedError):
        keyway.ones(2).to_device("cpu", stream=1)


def test_the_namespace_says_what_it_has():
    info = xp.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] and info.default_device() in info.devices()
    assert info.default_dtypes()["integral"] is xp.int64
    assert info.dtypes(kind="unsigned integer") == {n: getattr(xp, n) for n in ("uint8", "uint16", "uint32", "uint64")}
    assert len(info.dtypes()) == 13


def test_asarray_takes_numbers_arrays_and_buffers_by_their_own_dtype():
    import array

    assert xp.asarray([[1, 2.5]]).dtype is xp.float32
    assert xp.asarray(array.array("h", [1, 2])).dtype is xp.int16
    assert xp.asarray(memoryview(np.ones((2, 3), np.float32))).shape == (2, 3)
    data = np.zeros(2)
    xp.asarray(data, copy=False).add_(1)
    assert data.tolist() == [1, 1]


@pytest.mark.parametrize(
    "call",
    [
        lambda: xp.squeeze(keyway.tensor(X), 0),
        lambda: xp.sum(keyway.tensor(X), axis=(0, 0)),
        lambda: xp.sum(keyway.tensor(X), axis=2),
        lambda: xp.tensordot(keyway.tensor(X), keyway.tensor(Y), axes=1),
        lambda: xp.cumulative_sum(keyway.tensor(X)),
        lambda: xp.take(keyway.tensor(X), keyway.tensor([0])),
        lambda: xp.searchsorted(keyway.tensor(X), keyway.tensor(Y)),
        lambda: xp.searchsorted(keyway.tensor(X[0]), keyway.tensor(Y), side="middle"),
        lambda: xp.meshgrid(keyway.ones(2), indexing="yx"),
        lambda: xp.linspace(0, 1, -1),
        lambda: xp.repeat(keyway.tensor(X), -1),
        lambda: xp.moveaxis(keyway.tensor(X), (0, 1), 0),
        lambda: xp.nonzero(keyway.tensor(1)),
        lambda: xp.broadcast_arrays(keyway.ones(2), keyway.ones(3)),
        lambda: xp.finfo(xp.int8),
        lambda: xp.iinfo(xp.float32),
    ],
)
def test_what_cannot_be_is_refused(call):
    with pytest.raises(keyway.Error):
        call()


SQUARES = RNG.normal(size=(2, 3, 3))
POSITIVE = SQUARES @ SQUARES.transpose(0, 2, 1) + np.eye(3)


@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("cholesky", [POSITIVE], {}), ("cross", [SQUARES, SQUARES + 1], {"axis": 1}), ("det", [SQUARES], {}),
        ("diagonal", [CUBE], {"offset": 1}), ("eigvalsh", [POSITIVE], {}), ("inv", [SQUARES], {}),
        ("matmul", [SQUARES, SQUARES], {}), ("matrix_norm", [CUBE], {}), ("matrix_norm", [CUBE], {"ord": 2, "keepdims": True}),
        ("matrix_power", [SQUARES, -2], {}), ("matrix_rank", [CUBE], {}), ("matrix_rank", [CUBE], {"rtol": 0.5}),
        ("matrix_transpose", [CUBE], {}), ("outer", [X[0], Y[0]], {}), ("pinv", [CUBE], {}), ("pinv", [CUBE], {"rtol": 0.5}),
        ("slogdet", [SQUARES], {}), ("solve", [SQUARES, X[:, :3]], {}), ("solve", [SQUARES, X[0, :3]], {}),
        ("svdvals", [CUBE], {}), ("tensordot", [X, Y], {"axes": ((1,), (1,))}), ("trace", [CUBE], {"offset": -1}),
        ("vecdot", [X, Y], {}), ("vector_norm", [CUBE], {}), ("vector_norm", [CUBE], {"axis": 1, "ord": 1, "keepdims": True}),
    ],
)  # fmt: skip
def test_the_linear_algebra_extension_gives_what_numpy_gives(name, given, options):
    compare(getattr(xp.linalg, name)(*tensors(given), **options), getattr(np.linalg, name)(*given, **options))


def test_decompositions_of_the_extension_are_what_they_are_of():
    x, p = keyway.tensor(CUBE), keyway.tensor(POSITIVE)
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    compare(u * s.unsqueeze(-2) @ vh, CUBE)
    q, r = xp.linalg.qr(x)
    compare(q @ r, CUBE)
    values, vectors = xp.linalg.eigh(p)
    compare(vectors * values.unsqueeze(-2) @ vectors.mT, POSITIVE)
    assert all(inspect.getdoc(getattr(xp.linalg, name)) for name in xp.linalg.__all__)


@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("fft", [COMPLEX], {"n": 5, "axis": 0}), ("ifft", [COMPLEX], {"norm": "ortho"}), ("rfft", [X], {}),
        ("irfft", [COMPLEX], {"n": 5}), ("hfft", [COMPLEX], {}), ("ihfft", [X], {}), ("fftn", [COMPLEX], {"axes": (0, 1)}),
        ("ifftn", [COMPLEX], {"s": (2, 5), "axes": (0, 1)}), ("rfftn", [X], {}), ("irfftn", [COMPLEX], {}),
        ("fftshift", [X], {"axes": 1}), ("ifftshift", [X], {}),
    ],
)  # fmt: skip
def test_the_fourier_extension_gives_what_numpy_gives(name, given, options):
    compare(getattr(xp.fft, name)(*tensors(given), **options), getattr(np.fft, name)(*given, **options))
    assert all(inspect.getdoc(getattr(xp.fft, name)) for name in xp.fft.__all__)


def test_frequencies_are_numpys():
    compare(xp.fft.fftfreq(5, d=0.5, dtype=keyway.float64), np.fft.fftfreq(5, 0.5))
    compare(xp.fft.rfftfreq(6, dtype=keyway.float64), np.fft.rfftfreq(6))
