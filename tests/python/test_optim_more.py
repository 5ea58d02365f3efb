"""keyway.optim: LBFGS, Adafactor, Muon; names, options and hooks that all optimizers share; steps that raise."""

import copy
import math

import keyway
import pytest
from keyway import nn, optim


def values(tensor):
    return tensor.detach().reshape(-1).tolist()


def make_parameter(numbers):
    return nn.Parameter(keyway.tensor(numbers, dtype=keyway.float64))


def make_closure(optimizer, loss):
    def closure():
        optimizer.zero_grad()
        result = loss()
        result.backward()
        return result

    return closure


# ---- LBFGS -----------------------------------------------------------------------------------------------------------


def test_the_first_step_of_lbfgs_follows_the_gradient_and_the_second_the_curvature_it_has_seen():
    x = make_parameter([4.0, -4.0])
    optimizer = optim.LBFGS([x], max_iter=1)
    closure = make_closure(optimizer, lambda: x.square().sum())
    assert optimizer.step(closure).item() == 32.0
    # The gradient is (8, -8): a step of 1 / |gradient|_1 along its negative is one of (-1 / 2, 1 / 2).
    assert values(x) == pytest.approx([3.5, -3.5])
    # The gradient has changed by 2 times the step, so the inverse Hessian is 1 / 2: the next step is exact.
    optimizer.step(closure)
    assert values(x) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert optimizer.state[x]["n_iter"] == 2 and optimizer.state[x]["func_evals"] == 2


@pytest.mark.parametrize("history", [3, 100])
def test_a_search_for_strong_wolfe_steps_solves_rosenbrocks_valley(history):
    x = make_parameter([-1.2, 1.0])
    optimizer = optim.LBFGS([x], max_iter=100, line_search_fn="strong_wolfe", history_size=history)
    optimizer.step(make_closure(optimizer, lambda: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2))
    assert values(x) == pytest.approx([1.0, 1.0], abs=1e-4)


def test_lbfgs_stops_where_the_gradient_is_flat_or_evaluations_are_used_up():
    x = make_parameter([1.0])
    optimizer = optim.LBFGS([x], tolerance_grad=10.0)
    optimizer.step(make_closure(optimizer, lambda: x.square().sum()))
    assert values(x) == [1.0] and optimizer.state[x]["func_evals"] == 1
    optimizer = optim.LBFGS([x], lr=1e-3, max_eval=3)
    optimizer.step(make_closure(optimizer, lambda: x.square().sum()))
    assert optimizer.state[x]["func_evals"] == 3


def test_lbfgs_climbs_where_it_maximizes_and_goes_on_from_a_state():
    x = make_parameter([1.0])
    optimizer = optim.LBFGS([x], maximize=True, line_search_fn="strong_wolfe", max_iter=2)
    other = make_parameter([1.0])
    copied = optim.LBFGS([other], maximize=True, line_search_fn="strong_wolfe", max_iter=2)
    closure = make_closure(optimizer, lambda: x.cos().sum())
    optimizer.step(closure)
    with keyway.no_grad():
        other.copy_(x)
    copied.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for _ in range(5):
        optimizer.step(closure)
        copied.step(make_closure(copied, lambda: other.cos().sum()))
    assert values(x) == values(other) == pytest.approx([0.0], abs=1e-4)


@pytest.mark.parametrize("dtype", [keyway.float64, keyway.complex64])
def test_the_lists_of_lbfgs_are_loaded_in_the_dtype_of_the_parameters(dtype):
    def train(x, optimizer):
        def closure():
            optimizer.zero_grad()
            loss = (keyway.view_as_real(x) if x.is_complex() else x).sub(3).pow(4).sum()
            loss.backward()
            return loss

        optimizer.step(closure)

    x = nn.Parameter(keyway.tensor([1.0, -2.0], dtype=keyway.complex64 if dtype.is_complex else keyway.float32))
    optimizer = optim.LBFGS([x], max_iter=4)
    train(x, optimizer)
    other = nn.Parameter(x.detach().to(dtype))
    resumed = optim.LBFGS([other], max_iter=4)
    resumed.load_state_dict(optimizer.state_dict())
    state = resumed.state[other]
    assert state["old_dirs"] and state["old_dirs"] is not optimizer.state[x]["old_dirs"]
    if not dtype.is_complex:
        assert all(part.dtype is dtype for name in ("old_dirs", "old_stps", "ro") for part in state[name])
    train(other, resumed)
    train(x, optimizer)
    assert keyway.view_as_real(other.detach().to(keyway.complex128)).flatten().tolist() == pytest.approx(
        keyway.view_as_real(x.detach().to(keyway.complex128)).flatten().tolist(), rel=1e-3)


def test_where_the_closure_raises_parameters_stay_where_lbfgs_called_it():
    x = make_parameter([1.0, 2.0])
    optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe")
    scales, seen = keyway.tensor([1.0, 30.0], dtype=keyway.float64), []

    def closure():
        seen.append(values(x))
        if len(seen) == 3:
            raise RuntimeError("stop")
        optimizer.zero_grad()
        loss = (x.square() * scales).sum()
        loss.backward()
        return loss

    with pytest.raises(RuntimeError, match="stop"):
        optimizer.step(closure)
    assert values(x) == seen[-1] != seen[0]


def test_lbfgs_refuses_groups_and_unknown_searches():
    x, y = make_parameter([1.0]), make_parameter([1.0])
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        optim.LBFGS([{"params": [x]}, {"params": [y]}])
    optimizer = optim.LBFGS([x], line_search_fn="other")
    with pytest.raises(keyway.Error, match="only 'strong_wolfe' is supported"):
        optimizer.step(make_closure(optimizer, lambda: x.sum()))
    with pytest.raises(TypeError, match="closure"):
        optim.LBFGS([x]).step(None)


# ---- Adafactor -------------------------------------------------------------------------------------------------------


def test_the_first_step_of_adafactor_is_the_sign_of_a_gradient_of_rank_one():
    # v is the outer product of the means over columns and rows, divided by their mean: g^2 itself at rank one.
    x = make_parameter([[3.0, 0.0], [0.0, 4.0]])
    x.grad = keyway.tensor([[1.0, -2.0], [2.0, -4.0]], dtype=keyway.float64)
    optimizer = optim.Adafactor([x], lr=0.1, weight_decay=0.5)
    optimizer.step()
    step = 0.1 * 2.5  # rms(x) = 5 / 2
    decayed = [3.0 * 0.95, 0.0, 0.0, 4.0 * 0.95]
    assert values(x) == pytest.approx([a - step * sign for a, sign in zip(decayed, (1, -1, 1, -1))])
    state = optimizer.state[x]
    assert values(state["row_var"]) == [2.5, 10.0] and state["row_var"].shape == (2, 1)
    assert values(state["col_var"]) == [2.5, 10.0] and state["col_var"].shape == (1, 2)


def test_adafactor_keeps_all_squares_of_vectors_and_clips_the_update():
    x = make_parameter([0.0])
    optimizer = optim.Adafactor([x], lr=1.0, beta2_decay=-1.0, eps=(None, 1e-2))
    for g in (1.0, 3.0):
        x.grad = keyway.tensor([g], dtype=keyway.float64)
        optimizer.step()
    # The mean of 1 and 9 is 5; 3 / sqrt(5) is clipped to 1; steps are 0.01 and max(0.01, |x|) / sqrt(2).
    assert optimizer.state[x]["variance"].item() == pytest.approx(5.0)
    assert x.item() == pytest.approx(-0.01 - 0.01 / math.sqrt(2))
    with pytest.raises(ValueError, match="Clipping threshold d should be >= 1 but is: 0.5"):
        optim.Adafactor([x], d=0.5)


# ---- Muon ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("adjustment", "ratio"), [
    (None, math.sqrt(2)), ("match_rms_adamw", 0.4), ("spectral_unclamped", math.sqrt(2))])
def test_muon_steps_by_a_nearly_orthogonal_matrix(adjustment, ratio):
    x = nn.Parameter(keyway.zeros(4, 2))
    x.grad = keyway.tensor([[100.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    optim.Muon([x], lr=1.0, adjust_lr_fn=adjustment).step()
    update = x.detach().div(-ratio)
    # Singular values come to lie between 0.7 and 1.2; one that is a hundredth of the other is still below.
    assert 0.65 < update[0, 0].item() < 1.25 and 0.1 < update[1, 1].item() < 1.25
    assert update.abs().sum().item() == pytest.approx(update[0, 0].item() + update[1, 1].item(), abs=1e-3)


def test_muon_decays_weights_and_refuses_what_is_no_matrix():
    x = nn.Parameter(keyway.ones(1, 1))
    x.grad = keyway.zeros(1, 1)
    optimizer = optim.Muon([x], lr=0.5, weight_decay=0.2)
    optimizer.step()
    assert x.item() == pytest.approx(0.9)
    assert list(optimizer.state[x]) == ["momentum_buffer"]
    with pytest.raises(ValueError, match="only supports 2D parameters"):
        optim.Muon([nn.Parameter(keyway.ones(3))])


# ---- all optimizers --------------------------------------------------------------------------------------------------


def test_optimizers_without_complex_parameters_refuse_them():
    x = nn.Parameter(keyway.tensor([[1 + 1j]]))
    x.grad = keyway.tensor([[1 + 1j]])
    for kind in (optim.Adafactor, optim.Muon):
        with pytest.raises(keyway.Error, match=f"{kind.__name__} does not support complex parameters"):
            kind([x]).step()


def test_hooks_are_called_once_around_steps_of_ones_own():
    class Plain(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 1.0})

        def step(self, closure=None):
            for group in self.param_groups:
                for parameter in group["params"]:
                    with keyway.no_grad():
                        parameter.sub_(parameter.grad)

    class Twice(Plain):
        def step(self, closure=None):
            super().step()
            super().step()

    x = nn.Parameter(keyway.tensor([5.0]))
    x.grad = keyway.ones(1)
    calls = []
    for kind in (Plain, Twice):
        optimizer = kind([x])
        optimizer.register_step_pre_hook(lambda o, args, kwargs: calls.append(x.item()))
        optimizer.register_step_post_hook(lambda o, args, kwargs: calls.append(x.item()))
        optimizer.step()
    assert calls == [5.0, 4.0, 4.0, 2.0]


@pytest.mark.parametrize("dtype", [keyway.bfloat16, keyway.float32, keyway.float64])
@pytest.mark.parametrize("name, options", [
    ("Adadelta", {}), ("Adafactor", {}), ("Adagrad", {"lr_decay": 0.1}), ("Adam", {"amsgrad": True}), ("AdamW", {}),
    ("Adamax", {}), ("ASGD", {"lambd": 0.3, "t0": 2, "lr": 0.3}), ("LBFGS", {"lr": 0.3, "max_iter": 2}),
    ("Muon", {}), ("NAdam", {}), ("RAdam", {}), ("RMSprop", {"centered": True, "momentum": 0.9}), ("Rprop", {}),
    ("SGD", {"momentum": 0.9})])
def test_a_resumed_optimizer_goes_on_as_if_it_had_not_stopped(name, options, dtype):
    if name == "LBFGS" and dtype == keyway.bfloat16:
        pytest.skip("its line of 16-bit numbers ends at once")
    start = keyway.tensor([[0.7, -1.3], [2.1, 0.4]], dtype=dtype)

    def steps(parameter, optimizer, count):
        closure = make_closure(optimizer, lambda: (parameter * parameter * parameter.detach().cos()).sum())
        for _ in range(count):
            optimizer.step(closure)

    def begin(value):
        parameter = nn.Parameter(value.clone())
        return parameter, getattr(optim, name)([parameter], **options)

    straight, optimizer = begin(start)
    steps(straight, optimizer, 8)
    stopped, first = begin(start)
    steps(stopped, first, 4)
    resumed, second = begin(stopped.detach())
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    steps(resumed, second, 4)
    assert keyway.equal(resumed, straight)


# ---- steps that raise ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, options, found_inf", [
    *((name, {}, False) for name in ("Adadelta", "Adafactor", "Adagrad", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop",
                                     "Rprop")),
    *((name, {"fused": fused}, False) for name in ("Adam", "AdamW") for fused in (False, True)),
    ("Adam", {"fused": True}, True),
])
def test_a_step_that_raises_is_no_step(name, options, found_inf):
    weight = nn.Parameter(keyway.ones(2, 2))
    optimizer = getattr(optim, name)([weight], **options)
    if found_inf:
        optimizer.found_inf = keyway.zeros(())
    weight.grad = keyway.ones_like(weight)
    optimizer.step()
    (group,) = optimizer.param_groups
    del group["maximize"]  # which every update asks for
    with pytest.raises(KeyError, match="maximize"):
        optimizer.step()
    assert optimizer.state[weight]["step"].item() == 1
    group["maximize"] = False
    optimizer.step()
    assert optimizer.state[weight]["step"].item() == 2


@pytest.mark.parametrize("name, options", [
    *((name, {}) for name in ("Adadelta", "Adafactor", "Adagrad", "Adamax", "ASGD", "Muon", "NAdam", "RAdam", "RMSprop",
                              "Rprop")),
    *(("SGD", {"momentum": 0.9, "dampening": 0.5, "fused": fused}) for fused in (False, True)),
    *((name, {"amsgrad": True, "fused": fused}) for name in ("Adam", "AdamW") for fused in (False, True)),
])
def test_after_a_first_step_that_raises_an_optimizer_begins_as_if_it_had_not_been(name, options):
    def train(raises):
        weight = nn.Parameter(keyway.ones(2, 2))
        optimizer = getattr(optim, name)([weight], lr=0.5, **options)
        weight.grad = keyway.full_like(weight, 3.0)
        if raises:
            (group,) = optimizer.param_groups
            group["lr"] = "much"
            with pytest.raises((TypeError, ValueError)):
                optimizer.step()
            assert options.get("fused") or not optimizer.state
            group["lr"] = 0.5
        for _ in range(2):
            optimizer.step()
        return [weight.tolist(), *(value.tolist() for value in optimizer.state[weight].values())]

    assert train(raises=True) == train(raises=False)


def test_the_numbers_of_states_stay_where_a_later_step_raises():
    mu = [0.9 * (1 - 0.5 * 0.96 ** (t * 4e-3)) for t in (1, 2)]
    expected = {"NAdam": [{"step": 1, "mu_product": mu[0]}, {"step": 2, "mu_product": mu[0] * mu[1]}],
                "ASGD": [{"step": t, "eta": 0.5 / (1 + 1e-4 * 0.5 * t) ** 0.75, "mu": 1} for t in (1, 2)]}
    for name, (first, second) in expected.items():
        weight = make_parameter([1.0])
        optimizer = getattr(optim, name)([weight], lr=0.5)
        weight.grad = keyway.ones_like(weight)
        optimizer.step()
        (group,), state = optimizer.param_groups, optimizer.state[weight]
        group["lr"] = "much"
        with pytest.raises(TypeError):
            optimizer.step()
        assert {number: state[number].item() for number in first} == pytest.approx(first)
        group["lr"] = 0.5
        optimizer.step()
        assert {number: state[number].item() for number in second} == pytest.approx(second)


def test_a_capture_refuses_an_optimizer_of_ones_own_that_does_not_say_it_may_be_captured(monkeypatch):
    class Descent(optim.Optimizer):
        def _update(self, parameter, grad, group, state):
            state.setdefault("seen", True)
            parameter.sub_(grad)

    class Capturable(Descent):
        _may_be_captured = True

    for cls in (Descent, Capturable):
        weight = nn.Parameter(keyway.ones(2))
        optimizer = cls([weight], {})
        weight.grad = keyway.ones(2)
        optimizer.step()
        monkeypatch.setattr("keyway.optim.optimizer.is_captured", lambda parameter: True)
        if cls is Descent:
            with pytest.raises(keyway.Error, match="Descent: the number of the step stands on the host"):
                optimizer.step()
        else:
            optimizer.step()
        monkeypatch.setattr("keyway.optim.optimizer.is_captured", lambda parameter: False)
    assert weight.tolist() == [-1.0, -1.0]
