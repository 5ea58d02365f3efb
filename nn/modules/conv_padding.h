// ConvPadding<D>: the padding of a convolution: numbers, "valid" (none) or "same" (the result has the input's size).
#pragma once

#include <keyway/nn/expanding_array.h>

#include <concepts>
#include <string>
#include <string_view>

namespace keyway::inline v1::nn {

template <std::size_t D>
class ConvPadding {
 public:
  ConvPadding(ExpandingArray<D> numbers) : numbers_(numbers) {}                    // NOLINT
  ConvPadding(std::int64_t all) : numbers_(all) {}                                 // NOLINT
  ConvPadding(std::initializer_list<std::int64_t> numbers) : numbers_(numbers) {}  // NOLINT
  template <std::convertible_to<std::string_view> Name>
  ConvPadding(const Name& name) : numbers_(0), name_(std::string_view(name)) {}  // NOLINT

  // What the numbers are; zeros where there is a name.
  const ExpandingArray<D>& numbers() const { return numbers_; }
  // Empty where there are numbers.
  const std::string& name() const { return name_; }
  std::int64_t operator[](std::size_t i) const { return numbers_[i]; }

 private:
  ExpandingArray<D> numbers_;
  std::string name_;
};

}  // namespace keyway::inline v1::nn
