"""Counts of elements by bin, and indices of those that are not zero."""

import numpy as np
import pytest

import keyway


@pytest.mark.parametrize("options", [
    {}, {"range": (-1.0, 2.0)}, {"density": True}, {"range": (0.0, 0.5), "density": True},
])
@pytest.mark.parametrize("bins", [1, 7, 10])
def test_bins_count_what_numpy_counts(bins, options):
    x = np.sin(np.arange(1000.0)).reshape(10, 100)
    counts, edges = np.histogram(x, bins, **options)
    made = keyway.histogram(keyway.tensor(x), bins, **options)
    np.testing.assert_allclose(made.hist.numpy(), counts, rtol=1e-12)
    np.testing.assert_allclose(made.bin_edges.numpy(), edges, atol=1e-12)


def test_given_edges_and_weights():
    x, edges = keyway.tensor([0.0, 1.0, 1.5, 4.0, 5.0, float("nan")]), keyway.tensor([0.0, 1.0, 4.0])
    counts, same = keyway.histogram(x, edges)
    assert counts.tolist() == [1.0, 3.0] and same.tolist() == [0.0, 1.0, 4.0]
    weight = keyway.tensor([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    assert x.histogram(edges, weight=weight).hist.tolist() == [1.0, 14.0]
    assert x.histogram(edges, weight=weight, density=True).hist.tolist() == pytest.approx([1 / 15, 14 / 15 / 3])


def test_ranges_without_width_and_without_elements():
    ones = keyway.histogram(keyway.ones(3), 3)
    assert ones.hist.tolist() == [0.0, 3.0, 0.0] and ones.bin_edges[[0, -1]].tolist() == [0.5, 1.5]
    assert keyway.histogram(keyway.empty(0), 2).bin_edges.tolist() == [0.0, 0.5, 1.0]


def test_a_histogram_goes_into_tensors():
    outs = keyway.empty(0), keyway.empty(0)
    made = keyway.histogram(keyway.tensor([1.0, 2.0]), 2, out=outs)
    assert made.hist is outs[0] and outs[0].tolist() == [1.0, 1.0] and outs[1].tolist() == [1.0, 1.5, 2.0]


def test_histograms_that_do_not_fit_are_refused():
    x = keyway.tensor([1.0, 3.0])
    for wrong in (
        lambda: keyway.histogram(keyway.tensor([1, 2]), 2),
        lambda: keyway.histogram(x, keyway.tensor([1, 2])),
        lambda: keyway.histogram(x, 2, weight=keyway.ones(2, dtype=keyway.float64)),
        lambda: keyway.histogram(x, keyway.tensor([1.0, 2.0]), range=(0.0, 1.0)),
    ):
        with pytest.raises(keyway.TypeError, match="histogram"):
            wrong()
    for wrong in (
        lambda: keyway.histogram(x, 0),
        lambda: keyway.histogram(x, keyway.tensor([2.0])),
        lambda: keyway.histogram(x, keyway.tensor([[1.0, 2.0]])),
        lambda: keyway.histogram(x, 2, range=(3.0, 1.0)),
        lambda: keyway.histogram(keyway.tensor([1.0, float("inf")]), 2),
        lambda: keyway.histogram(x, 2, weight=keyway.ones(3)),
    ):
        with pytest.raises(keyway.ValueError, match="histogram"):
            wrong()


def test_a_fixed_number_of_indices_that_are_not_zero():
    x = keyway.tensor([[0, 3], [2, 1]])
    assert keyway.nonzero_static(x, size=2).tolist() == [[0, 1], [1, 0]]
    assert x.nonzero_static(size=4).tolist() == [[0, 1], [1, 0], [1, 1], [-1, -1]]
    assert keyway.nonzero_static(x, size=4, fill_value=9)[3].tolist() == [9, 9]
    assert keyway.nonzero_static(keyway.tensor(1), size=2).shape == (2, 0)
    with pytest.raises(keyway.ValueError, match="size"):
        keyway.nonzero_static(x, size=-1)
