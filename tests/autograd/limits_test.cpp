// Derivatives where a formula divides by 0, inverts or takes a logarithm of it, though the limit is there. Numbers are
// those of textbooks.
#include <keyway/autograd/engine.h>
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <functional>

using namespace keyway;
using namespace keyway::testing;

namespace {

Tensor matrix(std::int64_t n, const Values& values) { return numbers(values).reshape({n, n}).detach(); }

// Values are near others: the first that is not, or "".
std::string differs(const Tensor& got, const Values& wanted) {
  const Values values = values_of(got);
  if (values.size() != wanted.size()) return std::to_string(values.size()) + " values";
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!(std::abs(values[i] - wanted[i]) <= 1e-9 * (1 + std::abs(wanted[i]))))
      return std::to_string(values[i]) + " at " + std::to_string(i) + ", not " + std::to_string(wanted[i]);
  }
  return "";
}

// f and its first derivatives at each x, by as many backwards.
std::vector<Tensor> derivatives(const std::function<Tensor(const Tensor&)>& f, const Values& at, int count) {
  const Tensor x = leaf(at);
  std::vector<Tensor> all = {f(x)};
  for (int i = 0; i < count; ++i) all.push_back(autograd::grad({all.back().sum()}, {x}, {}, true, true)[0]);
  return all;
}

}  // namespace

TEST_CASE("the gradient of a singular matrix's determinant is its cofactors, and has a gradient") {
  const Tensor A = matrix(2, {1, 2, 2, 4}).requires_grad_();
  const Tensor cofactors = autograd::grad({linalg_det(A)}, {A}, {}, true, true)[0];
  CHECK(differs(cofactors, {4, -2, -2, 1}) == "");
  // The cofactors are [[d, -c], [-b, a]].
  const Tensor weights = matrix(2, {1, 10, 100, 1000});
  CHECK(differs(autograd::grad({(cofactors * weights).sum()}, {A})[0], {1000, -100, -10, 1}) == "");
}

TEST_CASE("the determinant of a matrix of rank n - 2 or less has its second and third derivative") {
  // det of 3 x 3 zeros: every second derivative is 0; the third of a, e, i, the diagonal, is 1.
  const Tensor A = matrix(3, Values(9, 0)).requires_grad_();
  const Tensor first = autograd::grad({linalg_det(A)}, {A}, {}, true, true)[0];
  CHECK(differs(first, Values(9, 0)) == "");
  const Tensor second = autograd::grad({first.select(0, 0).select(0, 0)}, {A}, {}, true, true)[0];
  CHECK(differs(second, Values(9, 0)) == "");
  const Tensor third = autograd::grad({second.select(0, 1).select(0, 1)}, {A})[0];
  CHECK(differs(third, {0, 0, 0, 0, 0, 0, 0, 0, 1}) == "");
  // Rank 1: the cofactors are 0, and that of element (0, 0), e i - f h, changes with e by i.
  const Tensor ones = matrix(3, Values(9, 1)).requires_grad_();
  const Tensor none = autograd::grad({linalg_det(ones)}, {ones}, {}, true, true)[0];
  CHECK(differs(none, Values(9, 0)) == "");
  CHECK(differs(autograd::grad({none.select(0, 0).select(0, 0)}, {ones})[0], {0, 0, 0, 0, 1, -1, 0, -1, 1}) == "");
}

TEST_CASE("singular and other matrices of one batch have determinants with second derivatives") {
  const Tensor A = numbers({1, 2, 2, 4, 1, 2, 3, 4}).reshape({2, 2, 2}).detach().requires_grad_();
  const Tensor first = autograd::grad({linalg_det(A).sum()}, {A}, {}, true, true)[0];
  CHECK(differs(first, {4, -2, -2, 1, 4, -3, -2, 1}) == "");
  const Tensor second = autograd::grad({(first * matrix(2, {1, 10, 100, 1000})).sum()}, {A})[0];
  CHECK(differs(second, {1000, -100, -10, 1, 1000, -100, -10, 1}) == "");
}

TEST_CASE("the gradient of logcumsumexp is linear in what comes to it, at 0 too") {
  const Tensor x = leaf({.3, 1, -.5}), v = leaf({0, 1, 2});
  const Tensor grad = autograd::grad({logcumsumexp(x, 0)}, {x}, {v}, true, true)[0];
  // Result i takes exp(x_k) / (exp(x_0) + ... + exp(x_i)) from x_k: what a change of v_i adds to grad_k.
  const double a = std::exp(.3), b = std::exp(1.), c = std::exp(-.5);
  CHECK(differs(grad, {a / (a + b) + 2 * a / (a + b + c), b / (a + b) + 2 * b / (a + b + c), 2 * c / (a + b + c)}) ==
        "");
  CHECK(differs(autograd::grad({grad.select(0, 0)}, {v}, {}, true)[0], {1, a / (a + b), a / (a + b + c)}) == "");
  CHECK(differs(autograd::grad({grad.select(0, 2)}, {v}, {}, true)[0], {0, 0, c / (a + b + c)}) == "");
  // d/dx_2 of grad_2 = 2 p, with p = c / (a + b + c), is 2 p (1 - p).
  const double p = c / (a + b + c);
  CHECK(differs(autograd::grad({grad.select(0, 2)}, {x})[0],
                {-2 * p * a / (a + b + c), -2 * p * b / (a + b + c), 2 * p * (1 - p)}) == "");
}

TEST_CASE("ties that a float16 cannot count share the gradient of an extremum") {
  for (const auto& extremum : {+[](const Tensor& x) { return x.amax(); }, +[](const Tensor& x) { return x.max(); },
                               +[](const Tensor& x) { return x.amin(); }, +[](const Tensor& x) { return x.min(); }}) {
    const Tensor x = ones({70000}, kHalf).requires_grad_();
    extremum(x).backward();
    // 1 / 70000 is 239.67 times the smallest float16, 2^-24.
    CHECK(x.grad().eq(240 * std::pow(2., -24)).all().item().to<bool>());
  }
}

TEST_CASE("sinc has its derivatives at 0 and beside it") {
  // sin(pi x) / (pi x) = 1 - (pi x)^2 / 6 + (pi x)^4 / 120 - ...
  const double square = std::pow(std::acos(-1.), 2), x = 1e-8;
  const std::vector<Tensor> d = derivatives([](const Tensor& at) { return sinc(at); }, {0, x, 1}, 4);
  CHECK(differs(d[0], {1, 1, 0}) == "");
  CHECK(differs(d[1] / numbers({1, x, 1}), {0, -square / 3, -1}) == "");
  CHECK(differs(d[2], {-square / 3, -square / 3, 2}) == "");
  CHECK(differs(d[3] / numbers({1, x, 1}), {0, square * square / 5, square - 6}) == "");
  CHECK(differs(d[4].slice(0, 0, 2), {square * square / 5, square * square / 5}) == "");
}

TEST_CASE("Bessel functions have their derivatives at 0 and beside it") {
  // I0(x) = 1 + x^2 / 4 + x^4 / 64 + ..., I1(x) = x / 2 + x^3 / 16 + x^5 / 384 + ...
  const double x = 1e-8;
  const Tensor by = numbers({1, x});
  const std::vector<Tensor> zero = derivatives([](const Tensor& at) { return i0(at); }, {0, x}, 5);
  CHECK(differs(zero[1] / by, {0, .5}) == "");
  CHECK(differs(zero[2], {.5, .5}) == "");
  CHECK(differs(zero[3] / by, {0, .375}) == "");
  CHECK(differs(zero[4], {.375, .375}) == "");
  const std::vector<Tensor> one = derivatives([](const Tensor& at) { return special_i1(at); }, {0, x}, 5);
  CHECK(differs(one[1], {.5, .5}) == "");
  CHECK(differs(one[2] / by, {0, .375}) == "");
  CHECK(differs(one[3], {.375, .375}) == "");
  CHECK(differs(one[4] / by, {0, .3125}) == "");
  CHECK(differs(one[5], {.3125, .3125}) == "");
  // exp(-x) I1(x) = x / 2 - x^2 / 2 + 5 x^3 / 16 - ... beside 0.
  const std::vector<Tensor> scaled = derivatives([](const Tensor& at) { return special_i1e(at); }, {x, -x}, 3);
  CHECK(differs(scaled[1], {.5 - x, .5 - x}) == "");
  CHECK(differs(scaled[2] + numbers({-1.875 * x, 1.875 * x}), {-1, 1}) == "");
  CHECK(std::abs(values_of(scaled[3])[0] - 1.875) < 1e-6);
}

TEST_CASE("a power whose exponent is a tensor has derivatives of every order at 0") {
  const std::vector<Tensor> d = derivatives(
      [](const Tensor& x) {
        return pow(x, numbers({0, 1, 2, 3}));
      },
      {0, 0, 0, 0}, 4);
  CHECK(differs(d[1], {0, 1, 0, 0}) == "");
  CHECK(differs(d[2], {0, 0, 2, 0}) == "");
  CHECK(differs(d[3], {0, 0, 0, 6}) == "");
  CHECK(differs(d[4], {0, 0, 0, 0}) == "");
}
