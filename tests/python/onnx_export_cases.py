"""Calls of the operators that are exported to ONNX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import keyway as kw
from keyway.library import operator_function

# Elements that are not set; and what a capture has other calls for.
OPERATORS_THAT_NO_CASE_HAS = {"empty.memory_format", "empty_like", "new_empty"} | {"_to_copy", "data", "pin_memory", "to.dtype_layout"}


@dataclass
class Case:
    function: Callable[..., Any]
    args: tuple[kw.Tensor, ...]
    opset: int
    bound: float
    dynamic_shapes: Any


CASES: dict[str, Case] = {}


def numbered(value, tensors):
    """The value, with numbers of `tensors`, which it adds to, in the places of tensors."""
    if isinstance(value, kw.Tensor):
        tensors.append(value)
        return slice(len(tensors) - 1, None)
    return [numbered(item, tensors) for item in value] if isinstance(value, list) else value


def filled(value, tensors):
    if isinstance(value, slice):
        return tensors[value.start]
    return [filled(item, tensors) for item in value] if isinstance(value, list) else value


def add(name, *args, opset=18, bound=2e-5, rows=True, results=None, **kwargs):
    """A call of the operator, named before a blank. `rows`: whether the first size of the first tensor may be another one.
    `results`: how many of its results count."""
    op = operator_function("keyway::" + name.split()[0])
    tensors: list[kw.Tensor] = []
    numbers = [numbered(value, tensors) for value in args]

    def function(*given):
        result = op(*[filled(value, given) for value in numbers], **kwargs)
        if isinstance(result, kw.Tensor):
            return result
        return tuple(result)[:results]

    first = tensors[0] if tensors else None
    shapes = None
    if rows and first is not None and first.dim() > 0:
        alike = [{0: "n"} if t.dim() > 0 and t.shape[0] == first.shape[0] and rows == "all" else None for t in tensors]
        shapes = ({0: "n"}, *alike[1:])
    assert name not in CASES
    CASES[name] = Case(function, tuple(tensors), opset, bound, shapes)


kw.manual_seed(0)
X, Y, P, Q = kw.randn(3, 4), kw.randn(4), kw.rand(3, 4) + 0.5, kw.rand(4) + 0.5
UNIT = kw.rand(3, 4) * 1.6 - 0.8
I, J, B, C = kw.tensor([[7, -3, 2], [-8, 5, 9]]), kw.tensor([2, 3, -4]), kw.tensor([[True, False], [False, True]]), kw.tensor([True, False])
SPECIAL = kw.tensor([1.5, float("inf"), -float("inf"), float("nan"), -2.0])
IMAGE, WIDE = kw.randn(2, 4, 6, 6), kw.randn(2, 3, 4, 4, 4)


def unary():
    real = """abs ceil cos cosh erf erfc exp exp2 expm1 floor frac round sgn sigmoid sign sin sinc sinh square tan tanh trunc neg
        deg2rad rad2deg positive atan asinh relu selu hardsigmoid hardswish log_sigmoid mish silu elu celu leaky_relu hardtanh
        hardshrink softshrink softplus gelu conj_physical"""
    for name in real.split():
        add(name, X * 2)
    for name in "log log10 log1p log2 rsqrt sqrt reciprocal".split():
        add(name, P)
    for name in "acos asin atanh".split():
        add(name, UNIT)
    add("acosh", P + 1)
    add("logit", kw.rand(3, 4))
    add("logit eps", kw.rand(3, 4), 0.3)
    for name in "isfinite isinf isnan isneginf isposinf nan_to_num".split():
        add(name, SPECIAL)
    add("_nan_to_num", SPECIAL, 1.0, 2.0, 3.0)
    add("nan_to_num all", SPECIAL, 1.0, 2.0, 3.0)
    add("logical_not", I)
    add("bitwise_not", I)
    add("bitwise_not bool", B)
    add("gelu tanh", X, approximate="tanh")
    add("gelu 20", X, opset=20)
    add("exp of integers", I)
    add("expm1 near 0", kw.tensor([1e-6, -1e-5, 0.0, float("-inf"), 80.0]), bound=2e-6)
    add("log1p near 0", kw.tensor([1e-6, -1e-5, 0.0, float("inf"), 80.0]), bound=2e-6)
    add("elu scaled", X, 0.5, 2.0)
    add("softplus scaled", X * 20, 2.0, 3.0)
    add("threshold", X, 0.1, 20.0)
    add("prelu", kw.randn(2, 4, 3), kw.rand(4))
    add("glu", X)
    for name in "_softmax _log_softmax".split():
        add(name, X, 1, False)
    for name in "softmax.int log_softmax.int".split():
        add(name, X, 0)
    add("softmax.int dtype", I, -1, dtype=kw.float32)


def binary():
    for name in "add.Tensor sub.Tensor mul.Tensor div.Tensor maximum minimum max.other min.other rsub.Tensor".split():
        add(name, X, Y)
    for name in "add.Scalar sub.Scalar mul.Scalar div.Scalar rsub.Scalar".split():
        add(name, X, 2.5)
    add("add.Tensor alpha", X, Y, alpha=0.5)
    add("add.Tensor dtypes", I, J * 0.5)
    add("add.Scalar of integers", I, 2.5)
    add("mul.Tensor of booleans", B, C)
    add("div.Tensor of integers", I, J)
    for mode in ("floor", "trunc"):
        for kind, a, b in (("", X, Y), (" of integers", I, J)):
            add(f"div.Tensor_mode {mode}{kind}", a, b, rounding_mode=mode)
        add(f"div.Scalar_mode {mode}", X, 0.3, rounding_mode=mode)
    add("_div_trunc", X, Y)
    add("floor_divide", X, Y)
    for name in "remainder fmod".split():
        add(f"{name}.Tensor", X, Y)
        add(f"{name}.Tensor of integers", I, J)
        add(f"{name}.Scalar", X, -0.3)
    add("remainder.Scalar_Tensor", 7, J)
    add("pow.Tensor_Tensor", P, Y)
    add("pow.Tensor_Scalar", X, 2)
    add("pow.Scalar", 2.0, X)
    add("float_power.Tensor_Tensor", P, Y)
    add("float_power.Tensor_Scalar", I, 2)
    add("float_power.Scalar", 2, J)
    add("clamp", X, -0.5, 0.5)
    add("clamp of integers", I, 0)
    add("clamp.Tensor", X, -Q, Q)
    add("clamp_min", X, 0.2)
    add("clamp_max", X, 0.2)
    add("clamp_min.Tensor", X, Y)
    add("clamp_max.Tensor", X, Y)
    for name in "atan2 hypot logaddexp ldexp.Tensor heaviside".split():
        add(name, X, Y)
    add("heaviside at 0", kw.tensor([-1.0, 0.0, 2.0]), kw.tensor([5.0, 6.0, 7.0]), rows=False)
    add("xlogy.Tensor", X, Q)
    add("xlogy.Scalar_Self", 2.0, P)
    add("xlogy.Scalar_Other", X, 2.0)
    add("lerp.Scalar", X, Y, 0.3)
    add("lerp.Tensor", X, Y, Q)
    add("addcmul", X, Y, Q, value=0.5)
    add("addcdiv", X, Y, Q, value=0.5)


def comparisons():
    for name in "eq ne lt le gt ge".split():
        add(f"{name}.Tensor", I, J)
        add(f"{name}.Tensor of floats", X, Y)
        add(f"{name}.Scalar", I, 2)
        add(f"{name}.Scalar of a float", I, 2.5)
        add(f"{name}.Tensor of booleans", B, C)
    for name in "and or xor".split():
        add(f"logical_{name}", I, J)
        add(f"bitwise_{name}.Tensor", I, J)
        add(f"bitwise_{name}.Tensor of booleans", B, C)
        add(f"bitwise_{name}.Scalar", I, 3)
        add(f"bitwise_{name}.Scalar_Tensor", 3, I)
    add("isclose", X, X + 1e-6, rows=False)
    add("where.self", X > 0, X, Y, rows=False)
    add("where.Scalar", X > 0, 1.5, 2.5)
    add("where.ScalarSelf", X > 0, 1.5, Y)
    add("where.ScalarOther", X > 0, X, 2.5, rows=False)
    add("masked_fill.Scalar", X, X > 0, -1.0, rows=False)
    add("masked_fill.Tensor", X, X > 0, kw.tensor(-1.0), rows=False)


def reductions():
    for name in "sum mean prod max min amax amin aminmax std var nansum nanmean argmax argmin linalg_vector_norm _euclidean_norm".split():
        add(name, X)
    for name in "all any count_nonzero".split():
        add(name, X > 0)
    for name in "std_mean var_mean".split():
        add(name, X)
    for name in "sum.dim_IntList mean.dim amax amin std.dim var.dim std_mean.dim var_mean.dim nansum nanmean logsumexp".split():
        add(f"{name} of a dimension", X, [1])
        add(f"{name} kept", X, [0], keepdim=True)
    for name in "std var std_mean var_mean".split():
        add(f"{name}.correction", X, [0], correction=2)
    for name in "max.dim min.dim argmax argmin prod.dim_int all.dim any.dim".split():
        add(f"{name} of a dimension", X, 1)
        add(f"{name} kept", X, 0, True)
    for name in "all.dims any.dims".split():
        add(name, X > 0, [0, 1])
    add("argmax kept of all", X, keepdim=True)
    add("count_nonzero.dim_IntList", I, [0])
    add("sum of booleans", X > 0)
    add("mean dtype", I, dtype=kw.float32)
    add("nansum of NaN", SPECIAL[3:])
    for order in (1, 0, 3, float("inf"), -float("inf")):
        add(f"linalg_vector_norm {order}", X, order, [1])
    add("cumsum", X, 0)
    add("cumsum of integers", I, 1)


def views():
    add("view", X, [-1])
    add("reshape", X, [2, -1], rows=False)
    add("reshape fixed", X, [4, 3], rows=False)
    add("view_as", X, kw.randn(4, 3), rows=False)
    add("flatten.using_ints", IMAGE)
    add("flatten.using_ints from 1", IMAGE, 1)
    add("flatten.using_ints in the middle", IMAGE, 1, 2)
    add("ravel", X)
    add("unflatten.int", X, 1, [2, 2])
    add("permute", IMAGE, [2, 0, -1, 1])
    add("transpose.int", IMAGE, 1, -1)
    add("t", X)
    add("movedim.int", IMAGE, 0, 2)
    add("movedim.intlist", IMAGE, [0, 3], [2, 1])
    add("unsqueeze", X, -1)
    add("squeeze", kw.randn(3, 1, 4, 1))
    add("squeeze.dim", kw.randn(3, 1, 4), 1)
    add("squeeze.dims", kw.randn(3, 1, 4, 1), [1, 2, 3])
    add("expand", kw.randn(1, 4), [2, 3, -1], rows=False)
    add("broadcast_to", kw.randn(1, 4), [2, 3, 4], rows=False)
    add("expand_as", Y, X, rows=False)
    add("select.int", X, 0, -1)
    add("slice.Tensor", X, 0, 1, None)
    add("slice.Tensor with steps", X, 1, -3, 100, 2)
    add("narrow", X, 1, 1, 2)
    add("split.Tensor", X, 3, 1)
    add("split.sizes", X, [1, 3], 1)
    add("split_with_sizes", X, [1, 3], 1)
    add("chunk", X, 2, 1)
    add("tensor_split.sections", X, 3, 1)
    add("tensor_split.indices", X, [1, 2], 1)
    add("unbind.int", X, 1)
    for name in "tril triu".split():
        add(name, X, 1)
        add(f"{name} of more", WIDE, -1)
    for name in "_lazy_clone alias clone contiguous detach data pin_memory real".split():
        if name not in ("pin_memory", "data"):
            add(name, X)
    add("to.dtype", X, kw.float64)
    add("to.dtype of integers", I, kw.float32)
    add("to.other", X, I)
    add("type_as", X, I)
    add("to.device", X, "cpu", kw.float64)


def joined():
    add("cat", [X, X + 1], 1, rows="all")
    add("cat dtypes", [X, I[:, [0, 1, 2, 0]]], 0)
    add("stack", [X, X + 1], -1, rows="all")
    add("repeat", X, [2, 3, 1])
    add("tile", X, [2])
    add("repeat_interleave.self_int", X, 2, 1)
    add("repeat_interleave.self_int of all", X, 3)
    add("flip", X, [0, 1])
    add("fliplr", X)
    add("flipud", X)
    add("roll", X, [3, -1], [0, 1])
    add("pad", X, [1, 2])
    add("pad value", X, [1, 2, 0, 1], "constant", 2.5)
    add("pad reflect", IMAGE, [1, 2, 0, 1], "reflect")
    add("pad circular", IMAGE, [1, 2, 0, 1], "circular", opset=19)
    add("constant_pad_nd", X, [1, -1], 3.0)
    for n, shape in ((1, (2, 3, 5)), (2, (2, 3, 5, 5)), (3, (1, 2, 4, 4, 4))):
        add(f"reflection_pad{n}d", kw.randn(*shape), [1, 2] * n)
        add(f"replication_pad{n}d", kw.randn(*shape), [1, 2] * n)
    add("pixel_shuffle", IMAGE, 2)
    add("col2im", kw.randn(2, 12, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1])


def created():
    add("full", [2, 3], 1.5)
    add("zeros", [2, 3])
    add("ones", [2, 3], dtype=kw.int64)
    add("arange", 5)
    add("arange.start", 1.5, 5)
    add("arange.start_step", 1, 9, 3)
    add("eye", 3)
    add("eye.m", 3, 4)
    add("linspace", 0, 1, 5)
    add("scalar_tensor", 2.5)
    for name in "zeros_like ones_like".split():
        add(name, X)
    add("full_like", X, 2.5)
    add("new_zeros", X, [2, 2])
    add("new_ones", X, [2, 2])
    add("new_full", X, [2, 2], 2.5)
    add("fill.Scalar", X, 2.5)
    add("fill.Tensor", X, kw.tensor(2.5))
    add("copy", X, Y)


def matrices():
    a, b = kw.randn(3, 4), kw.randn(4, 5)
    add("mm", a, b)
    add("matmul", kw.randn(2, 3, 4), b)
    add("bmm", kw.randn(2, 3, 4), kw.randn(2, 4, 5), rows=False)
    add("mv", a, Y)
    add("dot", Y, Q, rows=False)
    add("vdot", Y, Q, rows=False)
    add("outer", Y, kw.randn(3))
    add("addmm", kw.randn(5), a, b, beta=0.5, alpha=2, rows=False)
    add("addmm of integers", I[:, :2], I[:, :2], I[:, 1:], rows=False)
    add("addmv", kw.randn(3), a, Y, rows=False)
    add("addr", kw.randn(3, 5), kw.randn(3), kw.randn(5), beta=0.5, rows=False)
    add("baddbmm", kw.randn(2, 3, 5), kw.randn(2, 3, 4), kw.randn(2, 4, 5), alpha=0.5, rows=False)
    add("linear", a, kw.randn(5, 4), kw.randn(5))
    add("linear of more", kw.randn(2, 3, 4), kw.randn(5, 4))
    add("einsum", "bij, kj -> bki", [kw.randn(2, 3, 4), kw.randn(5, 4)])
    add("det", kw.randn(2, 3, 3))
    add("linalg_det", kw.randn(3, 3), rows=False)


def images():
    for n, shape in ((1, (2, 4, 8)), (2, (2, 4, 8, 7)), (3, (2, 4, 5, 6, 5))):
        x, kernel = kw.randn(*shape), [3] * n
        add(f"conv{n}d", x, kw.randn(6, 2, *kernel), kw.randn(6), 2, 1, 1, 2)
        add(f"conv{n}d alone", x[0], kw.randn(6, 4, *kernel), rows=False)
        name = f"conv_transpose{n}d" + (".input" if n > 1 else "")
        add(name, x, kw.randn(4, 3, *kernel), kw.randn(6), [2] * n, [1] * n, [1] * n, 2)
        add(f"max_pool{n}d", x, 3, 2, 1)
        add(f"max_pool{n}d_with_indices", x, 2)
        add(f"avg_pool{n}d", x, 3, 2, 1)
        add(f"avg_pool{n}d without padding", x[0], 3, 2, 1, False, False, rows=False)
        for kind in ("avg", "max"):
            add(f"adaptive_{kind}_pool{n}d", x, [1] * n, results=1 if kind == "max" else None)
            add(f"adaptive_{kind}_pool{n}d in parts", kw.randn(2, 3, *[4] * n), [2] * n, results=1 if kind == "max" else None)
        if n > 1:
            add(f"_adaptive_avg_pool{n}d", x, [1] * n)
        add(f"upsample_nearest{n}d.vec", x, None, [2.0] * n)
        add(f"upsample_nearest{n}d.vec to sizes", x, [9] * n, None)
        add(f"_upsample_nearest_exact{n}d.vec", x, [9] * n, None)
        linear = ("upsample_linear1d.vec", "upsample_bilinear2d.vec", "upsample_trilinear3d.vec")[n - 1]
        for aligns in (False, True):
            add(f"{linear} {aligns}", x, [9] * n, aligns, None, bound=1e-4)
    add("upsample_bicubic2d.vec", IMAGE, None, False, [2.0, 2.0], bound=1e-4)
    add("convolution", IMAGE, kw.randn(4, 2, 3, 3), None, [1, 1], [1, 1], [1, 1], True, [0, 0], 1)
    add("max_pool2d rounding up", IMAGE, 4, 3, 0, 1, True)
    grid = kw.rand(2, 5, 5, 2) * 2.4 - 1.2
    for name in ("grid_sampler", "grid_sampler_2d"):
        add(name, IMAGE, grid, 0, 0, False, rows=False, bound=1e-4)
    add("grid_sampler_2d nearest", IMAGE, grid, 1, 1, True, rows=False)
    add("grid_sampler_3d", WIDE, kw.rand(2, 3, 3, 3, 3) * 2.4 - 1.2, 0, 0, False, rows=False, opset=20, bound=1e-4)


def indexed():
    rows = kw.tensor([2, 0, -1])
    add("embedding", kw.randn(5, 3), kw.tensor([[1, 4], [0, 2]]))
    add("gather", X, 1, kw.tensor([[0, 3], [1, 1], [2, 0]]), rows=False)
    add("index_select", X, 1, kw.tensor([3, 0]))
    add("take", X, kw.tensor([[0, 3], [11, 5]]), rows=False)
    add("_index rows", X, [rows], rows=False)
    add("_index of the second", IMAGE, [None, rows])
    add("_index of two", IMAGE, [None, rows, kw.tensor([[1], [2]])])
    add("_index apart", IMAGE, [kw.tensor([0, 1, 1]), None, rows], rows=False)
    add("_index", X, [rows, rows], rows=False)
    for accumulate in (False, True):
        add(f"index_put {accumulate}", X, [kw.tensor([2, 0])], Y, accumulate, rows=False)
        add(f"index_put of the second {accumulate}", IMAGE, [None, kw.tensor([2, 0])], kw.randn(6, 6), accumulate)
    add("_index_put", X, [kw.tensor([2, 0]), kw.tensor([1, 1])], kw.randn(2), False, rows=False)
    index = kw.tensor([[0, 1, 2], [2, 0, 1]])
    add("scatter.src", X, 0, index, kw.randn(3, 4), rows=False)
    add("scatter.value", X, 0, index, 2.5, rows=False)
    add("scatter.reduce", X, 0, index, kw.randn(2, 3), reduce="add", rows=False)
    add("scatter.value_reduce", X, 0, index, 2.5, reduce="multiply", rows=False)
    add("scatter_add", X, 0, index, kw.randn(2, 3), rows=False)
    for reduce in "sum prod amax amin".split():
        add(f"scatter_reduce.two {reduce}", X, 0, index, kw.randn(2, 3), reduce, rows=False)
    add("select_scatter", X, kw.randn(3), 1, 2, rows="all")
    add("select_scatter last", X, kw.randn(3), 1, -1, rows="all")
    add("slice_scatter", X, kw.randn(3, 2), 1, 1, 3, rows="all")
    add("slice_scatter to the end", X, kw.randn(3, 2), 1, -2, None, rows="all")
    add("topk", X, 2)
    add("topk of the smallest", X, 2, 0, False)
    ties = kw.tensor([[3.0, 1.0, 3.0, 1.0], [0.0, 0.0, 2.0, 2.0]])
    add("sort", X, 1)
    add("sort.stable", ties, stable=True, dim=1, descending=True)
    add("argsort", X, 0)
    add("argsort.stable", ties, stable=True, dim=1)


def layers():
    mean, variance = kw.randn(4), kw.rand(4) + 0.5
    weight, bias = kw.randn(4), kw.randn(4)
    add("_native_batch_norm_legit", IMAGE, weight, bias, mean, variance, False, 0.1, 1e-5, results=1)
    add("_native_batch_norm_legit_no_training", IMAGE, None, None, mean, variance, 0.1, 1e-5, results=1)
    add("layer_norm", X, [4], weight, bias)
    add("layer_norm alone", IMAGE, [6, 6])
    add("native_layer_norm", X, [4], weight, bias, 1e-5)
    add("rms_norm", X, [4], weight)
    add("group_norm", IMAGE, 2, weight, bias)
    add("dropout", X, 0.5, False)
    for name in "l1_loss mse_loss".split():
        for reduction in range(3):
            add(f"{name} {reduction}", X, Q, reduction, rows="all")
    q, k, v = kw.randn(2, 3, 5, 4), kw.randn(2, 3, 6, 4), kw.randn(2, 3, 6, 4)
    add("scaled_dot_product_attention", q, k, v, rows="all")
    add("scaled_dot_product_attention causal", q, q + 1, v[:, :, :5], None, 0.0, True, rows="all")
    add("scaled_dot_product_attention masked", q, k, v, kw.randn(5, 6), scale=0.3, rows=False)
    mask = kw.rand(5, 6) > 0.3
    mask[:, 0] = True
    add("scaled_dot_product_attention with a mask", q, k, v, mask, rows=False)
    for name, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        for both in (False, True):
            params = []
            for width in (3, 10 if both else 5):
                for _ in range(1 + both):
                    params += [kw.randn(5 * gates, width), kw.randn(5 * gates, 5), kw.randn(5 * gates), kw.randn(5 * gates)]
            state = kw.randn(4 if both else 2, 2, 5)
            hx = [state, state + 1] if name == "lstm" else state
            add(f"{name}.input {both}", kw.randn(6, 2, 3), hx, [p * 0.3 for p in params], True, 2, 0.0, False, both, False, bound=1e-4)
    add("gru.input alone", kw.randn(6, 2, 3), kw.randn(1, 2, 5), [kw.randn(15, 3), kw.randn(15, 5)], False, 1, 0.0, False, False, False,
        bound=1e-4)  # fmt: skip


for family in (unary, binary, comparisons, reductions, views, joined, created, matrices, images, indexed, layers):
    family()
