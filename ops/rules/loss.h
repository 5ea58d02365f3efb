// Rules of losses.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <array>

namespace keyway::inline v1::rules {

// A loss for each row without a reduction (0), else one number.
inline std::array<OutputMeta, 2> nll_loss_forward(const TensorBase& self, const TensorBase& target, const TensorBase&,
                                                  std::int64_t reduction, std::int64_t) {
  const bool each = reduction == 0 && self.dim() == 2;
  return {each ? meta_of(target.sizes()) : meta_of(IntArrayRef()), meta_of(IntArrayRef())};
}

// Of each row two numbers more.
inline std::array<OutputMeta, 3> _cross_entropy_forward(const TensorBase& self, const TensorBase& target,
                                                        const TensorBase& weight, std::int64_t reduction,
                                                        std::int64_t ignore_index) {
  const auto [output, total_weight] = nll_loss_forward(self, target, weight, reduction, ignore_index);
  DimVector pairs(target.sizes());
  pairs.push_back(2);
  return {output, total_weight, meta_of(pairs)};
}

inline OutputMeta _cross_entropy_backward(const TensorBase&, const TensorBase& self, const TensorBase&,
                                          const TensorBase&, std::int64_t, std::int64_t, const TensorBase&,
                                          const TensorBase&) {
  return meta_of(self.sizes());
}

inline OutputMeta nll_loss_backward(const TensorBase&, const TensorBase& self, const TensorBase&, const TensorBase&,
                                    std::int64_t, std::int64_t, const TensorBase&) {
  return meta_of(self.sizes());
}

}  // namespace keyway::inline v1::rules
