"""keyway.autograd.forward_ad: dual tensors, and what keyway.func makes of them."""

import threading
from typing import Any

import pytest

import keyway as kw
from keyway import autograd, func, vmap
from keyway.autograd import forward_ad as fwad, functional
from keyway.nn import functional as F


def close(a: kw.Tensor, b: kw.Tensor) -> None:
    kw.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


@pytest.fixture(autouse=True)
def seed() -> None:
    kw.manual_seed(0)


def test_dual_tensors() -> None:
    x, t = kw.randn(3), kw.randn(3)
    with fwad.dual_level():
        dual = fwad.make_dual(x, t)
        result = fwad.unpack_dual(dual.sin() * dual)
        assert isinstance(result, fwad.UnpackedDualTensor)
        close(result.primal, x.sin() * x)
        assert result.tangent is not None
        close(result.tangent, (x.cos() * x + x.sin()) * t)
        assert fwad.unpack_dual(x).tangent is None
        assert fwad.unpack_dual(dual.detach()).tangent is None
        assert dual.sum().item() == x.sum().item()
        assert (dual > 0).tolist() == (x > 0).tolist()
    assert fwad.unpack_dual(dual) == (dual, None)
    close(dual * 2, x * 2)


def test_levels() -> None:
    outer = fwad.enter_dual_level()
    inner = fwad.enter_dual_level()
    assert inner > outer
    with pytest.raises(kw.ValueError, match="in the order opposite"):
        fwad.exit_dual_level(level=outer)
    fwad.exit_dual_level(level=inner)
    fwad.exit_dual_level()
    with pytest.raises(kw.ValueError, match="no level to leave"):
        fwad.exit_dual_level()
    with pytest.raises(kw.ValueError, match="enter one with dual_level"):
        fwad.make_dual(kw.ones(1), kw.ones(1))

    @fwad.dual_level()
    def slope(x: kw.Tensor) -> Any:
        return fwad.unpack_dual(fwad.make_dual(x, kw.ones_like(x)).exp()).tangent

    close(slope(kw.zeros(2)), kw.ones(2))
    with pytest.raises(ZeroDivisionError), fwad.dual_level():
        1 / 0
    assert fwad.unpack_dual(kw.ones(1)).tangent is None


def test_derivatives_of_one_variable_are_not_those_of_another() -> None:
    def slope(f: Any, x: kw.Tensor) -> kw.Tensor:
        tangent: kw.Tensor = func.jvp(f, (x,), (kw.ones_like(x),))[1]
        return tangent

    one = kw.tensor(1.0)
    close(slope(lambda x: x * slope(lambda y: x + y, one), one), one)
    close(slope(lambda x: x * func.grad(lambda y: x + y)(one), one), one)
    close(func.grad(lambda x: x * slope(lambda y: x + y, one))(one), one)
    close(slope(lambda x: slope(lambda y: x * y * y, x * 1), kw.tensor(3.0)), kw.tensor(12.0))
    close(slope(lambda x: slope(lambda y: slope(lambda z: z ** 4, y), x), kw.tensor(2.0)), kw.tensor(48.0))


def network(x: kw.Tensor, w: kw.Tensor) -> kw.Tensor:
    hidden = F.layer_norm((x @ w).tanh(), (4,))
    return F.cross_entropy(hidden, kw.tensor([0, 3, 1])) + F.softmax(hidden, -1).pow(3).sum()


def test_orders_of_both_modes_agree() -> None:
    x, w, t = kw.randn(3, 5), kw.randn(5, 4), kw.randn(3, 5)
    of_x = lambda v: network(v, w)  # noqa: E731
    product = func.jvp(func.grad(of_x), (x,), (t,))[1]
    reverse = func.grad(lambda v: (func.grad(of_x)(v) * t).sum())(x)
    close(product, reverse)
    close(func.grad(lambda v: func.jvp(of_x, (v,), (t,))[1])(x), reverse)
    expected = func.jacrev(func.jacrev(of_x))(x)
    for outer in (func.jacfwd, func.jacrev):
        for inner in (func.jacfwd, func.jacrev):
            close(outer(inner(of_x))(x), expected)
    close(func.hessian(of_x)(x), expected)
    close(functional.hessian(of_x, x, vectorize=True, outer_jacobian_strategy="forward-mode"), expected)


def test_within_vmap_and_around_it() -> None:
    x, w, t = kw.randn(2, 3, 5), kw.randn(5, 4), kw.randn(2, 3, 5)
    each = [func.jvp(lambda v: network(v, w), (x[i],), (t[i],))[1] for i in range(2)]
    close(vmap(lambda v, d: func.jvp(lambda u: network(u, w), (v,), (d,))[1])(x, t), kw.stack(each))
    close(func.jvp(vmap(lambda v: network(v, w)), (x,), (t,))[1], kw.stack(each))
    hessians = [func.hessian(lambda v: network(v, w))(x[i]) for i in range(2)]
    close(vmap(func.hessian(lambda v: network(v, w)))(x), kw.stack(hessians))
    # The directions alone are of examples.
    close(vmap(lambda d: func.jvp(lambda v: network(v, w), (x[0],), (d,))[1])(t)[0], each[0])


def test_weights_get_gradients_of_tangents() -> None:
    layer = kw.nn.Sequential(kw.nn.Linear(3, 8), kw.nn.Tanh(), kw.nn.Linear(8, 1))
    x, t = kw.randn(4, 3), kw.randn(4, 3)
    slope = func.jvp(layer, (x,), (t,))[1]
    slope.square().sum().backward()
    found = [p.grad for p in layer.parameters()]
    layer.zero_grad()
    leaf = x.clone().requires_grad_()
    (gradient,) = autograd.grad(layer(leaf).sum(), leaf, create_graph=True)
    (gradient * t).sum(1).square().sum().backward()
    for a, parameter in zip(found, layer.parameters()):
        if a is not None and parameter.grad is not None:
            close(a, parameter.grad)
    with kw.no_grad():
        assert not func.jvp(layer, (x,), (t,))[1].requires_grad
    with kw.inference_mode():
        close(func.jvp(layer, (x,), (t,))[1], slope)


def test_changes_in_place() -> None:
    def filled(x: kw.Tensor) -> kw.Tensor:
        rows = kw.zeros(3, 2)
        rows[1] = x * x
        rows[2, 0] += x[1]
        rows.mul_(2)
        return rows

    x, t = kw.tensor([1.0, 2.0]), kw.tensor([3.0, 5.0])
    close(func.jvp(filled, (x,), (t,))[1], kw.tensor([[0.0, 0.0], [12.0, 40.0], [10.0, 0.0]]))
    sums = kw.zeros(2)
    with fwad.dual_level():
        sums += fwad.make_dual(x, t)
        assert fwad.unpack_dual(sums).tangent.tolist() == [3.0, 5.0]  # type: ignore[union-attr]
    sums += 1
    assert sums.tolist() == [2.0, 3.0]


def test_random_numbers_are_the_same_for_both() -> None:
    x = kw.ones(1000)
    value, tangent = func.jvp(lambda v: F.dropout(v, 0.5, training=True), (x,), (x,))
    assert value.tolist() == tangent.tolist()
    assert 0 < value.count_nonzero().item() < 1000


def test_results_without_derivative() -> None:
    x = kw.tensor([3.0, 1.0])
    value, tangent = func.jvp(lambda v: (v.argmax(), v.round(), v > 2), (x,), (x,))
    assert [t.item() if t.dim() == 0 else t.tolist() for t in tangent] == [0, [0.0, 0.0], [False, False]]
    assert value[0].item() == 0


class Cube(autograd.Function):
    """With derivatives of its own in both modes, which say so by a factor."""

    @staticmethod
    def forward(ctx: Any, x: kw.Tensor, power: int) -> kw.Tensor:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x ** power

    @staticmethod
    def backward(ctx: Any, grad: kw.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x * x * grad, None

    @staticmethod
    def jvp(ctx: Any, x_t: kw.Tensor, power_t: None) -> kw.Tensor:
        assert power_t is None
        (x,) = ctx.saved_tensors
        return 300 * x * x * x_t


class WithoutJvp(autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, x: kw.Tensor) -> kw.Tensor:
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx: Any, grad: kw.Tensor) -> kw.Tensor:
        return grad * ctx.saved_tensors[0].exp()


class ByNumbers(WithoutJvp):
    @staticmethod
    def backward(ctx: Any, grad: kw.Tensor) -> kw.Tensor:
        return kw.tensor(grad.tolist())


def test_functions_with_a_backward_of_their_own() -> None:
    x, t = kw.tensor([1.0, 2.0]), kw.tensor([1.0, 1.0])
    value, tangent = func.jvp(lambda v: Cube.apply(v, 3), (x,), (t,))
    assert value.tolist() == [1.0, 8.0]
    assert tangent.tolist() == [300.0, 1200.0]
    assert func.grad(lambda v: Cube.apply(v, 3).sum())(x).tolist() == [3.0, 12.0]
    close(func.jvp(WithoutJvp.apply, (x,), (t,))[1], x.exp())
    close(func.jacfwd(func.jacfwd(lambda v: WithoutJvp.apply(v).sum()))(x), kw.diag(x.exp()))
    nested = lambda v: func.jvp(WithoutJvp.apply, (v,), (t,))[1]  # noqa: E731
    close(func.jvp(nested, (x,), (t,))[1], x.exp())
    close(vmap(lambda v: func.jvp(WithoutJvp.apply, (v,), (kw.tensor(1.0),))[1])(x), x.exp())
    with pytest.raises(kw.NotImplementedError, match="ByNumbers is not made of differentiable operators"):
        func.jvp(ByNumbers.apply, (x,), (t,))


def test_gradcheck_of_forward_mode() -> None:
    x = kw.randn(3, dtype=kw.float64).requires_grad_()
    z = kw.randn(2, dtype=kw.complex128).requires_grad_()
    assert autograd.gradcheck(lambda a: (a.sin().cumsum(0), a.argmax()), x, check_forward_ad=True)
    assert autograd.gradcheck(lambda a: a * a.abs(), z, check_forward_ad=True, check_backward_ad=False)
    y = x.detach().requires_grad_()
    with pytest.raises(kw.AutogradError, match="forward mode: the tangent of result 0, element 0, along element 0 of"):
        autograd.gradcheck(lambda a: Cube.apply(a, 3), y, check_forward_ad=True)
    assert not autograd.gradcheck(lambda a: Cube.apply(a, 3), y, check_forward_ad=True, raise_exception=False)


def test_operators_of_python() -> None:
    library = kw.library.Library("fwad_test", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: kw.tensor([2 * number for number in x.tolist()]), "CPU")
    with pytest.raises(kw.NotImplementedError, match="twice: forward mode: the operator has no derivative"):
        func.jvp(kw.ops.fwad_test.twice, (kw.ones(2),), (kw.ones(2),))
    library.define("thrice(Tensor x) -> Tensor")
    library.impl("thrice", lambda x: x * 3, "CompositeImplicitAutograd")
    assert func.jvp(kw.ops.fwad_test.thrice, (kw.ones(2),), (kw.ones(2),))[1].tolist() == [3.0, 3.0]


def test_attributes_are_the_primal_s() -> None:
    x = kw.ones(2, requires_grad=True)
    with fwad.dual_level():
        dual = fwad.make_dual(x, kw.ones(2))
        assert dual.requires_grad
        assert (dual * 2).grad_fn is not None
        assert not (dual * 2).is_leaf
        assert "tensor([1., 1." in repr(dual)
        with pytest.raises(kw.AutogradError, match="a dual tensor has no history of its own"):
            dual.sum().backward()
        fwad.unpack_dual(dual.square()).tangent.sum().backward()  # type: ignore[union-attr]
    assert x.grad is not None and x.grad.tolist() == [2.0, 2.0]


def test_threads_have_levels_of_their_own() -> None:
    seen: list[Any] = []
    with fwad.dual_level():
        dual = fwad.make_dual(kw.ones(2), kw.full((2,), 3.0))

        def other() -> None:
            seen.append(fwad.unpack_dual(dual))  # there is no level in this thread
            seen.append(dual * dual)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert seen[0].tangent is None
        assert fwad.unpack_dual(seen[1]).tangent.tolist() == [6.0, 6.0]


def test_jacobian_by_columns() -> None:
    x, y = kw.randn(3), kw.randn(2)
    f = lambda a, b: (a.outer(b), a.sum() * b)  # noqa: E731
    expected = functional.jacobian(f, (x, y))
    for row, other in zip(expected, functional.jacobian(f, (x, y), vectorize=True, strategy="forward-mode")):
        for a, b in zip(row, other):
            close(a, b)
    jacobian, aux = func.jacfwd(lambda v: (v * v, v + 1), has_aux=True)(x)
    close(jacobian, kw.diag(2 * x))
    close(aux, x + 1)
    close(func.jacfwd(lambda v: v * v, chunk_size=2)(x), kw.diag(2 * x))


@pytest.mark.parametrize("call, error, text", [
    (lambda: func.jvp(kw.sin, (kw.ones(2),), (kw.ones(3),)), kw.ValueError, "shapes and dtypes"),
    (lambda: func.jvp(kw.sin, (kw.tensor([1]),), (kw.tensor([1]),)), kw.TypeError, "floating or complex"),
    (lambda: func.jvp(kw.sin, kw.ones(2), kw.ones(2)), kw.TypeError, "must be tuples"),
    (lambda: func.jvp(lambda x: 1, (kw.ones(2),), (kw.ones(2),)), kw.TypeError, "has to return tensors"),
    (lambda: func.jvp(lambda x: kw.add(x, x, out=kw.zeros(2)), (kw.ones(2),), (kw.ones(2),)), kw.AutogradError,
     "out="),
])
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_views_follow_what_they_are_views_of() -> None:
    x, t = kw.tensor([0.5, -1.2, 2.0]), kw.tensor([1.0, 2.0, -3.0])

    def rows(v: kw.Tensor) -> kw.Tensor:
        y = kw.zeros(6).view(2, 3)
        y[0] = v
        y[1] = v * v
        return y

    def read_before(v: kw.Tensor) -> kw.Tensor:
        base = kw.zeros(3)
        first = base[:2]
        base.copy_(v)
        return first * 2

    assert func.jvp(rows, (x,), (t,))[1].tolist() == [t.tolist(), (2 * x * t).tolist()]
    assert func.jvp(read_before, (x,), (t,))[1].tolist() == [2.0, 4.0]
    scattered = func.jvp(lambda v: kw.as_strided_scatter(kw.zeros(4), v, (3,), (1,), 1), (x,), (t,))[1]
    assert scattered.tolist() == [0.0, *t.tolist()]
    outside = kw.zeros(6).view(2, 3)
    with pytest.raises(kw.NotImplementedError, match="made before the level began or detached"):
        func.jvp(lambda v: outside[0].copy_(v), (x,), (t,))


def test_parts_of_complex_tensors_are_written_to() -> None:
    def parts(v: kw.Tensor) -> kw.Tensor:
        z = kw.zeros(4, dtype=kw.complex64)
        z.real[:2].copy_(v)
        z.imag[3].add_(v[0])
        return z

    primal, tangent = func.jvp(parts, (kw.tensor([1.0, 2.0]),), (kw.tensor([3.0, 4.0]),))
    assert primal.tolist() == [1, 2, 0, 1j] and tangent.tolist() == [3, 4, 0, 3j]


def test_fill_takes_a_dual_number() -> None:
    x, t = kw.tensor([0.5, -1.2]), kw.tensor([1.0, 2.0])
    assert func.jvp(lambda v: kw.zeros(3).fill_(v[1]), (x,), (t,))[1].tolist() == [2.0] * 3
    leaf = kw.tensor(3.0, requires_grad=True)
    kw.zeros(4).fill_(leaf).sum().backward()
    assert leaf.grad is not None and leaf.grad.item() == 4.0


def test_backward_that_says_nothing_of_its_gradients_has_no_forward_mode() -> None:
    class Once(kw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: kw.Tensor) -> kw.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @kw.autograd.function.once_differentiable
        def backward(ctx: Any, grad: kw.Tensor) -> kw.Tensor:
            return 2 * grad * ctx.saved_tensors[0]

    with pytest.raises(kw.NotImplementedError, match="backward of Once is not made of differentiable operators"):
        func.jvp(Once.apply, (kw.ones(2),), (kw.ones(2),))


def test_a_dual_tensor_whose_level_has_ended_has_gradients() -> None:
    x, t = kw.tensor([0.5, 2.0]), kw.tensor([1.0, 1.0])
    weight = kw.ones(2, requires_grad=True)
    with fwad.dual_level():
        leaf = fwad.make_dual(x, t) * 1
        result = (weight * fwad.make_dual(x, t)).sum()
    result.backward()
    assert weight.grad is not None and weight.grad.tolist() == x.tolist()
    leaf.requires_grad_()
    (leaf * leaf).sum().backward()
    assert leaf.grad is not None and leaf.grad.tolist() == [1.0, 4.0]
    leaf.grad = None
    assert leaf.grad is None


def test_singular_values_of_batches_of_tangents() -> None:
    matrix, directions = kw.tensor([[1.0, 2.0], [3.0, 5.0]]), kw.rand(3, 2, 2)

    def product(direction: kw.Tensor) -> kw.Tensor:
        return func.jvp(kw.linalg.svdvals, (matrix,), (direction,))[1]

    kw.testing.assert_close(kw.vmap(product)(directions), kw.stack([product(d) for d in directions]))


def test_second_derivatives_of_complex_logcumsumexp() -> None:
    one = kw.ones(2, dtype=kw.complex128)
    at = kw.tensor([1 + 1j, 2 - 1j], dtype=kw.complex128)
    slope = func.jvp(lambda u: func.jvp(lambda v: v.logcumsumexp(0), (u,), (one,))[1], (at,), (one,))[1]
    kw.testing.assert_close(slope, kw.zeros_like(at), atol=1e-12, rtol=0)


def test_what_has_no_jacobian_says_so() -> None:
    with pytest.raises(kw.TypeError, match=r"not of keyway.int64$"):
        func.jacfwd(lambda v: v.argmax())(kw.ones(3))
    with fwad.dual_level(), pytest.raises(kw.TypeError, match="the tangent is a Tensor, not a NoneType"):
        fwad.make_dual(kw.ones(2), None)  # type: ignore[arg-type]
