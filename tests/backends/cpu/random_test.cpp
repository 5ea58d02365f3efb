#include <keyway/backends/cpu/kernels_random.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <set>

using namespace keyway;
using namespace keyway::testing;

namespace {

Generator seeded(std::uint64_t seed) {
  Generator generator;
  generator.manual_seed(seed);
  return generator;
}

TensorBase empty(const Sizes& sizes, ScalarType dtype) { return make_tensor(sizes, dtype, DeviceType::CPU); }

}  // namespace

TEST_CASE("an element of a random tensor is a function of seed, call and index") {
  const Generator generator = seeded(7);
  TensorBase first = empty({100}, kFloat), second = empty({100}, kFloat), normal = empty({100}, kDouble);
  cpu::uniform_(first, 0, 1, generator);
  cpu::uniform_(second, -2, 2, generator);
  cpu::normal_(normal, 1, 3, generator);
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto element = static_cast<std::uint64_t>(i);
    REQUIRE(value_at(first, {i}) == uniform_float(PhiloxCall{7, 0}.bits(element).words[0]));
    REQUIRE(value_at(second, {i}) == -2.0f + 4.0f * uniform_float(PhiloxCall{7, 1}.bits(element).words[0]));
    const PhiloxBlock bits = PhiloxCall{7, 2}.bits(element);
    REQUIRE(close(value_at(normal, {i}), 1 + 3 * normal_doubles(bits.wide(0), bits.wide(1)).first, 1e-15));
  }
}

TEST_CASE("random values depend neither on strides, nor on threads, nor on the instruction set") {
  const auto values = [](TensorBase x) {
    cpu::normal_(x, 0, 1, seeded(3));
    return values_of(x);
  };
  const std::vector<double> expected = values(empty({300, 200}, kFloat));
  CHECK(values(make_view(empty({60000}, kFloat), {300, 200}, {1, 300}, 0)) == expected);
  for (const int threads : {1, 2, 3}) {
    const WithThreads with(threads);
    at_each_loop_level([&] { CHECK(values(empty({300, 200}, kFloat)) == expected); });
  }
}

TEST_CASE("uniform numbers stay below their bound in every dtype, and fill the interval evenly") {
  for (const ScalarType dtype : kFloatings) {
    TensorBase x = empty({40000}, dtype);
    cpu::uniform_(x, 1, 3, seeded(5));
    const std::vector<double> values = values_of(x);
    CHECK(*std::min_element(values.begin(), values.end()) >= 1);
    CHECK(*std::max_element(values.begin(), values.end()) < 3);
    double sum = 0;
    for (const double v : values) sum += v;
    CHECK(std::abs(sum / 40000 - 2) < 0.02);
  }
}

TEST_CASE("normal numbers have their mean and deviation, complex ones in both parts together") {
  TensorBase x = empty({100000}, kFloat), z = empty({50000}, kComplexFloat);
  cpu::normal_(x, 2, 3, seeded(5));
  double sum = 0, squares = 0;
  for (const double v : values_of(x)) {
    sum += v;
    squares += (v - 2) * (v - 2);
  }
  CHECK(std::abs(sum / 1e5 - 2) < 0.05);
  CHECK(std::abs(squares / 1e5 - 9) < 0.2);
  cpu::normal_(z, 0, 2, seeded(6));
  const auto* parts = static_cast<const float*>(z.data_ptr());
  double norm = 0;
  for (int i = 0; i < 100000; ++i) norm += static_cast<double>(parts[i]) * static_cast<double>(parts[i]);
  CHECK(std::abs(norm / 5e4 - 4) < 0.1);
}

TEST_CASE("random_ draws from the whole range of a dtype or from what is asked for") {
  TensorBase bytes = empty({5000}, kChar), wide = empty({5000}, kLong), half = empty({5000}, kHalf),
             flags = empty({5000}, kBool);
  cpu::random_(bytes, seeded(1));
  for (const double v : values_of(bytes)) REQUIRE((v >= 0 && v <= 127));
  cpu::random__from(bytes, -128, std::nullopt, seeded(1));
  std::set<double> seen;
  for (const double v : values_of(bytes)) seen.insert(v);
  CHECK(seen.size() == 256);
  cpu::random__from(wide, INT64_MIN, std::nullopt, seeded(2));
  int negative = 0;
  for (const double v : values_of(wide)) negative += v < 0 ? 1 : 0;
  CHECK(std::abs(negative - 2500) < 200);
  cpu::random__from(wide, -3, 4, seeded(2));
  for (const double v : values_of(wide)) REQUIRE((v >= -3 && v < 4));
  cpu::random_(half, seeded(3));
  for (const double v : values_of(half)) REQUIRE((v >= 0 && v <= 2048 && v == std::floor(v)));
  cpu::random_(flags, seeded(4));
  CHECK(error_of([&] { cpu::random__from(bytes, 0, 300, seeded(1)); }) ==
        "int8 holds the integers from -128 to 127, but 0 to 299 are asked for");
  CHECK(error_of([&] { cpu::random__from(bytes, -200, std::nullopt, seeded(1)); }) != "");
}

TEST_CASE("integers of a range are drawn alike one by one and by vectors, where bits are rejected too") {
  constexpr std::uint64_t kSeed = 5440500413, kBound = 4294901761;  // of which the first is (philox_test.cpp)
  at_each_loop_level([] {
    TensorBase self = empty({3000}, kLong);
    cpu::random__from(self, -5, static_cast<std::int64_t>(kBound) - 5, seeded(kSeed));
    for (std::int64_t i = 0; i < 3000; ++i) {
      const std::uint64_t drawn = PhiloxCall{kSeed, 0}.bounded(static_cast<std::uint64_t>(i), kBound);
      REQUIRE(self.data_ptr<std::int64_t>()[i] == static_cast<std::int64_t>(drawn) - 5);
    }
  });
}

TEST_CASE("bernoulli_ gives ones with the probability asked for") {
  TensorBase x = empty({40000}, kFloat);
  cpu::bernoulli__float(x, 0.3, seeded(1));
  double sum = 0;
  for (const double v : values_of(x)) {
    REQUIRE((v == 0 || v == 1));
    sum += v;
  }
  CHECK(std::abs(sum / 40000 - 0.3) < 0.01);
  TensorBase three = empty({3}, kFloat);
  cpu::bernoulli__Tensor(three, tensor_of<float>({3}, {0, 1, 0}), seeded(1));
  CHECK(all_close(three, {0, 1, 0}, 0));
  CHECK(error_of([&] {
          cpu::bernoulli__Tensor(three, tensor_of<float>({3}, {0, 1.5f, 0}), seeded(1));
        }) == "argument 'p' has 1.5 at position 1, but must be in [0, 1]");
  CHECK(error_of([&] { cpu::bernoulli__Tensor(three, tensor_of<float>({3}, {0, NAN, 0}), seeded(1)); }) != "");
}

TEST_CASE("randperm is a permutation, and any is as likely as another") {
  TensorBase x = empty({1000}, kLong);
  cpu::randperm_generator(1000, seeded(1), x);
  std::vector<double> values = values_of(x);
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == static_cast<double>(i));
  Generator generator = seeded(2);
  int counts[6] = {};
  for (int i = 0; i < 6000; ++i) {
    TensorBase three = empty({3}, kLong);
    cpu::randperm_generator(3, generator, three);
    const std::vector<double> p = values_of(three);
    ++counts[static_cast<int>(p[0]) * 2 + (p[1] > p[2] ? 1 : 0)];
  }
  for (const int count : counts) CHECK(std::abs(count - 1000) < 150);
  TensorBase small = empty({300}, kByte);
  CHECK(error_of([&] { cpu::randperm_generator(300, seeded(1), small); }) ==
        "uint8 holds the integers from 0 to 255, but 0 to 299 are asked for");
}

TEST_CASE("native_dropout zeroes with probability p and scales the rest") {
  Rng rng(1);
  const TensorBase x = random_reals(rng, {200, 100}, kFloat, 1, 2);
  TensorBase out = random_out(rng, {200, 100}, kFloat), mask = random_geometry(rng, {200, 100}, kBool);
  cpu::native_dropout(x, 0.25, true, out, mask);
  const std::vector<double> from = values_of(x), to = values_of(out);
  int kept = 0;
  std::size_t i = 0;
  bool right = true;
  each_index({200, 100}, [&](const Sizes& index) {
    const bool keeps = element<bool>(mask, index);
    kept += keeps ? 1 : 0;
    right = right && close(to[i], keeps ? from[i] / 0.75 : 0, 1e-6);
    ++i;
  });
  CHECK(right);
  CHECK(std::abs(kept - 15000) < 300);
  cpu::native_dropout(x, 0.25, false, out, mask);
  CHECK(all_close(out, from, 0));
  cpu::native_dropout(x, 1, std::nullopt, out, mask);
  CHECK(all_close(out, std::vector<double>(20000, 0), 0));
}

TEST_CASE("multinomial draws with the weights of each row") {
  const TensorBase weights = tensor_of<float>({2, 3}, {1, 0, 3, 0, 5, 0});
  TensorBase many = empty({2, 20000}, kLong);
  cpu::multinomial(weights, 20000, true, seeded(1), many);
  int counts[2][3] = {};
  each_index({2, 20000}, [&](const Sizes& index) { ++counts[index[0]][element<std::int64_t>(many, index)]; });
  CHECK(std::abs(counts[0][0] - 5000) < 250);
  CHECK(counts[0][1] == 0);
  CHECK(counts[1][1] == 20000);
  Generator generator = seeded(2);
  int first = 0;
  for (int i = 0; i < 4000; ++i) {
    TensorBase two = empty({2}, kLong);
    cpu::multinomial(tensor_of<float>({3}, {1, 0, 3}), 2, false, generator, two);
    std::vector<double> drawn = values_of(two);
    first += drawn[0] == 0 ? 1 : 0;
    std::sort(drawn.begin(), drawn.end());
    REQUIRE(drawn == std::vector<double>{0, 2});
  }
  CHECK(std::abs(first - 1000) < 150);
  TensorBase one = empty({1}, kLong);
  for (const float bad : {-1.0f, NAN, INFINITY}) {
    CHECK(error_of([&] {
            cpu::multinomial(tensor_of<float>({2}, {1, bad}), 1, true, seeded(1), one);
          }).find("at position 1, but a weight is finite and not negative") != std::string::npos);
  }
  CHECK(error_of([&] {
          cpu::multinomial(tensor_of<float>({2}, {0, 0}), 1, true, seeded(1), one);
        }) == "row 0 of argument 'self' has 0 weights that are not zero, but 1 is needed");
}
