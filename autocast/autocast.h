// Autocast: within a region of one thread, products of matrices and convolutions run in a short dtype (float16,
// bfloat16), and what needs the range or the digits of float32 runs in float32. The schema entry of an operator says
// which it is ("autocast": kernels.h); the same holds on every backend, those out of tree among them.
//
//   {
//     AutocastMode autocast(DeviceType::CUDA, ScalarType::BFloat16);
//     loss = cross_entropy_loss(model(input), target);
//   }
//   loss.backward();  // never autocast: gradients have the dtypes that their forward had
//
// Only tensors of float32 and of the short dtypes take part. Conversions are differentiable, so that the gradient of a
// float32 weight is float32.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/device/device.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/core/keys/thread_state.h>

#include <optional>

namespace keyway::inline v1 {

// Whether this thread's calls on devices of the type are autocast.
KEYWAY_API bool is_autocast_enabled(DeviceType device);
KEYWAY_API void set_autocast_enabled(DeviceType device, bool enabled);

// The short dtype of a device type on this thread. Default: bfloat16 for the CPU and Meta, else float16.
KEYWAY_API ScalarType autocast_dtype(DeviceType device);
// Throws keyway::Error(Type) unless `dtype` is float16, bfloat16 or float32 (which turns nothing into a short dtype).
KEYWAY_API void set_autocast_dtype(DeviceType device, ScalarType dtype);

// Whether a float32 leaf that requires grad, a weight, is converted once in an outermost region of this thread rather
// than for each call (the default). It is converted again once it has been changed in place.
KEYWAY_API bool is_autocast_cache_enabled();
KEYWAY_API void set_autocast_cache_enabled(bool enabled);
KEYWAY_API void clear_autocast_cache();

// Counts regions that one enters, and gives how many that makes: conversions are kept while there are any, and let go
// with the last one.
KEYWAY_API int autocast_increment_nesting();
KEYWAY_API int autocast_decrement_nesting();

// A region. It ends with the object, on the thread that made it.
class KEYWAY_API AutocastMode {
 public:
  // Throws keyway::Error(Type) as set_autocast_dtype() does; nothing is changed then.
  explicit AutocastMode(DeviceType device, std::optional<ScalarType> dtype = std::nullopt, bool enabled = true,
                        std::optional<bool> cache_enabled = std::nullopt);
  ~AutocastMode();
  AutocastMode(const AutocastMode&) = delete;
  AutocastMode& operator=(const AutocastMode&) = delete;

 private:
  DeviceType device_;
  bool enabled_before_, cache_before_;
  ScalarType dtype_before_;
};

}  // namespace keyway::inline v1
