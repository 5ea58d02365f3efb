"""Schedules of learning rates: their formulas, chaining, state."""

import math
import warnings

import keyway
import pytest
from keyway import nn, optim
from keyway.optim import lr_scheduler


def make_optimizer(lr=1.0, **options):
    return optim.SGD([nn.Parameter(keyway.zeros(1))], lr=lr, **options)


def rates(make, steps, lr=1.0):
    """The learning rates at steps 0 to `steps`."""
    optimizer = make_optimizer(lr)
    schedule = make(optimizer)
    seen = [optimizer.param_groups[0]["lr"]]
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        assert schedule.get_last_lr() == [optimizer.param_groups[0]["lr"]]
        seen.append(optimizer.param_groups[0]["lr"])
    return seen


def cosine(part):
    return (1 + math.cos(math.pi * part)) / 2


@pytest.mark.parametrize("make, expected", [
    (lambda o: lr_scheduler.StepLR(o, 2, 0.5), [1, 1, 0.5, 0.5, 0.25]),
    (lambda o: lr_scheduler.MultiStepLR(o, [1, 3, 3], 0.5), [1, 0.5, 0.5, 0.125, 0.125]),
    (lambda o: lr_scheduler.ExponentialLR(o, 0.5), [1, 0.5, 0.25, 0.125, 0.0625]),
    (lambda o: lr_scheduler.LambdaLR(o, lambda step: 1 / (1 + step)), [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]),
    (lambda o: lr_scheduler.ConstantLR(o, 0.25, 2), [0.25, 0.25, 1, 1, 1]),
    (lambda o: lr_scheduler.LinearLR(o, 0.4, 1.0, 3), [0.4, 0.6, 0.8, 1, 1]),
    (lambda o: lr_scheduler.PolynomialLR(o, 4, 2), [1, 9 / 16, 4 / 16, 1 / 16, 0]),
    (lambda o: lr_scheduler.CosineAnnealingLR(o, 4), [1, cosine(1 / 4), 0.5, cosine(3 / 4), 0]),
    (lambda o: lr_scheduler.CosineAnnealingLR(o, 2, 0.5), [1, 0.75, 0.5, 0.75, 1]),
    (lambda o: lr_scheduler.MultiplicativeLR(o, lambda step: 1 / (1 + step)), [1, 1 / 2, 1 / 6, 1 / 24, 1 / 120]),
    (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2), [1, 0.5, 1, 0.5, 1]),
    (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 1, 2, 0.5), [1, 1, 0.75, 1, cosine(1 / 4) / 2 + 0.5]),
    (lambda o: lr_scheduler.CyclicLR(o, 0.5, 1.5, 2, cycle_momentum=False), [0.5, 1, 1.5, 1, 0.5]),
    (lambda o: lr_scheduler.CyclicLR(o, 0.5, 1.5, 1, 2, cycle_momentum=False), [0.5, 1.5, 1, 0.5, 1.5]),
    (lambda o: lr_scheduler.CyclicLR(o, 0, 1, 1, mode="triangular2", cycle_momentum=False), [0, 1, 0, 0.5, 0]),
    (lambda o: lr_scheduler.CyclicLR(o, 0, 1, 1, mode="exp_range", gamma=0.5, cycle_momentum=False),
     [0, 0.5, 0, 0.125, 0]),
    (lambda o: lr_scheduler.CyclicLR(o, 0, 1, 1, scale_fn=lambda x: x, cycle_momentum=False), [0, 1, 0, 2, 0]),
])
def test_schedules_follow_their_formulas(make, expected):
    assert rates(make, 4) == pytest.approx(expected, abs=1e-12)


def test_schedules_follow_one_another():
    seen = rates(lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, 0.5, 1.0, 2), lr_scheduler.ExponentialLR(o, 0.1)], [2]), 4)
    assert seen == pytest.approx([0.5, 0.75, 1.0, 0.1, 0.01])


@pytest.mark.parametrize(("make", "milestone", "expected"), [
    (lambda o: [lr_scheduler.MultiplicativeLR(o, lambda _: 0.5), lr_scheduler.ExponentialLR(o, 0.9)], 3,
     [1, 0.5, 0.25, 1, 0.9]),
    (lambda o: [lr_scheduler.ExponentialLR(o, 0.5), lr_scheduler.MultiplicativeLR(o, lambda _: 0.9)], 2,
     [1, 0.5, 0.45, 0.405]),
    (lambda o: [lr_scheduler.ExponentialLR(o, 0.5), optim.swa_utils.SWALR(o, 0.125, 2, "linear")], 3,
     [1, 0.5, 0.25, 0.25, 0.1875, 0.125])])
def test_a_schedule_that_only_multiplies_begins_from_the_present_rate_and_others_from_the_first(
        make, milestone, expected):
    seen = rates(lambda o: lr_scheduler.SequentialLR(o, make(o), [milestone]), len(expected) - 1)
    assert seen == pytest.approx(expected)


def test_a_plateau_lowers_the_rate_of_groups_that_were_added():
    optimizer = make_optimizer()
    one = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0, min_lr=0.75)
    each = lr_scheduler.ReduceLROnPlateau(optimizer, min_lr=[0.5])
    optimizer.add_param_group({"params": [nn.Parameter(keyway.zeros(2))]})
    one.step(1)
    one.step(1)
    assert one.get_last_lr() == [0.75, 0.75]
    with pytest.raises(keyway.Error, match="ReduceLROnPlateau: there are 1 min_lrs, but 2 groups"):
        each.step(1)
    assert each.last_epoch == 0


def test_a_schedule_that_is_refused_leaves_the_optimizer_as_it_was():
    def raises(step):
        raise ValueError

    for make in (lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.5, base_momentum=[0.1, 0.2]),
                 lambda o: lr_scheduler.OneCycleLR(o, 1.0, 10, max_momentum=[0.1, 0.2]),
                 lambda o: lr_scheduler.OneCycleLR(o, [1.0, 2.0], 10)):
        optimizer = make_optimizer(momentum=0.5)
        before = dict(optimizer.param_groups[0])
        with pytest.raises(ValueError, match="expected 1 values"):
            make(optimizer)
        assert optimizer.param_groups[0] == before
    optimizer = make_optimizer()
    schedule = lr_scheduler.MultiplicativeLR(optimizer, raises)
    optimizer.step()
    with pytest.raises(ValueError):
        schedule.step()
    assert schedule.last_epoch == 0 and schedule.get_last_lr() == [1.0]
    chain = lr_scheduler.SequentialLR(optimizer, [schedule, lr_scheduler.StepLR(optimizer, 1)], [5])
    with pytest.raises(ValueError):
        chain.step()
    assert chain.last_epoch == schedule.last_epoch == 0 and chain.get_last_lr() == [1.0]


def test_two_schedules_at_once_multiply():
    optimizer = make_optimizer()
    schedules = [lr_scheduler.ExponentialLR(optimizer, 0.5), lr_scheduler.StepLR(optimizer, 2, 0.1)]
    for _ in range(2):
        optimizer.step()
        for schedule in schedules:
            schedule.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.025)


def test_chained_schedules_step_together_and_keep_their_state():
    optimizer = make_optimizer()
    chain = lr_scheduler.ChainedScheduler(
        [lr_scheduler.ExponentialLR(optimizer, 0.5), lr_scheduler.StepLR(optimizer, 2, 0.1)])
    for _ in range(2):
        optimizer.step()
        chain.step()
    assert chain.get_last_lr() == pytest.approx([0.025])
    other = make_optimizer(0.025)
    resumed = lr_scheduler.ChainedScheduler(
        [lr_scheduler.ExponentialLR(other, 0.5), lr_scheduler.StepLR(other, 2, 0.1)])
    resumed.load_state_dict(chain.state_dict())
    other.param_groups[0]["lr"] = 0.025
    for each, schedule in ((optimizer, chain), (other, resumed)):
        each.step()
        schedule.step()
    assert resumed.get_last_lr() == chain.get_last_lr() == pytest.approx([0.0125])
    with pytest.raises(ValueError, match="at least one"):
        lr_scheduler.ChainedScheduler([])


def test_warm_restarts_go_to_an_epoch_between_steps():
    optimizer = make_optimizer()
    schedule = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2, 2)
    schedule.step(3.5)
    assert (schedule.T_cur, schedule.T_i, schedule.last_epoch) == (1.5, 4, 3)
    assert schedule.get_last_lr() == pytest.approx([cosine(1.5 / 4)])
    with pytest.raises(ValueError, match="T_0"):
        lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 0)


def test_the_momentum_of_cyclic_rates_goes_the_opposite_way():
    optimizer = make_optimizer(momentum=0.5)
    schedule = lr_scheduler.CyclicLR(optimizer, 0.1, 0.2, 2, base_momentum=0.6, max_momentum=0.8)
    seen = []
    for _ in range(4):
        seen.append(optimizer.param_groups[0]["momentum"])
        optimizer.step()
        schedule.step()
    assert seen == pytest.approx([0.8, 0.7, 0.6, 0.7])
    with pytest.raises(ValueError, match="mode is invalid"):
        lr_scheduler.CyclicLR(optimizer, 0.1, 0.2, mode="square")


def test_one_cycle_goes_up_and_down_with_the_momentum_opposite():
    optimizer = make_optimizer(momentum=0.9)
    schedule = lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=11, pct_start=0.5, div_factor=10,
                                       final_div_factor=10)
    group, lr, momentum = optimizer.param_groups[0], [], []
    for _ in range(11):
        lr.append(group["lr"])
        momentum.append(group["momentum"])
        optimizer.step()
        schedule.step()  # the last one goes one behind the lowest point, as in PyTorch
    after = schedule.last_epoch, dict(group)
    assert lr[0] == pytest.approx(0.1) and lr[-1] == pytest.approx(0.01) and 0.97 < max(lr) <= 1
    assert momentum[0] == pytest.approx(0.95) and momentum[lr.index(max(lr))] == min(momentum) < 0.86
    with pytest.raises(ValueError, match="Tried to step 12 times. The specified number of total steps is 11"):
        schedule.step()
    assert (schedule.last_epoch, dict(group)) == after


def test_a_plateau_lowers_the_learning_rate_after_patience():
    optimizer = make_optimizer()
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1, cooldown=1, min_lr=0.2)
    seen = []
    for measure in [3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, keyway.tensor(1.0)]:
        schedule.step(measure)
        seen.append(optimizer.param_groups[0]["lr"])
    assert seen == [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2]


def test_a_schedule_goes_on_from_a_saved_state():
    optimizer = make_optimizer()
    schedule = lr_scheduler.CosineAnnealingLR(optimizer, 10)
    for _ in range(3):
        optimizer.step()
        schedule.step()
    other_optimizer = make_optimizer()
    other = lr_scheduler.CosineAnnealingLR(other_optimizer, 99)
    other_optimizer.load_state_dict(optimizer.state_dict())
    other.load_state_dict(schedule.state_dict())
    for o, s in ((optimizer, schedule), (other_optimizer, other)):
        o.step()
        s.step()
    assert other.get_last_lr() == schedule.get_last_lr() == pytest.approx([cosine(0.4)])


def test_a_step_before_the_optimizers_warns():
    schedule = lr_scheduler.StepLR(make_optimizer(), 1)
    with pytest.warns(UserWarning, match="called before optimizer.step"):
        schedule.step()
    optimizer = make_optimizer()
    schedule = lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.step()


@pytest.mark.parametrize("make, error", [
    (lambda o: lr_scheduler.StepLR(3, 1), TypeError), (lambda o: lr_scheduler.StepLR(o, 1, last_epoch=5), KeyError),
    (lambda o: lr_scheduler.LambdaLR(o, [abs, abs]), ValueError), (lambda o: lr_scheduler.LinearLR(o, 0.0), ValueError),
    (lambda o: lr_scheduler.OneCycleLR(o, 1.0), ValueError), (lambda o: lr_scheduler.OneCycleLR(o, 1.0, 5), ValueError),
    (lambda o: lr_scheduler.ReduceLROnPlateau(o, "best"), ValueError),
    (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(make_optimizer(), 1)], []), ValueError)])
def test_schedules_check_their_arguments(make, error):
    optimizer = make_optimizer()
    del optimizer.param_groups[0]["momentum"]
    with pytest.raises(error):
        make(optimizer)


@pytest.mark.parametrize(("make", "expected"), [
    (lambda o: lr_scheduler.StepLR(o, 2, 0.5), lambda t: 0.5 ** (t // 2)),
    (lambda o: lr_scheduler.MultiStepLR(o, [1, 4, 4], 0.5), lambda t: 0.5 ** ((t >= 1) + 2 * (t >= 4))),
    (lambda o: lr_scheduler.ExponentialLR(o, 0.9), lambda t: 0.9**t),
    (lambda o: lr_scheduler.ConstantLR(o, 0.5, 3), lambda t: 0.5 if t < 3 else 1.0),
    (lambda o: lr_scheduler.LinearLR(o, 0.5, 1.0, 4), lambda t: 0.5 + 0.5 * min(t, 4) / 4),
    (lambda o: lr_scheduler.PolynomialLR(o, 8, 2.0), lambda t: (1 - min(t, 8) / 8) ** 2),
    (lambda o: lr_scheduler.CosineAnnealingLR(o, 8), lambda t: (1 + math.cos(math.pi * t / 8)) / 2),
])
def test_a_step_to_a_number_goes_there_and_is_deprecated(make, expected):
    optimizer = optim.SGD([nn.Parameter(keyway.zeros(1))], lr=1.0)
    schedule = make(optimizer)
    optimizer.step()
    for t in (3, 7, 1):
        with pytest.warns(UserWarning, match="epoch of step.. is deprecated"):
            schedule.step(t)
        assert schedule.last_epoch == t and schedule.get_last_lr() == pytest.approx([expected(t)])


def test_a_schedule_that_multiplies_goes_on_from_the_learning_rate_that_there_is():
    for make in (lambda o: lr_scheduler.ExponentialLR(o, 0.5, last_epoch=4),
                 lambda o: lr_scheduler.MultiplicativeLR(o, lambda t: 0.5, last_epoch=4)):
        optimizer = optim.SGD([{"params": [nn.Parameter(keyway.zeros(1))], "initial_lr": 1.0}], lr=0.25)
        schedule = make(optimizer)
        assert schedule.last_epoch == 5 and schedule.get_last_lr() == [0.25]
        optimizer.step()
        schedule.step()
        assert schedule.get_last_lr() == [0.125]


def test_a_learning_rate_that_is_a_tensor_is_filled():
    rate = keyway.tensor(0.5)
    optimizer = optim.SGD([nn.Parameter(keyway.zeros(1))], lr=rate)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.25
    cycle = lr_scheduler.CyclicLR(optimizer, 0.125, 0.5, 1, cycle_momentum=False)
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.125
    cycle.step()
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.5


def test_a_plateau_says_whether_it_cools_down():
    optimizer = optim.SGD([nn.Parameter(keyway.zeros(1))], lr=1.0)
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, cooldown=1)
    seen = []
    for measure in (1.0, 1.0, 1.0):
        schedule.step(measure)
        seen.append(schedule.in_cooldown)
    assert seen == [False, True, False]


def test_schedules_of_schedules_are_nested():
    """By hand: a chain of a constant 1/2 for 2 steps and of powers of 0.9; from step 3 on, powers of 0.5 for 2 steps
    and then a constant 1/4."""

    def chain(optimizer):
        return optim.lr_scheduler.ChainedScheduler([
            optim.lr_scheduler.ConstantLR(optimizer, 0.5, 2), optim.lr_scheduler.ExponentialLR(optimizer, 0.9)])

    def in_turn(optimizer):
        return optim.lr_scheduler.SequentialLR(optimizer, [
            optim.lr_scheduler.ExponentialLR(optimizer, 0.5), optim.lr_scheduler.ConstantLR(optimizer, 0.25, 100)], [2])

    def nested(optimizer):
        return optim.lr_scheduler.SequentialLR(optimizer, [chain(optimizer), in_turn(optimizer)], [3])

    assert rates(nested, 7) == pytest.approx([0.5, 0.45, 0.81, 1.0, 0.5, 0.25, 0.25, 0.25])
    turned = lambda o: optim.lr_scheduler.SequentialLR(o, [in_turn(o), chain(o)], [3])  # noqa: E731
    assert rates(turned, 6) == pytest.approx([1.0, 0.5, 0.25, 0.5, 0.45, 0.81, 0.729])

    optimizer = make_optimizer()
    schedule = nested(optimizer)
    for _ in range(4):
        schedule.step()
    other = make_optimizer()
    resumed = nested(other)
    resumed.load_state_dict(schedule.state_dict())
    other.load_state_dict(optimizer.state_dict())
    for _ in range(3):
        resumed.step()
        schedule.step()
        assert resumed.get_last_lr() == schedule.get_last_lr()
