"""Sums and products of many elements: in runs that lie apart, in parts for threads; the same for any number of them."""
import pytest

import keyway


@pytest.fixture(autouse=True)
def kept_threads():
    before = keyway.get_num_threads()
    yield
    keyway.set_num_threads(before)


def by_threads(call):
    results = []
    for threads in (1, 2, 3):
        keyway.set_num_threads(threads)
        results.append(call())
    assert all(result.tolist() == results[0].tolist() for result in results)
    return results[0]


@pytest.mark.parametrize("width", [63, 64, 127, 128, 129, 255, 256, 1000, 4096, 4097])
def test_runs_that_lie_apart_are_summed(width):
    keyway.manual_seed(width)
    x = keyway.randn(40, 3, width + 5)[:, :, 2 : width + 2]
    rows = x.movedim(1, 0).reshape(3, -1)  # the same elements in one run
    for name in ("sum", "mean", "amax", "var"):
        got = by_threads(lambda: getattr(x, name)((0, 2)))
        expected = getattr(rows.to(keyway.float64), name)(1)
        keyway.testing.assert_close(got.to(keyway.float64), expected, rtol=1e-5, atol=1e-4)
    keyway.testing.assert_close((x * 0.001 + 1).prod(2), (x.contiguous() * 0.001 + 1).prod(2))


@pytest.mark.parametrize("dtype", [keyway.float32, keyway.float64])
@pytest.mark.parametrize("count", [0, 1, 31, 1000, 2**18, 2**18 + 1, 1000003])
def test_dot_is_the_sum_of_the_products(dtype, count):
    keyway.manual_seed(count)
    x, y = keyway.randn(count, dtype=dtype), keyway.randn(count, dtype=dtype)
    got = by_threads(lambda: keyway.dot(x, y))
    expected = (x.to(keyway.float64) * y.to(keyway.float64)).sum()
    keyway.testing.assert_close(got.to(keyway.float64), expected, rtol=1e-5, atol=1e-3)
    keyway.testing.assert_close(keyway.addmm(keyway.ones(1, 1, dtype=dtype), x.view(1, -1), y.view(-1, 1), beta=2, alpha=3)[0, 0],
                                3 * got + 2)


def test_running_statistics_on_another_device_are_refused_before_any_is_changed():
    mean, variance = keyway.zeros(2), keyway.ones(2, device="meta")
    for first, second in ((mean, variance), (variance, mean)):
        with pytest.raises(keyway.Error):
            keyway.nn.functional.batch_norm(keyway.randn(4, 2), first, second, training=True)
    assert mean.tolist() == [0.0, 0.0]
