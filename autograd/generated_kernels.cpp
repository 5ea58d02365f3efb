#include <keyway/autograd/generated_kernels.h>
#include <keyway/core/dtype/dtype_set.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

Tensor copy_of(const TensorBase& tensor) {
  // What cannot be copied, the operator below refuses, and names itself.
  if (!tensor.defined() || !kCastTypes.contains(tensor.dtype())) return {};
  return keyway::clone(Tensor(tensor));
}

std::vector<SavedVariable> saved(ArrayRef<TensorBase> tensors, bool is_output) {
  std::vector<SavedVariable> out;
  out.reserve(tensors.size());
  for (const TensorBase& tensor : tensors) out.emplace_back(tensor, is_output);
  return out;
}

void fail_underived(std::string_view argument) {
  KEYWAY_FAIL(NotImplemented, "the derivative for argument '{}' is not implemented", argument);
}

void fail_out(std::string_view arguments) {
  KEYWAY_FAIL(Autograd,
              "functions with out=... arguments do not support automatic differentiation, but one of the arguments "
              "({}) requires grad: call the function without out=, or under no_grad",
              arguments);
}

void fail_written_lists(std::string_view arguments) {
  KEYWAY_FAIL(
      Autograd,
      "the operator changes lists of tensors, which is not recorded, but a tensor of its arguments ({}) requires "
      "grad: call it under no_grad",
      arguments);
}

variable_list unpack(const std::vector<SavedVariable>& saved, const Node& node) {
  variable_list out;
  out.reserve(saved.size());
  for (const SavedVariable& variable : saved) out.push_back(variable.unpack(node));
  return out;
}

void release(std::vector<SavedVariable>& saved) {
  for (SavedVariable& variable : saved) variable.reset();
}

bool should_compute_any_output(const Node& node, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) {
    if (node.should_compute_output(i)) return true;
  }
  return false;
}

Tensor defined_or_zeros(const Node& node, const variable_list& grads, std::size_t i) {
  const InputMetadata* info = node.input_metadata(i);
  if (grads[i].defined() || info == nullptr) return grads[i];
  return keyway::zeros(info->sizes, TensorOptions().dtype(info->dtype).device(info->device));
}

variable_list defined_or_zeros(const Node& node, variable_list&& grads) {
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) grads[i] = defined_or_zeros(node, grads, i);
  }
  return std::move(grads);
}

void put(variable_list& grad_inputs, std::size_t first, std::size_t count, variable_list grads) {
  KEYWAY_CHECK(grads.empty() || grads.size() == count,
               "a derivative formula gives {} gradients for a list of {} tensors", grads.size(), count);
  std::move(grads.begin(), grads.end(), grad_inputs.begin() + static_cast<std::ptrdiff_t>(first));
}

}  // namespace keyway::inline v1::autograd
