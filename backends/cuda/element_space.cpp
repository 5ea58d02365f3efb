#include <keyway/backends/cuda/element_space.h>

namespace keyway::inline v1::cuda {

ElementSpace::ElementSpace(IntArrayRef sizes) : sizes_(sizes) {
  space_.operands = 0;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1) space_.sizes[space_.rank++] = sizes[i];
  }
}

template <typename Step>
ElementSpace& ElementSpace::add(char* data, const Step& step) {
  if (space_.operands == 0) origin_ = data;
  const int k = space_.operands++;
  space_.data[k] = data;
  int d = 0;
  for (std::size_t i = sizes_.size(); i-- > 0;) {
    if (sizes_[i] != 1) space_.strides[k][d++] = step(i);
  }
  return *this;
}

ElementSpace& ElementSpace::tensor(const TensorBase& tensor) { return line(tensor, -1); }

ElementSpace& ElementSpace::line(const TensorBase& tensor, std::int64_t dim) {
  const std::size_t missing = sizes_.size() - tensor.sizes().size();
  const auto item = static_cast<std::int64_t>(tensor.itemsize());
  return add(static_cast<char*>(tensor.data_ptr()), [&](std::size_t i) {
    const bool still = i < missing || static_cast<std::int64_t>(i) == dim || tensor.sizes()[i - missing] == 1;
    return still ? 0 : tensor.strides()[i - missing] * item;
  });
}

ElementSpace& ElementSpace::coordinate(std::int64_t dim) {
  return add(origin_, [&](std::size_t i) { return static_cast<std::int64_t>(i) == dim ? 1 : 0; });
}

ElementSpace& ElementSpace::number(std::int64_t first) {
  std::int64_t next = 1;
  return add(origin_, [&](std::size_t i) {
    if (static_cast<std::int64_t>(i) < first) return std::int64_t{0};
    const std::int64_t step = next;
    next *= sizes_[i];
    return step;
  });
}

IterationSpace ElementSpace::space() const {
  IterationSpace simple = space_;
  simplify(simple);
  return simple;
}

}  // namespace keyway::inline v1::cuda
