// Adapters: from what users pass to operators to canonical arguments, and from canonical results to what
// users get. Generated functions and methods use them; what they make lives until the call returns.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <concepts>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace keyway::inline v1::detail {

// An absent tensor as an undefined one.
class OptionalTensor {
 public:
  template <std::derived_from<TensorBase> T>
  explicit OptionalTensor(const std::optional<T>& tensor) : tensor_(tensor ? &*tensor : &none_) {}
  OptionalTensor(const OptionalTensor&) = delete;
  OptionalTensor& operator=(const OptionalTensor&) = delete;
  operator const TensorBase&() const { return *tensor_; }

 private:
  TensorBase none_;
  const TensorBase* tensor_;
};

// A list of tensors, absent ones as undefined ones.
class OptionalTensors {
 public:
  template <std::derived_from<TensorBase> T>
  explicit OptionalTensors(ArrayRef<std::optional<T>> tensors) {
    tensors_.reserve(tensors.size());
    for (const std::optional<T>& tensor : tensors) tensors_.push_back(tensor ? TensorBase(*tensor) : TensorBase());
  }
  operator ArrayRef<TensorBase>() const { return tensors_; }

 private:
  std::vector<TensorBase> tensors_;
};

template <std::derived_from<TensorBase> T>
std::vector<T> tensors(std::vector<TensorBase> bases) {
  return {std::make_move_iterator(bases.begin()), std::make_move_iterator(bases.end())};
}

// A new tensor, as the options ask: whether it requires a gradient is not for its kernel to say.
template <std::derived_from<TensorBase> T>
T with_grad(T made, TensorOptions options) {
  if (options.requires_grad()) [[unlikely]]
    made.requires_grad_(true);
  return made;
}

}  // namespace keyway::inline v1::detail
