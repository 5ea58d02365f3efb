// In-place changes of views and of their bases: what each then depends on.
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

#include <array>
#include <cmath>

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

// --- Twice

TEST_CASE("a function that keeps its result, called in place on a view, has the second derivative of any other") {
  struct Function {
    const char* name;
    Tensor& (*call)(Tensor& x);
    double (*second)(double x);
  };
  const Function functions[] = {
      {"exp_", exp_, [](double x) { return std::exp(x); }},
      {"expm1_", expm1_, [](double x) { return std::exp(x); }},
      {"exp2_", exp2_, [](double x) { return std::exp2(x) * std::pow(std::log(2.), 2); }},
      {"sqrt_", sqrt_, [](double x) { return -0.25 * std::pow(x, -1.5); }},
      {"rsqrt_", rsqrt_, [](double x) { return 0.75 * std::pow(x, -2.5); }},
      {"reciprocal_", reciprocal_, [](double x) { return 2 / (x * x * x); }},
      {"tan_", tan_, [](double x) { return 2 * std::tan(x) / std::pow(std::cos(x), 2); }},
      {"tanh_", tanh_, [](double x) { return -2 * std::tanh(x) / std::pow(std::cosh(x), 2); }},
      {"sigmoid_", sigmoid_, [](double x) { return -0.25 * std::tanh(x / 2) / std::pow(std::cosh(x / 2), 2); }},
  };
  const Values at = {0.25, 0.5, 0.75, 1.25}, weights = {1, 10, 100, 1000};
  for (const Function& f : functions) {
    const auto second = [&](const auto& view_of) {
      const Tensor x = leaf(at);
      const Tensor base = x * 1;
      Tensor view = view_of(base);
      f.call(view);
      const Tensor first = autograd::grad({base.sum()}, {x}, {}, true, true)[0];
      return values_of(autograd::grad({(first * numbers(weights)).sum()}, {x})[0]);
    };
    INFO(f.name);
    const Values whole = second([](const Tensor& base) { return base.view({2, 2}).t(); });
    const Values row = second([](const Tensor& base) { return base.view({2, 2}).select(0, 1); });
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(whole[i] == Approx(weights[i] * f.second(at[i])));
      CHECK(row[i] == (i < 2 ? Approx(0) : Approx(weights[i] * f.second(at[i]))));
    }
  }
}

// --- Complex numbers and their parts

TEST_CASE("a change of the parts of complex numbers is one of the numbers, whichever view of them is changed") {
  const auto changed = [](const auto& change) {
    const Tensor x = leaf({1, 2, 3, 4});  // 1 + 2i, 3 + 4i
    const Tensor z = view_as_complex(x.view({2, 2})) * 1;
    change(z);
    const Tensor parts = view_as_real(z).view({-1});
    const Tensor grad = autograd::grad({(parts * numbers({1, 10, 100, 1000})).sum()}, {x}, {}, true, true)[0];
    const Tensor second =
        grad.requires_grad() ? autograd::grad({grad.sum()}, {x}, {}, false, false, true)[0] : Tensor();
    return std::array<Values, 3>{values_of(parts), values_of(grad), values_of(second)};
  };
  const auto [doubled, of_doubled, no_second] = changed([](const Tensor& z) { view_as_real(z).mul_(2); });
  CHECK(doubled == Values{2, 4, 6, 8});
  CHECK(of_doubled == Values{2, 20, 200, 2000});
  const auto [real, of_real, second_of_real] =
      changed([](const Tensor& z) { keyway::real(z).mul_(keyway::imag(z) * 1); });
  CHECK(real == Values{2, 2, 12, 4});  // a b + b i
  CHECK(of_real == Values{2, 11, 400, 1300});
  CHECK(second_of_real == Values{1, 1, 100, 100});
  const auto [imag, of_imag, second_of_imag] = changed([](const Tensor& z) { keyway::imag(z).reciprocal_(); });
  CHECK(imag == Values{1, .5, 3, .25});
  CHECK(of_imag == Values{1, -2.5, 100, -62.5});      // -10 / 4, -1000 / 16
  CHECK(second_of_imag == Values{0, 2.5, 0, 31.25});  // 2 * 10 / 8, 2 * 1000 / 64
}

TEST_CASE("a change of complex numbers is one of the real ones that they are a view of, and of the views of these") {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor base = x * 1;
  const Tensor second = base.slice(0, 1, 2);
  view_as_complex(base.view({2, 2})).mul_(complex<double>(0, 2));  // (a + b i) 2i = -2b + 2a i
  CHECK(values_of(base) == Values{-4, 2, -8, 6});
  CHECK(values_of(autograd::grad({(base * numbers({1, 10, 100, 1000})).sum()}, {x}, {}, true)[0]) ==
        Values{20, -2, 2000, -200});
  CHECK(values_of(autograd::grad({second.sum()}, {x})[0]) == Values{2, 0, 0, 0});
}

TEST_CASE("parts of complex numbers follow a change of these") {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor z = view_as_complex(x.view({2, 2})) * 1;
  const Tensor real = keyway::real(z);
  z.mul_(complex<double>(0, 2));
  CHECK(values_of(real) == Values{-4, -8});
  CHECK(values_of(autograd::grad({real.sum()}, {x})[0]) == Values{0, -2, 0, -2});
}
