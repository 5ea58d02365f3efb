"""The default generator: its seed, its state, and contexts that leave it as it was."""

import copy
import pickle

import numpy
import pytest

import keyway
from keyway import random


def test_a_seed_makes_the_same_numbers_again():
    assert keyway.manual_seed(7) is keyway.default_generator
    first = keyway.rand(4)
    keyway.manual_seed(numpy.int64(7))
    assert keyway.equal(keyway.rand(4), first)
    assert keyway.initial_seed() == 7


@pytest.mark.parametrize(("seed", "known"), [(-1, 2**64 - 1), (-(2**63), 2**63), (2**64 - 1, 2**64 - 1), (2.5, 2)])
def test_seeds_below_0_count_from_above(seed, known):
    assert keyway.manual_seed(seed).initial_seed() == known


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seeds_of_more_than_64_bits_are_refused(seed):
    with pytest.raises(keyway.ValueError, match="2\\^64"):
        keyway.manual_seed(seed)


def test_a_fresh_seed_is_different_each_time():
    first = keyway.seed()
    assert first == keyway.initial_seed() and keyway.seed() != first


def test_a_state_is_returned_to():
    keyway.manual_seed(2**63 + 5)
    keyway.rand(3)
    state = keyway.get_rng_state()
    assert state.dtype == keyway.uint8 and state.shape == (16,)
    first = keyway.rand(3)
    assert not keyway.equal(state, keyway.get_rng_state())
    keyway.set_rng_state(state)
    assert keyway.equal(keyway.rand(3), first) and keyway.initial_seed() == 2**63 + 5


def test_what_is_no_state_is_refused():
    for wrong in (keyway.zeros(16), None):
        with pytest.raises(keyway.TypeError, match="uint8"):
            keyway.set_rng_state(wrong)
    with pytest.raises(keyway.ValueError, match="16"):
        keyway.set_rng_state(keyway.zeros(4, dtype=keyway.uint8))


def test_a_fork_leaves_the_generator_as_it_was():
    keyway.manual_seed(1)
    with random.fork_rng():
        inside = keyway.rand(3)
    assert keyway.equal(keyway.rand(3), inside)
    with random.fork_rng(enabled=False):
        keyway.rand(3)
    assert keyway.default_generator.get_state() != (1, 3)
    with pytest.raises(keyway.Error, match="cuda"), random.fork_rng(["cuda:63"]):
        pass


def test_constants_are_those_of_mathematics():
    assert keyway.pi == 3.141592653589793 and keyway.e == 2.718281828459045
    assert keyway.inf == float("inf") and keyway.nan != keyway.nan
    assert keyway.ones(2)[:, keyway.newaxis].shape == (2, 1)


@pytest.mark.parametrize("again", [lambda g: pickle.loads(pickle.dumps(g)), copy.deepcopy, copy.copy])
def test_a_generator_is_copied_and_pickled_with_its_state(again):
    generator = keyway.Generator().manual_seed(2**64 - 1)
    keyway.rand(3, generator=generator)
    other = again(generator)
    assert other.device == generator.device and other.get_state() == generator.get_state() == (2**64 - 1, 1)
    drawn = keyway.rand(3, generator=other)
    assert generator.get_state()[1] == 1 and keyway.equal(drawn, keyway.rand(3, generator=generator))
