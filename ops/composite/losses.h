// What losses share.
#pragma once

#include <keyway/ops/all.h>

#include <cstdint>

namespace keyway::inline v1::composite {

inline constexpr std::int64_t kNoReduction = 0, kMeanOfLosses = 1;

// The losses of all elements, their mean (1) or their sum (2).
inline Tensor reduced(const Tensor& loss, std::int64_t reduction) {
  if (reduction == kNoReduction) return loss;
  return reduction == kMeanOfLosses ? loss.mean() : loss.sum();
}

inline Tensor weighed(const Tensor& loss, const std::optional<Tensor>& weight) {
  return weight && weight->defined() ? loss * *weight : loss;
}

}  // namespace keyway::inline v1::composite
