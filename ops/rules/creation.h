// Rules of operators that make tensors.
#pragma once

#include <keyway/core/dtype/scalar.h>
#include <keyway/ops/rules/output_meta.h>

#include <optional>

namespace keyway::inline v1::rules {

// Requires: finite numbers, a step that is not 0 and leads from start to end.
KEYWAY_API OutputMeta arange(const Scalar& start, const Scalar& end, const Scalar& step,
                             std::optional<ScalarType> dtype, std::optional<Layout> layout,
                             std::optional<Device> device, std::optional<bool> pin_memory);

// Sizes and order of `self`: fill.
inline OutputMeta like(const TensorBase& self, const Scalar&) { return meta_like(self); }

}  // namespace keyway::inline v1::rules
