// Forward mode: derivatives that are computed along with the values.
//
//   const DualLevel level;
//   const Tensor x = make_dual(value, direction);
//   const auto [y, tangent] = unpack_dual(f(x));  // the value, and the Jacobian of f times the direction
//
// Calls with dual tensors give dual tensors. Levels may stand within each other: a derivative of a derivative. What
// autograd records is recorded of primals and of tangents, so either can be taken of the other. A dual tensor has no
// history of its own: requires_grad() and the like are questions for its parts.
#pragma once

#include <keyway/forward/dual_level.h>
#include <keyway/tensor.h>

namespace keyway::inline v1 {

// The tensor with a tangent at the thread's innermost level: a view of it, over the same memory. Throws keyway::Error:
// there is no level, `tensor` is neither floating nor complex or has one there, or the tangent's shape, dtype or device
// is another one.
KEYWAY_API Tensor make_dual(const Tensor& tensor, const Tensor& tangent);

struct UnpackedDual {
  Tensor primal;
  Tensor tangent;  // undefined if the tensor has none
};
// A tensor's parts at the thread's innermost level. Throws keyway::Error if there is no level.
KEYWAY_API UnpackedDual unpack_dual(const Tensor& tensor);

}  // namespace keyway::inline v1

namespace keyway::inline v1::forward {

// The same as make_dual and unpack_dual, at a level.
KEYWAY_API Tensor make_dual_at(const Tensor& tensor, const Tensor& tangent, const LevelPtr& level);
KEYWAY_API UnpackedDual unpack_dual_at(const Tensor& tensor, const DualLevelState& level);
// A tensor to differentiate by, with the same values and tangents: an alias, which keeps its history, if the tensor
// requires grad and calls are recorded; else a detached leaf that requires grad.
KEYWAY_API Tensor as_grad_input(const Tensor& tensor);
// Like as_grad_input, but for a call that is recorded only to be differentiated here: the graph ends in a private node,
// not in a leaf. With `keeps`, a tensor that requires grad keeps its history.
KEYWAY_API Tensor as_recorded_input(const Tensor& tensor, bool keeps);
// The tensor, its tangents too, without history.
KEYWAY_API Tensor without_history(const Tensor& tensor);

}  // namespace keyway::inline v1::forward
