// In-place changes: versions, what a node saved, leaves.
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

// --- Versions

TEST_CASE("every in-place change counts the version up by one, and nothing else does") {
  const Tensor x = numbers({1, 2});
  const std::uint32_t first = x._version();
  x.mul_(2);
  CHECK(x._version() == first + 1);
  x.add_(1);
  x.fill_(3);
  x.copy_(numbers({1, 1}));
  CHECK(x._version() == first + 4);
  (void)(x * 2);
  (void)x.view({2, 1});
  (void)x.clone();
  CHECK(x._version() == first + 4);
}

TEST_CASE("a change under no_grad counts, and so does one of the out= argument of a call") {
  const Tensor x = numbers({1, 2});
  const std::uint32_t first = x._version();
  {
    const NoGradGuard no_grad;
    x.add_(1);
  }
  CHECK(x._version() == first + 1);
  Tensor out = x;
  add_out(out, numbers({1, 2}), numbers({1, 2}));
  CHECK(x._version() == first + 2);
}

TEST_CASE("views and detached tensors share the version") {
  const Tensor x = numbers({1, 2, 3});
  const Tensor view = x.slice(0, 1), cut = x.detach();
  const std::uint32_t first = x._version();
  view.add_(1);
  CHECK(x._version() == first + 1);
  CHECK(cut._version() == first + 1);
  cut.add_(1);
  CHECK(view._version() == first + 2);
  CHECK(values_of(x) == Values{2, 4, 5});
}

// --- What was saved

TEST_CASE("a change of a saved value is an error that names the operator and both versions") {
  const Tensor x = leaf({2, 3});
  const Tensor h = x * 1;
  const Tensor product = (h * h).sum();
  h.add_(1);
  CHECK(lacks(error_of([&] { product.backward(); }),
              {"MulBackward0", "shape [2]", "changed in place", "version 1", "saved at 0", "clone()"}) == "");
  CHECK_FALSE(x.grad().defined());
  // A saved result.
  const Tensor result = x.exp();
  result.mul_(2);
  CHECK(lacks(error_of([&] { result.sum().backward(); }), {"ExpBackward0", "changed in place"}) == "");
  // By way of a view, and of a constant.
  const Tensor w = numbers({4, 5});
  const Tensor scaled = x * w;
  w.slice(0, 0, 1).zero_();
  CHECK(lacks(error_of([&] { scaled.sum().backward(); }), {"MulBackward0", "changed in place"}) == "");
}

TEST_CASE("a change of a leaf under no_grad is noticed where the leaf was saved") {
  const Tensor x = leaf({2});
  const Tensor y = x * x;
  {
    const NoGradGuard no_grad;
    x.add_(1);
  }
  CHECK(lacks(error_of([&] { y.backward(); }), {"MulBackward0", "changed in place"}) == "");
  (x * x).backward();
  CHECK(values_of(x.grad()) == Values{6});
}

TEST_CASE("a change of what no gradient needs is allowed") {
  const Tensor x = leaf({2});
  const Tensor h = x * 3;
  const Tensor sum = h + 1;
  h.mul_(5);
  sum.mul_(7);
  (sum + h).backward();
  CHECK(values_of(x.grad()) == Values{21 + 15});
}

TEST_CASE("an in-place operator saves the value that it overwrites") {
  const Tensor x = leaf({3});
  const Tensor h = x * 1;
  h.mul_(h);
  CHECK(values_of(h) == Values{9});
  const Tensor w = leaf({2});
  const Tensor y = x * 1;
  y.mul_(w);
  y.backward();
  CHECK(values_of(w.grad()) == Values{3});
  CHECK(values_of(x.grad()) == Values{2});
}

// --- Histories

TEST_CASE("a constant that a leaf is written to requires a gradient") {
  const Tensor x = leaf({2, 3});
  const Tensor h = numbers({1, 1});
  CHECK(h.is_leaf());
  h.mul_(x);
  CHECK(h.requires_grad());
  CHECK_FALSE(h.is_leaf());
  (h * 5).sum().backward();
  CHECK(values_of(x.grad()) == Values{5, 5});
}

TEST_CASE("what overwrites a tensor cuts its values off their history") {
  const Tensor x = leaf({2, 3}), y = leaf({5, 7});
  const Tensor zeroed = x * 1, filled = x * 1, copied = x * 1;
  zeroed.zero_();
  filled.fill_(2);
  copied.copy_(y * 2);
  (zeroed + filled + copied).sum().backward();
  CHECK(values_of(x.grad()) == Values{0, 0});
  CHECK(values_of(y.grad()) == Values{2, 2});
}

TEST_CASE("a change under no_grad changes values and no history") {
  const Tensor x = leaf({2});
  const Tensor h = x * 3;
  {
    const NoGradGuard no_grad;
    h.mul_(100);
  }
  CHECK(values_of(h) == Values{600});
  h.backward();
  CHECK(values_of(x.grad()) == Values{3});
}

// --- What is refused

TEST_CASE("a leaf that requires a gradient is not changed in place, nor is a view of it") {
  const Tensor x = leaf({2, 3});
  CHECK(lacks(error_of([&] { x.mul_(2); }), {"mul_", "leaf that requires grad", "no_grad"}) == "");
  CHECK(lacks(error_of([&] { x.zero_(); }), {"leaf that requires grad"}) == "");
  CHECK(lacks(error_of([&] { x.copy_(numbers({1, 1})); }), {"copy_", "leaf that requires grad"}) == "");
  CHECK(lacks(error_of([&] { x.slice(0, 0, 1).add_(1); }), {"add_", "view of a leaf that requires grad"}) == "");
  CHECK(lacks(error_of([&] { x.view({2, 1}).select(0, 0).add_(1); }), {"add_", "view of a leaf"}) == "");
  CHECK(values_of(x) == Values{2, 3});
  const NoGradGuard no_grad;
  x.mul_(2);
  x.slice(0, 0, 1).add_(1);
  CHECK(values_of(x) == Values{5, 6});
  CHECK(x.is_leaf());
}

TEST_CASE("an expanded tensor is not changed in place, whose elements share memory") {
  const Tensor x = leaf({2});
  const Tensor expanded = (x * 1).expand({3});
  const char* const shared = "several elements in one memory location";
  CHECK(lacks(error_of([&] { expanded.mul_(2); }), {"mul_", shared}) == "");
  CHECK(lacks(error_of([&] { expanded.copy_(numbers({1, 2, 3})); }), {"copy_", shared}) == "");
  expanded.sum().backward();
  CHECK(values_of(x.grad()) == Values{3});
  // What the elements are views of can be changed.
  const Tensor base = x * 1;
  const Tensor shown = base.expand({3});
  base.mul_(10);
  CHECK(values_of(shown) == Values{20, 20, 20});
  shown.sum().backward();
  CHECK(values_of(x.grad()) == Values{33});
}

TEST_CASE("out= is refused where a gradient would be lost") {
  const Tensor x = leaf({2});
  Tensor out = numbers({0});
  CHECK(lacks(error_of([&] { add_out(out, x, x); }), {"add.out", "out=", "no_grad"}) == "");
  const NoGradGuard no_grad;
  add_out(out, x, x);
  CHECK(values_of(out) == Values{4});
}
