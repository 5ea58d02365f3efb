"""Regions of deferred calls: what they give is what the calls give one by one."""

import threading

import numpy as np
import pytest

import keyway


def small_calls(x):
    for _ in range(10):
        x = (x * 0.5 + 1).tanh()
    return x


def same_bits(a, b):
    return a.shape == b.shape and a.detach().numpy().tobytes() == b.detach().numpy().tobytes()


def trained(is_deferred, optimizer_class, **options):
    keyway.manual_seed(5)
    model = keyway.nn.Sequential(keyway.nn.Linear(6, 16), keyway.nn.GELU(), keyway.nn.Dropout(0.25), keyway.nn.Linear(16, 3))
    optimizer = optimizer_class(model.parameters(), **options)
    x, y = keyway.randn(8, 6), keyway.randint(0, 3, (8,))
    losses = []

    def train():
        for _ in range(6):
            optimizer.zero_grad()
            loss = keyway.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

    if is_deferred:
        with keyway.deferred() as region:
            train()
        assert region.statistics()["deferred_calls"] > 100
    else:
        train()
    return losses, [p.detach() for p in model.parameters()]


@pytest.mark.parametrize("optimizer, options", [(keyway.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
                                                (keyway.optim.Adam, {"lr": 0.01})])
def test_training_steps_give_the_same_bits_when_they_are_deferred(optimizer, options):
    losses, parameters = trained(False, optimizer, **options)
    deferred_losses, deferred_parameters = trained(True, optimizer, **options)
    assert deferred_losses == losses
    assert all(same_bits(a, b) for a, b in zip(deferred_parameters, parameters))


def test_numbers_and_memory_that_are_asked_for_are_there():
    x = keyway.full((3,), 2.0)
    with keyway.deferred() as region:
        y = small_calls(x)
        assert region.statistics()["flushes"] == 0
        expected = y.numpy().copy()
        assert region.statistics()["flushes"] == 1
        z = y + 1
        assert z.tolist()[0] == pytest.approx(float(expected[0]) + 1)
        assert float((z * 2)[1]) == pytest.approx(2 * (float(expected[1]) + 1))
        assert "tensor(" in repr(y * 3)
        assert bytes(memoryview((x * 0 + 1).numpy())) == np.ones(3, np.float32).tobytes()
        assert (x * 2).data_ptr() != 0
        assert bool((x > 1).all())
    assert np.array_equal(small_calls(x).numpy(), expected)
    assert "flushed" in region.explain()


def test_sizes_that_depend_on_values_are_computed_at_once():
    with keyway.deferred():
        x = keyway.arange(6).reshape(2, 3) * 2
        assert keyway.nonzero(x > 4).tolist() == [[1, 0], [1, 1], [1, 2]]
        assert x[x > 4].tolist() == [6, 8, 10]


def test_an_error_at_the_flush_names_the_line():
    table, index = keyway.ones(3, 2), keyway.full((1,), 7, dtype=keyway.int64)
    with keyway.deferred() as region:
        row = keyway.index_select(table, 0, index)
        with pytest.raises(keyway.IndexError, match=r"index_select: .*the call was deferred at test_deferred.py:\d+"):
            region.flush()
        with pytest.raises(keyway.ValueError, match="a tensor has no elements"):
            row + 1


def test_an_exception_that_leaves_the_region_has_its_calls_made():
    x = keyway.zeros(3)
    with pytest.raises(RuntimeError, match="out"):
        with keyway.deferred():
            x.add_(1)
            raise RuntimeError("out")
    assert x.tolist() == [1, 1, 1]


def test_another_thread_has_the_calls_made_that_it_needs():
    seen = []
    with keyway.deferred():
        y = keyway.ones(3) * 2
        thread = threading.Thread(target=lambda: seen.append((y + 1).tolist()))
        thread.start()
        thread.join()
    assert seen == [[3, 3, 3]]


def test_random_numbers_are_those_of_calls_made_at_once():
    def draw():
        keyway.manual_seed(1)
        a = keyway.randn(3)
        state = keyway.get_rng_state()
        b = keyway.rand(3)
        keyway.set_rng_state(state)
        return [a, b, keyway.nn.functional.dropout(keyway.ones(8), 0.5)]

    expected = draw()
    with keyway.deferred():
        drawn = draw()
    assert all(same_bits(a, b) for a, b in zip(drawn, expected))


def test_gradients_hooks_and_higher_derivatives_are_the_same():
    def program():
        x = keyway.tensor([0.5, -1.0, 2.0], requires_grad=True)
        seen = []
        y = (x * x).sin()
        y.register_hook(lambda grad: seen.append(grad) or grad * 2)
        (first,) = keyway.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = keyway.autograd.grad(first.sum(), x)
        return [y, first, second, *seen]

    expected = program()
    with keyway.deferred():
        given = program()
    assert all(same_bits(a, b) for a, b in zip(given, expected))


def test_vmap_autocast_and_inference_mode_are_the_same_within():
    x = keyway.arange(6.0).reshape(2, 3)

    def program():
        with keyway.autocast("cpu", dtype=keyway.bfloat16):
            a = (x @ x.t()).float()
        with keyway.inference_mode():
            b = x.cumsum(0) * 2
        return [a, b, keyway.vmap(lambda row: (row * row).sum())(x)]

    expected = program()
    with keyway.deferred():
        given = program()
    assert all(same_bits(a, b) for a, b in zip(given, expected))


def test_a_loop_makes_no_new_plan_after_its_first_rounds():
    x = keyway.ones(4)
    with keyway.deferred() as region:
        for _ in range(5):
            x = small_calls(x)
            region.flush()
    statistics = region.statistics()
    assert statistics["flushes"] == 5
    assert statistics["known_graphs"] >= 4


def test_compiled_functions_run_within():
    run = keyway.compile(small_calls)
    x = keyway.ones(4)
    expected = run(x)
    with keyway.deferred():
        given = run(x * 1)
        again = run(x * 1)
    assert same_bits(given, expected) and same_bits(again, expected)


def test_a_region_is_entered_once():
    region = keyway.deferred()
    with pytest.raises(RuntimeError, match="not entered"):
        region.flush()
    with region:
        pass
    with pytest.raises(RuntimeError, match="once"):
        region.__enter__()


def test_memory_that_waits_is_resized_with_its_elements():
    with keyway.deferred():
        x = keyway.ones(3) * 2
        x.resize_(5)
        y = keyway.ones(4) * 3
        y.resize_(2)
        z = keyway.ones(2) * 4
        z.resize_as_(keyway.ones(6))
    assert x.shape == (5,) and x[:3].tolist() == [2, 2, 2]
    assert y.tolist() == [3, 3]
    assert z.shape == (6,) and z[:2].tolist() == [4, 4]


@pytest.mark.parametrize("write", [lambda x: x.add_(1), lambda x: x.zero_(), lambda x: keyway.add(x, 1, out=x)])
def test_a_tensor_of_inference_mode_is_not_written_to_outside_of_it(write):
    with keyway.deferred():
        with keyway.inference_mode():
            x = keyway.ones(3) * 2
        with pytest.raises(keyway.AutogradError, match="made in inference mode"):
            write(x)
    assert x.tolist() == [2, 2, 2]


def test_a_call_gives_the_tensor_that_it_writes_to_where_another_one_lies_in_the_same_place():
    with keyway.deferred():
        x = keyway.ones(3)
        assert keyway.cumsum(x.view(3), 0, out=x) is x
        detached = x.detach()
        assert detached.mul_(x) is detached
    assert x.tolist() == [1, 4, 9]
