// What a user's Function may return: inputs as they are, changed in place, or without a gradient; views.
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

#include <functional>

using namespace keyway;
using namespace keyway::testing;
using autograd::AutogradContext;
using autograd::Function;
using autograd::variable_list;

namespace {

// Returns its input as it is; gradients pass it ten times as great.
struct Pass : Function<Pass> {
  static Tensor forward(AutogradContext&, const Tensor& x) { return x; }
  static variable_list backward(AutogradContext&, variable_list grads) { return {grads[0] * 10}; }
};

// Doubles input `which` of two in place and returns it.
struct DoubleInPlace : Function<DoubleInPlace> {
  static Tensor forward(AutogradContext& ctx, const Tensor& a, const Tensor& b, std::int64_t which) {
    const Tensor& changed = which == 0 ? a : b;
    ctx.saved_data["which"] = which;
    changed.mul_(2);
    ctx.mark_dirty({changed});
    return changed;
  }
  static variable_list backward(AutogradContext& ctx, variable_list grads) {
    variable_list result(2);
    const auto which = static_cast<std::size_t>(ctx.saved_data["which"].to_int());
    result[which] = grads[0] * 2;
    result[1 - which] = grads[0] * 100;
    return result;
  }
};

// A result and its sign, which has no gradient.
struct WithSign : Function<WithSign> {
  static variable_list forward(AutogradContext& ctx, const Tensor& x) {
    const Tensor sign = x.sign();
    ctx.mark_non_differentiable({sign});
    ctx.save_for_backward({sign});
    return {x.abs(), sign};
  }
  static variable_list backward(AutogradContext& ctx, variable_list grads) {
    CHECK(grads.size() == 2);
    CHECK_FALSE(grads[1].defined());
    return {grads[0] * ctx.saved_tensors()[0]};
  }
};

struct FirstOf : Function<FirstOf> {
  static Tensor forward(AutogradContext&, const Tensor& x) { return x.slice(0, 0, 1); }
  static variable_list backward(AutogradContext&, variable_list grads) {
    return {keyway::cat({grads[0], grads[0] * 0})};
  }
};

}  // namespace

TEST_CASE("an input that is returned as it is becomes another tensor over the same memory") {
  const Tensor x = leaf({2});
  const Tensor y = Pass::apply(x);
  CHECK_FALSE(y.is_same(x));
  CHECK(y.data_ptr() == x.data_ptr());
  CHECK(x.is_leaf());
  y.backward();
  CHECK(values_of(x.grad()) == Values{10});
}

TEST_CASE("an input that was returned as it is cannot be changed in place, which its input would not know") {
  const Tensor x = leaf({2});
  const Tensor h = x * 1;
  const Tensor y = Pass::apply(h);
  CHECK(lacks(error_of([&] { y.mul_(3); }), {"mul_", "view", "Function"}) == "");
  CHECK(values_of(h) == Values{2});
}

TEST_CASE("an input that a Function changed in place gets the Function as its history") {
  const Tensor x = leaf({3}), w = leaf({1});
  const Tensor h = x * 1;
  const std::uint32_t version = h._version();
  const Tensor y = DoubleInPlace::apply(h, w, std::int64_t{0});
  CHECK(y.is_same(h));
  CHECK(h._version() > version);
  CHECK(values_of(h) == Values{6});
  (h * 5).backward();
  CHECK(values_of(x.grad()) == Values{10});
  CHECK(values_of(w.grad()) == Values{500});
}

TEST_CASE("a view that a Function changed in place passes that on to its base") {
  for (const std::int64_t which : {0, 1}) {
    const Tensor x = leaf({3, 4}), w = leaf({1});
    const Tensor base = x * 1;
    const Tensor view = base.slice(0, 1, 2);
    const Tensor y = which == 0 ? DoubleInPlace::apply(view, w, which) : DoubleInPlace::apply(w, view, which);
    CHECK(values_of(base) == Values{3, 8});
    (base * 5).sum().backward();
    CHECK(values_of(x.grad()) == Values{5, 10});
    CHECK(values_of(w.grad()) == Values{500});
  }
}

TEST_CASE("a saved tensor that a Function changed in place is noticed") {
  const Tensor x = leaf({3});
  const Tensor h = x * 1;
  const Tensor square = h * h;
  DoubleInPlace::apply(h, numbers({1}), std::int64_t{0});
  CHECK(lacks(error_of([&] { square.backward(); }), {"MulBackward0", "changed in place"}) == "");
}

TEST_CASE("a leaf cannot be changed in place by a Function") {
  const Tensor x = leaf({3});
  CHECK(lacks(error_of([&] { DoubleInPlace::apply(x, numbers({1}), std::int64_t{0}); }), {"DoubleInPlace", "leaf"}) ==
        "");
}

TEST_CASE("what a Function marks as changed are inputs, which it returns") {
  struct Marks : Function<Marks> {
    static Tensor forward(AutogradContext& ctx, const Tensor& x, bool an_input) {
      const Tensor result = x * 2;
      ctx.mark_dirty({an_input ? x : result});
      return result;
    }
    static variable_list backward(AutogradContext&, variable_list grads) { return {grads[0]}; }
  };
  const Tensor h = leaf({3}) * 1;
  CHECK(lacks(error_of([&] { Marks::apply(h, true); }), {"Marks", "mark_dirty", "return"}) == "");
  CHECK(lacks(error_of([&] { Marks::apply(h, false); }), {"Marks", "mark_dirty", "input"}) == "");
}

TEST_CASE("a result marked as not differentiable requires no gradient") {
  const Tensor x = leaf({-2, 3});
  const variable_list results = WithSign::apply(x);
  CHECK(results[0].requires_grad());
  CHECK_FALSE(results[1].requires_grad());
  (results[0] * results[1]).sum().backward();
  CHECK(values_of(x.grad()) == Values{1, 1});
}

TEST_CASE("an input that is returned as not differentiable is cut off its history, not the input itself") {
  struct Constant : Function<Constant> {
    static variable_list forward(AutogradContext& ctx, const Tensor& x) {
      ctx.mark_non_differentiable({x});
      return {x, x * 2};
    }
    static variable_list backward(AutogradContext&, variable_list grads) { return {grads[1]}; }
  };
  const Tensor x = leaf({3});
  const variable_list results = Constant::apply(x);
  CHECK(x.requires_grad());
  CHECK_FALSE(results[0].requires_grad());
  CHECK(results[1].requires_grad());
}

TEST_CASE("an undefined result counts among the gradients of backward") {
  struct Second : Function<Second> {
    static variable_list forward(AutogradContext&, const Tensor& x) { return {Tensor(), x * 2}; }
    static variable_list backward(AutogradContext&, variable_list grads) {
      REQUIRE(grads.size() == 2);
      CHECK_FALSE(grads[0].defined());
      return {grads[1] * 2};
    }
  };
  const Tensor x = leaf({3});
  Second::apply(x)[1].backward();
  CHECK(values_of(x.grad()) == Values{2});
}

TEST_CASE("integer results of a Function require no gradient") {
  struct Indices : Function<Indices> {
    static variable_list forward(AutogradContext&, const Tensor& x) { return {x.argmax(), x * 2}; }
    static variable_list backward(AutogradContext&, variable_list grads) { return {grads[1] * 2}; }
  };
  const Tensor x = leaf({3});
  const variable_list results = Indices::apply(x);
  CHECK_FALSE(results[0].requires_grad());
  results[1].backward();
  CHECK(values_of(x.grad()) == Values{2});
}

TEST_CASE("a view that a Function made has the Function's gradient, and cannot be changed in place") {
  const Tensor x = leaf({3, 4});
  const Tensor h = x * 1;
  const Tensor first = FirstOf::apply(h);
  CHECK(first.data_ptr() == h.data_ptr());
  CHECK(lacks(error_of([&] { first.mul_(2); }), {"mul_", "Function"}) == "");
  (first * 5).sum().backward();
  CHECK(values_of(x.grad()) == Values{5, 0});
}
