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

template <std::size_t N, typename T = std::int64_t>
class ExpandingArray {
 public:
  ExpandingArray(T all) { values_.fill(all); }                  // NOLINT
  ExpandingArray(std::array<T, N> values) : values_(values) {}  // NOLINT
  // Throws keyway::Error if there are not N.
  ExpandingArray(std::initializer_list<T> values) {
    KEYWAY_CHECK(values.size() == N, "{} numbers are asked for, but {} were given", N, values.size());
    std::ranges::copy(values, values_.begin());
  }

  const T* data() const { return values_.data(); }
  std::size_t size() const { return N; }
  const T& operator[](std::size_t i) const { return values_[i]; }

 protected:
  std::array<T, N> values_;
};

template <std::size_t N>
class ExpandingArrayWithOptionalElem : public ExpandingArray<N, std::optional<std::int64_t>> {
 public:
  using Element = std::optional<std::int64_t>;
  using Base = ExpandingArray<N, Element>;
  using Base::Base;
  ExpandingArrayWithOptionalElem(std::int64_t all) : Base(Element(all)) {}             // NOLINT
  ExpandingArrayWithOptionalElem(const ExpandingArray<N>& values) : Base(Element()) {  // NOLINT
    std::copy_n(values.data(), N, this->values_.begin());
  }
};

}  // namespace keyway::inline v1::nn
