// ElementSpace: the space of a kernel that goes from element to element and finds others from there: a lookup, a
// window, a counter.
#pragma once

#include <keyway/backends/cuda/launch_space.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

// Operands in the order they are added, at most IterationSpace::kMaxOperands; the first is a tensor that each element
// has a location of its own in, if anything is written there. Sizes have no 0.
class ElementSpace {
 public:
  explicit ElementSpace(IntArrayRef sizes);

  // A tensor that broadcasts to the sizes.
  ElementSpace& tensor(const TensorBase& tensor);
  // One of as many dimensions that broadcasts to the sizes in all but `dim`, and stays at the first element of that.
  ElementSpace& line(const TensorBase& tensor, std::int64_t dim);
  // No tensor: how far the element is along a dimension, and its number in row-major order, that of the dimensions from
  // `first` on.
  ElementSpace& coordinate(std::int64_t dim);
  ElementSpace& number(std::int64_t first = 0);

  IterationSpace space() const;

 private:
  // `step(i)` is how far, in bytes or in numbers, the operand goes along dimension i.
  template <typename Step>
  ElementSpace& add(char* data, const Step& step);

  IterationSpace space_;
  char* origin_ = nullptr;  // what numbers count from: some address
  IntArrayRef sizes_;
};

// Where one element is, in a kernel.
template <int N>
class Element {
 public:
  KEYWAY_HD Element(const LaunchSpace& space, const char* origin, std::uint32_t index)
      : space_(space), origin_(origin) {
    space.locate(index, offset_);
  }

  // The element of a tensor that is there.
  template <typename T>
  KEYWAY_HD T& at(int operand) const {
    return *reinterpret_cast<T*>(address(operand));
  }
  KEYWAY_HD char* address(int operand) const { return space_.data[operand] + offset_[operand]; }
  // Of an operand that is no tensor.
  KEYWAY_HD std::int64_t number(int operand) const { return space_.data[operand] - origin_ + offset_[operand]; }

 private:
  const LaunchSpace& space_;
  const char* origin_;
  std::int64_t offset_[N];
};

}  // namespace keyway::inline v1::cuda
