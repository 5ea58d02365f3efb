#include <keyway/backends/cpu/panel.h>

namespace keyway::inline v1 {

PanelSpace::PanelSpace(std::initializer_list<const TensorBase*> operands, std::int64_t dim, std::int64_t width) {
  const TensorBase* const* tensors = operands.begin();
  const TensorBase& first = *tensors[0];
  space_.operands = static_cast<int>(operands.size());
  for (int k = 0; k < space_.operands; ++k) {
    const TensorBase& tensor = *tensors[k];
    space_.data[k] = static_cast<char*>(tensor.data_ptr());
    const auto itemsize = static_cast<std::int64_t>(tensor.itemsize());
    step_[k] = tensor.dim() == 0 ? itemsize : tensor.strides()[static_cast<std::size_t>(dim)] * itemsize;
  }
  std::int64_t lines = 1;
  for (std::int64_t d = first.dim() - 1; d >= 0; --d) {
    const std::int64_t size = first.sizes()[static_cast<std::size_t>(d)];
    if (d == dim) continue;
    lines *= size;
    if (size == 1) continue;
    const int at = space_.rank++;
    space_.sizes[at] = size;
    for (int k = 0; k < space_.operands; ++k) {
      space_.strides[k][at] =
          tensors[k]->strides()[static_cast<std::size_t>(d)] * static_cast<std::int64_t>(tensors[k]->itemsize());
    }
  }
  if (lines == 0) return;
  simplify(space_);
  width_ = std::min(width, space_.size(0));
  across_ = (space_.size(0) - 1) / width_ + 1;
  panels_ = across_;
  for (int d = 1; d < space_.rank; ++d) panels_ *= space_.sizes[d];
}

Panel PanelSpace::panel(std::int64_t index) const {
  Panel panel;
  const std::int64_t column = index % across_ * width_;
  panel.lines = std::min(width_, space_.size(0) - column);
  for (int k = 0; k < space_.operands; ++k) {
    panel.step[k] = step_[k];
    panel.next[k] = space_.stride(k, 0);
    panel.data[k] = space_.data[k] + column * panel.next[k];
  }
  index /= across_;
  for (int d = 1; d < space_.rank; ++d) {
    const std::int64_t i = index % space_.sizes[d];
    index /= space_.sizes[d];
    for (int k = 0; k < space_.operands; ++k) panel.data[k] += i * space_.strides[k][d];
  }
  return panel;
}

}  // namespace keyway::inline v1
