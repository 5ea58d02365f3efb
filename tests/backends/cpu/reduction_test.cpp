#include <keyway/backends/cpu/reduction.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/sorting.h>
#include <keyway/tests/backends/cpu/random_tensor.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Sizes random_dims(Rng& rng, std::size_t rank) {
  Sizes dims;
  for (std::size_t d = 0; d < rank; ++d) {
    if (random_int(rng, 0, 1) == 0) dims.push_back(static_cast<std::int64_t>(d));
  }
  std::shuffle(dims.begin(), dims.end(), rng);
  return dims;
}

bool contains(const Sizes& dims, std::size_t d) {
  return dims.empty() || std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
}

// Sizes of the result, with its reduced dimensions as 1 or gone.
Sizes reduced_sizes(const Sizes& sizes, const Sizes& dims, bool keepdim) {
  Sizes out;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!contains(dims, d)) {
      out.push_back(sizes[d]);
    } else if (keepdim) {
      out.push_back(1);
    }
  }
  return out;
}

// Where the elements lie that belong to each output, in row-major order; outputs by their index without reduced
// dimensions.
using Group = std::vector<const void*>;
std::map<Sizes, Group> groups_of(const TensorBase& self, const Sizes& sizes, const Sizes& dims) {
  std::map<Sizes, Group> groups;
  each_index(reduced_sizes(sizes, dims, false), [&](const Sizes& index) { groups[index]; });
  each_index(sizes, [&](const Sizes& index) {
    Sizes kept;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (!contains(dims, d)) kept.push_back(index[d]);
    }
    groups[kept].push_back(element_at(self, index));
  });
  return groups;
}

// Outputs with squeezed dimensions have the groups' index; kept ones are viewed without them.
TensorBase squeezed(const TensorBase& out, const Sizes& sizes, const Sizes& dims) {
  if (static_cast<std::size_t>(out.dim()) != sizes.size()) return out;
  Sizes kept_sizes, kept_strides;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (contains(dims, d)) continue;
    kept_sizes.push_back(out.sizes()[d]);
    kept_strides.push_back(out.strides()[d]);
  }
  return make_view(out, kept_sizes, kept_strides, out.storage_offset());
}

// A reduction of one dtype to another, and what it should give. Calls are made through pointers: the loops
// over shapes are compiled once, not once a dtype.
struct Case {
  ScalarType from, to;
  bool allow_empty;
  std::function<void(const TensorBase& self)> fill;
  std::function<void(const TensorBase& out, const TensorBase& self, const Sizes& dims)> reduce;
  std::function<bool(const void* out, const Group& group)> agrees;
};

void check_random(const Case& test, int cases) {
  Rng rng(23);
  for (int i = 0; i < campaign(cases); ++i) {
    const Sizes sizes = random_sizes(rng, random_int(rng, 0, 5));
    const Sizes dims = random_dims(rng, sizes.size());
    const bool keepdim = random_int(rng, 0, 1) == 1;
    const TensorBase self = random_geometry(rng, sizes, test.from, Expand::Yes);
    if (!test.allow_empty && self.numel() == 0) continue;
    test.fill(self);
    const TensorBase out = random_geometry(rng, reduced_sizes(sizes, dims, keepdim), test.to, Expand::No);
    test.reduce(out, self, dims);
    const TensorBase view = squeezed(out, sizes, dims);
    for (const auto& [index, group] : groups_of(self, sizes, dims)) {
      INFO(to_string(test.from) << " to " << to_string(test.to));
      REQUIRE(test.agrees(element_at(view, index), group));
    }
  }
}

// Reduces random tensors and compares each output with what `expect` makes of its elements.
template <typename T, typename R, typename F, typename Expect, typename Agree>
void check_random(const F& functor, int cases, bool allow_empty, Expect expect, Agree agree) {
  Rng rng(37);
  check_random(
      {cpp_type_to_scalar_type<T>, cpp_type_to_scalar_type<R>, allow_empty,
       [&](const TensorBase& self) { fill_storage<T>(self, [&] { return small_value<T>(rng); }); },
       [&](const TensorBase& out, const TensorBase& self, const Sizes& dims) { reduce(functor, out, self, dims); },
       [&](const void* out, const Group& group) {
         std::vector<T> values;
         for (const void* element : group) values.push_back(*static_cast<const T*>(element));
         return agree(*static_cast<const R*>(out), expect(values));
       }},
      cases);
}

const auto equal = [](const auto& a, const auto& b) { return a == b || (is_nan(a) && is_nan(b)); };

template <typename T>
T sum_of(const std::vector<T>& values) {
  T sum = T();
  for (const T x : values) sum = Add<T>{Opmath<T>(1)}(sum, x);
  return sum;
}

template <typename T>
TensorBase random_floats(Rng& rng, const Sizes& sizes) {
  const TensorBase tensor = make_tensor(sizes, cpp_type_to_scalar_type<T>, DeviceType::CPU);
  std::normal_distribution<double> normal;
  fill_storage<T>(tensor, [&] { return T(normal(rng)); });
  return tensor;
}

}  // namespace

TEST_CASE("reductions over any dimensions, strides and shapes agree with element by element") {
  at_each_loop_level([] {
    check_random<float, float>(Sum<float>{}, 150, true, sum_of<float>, equal);
    check_random<std::int64_t, std::int64_t>(Sum<std::int64_t>{}, 100, true, sum_of<std::int64_t>, equal);
    check_random<float, float>(
        Amax<float>{}, 100, false, [](const auto& v) { return *std::max_element(v.begin(), v.end()); }, equal);
    check_random<std::int16_t, std::int16_t>(
        Amin<std::int16_t>{}, 100, false, [](const auto& v) { return *std::min_element(v.begin(), v.end()); }, equal);
    check_random<std::int8_t, std::int64_t>(
        Argmax<std::int8_t>{}, 150, false,
        [](const auto& v) { return static_cast<std::int64_t>(std::max_element(v.begin(), v.end()) - v.begin()); },
        equal);
    check_random<float, std::int64_t>(
        Argmin<float>{}, 150, false,
        [](const auto& v) { return static_cast<std::int64_t>(std::min_element(v.begin(), v.end()) - v.begin()); },
        equal);
    check_random<bool, bool>(
        Any<bool>{}, 60, true, [](const auto& v) { return std::count(v.begin(), v.end(), true) > 0; }, equal);
    const auto nonzero = [](const auto& v) {
      return static_cast<std::int64_t>(std::count_if(v.begin(), v.end(), [](auto x) { return x != 0; }));
    };
    check_random<float, std::int64_t>(CountNonzero<float>{}, 60, true, nonzero, equal);
    check_random<std::int8_t, std::int64_t>(CountNonzero<std::int8_t>{}, 60, true, nonzero, equal);
    check_random<float, bool>(
        All<float>{}, 60, true, [](const auto& v) { return std::count(v.begin(), v.end(), 0.0f) == 0; }, equal);
  });
}

TEST_CASE("sums of every dtype") {
  for (std::size_t i = 0; i < kNumScalarTypes; ++i) {
    const auto t = static_cast<ScalarType>(i);
    if (!kNumberTypes.contains(t)) continue;
    visit_dtype<kNumberTypes>(t, "test", []<typename T>() {
      // Small integers add up exactly in every type but the narrow ones.
      const auto sum = [](const std::vector<T>& values) {
        Opmath<T> total{};
        for (const T x : values) total = plus(total, opmath(x));
        return static_cast<T>(total);
      };
      check_random<T, T>(Sum<T>{}, 25, true, sum, equal);
    });
  }
  check_random<bool, std::int64_t>(
      Sum<bool, std::int64_t>{}, 25, true, [](const auto& v) { return std::count(v.begin(), v.end(), true); }, equal);
}

TEST_CASE("rows of many outputs, contiguous or not, fit into the driver's buffers") {
  const auto check = []<typename T>() {
    for (const std::int64_t gap : {1, 3}) {
      const TensorBase base = make_tensor(Sizes{9, 20000 * gap}, cpp_type_to_scalar_type<T>, DeviceType::CPU);
      fill_storage<T>(base, [] { return T(1.0f); });
      const TensorBase self = make_view(base, Sizes{9, 20000}, Sizes{20000 * gap, gap}, 0);
      const TensorBase any = make_tensor(Sizes{20000}, kBool, DeviceType::CPU);
      reduce(Any<T>{}, any, self, Sizes{0});
      CHECK(std::count(any.data_ptr<bool>(), any.data_ptr<bool>() + 20000, true) == 20000);
      const TensorBase sum = make_tensor(Sizes{20000}, cpp_type_to_scalar_type<T>, DeviceType::CPU);
      reduce(Sum<T>{}, sum, self, Sizes{0});
      CHECK(std::count(sum.data_ptr<T>(), sum.data_ptr<T>() + 20000, T(9.0f)) == 20000);
    }
  };
  check.operator()<float>();
  check.operator()<std::int8_t>();
  check.operator()<complex<double>>();
}

TEST_CASE("variance, standard deviation, mean and norms") {
  const auto close = [](double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= 1e-5 * std::abs(b) + 1e-6;
  };
  const auto variance = [](const auto& values, double correction) {
    const auto n = static_cast<double>(values.size());
    double mean = 0, sum = 0;
    for (const double x : values) mean += x / n;
    for (const double x : values) sum += (x - mean) * (x - mean);
    return n == 0 ? kNan : sum / std::max(0.0, n - correction);
  };
  const Optional<double> none, zero{0, true};
  check_random<float, float>(
      Variance<float>{none}, 100, true, [&](const auto& v) { return variance(v, 1); }, close);
  check_random<float, float>(
      Std<float>{zero}, 60, true, [&](const auto& v) { return std::sqrt(variance(v, 0)); }, close);
  check_random<double, double>(
      Mean<double>{}, 60, true,
      [&](const auto& v) {
        double sum = 0;
        for (const double x : v) sum += x;
        return sum / static_cast<double>(v.size());
      },
      close);
  check_random<float, float>(
      EuclideanNorm<float>{}, 40, true,
      [&](const auto& v) {
        double sum = 0;
        for (const double x : v) sum += x * x;
        return std::sqrt(sum);
      },
      close);
}

TEST_CASE("the variance of numbers far from zero is not cancelled away") {
  const TensorBase self = make_tensor(Sizes{100000}, kFloat, DeviceType::CPU);
  const TensorBase out = make_tensor(Sizes{}, kFloat, DeviceType::CPU);
  float next = 0;
  fill_storage<float>(self, [&] { return 10000 + (next = 1 - next); });
  reduce(Variance<float>{Optional<double>{}}, out, self, {});
  CHECK(*out.data_ptr<float>() == Approx(0.25).epsilon(1e-4));
}

TEST_CASE("NaN wins in extremes, and of equals the first is found") {
  const TensorBase self = make_tensor(Sizes{2, 1000}, kFloat, DeviceType::CPU);
  fill_storage<float>(self, [] { return 1.0f; });
  float* x = self.data_ptr<float>();
  x[700] = x[900] = static_cast<float>(kNan);
  x[1000 + 300] = x[1000 + 301] = x[1000 + 999] = 5;
  const TensorBase values = make_tensor(Sizes{2}, kFloat, DeviceType::CPU);
  const TensorBase indices = make_tensor(Sizes{2}, kLong, DeviceType::CPU);
  at_each_loop_level([&] {
    reduce(MaxWithIndex<float>{}, values, indices, self, Sizes{1});
    CHECK(std::isnan(values.data_ptr<float>()[0]));
    CHECK(values.data_ptr<float>()[1] == 5);
    CHECK(indices.data_ptr<std::int64_t>()[0] == 700);
    CHECK(indices.data_ptr<std::int64_t>()[1] == 300);
    reduce(MinWithIndex<float>{}, values, indices, self, Sizes{1});
    CHECK(indices.data_ptr<std::int64_t>()[0] == 700);
    CHECK(indices.data_ptr<std::int64_t>()[1] == 0);
    reduce(Amax<float>{}, values, self, Sizes{1});
    CHECK(std::isnan(values.data_ptr<float>()[0]));
  });
  fill_storage<float>(self, [] { return -std::numeric_limits<float>::infinity(); });
  reduce(Argmax<float>{}, indices, self, Sizes{1});
  CHECK(indices.data_ptr<std::int64_t>()[1] == 0);
}

TEST_CASE("reductions give the same bits with any number of threads and at every level") {
  Rng rng(29);
  const std::pair<Sizes, Sizes> cases[] = {
      {{1000003}, {}},          {{3, 400001}, {1}},    {{5000, 33}, {0}},    {{700, 517}, {1}},  {{700, 517}, {0}},
      {{65, 127, 129}, {0, 2}}, {{65, 127, 129}, {1}}, {{65, 127, 129}, {}}, {{100000, 3}, {0}}, {{2, 300000, 2}, {1}},
  };
  for (const auto& [sizes, dims] : cases) {
    const TensorBase self = random_floats<float>(rng, sizes);
    const auto check = [&, s = sizes, ds = dims](const auto& functor, ScalarType dtype) {
      std::vector<char> first;
      for (const int threads : {1, 2, 3, 7}) {
        const WithThreads with(threads);
        at_each_loop_level([&] {
          const TensorBase out = make_tensor(reduced_sizes(s, ds, false), dtype, DeviceType::CPU);
          reduce(functor, out, self, ds);
          if (first.empty()) first = storage_bytes(out);
          REQUIRE((storage_bytes(out) == first));
        });
      }
    };
    check(Sum<float>{}, kFloat);
    check(Variance<float>{Optional<double>{}}, kFloat);
    check(Argmax<float>{}, kLong);
  }
}

TEST_CASE("a float sum keeps its error bound") {
  Rng rng(31);
  for (const Sizes& sizes : {Sizes{3000000}, Sizes{3000, 1000}}) {
    for (const Sizes& dims : {Sizes{}, Sizes{0}}) {
      const TensorBase self = make_tensor(sizes, kFloat, DeviceType::CPU);
      std::uniform_real_distribution<float> uniform(0, 1);
      fill_storage<float>(self, [&] { return uniform(rng); });
      const Sizes out_sizes = reduced_sizes(sizes, dims, false);
      const TensorBase out = make_tensor(out_sizes, kFloat, DeviceType::CPU);
      reduce(Sum<float>{}, out, self, dims);
      const auto outputs = static_cast<std::size_t>(out.numel());
      std::vector<double> exact(outputs, 0.0);
      for (std::size_t i = 0; i < static_cast<std::size_t>(self.numel()); ++i) {
        exact[i % outputs] += self.data_ptr<float>()[i];
      }
      for (std::size_t i = 0; i < outputs; ++i) {
        REQUIRE(std::abs(out.data_ptr<float>()[i] - exact[i]) <= 8 * 0x1p-24 * exact[i]);
      }
    }
  }
}
