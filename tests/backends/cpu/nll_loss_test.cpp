#include <keyway/backends/cpu/kernels_loss.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr std::int64_t kIgnored = -100;

struct LossCase {
  TensorBase x, target, weight;
  std::vector<double> xs, targets, weights;
  std::size_t rows, classes;
};

LossCase random_case(Rng& rng, ScalarType dtype, bool weighted) {
  const std::int64_t rows = random_int(rng, 0, 40), classes = random_int(rng, 1, 33);
  LossCase c;
  c.x = random_reals(rng, {rows, classes}, dtype);
  c.target = random_integers(rng, {rows}, kLong, 0, classes - 1);
  for (std::int64_t i = 0; i < rows; i += 5) element<std::int64_t>(c.target, {i}) = kIgnored;
  if (weighted) c.weight = random_reals(rng, {classes}, dtype, 0.5, 2);
  c.xs = values_of(c.x);
  c.targets = values_of(c.target);
  c.weights = weighted ? values_of(c.weight) : std::vector<double>(static_cast<std::size_t>(classes), 1);
  c.rows = static_cast<std::size_t>(rows);
  c.classes = static_cast<std::size_t>(classes);
  return c;
}

}  // namespace

TEST_CASE("nll_loss and its gradient are right for every reduction, with and without weights") {
  Rng rng(1);
  for (int round = 0; round < 120; ++round) {
    const ScalarType dtype = kFloatings[round % 4];
    const std::int64_t reduction = round % 3;
    const LossCase c = random_case(rng, dtype, round % 2 == 0);
    std::vector<double> each(c.rows, 0), slope(c.xs.size(), 0);
    double loss = 0, total = 0;
    for (std::size_t i = 0; i < c.rows; ++i) {
      if (c.targets[i] == kIgnored) continue;
      const auto t = static_cast<std::size_t>(c.targets[i]);
      each[i] = -c.xs[i * c.classes + t] * c.weights[t];
      loss += each[i];
      total += c.weights[t];
    }
    const auto rows = static_cast<std::int64_t>(c.rows);
    TensorBase out = random_out(rng, reduction == 0 ? Sizes{rows} : Sizes{}, dtype);
    TensorBase weight = make_tensor({}, dtype, DeviceType::CPU);
    cpu::nll_loss_forward(c.x, c.target, c.weight, reduction, kIgnored, out, weight);
    const double divisor = reduction == 1 ? total : 1;
    if (reduction == 0) {
      REQUIRE(all_close(out, each, tolerance_of(dtype)));
      REQUIRE(value_at(weight, {}) == 0);
    } else {
      REQUIRE(close(value_at(out, {}), loss / divisor, tolerance_of(dtype)));
      REQUIRE(close(value_at(weight, {}), total, tolerance_of(dtype)));
    }
    const TensorBase g = random_reals(rng, reduction == 0 ? Sizes{rows} : Sizes{}, dtype);
    const std::vector<double> gs = values_of(g);
    for (std::size_t i = 0; i < c.rows; ++i) {
      if (c.targets[i] == kIgnored) continue;
      const auto t = static_cast<std::size_t>(c.targets[i]);
      slope[i * c.classes + t] = -c.weights[t] * gs[reduction == 0 ? i : 0] / divisor;
    }
    TensorBase grad = random_out(rng, sizes_of(c.x), dtype);
    cpu::nll_loss_backward(g, c.x, c.target, c.weight, reduction, kIgnored, weight, grad);
    REQUIRE(all_close(grad, slope, 2 * tolerance_of(dtype)));
  }
}

TEST_CASE("nll_loss refuses targets out of range, and says which") {
  const TensorBase x = tensor_of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  TensorBase out = tensor_of<float>({2}, {7, 7}), weight = tensor_of<float>({}, {7});
  for (const std::int64_t bad : {std::int64_t{3}, std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    const TensorBase target = tensor_of<std::int64_t>({2}, {0, bad});
    CHECK(error_of([&] { cpu::nll_loss_forward(x, target, {}, 0, kIgnored, out, weight); }) ==
          "argument 'target' has " + std::to_string(bad) +
              " at position 1, but must be in [0, 3) or ignore_index, -100");
    CHECK(all_close(out, {7, 7}, 0));
  }
}

TEST_CASE("the mean of no losses is NaN, and their sum 0") {
  const TensorBase x = tensor_of<float>({1, 2}, {1, 2}), target = tensor_of<std::int64_t>({1}, {kIgnored});
  TensorBase out = make_tensor({}, kFloat, DeviceType::CPU), weight = make_tensor({}, kFloat, DeviceType::CPU);
  cpu::nll_loss_forward(x, target, {}, 1, kIgnored, out, weight);
  CHECK(std::isnan(value_at(out, {})));
  cpu::nll_loss_forward(x, target, {}, 2, kIgnored, out, weight);
  CHECK(value_at(out, {}) == 0);
}

TEST_CASE("one gradient for all rows may have a dimension") {
  const TensorBase x = tensor_of<float>({3, 2}, {1, 2, 3, 4, 5, 6}), target = tensor_of<std::int64_t>({3}, {1, 0, 1});
  // What lies behind the one that is given is no gradient.
  const TensorBase g = make_view(tensor_of<float>({3}, {2, 100, 100}), {1}, {1}, 0), weight = tensor_of<float>({}, {3});
  TensorBase grad = make_tensor({3, 2}, kFloat, DeviceType::CPU);
  cpu::nll_loss_backward(g, x, target, {}, 2, kIgnored, weight, grad);
  CHECK(all_close(grad, {0, -2, -2, 0, 0, -2}, 0));
}
