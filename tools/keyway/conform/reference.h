// Reference: what makes the calls that others are held against.
#pragma once

#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/conform_call.h>
#include <keyway/tools/keyway/conform/earlier_kernels.h>

#include <memory>
#include <vector>

namespace keyway::inline v1::tools {

class Reference {
 public:
  virtual ~Reference() = default;
  // Requires: the tensors are on the CPU.
  virtual ConformCall call(Stack arguments) const = 0;
  // Of the arguments that require a gradient, after a call of this reference that returned; none if nothing was
  // recorded. Throws keyway::Error where backward does.
  virtual std::vector<Tensor> gradients(const ConformCall& call) const = 0;
};

// The operator's kernels for the CPU.
std::unique_ptr<Reference> make_cpu_reference(const ConformOperator& op);
// Those that the CPU had before plug-ins came.
std::unique_ptr<Reference> make_earlier_reference(const ConformOperator& op, std::shared_ptr<EarlierKernels> kernels);

// The gradients of the arguments that are leaves and require one. Each result is multiplied by numbers that differ, so
// that gradients do not cancel: those of a sum of softmax would. Empty if no result records any.
std::vector<Tensor> gradients_of(const ConformCall& call);
// The sum that these are the gradients of, in float32 or, of float64, in that; undefined if no result has a graph.
Tensor weighted_sum(const std::vector<TensorBase>& results);

}  // namespace keyway::inline v1::tools
