"""keyway.func.functional_call, and averages of models: keyway.optim.swa_utils."""

import keyway
import pytest
from keyway import nn, optim
from keyway.func import functional_call
from keyway.optim import swa_utils


def make_line(weight=1.0, bias=0.0):
    layer = nn.Linear(1, 1)
    with keyway.no_grad():
        layer.weight.fill_(weight)
        layer.bias.fill_(bias)
    return layer


def test_a_module_is_called_with_other_parameters_and_keeps_its_own():
    net = nn.Sequential(make_line(), make_line())
    own = net[1].weight
    weight = keyway.full((1, 1), 5.0, requires_grad=True)
    result = functional_call(net, {"1.weight": weight}, keyway.tensor([2.0]))
    assert result.tolist() == [10.0] and net[1].weight is own
    result.backward()
    assert weight.grad.tolist() == [[2.0]] and own.grad is None
    with pytest.raises(ValueError):
        functional_call(nn.BatchNorm1d(1), {"weight": keyway.ones(1)}, keyway.ones(1, 1, 1, 1))
    assert functional_call(net, [{"0.bias": keyway.ones(1)}, {"1.bias": keyway.ones(1)}], None,
                           {"input": keyway.zeros(1)}).tolist() == [2.0]


def test_tied_weights_are_exchanged_together():
    net = nn.Sequential(make_line(), make_line())
    net[1].weight = net[0].weight
    given = {"0.weight": keyway.full((1, 1), 3.0)}
    assert functional_call(net, given, keyway.ones(1)).tolist() == [9.0]
    assert functional_call(net, given, keyway.ones(1), tie_weights=False).tolist() == [3.0]


def test_names_have_to_fit_where_that_is_asked_for():
    layer = make_line()
    assert functional_call(layer, {"other": keyway.ones(1)}, keyway.ones(1)).tolist() == [1.0]
    with pytest.raises(keyway.Error, match=r"(?s)Unexpected key\(s\): 'other'.*Missing key\(s\): 'bias', 'weight'"):
        functional_call(layer, {"other": keyway.ones(1)}, keyway.ones(1), strict=True)
    with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
        functional_call(layer, [{"bias": keyway.ones(1)}, {"bias": keyway.ones(1)}], keyway.ones(1))


@pytest.mark.parametrize(("options", "expected"), [
    ({}, 4.0), ({"avg_fn": swa_utils.get_ema_avg_fn(0.75)}, 3.4375),
    ({"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.75)}, 3.4375),
    ({"avg_fn": lambda average, parameter, count: parameter.mul(count)}, 14.0)])
def test_an_averaged_model_has_the_average_of_what_it_has_seen(options, expected):
    model = make_line()
    averaged = swa_utils.AveragedModel(model, **options)
    for weight in (2.0, 3.0, 7.0):
        with keyway.no_grad():
            model.weight.fill_(weight)
        averaged.update_parameters(model)
    # means: 2, 2.5, 4; with a decay of 3 / 4: 2, 2.25, 3.4375
    assert averaged(keyway.ones(1)).tolist() == pytest.approx([expected])
    assert int(averaged.n_averaged) == 3 and list(averaged.state_dict()) == ["n_averaged", "module.weight",
                                                                            "module.bias"]


def test_update_bn_makes_statistics_those_of_the_batches():
    norm = nn.BatchNorm1d(1).eval()
    swa_utils.update_bn([keyway.tensor([[1.0], [3.0]]), (keyway.tensor([[5.0], [7.0]]), "label")], norm)
    assert norm.running_mean.tolist() == [4.0] and norm.momentum == 0.1 and not norm.training


def test_update_bn_leaves_the_statistics_of_instance_normalisations():
    instance = nn.InstanceNorm1d(1, track_running_stats=True)
    swa_utils.update_bn([keyway.tensor([[[1.0, 3.0]], [[5.0, 7.0]]])], nn.Sequential(instance, nn.BatchNorm1d(1)))
    assert instance.running_mean.tolist() == pytest.approx([0.4]) and instance.momentum == 0.1


def test_a_batch_that_raises_leaves_momenta_and_mode_as_they_were():
    norm = nn.BatchNorm1d(1, momentum=0.5).eval()
    with pytest.raises(ValueError):
        swa_utils.update_bn([keyway.ones(1, 1, 1, 1)], norm)
    assert norm.momentum == 0.5 and not norm.training


def test_the_learning_rate_goes_to_that_of_averaging():
    optimizer = optim.SGD([nn.Parameter(keyway.ones(1))], lr=1.0)
    scheduler = swa_utils.SWALR(optimizer, swa_lr=0.2, anneal_epochs=4, anneal_strategy="linear")
    rates = []
    for _ in range(6):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    assert rates == pytest.approx([1.0, 0.8, 0.6, 0.4, 0.2, 0.2])
    with pytest.raises(ValueError, match="anneal_strategy must"):
        swa_utils.SWALR(optimizer, 0.1, anneal_strategy="other")


def test_a_parametrized_tensor_has_no_place_of_its_own():
    layer = keyway.nn.utils.parametrizations.weight_norm(keyway.nn.Linear(2, 2))
    with pytest.raises(keyway.NotImplementedError, match="'weight' is computed by its parametrization"):
        keyway.func.functional_call(layer, {"weight": keyway.zeros(2, 2)}, keyway.ones(1, 2))
