#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/tolerance.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <span>

namespace keyway::inline v1::tools {

namespace {

// A binary floating-point format (IEEE 754; OCP 8-bit formats, 2023).
struct FloatFormat {
  int fraction_bits;
  int min_exponent;  // of a normal number
};
std::optional<FloatFormat> format_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Float8_e4m3fn: return FloatFormat{3, -6};
    case ScalarType::Float8_e5m2: return FloatFormat{2, -14};
    case ScalarType::Half:
    case ScalarType::ComplexHalf: return FloatFormat{10, -14};
    case ScalarType::BFloat16: return FloatFormat{7, -126};
    case ScalarType::Float:
    case ScalarType::ComplexFloat: return FloatFormat{23, -126};
    case ScalarType::Double:
    case ScalarType::ComplexDouble: return FloatFormat{52, -1022};
    default: return std::nullopt;
  }
}

// The distance between numbers of the format around x.
double ulp_at(double x, FloatFormat format) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, std::max(exponent - 1, format.min_exponent) - format.fraction_bits);
}

// The elements in row-major order; of complex numbers both parts.
Tensor as_doubles(const TensorBase& tensor) {
  const NoGradGuard no_grad;
  const Tensor values = Tensor(tensor).reshape({-1});
  return (is_complex(values.dtype()) ? view_as_real(values) : values).to(kDouble).contiguous();
}
std::span<const double> elements_of(const Tensor& doubles) {
  return {doubles.const_data_ptr<double>(), static_cast<std::size_t>(doubles.numel())};
}

class FloatComparison {
 public:
  FloatComparison(FloatFormat format, bool is_pointwise, std::span<const double> cpu, std::span<const double> exact)
      : format_(format), is_pointwise_(is_pointwise), cpu_(cpu), exact_(exact.empty() ? cpu : exact) {
    for (const double x : exact_) {
      if (std::isfinite(x)) greatest_ = std::max(greatest_, std::abs(x));
    }
    double cpu_error = 0;
    for (std::size_t i = 0; i < cpu_.size(); ++i) {
      if (std::isfinite(cpu_[i]) && std::isfinite(exact_[i])) cpu_error = std::max(cpu_error, error_in_ulp(cpu_[i], i));
    }
    allowed_ = allowed(cpu_error, !exact.empty());
  }

  // What is wrong with an element; empty if nothing is.
  std::string problem(double got, std::size_t i) const {
    const double cpu = cpu_[i];
    const bool is_special = !std::isfinite(cpu) || !std::isfinite(got);
    const bool is_equal = got == cpu || (std::isnan(got) && std::isnan(cpu));
    const bool is_other_zero = is_pointwise_ && got == 0 && cpu == 0 && std::signbit(got) != std::signbit(cpu);
    if (is_other_zero || (is_special && !is_equal)) return fmt::format("is {}, not {}", got, cpu);
    if (is_equal || !std::isfinite(exact_[i])) return {};
    const double error = error_in_ulp(got, i);
    if (error <= allowed_) return {};
    return fmt::format("is {:.9g}, not {:.9g}: {:.3g} ulp, {:.3g} are allowed", got, exact_[i], error, allowed_);
  }

 private:
  double error_in_ulp(double x, std::size_t i) const {
    const double at = is_pointwise_ ? exact_[i] : greatest_;
    return std::abs(x - exact_[i]) / ulp_at(at, format_);
  }
  double allowed(double cpu_error, bool is_known) const {
    const bool is_double = format_.fraction_bits == 52;
    if (is_pointwise_) {
      if (is_known && !is_double && cpu_error <= 0.501) return 0.51;
      return std::max(4.0, 4 * cpu_error);
    }
    return std::max(format_.fraction_bits <= 10 ? 1.0 : 16.0, 4 * cpu_error);
  }

  const FloatFormat format_;
  const bool is_pointwise_;
  const std::span<const double> cpu_, exact_;
  double greatest_ = 0;
  double allowed_ = 0;
};

}  // namespace

bool same_bits(const TensorBase& a, const TensorBase& b) {
  const Tensor x = Tensor(a).detach().contiguous(), y = Tensor(b).detach().contiguous();
  if (std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0) return true;
  if (!format_of(x.dtype())) return false;
  const Tensor first = as_doubles(x), second = as_doubles(y);
  const auto p = elements_of(first), q = elements_of(second);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const bool equal = p[i] == q[i] && std::signbit(p[i]) == std::signbit(q[i]);
    if (!equal && !(std::isnan(p[i]) && std::isnan(q[i]))) return false;
  }
  return true;
}

std::string value_difference(const TensorBase& got, const Expected& expected) {
  if (got.numel() == 0) return {};
  const std::optional<FloatFormat> format = format_of(got.dtype());
  if (!format) return same_bits(got, expected.cpu) ? "" : "its elements differ";
  const Tensor given = as_doubles(got), cpu = as_doubles(expected.cpu);
  const Tensor exact = expected.exact.defined() ? as_doubles(expected.exact) : Tensor();
  const FloatComparison comparison(*format, expected.is_pointwise, elements_of(cpu),
                                   exact.defined() ? elements_of(exact) : std::span<const double>());
  const auto elements = elements_of(given);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string problem = comparison.problem(elements[i], i);
    if (!problem.empty()) return fmt::format("element {} {}", i, problem);
  }
  return {};
}

}  // namespace keyway::inline v1::tools
