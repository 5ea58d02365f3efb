"""x[...] and x[...] = y: views and copies, all kinds of indices, errors, and a comparison with NumPy."""

import random

import keyway
import pytest


def grid():
    """The numbers 0 to 23 in the shape (2, 3, 4)."""
    return keyway.arange(24).view(2, 3, 4)


# --- Views

def test_integers_and_slices_give_views():
    every_second = (slice(None), slice(0, 3, 2))
    for index in (1, (0, 2), (slice(None), 1), (Ellipsis, -1), slice(0, 1), every_second, None, Ellipsis):
        x = grid() + 1
        x[index].zero_()
        assert (x == 0).sum().item() == x[index].numel()


def test_integers_take_away_dimensions_and_none_adds_them():
    x = grid()
    assert x[1, 2].tolist() == [20, 21, 22, 23]
    assert x[1, -1, 3].item() == 23
    assert x[None].shape == (1, 2, 3, 4)
    assert x[:, None, 1, ..., None].shape == (2, 1, 4, 1)
    assert x[()].shape == (2, 3, 4)
    assert x[()] is not x


def test_the_ellipsis_stands_for_the_dimensions_that_are_not_named():
    x = grid()
    assert x[..., 1].shape == (2, 3)
    assert x[0, ..., 1].tolist() == [1, 5, 9]
    assert x[0, 0, 0, ...].shape == ()
    assert keyway.tensor(5)[...].item() == 5
    assert x[..., ...].shape == x.shape and x[0, ..., ...].shape == x[0].shape
    assert x[..., 1, ...].tolist() == x[..., 1].tolist()


def test_slices_are_cut_to_the_dimension():
    x = keyway.arange(5)
    assert x[1:100].tolist() == [1, 2, 3, 4]
    assert x[-2:].tolist() == [3, 4]
    assert x[3:1].tolist() == []
    assert x[::2].tolist() == [0, 2, 4]
    assert x[-(2**70):2**70].tolist() == [0, 1, 2, 3, 4]
    assert x[keyway.tensor(1):keyway.tensor(3)].tolist() == [1, 2]


def test_gradients_flow_through_views_and_copies():
    x = keyway.ones(3, 2, requires_grad=True)
    (x[0].sum() + 2 * x[[1, 1], [0, 1]].sum() + 3 * x[:, 1][x[:, 0] > 0].sum())._backward([])
    assert x.grad.tolist() == [[1.0, 4.0], [2.0, 5.0], [0.0, 3.0]]


# --- Index tensors, masks, lists

def test_integer_tensors_and_lists_pick_copies():
    x = grid()
    for index in (keyway.tensor([1, 0]), keyway.tensor([1, 0], dtype=keyway.int32), [1, 0], range(1, -1, -1)):
        picked = x[index]
        assert picked[0].tolist() == x[1].tolist()
        picked.zero_()
        assert x.tolist() == grid().tolist()
    assert x[[]].shape == (0, 3, 4)
    assert x[:, ([0, 2], [1, 1])].shape == (2, 2, 2, 4)


def test_an_integer_tensor_without_dimensions_is_an_integer():
    x = grid()
    assert x[keyway.tensor(1)].shape == (3, 4)
    x[keyway.tensor(1)].zero_()
    assert x[1].sum().item() == 0


def test_several_index_tensors_are_broadcast_and_taken_together():
    x = grid()
    assert x[[0, 1], [2, 0]].tolist() == [[8, 9, 10, 11], [12, 13, 14, 15]]
    assert x[[[0], [1]], [0, 2], 1].tolist() == [[1, 9], [13, 21]]


def test_index_tensors_that_are_apart_put_their_dimensions_first():
    x = grid()
    assert x[[0, 1], :, [3, 2]].shape == (2, 3)
    assert x[:, [0, 1, 2], [3, 2, 1]].shape == (2, 3)
    assert x[None, [0], :, [1]].shape == (1, 1, 3)


def test_an_integer_is_no_index_tensor():
    assert grid()[0, :, [3, 2]].shape == (3, 2)


def test_masks_pick_where_they_are_true():
    x = grid()
    assert x[x > 20].tolist() == [21, 22, 23]
    rows = keyway.tensor([[True, False, False], [False, False, True]])
    assert x[rows].tolist() == [[0, 1, 2, 3], [20, 21, 22, 23]]
    assert x[rows, 1].tolist() == [1, 21]
    assert x[rows, 2:].tolist() == [[2, 3], [22, 23]]
    assert x[:, [True, False, True]].shape == (2, 2, 4)
    assert x[0][rows[0]].tolist() == [[0, 1, 2, 3]]


def test_a_bool_adds_a_dimension_of_size_1_or_0():
    x = grid()
    assert x[True].shape == x[keyway.tensor(True)].shape == (1, 2, 3, 4)
    assert x[False].shape == (0, 2, 3, 4)
    assert keyway.tensor(3)[True].tolist() == [3]


def test_a_list_of_slices_or_lists_is_a_tuple_with_a_warning():
    x = grid()
    with pytest.warns(UserWarning, match="tuple"):
        assert x[[slice(None), 1]].shape == (2, 4)
    with pytest.warns(UserWarning, match="tuple"):
        assert x[[[0, 1], [1, 2]]].shape == (2, 4)


# --- Assignment

def test_numbers_and_tensors_are_assigned_with_broadcasting():
    x = keyway.zeros(2, 3)
    x[0] = 1
    x[1, :2] = keyway.tensor([2.0, 3.0])
    x[:, 2] = keyway.tensor([[4.0], [5.0]]).view(1, 2)
    assert x.tolist() == [[1.0, 1.0, 4.0], [2.0, 3.0, 5.0]]
    x[...] = keyway.tensor([7, 8, 9])
    assert x.tolist() == [[7.0, 8.0, 9.0], [7.0, 8.0, 9.0]]
    x[True] = 0.5
    x[False] = 3
    assert x.sum().item() == 3.0


def test_masks_and_index_tensors_are_assigned_to():
    x = keyway.arange(6)
    x[x > 3] = -1
    assert x.tolist() == [0, 1, 2, 3, -1, -1]
    x[[0, 2]] = keyway.tensor([10, 20])
    assert x.tolist() == [10, 1, 20, 3, -1, -1]
    x[x < 0] = keyway.tensor([7, 8])
    assert x.tolist() == [10, 1, 20, 3, 7, 8]
    y = keyway.zeros(2, 3)
    y[keyway.tensor([True, False])] = keyway.tensor([1.0, 2.0, 3.0])
    y[:, [0, 2]] += 1
    assert y.tolist() == [[2.0, 2.0, 4.0], [1.0, 0.0, 1.0]]


def test_augmented_assignment_changes_the_picked_elements_only():
    x = keyway.arange(4)
    x[1] += 10
    x[2:] *= 2
    assert x.tolist() == [0, 11, 4, 6]


def test_assignment_is_recorded_by_autograd():
    x = keyway.ones(3, requires_grad=True)
    y = x * 2
    y[1] = 5
    y[[2]] = x[0]
    y.sum()._backward([])
    assert x.grad.tolist() == [3.0, 0.0, 0.0]


def test_values_of_other_shapes_types_and_dtypes_are_refused():
    x = keyway.zeros(2, 3)
    with pytest.raises(keyway.ValueError):
        x[0] = keyway.ones(2)
    with pytest.raises(keyway.ValueError):
        x[[0, 1]] = keyway.ones(2, 2)
    with pytest.raises(keyway.TypeError, match="not to a list"):
        x[0] = [1, 2, 3]
    with pytest.raises(keyway.TypeError, match="one dtype"):
        x[[0]] = keyway.ones(3, dtype=keyway.float64)
    with pytest.raises(keyway.ValueError, match="300 is outside the range of uint8"):
        keyway.zeros(2, dtype=keyway.uint8)[0] = 300
    with pytest.raises(TypeError):
        del x[0]
    assert x.sum().item() == 0


def test_a_subclass_may_answer_an_index_itself():
    asked = []

    class Asking(keyway.Tensor):
        @classmethod
        def __keyway_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func.__name__)
            return super().__keyway_function__(func, types, args, kwargs)

    x = Asking(keyway.zeros(2, 3))
    x[0] = 5
    assert x[0].tolist() == [5.0, 5.0, 5.0]
    assert asked[:2] == ["__setitem__", "__getitem__"]


# --- Errors of the index

@pytest.mark.parametrize("index, text", [
    (2, "index 2 is out of range for dimension 0 of size 2"),
    (-3, "index -3 is out of range"),
    ((0, ..., 4), "index 4 is out of range for dimension 2 of size 4"),
    ((0, 0, 0, 0), "too many indices"),
    ((..., ..., 0), "no dimension left for index 0"),
    (1.5, "not float"),
    (1j, "not complex"),
    ({}, "not dict"),
    ([0.5, 1.0], "must be int64, int32, bool or uint8, not float32"),
    ([0, 2], "2 at position 1"),
    (([0, 1], [0, 1, 2]), "broadcast"),
    ([True, False, True], "mask of shape"),
    (2**70, "64 bits"),
], ids=str)
def test_a_wrong_index_is_an_index_error_when_read_and_when_written(index, text):
    x = grid()
    with pytest.raises(keyway.IndexError, match=text):
        x[index]
    with pytest.raises(keyway.IndexError, match=text):
        x[index] = 1
    assert x.tolist() == grid().tolist()


def test_a_tensor_without_dimensions_has_no_index():
    for index in (0, slice(None), [0]):
        with pytest.raises(keyway.IndexError, match="too many indices"):
            keyway.tensor(3)[index]


@pytest.mark.parametrize("step", [-1, 0])
def test_steps_that_are_not_positive_are_refused(step):
    with pytest.raises(ValueError):
        grid()[::step]


def test_an_index_that_raises_passes_its_exception_on():
    class Bad:
        def __index__(self):
            raise ZeroDivisionError("mine")

    for index in (Bad(), slice(Bad(), None)):
        with pytest.raises(ZeroDivisionError, match="mine"):
            grid()[index]


# --- Against NumPy

class RandomIndex:
    """An index of a tensor of some sizes, in the forms of which PyTorch and NumPy mean the same: integers do not stand
    beside index tensors, lists not alone, and no ellipsis for nothing between index tensors. `pairs` has each item for
    both."""

    def __init__(self, numbers, sizes, np):
        self.numbers, self.np = numbers, np
        self.pairs = []
        self.advanced = numbers.random() < 0.5
        self.count = numbers.choice([1, 2, 3])
        dim = 0
        while dim < len(sizes) and numbers.random() < 0.85:
            dim += self.add(sizes[dim:])
        if numbers.random() < 0.3:
            choices = [0, len(self.pairs)] if dim == len(sizes) else [len(self.pairs)]
            self.pairs.insert(numbers.choice(choices), (..., ...))

    def add(self, sizes):
        size = sizes[0]
        kind = self.numbers.random()
        if kind < 0.15:
            self.pairs.append((None, None))
            return 0
        if kind < 0.5 or size == 0:
            ends = [self.numbers.choice([None, self.numbers.randint(-size - 1, size + 1)]) for _ in range(2)]
            item = slice(*ends, self.numbers.choice([None, 1, 2, 3]))
            self.pairs.append((item, item))
            return 1
        if not self.advanced:
            item = self.numbers.randrange(-size, size)
            self.pairs.append((item, item))
            return 1
        if kind < 0.6:
            dims = self.numbers.choice([1, min(2, len(sizes))])
            mask = self.np.zeros(sizes[:dims], dtype=bool)
            mask.flat[: self.count] = True
            if mask.sum() == self.count:
                self.pairs.append((keyway.tensor(mask.tolist()), mask))
                return dims
        shape = self.numbers.choice([(self.count,), (2, self.count), (1,)])
        index = self.np.array([self.numbers.randrange(-size, size) for _ in range(self.np.prod(shape))]).reshape(shape)
        self.pairs.append((keyway.tensor(index.tolist()), index))
        return 1

    def of(self, which):
        return tuple(pair[which] for pair in self.pairs)


@pytest.mark.parametrize("seed", range(20))
def test_random_indices_read_and_write_as_numpys(seed):
    np = pytest.importorskip("numpy")
    numbers = random.Random(seed)
    for _ in range(50):
        sizes = tuple(numbers.choice([1, 2, 3, 4, 0]) for _ in range(numbers.randint(1, 4)))
        index = RandomIndex(numbers, sizes, np)
        array = np.arange(np.prod(sizes)).reshape(sizes)
        x = keyway.arange(array.size).view(sizes)
        picked = array[index.of(1)]
        assert x[index.of(0)].shape == picked.shape, index.of(1)
        assert x[index.of(0)].tolist() == picked.tolist(), index.of(1)
        array[index.of(1)] = -1
        x[index.of(0)] = -1
        assert x.tolist() == array.tolist(), index.of(1)


def test_arrays_and_numbers_of_numpy_are_indices():
    np = pytest.importorskip("numpy")
    x = grid()
    assert x[np.int64(1)].shape == x[np.array(1)].shape == (3, 4)
    assert x[np.array([1, 0], dtype=np.int16)][0].tolist() == x[1].tolist()
    assert x[np.array([True, False])].shape == (1, 3, 4)
    assert x[np.bool_(True)].shape == (1, 2, 3, 4)
    x[np.array([0]), np.int8(1)] = np.float32(7)
    assert x[0, 1].tolist() == [7, 7, 7, 7]
    with pytest.raises(keyway.IndexError, match="not float64"):
        x[np.array([0.5])]


def test_one_element_of_another_dtype_fills_what_a_mask_picks():
    x = keyway.arange(4)
    x[x > 1] = keyway.tensor([7.0])
    assert x.tolist() == [0, 1, 7, 7]


def test_a_bool_alone_assigns_to_all_or_to_nothing_and_converts():
    x = keyway.zeros(2)
    x[True] = keyway.tensor([[5, 6]])
    assert x.tolist() == [5.0, 6.0]
    x[False] = keyway.tensor([1, 2, 3])
    assert x.tolist() == [5.0, 6.0]


def test_a_text_is_no_index():
    with pytest.raises(keyway.TypeError, match="cannot be a str"):
        grid()["a"]
