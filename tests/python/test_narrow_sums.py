"""Sums of 16-bit floats are kept wide and rounded once, whatever operator makes them: between the elements and the result
nothing has fewer bits than the sum."""
import math

import pytest

import keyway
import keyway.nn.functional as F

NARROW = [keyway.bfloat16, keyway.float16]
MANY = 3000  # of ones, a sum that rounds at each term would stop at 256 or 2048


def indices(n=MANY):
    return keyway.arange(n) % 3


def gradient(function, weights):
    """The gradient of sum(function(x) * weights) by three elements x."""

    def of(make):
        x = make(3).requires_grad_()
        return keyway.autograd.grad((function(x) * make(*weights)).sum(), x)[0]

    return of


SUMS = {
    "index_add": lambda make: make(4).index_add(0, indices(), make(MANY)),
    "index_add of rows": lambda make: make(4, 5).index_add(0, indices(), make(MANY, 5), alpha=0.25),
    "index_add of columns": lambda make: make(5, 4).index_add(1, indices(), make(5, MANY)),
    "index_add of a transposed table": lambda make: make(5, 4).t().index_add(0, indices(), make(MANY, 5)),
    "scatter_add": lambda make: make(4).scatter_add(0, indices(), make(MANY)),
    "scatter_add across": lambda make: make(4, 5).scatter_add(0, indices()[:, None].expand(MANY, 5), make(MANY, 5)),
    "scatter": lambda make: make(4).scatter(0, indices(), make(MANY), reduce="add"),
    "scatter of a number": lambda make: make(4).scatter(0, indices(), 0.5, reduce="add"),
    "scatter of products": lambda make: make(4).scatter(0, indices(40), make(40), reduce="multiply"),
    "index_put": lambda make: make(4, 5).index_put((indices(),), make(MANY, 5), accumulate=True),
    "index_put of elements": lambda make: make(4, 5).index_put((indices(), indices()), make(MANY), accumulate=True),
    "put": lambda make: make(4).put(indices(), make(MANY), accumulate=True),
    "gather's gradient": gradient(lambda x: x.gather(0, indices()), (MANY,)),
    "take_along_dim's gradient": gradient(lambda x: x.take_along_dim(indices(), 0), (MANY,)),
    "index_select's gradient": gradient(lambda x: x.index_select(0, indices()), (MANY,)),
    "an index's gradient": gradient(lambda x: x[indices()], (MANY,)),
    "embedding's gradient": gradient(lambda x: F.embedding(indices(), x[:, None]), (MANY, 1)),
    "interpolation's gradient": gradient(lambda x: F.interpolate(x[None, None], size=MANY), (1, 1, MANY)),
    "interpolation's gradient in two": gradient(lambda x: F.interpolate(x[None, None, None], size=(50, 60)), (50, 60)),
    "interpolation's gradient in three": gradient(
        lambda x: F.interpolate(x[None, None, None, None], size=(10, 15, 21), mode="nearest-exact"), (10, 15, 21)),
    "padding's gradient": gradient(lambda x: F.pad(x[None, None], (40, 40, 30, 30), mode="replicate"), (1, 61, 83)),
    "padding's gradient around": gradient(
        lambda x: F.pad(x.reshape(1, 1, 3, 1), (1, 1, 3, 3), mode="circular"), (9, 3)),
    "logcumsumexp's gradient": gradient(lambda x: (x * 16).logcumsumexp(0), (3,)),
    "scatter_reduce's gradient of products": gradient(
        lambda x: keyway.ones(1, dtype=x.dtype).scatter_reduce(0, indices(3) * 0, x, "prod"), (1,)),
    "repetition's gradient": gradient(lambda x: x.repeat_interleave(1000), (MANY,)),
}
for reduce in ("sum", "mean", "prod"):
    n = 40 if reduce == "prod" else MANY
    for own in (True, False):
        SUMS[f"scatter_reduce {reduce} {own}"] = lambda make, n=n, reduce=reduce, own=own: make(4).scatter_reduce(
            0, indices(n), make(n), reduce, include_self=own)
        if reduce != "sum":
            SUMS[f"index_reduce {reduce} {own}"] = lambda make, n=n, reduce=reduce, own=own: make(4).index_reduce(
                0, indices(n), make(n), reduce, include_self=own)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", SUMS)
def test_a_sum_by_index_is_rounded_once(name, dtype):
    def computed(wide):
        keyway.manual_seed(1)
        of = SUMS[name](lambda *sizes: (keyway.rand(*sizes, dtype=keyway.float64) + 0.5).to(dtype).to(wide))
        return of.to(keyway.float64)

    got, expected = computed(dtype), computed(keyway.float64)
    half_a_unit = keyway.finfo(dtype).eps / 2
    keyway.testing.assert_close(got, expected, rtol=half_a_unit * 1.01, atol=0)


def test_the_ones_of_the_rule():
    for n in (1000, 3000):
        ones, index = keyway.ones(n, dtype=keyway.bfloat16), keyway.zeros(n, dtype=keyway.int64)
        expected = keyway.tensor(float(n)).to(keyway.bfloat16).item()
        zero = keyway.zeros(1, dtype=keyway.bfloat16)
        assert zero.index_add(0, index, ones).item() == expected
        assert zero.scatter_add(0, index, ones).item() == expected
        assert zero.index_put((index,), ones, accumulate=True).item() == expected
        assert zero.scatter_reduce(0, index, ones, "mean", include_self=False).item() == 1.0
    values = keyway.tensor([1 + 1j], dtype=keyway.complex32).expand(5000).clone()
    got = keyway.zeros(1, dtype=keyway.complex32).index_add(0, keyway.zeros(5000, dtype=keyway.int64), values)
    assert got.item() == 5000 + 5000j


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("reduce", ["mean", "amax", "amin"])
@pytest.mark.parametrize("own", [True, False])
def test_the_gradient_is_shared_out_among_more_than_16_bits_count(reduce, own, dtype):
    index = keyway.zeros(MANY, dtype=keyway.int64)
    src, target = (keyway.ones(n, dtype=dtype, requires_grad=True) for n in (MANY, 1))
    target.scatter_reduce(0, index, src, reduce, include_self=own).backward()
    share = keyway.tensor(1 / (MANY + own), dtype=keyway.float64).to(dtype)
    assert (src.grad == share).all()
    assert target.grad.item() == (share.item() if own else 0)


@pytest.mark.parametrize("dtype", NARROW)
def test_second_gradients_of_embeddings_count_in_integers(dtype):
    weight = keyway.ones(1, 1, dtype=dtype, requires_grad=True)
    rows = F.embedding(keyway.zeros(MANY, dtype=keyway.int64), weight, scale_grad_by_freq=True)
    seed = keyway.ones_like(rows).requires_grad_()
    (first,) = keyway.autograd.grad(rows, weight, seed, create_graph=True)
    (second,) = keyway.autograd.grad(first.sum(), seed)
    assert (second == keyway.tensor(1 / MANY, dtype=keyway.float64).to(dtype)).all()


def test_elements_that_no_index_names_stay():
    table = keyway.full((1000, 3), 7.0, dtype=keyway.float16)
    view = table[::2]
    view.index_add_(0, keyway.tensor([3, 3]), keyway.ones(2, 3, dtype=keyway.float16))
    table.scatter_add_(0, keyway.tensor([[0], [0]]), keyway.ones(2, 1, dtype=keyway.float16))
    assert table[6].tolist() == [9.0, 9.0, 9.0]
    assert table[0].tolist() == [9.0, 7.0, 7.0]
    assert (table != 7).sum().item() == 4


def half(values):
    return keyway.tensor(values, dtype=keyway.float16)


COUNT = 70_000  # more than float16 can count to

BEYOND_THE_RANGE = {
    "logsumexp": (lambda: keyway.zeros(COUNT, dtype=keyway.float16).logsumexp(0), math.log(COUNT)),
    "nanmean": (lambda: keyway.nanmean(keyway.ones(100_000, dtype=keyway.float16)), 1.0),
    "nanmean of some": (lambda: keyway.nanmean(keyway.cat([keyway.full((COUNT,), 3.0), keyway.full((9,), math.nan)])
                                               .to(keyway.float16)), 3.0),
    "std_mean": (lambda: keyway.std_mean(half([-1000.0, 1000.0]), correction=0)[0], 1000.0),
    "corrcoef": (lambda: keyway.corrcoef(half([[-3000.0, 3000.0], [-3000.0, 3000.0]]))[0, 1], 1.0),
    "cov": (lambda: keyway.cov(keyway.ones(2, COUNT, dtype=keyway.float16))[0, 1], 0.0),
    "trapezoid": (lambda: keyway.trapezoid(keyway.ones(COUNT + 1, dtype=keyway.float16), dx=0.01), 700.0),
    "cumulative_trapezoid": (
        lambda: keyway.cumulative_trapezoid(keyway.ones(COUNT + 1, dtype=keyway.float16), dx=0.01)[-1], 700.0),
    "cdist": (lambda: keyway.cdist(half([[300.0] * 4] * 30), half([[0.0] * 4] * 30))[0, 0], 600.0),
    "renorm": (lambda: keyway.renorm(half([[60000.0, 60000.0]]), 2, 0, math.sqrt(2))[0, 0], 1.0),
    "normalize": (lambda: F.normalize(half([[60000.0, 60000.0]]))[0, 0], math.sqrt(0.5)),
    "normalize of zeros": (lambda: F.normalize(half([[0.0, 0.0]]))[0, 0], 0.0),
    "lp_pool1d": (lambda: F.lp_pool1d(half([[[300.0, 400.0]]]), 2.0, 2), 500.0),
    "local_response_norm": (lambda: F.local_response_norm(half([[[1000.0]]]), 1, alpha=1e-6, beta=1.0), 500.0),
    "kl_div": (lambda: F.kl_div(keyway.full((COUNT, 2), -1.0, dtype=keyway.float16),
                                keyway.ones(COUNT, 2, dtype=keyway.float16), reduction="batchmean"), 2.0),
    "label smoothing": (lambda: F.cross_entropy(keyway.zeros(1, COUNT, dtype=keyway.float16), keyway.tensor([1]),
                                                label_smoothing=0.5), math.log(COUNT)),
    "cosine_embedding_loss": (lambda: F.cosine_embedding_loss(
        half([[300.0, 0.0]]), half([[300.0, 300.0]]), keyway.tensor([1])), 1 - math.sqrt(0.5)),
    "multi_margin_loss": (lambda: F.multi_margin_loss(keyway.ones(1, COUNT, dtype=keyway.float16), keyway.tensor([0])),
                          1 - 1 / COUNT),
    "soft_margin_loss": (lambda: F.soft_margin_loss(half([-100.0]), half([1.0])), 100.0),
}


@pytest.mark.parametrize("name", BEYOND_THE_RANGE)
def test_what_has_a_result_in_range_has_no_step_out_of_it(name):
    call, expected = BEYOND_THE_RANGE[name]
    got = call()
    assert got.dtype == keyway.float16
    assert got.item() == pytest.approx(expected, rel=1e-3, abs=1e-6)
