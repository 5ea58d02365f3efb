"""Points of a grid: unravel_index and gradient."""

import keyway
import keyway.testing
import pytest


def test_unravelled_indices_lead_to_the_numbered_elements() -> None:
    elements = keyway.arange(24).reshape([2, 3, 4])
    numbers = keyway.tensor([[0, 5], [23, 13]])
    coordinates = keyway.unravel_index(numbers, (2, 3, 4))
    assert len(coordinates) == 3
    keyway.testing.assert_close(elements[coordinates], numbers)


def test_unravel_index_of_one_size_and_of_narrow_integers() -> None:
    (only,) = keyway.unravel_index(keyway.tensor([3, 1]), 4)
    keyway.testing.assert_close(only, keyway.tensor([3, 1]))
    rows, columns = keyway.unravel_index(keyway.tensor([200], dtype=keyway.uint8), (10, 30))
    assert (rows.item(), columns.item()) == (6, 20)


@pytest.mark.parametrize("numbers", [[1.0], [True]])
def test_unravel_index_takes_integers_only(numbers: list[float]) -> None:
    with pytest.raises(keyway.TypeError, match="indices are integers"):
        keyway.unravel_index(keyway.tensor(numbers), 4)


def test_unravel_index_refuses_negative_sizes() -> None:
    with pytest.raises(keyway.ValueError, match="at least 0"):
        keyway.unravel_index(keyway.tensor([1]), (2, -3))


def test_gradient_of_a_line_is_its_slope() -> None:
    line = keyway.tensor([1.0, 4.0, 7.0, 10.0])
    for edge_order in (1, 2):
        (slope,) = keyway.gradient(line, spacing=0.5, edge_order=edge_order)
        keyway.testing.assert_close(slope, keyway.full([4], 6.0))


def test_gradient_of_a_parabola_between_uneven_points() -> None:
    x = keyway.tensor([0.0, 0.5, 2.0, 3.0], dtype=keyway.float64)
    (slope,) = keyway.gradient(x * x, spacing=[x], edge_order=2)
    keyway.testing.assert_close(slope, 2 * x)
    (slope,) = keyway.gradient(x * x, spacing=[x])
    keyway.testing.assert_close(slope[1:-1], 2 * x[1:-1])
    assert (slope[0].item(), slope[-1].item()) == (0.5, 5.0)


def test_gradient_along_each_dimension_and_some() -> None:
    grid = keyway.tensor([[1, 2, 4], [2, 6, 3]])
    rows, columns = keyway.gradient(grid)
    keyway.testing.assert_close(rows, keyway.tensor([[1.0, 4.0, -1.0], [1.0, 4.0, -1.0]]))
    keyway.testing.assert_close(columns, keyway.tensor([[1.0, 1.5, 2.0], [4.0, 0.5, -3.0]]))
    keyway.testing.assert_close(keyway.gradient(grid, dim=-1, spacing=None)[0], columns)
    keyway.testing.assert_close(keyway.gradient(grid, dim=(1, 0), spacing=[2.0, 1.0])[0], columns / 2)


def test_gradient_has_a_gradient() -> None:
    values = keyway.tensor([1.0, 5.0, 2.0, 4.0, 3.0], dtype=keyway.float64, requires_grad=True)
    assert keyway.autograd.gradcheck(lambda x: keyway.gradient(x, edge_order=2)[0], (values,))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edge_order": 3}, "edge_order is 1 or 2"),
        ({"edge_order": 2, "dim": 0}, "dimension 0 has 2 points"),
        ({"dim": (0, 0)}, "names a dimension twice"),
        ({"dim": 2}, r"dim is in \[-2, 2\), not 2"),
        ({"spacing": [1.0]}, "spacing has 1 entries for 2 dimensions"),
        ({"spacing": [keyway.tensor([1.0]), 1]}, "dimension 0 has 2 coordinates"),
    ],
)
def test_gradient_refuses(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(keyway.Error, match=message):
        keyway.gradient(keyway.ones([2, 3]), **arguments)
