"""keyway.random: the state of the default generator."""

import keyway
import pytest


def test_the_state_is_a_tensor_to_which_the_generator_goes_back():
    state = keyway.get_rng_state()
    assert state.dtype is keyway.uint8 and state.dim() == 1
    drawn = keyway.rand(5)
    assert keyway.rand(5).tolist() != drawn.tolist()
    keyway.set_rng_state(state)
    assert keyway.rand(5).tolist() == drawn.tolist()


def test_what_is_no_state_is_refused():
    with pytest.raises(keyway.TypeError, match="uint8"):
        keyway.set_rng_state(keyway.ones(16))
    with pytest.raises(keyway.ValueError, match="16 elements, not 3"):
        keyway.set_rng_state(keyway.ones(3, dtype=keyway.uint8))


def test_a_fork_leaves_the_generator_where_it_was():
    with keyway.random.fork_rng():
        inside = keyway.rand(3)
    assert keyway.rand(3).tolist() == inside.tolist()


def test_a_seed_that_is_drawn_is_that_of_the_generator():
    assert keyway.random.seed() == keyway.initial_seed()
