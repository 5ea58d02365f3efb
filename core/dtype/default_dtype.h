// The dtype that new floating-point tensors have when nobody names one.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/dtype/scalar_type.h>

namespace keyway::inline v1 {

// One setting of the whole program, float32 at its start. Both may be called from any thread.
KEYWAY_API ScalarType get_default_dtype();
// Errors: Type, unless the dtype is float16, bfloat16, float32 or float64.
KEYWAY_API void set_default_dtype(ScalarType dtype);
// The complex type of the default dtype.
KEYWAY_API ScalarType get_default_complex_dtype();

}  // namespace keyway::inline v1
