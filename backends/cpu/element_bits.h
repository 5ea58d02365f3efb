// Elements as bits: what only moves elements needs one loop per size and none per dtype.
#pragma once

#include <cstddef>
#include <cstdint>

namespace keyway::inline v1 {

struct Bits128 {
  std::uint64_t words[2];
};

// Calls f.operator()<T>() with an unsigned type of `itemsize` bytes: 1, 2, 4, 8 or 16.
template <typename F>
void visit_bits(std::size_t itemsize, const F& f) {
  switch (itemsize) {
    case 1: return f.template operator()<std::uint8_t>();
    case 2: return f.template operator()<std::uint16_t>();
    case 4: return f.template operator()<std::uint32_t>();
    case 8: return f.template operator()<std::uint64_t>();
    default: return f.template operator()<Bits128>();
  }
}

}  // namespace keyway::inline v1
