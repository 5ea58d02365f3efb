"""keyway.nn.Module and containers: members, state, hooks, conversion, text."""

import copy
import gc
import pickle
import weakref
from collections import OrderedDict

import keyway
import pytest
from keyway import nn


class Scale(nn.Module):
    """x * factor + shift, with a counter that is state and a cache that is none."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(keyway.tensor([2.0, 3.0]))
        self.register_parameter("shift", None)
        self.register_buffer("count", keyway.tensor(0))
        self.register_buffer("cache", keyway.ones(2), persistent=False)

    def forward(self, x, *, negated=False):
        y = x.mul(self.factor)
        return y.neg() if negated else y


def make_net():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.ModuleList([Scale(), Scale()]))


def names(pairs):
    return [name for name, _ in pairs]


def test_a_parameter_is_a_tensor_that_shares_memory_and_requires_a_gradient():
    data = keyway.zeros(2)
    parameter = nn.Parameter(data)
    data.fill_(5)
    assert isinstance(parameter, keyway.Tensor) and parameter.requires_grad and parameter.is_leaf
    assert parameter.tolist() == [5.0, 5.0] and not data.requires_grad
    assert not nn.Parameter(data, requires_grad=False).requires_grad


def test_a_parameter_is_the_same_object_wherever_it_is_met():
    module = Scale()
    assert next(module.parameters()) is module.factor is module.get_parameter("factor")


def test_a_parameter_of_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match="a Parameter is made from a Tensor, not from list"):
        nn.Parameter([1.0])
    with pytest.raises(keyway.Error):
        nn.Parameter(keyway.tensor([1, 2]))


def test_walks_name_members_in_the_order_of_the_modules():
    net = make_net()
    assert names(net.named_parameters()) == ["0.weight", "0.bias", "2.0.factor", "2.1.factor"]
    assert names(net.named_buffers()) == ["2.0.count", "2.0.cache", "2.1.count", "2.1.cache"]
    assert names(net.named_modules()) == ["", "0", "1", "2", "2.0", "2.1"]
    assert names(net.named_children()) == ["0", "1", "2"]
    assert names(net.named_parameters("net", recurse=False)) == []
    assert net.get_submodule("2.1") is net[2][1] and net.get_buffer("2.1.count") is net[2][1].count


def test_a_shared_member_is_walked_over_once_unless_asked_for():
    shared = nn.Linear(2, 2)
    net = nn.Sequential(shared, shared)
    assert names(net.named_parameters()) == ["0.weight", "0.bias"]
    assert names(net.named_parameters(remove_duplicate=False)) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert len(list(net.modules())) == 2 and len(net.state_dict()) == 4


def test_attributes_become_members_by_what_they_are():
    module = nn.Module()
    module.value = 3
    module.value = nn.Parameter(keyway.ones(1))
    assert names(module.named_parameters()) == ["value"] and "value" not in vars(module)
    with pytest.raises(TypeError, match="cannot assign a Linear as parameter 'value'"):
        module.value = nn.Linear(1, 1)
    del module.value
    module.value = nn.Linear(1, 1)
    assert names(module.named_children()) == ["value"] and names(module.named_parameters(recurse=False)) == []
    module.value = nn.Parameter(keyway.ones(1))
    assert names(module.named_parameters()) == ["value"] and names(module.named_children()) == []
    del module.value
    module.value = nn.Buffer(keyway.ones(1), persistent=False)
    assert names(module.named_buffers()) == ["value"] and "value" not in module.state_dict()
    module.value = nn.Buffer(keyway.ones(1))
    assert isinstance(module.value, nn.Buffer) and "value" in module.state_dict()
    module.value = None
    assert module.value is None and "value" in dir(module)
    del module.value
    assert not hasattr(module, "value")


def test_a_member_takes_only_what_its_kind_allows():
    module = Scale()
    with pytest.raises(TypeError, match="cannot assign a Tensor as parameter 'factor': a Parameter or None is "
                                        "expected"):
        module.factor = keyway.ones(2)
    with pytest.raises(TypeError, match="cannot assign a int as buffer 'count'"):
        module.count = 1
    module.count = keyway.tensor(7)
    assert module.get_buffer("count").item() == 7


@pytest.mark.parametrize("name, error, text", [
    ("a.b", KeyError, "no '.'"), ("", KeyError, "at least one character"), ("forward", KeyError, "exists already"),
    (3, TypeError, "a str, not int")])
def test_names_of_members_are_checked(name, error, text):
    for register in (nn.Module().register_parameter, nn.Module().register_buffer, nn.Module().add_module):
        with pytest.raises(error, match=text):
            register(name, None)


def test_a_parameter_that_was_computed_is_refused():
    with pytest.raises(TypeError):
        nn.Module().register_parameter("w", keyway.ones(1))
    computed = nn.Parameter(keyway.ones(1))
    computed.requires_grad_(False).mul_(nn.Parameter(keyway.ones(1)))
    with pytest.raises(ValueError, match="it was computed from other tensors"):
        nn.Module().register_parameter("w", computed)


def test_members_before_init_are_refused():
    class Hasty(nn.Module):
        def __init__(self):
            self.weight = nn.Parameter(keyway.ones(1))

    with pytest.raises(AttributeError, match="before Module.__init__"):
        Hasty()


def test_a_missing_attribute_is_named():
    with pytest.raises(AttributeError, match="'Scale' object has no attribute 'faktor'"):
        Scale().faktor
    with pytest.raises(AttributeError, match="'factor' of 'factor.x' is no module"):
        Scale().get_submodule("factor.x")
    with pytest.raises(AttributeError, match="there is no buffer 'factor' in Scale"):
        Scale().get_buffer("factor")


def test_state_holds_parameters_and_persistent_buffers_and_shares_memory():
    module = Scale()
    state = module.state_dict(prefix="m.")
    assert list(state) == ["m.factor", "m.count"]
    assert not state["m.factor"].requires_grad and module.state_dict(keep_vars=True)["factor"] is module.factor
    state["m.factor"].fill_(9)
    assert module.factor.tolist() == [9.0, 9.0]


def test_state_goes_from_one_module_into_another():
    one, other = make_net(), make_net()
    assert other.load_state_dict(one.state_dict()) == ([], [])
    for name, tensor in one.state_dict().items():
        assert other.state_dict()[name].tolist() == tensor.tolist()
    one[0].weight.detach().fill_(0)
    assert other[0].weight.detach().abs().sum().item() > 0


def test_everything_that_does_not_fit_a_state_is_listed():
    state = make_net().state_dict()
    del state["0.bias"]
    state.update({"0.weight": keyway.ones(2, 2), "2.1.factor": 3, "2.7.x": keyway.ones(1), "more": keyway.ones(1)})
    with pytest.raises(keyway.Error) as refused:
        make_net().load_state_dict(state)
    assert str(refused.value) == (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tMissing key(s) in state_dict: "0.bias". \n'
        '\tUnexpected key(s) in state_dict: "more", "2.7.x". \n'
        "\tsize mismatch for 0.weight: copying a param with shape keyway.Size([2, 2]) from checkpoint, the shape in "
        "current model is keyway.Size([4, 3]).\n"
        """\tWhile copying the parameter named "2.1.factor", expected a Tensor but received <class 'int'>""")


def test_loading_that_is_not_strict_returns_what_did_not_fit():
    state = make_net().state_dict()
    del state["0.bias"]
    state["more"] = keyway.ones(1)
    result = make_net().load_state_dict(state, strict=False)
    assert result.missing_keys == ["0.bias"] and result.unexpected_keys == ["more"]
    assert "more" in repr(result)


def test_assigning_state_makes_its_tensors_the_members():
    module = Scale()
    weight = keyway.ones(2, dtype=keyway.float64)
    module.load_state_dict({"factor": weight, "count": keyway.tensor(3)}, assign=True)
    assert isinstance(module.factor, nn.Parameter) and module.factor.dtype is keyway.float64
    weight.fill_(4)
    assert module.factor.tolist() == [4.0, 4.0] and module.count.item() == 3


def test_extra_state_is_saved_and_loaded():
    class Counter(nn.Module):
        steps = 0

        def get_extra_state(self):
            return {"steps": self.steps}

        def set_extra_state(self, state):
            self.steps = state["steps"]

    one, other = nn.Sequential(Counter()), nn.Sequential(Counter())
    one[0].steps = 5
    other.load_state_dict(one.state_dict())
    assert other[0].steps == 5
    with pytest.raises(keyway.Error, match='Missing key.*"0._extra_state"'):
        other.load_state_dict({})


def test_train_and_eval_reach_all_modules():
    net = make_net()
    assert all(not module.training for module in net.eval().modules())
    assert all(module.training for module in net.train().modules())
    with pytest.raises(ValueError):
        net.train(1)


def test_apply_visits_children_first():
    seen = []
    make_net().apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "ReLU", "Scale", "Scale", "ModuleList", "Sequential"]


def test_gradients_are_switched_off_and_dropped():
    net = make_net()
    net.requires_grad_(False)
    assert not any(parameter.requires_grad for parameter in net.parameters())
    scale = Scale()
    scale(keyway.ones(2)).sum().backward()
    grad = scale.factor.grad
    scale.zero_grad(set_to_none=False)
    assert scale.factor.grad is grad and grad.tolist() == [0.0, 0.0]
    scale.zero_grad()
    assert scale.factor.grad is None


def test_conversion_keeps_parameters_the_objects_they_are():
    module = Scale()
    factor = module.factor
    module(keyway.ones(2)).sum().backward()
    assert module.double() is module and module.factor is factor
    assert factor.dtype is keyway.float64 and factor.grad.dtype is keyway.float64 and factor.is_leaf
    assert module.cache.dtype is keyway.float64 and module.count.dtype is keyway.int64
    module.to(keyway.bfloat16)
    assert factor.dtype is keyway.bfloat16
    module.to(keyway.ones(1))
    assert factor.dtype is keyway.float32
    module.to("meta")
    assert factor.is_meta and isinstance(factor, nn.Parameter)


@pytest.mark.parametrize("arguments", [(keyway.int64,), ("cpu", 3), ("no device",), (keyway.ones(1), "x")])
def test_conversion_refuses_what_it_does_not_take(arguments):
    with pytest.raises(keyway.Error):
        Scale().to(*arguments)


def test_hooks_change_arguments_and_results_in_order():
    module = Scale()
    module.register_forward_pre_hook(lambda m, args: args[0].add(1))
    module.register_forward_pre_hook(lambda m, args, kwargs: (args, {"negated": True}), with_kwargs=True)
    first = module.register_forward_hook(lambda m, args, result: result.mul(10))
    module.register_forward_hook(lambda m, args, kwargs, result: result.add(kwargs["negated"]), prepend=True,
                                 with_kwargs=True)
    assert module(keyway.ones(2)).tolist() == [(-4.0 + 1) * 10, (-6.0 + 1) * 10]
    first.remove()
    first.remove()
    assert module(keyway.ones(2)).tolist() == [-3.0, -5.0]


def test_a_hook_that_is_always_called_sees_failures():
    module, seen = Scale(), []
    with module.register_forward_hook(lambda m, args, result: seen.append(result), always_call=True):
        with pytest.raises(keyway.Error):
            module(keyway.ones(3))
        module(keyway.ones(2))
    assert seen[0] is None and len(seen) == 2
    module(keyway.ones(2))
    assert len(seen) == 2


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match='Module \\[ModuleList\\] is missing the required "forward"'):
        nn.ModuleList()(1)


def test_text_shows_the_tree_and_counts_neighbours_that_read_alike():
    net = nn.Sequential(OrderedDict(first=nn.Linear(3, 4, bias=False), rest=nn.ModuleList([nn.ReLU(), nn.ReLU()])))
    assert repr(net) == ("Sequential(\n  (first): Linear(in_features=3, out_features=4, bias=False)\n"
                         "  (rest): ModuleList(\n    (0-1): 2 x ReLU()\n  )\n)")
    assert repr(nn.Sequential()) == "Sequential()"


def test_modules_are_copied_and_pickled():
    net = make_net()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert names(other.named_parameters()) == names(net.named_parameters())
        for mine, its in zip(net.parameters(), other.parameters()):
            assert its is not mine and isinstance(its, nn.Parameter) and its.requires_grad
            assert its.tolist() == mine.tolist()
        other[0].weight.detach().fill_(0)
        assert net[0].weight.detach().abs().sum().item() > 0
    shared = nn.Linear(2, 2)
    both = copy.deepcopy(nn.Sequential(shared, shared))
    assert both[0] is both[1]


def test_a_module_is_freed_with_its_parameters():
    module = Scale()
    watch = [weakref.ref(module), weakref.ref(module.factor)]
    module.register_forward_hook(lambda m, args, result: module)  # a cycle
    del module
    gc.collect()
    assert [reference() for reference in watch] == [None, None]


def test_a_sequence_is_indexed_sliced_and_changed():
    a, b, c = nn.ReLU(), nn.Tanh(), nn.Sigmoid()
    for make in (lambda *m: nn.Sequential(*m), lambda *m: nn.ModuleList(m)):
        net = make(a, b)
        assert net[-1] is b and list(net[:1]) == [a] and type(net[:1]) is type(net) and len(net) == 2
        net.append(c)
        net.insert(0, c)
        assert list(net) == [c, a, b, c]
        del net[1:3]
        assert list(net) == [c, c] and names(net.named_children()) == ["0"]
        assert net.pop() is c and len(net) == 1
        net[0] = a
        net.extend([b])
        assert list(net + make(c)) == [a, b, c]
        with pytest.raises(IndexError, match="index 2 is out of range: there are 2 modules"):
            net[2]


def test_a_dict_of_modules_is_one():
    modules = nn.ModuleDict({"a": nn.ReLU()})
    modules["b"] = nn.Linear(1, 1)
    assert list(modules) == ["a", "b"] and "a" in modules and len(modules) == 2
    assert names(modules.named_parameters()) == ["b.weight", "b.bias"]
    removed = modules.pop("a")
    assert isinstance(removed, nn.ReLU) and list(modules.keys()) == ["b"]


def test_a_dictionary_of_parameters_makes_parameters_of_tensors():
    parameters = nn.ParameterDict({"a": keyway.ones(2)})
    parameters["b"] = nn.Parameter(keyway.zeros(1))
    parameters.update([("a", keyway.ones(3))])
    assert list(parameters) == ["a", "b"] and "b" in parameters and len(parameters) == 2
    assert isinstance(parameters["a"], nn.Parameter) and parameters["a"].numel() == 3
    assert names(parameters.named_parameters()) == ["a", "b"] and parameters.get("c", 7) == 7
    assert parameters.pop("a").numel() == 3 and list(parameters.state_dict()) == ["b"]
    assert "(b): Parameter containing:" in repr(parameters)
    parameters["c"] = 1
    assert parameters.popitem() == ("c", 1) and "c" not in parameters
    assert list(parameters | nn.ParameterDict({"d": keyway.ones(1)})) == ["b", "d"]
    with pytest.raises(KeyError):
        parameters["a"]
    text = "Parameter containing:\ntensor([0.], requires_grad=True)"
    assert repr(parameters["b"]) == text and str(parameters["b"]) == text


def test_a_dictionary_of_parameters_does_what_dictionaries_do():
    parameters = nn.ParameterDict({"a": keyway.ones(1), "b": keyway.ones(2)})
    assert list(reversed(parameters)) == ["b", "a"]
    assert parameters.copy()["b"] is parameters["b"]
    assert parameters.setdefault("a", keyway.zeros(3)).shape == (1,)
    assert parameters.setdefault("c", keyway.zeros(3)).shape == (3,)
    assert list(parameters.fromkeys(["x"], keyway.ones(1))) == ["x"]


def test_a_list_of_parameters_makes_parameters_of_tensors():
    parameters = nn.ParameterList([keyway.ones(2), nn.Parameter(keyway.zeros(1))])
    parameters.append(keyway.ones(3))
    assert [p.numel() for p in parameters] == [2, 1, 3] and all(isinstance(p, nn.Parameter) for p in parameters)
    assert names(parameters.named_parameters()) == ["0", "1", "2"] and parameters[-1].numel() == 3
    assert list(parameters.state_dict()) == ["0", "1", "2"]


def test_a_list_of_parameters_holds_other_values_as_they_are():
    parameters = nn.ParameterList([keyway.ones(2), 7])
    assert parameters[1] == 7 and list(parameters.state_dict()) == ["0"]
    assert "(1): Object of type: int" in repr(parameters)


def test_sequences_of_modules_are_repeated_and_take_modules_at_indices_in_range():
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    assert [type(module).__name__ for module in net * 2] == ["ReLU", "Tanh"] * 2 and len(2 * net) == 4
    net *= 3
    assert len(net) == 6
    with pytest.raises(IndexError, match="out of range"):
        net.insert(7, nn.ReLU())
    with pytest.raises(ValueError, match="positive number of times"):
        net * 0


def test_a_parameter_reads_like_a_tensor():
    text = "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert repr(nn.Parameter(keyway.ones(2))) == str(nn.Parameter(keyway.ones(2))) == text


def test_values_neither_come_from_the_meta_device_nor_go_there_unnoticed():
    layer = nn.Linear(2, 1, device="meta")
    with pytest.raises(keyway.NotImplementedError, match="to_empty"):
        layer.to("cpu")
    state = {"weight": keyway.ones(1, 2), "bias": keyway.zeros(1)}
    with pytest.warns(UserWarning, match="is on the meta device") as warned:
        layer.load_state_dict(state)
    assert ["'weight'" in str(w.message) or "'bias'" in str(w.message) for w in warned] == [True, True]
    assert layer.weight.is_meta
    layer.load_state_dict(state, assign=True)
    assert layer.weight.tolist() == [[1.0, 1.0]] and layer.to("cpu") is layer
