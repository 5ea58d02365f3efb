// Inputs and references of kernel tests: tensors of random geometry, read one element at a time as doubles.
#pragma once

#include <keyway/tests/backends/cpu/random_tensor.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace keyway::inline v1::testing {

inline Sizes sizes_of(const TensorBase& tensor) { return Sizes(tensor.sizes().begin(), tensor.sizes().end()); }

// Any element as a double.
inline double value_at(const TensorBase& tensor, const Sizes& index) {
  return visit_real(tensor.dtype(), "value_at",
                    [&]<typename T>() { return static_cast<double>(element<T>(tensor, index)); });
}
// All of them, in row-major order.
inline std::vector<double> values_of(const TensorBase& tensor) {
  std::vector<double> values;
  each_index(sizes_of(tensor), [&](const Sizes& index) { values.push_back(value_at(tensor, index)); });
  return values;
}

// Of random geometry, with reals of [low, high).
inline TensorBase random_reals(Rng& rng, const Sizes& sizes, ScalarType dtype, double low = -3, double high = 3) {
  const TensorBase tensor = random_geometry(rng, sizes, dtype);
  std::uniform_real_distribution<double> reals(low, high);
  visit_floating(dtype, "random_reals", [&]<typename T>() {
    fill_storage<T>(tensor, [&] { return static_cast<T>(static_cast<float>(reals(rng))); });
  });
  return tensor;
}
// With integers of [low, high].
inline TensorBase random_integers(Rng& rng, const Sizes& sizes, ScalarType dtype, std::int64_t low, std::int64_t high) {
  const TensorBase tensor = random_geometry(rng, sizes, dtype);
  visit_integral(dtype, "random_integers", [&]<typename T>() {
    fill_storage<T>(tensor, [&] { return static_cast<T>(random_int(rng, low, high)); });
  });
  return tensor;
}
inline TensorBase random_out(Rng& rng, const Sizes& sizes, ScalarType dtype) {
  const TensorBase out = random_geometry(rng, sizes, dtype);
  std::memset(out.storage().data(), 0x55, out.storage().nbytes());
  return out;
}

template <typename T>
TensorBase tensor_of(const Sizes& sizes, const std::vector<T>& values) {
  const TensorBase tensor = make_tensor(sizes, cpp_type_to_scalar_type<T>, DeviceType::CPU);
  std::copy(values.begin(), values.end(), static_cast<T*>(tensor.data_ptr()));
  return tensor;
}

// Equal, both NaN, or within `tolerance` of each other, relative to the expected one where that is above 1.
inline bool close(double actual, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (actual == expected) return true;
  return std::abs(actual - expected) <= tolerance * std::max(1.0, std::abs(expected));
}
inline double tolerance_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Double: return 1e-12;
    case ScalarType::Float: return 3e-6;
    case ScalarType::Half: return 2e-3;
    default: return 2e-2;
  }
}
inline bool all_close(const TensorBase& actual, const std::vector<double>& expected, double tolerance) {
  const std::vector<double> values = values_of(actual);
  if (values.size() != expected.size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!close(values[i], expected[i], tolerance)) return false;
  }
  return true;
}

// The text of the error that f throws, or "".
template <typename F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return std::string(error.message());
  }
  return {};
}

inline constexpr ScalarType kFloatings[] = {kFloat, kDouble, kHalf, kBFloat16};

}  // namespace keyway::inline v1::testing
