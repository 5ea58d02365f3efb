#include <keyway/core/base/error.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/dtype/dtype_set.h>

#include <atomic>

namespace keyway::inline v1 {
namespace {
constinit std::atomic<ScalarType> default_dtype{ScalarType::Float};
}

ScalarType get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(ScalarType dtype) {
  KEYWAY_CHECK_AS(Type, kFloatingTypes.contains(dtype), "The default dtype is one of {}, not {}.", kFloatingTypes,
                  dtype);
  default_dtype.store(dtype, std::memory_order_relaxed);
}

ScalarType get_default_complex_dtype() { return to_complex(get_default_dtype()); }

}  // namespace keyway::inline v1
