"""autocast, custom_fwd and custom_bwd, register_autocast, and GradScaler."""

import gc
import pickle
import threading
import warnings
import weakref

import keyway
import pytest
from keyway import amp
from keyway.nn import functional

BF16, F16, F32 = keyway.bfloat16, keyway.float16, keyway.float32


def cpu(**options):
    return keyway.autocast("cpu", **options)


# --- Regions


def test_regions_nest_and_end_with_exceptions_too():
    a = keyway.ones(2, 2)
    with cpu():
        assert (a @ a).dtype == BF16
        with pytest.raises(ZeroDivisionError), cpu(dtype=F16):
            assert (a @ a).dtype == F16
            1 / 0
        with cpu(enabled=False):
            assert (a @ a).dtype == F32
        assert (a @ a).dtype == BF16
    assert (a @ a).dtype == F32
    assert keyway.get_autocast_dtype("cpu") == BF16


def test_it_decorates_functions_and_generators():
    a = keyway.ones(2, 2)

    @cpu(dtype=F16)
    def product():
        """Its text."""
        return (a @ a).dtype

    @cpu()
    def products():
        yield (a @ a).dtype
        yield (a @ a).dtype

    assert product() == F16
    assert product.__doc__ == "Its text."
    assert list(products()) == [BF16, BF16]
    assert (a @ a).dtype == F32


def test_regions_are_one_threads():
    seen = []
    with cpu():
        thread = threading.Thread(target=lambda: seen.append(keyway.is_autocast_enabled("cpu")))
        thread.start()
        thread.join()
        assert keyway.is_autocast_enabled("cpu")
    assert seen == [False]


def test_a_region_on_cuda_without_a_device_warns_and_changes_nothing():
    if keyway.cuda.is_available():
        pytest.skip("there is a device")
    with pytest.warns(UserWarning, match="there is no such device"), keyway.autocast("cuda"):
        assert not keyway.is_autocast_enabled("cuda")


def test_what_a_region_refuses():
    with pytest.raises(keyway.TypeError, match="dtype is keyway.float64"):
        cpu(dtype=keyway.float64)
    with pytest.raises(keyway.ValueError, match="no device type 'nowhere'"):
        keyway.autocast("nowhere")
    with pytest.raises(keyway.TypeError, match="device_type is a str"):
        keyway.autocast(0)
    assert amp.is_autocast_available("cpu")
    assert not amp.is_autocast_available("nowhere")


def test_dtypes_of_results():
    x, half = keyway.rand(4, 4), keyway.rand(4, 4).to(BF16)
    with cpu():
        assert functional.linear(x, x).dtype == BF16
        assert functional.conv2d(keyway.rand(1, 1, 4, 4), keyway.rand(1, 1, 2, 2)).dtype == BF16
        assert functional.scaled_dot_product_attention(x[None], x[None], x[None]).dtype == BF16
        assert half.exp().dtype == half.softmax(0).dtype == half.sum().dtype == half.norm().dtype == F32
        assert half.sum(dtype=keyway.float64).dtype == keyway.float64
        assert functional.cross_entropy(half, keyway.tensor([0, 1, 2, 3])).dtype == F32
        assert functional.layer_norm(half, (4,)).dtype == F32
        assert keyway.cat([half, x]).dtype == keyway.stack([x, half]).dtype == F32
        assert keyway.cat([half, half]).dtype == BF16
        assert (half + half).dtype == half.relu().dtype == BF16
        assert keyway.linalg.inv(keyway.eye(3).to(BF16)).dtype == F32
        assert (x.double() @ x.double()).dtype == keyway.float64
        assert keyway.arange(3).sum().dtype == keyway.int64


def test_results_are_those_of_converted_arguments():
    a, b = keyway.randn(5, 7), keyway.randn(7, 3)
    with cpu():
        product = a @ b
    assert keyway.equal(product, a.to(BF16) @ b.to(BF16))


# --- Gradients


def test_modules_train_as_in_float32():
    keyway.manual_seed(0)
    model = keyway.nn.Sequential(keyway.nn.Linear(4, 16), keyway.nn.Tanh(), keyway.nn.Linear(16, 2))
    optimizer = keyway.optim.Adam(model.parameters(), lr=0.02)
    x = keyway.randn(64, 4)
    target = (x[:, 0] * x[:, 1] > 0).long()
    losses = []
    for _ in range(150):
        optimizer.zero_grad()
        with cpu():
            output = model(x)
            loss = functional.cross_entropy(output, target)
        assert output.dtype == BF16
        loss.backward()
        assert all(parameter.grad.dtype == F32 for parameter in model.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_a_weight_is_converted_once_until_it_changes():
    weight = keyway.ones(2, 2, requires_grad=True)
    x = keyway.ones(2, 2)

    def conversion():
        return (x @ weight).grad_fn.next_functions[1][0]

    with cpu():
        assert conversion() is conversion()
        before = conversion()
        with keyway.no_grad():
            weight.add_(1)
        assert conversion() is not before
        assert (x @ weight)[0, 0].item() == 4
        keyway.clear_autocast_cache()
    with cpu(cache_enabled=False):
        assert conversion() is not conversion()


def test_a_product_without_gradients_does_not_spoil_the_next_one():
    weight = keyway.ones(2, 2, requires_grad=True)
    with cpu():
        with keyway.no_grad():
            keyway.ones(2, 2) @ weight
        (keyway.ones(2, 2) @ weight).sum().backward()
    assert weight.grad is not None


def test_nothing_is_held_after_the_last_region():
    weight = keyway.ones(2, 2, requires_grad=True)
    with cpu(), cpu():
        keyway.ones(2, 2) @ weight
    there = weakref.ref(weight)
    del weight
    gc.collect()
    assert there() is None


def test_checkpoint_computes_again_as_it_did():
    weight = keyway.randn(3, 3, requires_grad=True)
    x = keyway.randn(2, 3, requires_grad=True)

    def function(value):
        return (value @ weight).tanh() @ weight

    gradients = []
    for reentrant in (None, False, True):
        weight.grad = None
        with cpu():
            if reentrant is None:
                result = function(x)
            else:
                result = keyway.utils.checkpoint.checkpoint(function, x, use_reentrant=reentrant)
        result.float().sum().backward()
        gradients.append(weight.grad.clone())
    assert keyway.equal(gradients[0], gradients[1])
    assert keyway.allclose(gradients[0], gradients[2])


def test_functions_of_autograd():
    seen = []

    class Product(keyway.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu")
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            seen.append((grad @ b.t()).dtype)
            return grad.float() @ b.t().float(), a.t().float() @ grad.float()

    class InFloat(keyway.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu", cast_inputs=F32)
        def forward(ctx, a, more):
            seen.append((a.dtype, more["b"][0].dtype, (a @ a).dtype))
            return a

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            seen.append(keyway.is_autocast_enabled("cpu"))
            return grad, None

    a = keyway.ones(2, 2, requires_grad=True)
    with cpu():
        Product.apply(a, a).float().sum().backward()
        result = InFloat.apply(a.to(BF16), {"b": [a.to(F16)]})
    result.sum().backward()
    Product.apply(a, a).sum().backward()
    assert seen == [BF16, (F32, F32, F32), False, F32]


def test_custom_operators():
    seen = []

    @keyway.library.custom_op("autocast_py::same", mutates_args=())
    def same(x: keyway.Tensor, others: list[keyway.Tensor]) -> keyway.Tensor:
        seen.append((x.dtype, [other.dtype for other in others]))
        return x.clone()

    same.register_autocast("cpu", F16)
    x = keyway.ones(2)
    with cpu():
        assert same(x, [x.double(), x.to(BF16), keyway.arange(2)]).dtype == F16
    assert same(x, [x]).dtype == F32
    assert seen == [(F16, [keyway.float64, F16, keyway.int64]), (F32, [F32])]
    keyway.library.register_autocast("autocast_py::same", "cpu", BF16)
    with cpu():
        assert same(x, []).dtype == BF16
    with pytest.raises(keyway.TypeError, match="dtype is keyway.int64"):
        same.register_autocast("cpu", keyway.int64)
    with pytest.raises(keyway.ValueError, match="no device type"):
        same.register_autocast("nowhere", F16)


# --- GradScaler


class Training:
    def __init__(self, **options):
        self.a = keyway.ones(2, requires_grad=True)
        self.b = keyway.ones(3, dtype=BF16, requires_grad=True)
        self.optimizer = keyway.optim.SGD([self.a, self.b], lr=0.5)
        self.scaler = amp.GradScaler("cpu", init_scale=8.0, growth_interval=2, **options)

    def backward(self, factor):
        self.optimizer.zero_grad()
        self.scaler.scale((self.a.sum() + self.b.sum().float()) * factor).backward()

    def step(self, factor):
        self.backward(factor)
        self.scaler.step(self.optimizer)
        self.scaler.update()


def test_steps_are_those_of_gradients_that_were_not_scaled():
    training = Training()
    training.step(1.0)
    assert training.a.tolist() == [0.5, 0.5]
    assert training.b.tolist() == [0.5, 0.5, 0.5]
    assert training.scaler.get_scale() == 8
    training.step(1.0)
    assert training.scaler.get_scale() == 16


@pytest.mark.parametrize("bad", [float("inf"), float("-inf"), float("nan")])
def test_a_step_that_is_not_finite_is_left_out(bad):
    training = Training()
    training.step(1.0)
    training.step(bad)
    assert training.a.tolist() == [0.5, 0.5]
    assert training.scaler.get_scale() == 4
    training.step(1.0)
    assert training.scaler.get_scale() == 4  # counted anew
    training.step(1.0)
    assert training.scaler.get_scale() == 8


def test_unscaling_before_clipping():
    training = Training()
    training.backward(2.0)
    training.scaler.unscale_(training.optimizer)
    assert training.a.grad.tolist() == [2.0, 2.0]
    with pytest.raises(keyway.Error, match="already"):
        training.scaler.unscale_(training.optimizer)
    training.scaler.step(training.optimizer)
    with pytest.raises(keyway.Error, match="already"):
        training.scaler.step(training.optimizer)
    with pytest.raises(keyway.Error, match=r"after step\(\)"):
        training.scaler.unscale_(training.optimizer)
    training.scaler.update()
    assert training.a.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("unscales", [False, True])
@pytest.mark.parametrize("fused", [False, True])
def test_a_step_that_raises_can_be_taken_again(unscales, fused):
    training = Training()
    (group,) = training.optimizer.param_groups
    training.backward(1.0)
    if unscales:
        training.scaler.unscale_(training.optimizer)
    group["fused"], group["lr"] = fused, "much"
    with pytest.raises(TypeError):
        training.scaler.step(training.optimizer)
    group["lr"] = 0.5
    training.scaler.step(training.optimizer)
    assert training.a.tolist() == [0.5, 0.5] and training.b.tolist() == [0.5, 0.5, 0.5]
    training.scaler.update()
    training.backward(1.0)
    group["lr"] = "much"
    with pytest.raises(TypeError):
        training.scaler.step(training.optimizer)
    training.scaler.update()  # as what was found of the gradients is known
    assert training.scaler.get_scale() == 16


def test_several_losses_and_optimizers():
    a, b = keyway.ones(1, requires_grad=True), keyway.ones(1, requires_grad=True)
    first, second = keyway.optim.SGD([a], lr=1.0), keyway.optim.SGD([b], lr=1.0)
    scaler = amp.GradScaler("cpu", init_scale=4.0)
    one, (two, three) = scaler.scale([a.sum(), (b.sum(), (b * float("inf")).sum())])
    assert (one.item(), two.item()) == (4.0, 4.0)
    (one + two).backward()
    scaler.step(first)
    three.backward()
    scaler.step(second)
    scaler.update()
    assert (a.item(), b.item(), scaler.get_scale()) == (0.0, 1.0, 2.0)


def test_its_numbers_are_saved_and_restored():
    training = Training()
    training.step(1.0)
    state = training.scaler.state_dict()
    assert state == {"scale": 8.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2,
                     "_growth_tracker": 1}
    other = Training()
    other.scaler.load_state_dict(state)
    other.step(1.0)
    assert other.scaler.get_scale() == 16
    again = pickle.loads(pickle.dumps(training.scaler))
    assert again.state_dict() == state
    training.scaler.update(3.0)
    assert training.scaler.get_scale() == 3
    training.scaler.set_growth_factor(4.0)
    assert training.scaler.get_growth_factor() == 4


def test_what_a_scaler_refuses():
    for name, value in (("growth_factor", 1.0), ("backoff_factor", 1.0), ("growth_interval", 0)):
        with pytest.raises(keyway.ValueError, match=name):
            amp.GradScaler("cpu", **{name: value})
    training = Training()
    with pytest.raises(keyway.Error, match="no loss was scaled"):
        training.scaler.step(training.optimizer)
    training.scaler.scale(keyway.ones(1))
    with pytest.raises(keyway.Error, match="has a gradient"):
        training.scaler.step(training.optimizer)
    with pytest.raises(keyway.Error, match="no gradients were unscaled"):
        training.scaler.update()
    with pytest.raises(keyway.TypeError, match="outputs"):
        training.scaler.scale(1.0)
    with pytest.raises(keyway.Error, match="closure"):
        training.scaler.step(training.optimizer, lambda: 0)
    half = keyway.ones(1, dtype=F16, requires_grad=True)
    optimizer = keyway.optim.SGD([half], lr=1.0)
    training.scaler.scale(half.sum()).backward()
    with pytest.raises(keyway.ValueError, match="float16"):
        training.scaler.unscale_(optimizer)
    with pytest.raises(keyway.Error, match="not enabled"):
        training.scaler.load_state_dict({})


def test_one_that_is_not_enabled_does_nothing():
    training = Training(enabled=False)
    training.step(1.0)
    assert training.a.tolist() == [0.5, 0.5]
    assert training.scaler.get_scale() == 1
    assert training.scaler.state_dict() == {}


def test_gradients_of_any_layout_are_unscaled():
    grads = [keyway.arange(6.0).reshape(2, 3).t(), keyway.ones(4)[::2], keyway.ones(1).expand(1)]
    found = keyway.zeros(())
    keyway._C._amp_foreach_non_finite_check_and_unscale_(grads, found, keyway.tensor(0.5))
    assert grads[0].tolist() == [[0.0, 1.5], [0.5, 2.0], [1.0, 2.5]]
    assert grads[1].tolist() == [0.5, 0.5]
    assert found.item() == 0
    grads[0][1, 1] = float("nan")
    keyway._C._amp_foreach_non_finite_check_and_unscale_(grads, found, keyway.tensor(0.5))
    assert found.item() == 1


def test_another_optimizer_is_not_taken_for_one_that_is_gone():
    scaler = amp.GradScaler("cpu", init_scale=4.0)
    a = keyway.ones(1, requires_grad=True)
    scaler.scale(a.sum()).backward()
    scaler.unscale_(keyway.optim.SGD([a], lr=1.0))
    a.grad.mul_(4.0)  # as if it were scaled still
    scaler.step(keyway.optim.SGD([a], lr=1.0))
    assert a.item() == 0.0


def test_importing_keyway_does_not_import_optimizers():
    import subprocess
    import sys

    code = "import sys, keyway; keyway.autocast; sys.exit('keyway.optim' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_no_warning_comes_from_the_cpu():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with cpu(), keyway.autocast("meta"):
            keyway.ones(2, 2) @ keyway.ones(2, 2)
