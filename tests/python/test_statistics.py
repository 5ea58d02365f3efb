"""Statistics, searching and sets: medians to quantiles, histograms, what is unique, windows, random numbers."""

import math

import keyway
import pytest

nan, inf = math.nan, math.inf


def test_a_median_is_nan_if_an_element_is_and_a_nanmedian_is_not():
    x = keyway.tensor([[1.0, nan, 3.0], [5.0, 4.0, 9.0]])
    values, indices = x.median(1)
    assert math.isnan(values[0].item()) and values[1].item() == 5.0 and indices.tolist() == [1, 0]
    assert x.nanmedian(dim=1).values.tolist() == [1.0, 5.0] and x.nanmedian().item() == 4.0
    assert math.isnan(keyway.tensor([]).median().item())
    with pytest.raises(keyway.IndexError):
        keyway.zeros(2, 0).median(1)


def test_equal_medians_share_the_gradient():
    x = keyway.tensor([1.0, 2.0, 2.0, 3.0], requires_grad=True)
    x.median().backward()
    assert x.grad.tolist() == [0.0, 0.5, 0.5, 0.0]


def test_a_nan_among_the_elements_has_the_gradient_of_an_extremum():
    for function in (keyway.median, keyway.max, keyway.min):
        x = keyway.tensor([1.0, nan, 3.0, nan], requires_grad=True)
        function(x).backward()
        assert x.grad.tolist() == [0.0, 0.5, 0.0, 0.5]


def test_histograms_of_the_widest_range():
    assert keyway.histc(keyway.tensor([-3e38, 0.0, 3e38]), 3).tolist() == [1.0, 1.0, 1.0]
    assert keyway.histc(keyway.tensor([5.05e36]), 100, 0, 1e37).argmax().item() == 50


def test_an_index_that_is_none_is_named_as_it_was_given():
    with pytest.raises(keyway.IndexError, match="-5"):
        keyway.tensor([1, 2, 3]).index_fill(0, keyway.tensor([-5]), 9)


def test_quantiles_lie_between_elements():
    x = keyway.arange(5, dtype=keyway.float64)
    assert x.quantile(0.3).item() == pytest.approx(1.2)
    assert keyway.quantile(x, keyway.tensor([0.0, 0.5, 1.0], dtype=keyway.float64)).tolist() == [0, 2, 4]
    expected = {"lower": 1, "higher": 2, "midpoint": 1.5, "nearest": 1}
    assert {name: x.quantile(0.3, interpolation=name).item() for name in expected} == expected
    assert keyway.quantile(x.reshape(1, 5), 0.5, dim=1, keepdim=True).shape == (1, 1)
    assert math.isnan(keyway.tensor([1.0, nan]).quantile(0.0).item())
    assert keyway.tensor([1.0, nan]).nanquantile(0.5).item() == 1.0
    with pytest.raises(keyway.ValueError, match=r"q must be in \[0, 1\]"):
        x.quantile(keyway.tensor([2.0], dtype=keyway.float64))


def test_the_mode_is_the_least_of_the_most_frequent():
    assert keyway.mode(keyway.tensor([3, 1, 2, 1, 3])) == (1, 3)
    assert keyway.tensor([[2, 2, 1], [0, 1, 2]]).mode().values.tolist() == [2, 0]


def test_unique_gives_what_is_asked_for():
    x = keyway.tensor([[3, 1], [3, 2]])
    assert x.unique().tolist() == [1, 2, 3]
    values, inverse, counts = keyway.unique(x, return_inverse=True, return_counts=True)
    assert (inverse.tolist(), counts.tolist()) == ([[2, 0], [2, 1]], [1, 1, 2]) and values[inverse].equal(x)
    rows, counts = keyway.unique(keyway.tensor([[1, 2], [0, 3], [1, 2]]), return_counts=True, dim=0)
    assert (rows.tolist(), counts.tolist()) == ([[0, 3], [1, 2]], [1, 2])
    assert keyway.unique_consecutive(keyway.tensor([1, 1, 2, 1])).tolist() == [1, 2, 1]
    values, inverse = keyway.tensor([[1, 1, 2]]).unique_consecutive(return_inverse=True, dim=1)
    assert (values.tolist(), inverse.tolist()) == ([[1, 2]], [0, 0, 1])
    assert keyway.empty(0).unique().shape == (0,)


def test_positions_in_a_sequence():
    edges = keyway.tensor([1.0, 3.0, 5.0])
    x = keyway.tensor([[0.0, 3.0], [inf, nan]])
    assert keyway.searchsorted(edges, x).tolist() == [[0, 1], [3, 3]]
    assert keyway.searchsorted(edges, x, side="right").tolist() == [[0, 2], [3, 3]]
    assert keyway.bucketize(x, edges, right=True).tolist() == [[0, 2], [3, 3]]
    assert keyway.bucketize(4, edges).item() == 2 and keyway.isin(x, edges).tolist() == [[False, True], [False, False]]
    many = keyway.arange(1000)
    assert keyway.searchsorted(many, many).equal(many)


def test_frequencies():
    assert keyway.bincount(keyway.tensor([1, 1, 3]), minlength=6).tolist() == [0, 2, 0, 1, 0, 0]
    assert keyway.histc(keyway.tensor([0.0, 0.5, 1.0, 1.0]), 2).tolist() == [1.0, 3.0]
    with pytest.raises(keyway.ValueError, match="self has -1"):
        keyway.bincount(keyway.tensor([-1]))


def test_covariances_and_integrals():
    x = keyway.tensor([[1.0, 2.0, 4.0], [2.0, 2.0, 3.0]], dtype=keyway.float64)
    twice = keyway.cov(keyway.cat([x, x[:, :1]], 1))
    weighted = keyway.cov(x, fweights=keyway.tensor([2, 1, 1]))
    assert weighted.flatten().tolist() == pytest.approx(twice.flatten().tolist())
    assert keyway.corrcoef(x).diagonal().tolist() == pytest.approx([1, 1])
    y = keyway.tensor([1.0, 2.0, 4.0])
    assert keyway.trapezoid(y).item() == 4.5 and keyway.cumulative_trapezoid(y, dx=2).tolist() == [3, 9]
    assert keyway.trapz(y, keyway.tensor([0.0, 1.0, 3.0])).item() == 7.5
    assert keyway.diff(y, prepend=keyway.tensor([0.0])).tolist() == [1, 1, 2]


def test_variance_and_mean_at_once():
    x = keyway.tensor([[1.0, 2.0], [3.0, 7.0]], requires_grad=True)
    variance, mean = keyway.var_mean(x, dim=1)
    assert (variance.tolist(), mean.tolist()) == ([0.5, 8.0], [1.5, 5.0])
    deviation, mean = keyway.std_mean(x, correction=0)
    assert deviation.item() == pytest.approx(math.sqrt(5.1875)) and mean.item() == 3.25
    equal = keyway.ones(3, requires_grad=True)
    keyway.std_mean(equal)[0].backward()
    assert equal.grad.tolist() == [0, 0, 0]


def test_special_functions_agree_with_the_library_of_c():
    x = keyway.tensor([0.1, 0.5, 3.3, 40.0], dtype=keyway.float64)
    assert x.lgamma().tolist() == pytest.approx([math.lgamma(v) for v in x.tolist()], rel=1e-12)
    step = 1e-5
    slope = ((x + step).lgamma() - (x - step).lgamma()) / (2 * step)
    assert x.digamma().tolist() == pytest.approx(slope.tolist(), rel=1e-6)
    slope = ((x + step).digamma() - (x - step).digamma()) / (2 * step)
    assert x.polygamma(1).tolist() == pytest.approx(slope.tolist(), rel=1e-5)
    y = keyway.tensor([-0.999999, -0.3, 0.0, 1e-9, 0.5, 0.99], dtype=keyway.float64)
    assert y.erfinv().erf().tolist() == pytest.approx(y.tolist(), rel=1e-12)


def test_numbers_are_drawn_from_their_distributions():
    keyway.manual_seed(1)
    trials = keyway.empty(100_000, dtype=keyway.float64).geometric_(0.25)
    assert trials.min().item() == 1 and trials.mean().item() == pytest.approx(4, rel=0.02)
    logs = keyway.empty(100_000, dtype=keyway.float64).log_normal_(0.5, 2.0).log()
    assert logs.mean().item() == pytest.approx(0.5, abs=0.03) and logs.std().item() == pytest.approx(2, rel=0.02)
    heavy = keyway.empty(100_000, dtype=keyway.float64).cauchy_(1, 2)
    assert heavy.quantile(0.75).item() == pytest.approx(3, rel=0.05)
    drawn = keyway.normal(keyway.full((100_000,), 2.0), keyway.tensor(0.5))
    assert drawn.mean().item() == pytest.approx(2, rel=0.01) and drawn.std().item() == pytest.approx(0.5, rel=0.02)
    assert keyway.normal(0.0, 1.0, (2, 3)).shape == (2, 3)
