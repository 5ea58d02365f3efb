"""What calls are refused, and with which of Python's exceptions, as PyTorch has it; and what is not refused."""

import keyway
import pytest


def grid():
    return keyway.arange(6.0).view(2, 3)


LONG = keyway.tensor([0, 1])

# --- Errors of indices


@pytest.mark.parametrize("call", [
    lambda x: x.select(0, 2), lambda x: x.select(1, -4), lambda x: x.sum().select(0, 0), lambda x: x.sum().unbind(),
    lambda x: x.sum().slice_scatter(x.sum()), lambda x: x.select_scatter(x[0], 0, 5),
    lambda x: x.narrow(0, 3, 0), lambda x: x.index_select(0, keyway.zeros(1, 1, dtype=keyway.int64)),
    lambda x: x.index_copy(0, LONG, x[:1]), lambda x: x.index_add(0, keyway.zeros(1, 1, dtype=keyway.int64), x),
    lambda x: x.index_put((LONG, LONG, LONG), x), lambda x: x.index_put((x,), x),
    lambda x: x.index_put((LONG, keyway.tensor([0, 1, 0])), x[0, 0]),
    lambda x: x[:0].argmax(), lambda x: x[:0].argmin(0), lambda x: x[:0].max(0), lambda x: x[:0].min(0),
    lambda x: x[:0].amax(0), lambda x: x[:0].amin()])
def test_what_is_not_there_is_an_error_of_the_index(call):
    with pytest.raises(keyway.IndexError):
        call(grid())


def test_a_length_that_does_not_fit_is_no_error_of_the_index():
    with pytest.raises(keyway.ValueError, match="narrow: requires"):
        grid().narrow(1, 2, 2)


@pytest.mark.parametrize("call", [lambda x: x.size(True), lambda x: x.stride(False), lambda x: x.size(0.5)])
def test_a_dimension_is_an_integer_and_no_bool(call):
    with pytest.raises(keyway.TypeError, match="must be int, not"):
        call(grid())


def test_a_bool_counts_as_a_floating_argument():
    x = keyway.ones(3)
    assert keyway.dropout(x, True, True).tolist() == [0.0] * 3
    assert x.bernoulli(True).tolist() == [1.0] * 3
    assert 0 <= x.uniform_(False, True).sum().item() <= 3


@pytest.mark.parametrize("argument, call", [
    ("out", lambda x: keyway.frexp(x, out=(x, 3))), ("out", lambda x: keyway.complex(x, x, out=3)),
    ("out", lambda x: keyway.norm(x, out=3)), ("out", lambda x: keyway.matrix_power(x[:, :2], 2, out=3)),
    ("out", lambda x: keyway.view_copy(x, (6,), out=3)), ("out", lambda x: keyway.unbind_copy(x, out=(x, 3))),
    ("out", lambda x: keyway.linalg.cond(x, out=3)), ("out", lambda x: keyway.linalg.matrix_norm(x, 1, out=3)),
    ("out", lambda x: keyway.fft.fftn(x, out=3)), ("out", lambda x: keyway.fft.irfft(x, out=3)),
    ("input", lambda x: keyway.is_same_size(3, x)), ("other", lambda x: keyway.is_same_size(x, 3)),
    ("the_template", lambda x: x.resize_as_(3)), ("other", lambda x: x.reshape_as(3)),
    ("imag", lambda x: keyway.complex(x, 3)),
    ("y", lambda x: keyway.linalg.vecdot(x, 3)), ("A", lambda x: keyway.linalg.diagonal(3)),
    ("grid", lambda x: keyway.nn.functional.grid_sample(x.view(1, 1, 2, 3), 3)),
    ("weight", lambda x: keyway.nn.functional.embedding(LONG, 3)),
    ("x", lambda x: x.map2_(3, x, lambda a, b, c: a)), ("y", lambda x: x.map2_(x, 3, lambda a, b, c: a))])
def test_the_argument_that_is_no_tensor_is_named(argument, call):
    with pytest.raises(keyway.TypeError, match=rf"\(\): argument '{argument}' must be Tensor, not int"):
        call(grid())


# --- Tensors for results


@pytest.mark.parametrize("call", [
    lambda x, out: keyway.abs(x, out=out), lambda x, out: keyway.floor(x, out=out),
    lambda x, out: keyway.neg(x, out=out), lambda x, out: keyway.clamp(x, 0, 1, out=out),
    lambda x, out: keyway.amax(x, 0, out=out), lambda x, out: keyway.argmax(x, 0, out=out),
    lambda x, out: keyway.mm(x, x.t(), out=out), lambda x, out: keyway.msort(x, out=out),
    lambda x, out: keyway.softmax(x, 0, out=out), lambda x, out: keyway.gather(x, 0, LONG.view(1, 2), out=out),
    lambda x, out: keyway.index_select(x, 0, LONG, out=out), lambda x, out: keyway.nonzero(x, out=out),
    lambda x, out: keyway.masked_select(x, x > 1, out=out), lambda x, out: keyway.tril(x, out=out),
    lambda x, out: keyway.max(x, 0, out=(out, LONG.clone())), lambda x, out: keyway.sort(x, out=(out, LONG.clone())),
    lambda x, out: keyway.any(x, 0, out=out), lambda x, out: keyway.sum(x, 0, dtype=keyway.float32, out=out),
    lambda x, out: keyway.clamp_min(x, 0, out=out), lambda x, out: keyway.matmul(x, x.t(), out=out),
    lambda x, out: keyway.pow(x, 2, out=out), lambda x, out: keyway.nan_to_num(x, out=out),
    lambda x, out: keyway.take(x, keyway.tensor([0]), out=out)])
def test_a_result_that_is_not_promoted_goes_into_its_own_dtype_only(call):
    out = keyway.full((2,), 7.0, dtype=keyway.float64)
    with pytest.raises(keyway.TypeError, match="must have the result's dtype|must be bool or uint8"):
        call(grid(), out)
    assert out.tolist() == [7.0, 7.0]


@pytest.mark.parametrize("call", [
    lambda x, out: keyway.add(x, x, out=out), lambda x, out: keyway.mul(x, 2, out=out),
    lambda x, out: keyway.exp(x, out=out), lambda x, out: keyway.lt(x, 1, out=out),
    lambda x, out: keyway.logical_not(x, out=out), lambda x, out: keyway.cat([x, x], out=out),
    lambda x, out: keyway.mean(x, 0, out=out), lambda x, out: keyway.std(x, 0, out=out)])
def test_a_result_that_is_promoted_goes_into_what_it_converts_to(call):
    out = keyway.empty(0, dtype=keyway.float64)
    call(grid(), out)
    assert out.dtype is keyway.float64 and out.numel() > 0
    with pytest.raises(keyway.TypeError, match="cannot be stored"):
        keyway.add(grid(), 1, out=keyway.empty(0, dtype=keyway.int64))


@pytest.mark.parametrize("call, value", [(keyway.sum, 3), (keyway.prod, 2)])
def test_sums_and_products_are_computed_in_the_dtype_of_their_tensor(call, value):
    x = keyway.tensor([[1.5, 2.5]])
    assert call(x, 1, out=keyway.empty(0, dtype=keyway.int64)).tolist() == [value]
    assert call(x, 1, out=keyway.empty(0, dtype=keyway.float64)).dtype is keyway.float64
    with pytest.raises(keyway.TypeError):
        call(x.to(keyway.complex64), 1, out=keyway.empty(0))


def test_an_in_place_scan_keeps_its_dtype():
    x = keyway.ones(3)
    with pytest.raises(keyway.TypeError, match="argument 'dtype' is float64"):
        x.cumsum_(0, dtype=keyway.float64)
    assert x.cumsum_(0, dtype=keyway.float32).tolist() == [1.0, 2.0, 3.0]
    assert keyway.ones(3, dtype=keyway.int32).cumsum_(0).tolist() == [1, 2, 3]


@pytest.mark.parametrize("call", [
    lambda x: x.add(1, out=None), lambda x: keyway.reshape(x, (-1,), out=None), lambda x: keyway.randint(0, 2, (1,), nosuch=1)])
def test_out_is_no_argument_where_nothing_takes_it(call):
    with pytest.raises(keyway.TypeError):
        call(grid())


@pytest.mark.parametrize("call", [
    lambda x: x.tril(), lambda x: keyway.addbmm(x, x, x), lambda x: keyway.nn.functional.avg_pool2d(x, 1),
    lambda x: keyway.index_fill(x, 0, keyway.tensor([0.0]), 1.0)])
def test_dimensions_that_are_not_there_are_indices_out_of_range(call):
    with pytest.raises(IndexError):
        call(keyway.ones(2))


def test_a_norm_goes_into_what_is_copied_to():
    out = keyway.empty(0, dtype=keyway.float64)
    assert keyway.norm(grid(), dim=1, out=out) is out and out.shape == grid().shape[:1]


def test_bools_are_not_subtracted_from():
    with pytest.raises(RuntimeError, match="bool"):
        True - keyway.ones(2)
    with pytest.raises(RuntimeError):
        keyway.fill(keyway.zeros(2), keyway.tensor(1j))


def test_a_dtype_that_an_operator_is_not_there_for_is_a_type_error_and_not_implemented():
    for refused in (lambda: keyway.tensor([1j]).atan2(keyway.tensor([1.0])), lambda: -keyway.tensor([True]),
                    lambda: keyway.tensor([1, 2]).mean(), lambda: keyway.zeros(2, dtype=keyway.bool).log_normal_()):
        with pytest.raises(keyway.DtypeError) as caught:
            refused()
        assert isinstance(caught.value, keyway.TypeError) and isinstance(caught.value, NotImplementedError)


def test_a_float_may_be_an_integer_beyond_64_bits():
    x = keyway.zeros(3)
    assert x.uniform_(2**70, 2**71).min() >= 2.0**70
    with pytest.raises(OverflowError):
        x.uniform_(0, 10**400)
