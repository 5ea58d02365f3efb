// DeviceAssertTarget: how a kernel refuses an element. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/device_asserts.h>

namespace keyway::inline v1::cuda {

// What a kernel writes, and where to; its functor may have no reason to.
struct DeviceAssertTarget {
  const DeviceAssert* what = nullptr;
  DeviceAssertSlot* slot = nullptr;
};
// For the operator that runs; nothing to write if `reason` is null.
DeviceAssertTarget device_assert_target(const char* reason, Stream stream);

// Functor::kElementError; null if it has none, and so accepts all elements.
template <typename F>
inline constexpr const char* kElementErrorOf = nullptr;
template <typename F>
requires requires { F::kElementError; }
inline constexpr const char* kElementErrorOf<F> = F::kElementError;

}  // namespace keyway::inline v1::cuda
