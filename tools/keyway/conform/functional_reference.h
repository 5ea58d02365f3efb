// FunctionalReference: an operator in its plainest form, which its other forms are held against.
#pragma once

#include <keyway/tools/keyway/conform/reference.h>

#include <vector>

namespace keyway::inline v1::tools {

// Calls the overload that returns what `op` writes, or `op` itself where there is none, with copies of the arguments
// that share no memory and are contiguous, on a device.
class FunctionalReference final : public Reference {
 public:
  FunctionalReference(const OperatorHandle& op, DeviceType device);

  // Arguments of `op`, on any device.
  ConformCall call(Stack arguments) const override;
  std::vector<Tensor> gradients(const ConformCall& call) const override { return gradients_of(call); }
  // What is called.
  const ConformOperator& caller() const { return caller_; }
  bool is_another_form() const { return is_another_form_; }

 private:
  ConformOperator caller_;
  DeviceType device_;
  bool is_another_form_;
};

// What a call has made, on the CPU: results that are no arguments that it writes to, then these arguments.
std::vector<TensorBase> produced(const ConformOperator& op, const ConformCall& call);

}  // namespace keyway::inline v1::tools
