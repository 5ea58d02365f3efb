// ExpandingArray<N>: N numbers, or one that stands for all of them: kernel_size(3), stride({2, 1}).
#pragma once

#include <keyway/core/base/error.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

namespace keyway::inline v1::nn {

template <std::size_t N>
class ExpandingArray {
 public:
  ExpandingArray(std::int64_t all) { values_.fill(all); }                  // NOLINT
  ExpandingArray(std::array<std::int64_t, N> values) : values_(values) {}  // NOLINT
  // Throws keyway::Error if there are not N.
  ExpandingArray(std::initializer_list<std::int64_t> values) {
    KEYWAY_CHECK(values.size() == N, "{} numbers are asked for, but {} were given", N, values.size());
    std::ranges::copy(values, values_.begin());
  }

  const std::int64_t* data() const { return values_.data(); }
  std::size_t size() const { return N; }
  std::int64_t operator[](std::size_t i) const { return values_[i]; }

 private:
  std::array<std::int64_t, N> values_;
};

}  // namespace keyway::inline v1::nn
