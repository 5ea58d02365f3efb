"""What a compiled function could get wrong of training: optimizers, schedules, modules and their state."""

import copy

import keyway as kw
import pytest
from graph_traps import P, Traps, X, compare, marked, tried
from keyway import nn
from keyway import optim as O
from keyway.nn.utils import prune

TRAPS = Traps()
trap = TRAPS.add
# Those that fail, and the finding that says why.
FAILING = {
}


class Twice(nn.Module):

    def forward(self, w):
        return w * 2


def trained(run, make, steps=6, between=None):
    """A model that is trained: its losses and its state."""
    kw.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = make(model.parameters())

    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    run, losses = run(step), []
    for i in range(steps):
        if between and i == 3:
            between(model, optimizer)
        losses.append(run(kw.randn(5, 3)))
    return losses + list(model.state_dict().values())


OPTIMIZERS = {
    **{kind.__name__.lower(): lambda p, kind=kind: kind(p, lr=0.1) for kind in (
        O.Adadelta, O.Adafactor, O.Adagrad, O.Adam, O.AdamW, O.Adamax, O.ASGD, O.NAdam, O.RAdam, O.RMSprop, O.Rprop,
        O.SGD)},
    **{f"adam {name}": lambda p, name=name: O.Adam(p, lr=0.1, **{name: True}) for name in (
        "amsgrad", "maximize", "capturable", "foreach", "fused")},
    "muon": lambda p: O.Muon([q for q in p if q.dim() == 2], lr=0.1),
    "centered rmsprop": lambda p: O.RMSprop(p, lr=0.1, momentum=0.9, centered=True),
    "nesterov": lambda p: O.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_compiled_steps_are_those_of_each_optimizer(name):
    compare(lambda run: trained(run, OPTIMIZERS[name]))


def lbfgs(model, optimizer):
    other = O.LBFGS(model.parameters(), lr=0.1, max_iter=3)

    def step(x):
        def closure():
            other.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            return loss

        return other.step(closure).detach()

    return step


def losses(model, optimizer, x):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    return loss.detach()


def scheduled(make):
    def prepare(model, optimizer):
        schedule = make(optimizer)

        def step(x):
            loss = losses(model, optimizer, x)
            optimizer.step()
            schedule.step()
            return loss

        return step

    return prepare


def clipped(clip):
    def prepare(model, optimizer):
        def step(x):
            loss = losses(model, optimizer, x)
            norm = clip(model.parameters())
            optimizer.step()
            return loss, norm

        return step

    return prepare


def scaled(model, optimizer):
    scaler = kw.amp.GradScaler("cpu", init_scale=4.0)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    return step


def accumulating(model, optimizer):
    def step(x):
        optimizer.zero_grad()
        for part in x.split(2):
            (model(part).square().mean() / 3).backward()
        optimizer.step()

    return step


STEPS = {
    "step_lbfgs": lbfgs,
    "step_lr": scheduled(lambda o: O.lr_scheduler.StepLR(o, 3, 0.5)),
    "step_exponential": scheduled(lambda o: O.lr_scheduler.ExponentialLR(o, 0.9)),
    "step_cosine": scheduled(lambda o: O.lr_scheduler.CosineAnnealingWarmRestarts(o, 4)),
    "step_sequential": scheduled(lambda o: O.lr_scheduler.SequentialLR(
        o, [O.lr_scheduler.ConstantLR(o, 0.5, 4), O.lr_scheduler.StepLR(o, 2)], [4])),
    "step_clip_norm": clipped(lambda p: nn.utils.clip_grad_norm_(p, 0.1)),
    "step_clip_value": clipped(lambda p: nn.utils.clip_grad_value_(p, 0.01)),
    "step_scaler": scaled,
    "step_accumulating": accumulating,
}


@pytest.mark.parametrize("name", marked(STEPS, FAILING))
def test_compiled_steps_are_those_of_each_way_of_training(name):
    def trace(run):
        kw.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        optimizer = O.SGD(model.parameters(), lr=0.1, momentum=0.9)
        step = STEPS[name](model, optimizer)
        run = run(lambda x: step(x))
        given = [run(kw.randn(5, 3)) for _ in range(20)]
        return given + list(model.state_dict().values()) + [float(optimizer.param_groups[0]["lr"])]

    compare(trace)


def layers():
    return nn.Sequential(nn.Linear(3, 3), nn.Tanh())


def norm():
    return nn.BatchNorm1d(3)


def doubled(model, scale=2):
    return {name: value.clone() * scale for name, value in model.state_dict().items()}


CHANGES = {
    "module_assign": (layers, lambda m: m.load_state_dict(doubled(m), assign=True)),
    "module_load": (layers, lambda m: m.load_state_dict(doubled(m))),
    "module_double": (layers, lambda m: m.double()),
    "module_bfloat16": (layers, lambda m: m.bfloat16()),
    "module_data": (layers, lambda m: setattr(m[0].weight, "data", kw.ones(3, 3))),
    "module_frozen": (layers, lambda m: m.requires_grad_(False)),
    "module_append": (layers, lambda m: m.append(nn.Linear(3, 2))),
    "module_insert": (layers, lambda m: m.insert(0, nn.ReLU())),
    "module_deleted": (layers, lambda m: m.__delitem__(1)),
    "module_replaced": (layers, lambda m: m.__setitem__(1, nn.ReLU())),
    "module_parametrize": (layers, lambda m: nn.utils.parametrize.register_parametrization(m[0], "weight", Twice())),
    "module_weight_norm": (layers, lambda m: nn.utils.parametrizations.weight_norm(m[0])),
    "module_prune": (layers, lambda m: prune.l1_unstructured(m[0], "weight", 0.5)),
    "module_pre_hook": (layers, lambda m: m[0].register_forward_pre_hook(lambda m, a: (a[0] * 2,))),
    "module_kwargs_hook": (layers, lambda m: m[0].register_forward_hook(lambda m, a, k, r: r * 2, with_kwargs=True)),
    "module_hooks_cleared": (layers, lambda m: m[0]._forward_hooks.clear()),
    "module_backward_pre_hook": (layers, lambda m: m[0].register_full_backward_pre_hook(lambda m, g: (g[0] * 2,))),
    "module_forward_replaced": (layers, lambda m: setattr(m[0], "forward", lambda x: x * 9)),
    "module_spectral": (lambda: nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3))),
                        lambda m: m.eval()),
    "module_norm_momentum": (norm, lambda m: setattr(m, "momentum", 0.9)),
    "module_norm_without_momentum": (lambda: nn.BatchNorm1d(3, momentum=None), lambda m: None),
    "module_norm_eval": (norm, lambda m: m.eval()),
    "module_norm_reset": (norm, lambda m: m.reset_running_stats()),
    "module_buffer": (norm, lambda m: setattr(m, "running_mean", kw.ones(3))),
    "module_lazy": (lambda: nn.LazyLinear(2), lambda m: None),
    "module_tied": (lambda: nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)),
                    lambda m: setattr(m[1], "weight", m[0].weight)),
    "module_dropout": (lambda: nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)), lambda m: setattr(m[1], "p", 0.1)),
}


@pytest.mark.parametrize("name", marked(CHANGES, FAILING))
def test_a_compiled_module_sees_how_it_changes(name):
    def trace(run):
        kw.manual_seed(0)
        make, change = CHANGES[name]
        module, given = make(), []
        run = run(module)
        for i in range(6):
            if i == 3:
                change(module)
            kw.manual_seed(i)
            result = tried(run, kw.randn(4, 3))
            given.append(result)
            if isinstance(result, kw.Tensor) and result.requires_grad:
                module.zero_grad()
                result.sum().backward()
                given += [p.grad.clone() for p in module.parameters() if p.grad is not None]
        return given + list(module.state_dict().values())

    compare(trace)


@trap
def optimizer_state_loaded(run):

    def between(m, o):
        s = copy.deepcopy(o.state_dict())
        s["param_groups"][0]["lr"] = 0.5
        for v in s["state"].values():
            v["exp_avg"].mul_(0)
        o.load_state_dict(s)
    return trained(run, lambda p: O.Adam(p, lr=0.1), 8, between)


@trap
def optimizer_state_cleared(run):
    return trained(run, lambda p: O.Adam(p, lr=0.1), 8, lambda m, o: o.state.clear())


@trap
def optimizer_state_tensor_replaced(run):

    def between(m, o):
        for s in o.state.values():
            s["exp_avg"] = kw.zeros_like(s["exp_avg"])
    return trained(run, lambda p: O.Adam(p, lr=0.1), 8, between)


@trap
def optimizer_group_added(run):
    extra = P(1, 2, 3)
    extra.grad = kw.ones(3)
    r = trained(run, lambda p: O.SGD(p, lr=0.1), 8, lambda m, o: o.add_param_group({"params": [extra]}))
    return r + [extra.detach()]


@trap
def optimizer_lr_tensor_replaced(run):

    def between(m, o):
        o.param_groups[0]["lr"] = kw.tensor(0.5)
    return tried(lambda: trained(run, lambda p: O.Adam(p, lr=kw.tensor(0.1), capturable=True, foreach=False), 8,
            between))


@trap
def optimizer_lr_tensor_changed(run):

    def between(m, o):
        o.param_groups[0]["lr"].fill_(0.5)
    return tried(lambda: trained(run, lambda p: O.Adam(p, lr=kw.tensor(0.1), capturable=True, foreach=False), 8,
            between))


@trap
def optimizer_hook_added(run):
    if not hasattr(O.SGD, "register_step_post_hook"):
        return 0

    def post(o, a, k):
        with kw.no_grad():
            for p in o.param_groups[0]["params"]:
                p.mul_(2)
    return trained(run, lambda p: O.SGD(p, lr=0.1), 8, lambda m, o: o.register_step_post_hook(post))


@trap
def optimizer_lr_int(run):
    return trained(run, lambda p: O.SGD(p, lr=1), 8, lambda m, o: o.param_groups[0].update(lr=0.25))


@trap
def micro_batches_outside(run):
    kw.manual_seed(0)
    m = nn.Linear(3, 2)
    o = O.SGD(m.parameters(), lr=0.1)
    f = run(lambda x: m(x).square().mean().backward())
    g = run(lambda: (o.step(), o.zero_grad())[1])
    for i in range(12):
        f(kw.randn(2, 3))
        if i % 3 == 2:
            g()
    return list(m.state_dict().values())


@trap
def two_optimizers_shared(run):
    kw.manual_seed(0)
    a, b = (nn.Linear(3, 3), nn.Linear(3, 3))
    b.weight = a.weight
    oa, ob = (O.SGD(a.parameters(), lr=0.1, momentum=0.5), O.Adam(b.parameters(), lr=0.1))

    def f(x):
        oa.zero_grad()
        ob.zero_grad()
        l = b(a(x)).square().sum()
        l.backward()
        oa.step()
        ob.step()
        return l.detach()
    f = run(f)
    return [f(kw.randn(2, 3)) for _ in range(6)] + list(a.state_dict().values()) + list(b.state_dict().values())


@trap
def rnn_state_kept(run):

    class M(nn.Module):

        def __init__(s):
            super().__init__()
            s.c = nn.GRUCell(3, 4)
            s.h = kw.zeros(1, 4)

        def forward(s, x):
            s.h = s.c(x, s.h).detach()
            return s.h * 2
    kw.manual_seed(0)
    m = M()
    f = run(m)
    return [f(kw.randn(1, 3)) for _ in range(20)] + [m.h]


@trap
def rnn_state_copied(run):

    class M(nn.Module):

        def __init__(s):
            super().__init__()
            s.c = nn.LSTMCell(3, 4)
            s.register_buffer("h", kw.zeros(1, 4))
            s.register_buffer("k", kw.zeros(1, 4))

        def forward(s, x):
            h, k = s.c(x, (s.h, s.k))
            s.h.copy_(h.detach())
            s.k.copy_(k.detach())
            return h * 2
    kw.manual_seed(0)
    m = M()
    f = run(m)
    return [f(kw.randn(1, 3)) for _ in range(6)] + [m.h, m.k]


@trap
def counter_attribute(run):

    class M(nn.Module):

        def __init__(s):
            super().__init__()
            s.n = 0

        def forward(s, x):
            s.n += 1
            return x * s.n
    m = M()
    f = run(m)
    return [f(X()) for _ in range(20)] + [m.n]


@trap
def counter_buffer(run):

    class M(nn.Module):

        def __init__(s):
            super().__init__()
            s.register_buffer("n", kw.zeros(()))

        def forward(s, x):
            s.n += 1
            return x * s.n
    m = M()
    f = run(m)
    return [f(X()) for _ in range(6)] + [m.n]


@trap
def eval_within(run):
    m = nn.Dropout(0.5)

    def f(x):
        m.eval()
        return m(x)
    f = run(f)
    out = []
    for i in range(4):
        m.train()
        out += [f(X()), m.training]
    return out


@trap
def embedding_max_norm(run):
    kw.manual_seed(0)
    e = nn.Embedding(5, 3, max_norm=0.5, padding_idx=0)

    def f(i):
        e.zero_grad()
        r = e(i)
        r.sum().backward()
        return r.detach()
    f = run(f)
    return [f(kw.tensor([i, (i + 2) % 5])) for i in range(5)] + [e.weight.detach(), e.weight.grad]


@trap
def functional_call(run):
    m = nn.Linear(3, 2)
    f = run(lambda p, x: kw.func.functional_call(m, p, (x,)))
    out = []
    for i in range(4):
        out.append(f({"bias": kw.ones(2) * i, "weight": kw.ones(2, 3) * i}, X()))
    return out + [f({"weight": kw.ones(2, 3), "bias": kw.ones(2) * 5}, X())]


@trap
def ensemble(run):
    ms = [nn.Linear(3, 2) for _ in range(3)]
    p, b = kw.func.stack_module_state(ms)
    base = ms[0]
    f = run(lambda p, x: kw.vmap(lambda q, y: kw.func.functional_call(base, q, (y,)), (0, None))(p, x))
    q = {k: v.detach() for k, v in p.items()}
    return [tried(f, q, X() * i) for i in range(4)]


@pytest.mark.parametrize("name", marked(TRAPS, FAILING))
def test_what_is_compiled_does_what_the_program_does(name):
    compare(TRAPS[name])
