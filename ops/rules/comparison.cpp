#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/rules/comparison.h>
#include <keyway/ops/rules/promotion.h>

#include <limits>
#include <utility>

namespace keyway::inline v1 {

namespace {

bool is_integer(ScalarType dtype) { return is_integral(dtype, false); }

// The bits of an integer without its sign, and those of a float.
int digits_of(ScalarType dtype) {
  int digits = 0;
  visit_real(dtype, "a comparison", [&]<typename T>() { digits = std::numeric_limits<T>::digits; });
  return digits;
}

bool holds(ScalarType dtype, const Scalar& number) {
  bool same = false;
  visit_real(dtype, "a comparison", [&]<typename T>() {
    T element{};
    same = number.try_to(element) && Scalar(element) == number;
  });
  return same;
}

}  // namespace

namespace detail {

ScalarType common_of_compared(const TensorBase& a, const TensorBase& b) {
  if (is_compared_three_way(a.dtype(), b.dtype())) return ScalarType::Float;
  if (is_integer(a.dtype()) && is_integer(b.dtype())) return promote_types(a.dtype(), b.dtype());
  return (Promotion() << a << b).result();
}

}  // namespace detail

bool is_compared_three_way(ScalarType a, ScalarType b) {
  if (!is_integer(a)) std::swap(a, b);
  if (!is_integer(a)) return false;
  if (is_integer(b)) {
    return (a == ScalarType::UInt64 && is_signed(b)) || (b == ScalarType::UInt64 && is_signed(a));
  }
  return kFloatingTypes.contains(b) && digits_of(a) > digits_of(b);
}

bool is_compared_three_way(ScalarType dtype, const Scalar& number) {
  if (!is_integer(dtype) || number.is_bool() || number.is_complex()) return false;
  if (number.is_integral(false)) return !holds(dtype, number);
  return is_compared_three_way(dtype, get_default_dtype()) || !holds(get_default_dtype(), number);
}

}  // namespace keyway::inline v1
