#include <keyway/backends/cpu/kernels_linalg.h>
#include <keyway/tests/backends/cpu/random_tensor.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr std::int64_t kDims[] = {0, 1, 2, 3, 7, 8, 13, 16, 17, 31, 33, 63, 65, 127, 129};

std::int64_t random_dim(Rng& rng) { return kDims[random_int(rng, 0, 14)]; }

// What sums of products of small numbers are exact in.
template <typename T>
struct ExactOf {
  using type = double;
};
template <std::integral T>
struct ExactOf<T> {
  using type = std::uint64_t;
};
template <typename T>
struct ExactOf<complex<T>> {
  using type = complex<double>;
};
template <typename T>
using Exact = typename ExactOf<T>::type;

template <typename T>
Exact<T> exact(T x) {
  return static_cast<Exact<T>>(x);
}

// A random tensor, perhaps transposed, with gaps or expanded.
template <typename T>
TensorBase random_matrix(Rng& rng, const Sizes& sizes, Expand expand = Expand::Yes) {
  const TensorBase tensor = random_geometry(rng, sizes, cpp_type_to_scalar_type<T>, expand);
  fill_storage<T>(tensor, [&] { return small_value<T>(rng); });
  return tensor;
}

// All elements, the last dimension's one after the other.
template <typename T>
std::vector<Exact<T>> numbers_of(const TensorBase& tensor) {
  std::vector<Exact<T>> numbers;
  numbers.reserve(static_cast<std::size_t>(tensor.numel()));
  each_index(Sizes(tensor.sizes().begin(), tensor.sizes().end()),
             [&](const Sizes& index) { numbers.push_back(exact(element<T>(tensor, index))); });
  return numbers;
}

// beta * add + alpha * a b for a batch, by the definition.
template <typename T>
void check_products(const TensorBase& a, const TensorBase& b, const TensorBase& out, double alpha = 1, double beta = 0,
                    const TensorBase& add = {}) {
  const std::int64_t m = a.size(-2), n = b.size(-1), k = a.size(-1);
  const auto rows = numbers_of<T>(a), columns = numbers_of<T>(b);
  each_index(Sizes(out.sizes().begin(), out.sizes().end()), [&](const Sizes& index) {
    const std::int64_t matrix = out.dim() == 3 ? index[0] : 0;
    const Exact<T>* const x = rows.data() + (matrix * m + index[index.size() - 2]) * k;
    const Exact<T>* const y = columns.data() + matrix * k * n + index.back();
    Exact<T> sum = exact(T(0));
    for (std::int64_t p = 0; p < k; ++p) sum = sum + x[p] * y[p * n];
    sum = sum * static_cast<Exact<T>>(alpha);
    if (beta != 0) sum = sum + exact(element<T>(add, index)) * static_cast<Exact<T>>(beta);
    const T expected = static_cast<T>(sum);
    const T got = element<T>(out, index);
    if (expected != got) {
      CAPTURE(index, a.sizes(), b.sizes(), out.strides());
      REQUIRE(expected == got);
    }
  });
}

template <typename T>
void check_mm(Rng& rng, std::int64_t m, std::int64_t n, std::int64_t k) {
  const TensorBase a = random_matrix<T>(rng, {m, k}), b = random_matrix<T>(rng, {k, n});
  TensorBase out = random_matrix<T>(rng, {m, n}, Expand::No);
  cpu::mm(a, b, out);
  check_products<T>(a, b, out);
}

constexpr DtypeSet kTestedTypes{kFloat, kDouble, kInt, kHalf, kBFloat16, kComplexFloat};

}  // namespace

TEST_CASE("mm is exact on small numbers, for every dtype, tail and layout") {
  Rng rng(1);
  for (int i = 0; i < 12; ++i) {
    for (std::size_t t = 0; t < kNumScalarTypes; ++t) {
      const auto dtype = static_cast<ScalarType>(t);
      if (!kNumberTypes.contains(dtype)) continue;
      visit_dtype<kNumberTypes>(
          dtype, "test", [&]<typename T>() { check_mm<T>(rng, random_dim(rng), random_dim(rng), random_dim(rng)); });
    }
  }
}

TEST_CASE("mm computes the same at each instruction-set level") {
  at_each_level([] {
    Rng rng(2);
    for (int i = 0; i < 6; ++i) {
      const std::int64_t m = random_dim(rng), n = random_dim(rng), k = random_dim(rng);
      check_mm<double>(rng, m, n, k);
      check_mm<std::int32_t>(rng, m, n, k);
      check_mm<Half>(rng, m, n, k);
      check_mm<BFloat16>(rng, m, n, k);
      check_mm<complex<float>>(rng, m, n, k);
      check_mm<float>(rng, m, n, k);
      check_mm<float>(rng, m % 9, n, 300);
    }
  });
}

TEST_CASE("mm takes long and narrow shapes") {
  Rng rng(3);
  constexpr DtypeSet kDtypes{kHalf, kBFloat16, kFloat, kDouble, kLong};
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble, kLong}) {
    visit_dtype<kDtypes>(dtype, "test", [&]<typename T>() {
      check_mm<T>(rng, 1, 700, 300);
      check_mm<T>(rng, 700, 1, 300);
      check_mm<T>(rng, 3, 5, 5000);
      check_mm<T>(rng, 900, 300, 1);
      check_mm<T>(rng, 300, 270, 140);
      check_mm<T>(rng, 40, 1000, 150);
      check_mm<T>(rng, 7, 3, 1000);
      check_mm<T>(rng, 270, 2100, 7);
      check_mm<T>(rng, 280, 70, 530);
    });
  }
  check_mm<double>(rng, 2, 2, 1000);
}

TEST_CASE("a product over nothing is zero, and keeps beta's part") {
  Rng rng(4);
  const TensorBase a = random_matrix<float>(rng, {3, 0}), b = random_matrix<float>(rng, {0, 4});
  TensorBase out = random_matrix<float>(rng, {3, 4}, Expand::No);
  cpu::mm(a, b, out);
  check_products<float>(a, b, out);
  const TensorBase add = random_matrix<float>(rng, {4});
  cpu::addmm(add, a, b, 2, 3, out);
  check_products<float>(a, b, out, 3, 2, add);
}

TEST_CASE("addmm broadcasts what it adds, and reads nothing where beta is 0") {
  Rng rng(5);
  for (int i = 0; i < 8; ++i) {
    for (const ScalarType dtype : {kFloat, kDouble, kInt, kHalf, kBFloat16, kComplexFloat}) {
      visit_dtype<kTestedTypes>(dtype, "test", [&]<typename T>() {
        const std::int64_t m = random_dim(rng), n = random_dim(rng), k = random_dim(rng);
        const TensorBase a = random_matrix<T>(rng, {m, k}), b = random_matrix<T>(rng, {k, n});
        TensorBase out = random_matrix<T>(rng, {m, n}, Expand::No);
        for (const Sizes& sizes : {Sizes{}, Sizes{n}, Sizes{1}, Sizes{m, 1}, Sizes{m, n}}) {
          const TensorBase add = random_matrix<T>(rng, sizes);
          cpu::addmm(add, a, b, 2, 1, out);
          check_products<T>(a, b, out, 1, 2, add);
          cpu::addmm(add, a, b, 1, 3, out);
          check_products<T>(a, b, out, 3, 1, add);
        }
      });
    }
  }
  const float nan = std::nanf("");
  TensorBase add = random_matrix<float>(rng, {40, 40}, Expand::No);
  fill_storage<float>(add, [&] { return nan; });
  for (const std::int64_t n : {5, 40}) {
    const TensorBase a = random_matrix<float>(rng, {n, n}), b = random_matrix<float>(rng, {n, n});
    TensorBase out = make_tensor(Sizes{n, n}, kFloat, DeviceType::CPU);
    fill_storage<float>(out, [&] { return nan; });
    cpu::addmm(make_view(add, Sizes{n, n}, add.strides(), add.storage_offset()), a, b, 0, 1, out);
    check_products<float>(a, b, out);
  }
}

TEST_CASE("addmm adds to its own result") {
  Rng rng(6);
  for (const auto& [m, n, k] :
       {std::array{6, 6, 6}, {50, 50, 50}, {300, 300, 300}, {1, 300, 40}, {3, 40, 300}, {5, 9, 200}}) {
    const TensorBase a = random_matrix<float>(rng, {m, k}), b = random_matrix<float>(rng, {k, n});
    TensorBase out = make_tensor(Sizes{m, n}, kFloat, DeviceType::CPU);
    const TensorBase before = make_tensor(Sizes{m, n}, kFloat, DeviceType::CPU);
    for (const auto& [beta, alpha] : {std::array{3, 2}, {3, 1}, {1, 1}}) {
      fill_storage<float>(out, [&] { return small_value<float>(rng); });
      std::memcpy(before.data_ptr(), out.data_ptr(), out.nbytes());
      cpu::addmm(out, a, b, beta, alpha, out);
      check_products<float>(a, b, out, alpha, beta, before);
    }
  }
}

TEST_CASE("a product times 0 is not read: what is no number in it does not reach the result, as in the BLAS") {
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble, kComplexFloat}) {
    visit_dtype<DtypeSet{kHalf, kBFloat16, kFloat, kDouble, kComplexFloat}>(dtype, "test", [&]<typename T>() {
      for (const std::int64_t n : {1, 2, 40, 200}) {
        const auto filled = [&](const Sizes& sizes, float number) {
          const TensorBase tensor = make_tensor(sizes, dtype, DeviceType::CPU);
          fill_storage<T>(tensor, [&] { return static_cast<T>(number); });
          return tensor;
        };
        const TensorBase nan = filled({n, n}, NAN), batch = filled({3, n, n}, NAN), ones = filled({n, n}, 1);
        for (const int beta : {0, 2}) {
          TensorBase out = filled({n, n}, 7), all = filled({3, n, n}, 7);
          cpu::addmm(ones, nan, nan, beta, 0, out);
          cpu::baddbmm(ones, batch, batch, beta, 0.0, all);
          for (const TensorBase& result : {out, all}) {
            const std::vector<Exact<T>> numbers = numbers_of<T>(result);
            CHECK(std::count(numbers.begin(), numbers.end(), Exact<T>(beta)) == result.numel());
          }
        }
      }
    });
  }
}

TEST_CASE("bmm and baddbmm multiply matrix by matrix") {
  Rng rng(7);
  for (int i = 0; i < 6; ++i) {
    for (const ScalarType dtype : {kFloat, kDouble, kInt, kBFloat16, kComplexFloat}) {
      visit_dtype<kTestedTypes>(dtype, "test", [&]<typename T>() {
        const std::int64_t count = random_int(rng, 0, 20);
        const std::int64_t m = random_int(rng, 0, 40), n = random_int(rng, 0, 40), k = random_int(rng, 0, 40);
        const TensorBase a = random_matrix<T>(rng, {count, m, k}), b = random_matrix<T>(rng, {count, k, n});
        TensorBase out = random_matrix<T>(rng, {count, m, n}, Expand::No);
        cpu::bmm(a, b, out);
        check_products<T>(a, b, out);
        for (const Sizes& sizes : {Sizes{n}, Sizes{m, 1}, Sizes{count, 1, n}}) {
          const TensorBase add = random_matrix<T>(rng, sizes);
          cpu::baddbmm(add, a, b, 2, 3, out);
          check_products<T>(a, b, out, 3, 2, add);
        }
      });
    }
  }
}

TEST_CASE("float products are within the error of their length, and equal for any number of threads") {
  Rng rng(8);
  std::uniform_real_distribution<float> uniform(-1, 1);
  struct Problem {
    std::int64_t m, n, k;
    bool turned;  // b lies column by column
  };
  for (const auto& [m, n, k, turned] : {Problem{200, 300, 150, false},
                                        {64, 1000, 70, false},
                                        {513, 129, 257, true},
                                        {700, 500, 600, true},
                                        {1, 5000, 300, false},
                                        {3, 2000, 200, false},
                                        {6, 3000, 300, true},
                                        {2000, 7, 300, true},
                                        {4, 300, 5000, false}}) {
    const TensorBase a =
        turned ? make_tensor(Sizes{m, k}, kFloat, DeviceType::CPU) : random_geometry(rng, {m, k}, kFloat);
    const TensorBase b = turned ? make_tensor_strided(Sizes{k, n}, Sizes{1, k}, kFloat, DeviceType::CPU)
                                : random_geometry(rng, {k, n}, kFloat);
    fill_storage<float>(a, [&] { return uniform(rng); });
    fill_storage<float>(b, [&] { return uniform(rng); });
    TensorBase one = make_tensor(Sizes{m, n}, kFloat, DeviceType::CPU);
    TensorBase many = make_tensor(Sizes{m, n}, kFloat, DeviceType::CPU);
    {
      const WithThreads threads(1);
      cpu::mm(a, b, one);
    }
    for (const int count : {2, 5}) {
      const WithThreads threads(count);
      cpu::mm(a, b, many);
      REQUIRE(std::memcmp(one.data_ptr(), many.data_ptr(), one.nbytes()) == 0);
    }
    double worst = 0;
    const std::vector<double> rows = numbers_of<float>(a), columns = numbers_of<float>(b);
    each_index({m, n}, [&](const Sizes& index) {
      const double* const x = rows.data() + index[0] * k;
      const double* const y = columns.data() + index[1];
      double sum = 0, bound = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        const double product = x[p] * y[p * n];
        sum += product;
        bound += std::abs(product);
      }
      worst = std::max(worst, std::abs(sum - element<float>(one, index)) / bound);
    });
    REQUIRE(worst < static_cast<double>(k) * 0x1p-24);
  }
}

TEST_CASE("a forked child multiplies after its parent has") {
  Rng rng(9);
  const WithThreads threads(3);
  check_mm<float>(rng, 200, 200, 200);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);
    const TensorBase a = random_matrix<float>(rng, {200, 200});
    TensorBase out = make_tensor(Sizes{200, 200}, kFloat, DeviceType::CPU);
    cpu::mm(a, a, out);
    _exit(element<float>(out, {0, 0}) == element<float>(out, {0, 0}) ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}
