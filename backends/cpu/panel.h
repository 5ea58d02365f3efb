// Panels: the lines of some tensors along one dimension, those that lie side by side taken together.
//
//   for_each_panel({&out, &self}, dim, length, 64, [&](const Panel& panel) { ... });
//
// serves softmax, gather, scatter, sort and what else treats each line by itself. Where a line is contiguous
// a kernel runs along it; where it is not, the neighbours of a panel usually are, and it runs across them.
#pragma once

#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/tensor/iteration_space.h>
#include <keyway/core/tensor/tensor_base.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace keyway::inline v1 {

// Element i of line j of operand k is at data[k] + i * step[k] + j * next[k], in bytes. How long a line is,
// each operand knows for itself.
struct Panel {
  char* data[IterationSpace::kMaxOperands];
  std::int64_t step[IterationSpace::kMaxOperands];
  std::int64_t next[IterationSpace::kMaxOperands];
  std::int64_t lines;

  template <typename T>
  T* at(int k, std::int64_t i, std::int64_t j) const {
    return reinterpret_cast<T*>(data[k] + i * step[k] + j * next[k]);
  }
};

// All lines of the operands, cut into panels. Lines lie where the first operand has indices besides `dim`:
// the others have as many dimensions and are at least as large in each but `dim`.
class PanelSpace {
 public:
  PanelSpace(std::initializer_list<const TensorBase*> operands, std::int64_t dim, std::int64_t width);

  std::int64_t panels() const { return panels_; }
  // Lines of a full panel.
  std::int64_t width() const { return width_; }
  Panel panel(std::int64_t index) const;

 private:
  IterationSpace space_;  // the other dimensions
  std::int64_t step_[IterationSpace::kMaxOperands];
  std::int64_t width_ = 1;
  std::int64_t across_ = 1;  // panels along the innermost of the other dimensions
  std::int64_t panels_ = 0;
};

// Calls f for panels of at most `width` lines that together hold every line once; on several threads where
// the lines, at `work` elements each, are worth it. Results must not depend on which lines share a panel.
template <typename F>
void for_each_panel(std::initializer_list<const TensorBase*> operands, std::int64_t dim, std::int64_t work,
                    std::int64_t width, const F& f) {
  constexpr std::int64_t kElementsOfAThread = 32768;
  const PanelSpace space(operands, dim, width);
  const std::int64_t cost = std::max<std::int64_t>(1, std::min(work, kElementsOfAThread)) * space.width();
  parallel_for(0, space.panels(), std::max<std::int64_t>(1, kElementsOfAThread / cost),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) f(space.panel(i));
               });
}

}  // namespace keyway::inline v1
