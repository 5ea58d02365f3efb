// Complex functions of CUDA where formulas of textbooks overflow, cancel or leave the branch, against the CPU's.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Function = std::function<Tensor(const Tensor&)>;
const std::pair<const char*, Function> kFunctions[] = {
#define FUNCTION(name)                                     \
  {                                                        \
#name, [](const Tensor& z) { return keyway::name(z); } \
  }
    FUNCTION(exp),   FUNCTION(exp2),   FUNCTION(expm1), FUNCTION(log),        FUNCTION(log2),  FUNCTION(log10),
    FUNCTION(log1p), FUNCTION(sqrt),   FUNCTION(rsqrt), FUNCTION(reciprocal), FUNCTION(abs),   FUNCTION(angle),
    FUNCTION(sin),   FUNCTION(cos),    FUNCTION(tan),   FUNCTION(asin),       FUNCTION(acos),  FUNCTION(atan),
    FUNCTION(sinh),  FUNCTION(cosh),   FUNCTION(tanh),  FUNCTION(asinh),      FUNCTION(acosh), FUNCTION(atanh),
    FUNCTION(sgn),   FUNCTION(sigmoid)
#undef FUNCTION
};

// Both zeros, so that either side of each branch cut is met; 1, where logarithms vanish and atanh has its poles; what
// exp takes and what it does not; what has no square that is a number, and what has none that is not 0.
Tensor every_pair(ScalarType dtype) {
  const bool is_double = dtype == kComplexDouble;
  const double large = is_double ? 1e300 : 1e38, tiny = is_double ? 1e-300 : 1e-37;
  std::vector<double> parts;
  for (const double x : {0.0, tiny, 1e-10, 1e-4, 0.3, 1.0, 2.5, 20.0, 80.0, 100.0, 1e4, 1e20, large}) {
    parts.insert(parts.end(), {x, -x});
  }
  const auto n = static_cast<std::int64_t>(parts.size());
  Tensor pairs = empty({n, n, 2}, TensorOptions().dtype(kDouble));
  for (std::int64_t i = 0; i < n * n; ++i) {
    pairs.data_ptr<double>()[2 * i] = parts[static_cast<std::size_t>(i / n)];
    pairs.data_ptr<double>()[2 * i + 1] = parts[static_cast<std::size_t>(i % n)];
  }
  return view_as_complex(pairs).reshape({n * n}).to(dtype);
}

// Its parts in a row, on the CPU.
Tensor parts_of(const Tensor& z) {
  const Tensor here = z.to(kCPU, z.dtype());
  return (is_complex(here.dtype()) ? view_as_real(here) : here.unsqueeze(-1)).to(kDouble).contiguous();
}

// The first place where they differ by more than `roundings` of the larger part.
void check_close(const char* name, const Tensor& there, const Tensor& here, const Tensor& arguments, double roundings) {
  REQUIRE(there.dtype() == here.dtype());
  const bool is_double = arguments.dtype() == kComplexDouble;
  const double tolerance = roundings * (is_double ? 0x1p-52 : 0x1p-23);
  const Tensor a = parts_of(there), b = parts_of(here), z = parts_of(arguments);
  const std::int64_t width = a.size(-1);
  for (std::int64_t i = 0; i < a.numel(); i += width) {
    const double *got = a.data_ptr<double>() + i, *expected = b.data_ptr<double>() + i;
    double size = is_double ? 1e-300 : 1e-37;
    for (std::int64_t j = 0; j < width; ++j) {
      if (std::isfinite(expected[j])) size = std::max(size, std::abs(expected[j]));
    }
    for (std::int64_t j = 0; j < width; ++j) {
      if (got[j] == expected[j] || (std::isnan(got[j]) && std::isnan(expected[j]))) continue;
      if (std::abs(got[j] - expected[j]) <= tolerance * size) continue;
      const double* const at = z.data_ptr<double>() + i / width * 2;
      FAIL(name << " of " << at[0] << " + " << at[1] << "i in " << to_string(arguments.dtype()) << ": part " << j
                << " is " << got[j] << ", not " << expected[j]);
    }
  }
}

}  // namespace

TEST_CASE("complex functions of CUDA are the CPU's for large and tiny arguments and on both sides of branch cuts") {
  if (lacks_device()) return;
  for (const ScalarType dtype : {kComplexFloat, kComplexDouble}) {
    const Tensor z = every_pair(dtype);
    for (const auto& [name, function] : kFunctions) {
      check_close(name, function(z.to(kCUDA, dtype)), function(z), z, 50);
    }
  }
}

TEST_CASE("complex powers of CUDA are the CPU's for large and tiny bases and on both sides of the branch cut") {
  if (lacks_device()) return;
  for (const ScalarType dtype : {kComplexFloat, kComplexDouble}) {
    const Tensor z = every_pair(dtype);
    for (const Scalar& exponent : {Scalar(0.5), Scalar(-1.0), Scalar(0.25), Scalar(complex<double>(0.25, 0.5))}) {
      // The rounding of a logarithm of up to 700 is one of the result's exponent.
      check_close("a power", pow(z.to(kCUDA, dtype), exponent), pow(z, exponent), z, 2000);
    }
  }
}

TEST_CASE("tangents of real and of imaginary numbers that are infinite or none are real and imaginary (C17, G.6)") {
  if (lacks_device()) return;
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
  for (const ScalarType dtype : {kComplexFloat, kComplexDouble}) {
    for (const double part : {kInf, -kInf, kNaN}) {
      for (const double zero : {0.0, -0.0}) {
        const auto at = [&](double x, double y) {
          return full({1}, complex<double>(x, y), TensorOptions().dtype(dtype).device(kCUDA));
        };
        const Tensor a = view_as_real(keyway::tan(at(part, zero))).to(kCPU, kDouble);
        const Tensor b = view_as_real(keyway::tanh(at(zero, part))).to(kCPU, kDouble);
        CHECK((std::isnan(a.data_ptr<double>()[0]) && std::isnan(b.data_ptr<double>()[1])));
        CHECK((a.data_ptr<double>()[1] == 0 && std::signbit(a.data_ptr<double>()[1]) == std::signbit(zero)));
        CHECK((b.data_ptr<double>()[0] == 0 && std::signbit(b.data_ptr<double>()[0]) == std::signbit(zero)));
      }
    }
  }
}
