#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/tolerance.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <span>
#include <vector>

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

double greatest_of(FloatFormat format) {
  return std::ldexp(2.0 - std::ldexp(1.0, -format.fraction_bits), 1 - format.min_exponent);
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

constexpr double kCorrect = 0.501;  // ulp: half of one, and what a rounding to float32 before may add

class FloatComparison {
 public:
  FloatComparison(FloatFormat format, const Expected& expected, std::span<const double> cpu,
                  std::span<const double> exact)
      : format_(format),
        is_pointwise_(expected.is_pointwise),
        is_basic_(expected.is_basic),
        has_signed_zeros_(!is_complex(expected.cpu.dtype())),
        has_exact_(!exact.empty()),
        error_in_float32_(expected.error_in_float32),
        cpu_(cpu),
        unrounded_(exact.empty() ? cpu : exact),
        exact_(unrounded_.begin(), unrounded_.end()),
        spread_(cpu.size(), 0),
        greatest_(is_pointwise_ ? 0 : expected.greatest_term) {
    // A matrix that float64 finds singular and the CPU does not, say: its own number is what there is.
    for (std::size_t i = 0; i < cpu_.size() && !is_pointwise_; ++i) {
      if (!std::isfinite(exact_[i]) && std::isfinite(cpu_[i])) exact_[i] = cpu_[i];
    }
    for (const double x : exact_) {
      if (std::isfinite(x)) greatest_ = std::max(greatest_, std::abs(x));
    }
    double cpu_error = is_pointwise_ ? expected.error_elsewhere : 0;
    for (std::size_t i = 0; i < cpu_.size(); ++i) {
      if (std::isfinite(cpu_[i]) && std::isfinite(exact_[i])) cpu_error = std::max(cpu_error, error_in_ulp(cpu_[i], i));
    }
    allowed_ = allowed(cpu_error);
    for (const TensorBase& tensor : expected.nearby) {
      const Tensor doubles = as_doubles(tensor);
      note_nearby(elements_of(doubles));
    }
  }

  // What is wrong with an element; empty if nothing is.
  std::string problem(std::span<const double> all, std::size_t i) const {
    const double got = all[i], cpu = cpu_[i], exact = exact_[i];
    const bool is_equal = got == cpu || (std::isnan(got) && std::isnan(cpu));
    const bool is_other_zero =
        is_pointwise_ && has_signed_zeros_ && got == 0 && cpu == 0 && std::signbit(got) != std::signbit(cpu);
    if (is_other_zero) return fmt::format("is {}, not {}", got, cpu);
    if (is_equal || is_exact_special(got, unrounded_[i]) || std::isinf(spread_[i]) || is_open(all, i)) return {};
    if (!std::isfinite(got) || !std::isfinite(exact)) return fmt::format("is {}, not {}", got, cpu);
    const double error = error_in_ulp(got, i);
    if (error <= allowed_ || std::abs(got - exact) <= 4 * spread_[i]) return {};
    return fmt::format("is {:.9g}, not {:.9g}: {:.3g} ulp, {:.3g} are allowed", got, exact, error, allowed_);
  }

 private:
  // Results of arguments that differ in their last bits.
  void note_nearby(std::span<const double> others) {
    for (std::size_t i = 0; i < cpu_.size() && others.size() == cpu_.size(); ++i) {
      const bool is_finite = std::isfinite(others[i]) && std::isfinite(exact_[i]);
      const bool is_same = others[i] == exact_[i] || (std::isnan(others[i]) && std::isnan(exact_[i]));
      if (!is_same) spread_[i] = is_finite ? std::max(spread_[i], std::abs(others[i] - exact_[i])) : INFINITY;
    }
  }
  // A complex product with an infinite part has infinite, finite and NaN parts, as its steps come.
  bool is_open(std::span<const double> all, std::size_t i) const {
    if (is_pointwise_ || has_signed_zeros_) return false;
    const auto is_number = [i](std::span<const double> parts) {
      return std::isfinite(parts[i / 2 * 2]) && std::isfinite(parts[i / 2 * 2 + 1]);
    };
    return !is_number(all) && !is_number(cpu_);
  }
  double error_in_ulp(double x, std::size_t i) const {
    const double at = is_pointwise_ ? exact_[i] : greatest_;
    return std::abs(x - exact_[i]) / ulp_at(at, format_);
  }
  // NaN, or an infinity where the exact number is one, or none of the format.
  bool is_exact_special(double got, double exact) const {
    if (std::isnan(got)) return std::isnan(exact);
    return std::isinf(got) && std::abs(exact) > greatest_of(format_) && std::signbit(got) == std::signbit(exact);
  }
  double allowed(double cpu_error) const {
    if (is_pointwise_) {
      const bool is_double = format_.fraction_bits == 52;
      if (has_exact_ && !is_double && cpu_error <= kCorrect) {
        return is_basic_ || format_.fraction_bits <= 10 ? 0.51 : 4;
      }
      return std::max(4.0, 4 * cpu_error);
    }
    if (!has_exact_) return std::max(32.0, 4 * error_in_float32_);
    return std::max(format_.fraction_bits <= 10 ? 1.0 : 16.0, 4 * cpu_error);
  }

  const FloatFormat format_;
  const bool is_pointwise_, is_basic_, has_signed_zeros_, has_exact_;
  const double error_in_float32_;
  const std::span<const double> cpu_, unrounded_;
  std::vector<double> exact_;
  std::vector<double> spread_;  // of the results nearby
  double greatest_;
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

double greatest_error(const TensorBase& cpu, const TensorBase& exact) {
  const std::optional<FloatFormat> format = format_of(cpu.dtype());
  if (!format) return 0;
  const Tensor rounded = as_doubles(cpu), unrounded = as_doubles(exact);
  const auto x = elements_of(rounded), y = elements_of(unrounded);
  double greatest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    greatest = std::max(greatest, std::abs(x[i] - y[i]) / ulp_at(y[i], *format));
  }
  return greatest;
}

double error_of_sums(const TensorBase& cpu, const TensorBase& exact) {
  const std::optional<FloatFormat> format = format_of(cpu.dtype());
  if (!format) return 0;
  const Tensor rounded = as_doubles(cpu), unrounded = as_doubles(exact);
  const auto x = elements_of(rounded), y = elements_of(unrounded);
  double greatest = 0, error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    greatest = std::max(greatest, std::abs(y[i]));
    error = std::max(error, std::abs(x[i] - y[i]));
  }
  return error / ulp_at(greatest, *format);
}

std::string value_difference(const TensorBase& got, const Expected& expected) {
  if (got.numel() == 0) return {};
  std::optional<FloatFormat> format = format_of(got.dtype());
  if (!format) return same_bits(got, expected.cpu) ? "" : "its elements differ";
  const Tensor given = as_doubles(got), cpu = as_doubles(expected.cpu);
  const Tensor exact = expected.exact.defined() ? as_doubles(expected.exact) : Tensor();
  const std::optional<FloatFormat> narrow = expected.computed_in ? format_of(*expected.computed_in) : std::nullopt;
  if (narrow && narrow->fraction_bits < format->fraction_bits) format = narrow;
  const FloatComparison comparison(*format, expected, elements_of(cpu),
                                   exact.defined() ? elements_of(exact) : std::span<const double>());
  const auto elements = elements_of(given);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string problem = comparison.problem(elements, i);
    if (!problem.empty()) return fmt::format("element {} {}", i, problem);
  }
  return {};
}

}  // namespace keyway::inline v1::tools
