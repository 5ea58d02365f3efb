// Operands and results as kernels want them. Internal to backends/cuda.
#pragma once

#include <keyway/backends/common/operands.h>
#include <keyway/backends/cuda/kernels/copy_elements.h>

namespace keyway::inline v1::cuda {

inline constexpr auto contiguous_as = operands::contiguous_as<copy_elements>;
inline constexpr auto contiguous = operands::contiguous<copy_elements>;
inline constexpr auto as_dtype = operands::as_dtype<copy_elements>;
inline constexpr auto begin_as = operands::begin_as<copy_elements>;
inline constexpr auto apart_from = operands::apart_from<copy_elements>;
using ContiguousOut = operands::ContiguousOut<copy_elements>;

}  // namespace keyway::inline v1::cuda
