"""keyway.utils.data: datasets, samplers, DataLoader and its workers."""

import threading
import time
import traceback
from collections import OrderedDict, namedtuple

import keyway
import pytest
from keyway.utils import data


class Squares(data.Dataset):
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        return i, float(i * i)


class Count(data.IterableDataset):
    """0 to n - 1; with workers, each gives every n-th."""

    def __init__(self, size):
        self.size = size

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, self.size, step))


def listed(loader):
    return [batch.tolist() for batch in loader]


def test_datasets_are_combined():
    both = Squares(3) + Squares(2)
    assert len(both) == 5 and both[3] == (0, 0.0) and both[-1] == (1, 1.0)
    with pytest.raises(IndexError):
        both[5]
    assert list(Count(2) + Count(3)) == [0, 1, 0, 1, 2]
    assert data.Subset(Squares(9), [4, 2])[1] == (2, 4.0)
    x = data.TensorDataset(keyway.tensor([[1, 2], [3, 4]]), keyway.tensor([5, 6]))
    assert len(x) == 2 and [t.tolist() for t in x[1]] == [[3, 4], 6]
    with pytest.raises(ValueError):
        data.TensorDataset(keyway.zeros(2), keyway.zeros(3))


def test_a_random_split_shares_out_all_examples():
    parts = data.random_split(range(10), [0.55, 0.25, 0.2], generator=keyway.Generator().manual_seed(1))
    assert [len(part) for part in parts] == [6, 2, 2]
    assert sorted(i for part in parts for i in part.indices) == list(range(10))
    again = data.random_split(range(10), [6, 2, 2], generator=keyway.Generator().manual_seed(1))
    assert [part.indices for part in again] == [part.indices for part in parts]
    with pytest.raises(ValueError, match="sum up to 9, but the dataset has 10"):
        data.random_split(range(10), [4, 5])


def test_samplers_draw_what_they_say():
    generator = keyway.Generator().manual_seed(3)
    order = list(data.RandomSampler(range(20), generator=generator))
    assert sorted(order) == list(range(20)) and order != list(range(20))
    assert len(list(data.RandomSampler(range(3), num_samples=8))) == 8
    assert set(data.RandomSampler(range(3), replacement=True, num_samples=50)) == {0, 1, 2}
    assert sorted(data.SubsetRandomSampler([5, 7])) == [5, 7]
    assert set(data.WeightedRandomSampler([0.0, 1.0, 0.0], 9)) == {1}
    assert list(data.BatchSampler(range(5), 2, drop_last=False)) == [[0, 1], [2, 3], [4]]
    assert list(data.BatchSampler(range(5), 2, drop_last=True)) == [[0, 1], [2, 3]]


def test_examples_become_batches_position_by_position():
    Point = namedtuple("Point", "x y")
    collate = data.default_collate
    assert collate([1, 2]).dtype is keyway.int64 and collate([1.5, 2.5]).dtype is keyway.float64
    assert tuple(collate([keyway.zeros(3), keyway.ones(3)]).shape) == (2, 3)
    assert collate(["a", "b"]) == ["a", "b"]
    batch = collate([{"p": Point(1, 2.0)}, {"p": Point(3, 4.0)}])
    assert isinstance(batch["p"], Point) and batch["p"].x.tolist() == [1, 3] and batch["p"].y.tolist() == [2.0, 4.0]
    with pytest.raises(TypeError, match="found object"):
        collate([object()])
    with pytest.raises(ValueError, match="equal size"):
        collate([(1, 2), (1,)])


def test_numpy_arrays_become_batches():
    numpy = pytest.importorskip("numpy")
    batch = data.default_collate([numpy.float32(1), numpy.float32(2)])
    assert batch.dtype is keyway.float32 and batch.tolist() == [1.0, 2.0]
    assert tuple(data.default_collate([numpy.zeros((2, 3))] * 4).shape) == (4, 2, 3)
    assert isinstance(data.default_convert({"a": numpy.zeros(2)})["a"], keyway.Tensor)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_batches_come_in_order_with_any_number_of_workers(workers):
    loader = data.DataLoader(Squares(10), batch_size=4, num_workers=workers)
    assert len(loader) == 3
    for _ in range(2):
        assert [(i.tolist(), s.tolist()) for i, s in loader] == [
            ([0, 1, 2, 3], [0.0, 1.0, 4.0, 9.0]), ([4, 5, 6, 7], [16.0, 25.0, 36.0, 49.0]), ([8, 9], [64.0, 81.0])]
    assert len(list(data.DataLoader(Squares(10), 4, num_workers=workers, drop_last=True))) == 2
    assert list(data.DataLoader(Squares(3), None, num_workers=workers)) == [[0, 0.0], [1, 1.0], [2, 4.0]]


@pytest.mark.parametrize("workers", [0, 2])
def test_shuffling_is_the_generators(workers):
    def order():
        generator = keyway.Generator().manual_seed(5)
        return listed(data.DataLoader(range(8), 3, shuffle=True, generator=generator, num_workers=workers))

    assert order() == order() and sorted(sum(order(), [])) == list(range(8)) and sum(order(), []) != list(range(8))


@pytest.mark.parametrize("workers, expected", [
    (0, [[0, 1, 2], [3, 4, 5], [6]]), (2, [[0, 2, 4], [1, 3, 5], [6]])])
def test_an_iterable_dataset_is_shared_out_by_worker(workers, expected):
    loader = data.DataLoader(Count(7), batch_size=3, num_workers=workers)
    assert listed(loader) == expected and len(list(data.DataLoader(Count(7), 3, drop_last=True))) == 2


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_of_a_dataset_comes_out_as_it_was(workers):
    class Broken(Squares):
        def __getitem__(self, i):
            return self.divide(i)

        def divide(self, i):
            return 1 / (i - 2)

    loader = iter(data.DataLoader(Broken(4), num_workers=workers))
    assert next(loader).tolist() == [-0.5] and next(loader).tolist() == [-1.0]
    with pytest.raises(ZeroDivisionError) as raised:
        next(loader)
    assert any(frame.name == "divide" for frame in traceback.extract_tb(raised.value.__traceback__))


def test_workers_know_who_they_are_and_are_initialised_once():
    class Who(Squares):
        def __getitem__(self, i):
            info = data.get_worker_info()
            return info.id, info.num_workers, info.seed

    begun = []
    batches = list(data.DataLoader(Who(6), num_workers=2, worker_init_fn=begun.append,
                                   collate_fn=lambda batch: batch[0]))
    assert [(i, n) for i, n, _ in batches] == [(0, 2), (1, 2)] * 3 and sorted(begun) == [0, 1]
    assert len({seed for _, _, seed in batches}) == 2 and data.get_worker_info() is None


def test_workers_load_at_the_same_time():
    together = threading.Barrier(2, timeout=30)

    class Waiting(Squares):
        def __getitem__(self, i):
            together.wait()
            return i

    assert listed(data.DataLoader(Waiting(4), num_workers=2)) == [[0], [1], [2], [3]]


def test_a_loader_that_is_left_early_ends_its_workers():
    before = set(threading.enumerate())  # workers of earlier tests may still be about to end

    def workers():
        return [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("keyway-loader")]

    batches = iter(data.DataLoader(Squares(100), num_workers=2))
    next(batches)
    assert len(workers()) == 2
    del batches
    deadline = time.monotonic() + 10
    while workers() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert workers() == []


def test_a_batch_that_takes_too_long_is_an_error():
    done = threading.Event()

    class Slow(Squares):
        def __getitem__(self, i):
            done.wait(30)
            return i

    with pytest.raises(keyway.Error, match="was not there within 0.05 seconds"):
        next(iter(data.DataLoader(Slow(2), num_workers=1, timeout=0.05)))
    done.set()


@pytest.mark.parametrize("arguments", [
    {"shuffle": True, "sampler": [0]}, {"batch_sampler": [[0]], "batch_size": 2},
    {"batch_size": None, "drop_last": True},
    {"num_workers": -1}, {"prefetch_factor": 2}, {"batch_size": 0}, {"timeout": -1}])
def test_options_that_contradict_are_refused(arguments):
    with pytest.raises(ValueError):
        data.DataLoader(Squares(4), **arguments)
    with pytest.raises(ValueError):
        data.DataLoader(Count(4), shuffle=True)


def test_a_dataset_may_give_the_examples_of_a_batch_at_once():
    class Tens(data.Dataset):
        def __len__(self):
            return 4

        def __getitems__(self, indices):
            return [10 * i for i in indices]

    assert [batch.tolist() for batch in data.DataLoader(Tens(), 2)] == [[0, 10], [20, 30]]
    assert data.Subset(Tens(), [3, 1]).__getitems__([1, 0]) == [10, 30]
    assert data.Subset([5, 6, 7], [2, 0]).__getitems__([0]) == [7]
    assert data.StackDataset(Tens(), "abcd").__getitems__([3, 0]) == [(30, "d"), (0, "a")]
    named = data.StackDataset(x=[1, 2, 3], y=data.Subset(Tens(), [3, 1, 0]))
    assert data.ConcatDataset.cumsum(["ab", "cde"]) == [2, 5]
    assert named.__getitems__([2, 0]) == [{"x": 3, "y": 0}, {"x": 1, "y": 30}]


def test_a_loader_takes_its_arguments_in_their_order_and_does_not_change():
    loader = data.DataLoader([1, 2, 3], 2, None, None, None, 0, None, False, True, in_order=False)
    assert loader.drop_last and len(iter(loader)) == len(loader) == 1
    for name in ("batch_size", "dataset", "sampler"):
        with pytest.raises(ValueError, match=f"{name} of a DataLoader"):
            setattr(loader, name, None)
    with pytest.raises(ValueError, match="persistent_workers needs workers"):
        data.DataLoader([1], persistent_workers=True)
    assert data.DataLoader([1]).prefetch_factor is None
    assert list(data.DataLoader([1, 2], None, num_workers=1, persistent_workers=True)) == [1, 2]


def test_datasets_side_by_side():
    assert data.StackDataset([1, 2], "ab")[1] == (2, "b")
    assert data.StackDataset(n=[1, 2], t="ab")[0] == {"n": 1, "t": "a"} and len(data.StackDataset([1, 2])) == 2
    for refused in (lambda: data.StackDataset([1], [1, 2]), data.StackDataset, lambda: data.StackDataset([1], a=[1])):
        with pytest.raises(ValueError, match="StackDataset"):
            refused()


def test_collated_mappings_keep_their_class():
    batch = data.default_collate([OrderedDict(a=1), OrderedDict(a=2)])
    assert type(batch) is OrderedDict and batch["a"].tolist() == [1, 2]


def test_numbers_of_samples_are_positive():
    for refused in (lambda: data.RandomSampler([]), lambda: data.RandomSampler([1], num_samples=0),
                    lambda: data.WeightedRandomSampler([0.5], 0)):
        with pytest.raises(ValueError, match="num_samples should be a positive integer"):
            refused()
    with pytest.raises(ValueError, match="replacement should be a boolean"):
        data.WeightedRandomSampler([0.5], 1, replacement=1)


def test_pinning_without_a_device_is_warned_of_and_changes_nothing():
    if keyway.cuda.is_available():
        pytest.skip("there is a device")
    with pytest.warns(UserWarning, match="there is no device that memory could be pinned for"):
        batches = list(data.DataLoader([keyway.ones(1)] * 2, pin_memory=True))
    assert [batch.tolist() for batch in batches] == [[[1.0]], [[1.0]]]
