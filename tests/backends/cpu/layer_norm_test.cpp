#include <keyway/backends/cpu/kernels_normalization.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

struct Reference {
  std::vector<double> out, mean, rstd;
};

Reference layer_norm(const std::vector<double>& x, std::size_t width, const std::vector<double>& weight,
                     const std::vector<double>& bias, double eps) {
  Reference r;
  for (std::size_t begin = 0; width > 0 && begin < x.size(); begin += width) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < width; ++i) mean += x[begin + i];
    mean /= static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i) variance += (x[begin + i] - mean) * (x[begin + i] - mean);
    const double rstd = 1 / std::sqrt(variance / static_cast<double>(width) + eps);
    r.mean.push_back(mean);
    r.rstd.push_back(rstd);
    for (std::size_t i = 0; i < width; ++i) {
      r.out.push_back((x[begin + i] - mean) * rstd * (weight.empty() ? 1 : weight[i]) + (bias.empty() ? 0 : bias[i]));
    }
  }
  return r;
}

ScalarType statistics_of(ScalarType dtype) { return dtype == kDouble ? kDouble : kFloat; }

std::vector<double> values_or_none(const TensorBase& tensor) {
  return tensor.defined() ? values_of(tensor) : std::vector<double>();
}

}  // namespace

TEST_CASE("native_layer_norm is right for any strides, dtypes and tails") {
  Rng rng(1);
  for (int round = 0; round < 100; ++round) {
    const ScalarType dtype = kFloatings[round % 4], wide = statistics_of(dtype);
    const Sizes rows = random_sizes(rng, random_int(rng, 0, 2), 40);
    const Sizes inner = random_sizes(rng, random_int(rng, 1, 2), 500);
    Sizes sizes = rows, statistics = rows;
    std::size_t width = 1;
    for (const std::int64_t size : inner) {
      sizes.push_back(size);
      statistics.push_back(1);
      width *= static_cast<std::size_t>(size);
    }
    const TensorBase x = random_reals(rng, sizes, dtype);
    const TensorBase weight = round % 3 == 0 ? TensorBase() : random_reals(rng, inner, round % 2 == 0 ? dtype : wide);
    const TensorBase bias = round % 5 == 0 ? TensorBase() : random_reals(rng, inner, dtype);
    TensorBase out = random_out(rng, sizes, dtype), mean = random_out(rng, statistics, wide),
               rstd = random_out(rng, statistics, wide);
    cpu::native_layer_norm(x, inner, weight, bias, 1e-3, out, mean, rstd);
    if (width == 0) continue;
    const Reference expected = layer_norm(values_of(x), width, values_or_none(weight), values_or_none(bias), 1e-3);
    REQUIRE(all_close(out, expected.out, 4 * tolerance_of(dtype)));
    REQUIRE(all_close(mean, expected.mean, 4 * tolerance_of(wide)));
    REQUIRE(all_close(rstd, expected.rstd, 4 * tolerance_of(wide)));
  }
}

TEST_CASE("native_layer_norm_backward is the difference quotient of the forward call") {
  Rng rng(2);
  const std::size_t rows = 5, width = 7;
  const TensorBase x = random_reals(rng, {5, 7}, kDouble), g = random_reals(rng, {5, 7}, kDouble);
  const TensorBase weight = random_reals(rng, {7}, kDouble), bias = random_reals(rng, {7}, kDouble);
  const std::vector<double> xs = values_of(x), gs = values_of(g), ws = values_of(weight), bs = values_of(bias);
  const Reference forward = layer_norm(xs, width, ws, bs, 1e-3);
  const TensorBase mean = tensor_of<double>({5, 1}, forward.mean), rstd = tensor_of<double>({5, 1}, forward.rstd);
  TensorBase dx = random_out(rng, {5, 7}, kDouble), dw = random_out(rng, {7}, kDouble),
             db = random_out(rng, {7}, kDouble);
  const bool mask[] = {true, true, true};
  cpu::native_layer_norm_backward(g, x, {7}, mean, rstd, weight, bias, mask, dx, dw, db);

  const auto loss = [&](const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& c) {
    const Reference r = layer_norm(a, width, b, c, 1e-3);
    double sum = 0;
    for (std::size_t i = 0; i < r.out.size(); ++i) sum += r.out[i] * gs[i];
    return sum;
  };
  const auto slopes = [&](std::vector<double> at, const auto& of) {
    std::vector<double> out;
    for (double& v : at) {
      const double kept = v;
      v = kept + 1e-6;
      const double up = of(at);
      v = kept - 1e-6;
      out.push_back((up - of(at)) / 2e-6);
      v = kept;
    }
    return out;
  };
  CHECK(all_close(dx, slopes(xs, [&](const auto& v) { return loss(v, ws, bs); }), 1e-6));
  CHECK(all_close(dw, slopes(ws, [&](const auto& v) { return loss(xs, v, bs); }), 1e-6));
  CHECK(all_close(db, slopes(bs, [&](const auto& v) { return loss(xs, ws, v); }), 1e-6));
  CHECK(rows * width == xs.size());
}

TEST_CASE("native_layer_norm_backward leaves out what the mask leaves out, and does not depend on threads") {
  Rng rng(3);
  const TensorBase x = random_reals(rng, {1000, 65}, kFloat), g = random_reals(rng, {1000, 65}, kFloat);
  const TensorBase mean = random_reals(rng, {1000, 1}, kFloat), rstd = random_reals(rng, {1000, 1}, kFloat, 0.5, 2);
  const int threads = get_num_threads();
  std::vector<char> first;
  for (const int n : {1, 2, 5}) {
    set_num_threads(n);
    TensorBase none, dw = make_tensor({65}, kFloat, DeviceType::CPU), other;
    const bool mask[] = {false, true, false};
    cpu::native_layer_norm_backward(g, x, {65}, mean, rstd, {}, {}, mask, none, dw, other);
    if (first.empty()) first = storage_bytes(dw);
    CHECK(storage_bytes(dw) == first);
  }
  set_num_threads(threads);
}
