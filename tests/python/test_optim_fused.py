"""Fused steps of optimizers, and what GradScaler leaves to them: on the CPU, and on a CUDA device where ctest says where
the plug-in of emulated ones is, or on a real one."""

import os

import keyway
import pytest
from keyway import amp, cuda, nn, optim

INF = float("inf")

MAKES = {
    "sgd": lambda p, **o: optim.SGD(p, lr=0.1, weight_decay=0.1, **o),
    "nesterov": lambda p, **o: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, maximize=True, **o),
    "dampening": lambda p, **o: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5, **o),
    "adam": lambda p, **o: optim.Adam(p, lr=0.1, weight_decay=0.1, **o),
    "adamw": lambda p, **o: optim.AdamW(p, lr=0.1, amsgrad=True, maximize=True, **o),
}
of_each = pytest.mark.parametrize("make", MAKES.values(), ids=MAKES.keys())


def find_cuda():
    if "KEYWAY_EMULATED_CUDA" in os.environ and not cuda.is_available():
        keyway.load_plugin(os.environ["KEYWAY_EMULATED_CUDA"])
    if not cuda.is_available():
        pytest.skip("there is no CUDA device")


@pytest.fixture
def there():
    find_cuda()
    return keyway.device("cuda:0")


@pytest.fixture(params=["cpu", "cuda:0"])
def device(request):
    if request.param != "cpu":
        find_cuda()
    return keyway.device(request.param)


def weights_on(device, dtype=keyway.float32):
    values = ([1.0, 2.0], [[-3.0], [0.25]], 0.5)
    return [nn.Parameter(keyway.tensor(value, dtype=dtype, device=device)) for value in values]


def values(tensors):
    return [number for tensor in tensors for number in tensor.detach().cpu().double().flatten().tolist()]


def state_of(optimizer):
    """Of each parameter that has some: numbers by name."""
    return [{name: values([value]) for name, value in optimizer.state[p].items()}
            for group in optimizer.param_groups for p in group["params"] if optimizer.state.get(p)]


def set_grads(weights, number):
    for i, weight in enumerate(weights):
        weight.grad = keyway.full_like(weight, number * (i + 1))


@pytest.fixture
def calls(monkeypatch):
    """The lists of parameters that fused operators were called with."""
    seen = []

    def watch(name):
        operator = getattr(keyway._C, name)

        def watched(parameters, grads, *others, **options):
            if options.get("lr", 0) > 0:  # not the count of steps
                seen.append(list(parameters))
            return operator(parameters, grads, *others, **options)

        monkeypatch.setattr(keyway._C, name, watched)

    for name in ("_fused_sgd_", "_fused_adam_", "_fused_adamw_"):
        watch(name)
    return seen


# --- Fused steps


@of_each
@pytest.mark.parametrize("dtype", [keyway.float32, keyway.float64, keyway.bfloat16])
def test_a_fused_step_is_the_step(device, calls, make, dtype):
    def trained(fused):
        weights = weights_on(device, dtype)
        optimizer = make(weights, fused=fused)
        for i in range(4):
            set_grads(weights[i % 2:], i - 1.25)  # one has its first gradient a step later
            optimizer.step()
            optimizer.zero_grad()
        return weights, state_of(optimizer), optimizer

    plain, plain_state, _ = trained(False)
    assert not calls
    fused, fused_state, optimizer = trained(None)
    assert [w is fused[0] for parameters in calls for w in parameters].count(True) == 2
    assert 4 <= len(calls) <= 5  # where momentum begins twice, one more
    close = {"abs": 0.02} if dtype == keyway.bfloat16 else {"rel": 1e-5}
    assert values(fused) == pytest.approx(values(plain), **close)
    assert [list(state) for state in fused_state] == [list(state) for state in plain_state]
    for state in optimizer.state.values():
        assert all(value.device == device for value in state.values())
        assert "step" not in state or state["step"].dtype == keyway.float32
    assert values(trained(True)[0]) == values(fused)


def test_a_group_is_stepped_in_sets_of_a_device_and_a_dtype(there, calls):
    devices = ["cpu", there] + ["cuda:1"] * (cuda.device_count() > 1)
    trained = []
    for fused in (True, False):
        weights = [w for dtype in (keyway.float32, keyway.float64) for d in devices for w in weights_on(d, dtype)]
        weights = weights[::2] + weights[1::2]
        optimizer = optim.AdamW(weights, lr=0.1, fused=fused)
        for i in range(2):
            set_grads(weights, i - 0.25)
            optimizer.step()
        trained.append(values(weights))
    assert trained[0] == pytest.approx(trained[1], rel=1e-5)
    kinds = [{(w.device, w.dtype) for w in parameters} for parameters in calls]
    assert all(len(kind) == 1 for kind in kinds) and len(calls) == 2 * 2 * len(devices)
    assert all(len(parameters) == 3 for parameters in calls)


def test_fused_is_refused_where_it_is_not_there(device):
    for kind in (optim.SGD, optim.Adam, optim.AdamW):
        weight = nn.Parameter(keyway.ones(2, dtype=keyway.complex64, device=device))
        weight.grad = keyway.ones_like(weight)
        with pytest.raises(keyway.ValueError, match="fused=True is there for floating-point parameters on devices with "
                                                    f"a kernel of _fused_.*not for a .*complex64 on {device}"):
            kind([weight], lr=0.5, fused=True).step()
        assert weight.tolist() == [1, 1]
        kind([weight], lr=0.5).step()
        assert weight.tolist() != [1, 1]


def test_the_number_of_a_fused_step_is_float32_whatever_the_default(device):
    keyway.set_default_dtype(keyway.float64)
    try:
        weights = weights_on(device)
        optimizer = optim.Adam(weights, fused=True)
        set_grads(weights, 1.0)
        optimizer.step()
        assert optimizer.state[weights[0]]["step"].dtype == keyway.float32
    finally:
        keyway.set_default_dtype(keyway.float32)


def test_a_gradient_that_is_elsewhere_takes_no_fused_step(there, calls):
    weight = nn.Parameter(keyway.ones(2))
    weight.grad = keyway.ones(2)
    weight.data = weight.data.to(there)
    with pytest.raises(keyway.ValueError, match="not for a .*float32 on cuda:0 with a gradient of .*float32 on cpu"):
        optim.SGD([weight], fused=True).step()
    assert not calls


# --- State that moves


@of_each
@pytest.mark.parametrize("way", [("cpu", "cuda:0"), ("cuda:0", "cpu"), ("cuda:0", "cuda:1")])
@pytest.mark.parametrize("fused", [(None, None), (None, False), (False, True)])
def test_a_training_goes_on_on_another_device(there, make, way, fused):
    if cuda.device_count() < 2 and "cuda:1" in way:
        pytest.skip("there is one CUDA device only")

    def steps(optimizer, weights, numbers):
        for number in numbers:
            set_grads(weights, number)
            optimizer.step()

    weights, expected = weights_on(way[0]), weights_on("cpu")
    optimizer = make(weights, fused=fused[0])
    steps(optimizer, weights, [1.0, -0.5])
    moved = [nn.Parameter(weight.detach().to(way[1])) for weight in weights]
    other = make(moved, fused=fused[1])
    saved = optimizer.state_dict()
    saved["param_groups"][0]["fused"] = fused[1]
    other.load_state_dict(saved)
    steps(other, moved, [0.25, 2.0])
    plain = make(expected, fused=False)
    steps(plain, expected, [1.0, -0.5, 0.25, 2.0])
    assert values(moved) == pytest.approx(values(expected), rel=1e-5)
    assert [s.get("step") for s in state_of(other)] == [s.get("step") for s in state_of(plain)]


@pytest.mark.parametrize("name", ["nesterov", "adam"])
def test_parameters_that_moved_without_their_state_are_refused(there, name):
    net = nn.Linear(2, 1)
    optimizer = MAKES[name](net.parameters(), fused=True)
    set_grads(net.parameters(), 1.0)
    optimizer.step()
    net.to(there)
    before = values(net.parameters()), state_of(optimizer)
    with pytest.raises(keyway.ValueError, match=r"a parameter is on cuda:0, but .* on cpu: .*load_state_dict"):
        optimizer.step()
    assert (values(net.parameters()), state_of(optimizer)) == before
    optimizer.load_state_dict(optimizer.state_dict())
    optimizer.step()
    assert values(net.parameters()) != before[0]


def test_the_number_of_a_step_may_have_a_dimension(device):
    weights = weights_on(device)
    _, optimizer, _ = scaled_training(MAKES["adam"], weights, [1.0])
    saved = optimizer.state_dict()
    for state in saved["state"].values():
        state["step"] = state["step"].reshape(1)
    optimizer.load_state_dict(saved)
    scaler = amp.GradScaler(device.type)
    backward(scaler, weights, 1.0)
    scaler.step(optimizer)
    assert [state["step"] for state in state_of(optimizer)] == [[2.0]] * 3


# --- GradScaler


def backward(scaler, weights, number):
    """Scaled gradients of `number`."""
    for weight in weights:
        weight.grad = None
    losses = [(weight.float().sum() * (i + 1)).to(weights[0].device) for i, weight in enumerate(weights)]
    scaler.scale(sum(losses) * number).backward()


def scaled_training(make, weights, numbers, unscales=False, **options):
    optimizer = make(weights, **options)
    scaler = amp.GradScaler(weights[0].device.type, init_scale=8.0, growth_interval=2)
    for number in numbers:
        backward(scaler, weights, number)
        if unscales:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        assert not hasattr(optimizer, "grad_scale") and not hasattr(optimizer, "found_inf")
        scaler.update()
    return values(weights), optimizer, scaler.state_dict()


@of_each
@pytest.mark.parametrize("unscales", [False, True])
@pytest.mark.parametrize("numbers", [[1.0, -0.5, INF, 2.0], [float("nan"), 1.0, -0.5]], ids=["later", "first"])
def test_a_training_with_a_step_left_out_is_that_of_steps_that_are_not_fused(device, calls, make, unscales, numbers):
    plain, of_plain, plain_scale = scaled_training(make, weights_on(device), numbers, fused=False)
    assert not calls
    fused, of_fused, fused_scale = scaled_training(make, weights_on(device), numbers, unscales)
    assert calls and fused == pytest.approx(plain, rel=1e-5)
    assert fused_scale == plain_scale
    for a, b in zip(state_of(of_fused), state_of(of_plain)):
        assert list(a) == list(b) and all(a[name] == pytest.approx(b[name], rel=1e-5) for name in a)
    if isinstance(of_fused, optim.Adam):
        assert [state["step"] for state in state_of(of_fused)] == [[len(numbers) - 1.0]] * 3


@of_each
def test_a_step_that_is_left_out_calls_the_operator_and_changes_nothing(device, calls, make):
    weights = weights_on(device)
    _, optimizer, _ = scaled_training(make, weights, [1.0])
    before, called = (values(weights), state_of(optimizer)), len(calls)
    scaler = amp.GradScaler(device.type, init_scale=8.0)
    backward(scaler, weights, INF)
    assert scaler.step(optimizer) is None
    assert (values(weights), state_of(optimizer)) == before
    assert len(calls) == called + 1


@of_each
def test_gradients_are_divided_by_the_step_in_place(device, make):
    weights = weights_on(device)
    grads = []
    optimizer = make(weights)
    optimizer.register_step_post_hook(lambda o, args, kwargs: grads.append(values(w.grad for w in weights)))
    scaler = amp.GradScaler(device.type, init_scale=8.0)
    for number in (1.0, 2.0):
        backward(scaler, weights, number)
        assert values(w.grad for w in weights) == [8.0 * number * n for n in (1, 1, 2, 2, 3)]
        scaler.step(optimizer)
        scaler.update()
    assert grads == [[1.0, 1.0, 2.0, 2.0, 3.0], [2.0, 2.0, 4.0, 4.0, 6.0]]


def test_infinite_gradients_on_two_devices_leave_the_step_out(there):
    other = "cuda:1" if cuda.device_count() > 1 else "cpu"
    weights = weights_on(there) + weights_on(other)
    for bad in (weights[:1], weights[-1:], [weights[0], weights[-1]]):
        before = values(weights)
        optimizer = optim.Adam(weights, fused=True)
        scaler = amp.GradScaler("cuda", init_scale=8.0)
        backward(scaler, weights, 1.0)
        for weight in bad:
            weight.grad.fill_(INF)
        scaler.step(optimizer)
        scaler.update()
        assert values(weights) == before and scaler.get_scale() == 4.0
        assert all(optimizer.state[weight]["step"].item() == 0 for weight in weights)


def test_parameters_of_float16_take_scaled_steps_where_these_are_fused(device):
    weights = weights_on(device, keyway.float16)
    trained, _, _ = scaled_training(MAKES["sgd"], weights, [1.0, INF])
    assert trained == pytest.approx([0.89, 1.88, -3.17, 0.0475, 0.195], rel=2e-3)
    with pytest.raises(keyway.ValueError, match="float16"):
        scaled_training(MAKES["sgd"], weights, [1.0], fused=False)


def test_what_comes_before_a_step_sees_divided_gradients(device, calls):
    class Watching(optim.SGD):
        def step(self, closure=None):
            seen.append(values(p.grad for p in self.param_groups[0]["params"]))
            return super().step(closure)

    seen = []
    expected = scaled_training(optim.SGD, weights_on(device), [1.0, INF], fused=False)[0]
    assert scaled_training(Watching, weights_on(device), [1.0, INF])[0] == expected
    assert len(calls) == 1

    def hooked(weights):
        optimizer = optim.SGD(weights)
        optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(values(w.grad for w in weights)))
        return optimizer

    assert scaled_training(hooked, weights_on(device), [1.0, INF])[0] == expected
    assert len(calls) == 2
    assert seen == [[1.0, 1.0, 2.0, 2.0, 3.0]] * 2


def test_an_optimizer_that_says_so_is_given_scale_and_found_inf(device):
    class Own(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {})
            self._step_supports_amp_scaling = True

        def step(self, closure=None):
            seen.append([None if number is None else number.item() for number in (self.grad_scale, self.found_inf)])
            if fails:
                raise RuntimeError("stop")

    weights, seen, fails = weights_on(device), [], False
    scaled_training(Own, weights, [1.0, INF])
    scaled_training(Own, weights, [1.0], unscales=True)
    assert seen == [[8.0, 0.0], [8.0, 1.0], [None, 0.0]]
    optimizer, scaler, fails = Own(weights), amp.GradScaler(device.type), True
    backward(scaler, weights, 1.0)
    with pytest.raises(RuntimeError, match="stop"):
        scaler.step(optimizer)
    assert not hasattr(optimizer, "grad_scale") and not hasattr(optimizer, "found_inf")


def test_a_scale_that_is_set_by_hand_is_one_more(device):
    weights = weights_on(device)
    optimizer, scaler = optim.SGD(weights, lr=1.0), amp.GradScaler(device.type, init_scale=8.0)
    backward(scaler, weights, 1.0)
    optimizer.grad_scale = keyway.tensor(2.0, device=device)
    scaler.step(optimizer)
    assert values(w.grad for w in weights) == [0.5, 0.5, 1.0, 1.0, 1.5]


def test_a_scale_is_refused_where_a_step_cannot_use_it(device):
    weights = weights_on(device)
    set_grads(weights, 1.0)
    for make in (lambda p: optim.SGD(p, fused=False), MAKES["dampening"], optim.Adagrad):
        for name in ("grad_scale", "found_inf"):
            optimizer = make(weights)
            setattr(optimizer, name, keyway.ones((), device=device))
            with pytest.raises(keyway.Error, match=f"{type(optimizer).__name__}.step: grad_scale and found_inf are for "
                                                   "fused steps"):
                optimizer.step()
    assert values(weights) == values(weights_on("cpu"))


# --- Graphs


@of_each
def test_a_scaled_step_reads_nothing_on_the_host(there, make):
    """A capture refuses what would."""
    weights = weights_on(there)
    optimizer, scaler = make(weights), amp.GradScaler("cuda", init_scale=8.0, growth_interval=2)

    def step():
        scaler.step(optimizer)
        scaler.update()

    def set_scaled(number):
        for i, weight in enumerate(weights):
            weight.grad.fill_(number * (i + 1) * scaler.get_scale())

    numbers = [1.0, -0.5, INF, 2.0]
    backward(scaler, weights, numbers[0])
    step()
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        step()
    for number in numbers[1:]:
        set_scaled(number)
        graph.replay()
        cuda.synchronize()
    expected, plain, state = scaled_training(make, weights_on(there), numbers, fused=False)
    assert values(weights) == pytest.approx(expected, rel=1e-5)
    assert scaler.state_dict() == state
    assert [s.get("step") for s in state_of(optimizer)] == [s.get("step") for s in state_of(plain)]


@pytest.mark.parametrize("name", ["nesterov", "adam"])
@pytest.mark.parametrize("index", [0, 1])
def test_a_state_is_not_made_in_a_capture(there, name, index):
    if index >= cuda.device_count():
        pytest.skip("there is one CUDA device only")
    weights = weights_on(f"cuda:{index}")
    set_grads(weights, 1.0)
    optimizer = MAKES[name](weights)
    with cuda.device(index):
        with pytest.raises(keyway.Error, match="take a step before one is captured"), cuda.graph(cuda.CUDAGraph()):
            optimizer.step()
        assert not any(optimizer.state.values())
        optimizer.step()
        with cuda.graph(cuda.CUDAGraph()):
            optimizer.step()


def test_the_number_of_a_step_is_not_moved_in_a_capture(there):
    weights = weights_on(there)
    optimizer = optim.Adam(weights, fused=False)
    set_grads(weights, 1.0)
    optimizer.step()
    optimizer.param_groups[0]["fused"] = True
    with pytest.raises(keyway.Error, match="take a step before one is captured"), cuda.graph(cuda.CUDAGraph()):
        optimizer.step()
    assert all(state["step"].is_cpu for state in optimizer.state.values())
    optimizer.step()
    with cuda.graph(cuda.CUDAGraph()):
        optimizer.step()
    assert all(state["step"].device == there for state in optimizer.state.values())


@pytest.mark.parametrize("make", [
    lambda p: optim.SGD(p, lr=0.5, momentum=0.5, dampening=0.25, fused=False), optim.Adadelta, optim.RMSprop, optim.Rprop,
    optim.Muon])
def test_steps_that_do_not_look_at_their_number_are_captured(there, make):
    weights, others = ([nn.Parameter(keyway.tensor([[1.0, 2.0], [-3.0, 0.5]], device=there))] for _ in range(2))
    captured, plain = make(weights), make(others)
    set_grads(weights, 1.0)
    set_grads(others, 1.0)
    with pytest.raises(keyway.Error, match="take a step before one is captured"), cuda.graph(cuda.CUDAGraph()):
        captured.step()
    captured.step()
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        captured.step()
    graph.replay()
    graph.replay()
    cuda.synchronize()
    for _ in range(3):
        plain.step()
    assert values(weights) == values(others)


@pytest.mark.parametrize("make", [
    lambda p: optim.Adam(p, fused=False), optim.Adagrad, optim.Adamax, optim.ASGD, optim.NAdam, optim.RAdam,
    optim.Adafactor, lambda p: optim.RAdam(p, capturable=True)])
def test_steps_that_count_on_the_host_are_not_captured(there, make):
    weights = weights_on(there)
    optimizer = make(weights)
    set_grads(weights, 1.0)
    for _ in range(2):
        with pytest.raises(keyway.Error, match="the number of the step stands on the host"), cuda.graph(
                cuda.CUDAGraph()):
            optimizer.step()
        optimizer.step()
