"""Random numbers of a DataLoader's examples: streams of their own, the same with any number of workers."""

import pickle
import random
import sys
import threading

import numpy
import pytest

import keyway
from keyway.utils import data


class Draws(data.Dataset):
    """What each example draws, some of it after a wait for another thread."""

    def __len__(self):
        return 24

    def __getitem__(self, i):
        first = random.random()
        if i % 3 == 0:
            threading.Event().wait(0.001)
        drawn = [1, 2, 3, 4]
        random.shuffle(drawn)
        return (i, first, drawn, random.gauss(0, 1), numpy.random.rand(2).tolist(), numpy.random.permutation(3).tolist(),
                keyway.rand(2).tolist(), keyway.randperm(3).tolist())


def two_epochs(workers, seed=3, **options):
    keyway.manual_seed(seed)
    loader = data.DataLoader(Draws(), batch_size=4, num_workers=workers, shuffle=True, **options,
                             collate_fn=lambda batch: (batch, random.random(), keyway.rand(1).item()))
    return [list(loader), list(loader)]


def test_what_an_example_draws_does_not_depend_on_workers():
    first, second = expected = two_epochs(0)
    for workers, options in ((1, {}), (2, {}), (4, {"prefetch_factor": 5})):
        random.seed(workers)
        assert two_epochs(workers, **options) == expected
    assert first != second and two_epochs(0, seed=4) != expected
    examples = [example for epoch in expected for batch, _, _ in epoch for example in batch]
    for column in (1, 3, 4, 6):  # nobody draws the numbers of another
        assert len({str(example[column]) for example in examples}) == len(examples)


def test_what_is_drawn_elsewhere_goes_its_own_way():
    def drawn_outside(load):
        random.seed(1)
        numpy.random.seed(1)
        keyway.manual_seed(1)
        batches = iter(data.DataLoader(Draws(), 4, num_workers=2, collate_fn=list)) if load else None
        if not load:
            keyway.empty([], dtype=keyway.int64).random_()  # the iteration's seed
        numbers = []
        for _ in range(3):
            if load:
                next(batches)
            numbers.append((random.random(), numpy.random.rand(), keyway.rand(1).item()))
        return numbers

    assert drawn_outside(True) == drawn_outside(False)
    random.seed(1)
    assert random.random() == random.Random(1).random()
    numpy.random.seed(1)
    assert numpy.random.rand() == numpy.random.RandomState(1).rand()


@pytest.mark.parametrize("workers", [0, 2])
def test_seeds_of_an_example_are_its_own(workers):
    class Seeded(Draws):
        def __getitem__(self, i):
            keyway.manual_seed(i)
            random.seed(i)
            numpy.random.seed(i)
            return keyway.rand(1).item(), random.random(), numpy.random.rand()

    before = keyway.manual_seed(9).get_state()[0]
    drawn = list(data.DataLoader(Seeded(), None, num_workers=workers))
    assert keyway.default_generator.get_state()[0] == before == 9
    keyway.manual_seed(5)
    assert drawn[5] == [keyway.rand(1).item(), random.Random(5).random(), numpy.random.RandomState(5).rand()]


def test_functions_that_look_for_a_stream_are_pickled_by_name():
    list(data.DataLoader(Draws(), 4, collate_fn=list))
    for function in (random.random, random.choice, numpy.random.rand, numpy.random.seed):
        assert pickle.loads(pickle.dumps(function)) is function
        assert getattr(sys.modules[function.__module__], function.__name__) is function


class Faulty(data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i in (2, 7):
            raise KeyError(i)
        return i


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_after_an_error_the_next_batch_comes(workers):
    batches = iter(data.DataLoader(Faulty(), 2, num_workers=workers))
    assert next(batches).tolist() == [0, 1]
    with pytest.raises(KeyError, match="2"):
        next(batches)
    assert next(batches).tolist() == [4, 5]
    with pytest.raises(KeyError, match="7"):
        next(batches)
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(batches)


def test_a_batch_that_was_late_is_waited_for_again():
    may_go_on = threading.Event()

    class Slow(Faulty):
        def __getitem__(self, i):
            may_go_on.wait()
            return i

    batches = iter(data.DataLoader(Slow(), 4, num_workers=1, timeout=0.02))
    with pytest.raises(keyway.Error, match="was not there within 0.02 seconds"):
        next(batches)
    may_go_on.set()
    assert [batch.tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_an_order_with_replacement_does_not_depend_on_what_is_drawn_meanwhile():
    def order(draw):
        keyway.manual_seed(2)
        numbers = []
        for i in data.RandomSampler(range(10), replacement=True, num_samples=3000):
            numbers.append(i)
            if draw:
                keyway.rand(1)
        return numbers

    assert order(True) == order(False)
