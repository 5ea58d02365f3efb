// A dual tensor: a primal and its tangent, the derivative at one level. It has the primal's sizes, strides and memory;
// its key ForwardAD leads calls to where the tangents of their results are computed.
#pragma once

#include <keyway/core/tensor/tensor_base.h>
#include <keyway/forward/dual.h>

namespace keyway::inline v1::forward {

// Primal and tangent may be dual themselves, at outer levels.
class DualValue final : public TensorExtra {
 public:
  DualValue(TensorBase primal, TensorBase tangent, LevelPtr level)
      : primal_(std::move(primal)), tangent_(std::move(tangent)), level_(std::move(level)) {}
  const TensorBase& primal() const { return primal_; }
  // Undefined if the tensor was detached in place.
  const TensorBase& tangent() const { return tangent_; }
  const LevelPtr& level() const { return level_; }
  bool has_tangent() const { return tangent_.defined() && !level_->has_ended(); }

 private:
  TensorBase primal_;
  TensorBase tangent_;
  LevelPtr level_;
};

// Null if the tensor, which may be undefined, is no dual one.
KEYWAY_API const DualValue* dual_value(const TensorBase& tensor);
// Follows primals until the tensor is plain or has a live tangent: strips levels that have ended, and duals that were
// detached in place.
KEYWAY_API TensorBase unwrap_if_ended(const TensorBase& tensor);
// The tensor without tangents of any level: what autograd's questions about it are for.
KEYWAY_API TensorBase innermost_primal(const TensorBase& tensor);
// Whether gradients flow to it: to its primal.
KEYWAY_API bool requires_grad(const TensorBase& tensor);

// Requires: the tangent has the primal's sizes, dtype and device.
KEYWAY_API TensorBase make_dual_tensor(TensorBase primal, TensorBase tangent, LevelPtr level);
// A copy of `tangent` with the primal's strides (contiguous if the primal overlaps itself), so that views of the primal
// are views of the tangent; `tangent` itself if it has these strides and does not overlap itself.
KEYWAY_API TensorBase laid_out_like(const TensorBase& tangent, const TensorBase& primal);

// A tensor's primal and tangent at a level: itself and an undefined one if it is not dual there. Unlike
// unpack_dual_at it does not look inside batched tensors.
UnpackedDual parts_at(const TensorBase& tensor, const DualLevelState& level);

}  // namespace keyway::inline v1::forward
