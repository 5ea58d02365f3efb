// In-place changes of views and of their bases: what each then depends on.
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("a change of a view is one of its base") {
  const Tensor x = leaf({2, 3, 4}), w = leaf({10});
  const Tensor base = x * 1;
  const Tensor view = base.slice(0, 1, 2);
  view.mul_(w);
  CHECK(values_of(base) == Values{2, 30, 4});
  CHECK(lacks(autograd::grad_fn(base)->name(), {"CopySlices"}) == "");
  base.sum().backward({}, true);
  CHECK(values_of(x.grad()) == Values{1, 10, 1});
  CHECK(values_of(w.grad()) == Values{3});
  view.sum().backward();
  CHECK(values_of(x.grad()) == Values{1, 20, 1});
  CHECK(values_of(w.grad()) == Values{6});
}

TEST_CASE("a change of the base is one of the views made before") {
  const Tensor x = leaf({2, 3});
  const Tensor base = x * 1;
  const Tensor view = base.slice(0, 0, 1);
  base.mul_(5);
  CHECK(values_of(view) == Values{10});
  view.sum().backward();
  CHECK(values_of(x.grad()) == Values{5, 0});
}

TEST_CASE("a constant base and its views get the history that is written to one view") {
  const Tensor w = leaf({3});
  const Tensor base = numbers({1, 2, 4});
  const Tensor written = base.slice(0, 0, 2), overlaps = base.slice(0, 1, 3), apart = base.slice(0, 2, 3);
  CHECK_FALSE(overlaps.requires_grad());
  written.mul_(w);
  CHECK(base.requires_grad());
  CHECK(overlaps.requires_grad());
  overlaps.sum().backward({}, true);
  CHECK(values_of(w.grad()) == Values{2});
  apart.sum().backward({}, true);
  CHECK(values_of(w.grad()) == Values{2});
  base.sum().backward();
  CHECK(values_of(w.grad()) == Values{5});
}

TEST_CASE("a chain of views is a view of the first base") {
  const Tensor x = leaf({1, 2, 3, 4}), w = leaf({10});
  const Tensor base = x * 1;
  const Tensor square = base.view({2, 2});
  const Tensor turned = square.transpose(0, 1);
  const Tensor row = turned.select(0, 1);
  CHECK(autograd::view_base(row).is_same(base));
  row.select(0, 0).mul_(w[0]);
  CHECK(values_of(base) == Values{1, 20, 3, 4});
  CHECK(values_of(turned) == Values{1, 3, 20, 4});
  (turned * turned).sum().backward();
  CHECK(values_of(x.grad()) == Values{2, 400, 6, 8});
  CHECK(values_of(w.grad()) == Values{80});
}

TEST_CASE("changes through several views follow each other") {
  const Tensor x = leaf({1, 1, 1});
  const Tensor base = x * 1;
  const Tensor left = base.slice(0, 0, 2), right = base.slice(0, 1, 3);
  left.mul_(2);
  right.mul_(3);
  base.mul_(5);
  left.mul_(7);
  CHECK(values_of(base) == Values{70, 210, 15});
  base.sum().backward();
  CHECK(values_of(x.grad()) == Values{70, 210, 15});
}

TEST_CASE("a slice that is copied to takes its gradient from the source, the rest from the base") {
  const Tensor x = leaf({1, 2, 3}), y = leaf({10, 20});
  const Tensor base = x * 1;
  base.slice(0, 1, 3).copy_(y * 2);
  CHECK(values_of(base) == Values{1, 20, 40});
  (base * numbers({1, 10, 100})).sum().backward();
  CHECK(values_of(x.grad()) == Values{1, 0, 0});
  CHECK(values_of(y.grad()) == Values{20, 200});
}

TEST_CASE("a source that is broadcast into a slice gets the sum of its gradients") {
  const Tensor y = leaf({7});
  const Tensor base = zeros({2, 3}, kDouble);
  base.select(0, 1).copy_(y);
  (base * numbers({1, 10, 100})).sum().backward();
  CHECK(values_of(y.grad()) == Values{111});
}

TEST_CASE("the gradient of a gradient goes through a changed view") {
  const Tensor x = leaf({2, 3});
  const Tensor base = x * 1;
  const Tensor part = base.slice(0, 0, 1);
  part.mul_(part.clone());
  const Tensor y = (base * base).sum();
  const Tensor first = autograd::grad({y}, {x}, {}, false, true)[0];
  CHECK(values_of(first) == Values{32, 6});
  first.sum().backward();
  CHECK(values_of(x.grad()) == Values{48, 2});
}

TEST_CASE("a view that was saved notices a change of its base, and a base one of its view") {
  const Tensor x = leaf({2, 3});
  const Tensor base = x * 1;
  const Tensor view = base.slice(0, 0, 1);
  const Tensor of_view = view * view, of_base = base * base;
  base.slice(0, 1, 2).mul_(2);
  CHECK(lacks(error_of([&] { of_base.sum().backward(); }), {"MulBackward0", "changed in place"}) == "");
  CHECK(lacks(error_of([&] { of_view.sum().backward(); }), {"MulBackward0", "changed in place"}) == "");
}

// --- Views that cannot follow

TEST_CASE("one of several views of a call is not changed in place where gradients are recorded") {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor base = x * 1;
  for (const Tensor& view : {base.unbind()[0], base.chunk(2)[0], base.split(2)[1], base.split_with_sizes({1, 3})[1]}) {
    CHECK(lacks(error_of([&] { view.mul_(2); }), {"mul_", "several views"}) == "");
    CHECK(lacks(error_of([&] { view.view({-1}).mul_(2); }), {"mul_", "several views"}) == "");
  }
  CHECK(values_of(base) == Values{1, 2, 3, 4});
  base.sum().backward();
  CHECK(values_of(x.grad()) == Values{1, 1, 1, 1});
  // Without a gradient they are views like others.
  const Tensor constant = numbers({1, 2});
  constant.unbind()[0].mul_(5);
  CHECK(values_of(constant) == Values{5, 2});
}

TEST_CASE("one of several views says that it cannot follow a change of its base") {
  const Tensor x = leaf({1, 2});
  const Tensor base = x * 1;
  const Tensor part = base.unbind()[0];
  base.mul_(2);
  CHECK(lacks(error_of([&] { (void)(part * 1); }), {"base of a view", "several views", "make the view again"}) == "");
}

TEST_CASE("a view made under no_grad is not changed in place where gradients are recorded") {
  const Tensor x = leaf({1, 2});
  const Tensor base = x * 1;
  Tensor view;
  {
    const NoGradGuard no_grad;
    view = base.slice(0, 0, 1);
    CHECK_FALSE(view.requires_grad());
    view.mul_(10);
  }
  CHECK(values_of(base) == Values{10, 2});
  CHECK(lacks(error_of([&] { view.mul_(x[0]); }), {"mul_", "under no_grad"}) == "");
  CHECK(lacks(error_of([&] { view.select(0, 0).mul_(x[0]); }), {"mul_", "under no_grad"}) == "");
  CHECK(values_of(base) == Values{10, 2});
  base.sum().backward();
  CHECK(values_of(x.grad()) == Values{1, 1});
}

TEST_CASE("a view with a history that is changed under no_grad keeps it, and so does its base") {
  const Tensor x = leaf({1, 2});
  const Tensor base = x * 3;
  const Tensor view = base.slice(0, 0, 1);
  {
    const NoGradGuard no_grad;
    view.mul_(10);
  }
  CHECK(values_of(base) == Values{30, 6});
  (base.sum() + view.sum()).backward();
  CHECK(values_of(x.grad()) == Values{6, 3});
}

TEST_CASE("a detached tensor's view belongs to it alone") {
  const Tensor x = leaf({1, 2});
  const Tensor base = x * 3;
  const Tensor cut = base.detach();
  cut.slice(0, 0, 1).mul_(10);
  CHECK(values_of(base) == Values{30, 6});
  CHECK_FALSE(cut.requires_grad());
  base.sum().backward();
  CHECK(values_of(x.grad()) == Values{3, 3});
}

TEST_CASE("a view and what it is of are told apart from tensors that are neither") {
  const Tensor x = leaf({1, 2});
  const Tensor base = x * 1;
  CHECK_FALSE(autograd::is_view(base));
  CHECK(autograd::is_view(base.slice(0, 0, 1)));
  CHECK_FALSE(autograd::is_view(base.detach()));
  CHECK_FALSE(autograd::is_view(base.clone()));
  CHECK_FALSE(autograd::view_base(base).defined());
}
