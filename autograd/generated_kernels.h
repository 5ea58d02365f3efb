// What generated kernels and nodes are made of, beside needs_grad.h: calls below a kernel, saved lists, gradients by
// number.
#pragma once

#include <keyway/autograd/needs_grad.h>
#include <keyway/core/tensor/storage_listener.h>
#include <keyway/dispatch/call/call.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keyway::inline v1::autograd {

// --- The call

// The same call for the keys below Autograd; what it calls is not recorded either.
template <typename Sig, typename... Args>
decltype(auto) below_autograd(const OperatorEntry& op, DispatchKeySet keys, Args&&... args) {
  AutoDispatchBelowAutograd guard;
  return Caller<Sig>::redispatch(op, keys & kAfterAutograd, std::forward<Args>(args)...);
}
template <typename Sig, typename... Args>
decltype(auto) below_adinplace(const OperatorEntry& op, DispatchKeySet keys, Args&&... args) {
  AutoDispatchBelowADInplaceOrView guard;
  return Caller<Sig>::redispatch(op, keys & kAfterADInplaceOrView, std::forward<Args>(args)...);
}

// Tells those that saved `tensor` that it has changed. Tensors of inference mode have no version.
inline void bump_version(const TensorBase& tensor) {
  if (!tensor.defined()) return;
  if (!tensor.is_inference()) tensor.impl()->bump_version();
  note_written(tensor.storage());
}
inline void bump_version(ArrayRef<TensorBase> tensors) {
  for (const TensorBase& tensor : tensors) bump_version(tensor);
}

// How a view that is made now came to be; `recorded`, if calls are recorded.
inline CreationMeta view_creation(CreationMeta recorded = CreationMeta::Default) {
  if (InferenceMode::is_enabled()) return CreationMeta::Inference;
  return grad_enabled() ? recorded : CreationMeta::NoGrad;
}
// One of several views that one call made.
inline void as_views(const TensorBase& base, const TensorBase& view) {
  as_view(base, view, view_creation(CreationMeta::MultiOutput));
}
inline void as_views(const TensorBase& base, ArrayRef<TensorBase> views) {
  for (const TensorBase& view : views) as_views(base, view);
}

// Of an in-place call that has no gradient to record: throws if `self` is a view of something that requires one.
inline void check_unrecorded(std::string_view name, const TensorBase& self) {
  if (self.defined() && self.impl()->autograd_meta() != nullptr) [[unlikely]]
    check_inplace(name, self, /*records=*/false);
}

// --- Recording

inline void set_history(ArrayRef<TensorBase> results, const intrusive_ptr<Node>& node) {
  for (const TensorBase& result : results) set_history(result, node);
}

// A copy, with its history, of what an in-place call is about to overwrite.
KEYWAY_API Tensor copy_of(const TensorBase& tensor);

KEYWAY_API std::vector<SavedVariable> saved(ArrayRef<TensorBase> tensors, bool is_output);

namespace detail {
// What an answer of a tensor is kept as.
template <typename T>
using Kept = std::conditional_t<std::is_same_v<T, IntArrayRef>, DimVector, T>;
}  // namespace detail

// What `ask` says of each tensor of a list; of a tensor that may be absent, nothing if it is.
template <typename Tensors, typename Ask>
auto each(const Tensors& tensors, const Ask& ask) {
  if constexpr (std::derived_from<Tensors, TensorBase>) {
    using Answer = detail::Kept<decltype(ask(tensors))>;
    return tensors.defined() ? std::optional<Answer>(ask(tensors)) : std::nullopt;
  } else {
    using Answer = detail::Kept<decltype(ask(*tensors.begin()))>;
    std::vector<Answer> answers;
    answers.reserve(tensors.size());
    for (const auto& tensor : tensors) answers.push_back(tensor.defined() ? Answer(ask(tensor)) : Answer());
    return answers;
  }
}

// Throws if a gradient is wanted for an argument that the operator has no derivative for.
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_underived(std::string_view argument);
template <typename Input>
void check_underived(std::string_view argument, const Input& input) {
  if (needs_grad(input)) [[unlikely]]
    fail_underived(argument);
}

// Throws: an out= call of tensors, some of `arguments`, that require a gradient.
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_out(std::string_view arguments);
// Throws: an operator that changes lists of tensors was given some that require a gradient.
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_written_lists(std::string_view arguments);

// --- Backward

KEYWAY_API variable_list unpack(const std::vector<SavedVariable>& saved, const Node& node);
KEYWAY_API void release(std::vector<SavedVariable>& saved);

// Whether the running backward wants any of the gradients first ... first + count - 1.
KEYWAY_API bool should_compute_any_output(const Node& node, std::size_t first, std::size_t count);
template <std::size_t N>
constexpr bool any(const std::array<bool, N>& flags) {
  for (const bool flag : flags) {
    if (flag) return true;
  }
  return false;
}
inline bool any_defined(const variable_list& grads) {
  for (const Tensor& grad : grads) {
    if (grad.defined()) return true;
  }
  return false;
}

// The gradient of output i, zeros for an undefined one. Undefined if the output itself is.
KEYWAY_API Tensor defined_or_zeros(const Node& node, const variable_list& grads, std::size_t i);
KEYWAY_API variable_list defined_or_zeros(const Node& node, variable_list&& grads);

// Puts the gradients of a list, of `count` tensors, where its edges begin. Throws if there are more or fewer.
KEYWAY_API void put(variable_list& grad_inputs, std::size_t first, std::size_t count, variable_list grads);

}  // namespace keyway::inline v1::autograd
