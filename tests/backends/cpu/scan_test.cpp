#include <keyway/backends/cpu/scan.h>
#include <keyway/tests/backends/cpu/random_tensor.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <limits>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Scans random tensors and compares each result with what `expect` makes of the elements up to it.
template <typename T, typename F, typename Expect>
void check_random(const F& functor, int cases, Expect expect) {
  Rng rng(37);
  for (int i = 0; i < campaign(cases); ++i) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 0, 5), 3000);
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const std::int64_t dim = rank == 0 ? 0 : random_int(rng, 0, rank - 1);
    const TensorBase self = random_geometry(rng, sizes, cpp_type_to_scalar_type<T>, Expand::Yes);
    fill_storage<T>(self, [&] { return small_value<T>(rng, -2, 3); });
    const TensorBase out = random_geometry(rng, sizes, cpp_type_to_scalar_type<T>);
    scan(functor, out, self, dim);
    each_index(sizes, [&](Sizes index) {
      const T result = element<T>(out, index);
      std::vector<T> line;
      const std::int64_t last = rank == 0 ? 0 : index[static_cast<std::size_t>(dim)];
      for (std::int64_t at = 0; at <= last; ++at) {
        if (rank != 0) index[static_cast<std::size_t>(dim)] = at;
        line.push_back(element<T>(self, index));
      }
      REQUIRE(result == expect(line));
    });
  }
}

}  // namespace

TEST_CASE("scans along any dimension of any geometry agree with element by element") {
  at_each_loop_level([] {
    const auto sum = [](const auto& line) {
      double total = 0;
      for (const auto x : line) total += static_cast<double>(x);
      return total;
    };
    check_random<float>(Cumsum<float>{}, 60, [&](const auto& line) { return static_cast<float>(sum(line)); });
    check_random<BFloat16>(Cumsum<BFloat16>{}, 30,
                           [&](const auto& line) { return BFloat16(static_cast<float>(sum(line))); });
    check_random<std::int64_t>(Cumsum<std::int64_t>{}, 30,
                               [&](const auto& line) { return static_cast<std::int64_t>(sum(line)); });
    check_random<double>(Cumprod<double>{}, 30, [](const auto& line) {
      double product = 1;
      for (const double x : line) product *= x;
      return product;
    });
  });
}

TEST_CASE("a scan may write where it reads") {
  const TensorBase self = make_tensor(Sizes{3, 4}, kInt, DeviceType::CPU);
  for (int i = 0; i < 12; ++i) self.data_ptr<std::int32_t>()[i] = i;
  scan(Cumsum<std::int32_t>{}, self, self, 0);
  CHECK(self.data_ptr<std::int32_t>()[11] == 3 + 7 + 11);
  scan(Cumsum<std::int32_t>{}, self, self, 1);
  CHECK(self.data_ptr<std::int32_t>()[3] == 6);
}

TEST_CASE("a running extreme keeps the last of equals, and NaN for ever") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values{1, 3, 2, 3, kNan, 5};
  const TensorBase self = make_tensor(Sizes{6}, kFloat, DeviceType::CPU);
  std::copy(values.begin(), values.end(), self.data_ptr<float>());
  const TensorBase out = make_tensor(Sizes{6}, kFloat, DeviceType::CPU);
  const TensorBase indices = make_tensor(Sizes{6}, kLong, DeviceType::CPU);
  scan(Cummax<float>{}, out, indices, self, 0);
  const std::int64_t expected[] = {0, 1, 1, 3, 4, 4};
  for (int i = 0; i < 6; ++i) CHECK(indices.data_ptr<std::int64_t>()[i] == expected[i]);
  CHECK(out.data_ptr<float>()[3] == 3);
  CHECK(std::isnan(out.data_ptr<float>()[5]));
}

TEST_CASE("logcumsumexp does not overflow") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const TensorBase self = make_tensor(Sizes{4}, kFloat, DeviceType::CPU);
  const float values[] = {-kInf, 1000, 1001, 999};
  std::copy(std::begin(values), std::end(values), self.data_ptr<float>());
  scan(Logcumsumexp<float>{}, self, self, 0);
  CHECK(self.data_ptr<float>()[0] == -kInf);
  CHECK(self.data_ptr<float>()[1] == 1000);
  CHECK(self.data_ptr<float>()[2] == Approx(1001 + std::log1p(std::exp(-1.0))));
  CHECK(self.data_ptr<float>()[3] == Approx(1001 + std::log1p(std::exp(-1.0) + std::exp(-2.0))));
}
