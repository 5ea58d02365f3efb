"""vmap, and the rules of operators and functions for it."""

import threading
from typing import Any, NamedTuple

import pytest

import keyway as kw
from keyway import vmap
from keyway.nn import functional as F


def by_loop(func: Any, *stacked: kw.Tensor) -> kw.Tensor:
    return kw.stack([func(*(t[i] for t in stacked)) for i in range(len(stacked[0]))])


def close(a: kw.Tensor, b: kw.Tensor) -> None:
    kw.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


@pytest.fixture(autouse=True)
def seed() -> None:
    kw.manual_seed(0)


@pytest.mark.parametrize("func", [
    lambda x: x.sin() + 1,
    lambda x: x.sum(),
    lambda x: x.mean(0, keepdim=True),
    lambda x: x @ x.t(),
    lambda x: x[0] * x[:, 1:2],
    lambda x: x[[1, 0]],
    lambda x: kw.where(x > 0, x, kw.zeros(())),
    lambda x: x.reshape(-1)[::2],
    lambda x: kw.cat([x, x.flip(0)], 1),
    lambda x: x.softmax(-1).log(),
    lambda x: x.sort(1)[0],
    lambda x: x.transpose(0, 1).contiguous().view(-1),
    lambda x: x.expand(2, 3, 3).clone().mul_(2),
    lambda x: kw.linalg.inv(x @ x.t() + kw.eye(3)),
    lambda x: kw.einsum("ij,kj->ik", x, x),
    lambda x: x.to(kw.float64) * kw.tensor(2.0),
    lambda x: F.layer_norm(x, (3,)),
    lambda x: x.squeeze().unsqueeze_(0).transpose_(1, 2),
    lambda x: x.index_add(1, kw.tensor([2, 0]), x[:, :2]),
    lambda x: x.clone().index_add_(0, kw.tensor([0, 2]), x[:2], alpha=2),
    lambda x: x.clone().index_copy_(-1, kw.tensor([2]), x[:, :1]),
    lambda x: kw.stack([x.sum(), x.mean(), x.prod(), (x > 9).any().to(x.dtype), (x > -9).all().to(x.dtype)]),
    lambda x: kw.as_strided(x, (2, 2), (3, 1)),
    lambda x: x.permute(1, 0).unsqueeze(-1).squeeze().expand(2, 3, 3),
], ids=lambda f: None)
def test_vmap_is_a_loop_that_runs_at_once(func: Any) -> None:
    x = kw.randn(4, 3, 3)
    close(vmap(func)(x), by_loop(func, x))


def test_dimensions_of_arguments_and_results() -> None:
    a, b = kw.randn(2, 5), kw.randn(5, 3)
    close(vmap(lambda x, y: x * y, in_dims=(None, 1), out_dims=1)(a[0], b), (a[0][:, None] * b).t().t())
    close(vmap(kw.mul, in_dims=(0, None))(a, b[:, 0]), a * b[:, 0])
    close(vmap(kw.dot, in_dims=(-1, 0))(a, a.t()), (a * a).sum(0))
    result = vmap(lambda x: (x, {"double": x * 2}), out_dims=(0, {"double": -1}))(b)
    close(result[0], b)
    close(result[1]["double"], 2 * b.t())


class Pair(NamedTuple):
    first: kw.Tensor
    second: kw.Tensor


def test_trees_of_arguments() -> None:
    x = kw.randn(3, 2)
    given = {"pair": Pair(x, 2 * x), "list": [x, 3.0]}
    out = vmap(lambda tree: Pair(tree["pair"].first + tree["list"][0], tree["pair"].second * tree["list"][1]))(given)
    assert type(out) is Pair
    close(out.first, 2 * x)
    close(out.second, 6 * x)
    close(vmap(lambda a, *, b: a + b)(x, b=x), 2 * x)
    close(vmap(lambda pair, y: pair[0] * y + pair[1], in_dims=((0, None), 0))((x, x[0]), x), x * x + x[0])


def test_vmaps_within_each_other() -> None:
    a, b = kw.randn(2), kw.randn(3)
    close(vmap(vmap(kw.mul, (None, 0)), (0, None))(a, b), kw.outer(a, b))
    close(vmap(lambda x: vmap(lambda y: x * y + a.sum())(b))(a), kw.outer(a, b) + a.sum())
    x = kw.randn(2, 3, 4)
    close(vmap(vmap(kw.cumsum, (0, None)), (0, None))(x, 0), x.cumsum(-1))


def test_what_is_the_same_for_all() -> None:
    x = kw.randn(3)
    close(vmap(lambda t: x)(kw.zeros(2)), x.expand(2, 3))
    assert vmap(lambda t: x, out_dims=None)(kw.zeros(2)) is x
    with pytest.raises(kw.ValueError, match="out_dims has None"):
        vmap(lambda t: t, out_dims=None)(kw.zeros(2))


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 100])
def test_chunks(chunk_size: int) -> None:
    x = kw.randn(5, 2)
    out = vmap(lambda t: (t * 2, t.sum()), out_dims=(1, 0), chunk_size=chunk_size)(x)
    close(out[0], 2 * x.t())
    close(out[1], x.sum(1))


def test_a_number_without_dimensions_promotes_as_an_example_does() -> None:
    wide, x = kw.randn(3, dtype=kw.float64), kw.randn(3, 2)
    close(vmap(kw.mul)(x, wide), by_loop(kw.mul, x, wide))
    assert vmap(kw.mul)(x, wide).dtype == kw.float32
    assert vmap(kw.add, (0, None))(wide, x[0]).dtype == kw.float32
    assert vmap(kw.add)(wide, wide.float()).dtype == kw.float64
    assert vmap(kw.mul, (0, None))(kw.arange(3), kw.tensor(2.5)).dtype == kw.float32


def test_in_place() -> None:
    x, y = kw.zeros(2, 3), kw.randn(2, 3)

    def write(row: kw.Tensor, values: kw.Tensor) -> kw.Tensor:
        row[1:].add_(values[1:])
        row[0] = 7
        return row

    out = vmap(write)(x, y)
    assert x[:, 0].tolist() == [7, 7] and out.tolist() == x.tolist()
    close(x[:, 1:], y[:, 1:])
    with pytest.raises(kw.NotImplementedError, match="add_.Tensor: vmap: 'self' is the same tensor for all examples"):
        vmap(lambda row: x[0].add_(row))(y)
    close(vmap(lambda row: row.new_zeros(3).add_(row))(y), y)


@pytest.mark.parametrize(("func", "error", "text"), [
    (lambda x: x.item(), kw.NotImplementedError, "item: vmap: the result is a number"),
    (lambda x: x if x > 0 else -x, kw.NotImplementedError, "number of Python"),
    (lambda x: x.tolist(), kw.NotImplementedError, "tolist: within vmap"),
    (lambda x: x.numpy(), (kw.NotImplementedError, TypeError), "within vmap"),
    (lambda x: x.data_ptr(), kw.NotImplementedError, "data_ptr: within vmap"),
    (lambda x: kw.rand(2), kw.ValueError, "randomness"),
    (lambda x: kw.nn.functional.dropout(x), kw.ValueError, "randomness"),
    (lambda x: kw.add(x, 1, out=kw.zeros(())), kw.NotImplementedError, "an out= tensor cannot take"),
    (lambda x: x.requires_grad_(), kw.AutogradError, "keyway.func.grad"),
    (lambda x: x.register_hook(lambda g: g), kw.AutogradError, "register_hook: within vmap"),
    (lambda x: x.sum().backward(), kw.AutogradError, "backward: within vmap"),
    (lambda x: kw.autograd.grad(x.sum(), x)[0], kw.AutogradError, "grad: within vmap"),
    (lambda x: 3, kw.TypeError, "has to return tensors"),
    (lambda x: x.sum(3), kw.IndexError, "sum.dim_IntList"),
])
def test_refusals_leave_nothing_behind(func: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        vmap(func)(kw.ones(2))
    assert kw.rand(2).shape == (2,)
    assert kw._C._batching.level() == 0


def test_results_whose_shape_depends_on_data() -> None:
    with pytest.raises(kw.ValueError, match="shape depends on the data"):
        vmap(kw.nonzero)(kw.tensor([[1, 0], [1, 1]]))
    close(vmap(lambda x: x[x > 0])(kw.tensor([[1.0, -1.0], [-2.0, 2.0]])), kw.tensor([[1.0], [2.0]]))


@pytest.mark.parametrize(("args", "options", "error", "text"), [
    ((kw.zeros(2), kw.zeros(3)), {}, kw.ValueError, "different numbers of examples"),
    ((kw.zeros(()),), {}, kw.ValueError, "in_dims has 0 for a tensor of shape"),
    ((kw.zeros(2),), {"in_dims": None}, kw.ValueError, "none of the arguments"),
    ((kw.zeros(2),), {"in_dims": (0, 0)}, kw.ValueError, "does not fit"),
    ((kw.zeros(2),), {"in_dims": "a"}, kw.TypeError, "neither an int nor None"),
    ((kw.zeros(2), 3.0), {"in_dims": (0, 0)}, kw.ValueError, "is a float, not a Tensor"),
    ((kw.zeros(2),), {"out_dims": 5}, kw.IndexError, "no dimension 5"),
    ((kw.zeros(2),), {"out_dims": (0, 0)}, kw.ValueError, "does not fit"),
    ((kw.zeros(2),), {"randomness": "some"}, kw.ValueError, "randomness"),
    ((kw.zeros(2),), {"chunk_size": 0}, kw.ValueError, "chunk_size"),
])
def test_calls_that_are_wrong(args: Any, options: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        vmap(lambda *given: given[0], **options)(*args)
    assert kw._C._batching.level() == 0


def test_a_tensor_that_has_left_its_vmap() -> None:
    kept = []
    vmap(lambda x: kept.append(x) or x)(kw.zeros(2, 3))
    assert repr(kept[0]) == "tensor(..., size=(3,))"
    with pytest.raises(kw.ValueError, match="outside of the vmap"):
        kept[0] + 1
    with pytest.raises(kw.ValueError, match="outside of the vmap"):
        vmap(lambda x: x + kept[0])(kw.zeros(2))


def test_random_operators() -> None:
    x = kw.zeros(1000)
    different = vmap(lambda t: t + kw.rand(3), randomness="different")(x)
    assert len(set(different.reshape(-1).tolist())) > 2900
    same = vmap(lambda t: t + kw.rand(3), randomness="same")(x)
    assert (same == same[0]).all()
    drawn = vmap(lambda t: F.dropout(t, 0.5), randomness="same")(kw.ones(4, 100))
    assert (drawn == drawn[0]).all() and 0 < (drawn[0] == 0).sum() < 100
    drawn = vmap(lambda t: F.dropout(t, 0.5), randomness="different")(kw.ones(4, 100))
    assert not (drawn == drawn[0]).all()
    with pytest.raises(kw.NotImplementedError, match="same tensor for all"):
        vmap(lambda t: x.uniform_(), randomness="different")(x)
    kw.manual_seed(3)
    expected = kw.rand(2)
    kw.manual_seed(3)
    close(vmap(lambda t: kw.rand(2), randomness="same")(x[:4]), expected.expand(4, 2))


def test_gradients_flow_through() -> None:
    x, w = kw.randn(3, 4, requires_grad=True), kw.randn(4, requires_grad=True)
    vmap(lambda row: (row * w).sin().sum())(x).sum().backward()
    grads = x.grad, w.grad
    x.grad = w.grad = None
    (x * w).sin().sum().backward()
    close(grads[0], x.grad)
    close(grads[1], w.grad)
    assert not vmap(lambda row: row * w)(x.detach()).detach().requires_grad
    with kw.no_grad():
        assert not vmap(lambda row: row * w)(x).requires_grad


def test_threads_have_their_own() -> None:
    failures: list[str] = []

    def run(value: float) -> None:
        for _ in range(50):
            out = vmap(lambda x: x * value + x.new_ones(2).sum())(kw.arange(5.0))
            if out.tolist() != [i * value + 2 for i in range(5)]:
                failures.append(str(out))

    threads = [threading.Thread(target=run, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []

    def elsewhere(x: kw.Tensor) -> kw.Tensor:
        errors: list[Exception] = []

        def use() -> None:
            try:
                x + 1
            except kw.ValueError as error:
                errors.append(error)

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        assert "in another thread" in str(errors[0])
        return x

    vmap(elsewhere)(kw.zeros(2))


def test_autocast_within() -> None:
    x = kw.randn(3, 2, 2)
    with kw.autocast("cpu"):
        out = vmap(lambda m: m @ m)(x)
        assert out.dtype == kw.bfloat16 and out.tolist() == (x @ x).tolist()


class Cube(kw.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, x: kw.Tensor) -> kw.Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, grad: kw.Tensor) -> kw.Tensor:
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


class Scaled(kw.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: kw.Tensor, by: float) -> kw.Tensor:
        ctx.by = by
        return x * by

    @staticmethod
    def backward(ctx: Any, grad: kw.Tensor) -> tuple[kw.Tensor, None]:
        return grad * ctx.by, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: kw.Tensor, by: float) -> Any:
        assert info.batch_size == 3 and info.randomness == "error" and in_dims == (0, None)
        return Scaled.apply(x, by), 0


class Silent(Cube):
    generate_vmap_rule = False


def test_functions_with_a_backward() -> None:
    x = kw.randn(3, 2, requires_grad=True)
    for apply, derivative in ((Cube.apply, lambda t: 3 * t * t), (lambda t: Scaled.apply(t, 2.5), lambda t: t * 0 + 2.5)):
        out = vmap(apply)(x)
        (grad,) = kw.autograd.grad(out.sum(), x)
        close(grad, derivative(x))
    close(vmap(vmap(Cube.apply))(x[None]), (x**3)[None])
    close(vmap(lambda row: vmap(lambda s: Cube.apply(row) * s)(kw.ones(2)))(x)[:, 0], x**3)
    with pytest.raises(kw.NotImplementedError, match="Silent says nothing of batches"):
        vmap(Silent.apply)(x)


def test_rules_of_operators() -> None:
    calls = []

    @kw.library.custom_op("test_vmap::twice", mutates_args=())
    def twice(x: kw.Tensor) -> kw.Tensor:
        calls.append(tuple(x.shape))
        return x * 2

    x = kw.randn(3, 2)
    close(vmap(twice)(x), 2 * x)
    assert calls == [(2,)] * 3  # one after the other
    calls.clear()

    @twice.register_vmap
    def rule(info: Any, in_dims: Any, x: kw.Tensor) -> Any:
        assert info.batch_size == 3 and in_dims == (0,)
        return twice(x), 0

    close(vmap(twice)(x), 2 * x)
    assert calls == [(3, 2)]
    close(vmap(twice, in_dims=1, out_dims=1)(x.t()), 2 * x.t())
    close(vmap(lambda t: twice(x) + t)(kw.zeros(3)), (2 * x).expand(3, 3, 2))
    kw.library.register_vmap("test_vmap::twice", lambda info, in_dims, x: (x, (0, 0)))
    with pytest.raises(kw.ValueError, match="out_dims"):
        vmap(twice)(x)


def test_indices_of_examples() -> None:
    x, i = kw.randn(3, 4, 5), kw.tensor([2, 0, 3])
    close(vmap(lambda t, n: t[n])(x, i), kw.stack([x[k, i[k]] for k in range(3)]))
    close(vmap(lambda t, n: t[:, n])(x, i), kw.stack([x[k, :, i[k]] for k in range(3)]))
    close(vmap(lambda t, n: t[..., n])(x, i), kw.stack([x[k, :, i[k]] for k in range(3)]))

    def put(t: kw.Tensor, n: kw.Tensor) -> kw.Tensor:
        t = t.clone()
        t[n] = 7
        return t

    out = vmap(put)(x, i)
    assert all((out[k, i[k]] == 7).all() and (out[k] == 7).sum() == 5 for k in range(3))


@pytest.mark.parametrize("draw", [
    lambda t: kw.rand_like(kw.ones(50)), lambda t: kw.bernoulli(kw.full((50,), 0.5)),
    lambda t: kw.randint_like(kw.ones(50), 1000), lambda t: t.new_empty(50).cauchy_(), lambda t: kw.rand_like(t),
    lambda t: t.new_ones(50).geometric_(0.1), lambda t: F.dropout(kw.ones(50)), lambda t: kw.randperm(50),
    lambda t: F.gumbel_softmax(t * 0),
], ids=lambda f: None)
def test_draws_are_different_or_the_same(draw: Any) -> None:
    out = vmap(draw, randomness="different")(kw.ones(3, 50))
    assert not (out[0] == out[1]).all() and not (out[1] == out[2]).all()
    same = vmap(draw, randomness="same")(kw.ones(3, 50))
    assert (same == same[0]).all()
    assert (vmap(draw, randomness="same", chunk_size=1)(kw.ones(3, 50)) == 0).shape == (3, 50)
    chunks = vmap(draw, randomness="same", chunk_size=2)(kw.ones(3, 50))
    assert (chunks == chunks[0]).all()


def test_a_backward_draws_as_the_vmap_says() -> None:
    class Noisy(kw.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx: Any, x: kw.Tensor) -> kw.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: kw.Tensor) -> kw.Tensor:
            return grad * kw.rand(())

    gradient = kw.func.grad(lambda x: Noisy.apply(x).sum())
    with pytest.raises(kw.ValueError, match="randomness"):
        vmap(gradient)(kw.ones(3, 2))
    with pytest.raises(kw.NotImplementedError, match="a backward drew"):
        vmap(gradient, randomness="different")(kw.ones(3, 2))


def test_a_function_may_not_hide_an_example() -> None:
    w = kw.ones(4, requires_grad=True)

    def hides(x: kw.Tensor) -> kw.Tensor:
        class Hidden(kw.autograd.Function):
            @staticmethod
            def forward(ctx: Any, w: kw.Tensor) -> kw.Tensor:
                return w * x

            @staticmethod
            def backward(ctx: Any, grad: kw.Tensor) -> kw.Tensor:
                return grad * x

        return Hidden.apply(w)

    with pytest.raises(kw.ValueError, match="outside of the vmap"):
        vmap(hides)(kw.ones(3, 4))


def test_the_tensor_of_an_example_keeps_its_memory() -> None:
    def swap(x: kw.Tensor) -> kw.Tensor:
        y = x.clone()
        y.data = kw.zeros(4)
        return y

    with pytest.raises(kw.NotImplementedError, match="cannot be given other memory"):
        vmap(swap)(kw.ones(3, 4))
    with pytest.raises(kw.NotImplementedError, match="no view of all examples"):
        vmap(lambda x: (x * 1).as_strided((3,), (1,)), in_dims=1)(kw.randn(4, 3))
    x = kw.ones(3, requires_grad=True)
    assert not vmap(lambda t: (t * 2).detach_())(x).requires_grad
    close(vmap(lambda x: x.as_strided((2,), (2,)))(kw.arange(8.0).reshape(2, 4)), kw.tensor([[0.0, 2.0], [4.0, 6.0]]))


def test_trees_keep_their_classes() -> None:
    import collections

    x = kw.randn(3, 2)
    given: Any = collections.defaultdict(list, {"a": x})
    out = vmap(lambda d: collections.defaultdict(int, {"b": d["a"] * 2}))(given)
    assert type(out) is collections.defaultdict and out["missing"] == 0
    close(out["b"], 2 * x)
    assert vmap(lambda t, size: t.reshape(size), in_dims=(0, None))(x, kw.Size((1, 2))).shape == (3, 1, 2)
    found = vmap(lambda t: kw.max(t, 0))(x)
    close(found.values, x.max(1).values)


def test_more_wrong_calls() -> None:
    kept = []
    vmap(lambda x: kept.append(x) or x)(kw.zeros(2, 3))
    with pytest.raises(kw.ValueError, match="outside of the vmap"):
        Cube.apply(kept[0])
    with pytest.raises(kw.Error):
        kw._C._batching.resume()
    with pytest.raises(kw.Error):
        kw._C._batching.leave()
    x = kw.ones(3, 2, 2, dtype=kw.int64)
    loop = by_loop(lambda t: kw.addmm(t, t, t, alpha=2), x)
    close(vmap(lambda t: kw.addmm(t, t, t, alpha=2))(x), loop)
    assert vmap(lambda t: kw.nn.functional.nll_loss(t, kw.tensor([1, -100]), kw.tensor([float("inf"), 1.0])))(
        kw.ones(3, 2, 2)).tolist() == [-1.0] * 3
    images = kw.randn(3, 2, 2, 4, 4).clone(memory_format=kw.contiguous_format)
    close(vmap(lambda t: t.contiguous(memory_format=kw.channels_last))(images), images)


def test_an_example_requires_grad_as_all_do() -> None:
    answers = []
    x = kw.ones(2, 3, requires_grad=True)
    vmap(lambda t: answers.append((t.requires_grad, t.detach().requires_grad, kw.ones(1).requires_grad)) or t)(x)
    vmap(kw.func.grad(lambda t: answers.append((t.requires_grad,)) or t.sum()))(x.detach())
    assert answers == [(True, False, False), (True,)]


@pytest.mark.parametrize("chunk_size", [None, 2])
def test_no_examples_have_results_of_their_shapes(chunk_size: Any) -> None:
    x = kw.zeros(3, 0, dtype=kw.float64, requires_grad=True)
    weight = kw.ones(3, 2, dtype=kw.float64)
    product, largest = vmap(lambda v: (v @ weight, v.argmax()), in_dims=1, out_dims=(1, 0), chunk_size=chunk_size)(x)
    assert product.shape == (2, 0) and product.dtype == kw.float64
    assert largest.shape == (0,) and largest.dtype == kw.int64
    product.sum().backward()
    assert x.grad is not None and x.grad.shape == (3, 0)
    matrices = kw.zeros(0, 3, 3)
    for function, shape in ((kw.linalg.inv, (0, 3, 3)), (kw.linalg.cholesky, (0, 3, 3)), (kw.linalg.det, (0,)),
                            (lambda m: vmap(kw.sum)(m), (0, 3)), (lambda m: kw.histc(m, 4), (0, 4))):
        assert vmap(function, chunk_size=chunk_size)(matrices).shape == shape
    state = kw.default_generator.get_state()
    assert vmap(lambda v: v + kw.rand(2), randomness="different")(kw.zeros(0, 2)).shape == (0, 2)
    assert kw.default_generator.get_state() == state
    assert vmap(kw.func.grad(lambda v: v.square().sum()))(kw.zeros(0, 5)).shape == (0, 5)
