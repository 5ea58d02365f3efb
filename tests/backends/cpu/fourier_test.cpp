#include <keyway/backends/cpu/kernels_fourier.h>
#include <keyway/core/base/complex.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Line = std::vector<complex<double>>;

// By the definition.
Line transform_of(const Line& line, bool forward) {
  const auto n = static_cast<std::int64_t>(line.size());
  Line sums(line.size());
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      const complex<double> root(std::cos(angle), forward ? -std::sin(angle) : std::sin(angle));
      sums[static_cast<std::size_t>(k)] += line[static_cast<std::size_t>(j)] * root;
    }
  }
  return sums;
}

// Calls f with each line of `dim` and its first index.
template <typename F>
void each_line(const Sizes& sizes, std::int64_t dim, const F& f) {
  Sizes firsts = sizes;
  firsts[static_cast<std::size_t>(dim)] = 1;
  each_index(firsts, f);
}

template <typename T>
Line line_at(const TensorBase& tensor, Sizes index, std::int64_t dim) {
  Line line;
  for (std::int64_t i = 0; i < tensor.size(dim); ++i) {
    index[static_cast<std::size_t>(dim)] = i;
    line.push_back(complex<double>(element<complex<T>>(tensor, index)));
  }
  return line;
}

template <typename T>
void check_random(int cases, double tolerance) {
  Rng rng(41);
  constexpr ScalarType dtype = cpp_type_to_scalar_type<complex<T>>;
  for (int i = 0; i < campaign(cases); ++i) {
    Sizes sizes = random_sizes(rng, random_int(rng, 0, 2), 40);
    const auto dim = random_int(rng, 0, static_cast<std::int64_t>(sizes.size()));
    sizes.insert(sizes.begin() + dim, random_int(rng, 1, 120));
    const TensorBase self = random_geometry(rng, sizes, dtype, Expand::Yes);
    std::uniform_real_distribution<double> reals(-1, 1);
    fill_storage<complex<T>>(self, [&] { return complex<T>(static_cast<T>(reals(rng)), static_cast<T>(reals(rng))); });
    TensorBase out = random_out(rng, sizes, dtype);
    const bool forward = random_int(rng, 0, 1) == 1;
    const std::int64_t normalization = random_int(rng, 0, 2);
    const auto n = static_cast<double>(self.size(dim));
    const double scale = normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(n) : 1 / n;
    const std::int64_t dims[] = {dim};
    cpu::_fft_c2c(self, dims, normalization, forward, out);
    each_line(sizes, dim, [&](const Sizes& first) {
      const Line expected = transform_of(line_at<T>(self, first, dim), forward);
      const Line result = line_at<T>(out, first, dim);
      for (std::size_t k = 0; k < result.size(); ++k) {
        INFO("length " << n << ", element " << k);
        REQUIRE(std::abs(result[k].real() - expected[k].real() * scale) <= tolerance * std::sqrt(n));
        REQUIRE(std::abs(result[k].imag() - expected[k].imag() * scale) <= tolerance * std::sqrt(n));
      }
    });
  }
}

// The first half of transforms of real numbers: few rows and many, of even and of odd lengths.
template <typename T>
void check_halves(double tolerance) {
  Rng rng(42);
  for (const std::int64_t rows : {1, 2, 9, 16}) {
    for (const std::int64_t n : {1, 2, 3, 4, 6, 15, 34, 64, 96, 118, 121}) {
      const Sizes sizes{rows, n}, kept{rows, n / 2 + 1};
      const TensorBase self = random_reals(rng, sizes, cpp_type_to_scalar_type<T>, -1, 1);
      TensorBase out = random_out(rng, kept, cpp_type_to_scalar_type<complex<T>>);
      cpu::_fft_half(self, 1, out);
      for (std::int64_t r = 0; r < rows; ++r) {
        Line line;
        for (std::int64_t i = 0; i < n; ++i) line.emplace_back(static_cast<double>(element<T>(self, {r, i})), 0.0);
        const Line expected = transform_of(line, true);
        for (std::int64_t k = 0; k <= n / 2; ++k) {
          const complex<double> result(element<complex<T>>(out, {r, k}));
          const complex<double> wanted = expected[static_cast<std::size_t>(k)];
          const double scale = 1 / std::sqrt(static_cast<double>(n));
          INFO("row " << r << " of " << rows << ", length " << n << ", element " << k);
          REQUIRE(std::abs(result.real() - wanted.real() * scale) <= tolerance);
          REQUIRE(std::abs(result.imag() - wanted.imag() * scale) <= tolerance);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("Fourier transforms of real numbers agree with the sum") {
  at_each_loop_level([] {
    check_halves<double>(1e-13);
    check_halves<float>(1e-5);
  });
}

TEST_CASE("Fourier transforms of any length and geometry agree with the sum") {
  check_random<double>(60, 1e-13);
  check_random<float>(60, 1e-5);
}

TEST_CASE("a transform of many elements in a prime number of them comes back") {
  const std::int64_t n = 65537, dims[] = {0};
  const TensorBase self = make_tensor({n}, kComplexDouble, DeviceType::CPU);
  TensorBase there = make_tensor({n}, kComplexDouble, DeviceType::CPU);
  TensorBase back = make_tensor({n}, kComplexDouble, DeviceType::CPU);
  auto* const data = self.data_ptr<complex<double>>();
  for (std::int64_t i = 0; i < n; ++i) data[i] = {std::sin(static_cast<double>(i)), static_cast<double>(i % 7)};
  cpu::_fft_c2c(self, dims, 1, true, there);
  cpu::_fft_c2c(there, dims, 1, false, back);
  double worst = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const complex<double> difference = back.data_ptr<complex<double>>()[i] - data[i];
    worst = std::max({worst, std::abs(difference.real()), std::abs(difference.imag())});
  }
  CHECK(worst < 1e-12);
}
