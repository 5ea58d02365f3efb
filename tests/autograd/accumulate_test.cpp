// Whose memory a leaf's gradient is: the one that backward computed if nobody else can see it, else a copy.
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Where the gradient lay when the hooks of `leaf` ran.
struct Watched {
  explicit Watched(Tensor tensor) : leaf(std::move(tensor)) {
    autograd::register_hook(leaf, [this](const Tensor& grad) {
      memory = grad.data_ptr();
      return Tensor();
    });
  }
  bool was_stored_as_it_is() const { return leaf.grad().data_ptr() == memory; }

  Tensor leaf;
  const void* memory = nullptr;
};

}  // namespace

TEST_CASE("the first gradient is stored without a copy") {
  const Watched x(leaf({2, 3}));
  (x.leaf * x.leaf).sum().backward();
  CHECK(x.was_stored_as_it_is());
  CHECK(values_of(x.leaf.grad()) == Values{4, 6});
}

TEST_CASE("the first gradient is stored without a copy where it comes through a view") {
  const Watched x(rand({2, 3}, kDouble).requires_grad_());
  (x.leaf.view({3, 2}) * 2).sum().backward();
  CHECK(x.was_stored_as_it_is());
  CHECK(x.leaf.grad().sizes() == IntArrayRef({2, 3}));
}

TEST_CASE("later gradients are added to the first, in its memory") {
  const Tensor x = leaf({2, 3});
  (x * x).sum().backward();
  const Tensor grad = x.grad();
  (x * 5).sum().backward();
  CHECK(x.grad().is_same(grad));
  CHECK(values_of(grad) == Values{9, 11});
}

TEST_CASE("a gradient that somebody keeps, or a view of it, is copied") {
  enum class Keeps { Itself, View, Detached, Data };
  for (const Keeps keeps : {Keeps::Itself, Keeps::View, Keeps::Detached, Keeps::Data}) {
    const Watched x(leaf({2, 3}));
    Tensor kept;
    autograd::register_hook(x.leaf, [&](const Tensor& grad) {
      switch (keeps) {
        case Keeps::Itself: kept = grad; break;
        case Keeps::View: kept = grad.slice(0, 0, 1); break;
        case Keeps::Detached: kept = grad.detach(); break;
        case Keeps::Data: kept = grad.data(); break;
      }
      return Tensor();
    });
    (x.leaf * x.leaf).sum().backward();
    CHECK_FALSE(x.was_stored_as_it_is());
    kept.zero_();
    CHECK(values_of(x.leaf.grad()) == Values{4, 6});
    x.leaf.grad().zero_();
  }
}

TEST_CASE("two leaves do not share a gradient") {
  const Tensor a = leaf({2, 3}), b = leaf({4, 5});
  (a + b).backward(numbers({1, 1}));
  CHECK(a.grad().data_ptr() != b.grad().data_ptr());
  a.grad().zero_();
  CHECK(values_of(b.grad()) == Values{1, 1});
}

TEST_CASE("a gradient is not the memory of what a node saved") {
  const Tensor x = leaf({2, 3}), w = numbers({5, 7});
  const Tensor y = (x * w).sum();
  y.backward({}, true);
  x.grad().zero_();
  y.backward();
  CHECK(values_of(w) == Values{5, 7});
  CHECK(values_of(x.grad()) == Values{5, 7});
}

TEST_CASE("a gradient that the user gave is never the gradient of a leaf") {
  const Tensor given = numbers({1, 2});
  const auto check = [&](const Tensor& x) {
    CHECK(x.grad().data_ptr() != given.data_ptr());
    x.grad().zero_();
    CHECK(values_of(given) == Values{1, 2});
  };
  const Tensor x = leaf({3, 4});
  x.backward(given);
  check(x);
  const Tensor y = leaf({3, 4});
  (y + 0).backward(given);
  check(y);
  const Tensor viewed = rand({2, 1}, kDouble).requires_grad_();
  viewed.view({2}).backward(given);
  check(viewed);
  const Tensor asked = leaf({3, 4});
  (asked + 0).backward(given, false, false, {asked});
  check(asked);
  const Tensor recorded = leaf({3, 4});
  (recorded + 0).backward(given, true, true);
  check(recorded);
  const Tensor recorded_asked = leaf({3, 4});
  (recorded_asked + 0).backward(given, true, true, {recorded_asked});
  check(recorded_asked);
}

TEST_CASE("a gradient that only the call holds may be stored as it is") {
  const Tensor x = leaf({3, 4});
  x.backward(numbers({1, 2}));
  x.grad().mul_(2);
  CHECK(values_of(x.grad()) == Values{2, 4});
}

TEST_CASE("a gradient whose elements share memory is stored as one whose elements do not") {
  const Watched x(leaf({2, 3}));
  x.leaf.sum().backward();
  CHECK_FALSE(x.was_stored_as_it_is());
  CHECK(x.leaf.grad().is_contiguous());
  x.leaf.grad().mul_(numbers({2, 3}));
  CHECK(values_of(x.leaf.grad()) == Values{2, 3});
}

TEST_CASE("a gradient lies in memory as its leaf does, or in row-major order if the leaf has gaps") {
  const Tensor weights = rand({3, 2}, kDouble);
  const auto strides_of_grad = [&](const Tensor& x) {
    (x * weights.t().contiguous().t()).sum().backward();
    CHECK(values_of(x.grad()) == values_of(weights));
    (x * weights).sum().backward();
    return x.grad().strides().vec();
  };
  using Strides = std::vector<std::int64_t>;
  CHECK(strides_of_grad(rand({3, 2}, kDouble).requires_grad_()) == Strides{2, 1});
  CHECK(strides_of_grad(rand({2, 3}, kDouble).t().requires_grad_()) == Strides{1, 3});
  CHECK(strides_of_grad(rand({3, 4}, kDouble).slice(1, 0, 2).requires_grad_()) == Strides{2, 1});
  CHECK(strides_of_grad(rand({3, 1}, kDouble).expand({3, 2}).requires_grad_()) == Strides{2, 1});
}

TEST_CASE("a gradient that already lies as its leaf is stored without a copy") {
  const Watched x(rand({2, 3}, kDouble).t().requires_grad_());
  (x.leaf * rand({2, 3}, kDouble).t()).sum().backward();
  CHECK(x.was_stored_as_it_is());
}

TEST_CASE("a stored gradient has no history and is no view") {
  const Tensor x = rand({2, 3}, kDouble).requires_grad_();
  (x.view({3, 2}) * 2).sum().backward();
  CHECK_FALSE(x.grad().requires_grad());
  CHECK_FALSE(autograd::is_view(x.grad()));
  CHECK(x.grad().is_leaf());
  x.grad().detach_();
}

TEST_CASE("a gradient that is recorded is added out of place, since its history knows the old one") {
  const Tensor x = leaf({2});
  (x * x * x).sum().backward({}, std::nullopt, true);
  const Tensor first = x.grad();
  (x * x * x).sum().backward({}, std::nullopt, true);
  CHECK_FALSE(x.grad().is_same(first));
  CHECK(values_of(first) == Values{12});
  CHECK(values_of(x.grad()) == Values{24});
  // The history knows the leaf, whose gradient knows the history.
  autograd::set_grad(x, Tensor());
}

TEST_CASE("set_grad takes a gradient of the tensor's own kind") {
  const Tensor x = leaf({2, 3});
  CHECK(lacks(error_of([&] { autograd::set_grad(x, numbers({1})); }), {"shape [1]", "shape [2]"}) == "");
  CHECK(lacks(error_of([&] { autograd::set_grad(x, ones({2}, kFloat)); }), {"float32", "float64"}) == "");
  const Tensor grad = numbers({1, 2});
  autograd::set_grad(x, grad);
  CHECK(x.grad().is_same(grad));
  (x * 3).sum().backward();
  CHECK(values_of(grad) == Values{4, 5});
  autograd::set_grad(x, Tensor());
  CHECK_FALSE(x.grad().defined());
}
