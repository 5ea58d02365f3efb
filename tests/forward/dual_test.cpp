// Forward mode in C++: levels, views and changes in place, histories, and what is refused.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/function.h>
#include <keyway/autograd/graph_search.h>
#include <keyway/forward/dual.h>
#include <keyway/keyway.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>

using namespace keyway;
using keyway::testing::error_of;

namespace {

Tensor of(std::initializer_list<double> values) {
  const Tensor made = empty({static_cast<std::int64_t>(values.size())}, TensorOptions(kDouble));
  std::copy(values.begin(), values.end(), made.data_ptr<double>());
  return made;
}

bool same(const Tensor& a, const Tensor& b) { return a.defined() && a.sizes() == b.sizes() && a.equal(b); }

Tensor tangent_of(const Tensor& t) { return unpack_dual(t).tangent; }

template <typename F>
bool says(const F& call, const std::string& text) {
  return error_of(call).find(text) != std::string::npos;
}

struct Twice : autograd::Function<Twice> {
  static Tensor forward(autograd::AutogradContext&, const Tensor& x) { return x.mul(2); }
  static autograd::variable_list backward(autograd::AutogradContext&, autograd::variable_list&& grads) {
    return {grads[0].mul(2)};
  }
};

}  // namespace

TEST_CASE("a dual tensor has its primal's shape, dtype and memory") {
  const DualLevel level;
  const Tensor value = of({1, 2}), x = make_dual(value, of({3, 4}));
  CHECK(x.sizes() == value.sizes());
  CHECK(x.dtype() == kDouble);
  CHECK(x.is_alias_of(value));
  CHECK(same(unpack_dual(x).primal, value));
  CHECK(same(tangent_of(x), of({3, 4})));
  CHECK_FALSE(tangent_of(value).defined());
  CHECK(same(tangent_of(x * x), of({6, 16})));
  CHECK(x.sum().item().to<double>() == 3);
  CHECK(same(x.gt(1.5), of({0, 1}).to(kBool)));
  CHECK_FALSE(tangent_of(x.argmax()).defined());
}

TEST_CASE("levels stand within each other: d/dx of x * d/dy of (x + y) is 1") {
  const DualLevel outer;
  const Tensor x = make_dual(of({2}), of({1}));
  Tensor product;
  {
    const DualLevel inner;
    const Tensor y = make_dual(of({3}), of({1}));
    product = x * tangent_of(x + y);
  }
  CHECK(same(tangent_of(product), of({1})));
}

TEST_CASE("derivatives of derivatives") {
  const DualLevel outer;
  const Tensor x = make_dual(of({2}), of({1}));
  Tensor first;
  {
    const DualLevel inner;
    const Tensor y = make_dual(x, of({1}));
    first = tangent_of(y * y * y);
    CHECK(same(unpack_dual(y).primal, x));
  }
  CHECK(same(unpack_dual(first).primal, of({12})));
  CHECK(same(tangent_of(first), of({12})));
  // By the general rule too, and through backward.
  {
    const DualLevel inner;
    const Tensor y = make_dual(x, of({1}));
    const Tensor once = tangent_of(y.cumprod(0));
    CHECK(same(unpack_dual(once).primal, of({1})));
  }
}

TEST_CASE("after its level a dual tensor is a plain one") {
  std::optional<DualLevel> level;
  level.emplace();
  const Tensor x = make_dual(of({1, 2}), of({3, 4})), y = x * x;
  level.reset();
  CHECK(same(y + 1, of({2, 5})));
  Tensor changed = y;
  changed.mul_(2);
  CHECK(changed.is_same(y));
  CHECK(same(y + 0, of({2, 8})));
  const DualLevel next;
  CHECK_FALSE(tangent_of(y).defined());
  CHECK(same(tangent_of(make_dual(y, of({1, 1})) * 2), of({2, 2})));
}

TEST_CASE("views of a dual tensor share its tangent's memory") {
  const DualLevel level;
  Tensor x = make_dual(of({1, 2, 3, 4}), of({5, 6, 7, 8})) * 1;
  const Tensor rows = x.view({2, 2}), column = rows.select(1, 0);
  column.mul_(10);
  CHECK(same(unpack_dual(x).primal, of({10, 2, 30, 4})));
  CHECK(same(tangent_of(x), of({50, 6, 70, 8})));
  x.mul_(2);
  CHECK(same(tangent_of(column), of({100, 140})));
  CHECK(same(tangent_of(x.as_strided({2}, {2}, 1)), of({12, 16})));
  column.zero_();
  CHECK(same(tangent_of(rows), of({0, 12, 0, 16}).view({2, 2})));
}

TEST_CASE("what is changed in place to something dual is dual, and so is the base of a view") {
  const DualLevel level;
  const Tensor x = make_dual(of({1, 2}), of({3, 4}));
  Tensor sum = zeros({2}, kDouble);
  sum.add_(x).mul_(2);
  CHECK(same(tangent_of(sum), of({6, 8})));
  const Tensor whole = zeros({3, 2}, kDouble);
  whole.select(0, 1).copy_(x);
  CHECK(same(tangent_of(whole), of({0, 0, 3, 4, 0, 0}).view({3, 2})));
  CHECK(same(tangent_of(whole.sum()), scalar_tensor(7.0, TensorOptions(kDouble))));
  whole.select(0, 2).copy_(x.mul(2));
  CHECK(same(tangent_of(whole), of({0, 0, 3, 4, 6, 8}).view({3, 2})));
}

TEST_CASE("views that were made within the level follow their base, and their base's other views") {
  const Tensor outside = zeros({4}, kDouble).view({2, 2});
  const DualLevel level;
  const Tensor x = make_dual(of({1, 2}), of({3, 4}));
  const Tensor base = zeros({2}, kDouble), before = base.slice(0, 0, 1);
  base.add_(x);
  CHECK(same(tangent_of(before * 2), of({6})));
  before.mul_(10);
  CHECK(same(tangent_of(base), of({30, 4})));

  const Tensor rows = zeros({4}, kDouble).view({2, 2}), column = rows.select(1, 1), apart = rows.detach();
  CHECK(says([&] { rows.select(0, 0).copy_(x); },
             "other tensors of its memory, made before the level began or detached"));
  const Tensor grid = zeros({4}, kDouble).view({2, 2}), last = grid.select(1, 1);
  grid.select(0, 0).copy_(x);
  CHECK(same(tangent_of(grid), of({3, 4, 0, 0}).view({2, 2})));
  last.mul_(2);
  grid.select(0, 1).copy_(x * x);
  CHECK(same(tangent_of(grid), of({3, 8, 6, 16}).view({2, 2})));
  CHECK(same(tangent_of(last), of({8, 16})));
  CHECK(says([&] { outside.select(0, 0).copy_(x); }, "other tensors of its memory"));
}

TEST_CASE("parts of complex tensors, and complex tensors of parts, are changed in place with their tangents") {
  const auto complex_of = [](const Tensor& re, const Tensor& im) {
    return keyway::view_as_complex(stack({re, im}, -1));
  };
  const DualLevel level;
  const Tensor x = make_dual(of({1, 2}), of({3, 4}));
  const Tensor numbers = zeros({2, 2}, kComplexDouble).select(1, 1);
  keyway::view_as_real(numbers).select(1, 1).copy_(x);
  CHECK(same(tangent_of(numbers), complex_of(of({0, 0}), of({3, 4}))));
  CHECK(same(unpack_dual(numbers).primal, complex_of(of({0, 0}), of({1, 2}))));
  const Tensor parts = zeros({3, 2}, kDouble);
  keyway::view_as_complex(parts).slice(0, 1).copy_(complex_of(x, x * 2));
  CHECK(same(tangent_of(parts), of({0, 0, 3, 6, 4, 8}).view({3, 2})));
  CHECK(same(unpack_dual(parts).primal, of({0, 0, 1, 2, 2, 4}).view({3, 2})));
}

TEST_CASE("changes of geometry in place change both") {
  const DualLevel level;
  Tensor x = make_dual(of({1, 2, 3, 4}).view({2, 2}), of({5, 6, 7, 8}).view({2, 2})) * 1;
  x.t_();
  CHECK(same(unpack_dual(x).primal, of({1, 3, 2, 4}).view({2, 2})));
  CHECK(same(tangent_of(x), of({5, 7, 6, 8}).view({2, 2})));
  x.unsqueeze_(0);
  CHECK(x.sizes() == IntArrayRef({1, 2, 2}));
  CHECK(same(tangent_of(x * 1), of({5, 7, 6, 8}).view({1, 2, 2})));
  x.detach_();
  CHECK_FALSE(tangent_of(x).defined());
  CHECK_FALSE(tangent_of(x * 2).defined());
}

TEST_CASE("tangents of different tensors are not the same memory") {
  const DualLevel level;
  Tensor x = make_dual(of({1, 2}), of({3, 4})) * 1;
  const Tensor y = x + 1, z = x - of({1, 1});
  x.mul_(100);
  CHECK(same(tangent_of(y), of({3, 4})));
  CHECK(same(tangent_of(z), of({3, 4})));
}

TEST_CASE("tensors without elements, and without memory of their own for each, have tangents") {
  const DualLevel level;
  const Tensor nothing = make_dual(empty({0, 3}, TensorOptions(kDouble)), empty({0, 3}, TensorOptions(kDouble)));
  CHECK(same(tangent_of(sum(nothing * nothing, {0})), of({0, 0, 0})));
  CHECK(same(tangent_of(nothing.sin()), empty({0, 3}, TensorOptions(kDouble))));
  const Tensor repeated = make_dual(of({2}).expand({3}), of({1, 2, 3}));
  CHECK(same(tangent_of(repeated * repeated), of({4, 8, 12})));
  const Tensor every_second = make_dual(of({1, 2, 3, 4}).slice(0, 0, 4, 2), of({5, 6, 7, 8}).slice(0, 1, 4, 2));
  CHECK(same(tangent_of(every_second * every_second), of({12, 48})));
}

TEST_CASE("detach drops tangents; results that are no numbers have none") {
  const DualLevel level;
  const Tensor x = make_dual(of({1, 2}), of({3, 4}));
  CHECK_FALSE(tangent_of(x.detach()).defined());
  CHECK(same(tangent_of(x * x.detach()), of({3, 8})));
  CHECK_FALSE(tangent_of(x.to(kLong)).defined());
  CHECK(same(tangent_of(x.to(kFloat)), of({3, 4}).to(kFloat)));
}

TEST_CASE("primal and tangent have histories, and no leaf of the calls' own") {
  const DualLevel level;
  const Tensor leaf = of({0.5, 1}).requires_grad_(), direction = of({1, 2}).requires_grad_();
  const Tensor x = make_dual(leaf, direction);
  const auto [value, tangent] = unpack_dual(x.sin().cumprod(0));
  CHECK(value.requires_grad());
  CHECK(tangent.requires_grad());
  const auto grads = autograd::grad({tangent.sum()}, {leaf, direction}, {}, true);
  // d/dt of the first tangent, cos(x0) t0, and of the second, by t1: sin(x0) cos(x1).
  CHECK(grads[1].select(0, 1).allclose(leaf.select(0, 0).sin() * leaf.select(0, 1).cos()));
  const Tensor constant = make_dual(of({1, 2}), of({3, 4}));
  const auto plain = unpack_dual(constant.cumprod(0));
  CHECK_FALSE(plain.primal.requires_grad());
  CHECK_FALSE(plain.tangent.requires_grad());
  {
    const NoGradGuard no_grad;
    CHECK_FALSE(tangent_of(x.cumprod(0)).requires_grad());
  }
  {
    const InferenceMode inference;
    CHECK(same(tangent_of(constant.cumprod(0)), of({3, 10})));
    CHECK(same(tangent_of(constant.square()), of({6, 16})));
  }
}

TEST_CASE("the graph of tangents leads to no leaf but the caller's") {
  const DualLevel level;
  const Tensor x = make_dual(of({1, 3, 2}), of({1, 2, 1})), weight = of({1, 2, 3}).requires_grad_();
  const auto [value, tangent] = unpack_dual(layer_norm(x, {3}, weight));
  CHECK(value.requires_grad());
  CHECK(tangent.requires_grad());
  CHECK_FALSE(autograd::reaches_other_leaves({value, tangent}, {weight}));
}

TEST_CASE("gradients of dual tensors are dual, and so are those for dual weights") {
  const DualLevel level;
  const Tensor w = make_dual(of({1, 1}), of({0, 5})), z = of({1, 2}).requires_grad_();
  CHECK(same(tangent_of(autograd::grad({z * z}, {z}, {w})[0]), of({0, 20})));
  const Tensor x = make_dual(of({1, 2}).requires_grad_(), of({1, 10}));
  const Tensor y = (x * x * x).sum();
  const auto gradient = autograd::grad({y}, {x})[0];
  CHECK(same(unpack_dual(gradient).primal, of({3, 12})));
  CHECK(same(tangent_of(gradient), of({6, 120})));
  CHECK(says([&] { (x * x).sum().backward(); }, "a dual tensor has no history of its own"));
}

TEST_CASE("other threads see tangents as long as their level is there") {
  const Tensor value = of({1, 2});
  std::optional<DualLevel> level;
  level.emplace();
  const Tensor x = make_dual(value, of({3, 4}));
  Tensor square;
  std::thread([&] {
    CHECK(DualLevel::innermost() == nullptr);
    square = x * x;
  }).join();
  CHECK(same(tangent_of(square), of({6, 16})));
  level.reset();
  std::thread([&] { square = x * x; }).join();
  CHECK_FALSE(square.key_set().has(Functionality::ForwardAD));
}

TEST_CASE("vmap of forward mode, and forward mode of vmap") {
  const Tensor values = of({1, 2, 3, 4}).view({2, 2}), directions = of({1, 1, 2, 2}).view({2, 2});
  const Tensor expected = (values * directions * 2).sum({1});
  {
    const Vmap batch(2);
    const DualLevel level;
    const Tensor x = make_dual(batch.add_batch_dim(values), batch.add_batch_dim(directions));
    CHECK(same(batch.remove_batch_dim(tangent_of((x * x).sum())), expected));
  }
  const DualLevel level;
  const Tensor x = make_dual(values, directions);
  Tensor all;
  {
    const Vmap batch(2);
    const Tensor row = batch.add_batch_dim(x);
    all = batch.remove_batch_dim((row * row).sum());
  }
  CHECK(same(tangent_of(all), expected));
}

TEST_CASE("what is autocast has tangents of the dtype that it is converted to") {
  const DualLevel level;
  const Tensor x = make_dual(ones({2, 2}, kFloat), full({2, 2}, 3.0, kFloat));
  const AutocastMode autocast(DeviceType::CPU, kBFloat16);
  const Tensor product = x.mm(x);
  CHECK(product.dtype() == kBFloat16);
  CHECK(tangent_of(product).dtype() == kBFloat16);
}

TEST_CASE("refusals say what is wrong") {
  CHECK(says([] { make_dual(of({1}), of({1})); }, "there is no level of forward mode"));
  const DualLevel level;
  const Tensor x = make_dual(of({1, 2}), of({3, 4}));
  CHECK(says([] { make_dual(of({1}), of({1, 2})); }, "must have the shape, dtype and device of the tensor"));
  CHECK(says([] { make_dual(of({1}).to(kLong), of({1}).to(kLong)); }, "only floating and complex ones do"));
  CHECK(says([&] { make_dual(x, of({1, 2})); }, "has a tangent at this level"));
  Tensor out = zeros({2}, kDouble);
  CHECK(says([&] { add_out(out, x, x); }, "functions with out=... arguments do not support forward mode"));
  CHECK(says([&] { mv_out(out, ones({2, 2}, kDouble), x); }, "functions with out=... arguments"));
  CHECK(says([&] { Twice::apply(x); }, "forward mode: "));
  Tensor leaf = of({1, 2}).requires_grad_();
  CHECK(says([&] { leaf.add_(x); }, "a leaf that requires grad"));
  {
    const NoGradGuard no_grad;
    CHECK(says([&] { leaf.add_(x); }, "a leaf that requires grad, or a view of one"));
    CHECK(leaf.requires_grad());
  }
  CHECK(says([&] { x.igamma(x); }, "igamma: the derivative for argument 'self' is not implemented"));
  CHECK(same(tangent_of(x * 2), of({6, 8})));
}
