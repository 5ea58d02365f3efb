"""keyway.optim: steps with known numbers, groups, state."""

import copy
import math

import keyway
import pytest
from keyway import nn, optim


def parameter(*values):
    return nn.Parameter(keyway.tensor(list(values), dtype=keyway.float64))


def trained(make, grads, values=(1.0,)):
    """The values of a parameter after one step for each gradient."""
    weight = parameter(*values)
    optimizer = make([weight])
    seen = []
    for grad in grads:
        weight.grad = keyway.full_like(weight, grad)
        optimizer.step()
        seen.append(weight[0].item())
    return seen


def test_sgd_by_hand():
    assert trained(lambda p: optim.SGD(p, lr=0.1), [1, 2]) == pytest.approx([0.9, 0.7])
    assert trained(lambda p: optim.SGD(p, lr=0.1, maximize=True), [1]) == pytest.approx([1.1])
    assert trained(lambda p: optim.SGD(p, lr=0.1, weight_decay=0.5), [1]) == pytest.approx([0.85])
    assert trained(lambda p: optim.SGD(p, lr=0.1, momentum=0.5), [1, 2]) == pytest.approx([0.9, 0.65])
    assert trained(lambda p: optim.SGD(p, lr=0.1, momentum=0.5, dampening=0.5), [1, 2]) == pytest.approx([0.9, 0.75])
    assert trained(lambda p: optim.SGD(p, lr=0.1, momentum=0.5, nesterov=True), [1, 2]) == pytest.approx([0.85, 0.525])


def test_the_first_step_of_adam_has_the_length_of_the_learning_rate():
    for grad in (1e-3, 1.0, 1e3):
        assert trained(lambda p: optim.Adam(p, lr=0.1), [grad]) == pytest.approx([0.9], rel=1e-4)


def test_adam_by_hand():
    m, v, w, expected = 0.0, 0.0, 1.0, []
    for t, g in enumerate([1.0, -2.0, 0.5], 1):
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
        w -= 0.1 * (m / (1 - 0.8**t)) / (math.sqrt(v / (1 - 0.9**t)) + 1e-3)
        expected.append(w)
    seen = trained(lambda p: optim.Adam(p, 0.1, (0.8, 0.9), 1e-3), [1.0, -2.0, 0.5])
    assert seen == pytest.approx(expected, rel=1e-12)


def test_decay_goes_into_the_gradient_of_adam_and_past_that_of_adamw():
    assert trained(lambda p: optim.AdamW(p, lr=0.1, weight_decay=0.5), [0, 0]) == pytest.approx([0.95, 0.9025])
    assert trained(lambda p: optim.Adam(p, lr=0.1, weight_decay=0.5), [0]) == pytest.approx([0.9])


def test_amsgrad_keeps_the_largest_moment():
    with_largest = trained(lambda p: optim.Adam(p, lr=0.1, betas=(0.0, 0.5), amsgrad=True), [10.0, 1.0])
    without = trained(lambda p: optim.Adam(p, lr=0.1, betas=(0.0, 0.5)), [10.0, 1.0])
    assert with_largest[0] == pytest.approx(without[0]) and with_largest[1] > without[1]


def stepped(make, formula, grads=(1.0, -2.0, 0.5, 0.25)):
    """What an optimizer makes of 1.0, and what a formula of (weight, gradient, number of the step, memory) does."""
    weight, memory, expected = 1.0, {}, []
    for t, g in enumerate(grads, 1):
        weight = formula(weight, g, t, memory)
        expected.append(weight)
    usual = keyway.get_default_dtype()
    keyway.set_default_dtype(keyway.float64)  # so that numbers of states are as exact
    try:
        assert trained(make, grads) == pytest.approx(expected, rel=1e-12)
    finally:
        keyway.set_default_dtype(usual)


def test_rmsprop_by_hand():
    def formula(w, g, t, m):
        m["v"] = 0.8 * m.get("v", 0) + 0.2 * g * g
        m["a"] = 0.8 * m.get("a", 0) + 0.2 * g
        m["b"] = 0.5 * m.get("b", 0) + g / (math.sqrt(m["v"] - m["a"] ** 2) + 1e-3)
        return w - 0.1 * m["b"]

    stepped(lambda p: optim.RMSprop(p, 0.1, 0.8, 1e-3, momentum=0.5, centered=True), formula)
    assert trained(lambda p: optim.RMSprop(p, 0.1, 0.75, 0), [3]) == pytest.approx([0.8])


def test_adagrad_by_hand():
    def formula(w, g, t, m):
        m["s"] = m.get("s", 0.5) + (g + 0.1 * w) ** 2
        return w - 0.1 / (1 + (t - 1) * 0.2) * (g + 0.1 * w) / (math.sqrt(m["s"]) + 1e-3)

    stepped(lambda p: optim.Adagrad(p, 0.1, 0.2, 0.1, 0.5, 1e-3), formula)


def test_adadelta_by_hand():
    def formula(w, g, t, m):
        m["v"] = 0.8 * m.get("v", 0) + 0.2 * g * g
        d = math.sqrt(m.get("u", 0) + 0.1) / math.sqrt(m["v"] + 0.1) * g
        m["u"] = 0.8 * m.get("u", 0) + 0.2 * d * d
        return w - 0.5 * d

    stepped(lambda p: optim.Adadelta(p, 0.5, 0.8, 0.1), formula)


def test_adamax_by_hand():
    def formula(w, g, t, m):
        m["m"] = 0.8 * m.get("m", 0) - 0.2 * g
        m["u"] = max(0.9 * m.get("u", 0), abs(g) + 1e-3)
        return w - 0.1 / (1 - 0.8**t) * m["m"] / m["u"]

    stepped(lambda p: optim.Adamax(p, 0.1, (0.8, 0.9), 1e-3, maximize=True), formula)


def test_nadam_by_hand():
    def formula(w, g, t, m):
        now, then = (0.8 * (1 - 0.5 * 0.96 ** (k * 0.1)) for k in (t, t + 1))
        m["p"] = m.get("p", 1) * now
        m["m"] = 0.8 * m.get("m", 0) + 0.2 * g
        m["v"] = 0.9 * m.get("v", 0) + 0.1 * g * g
        d = math.sqrt(m["v"] / (1 - 0.9**t)) + 1e-3
        return w - 0.1 * ((1 - now) / (1 - m["p"]) * g + then / (1 - m["p"] * then) * m["m"]) / d

    stepped(lambda p: optim.NAdam(p, 0.1, (0.8, 0.9), 1e-3, momentum_decay=0.1), formula)


def test_radam_by_hand():
    def formula(w, g, t, m):
        m["m"] = 0.8 * m.get("m", 0) + 0.2 * g
        m["v"] = 0.9 * m.get("v", 0) + 0.1 * g * g
        r = 2 / 0.1 - 1
        q = r - 2 * t * 0.9**t / (1 - 0.9**t)
        scale = 1.0
        if q > 5:
            scale = math.sqrt((1 - 0.9**t) * (q - 4) * (q - 2) * r / ((r - 4) * (r - 2) * q))
            scale /= math.sqrt(m["v"]) + 1e-3
        return w - 0.1 * m["m"] / (1 - 0.8**t) * scale

    stepped(lambda p: optim.RAdam(p, 0.1, (0.8, 0.9), 1e-3), formula, [1.0, -2.0, 0.5, 0.25, 1.0, 0.5, -1.0, 2.0, 1.0])


def test_rprop_goes_by_signs():
    seen = trained(lambda p: optim.Rprop(p, 0.1, (0.5, 2.0), (0.01, 0.15)), [3, 1, -2, -2, -1])
    assert seen == pytest.approx([0.9, 0.75, 0.75, 0.825, 0.975])


def test_asgd_averages_after_t0():
    weight = parameter(1.0)
    optimizer = optim.ASGD([weight], 0.1, lambd=0.5, alpha=1.0, t0=1)
    w, eta, mu, average = 1.0, 0.1, 1.0, 0.0
    for t in range(1, 5):
        weight.grad = keyway.ones_like(weight)
        optimizer.step()
        w = w * (1 - 0.5 * eta) - eta
        average += (w - average) * mu
        eta, mu = 0.1 / (1 + 0.5 * 0.1 * t), 1 / max(1, t - 1)
    assert weight.item() == pytest.approx(w) and optimizer.state[weight]["ax"].item() == pytest.approx(average)


def test_decay_of_nadam_and_radam_may_go_past_the_gradient():
    for kind in (optim.NAdam, optim.RAdam):
        seen = trained(lambda p: kind(p, lr=0.1, weight_decay=0.5, decoupled_weight_decay=True), [0, 0])
        assert seen == pytest.approx([0.95, 0.9025])


def test_a_parameter_without_a_gradient_stays():
    used, unused = parameter(1.0), parameter(1.0)
    optimizer = optim.Adam([used, unused])
    used.grad = keyway.ones_like(used)
    optimizer.step()
    assert unused.item() == 1.0 and used.item() != 1.0 and unused not in optimizer.state


def test_groups_have_options_of_their_own():
    slow, fast = parameter(1.0), parameter(1.0)
    optimizer = optim.SGD([{"params": slow, "lr": 0.1}, {"params": [fast]}], lr=0.5)
    optimizer.add_param_group({"params": [parameter(1.0)], "lr": 0.0})
    for group in optimizer.param_groups:
        group["params"][0].grad = keyway.ones(1, dtype=keyway.float64)
    optimizer.step()
    assert [g["params"][0].item() for g in optimizer.param_groups] == pytest.approx([0.9, 0.5, 1.0])


def test_what_cannot_be_trained_is_refused():
    weight = parameter(1.0)
    for params, error, text in (
            ([], ValueError, "empty parameter list"), (weight, TypeError, "not one Tensor"), ([3], TypeError, "is int"),
            ([weight.mul(2)], ValueError, "non-leaf"),
            ([{"params": weight}, {"params": weight}], ValueError, "more than one parameter group"),
            ([{"params": {weight}}], TypeError, "fixed order")):
        with pytest.raises(error, match=text):
            optim.SGD(params)


@pytest.mark.parametrize("make", [
    lambda p: optim.SGD(p, lr=-1), lambda p: optim.SGD(p, momentum=-1), lambda p: optim.SGD(p, nesterov=True),
    lambda p: optim.Adam(p, betas=(1.0, 0.9)), lambda p: optim.Adam(p, eps=-1), lambda p: optim.AdamW(p, lr=math.nan),
    lambda p: optim.RMSprop(p, alpha=-1), lambda p: optim.Adagrad(p, lr_decay=-1), lambda p: optim.Adadelta(p, rho=2),
    lambda p: optim.Adamax(p, betas=(0.9, 1.0)), lambda p: optim.NAdam(p, momentum_decay=-1),
    lambda p: optim.RAdam(p, weight_decay=-1), lambda p: optim.Rprop(p, etas=(1.1, 1.2)),
    lambda p: optim.ASGD(p, lr=-1)])
def test_options_are_checked(make):
    with pytest.raises(ValueError):
        make([parameter(1.0)])


def test_gradients_are_dropped_or_made_zero():
    weight = parameter(1.0)
    optimizer = optim.SGD([weight])
    weight.mul(2).sum().backward(create_graph=True)
    optimizer.zero_grad(set_to_none=False)
    assert weight.grad.tolist() == [0.0] and not weight.grad.requires_grad
    optimizer.zero_grad()
    assert weight.grad is None


def test_a_closure_is_called_with_gradients_on_and_its_loss_comes_back():
    weight = parameter(3.0)
    optimizer = optim.SGD([weight], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = weight.square().sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 9.0 and weight.item() == pytest.approx(2.4)


@pytest.mark.parametrize("make", [
    lambda p: optim.SGD(p, lr=0.1, momentum=0.9), lambda p: optim.Adam(p, lr=0.1, amsgrad=True),
    lambda p: optim.AdamW(p), lambda p: optim.RMSprop(p, momentum=0.9, centered=True), lambda p: optim.Adagrad(p),
    lambda p: optim.Adadelta(p), lambda p: optim.Adamax(p), lambda p: optim.NAdam(p), lambda p: optim.RAdam(p),
    lambda p: optim.Rprop(p), lambda p: optim.ASGD(p, t0=2)])
def test_training_goes_on_from_a_saved_state(make):
    def steps(weight, optimizer, count):
        for i in range(count):
            weight.grad = keyway.full_like(weight, float(i + 1))
            optimizer.step()

    weight = parameter(1.0, 2.0)
    optimizer = make([weight])
    steps(weight, optimizer, 3)
    saved = copy.deepcopy(optimizer.state_dict())
    other = nn.Parameter(weight.detach().clone())
    resumed = make([other])
    resumed.load_state_dict(saved)
    steps(weight, optimizer, 2)
    steps(other, resumed, 2)
    assert other.tolist() == pytest.approx(weight.tolist(), rel=1e-9)
    assert list(saved["state"]) == [0] and saved["param_groups"][0]["params"] == [0]


def test_a_state_of_other_groups_is_refused_and_nothing_changes():
    one, two = optim.SGD([parameter(1.0)], lr=0.5), optim.SGD([parameter(1.0), parameter(2.0)], lr=0.1)
    with pytest.raises(ValueError, match="doesn't match the size"):
        two.load_state_dict(one.state_dict())
    two.add_param_group({"params": parameter(1.0)})
    with pytest.raises(ValueError, match="different number of parameter groups"):
        two.load_state_dict(one.state_dict())
    assert two.param_groups[0]["lr"] == 0.1


def test_an_optimizer_of_ones_own_defines_one_method():
    class SignDescent(optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def _update(self, parameter, grad, group, state):
            state["steps"] = state.get("steps", 0) + 1
            parameter.sub_(grad.sign(), alpha=group["lr"])

    weight = parameter(1.0)
    optimizer = SignDescent([weight], 0.25)
    seen = []
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(weight.item()))
    for _ in range(2):
        weight.grad = keyway.full_like(weight, 7.0)
        optimizer.step()
    assert seen == [0.75, 0.5] and optimizer.state[weight] == {"steps": 2}
    assert "Parameter Group 0\n    lr: 0.25" in repr(optimizer)


@pytest.mark.parametrize("counts", [False, True])
def test_an_update_in_the_place_of_adams_is_called_for_what_is_not_fused_and_its_steps_are_counted_once(counts):
    class Signs(optim.Adam):
        _counts_steps = counts

        def _update_fused(self, group):
            return list(group["params"])

        def _update(self, parameter, grad, group, state):
            state.setdefault("step", keyway.tensor(0.0))
            if not counts:
                state["step"] += 1
            parameter.sub_(grad.sign(), alpha=group["lr"])

    weight = parameter(1.0)
    optimizer = Signs([weight], lr=0.25)
    for _ in range(2):
        weight.grad = keyway.full_like(weight, 7.0)
        optimizer.step()
    assert weight.item() == 0.5 and optimizer.state[weight]["step"].item() == 2


def test_fused_is_refused_where_it_is_not_there():
    weight = nn.Parameter(keyway.zeros(2, device="meta"))
    weight.grad = keyway.zeros(2, device="meta")
    with pytest.raises(keyway.ValueError, match="fused=True is there for floating-point parameters on devices"):
        optim.SGD([weight], fused=True).step()


def test_options_without_effect_are_accepted():
    for name in ("SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"):
        kind = getattr(optim, name)
        for foreach in (None, True, False):
            assert trained(lambda p: kind(p, lr=0.1, foreach=foreach), [1.0, 2.0]) == trained(
                lambda p: kind(p, lr=0.1), [1.0, 2.0])
        assert "foreach" in kind([parameter(1.0)]).defaults


def test_fused_excludes_other_ways_to_step():
    for kind in (optim.SGD, optim.Adam, optim.AdamW, optim.Adagrad):
        for other in ("foreach", "differentiable"):
            with pytest.raises(keyway.Error, match=f"`fused`.*{other}"):
                kind([parameter(1.0)], fused=True, **{other: True})


def test_a_differentiable_step_has_a_gradient():
    rate = keyway.tensor([2.0], dtype=keyway.float64, requires_grad=True)
    weight = parameter(1.0).clone()
    weight.retain_grad()
    optimizer = optim.SGD([weight], lr=0.5, momentum=0.5, differentiable=True)
    weight.grad = rate * 3
    optimizer.step()
    optimizer.step()
    weight.sum().backward()
    assert weight.item() == 1 - 0.5 * 6 - 0.5 * 9 and rate.grad.item() == -0.5 * 3 * (1 + 1.5)


def test_parameters_may_have_names():
    net = nn.Linear(1, 1)
    optimizer = optim.SGD(net.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.param_groups[0]["params"] == [net.weight, net.bias]
    with pytest.raises(ValueError, match="with names, or all without"):
        optimizer.add_param_group({"params": [parameter(1.0)]})


def test_a_parameter_twice_in_a_group_is_warned_of_and_in_two_refused():
    weight = parameter(1.0)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optimizer = optim.SGD([weight, weight])
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [weight]})


def test_hooks_of_steps_see_the_arguments_and_may_replace_them():
    optimizer, seen = optim.SGD([parameter(1.0)]), []
    optimizer.register_step_pre_hook(lambda o, args, kwargs: (args, {"closure": lambda: 5.0}))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append((o is args[0], args[1:], sorted(kwargs))))
    assert optimizer.step() == 5.0 and seen == [(True, (), ["closure"])]
    optimizer.register_step_pre_hook(lambda *all: 3)
    with pytest.raises(keyway.Error, match="step pre-hook returns"):
        optimizer.step()


def test_an_optimizer_with_a_step_of_its_own_has_hooks_and_is_counted():
    class Halving(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 1.0})

        def step(self, closure=None):
            with keyway.no_grad():
                for group in self.param_groups:
                    for weight in group["params"]:
                        weight.mul_(0.5)

    weight, seen = parameter(1.0), []
    optimizer = Halving([weight])
    optimizer.register_step_post_hook(lambda *all: seen.append(1))
    schedule = optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    schedule.step()  # warns of nothing, as a step was made
    assert weight.item() == 0.5 and seen == [1]


def test_hooks_of_states_may_replace_them():
    optimizer, seen = optim.SGD([parameter(1.0)], lr=0.5), []
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("saves"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: (seen.append("more" in state), state["old"])[1])
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    state = optimizer.state_dict()
    assert state["more"] == 1
    state["param_groups"][0]["lr"] = 0.25
    optimizer.load_state_dict({"old": state})
    assert optimizer.param_groups[0]["lr"] == 0.25 and seen == ["saves", False, "loaded"]


def after_steps(make, steps=2):
    weight = parameter(1.0, 2.0)
    optimizer = make([weight])
    for _ in range(steps):
        weight.grad = keyway.ones_like(weight)
        optimizer.step()
    return weight, optimizer


def test_adamw_stays_adamw_with_the_state_of_adam():
    _, adam = after_steps(lambda params: optim.Adam(params, lr=0.5, weight_decay=0.25))
    weight, adamw = after_steps(optim.AdamW, 0)
    adamw.load_state_dict(adam.state_dict())
    assert adamw.param_groups[0]["decoupled_weight_decay"] is True and adamw.param_groups[0]["weight_decay"] == 0.25
    _, other = after_steps(optim.Adam, 0)
    other.load_state_dict(adamw.state_dict())  # as in PyTorch
    assert other.param_groups[0]["decoupled_weight_decay"] is True


@pytest.mark.parametrize("make", [
    lambda p: optim.Adam(p, fused=False), optim.AdamW, optim.Adagrad, optim.Adadelta, optim.Adamax, optim.ASGD,
    optim.NAdam, optim.RAdam, optim.RMSprop, optim.Rprop, optim.Adafactor])
def test_a_state_of_old_lacks_options_and_has_numbers_without_a_dtype(make):
    weight, optimizer = after_steps(make)
    old = copy.deepcopy(optimizer.state_dict())
    for name in ("maximize", "capturable", "differentiable", "foreach", "decoupled_weight_decay"):
        old["param_groups"][0].pop(name, None)
    numbers = {name: int(value) if name == "step" else value.item() for name, value in old["state"][0].items()
               if name in optimizer._NUMBERS}
    old["state"][0].update(numbers)
    other_weight, other = after_steps(make, 0)
    other.load_state_dict(old)
    with keyway.no_grad():
        other_weight.copy_(weight)
    assert other.param_groups[0].keys() == optimizer.param_groups[0].keys()
    for each, of in ((weight, optimizer), (other_weight, other)):
        each.grad = keyway.ones_like(each)
        of.step()
    assert weight.tolist() == other_weight.tolist()
    assert {name: value.dtype for name, value in other.state[other_weight].items()} == {
        name: value.dtype for name, value in optimizer.state[weight].items()}


def test_names_of_parameters_are_those_of_the_state():
    weight = parameter(1.0)
    named, plain = optim.SGD([("new", weight)]), optim.SGD([weight])
    named.load_state_dict(plain.state_dict())
    assert named.param_groups[0]["param_names"] == ["new"]
    saved = optim.SGD([("old", weight)]).state_dict()
    for optimizer in (named, plain):
        optimizer.load_state_dict(saved)
        assert optimizer.param_groups[0]["param_names"] == ["old"]


CAPTURED = ["SGD", "Adadelta", "RMSprop", "Rprop", "Muon"]


@pytest.mark.parametrize("name", [*CAPTURED, "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "NAdam", "RAdam",
                                  "Adafactor"])
def test_a_capture_refuses_steps_that_count_on_the_host_and_states_that_it_would_make(monkeypatch, name):
    options = {"momentum": 0.5} if name == "SGD" else {}
    if name in ("SGD", "Adam", "AdamW"):
        options["fused"] = False
    weight = nn.Parameter(keyway.ones(2, 2))
    optimizer = getattr(optim, name)([weight], lr=0.5, **options)
    weight.grad = keyway.ones_like(weight)
    before = weight.tolist()
    # There is no CUDA device: what tells a capture is replaced.
    monkeypatch.setattr("keyway.optim.optimizer.is_captured", lambda parameter: True)
    monkeypatch.setattr("keyway.optim._fused.is_captured", lambda parameter: True)
    rule = "take a step before one is captured" if name in CAPTURED else f"{name}: the number of the step stands"
    with pytest.raises(keyway.Error, match=rule):
        optimizer.step()
    assert weight.tolist() == before and not optimizer.state
    monkeypatch.setattr("keyway.optim.optimizer.is_captured", lambda parameter: False)
    optimizer.step()
    monkeypatch.setattr("keyway.optim.optimizer.is_captured", lambda parameter: True)
    if name in CAPTURED:
        optimizer.step()
    else:
        with pytest.raises(keyway.Error, match=rule):
            optimizer.step()


def test_optimizers_are_copied_with_their_state_and_without_hooks():
    weight = parameter(1.0)
    optimizer = optim.Adam([weight])
    weight.grad = keyway.ones_like(weight)
    optimizer.step()
    optimizer.register_step_post_hook(lambda *all: 1 / 0)
    other = copy.deepcopy(optimizer)
    (copied,) = other.param_groups[0]["params"]
    copied.grad = keyway.ones_like(copied)
    other.step()
    assert copied is not weight and other.state[copied]["step"].item() == 2 and optimizer.state[weight]["step"] == 1


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam",
                                  "RMSprop", "Rprop"])
def test_a_complex_parameter_is_trained_as_its_parts(name):
    values = keyway.tensor([1 + 2j, -0.5j], dtype=keyway.complex128)
    whole = nn.Parameter(values.clone())
    parts = nn.Parameter(keyway.view_as_real(values).clone())
    one, other = getattr(optim, name)([whole], lr=0.1), getattr(optim, name)([parts], lr=0.1)
    for grad in (1 - 3j, 0.5j, -2.0):
        whole.grad = keyway.full_like(whole, grad)
        parts.grad = keyway.view_as_real(whole.grad)
        one.step()
        other.step()
    assert keyway.view_as_real(whole.detach()).tolist() == parts.tolist()
    kept = [value for value in one.state[whole].values() if keyway.is_tensor(value) and value.dim() > 0]
    assert all(value.dtype is keyway.complex128 and value.shape == whole.shape for value in kept)


def test_a_wrapper_around_an_optimizer_steps_without_hooks_of_its_own():
    class Twice(optim.Optimizer):
        def __init__(self, inner):
            self.inner = inner
            self.param_groups = inner.param_groups

        def step(self, closure=None):
            self.inner.step(closure)
            return self.inner.step(closure)

    weight = parameter(1.0)
    weight.grad = keyway.ones_like(weight)
    Twice(optim.SGD([weight], lr=0.25)).step()
    assert weight.item() == 0.5


@pytest.mark.parametrize("make", [
    lambda p: optim.Adam([p], differentiable=True, amsgrad=True, weight_decay=0.1),
    lambda p: optim.NAdam([p], differentiable=True), lambda p: optim.RAdam([p], differentiable=True),
    lambda p: optim.Adamax([p], differentiable=True), lambda p: optim.Adadelta([p], differentiable=True),
    lambda p: optim.Adagrad([p], differentiable=True),
    lambda p: optim.RMSprop([p], differentiable=True, centered=True, momentum=0.9),
])
def test_recorded_steps_have_gradients(make):
    """Of the parameter after seven steps with the gradient scale * start, with respect to scale."""
    def after(scale):
        parameter = keyway.tensor([0.5, -1.0], dtype=keyway.float64, requires_grad=True).clone()
        optimizer = make(parameter)
        for _ in range(7):
            parameter.grad = scale * keyway.tensor([1.0, 2.0], dtype=keyway.float64)
            optimizer.step()
        return parameter

    scale = keyway.tensor(0.3, dtype=keyway.float64, requires_grad=True)
    assert keyway.autograd.gradcheck(after, (scale,), eps=1e-6, atol=1e-5)
