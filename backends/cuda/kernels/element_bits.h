// Elements moved as bits, whatever they mean. Internal to backends/cuda.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>

namespace keyway::inline v1::cuda {

// Calls f.operator()<T>() with a type of so many bytes, and returns what it returns.
template <typename F>
decltype(auto) visit_bits(std::size_t itemsize, const F& f) {
  switch (itemsize) {
    case 1: return f.template operator()<std::uint8_t>();
    case 2: return f.template operator()<std::uint16_t>();
    case 4: return f.template operator()<std::uint32_t>();
    case 8: return f.template operator()<std::uint64_t>();
    default: return f.template operator()<ulonglong2>();
  }
}

}  // namespace keyway::inline v1::cuda
