// Tensors without data, and the numbers that rules have to be careful with.
#pragma once

#include <keyway/core/tensor/tensor_base.h>
#include <keyway/ops/rules/output_meta.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace keyway::inline v1::testing {

using Ints = std::vector<std::int64_t>;

inline constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

inline TensorBase tensor(const Ints& sizes) { return make_tensor(sizes, ScalarType::Float, DeviceType::Meta); }
inline Ints sizes_of(const OutputMeta& meta) { return {meta.sizes.begin(), meta.sizes.end()}; }

}  // namespace keyway::inline v1::testing
