// ExpandingArray<N>: N numbers, or one that stands for all of them: kernel_size(3), stride({2, 1}).
// ExpandingArrayWithOptionalElem<N>: some may be absent: output_size({nullopt, 3}).
#pragma once

#include <keyway/core/base/error.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

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

template <std::size_t N>
class ExpandingArrayWithOptionalElem {
 public:
  using Element = std::optional<std::int64_t>;
  ExpandingArrayWithOptionalElem(std::int64_t all) { values_.fill(all); }  // NOLINT
  ExpandingArrayWithOptionalElem(Element all) { values_.fill(all); }       // NOLINT
  ExpandingArrayWithOptionalElem(const ExpandingArray<N>& values) {        // NOLINT
    for (std::size_t i = 0; i < N; ++i) values_[i] = values[i];
  }
  ExpandingArrayWithOptionalElem(std::array<Element, N> values) : values_(values) {}  // NOLINT
  // Throws keyway::Error if there are not N.
  ExpandingArrayWithOptionalElem(std::initializer_list<Element> values) {
    KEYWAY_CHECK(values.size() == N, "{} numbers are asked for, but {} were given", N, values.size());
    std::ranges::copy(values, values_.begin());
  }

  const Element& operator[](std::size_t i) const { return values_[i]; }

 private:
  std::array<Element, N> values_;
};

}  // namespace keyway::inline v1::nn
