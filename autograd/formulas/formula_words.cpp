#include <keyway/autograd/formulas/formula_words.h>
#include <keyway/core/base/error.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

namespace {

bool both_integers(const Scalar& a, const Scalar& b) {
  return a.type() != ScalarType::UInt64 && b.type() != ScalarType::UInt64 && a.is_integral(true) && b.is_integral(true);
}

// `on_integers(a, b, &result)` tells whether it overflowed.
template <typename OnIntegers, typename OnNumbers>
Scalar combine(const Scalar& a, const Scalar& b, const OnIntegers& on_integers, const OnNumbers& on_numbers) {
  std::int64_t result = 0;
  if (both_integers(a, b) && !on_integers(a.to<std::int64_t>(), b.to<std::int64_t>(), &result)) return result;
  if (a.is_complex() || b.is_complex()) return on_numbers(a.to<complex<double>>(), b.to<complex<double>>());
  return on_numbers(a.to<double>(), b.to<double>());
}

std::size_t clamped(std::int64_t i, std::int64_t size) {
  return static_cast<std::size_t>(std::clamp(i < 0 ? i + size : i, std::int64_t{0}, size));
}

}  // namespace

DimVector items(IntArrayRef list, std::optional<std::int64_t> begin, std::optional<std::int64_t> end) {
  const std::size_t first = clamped(begin.value_or(0), len(list));
  const std::size_t last = clamped(end.value_or(len(list)), len(list));
  return first < last ? DimVector(list.slice(first, last - first)) : DimVector();
}

std::int64_t sum_of(IntArrayRef list) {
  std::int64_t sum = 0;
  for (const std::int64_t value : list) sum += value;
  return sum;
}

std::int64_t product_of(IntArrayRef list) {
  std::int64_t product = 1;
  for (const std::int64_t value : list) product *= value;
  return product;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  KEYWAY_CHECK(b != 0, "a derivative formula divides {} by zero", a);
  const std::int64_t quotient = b == -1 ? -a : a / b;
  return a - quotient * b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Scalar operator+(const Scalar& a, const Scalar& b) {
  return combine(
      a, b, [](auto x, auto y, auto* r) { return __builtin_add_overflow(x, y, r); },
      [](auto x, auto y) { return Scalar(x + y); });
}
Scalar operator-(const Scalar& a, const Scalar& b) {
  return combine(
      a, b, [](auto x, auto y, auto* r) { return __builtin_sub_overflow(x, y, r); },
      [](auto x, auto y) { return Scalar(x - y); });
}
Scalar operator*(const Scalar& a, const Scalar& b) {
  return combine(
      a, b, [](auto x, auto y, auto* r) { return __builtin_mul_overflow(x, y, r); },
      [](auto x, auto y) { return Scalar(x * y); });
}
Scalar operator/(const Scalar& a, const Scalar& b) {
  return combine(
      a, b, [](auto, auto, auto*) { return true; }, [](auto x, auto y) { return Scalar(x / y); });
}
bool operator<(const Scalar& a, const Scalar& b) {
  if (both_integers(a, b)) return a.to<std::int64_t>() < b.to<std::int64_t>();
  return a.to<double>() < b.to<double>();
}

Tensor number_tensor(const Scalar& value) {
  const ScalarType dtype = value.is_bool() ? ScalarType::Long : value.type();
  return keyway::scalar_tensor(value, TensorOptions().dtype(dtype));
}

std::vector<std::optional<Tensor>> optional_tensors(ArrayRef<Tensor> tensors) {
  std::vector<std::optional<Tensor>> out;
  out.reserve(tensors.size());
  for (const Tensor& tensor : tensors) out.push_back(tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt);
  return out;
}

}  // namespace keyway::inline v1::autograd
