#include <keyway/backends/cpu/kernels_loss.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr std::int64_t kIgnored = -100;

struct Row {
  double top, log_sum;
};

Row normalizer_of(const std::vector<double>& xs, std::size_t begin, std::size_t classes) {
  const auto first = xs.begin() + static_cast<std::ptrdiff_t>(begin),
             last = first + static_cast<std::ptrdiff_t>(classes);
  const double top = *std::max_element(first, last);
  double sum = 0;
  for (auto x = first; x != last; ++x) sum += std::exp(*x - top);
  return {top, std::log(sum)};
}

struct Results {
  TensorBase output, total_weight, normalizer;
};

Results forward(const TensorBase& x, const TensorBase& target, const TensorBase& weight, std::int64_t reduction) {
  const std::int64_t rows = target.numel();
  const ScalarType wide = x.dtype() == kDouble ? kDouble : kFloat;
  const bool each = reduction == 0 && x.dim() == 2;
  Results r{make_tensor(each ? Sizes{rows} : Sizes{}, x.dtype(), DeviceType::CPU),
            make_tensor({}, x.dtype(), DeviceType::CPU),
            make_tensor(x.dim() == 2 ? Sizes{rows, 2} : Sizes{2}, wide, DeviceType::CPU)};
  cpu::_cross_entropy_forward(x, target, weight, reduction, kIgnored, r.output, r.total_weight, r.normalizer);
  return r;
}

}  // namespace

TEST_CASE("cross entropy of classes and its gradient are right for every reduction, with and without weights") {
  Rng rng(1);
  for (int round = 0; round < 160; ++round) {
    const ScalarType dtype = kFloatings[round % 4];
    const std::int64_t reduction = round % 3, rows = random_int(rng, 0, 20);
    const std::int64_t classes = random_int(rng, 1, round % 8 == 0 ? 5000 : 70);
    INFO(to_string(dtype) << ", reduction " << reduction << ", " << rows << " rows of " << classes);
    const auto n = static_cast<std::size_t>(classes);
    const TensorBase x = random_reals(rng, {rows, classes}, dtype),
                     target = random_integers(rng, {rows}, kLong, 0, classes - 1);
    for (std::int64_t i = 0; i < rows; i += 5) element<std::int64_t>(target, {i}) = kIgnored;
    const TensorBase weight = round % 2 == 0 ? random_reals(rng, {classes}, dtype, 0.5, 2) : TensorBase();
    const std::vector<double> xs = values_of(x), targets = values_of(target);
    const std::vector<double> weights = weight.defined() ? values_of(weight) : std::vector<double>(n, 1);
    const Results r = forward(x, target, weight, reduction);

    std::vector<double> each(targets.size(), 0), pairs;
    double loss = 0, total = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Row row = normalizer_of(xs, i * n, n);
      pairs.insert(pairs.end(), {row.top, row.log_sum});
      if (targets[i] == kIgnored) continue;
      const auto t = static_cast<std::size_t>(targets[i]);
      each[i] = (row.top + row.log_sum - xs[i * n + t]) * weights[t];
      loss += each[i];
      total += weights[t];
    }
    const double tolerance = tolerance_of(dtype), divisor = reduction == 1 ? total : 1;
    REQUIRE(all_close(r.normalizer, pairs, tolerance));
    if (reduction == 0) {
      REQUIRE(all_close(r.output, each, tolerance));
      REQUIRE(value_at(r.total_weight, {}) == 0);
    } else {
      REQUIRE(close(value_at(r.output, {}), loss / divisor, tolerance));
      REQUIRE(close(value_at(r.total_weight, {}), total, tolerance));
    }

    const TensorBase g = random_reals(rng, reduction == 0 ? Sizes{rows} : Sizes{}, dtype);
    const std::vector<double> gs = values_of(g);
    std::vector<double> slope(xs.size(), 0);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] == kIgnored) continue;
      const auto t = static_cast<std::size_t>(targets[i]);
      const double scale = weights[t] * gs[reduction == 0 ? i : 0] / divisor;
      for (std::size_t c = 0; c < n; ++c) {
        const double p = std::exp(xs[i * n + c] - pairs[2 * i] - pairs[2 * i + 1]);
        slope[i * n + c] = scale * (c == t ? p - 1 : p);
      }
    }
    TensorBase grad = random_out(rng, sizes_of(x), dtype);
    cpu::_cross_entropy_backward(g, x, target, weight, reduction, kIgnored, r.total_weight, r.normalizer, grad);
    REQUIRE(all_close(grad, slope, 4 * tolerance));
  }
}

TEST_CASE("cross entropy of large logits keeps the digits of the loss, and of infinite ones it is what softmax says") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const TensorBase target = tensor_of<std::int64_t>({}, {1});
  const auto loss_of = [&](std::initializer_list<float> logits) {
    return value_at(forward(tensor_of<float>({static_cast<std::int64_t>(logits.size())}, logits), target, {}, 1).output,
                    {});
  };
  CHECK(close(loss_of({30000, 30000}), std::log(2.0), 1e-6));
  CHECK(close(loss_of({30001, 30000}), std::log1p(std::exp(1.0)), 1e-6));
  const auto infinity = static_cast<float>(inf);
  CHECK(close(loss_of({-infinity, 0, 0}), std::log(2.0), 1e-6));
  CHECK(loss_of({0, -infinity}) == inf);
  CHECK(std::isnan(loss_of({-infinity, -infinity})));
  CHECK(std::isnan(loss_of({0, infinity})));
  CHECK(std::isnan(loss_of({static_cast<float>(nan), 0})));
}

TEST_CASE("cross entropy refuses targets out of range before it writes anything") {
  const TensorBase x = tensor_of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const std::int64_t bad : {std::int64_t{3}, std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    const TensorBase target = tensor_of<std::int64_t>({2}, {0, bad});
    const std::string wanted =
        "argument 'target' has " + std::to_string(bad) + " at position 1, but must be in [0, 3) or ignore_index, -100";
    TensorBase out = tensor_of<float>({2}, {7, 7}), total = tensor_of<float>({}, {7});
    TensorBase pairs = tensor_of<float>({2, 2}, {7, 7, 7, 7}), grad = tensor_of<float>({2, 3}, {7, 7, 7, 7, 7, 7});
    CHECK(error_of([&] { cpu::_cross_entropy_forward(x, target, {}, 0, kIgnored, out, total, pairs); }) == wanted);
    CHECK(error_of([&] { cpu::_cross_entropy_backward(out, x, target, {}, 0, kIgnored, total, pairs, grad); }) ==
          wanted);
    CHECK(all_close(out, {7, 7}, 0));
    CHECK(all_close(pairs, {7, 7, 7, 7}, 0));
    CHECK(all_close(grad, {7, 7, 7, 7, 7, 7}, 0));
  }
}

TEST_CASE("cross entropy reads logits of any strides, and one gradient for all rows") {
  const TensorBase base = tensor_of<float>({3, 4}, {0, 1, 2, 9, 3, 5, 4, 9, 8, 6, 7, 9});
  const TensorBase x = make_view(base, {3, 3}, {1, 4}, 0),
                   dense = tensor_of<float>({3, 3}, {0, 3, 8, 1, 5, 6, 2, 4, 7});
  const TensorBase target = tensor_of<std::int64_t>({3}, {2, 0, 1});
  const Results r = forward(x, target, {}, 2), expected = forward(dense, target, {}, 2);
  CHECK(value_at(r.output, {}) == value_at(expected.output, {}));
  // What lies behind the one that is given is no gradient.
  const TensorBase g = make_view(tensor_of<float>({3}, {2, 100, 100}), {1}, {1}, 0);
  TensorBase grad = make_tensor({3, 3}, kFloat, DeviceType::CPU), wanted = make_tensor({3, 3}, kFloat, DeviceType::CPU);
  cpu::_cross_entropy_backward(g, x, target, {}, 2, kIgnored, r.total_weight, r.normalizer, grad);
  cpu::_cross_entropy_backward(tensor_of<float>({}, {2}), dense, target, {}, 2, kIgnored, r.total_weight, r.normalizer,
                               wanted);
  CHECK(all_close(grad, values_of(wanted), 0));
}
