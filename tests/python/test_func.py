"""keyway.func: gradients, Jacobians and Hessians as functions, alone and within vmap."""

from typing import Any

import pytest

import keyway as kw
from keyway import vmap
from keyway.func import (
    functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, stack_module_state,
    vjp,
)
from keyway.nn import functional as F


def close(a: kw.Tensor, b: kw.Tensor) -> None:
    kw.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


@pytest.fixture(autouse=True)
def seed() -> None:
    kw.manual_seed(0)


def test_gradients() -> None:
    x, y = kw.randn(3), kw.randn(3)
    close(grad(lambda t: t.sin().sum())(x), x.cos())
    close(grad(kw.dot, argnums=1)(x, y), x)
    gradients = grad(kw.dot, argnums=(0, 1))(x, y)
    close(gradients[0], y)
    close(gradients[1], x)
    close(grad(kw.dot, argnums=-1)(x, y), x)
    gradient, value = grad_and_value(kw.dot)(x, y)
    close(gradient, y)
    close(value, kw.dot(x, y))
    gradient, (value, aux) = grad_and_value(lambda t: (t.sum(), {"t": t * 2}), has_aux=True)(x)
    close(aux["t"], 2 * x)
    assert not (gradient.requires_grad or value.requires_grad or aux["t"].requires_grad)
    tree = grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": x, "b": [y]})
    close(tree["a"], y)
    close(tree["b"][0], x)
    close(grad(lambda t: kw.zeros(()) + y.sum())(x), kw.zeros(3))


def test_gradients_of_gradients() -> None:
    x = kw.tensor(2.0)
    close(grad(grad(lambda t: t**3))(x), kw.tensor(12.0))
    close(grad(grad(grad(lambda t: t**4)))(x), kw.tensor(48.0))
    # The inner gradient takes x as a constant: d/dx x * d(x + y)/dy.
    close(grad(lambda t: t * grad(lambda s: t * s)(t))(x), kw.tensor(4.0))
    leaf = kw.tensor(3.0, requires_grad=True)
    grad(lambda t: t * t * leaf)(x).backward()
    close(leaf.grad, kw.tensor(4.0))
    leaf.grad = None
    grad(lambda t: t**3)(leaf).backward()
    close(leaf.grad, kw.tensor(18.0))
    with kw.no_grad():
        assert not grad(lambda t: t**3)(leaf).requires_grad
        close(grad(lambda t: t**3)(leaf), kw.tensor(27.0))


def test_products() -> None:
    x, v = kw.randn(3), kw.randn(3)
    out, product = vjp(lambda t: (t.sin(), t.sum()), x)
    (found,) = product((v, kw.tensor(2.0)))
    close(out[0], x.sin())
    close(found, v * x.cos() + 2)
    out, tangent = jvp(lambda t: t.sin() * t.sum(), (x,), (v,))
    close(out, x.sin() * x.sum())
    close(tangent, v * x.cos() * x.sum() + x.sin() * v.sum())
    out, tangent, aux = jvp(lambda t: (t * t, t.sum()), (x,), (v,), has_aux=True)
    close(tangent, 2 * x * v)
    close(aux, x.sum())
    assert not (out.requires_grad or tangent.requires_grad)


@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobians(jacobian: Any) -> None:
    x, y = kw.randn(3), kw.randn(2)
    close(jacobian(kw.sin)(x), kw.diag(x.cos()))
    close(jacobian(kw.outer, argnums=1)(x, y), kw.einsum("i,jk->ijk", x, kw.eye(2)))
    both = jacobian(kw.outer, argnums=(0, 1))(x, y)
    assert [tuple(j.shape) for j in both] == [(3, 2, 3), (3, 2, 2)]
    tree = jacobian(lambda d: {"s": d["x"] * 2, "p": d["x"].sum()})({"x": x})
    close(tree["s"]["x"], 2 * kw.eye(3))
    close(tree["p"]["x"], kw.ones(3))
    found, aux = jacobian(lambda t: (t * t, t.sum()), has_aux=True)(x)
    close(found, kw.diag(2 * x))
    close(aux, x.sum())
    close(vmap(jacobian(lambda t: t * t.sum()))(kw.stack([x, 2 * x]))[1], jacobian(lambda t: t * t.sum())(2 * x))
    assert not jacobian(kw.sin)(x).requires_grad
    leaf = kw.randn(2, requires_grad=True)
    jacobian(lambda t: t**3)(leaf).sum().backward()
    close(leaf.grad, 6 * leaf)


def test_chunks_of_jacobians() -> None:
    x = kw.randn(5)
    close(jacrev(kw.sin, chunk_size=2)(x), kw.diag(x.cos()))


def test_hessians() -> None:
    x = kw.randn(3)

    def function(t: kw.Tensor) -> kw.Tensor:
        return (t**3).sum() + t[0] * t[1]

    expected = kw.diag(6 * x)
    expected[0, 1] = expected[1, 0] = 1
    close(hessian(function)(x), expected)
    close(jacfwd(jacrev(function))(x), expected)
    close(jacrev(jacfwd(function))(x), expected)
    close(vmap(hessian(function))(kw.stack([x, x]))[1], expected)


def network() -> kw.nn.Module:
    return kw.nn.Sequential(
        kw.nn.Conv2d(1, 4, 3), kw.nn.ReLU(), kw.nn.MaxPool2d(2), kw.nn.Flatten(), kw.nn.LayerNorm(36),
        kw.nn.Linear(36, 5))


def test_gradients_of_each_sample() -> None:
    model = network()
    images, targets = kw.randn(4, 1, 8, 8), kw.tensor([0, 4, 2, 1])
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters: Any, image: kw.Tensor, target: kw.Tensor) -> kw.Tensor:
        return F.cross_entropy(functional_call(model, parameters, (image[None],)), target[None])

    of_each = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, images, targets)
    for i in range(4):
        model.zero_grad()
        F.cross_entropy(model(images[i][None]), targets[i][None]).backward()
        for name, parameter in model.named_parameters():
            close(of_each[name][i], parameter.grad)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses_with_ignored_targets_and_weights(reduction: str) -> None:
    x, targets, weight = kw.randn(3, 4, 5), kw.tensor([[0, 1, -100, 4], [2, -100, -100, 3], [1, 1, 1, 1]]), kw.rand(5)

    def loss(one: kw.Tensor, of: kw.Tensor) -> kw.Tensor:
        return F.cross_entropy(one, of, weight=weight, reduction=reduction)

    close(vmap(loss)(x, targets), kw.stack([loss(x[i], targets[i]) for i in range(3)]))


def test_ensembles() -> None:
    models = [network() for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    x = kw.randn(2, 1, 8, 8)

    def call(parameters: Any, buffers: Any, x: kw.Tensor) -> kw.Tensor:
        return functional_call(models[0], (parameters, buffers), (x,))

    out = vmap(call, in_dims=(0, 0, None))(parameters, buffers, x)
    close(out, kw.stack([model(x) for model in models]))
    out.sum().backward()
    models[1](x).sum().backward()
    for name, parameter in models[1].named_parameters():
        close(parameters[name].grad[1], parameter.grad)
    with pytest.raises(kw.ValueError, match="one class"):
        stack_module_state([models[0], kw.nn.Linear(1, 1)])
    with pytest.raises(kw.ValueError, match="no modules"):
        stack_module_state([])


def test_embeddings_of_each() -> None:
    weights, indices = kw.randn(3, 5, 2), kw.tensor([[0, 4], [1, 1], [2, 3]])
    close(vmap(F.embedding)(indices, weights), kw.stack([weights[i][indices[i]] for i in range(3)]))
    close(vmap(F.embedding, (0, None))(indices, weights[0]), weights[0][indices])
    with pytest.raises(kw.IndexError):
        vmap(F.embedding)(indices + 3, weights)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: grad(lambda x: x)(kw.ones(2)), kw.ValueError, "without dimensions"),
    (lambda: grad(lambda x: x.sum())(3.0), kw.TypeError, "must be a Tensor"),
    (lambda: grad(lambda x: x.sum())(kw.ones(2, dtype=kw.int64)), kw.TypeError, "floating or complex"),
    (lambda: grad(lambda x: x.sum(), argnums=1)(kw.ones(2)), kw.ValueError, "argnums has 1"),
    (lambda: grad(lambda x: x.sum(), argnums="x")(kw.ones(2)), kw.TypeError, "argnums"),
    (lambda: grad(lambda x: 1.0)(kw.ones(2)), kw.TypeError, "return a Tensor"),
    (lambda: grad(lambda x: x.sum(), has_aux=True)(kw.ones(2)), kw.TypeError, "tuple of two"),
    (lambda: vjp(lambda x: x, kw.ones(2))[1](kw.ones(3)), kw.ValueError, "must have the shapes and dtypes"),
    (lambda: vjp(lambda x: x, kw.ones(2))[1](kw.ones(2, dtype=kw.float64)), kw.ValueError, "float64"),
    (lambda: vjp(lambda x: (x, x), kw.ones(2))[1](kw.ones(2)), kw.ValueError, "structure"),
    (lambda: vjp(lambda x: {"a": x}, kw.ones(2))[1]({"b": kw.ones(2)}), kw.ValueError, "structure"),
    (lambda: jacrev(lambda x: x)(kw.ones(2, dtype=kw.complex64)), kw.TypeError, "view_as_real"),
    (lambda: jacfwd(lambda x: x * 1j)(kw.ones(2)), kw.TypeError, "view_as_real"),
    (lambda: vjp(lambda: 1), kw.ValueError, "no primals"),
    (lambda: jvp(lambda x: x, (kw.ones(2),), (kw.ones(3),)), kw.ValueError, "must have the shapes and dtypes"),
    (lambda: jvp(lambda x: x, kw.ones(2), kw.ones(2)), kw.TypeError, "must be tuples"),
    (lambda: jacrev(lambda x: 1)(kw.ones(2)), kw.TypeError, "has to return tensors"),
])
def test_calls_that_are_wrong(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_gradients_for_several_weights() -> None:
    x, other = kw.randn(3, requires_grad=True), kw.randn(2, requires_grad=True)
    weights = kw.randn(4, 3)
    found, unused = kw.autograd.grad(x.sin(), (x, other), weights, is_grads_batched=True, allow_unused=True)
    close(found, weights * x.cos())
    assert unused is None
    close(kw.autograd.grad([x * 2, other * 3], [x, other], [weights, kw.ones(4, 2)], is_grads_batched=True)[1],
          kw.full((4, 2), 3.0))
    for vectorize in (False, True):
        jacobian = kw.autograd.functional.jacobian(lambda a, b: kw.outer(a, b), (x, other), vectorize=vectorize)
        close(jacobian[0], kw.einsum("ik,j->ijk", kw.eye(3), other))
        close(jacobian[1], kw.einsum("i,jk->ijk", x, kw.eye(2)))
        close(kw.autograd.functional.hessian(lambda a: (a**3).sum(), x, vectorize=vectorize), kw.diag(6 * x))


def test_weights_are_found_by_their_keys() -> None:
    _, product = vjp(lambda x: {"a": x[:2], "b": x[2:] * 2}, kw.ones(4))
    close(product({"b": kw.ones(2), "a": kw.full((2,), 100.0)})[0], kw.tensor([100.0, 100.0, 2.0, 2.0]))
    _, tangent = jvp(lambda d: d["a"] * 2 + d["b"] * 0, ({"a": kw.ones(2), "b": kw.ones(2)},),
                     ({"b": kw.full((2,), 7.0), "a": kw.ones(2)},))
    close(tangent, kw.full((2,), 2.0))


def test_inference_mode_hides_no_gradient() -> None:
    with kw.inference_mode():
        x = kw.ones(4)
        close(grad(lambda t: (t * t).sum())(x), 2 * x)
        close(jacrev(kw.sin)(x), kw.diag(x.cos()))
        close(vmap(grad(lambda t: t * t))(x), 2 * x)
    close(grad(lambda t: (t * t).sum())(x), kw.full((4,), 2.0))


def test_jacobians_without_elements() -> None:
    x = kw.ones(3)
    assert jacrev(lambda t: t[:0])(x).shape == (0, 3)
    assert jacfwd(lambda t: t * 2)(x[:0]).shape == (0, 0)
    assert jacfwd(lambda t: kw.cat([x, t]))(x[:0]).shape == (3, 0)


def test_aux_is_part_of_a_graph_only_if_it_was_one() -> None:
    leaf = kw.ones(2, requires_grad=True)
    _, (own, others) = grad(lambda t: ((t * leaf).sum(), (t * 2, leaf * 2)), has_aux=True)(kw.ones(2))
    assert not own.requires_grad and others.requires_grad


def test_within_anomaly_mode() -> None:
    with pytest.warns(UserWarning, match="Anomaly"), kw.autograd.detect_anomaly():
        close(jacrev(kw.sin)(kw.ones(2)), kw.diag(kw.ones(2).cos()))
        close(vmap(grad(kw.sin))(kw.ones(2)), kw.ones(2).cos())


def test_linearized_functions_give_the_products_of_their_jacobian() -> None:
    calls = 0

    def function(a: kw.Tensor, rest: dict[str, kw.Tensor]) -> dict[str, Any]:
        nonlocal calls
        calls += 1
        return {"sum": (a * rest["b"]).sum(), "square": [a * a]}

    a, b = kw.tensor([1.0, 2.0]), kw.tensor([3.0, -1.0])
    value, derivative = linearize(function, a, {"b": b})
    assert value["sum"].item() == 1.0 and value["square"][0].tolist() == [1.0, 4.0]
    for da, db in (([1.0, 0.0], [0.0, 0.0]), ([0.5, -1.0], [2.0, 4.0])):
        product = derivative(kw.tensor(da), {"b": kw.tensor(db)})
        assert product["sum"].item() == 3 * da[0] - da[1] + db[0] + 2 * db[1]
        assert product["square"][0].tolist() == [2 * da[0], 4 * da[1]]
    assert calls == 1 and not value["sum"].requires_grad
    _, derivative = linearize(kw.sin, kw.zeros(3))
    close(vmap(derivative)(kw.eye(3)), kw.eye(3))
    with pytest.raises(kw.ValueError, match="linearize: the tangents must have the shapes and dtypes"):
        derivative(kw.ones(2))
    with pytest.raises(kw.ValueError, match="linearize: there are no primals"):
        linearize(kw.sin)
    with pytest.raises(kw.Error, match="linearize"):
        linearize(kw.sin, kw.zeros(2, dtype=kw.complex64))
