#include <keyway/backends/cpu/decaying_exp.h>
#include <keyway/backends/cpu/kernels_softmax.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Calls f(elements) for each line of a shape along `dim`; `elements` are offsets in row-major order.
template <typename F>
void each_line(const Sizes& sizes, std::int64_t dim, const F& f) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  const std::int64_t n = sizes.empty() ? 1 : sizes[static_cast<std::size_t>(dim)];
  const std::int64_t step = sizes.empty() ? 1 : strides[static_cast<std::size_t>(dim)];
  each_index(sizes, [&](const Sizes& index) {
    if (!index.empty() && index[static_cast<std::size_t>(dim)] != 0) return;
    std::int64_t first = 0;
    for (std::size_t d = 0; d < index.size(); ++d) first += index[d] * strides[d];
    std::vector<std::size_t> elements;
    for (std::int64_t i = 0; i < n; ++i) elements.push_back(static_cast<std::size_t>(first + i * step));
    f(elements);
  });
}

std::vector<double> softmax_reference(const std::vector<double>& x, const Sizes& sizes, std::int64_t dim, bool log) {
  std::vector<double> out(x.size());
  each_line(sizes, dim, [&](const std::vector<std::size_t>& line) {
    double top = -INFINITY, sum = 0;
    for (const std::size_t i : line) top = std::max(top, x[i]);
    for (const std::size_t i : line) sum += std::exp(x[i] - top);
    for (const std::size_t i : line) out[i] = log ? x[i] - top - std::log(sum) : std::exp(x[i] - top) / sum;
  });
  return out;
}

std::vector<double> backward_reference(const std::vector<double>& g, const std::vector<double>& y, const Sizes& sizes,
                                       std::int64_t dim, bool log) {
  std::vector<double> out(g.size());
  each_line(sizes, dim, [&](const std::vector<std::size_t>& line) {
    double sum = 0;
    for (const std::size_t i : line) sum += log ? g[i] : g[i] * y[i];
    for (const std::size_t i : line) out[i] = log ? g[i] - std::exp(y[i]) * sum : (g[i] - sum) * y[i];
  });
  return out;
}

std::int64_t random_dim(Rng& rng, const Sizes& sizes) {
  return sizes.empty() ? 0 : random_int(rng, 0, static_cast<std::int64_t>(sizes.size()) - 1);
}

}  // namespace

TEST_CASE("softmax and its logarithm are right along any dimension of any strides") {
  Rng rng(1);
  for (int round = 0; round < 150; ++round) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 0, 4));
    const std::int64_t dim = random_dim(rng, sizes);
    const ScalarType dtype = kFloatings[round % 4];
    const TensorBase x = random_reals(rng, sizes, dtype);
    TensorBase out = random_out(rng, sizes, dtype);
    cpu::_softmax(x, dim, false, out);
    REQUIRE(all_close(out, softmax_reference(values_of(x), sizes, dim, false), tolerance_of(dtype)));
    cpu::_log_softmax(x, dim, false, out);
    REQUIRE(all_close(out, softmax_reference(values_of(x), sizes, dim, true), tolerance_of(dtype)));
  }
}

TEST_CASE("half_to_float keeps the accuracy of float32") {
  Rng rng(2);
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    for (const std::int64_t dim : {0, 1}) {
      const TensorBase x = random_reals(rng, {33, 70}, dtype);
      TensorBase out = make_tensor({33, 70}, kFloat, DeviceType::CPU);
      cpu::_softmax(x, dim, true, out);
      REQUIRE(all_close(out, softmax_reference(values_of(x), {33, 70}, dim, false), tolerance_of(kFloat)));
      cpu::_log_softmax(x, dim, true, out);
      REQUIRE(all_close(out, softmax_reference(values_of(x), {33, 70}, dim, true), tolerance_of(kFloat)));
    }
  }
}

TEST_CASE("gradients of softmax and its logarithm are right") {
  Rng rng(3);
  for (int round = 0; round < 100; ++round) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 0, 4));
    const std::int64_t dim = random_dim(rng, sizes);
    const ScalarType dtype = kFloatings[round % 4];
    const TensorBase g = random_reals(rng, sizes, dtype), y = random_reals(rng, sizes, dtype, -2, 0);
    TensorBase out = random_out(rng, sizes, dtype);
    double scale = 1;
    for (const std::int64_t size : sizes) scale = std::max(scale, static_cast<double>(size));
    cpu::_softmax_backward_data(g, y, dim, dtype, out);
    REQUIRE(
        all_close(out, backward_reference(values_of(g), values_of(y), sizes, dim, false), scale * tolerance_of(dtype)));
    cpu::_log_softmax_backward_data(g, y, dim, dtype, out);
    REQUIRE(
        all_close(out, backward_reference(values_of(g), values_of(y), sizes, dim, true), scale * tolerance_of(dtype)));
  }
}

TEST_CASE("softmax of infinities and NaN is what the definition says") {
  const double inf = INFINITY, nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<double>& line : {std::vector<double>{-inf, 0, 1},
                                          {-inf, -inf, -inf},
                                          {inf, 0, 1},
                                          {nan, 0, 1},
                                          {1000, 999, -1000},
                                          {-1000, -1001, -90000}}) {
    const TensorBase x = tensor_of<double>({3}, line);
    TensorBase out = make_tensor({3}, kDouble, DeviceType::CPU);
    cpu::_softmax(x, 0, false, out);
    double top = -inf, sum = 0;
    for (const double v : line) top = std::max(top, v);
    std::vector<double> expected;
    for (const double v : line) sum += std::exp(v - top);
    for (const double v : line) expected.push_back(std::exp(v - top) / sum);
    CHECK(all_close(out, expected, 1e-12));
    const TensorBase narrow = tensor_of<float>({3}, std::vector<float>(line.begin(), line.end()));
    TensorBase result = make_tensor({3}, kFloat, DeviceType::CPU);
    cpu::_softmax(narrow, 0, false, result);
    CHECK(all_close(result, expected, 1e-6));
  }
}

TEST_CASE("softmax gives the same bits at every level and with any number of threads") {
  Rng rng(4);
  const TensorBase x = random_reals(rng, {70, 1031}, kFloat);
  for (const std::int64_t dim : {0, 1}) {
    std::vector<char> first;
    for (const int threads : {1, 3}) {
      const WithThreads with(threads);
      at_each_loop_level([&] {
        TensorBase out = make_tensor({70, 1031}, kFloat, DeviceType::CPU);
        cpu::_softmax(x, dim, false, out);
        if (first.empty()) first = storage_bytes(out);
        CHECK(storage_bytes(out) == first);
      });
    }
  }
}

TEST_CASE("decaying_exp is within 2 ulp of the exponential") {
  double worst = 0;
  for (float x = 0; x > -87.0f; x -= 0.00037f) {
    const double exact = std::exp(static_cast<double>(x));
    const auto rounded = static_cast<float>(exact);
    const double ulp = std::nextafter(rounded, INFINITY) - rounded;
    worst = std::max(worst, std::abs(decaying_exp(x) - exact) / ulp);
  }
  CHECK(worst < 2);
  for (float x = -87.0f; x > -110.0f; x -= 0.01f) {
    REQUIRE(std::abs(decaying_exp(x) - std::exp(static_cast<double>(x))) <= 0x1p-148);
  }
  CHECK(decaying_exp(0.0f) == 1.0f);
  CHECK(decaying_exp(-INFINITY) == 0.0f);
  CHECK(std::isnan(decaying_exp(std::numeric_limits<float>::quiet_NaN())));
}
