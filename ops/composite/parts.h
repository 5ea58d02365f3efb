// How many parts a dimension may be cut into.
#pragma once

#include <keyway/core/base/error.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace keyway::inline v1::composite {

// Of an empty dimension, or beyond its elements, parts are empty, and what they are held in would fill memory.
inline void check_parts(std::string_view argument, std::int64_t parts, std::int64_t size) {
  constexpr std::int64_t kMostEmptyParts = 1 << 20;
  KEYWAY_CHECK(parts <= kMostEmptyParts || parts <= size, "{} is {}, but a dimension of size {} has at most {} parts",
               argument, parts, size, std::max(size, kMostEmptyParts));
}

}  // namespace keyway::inline v1::composite
