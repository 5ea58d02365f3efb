// Function: a differentiable operation that a user writes.
//
//   struct Square : autograd::Function<Square> {
//     static Tensor forward(AutogradContext& ctx, const Tensor& x) {
//       ctx.save_for_backward({x});
//       return x * x;
//     }
//     static variable_list backward(AutogradContext& ctx, variable_list grads) {
//       return {2 * ctx.saved_tensors()[0] * grads[0]};
//     }
//   };
//   Tensor y = Square::apply(x);
#pragma once

#include <keyway/autograd/needs_grad.h>
#include <keyway/core/base/class_kinds.h>
#include <keyway/dispatch/call/ivalue.h>

#include <atomic>
#include <functional>
#include <map>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace keyway::inline v1::autograd {

// What forward leaves for backward.
class KEYWAY_API AutogradContext {
 public:
  // Saves inputs and outputs of forward. Do not save other tensors here: they would leak or give wrong gradients; use
  // saved_data.
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  // With their histories. Throws if one was changed in place since, or after they are freed.
  variable_list saved_tensors() const;
  variable_list get_saved_variables() const { return saved_tensors(); }  // PyTorch's name of the same
  // Inputs that forward changed in place; it must return them. If one of them is a view, forward must return nothing
  // else.
  void mark_dirty(const variable_list& inputs);
  // Results that have no gradient.
  void mark_non_differentiable(const variable_list& outputs);
  // Whether an output without a gradient gets zeros in backward (the default) or an undefined tensor.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  bool materializes_grads() const { return materialize_grads_; }
  // Whether backward wants the gradient of tensor input i.
  bool needs_input_grad(std::size_t i) const { return node_->should_compute_output(i); }

  // Anything else.
  std::map<std::string, IValue> saved_data;

 private:
  friend class FunctionNode;
  Node* node_ = nullptr;
  variable_list to_save_;
  std::vector<SavedVariable> saved_;
  std::unordered_set<const TensorImpl*> dirty_;
  std::unordered_set<const TensorImpl*> non_differentiable_;
  bool materialize_grads_ = true;
};

// The node of a user's Function.
class KEYWAY_API FunctionNode final : public Node {
 public:
  using Backward = std::function<variable_list(AutogradContext&, variable_list)>;
  FunctionNode(std::string name, Backward backward) : name_(std::move(name)), backward_(std::move(backward)) {
    ctx.node_ = this;
  }

  std::string name() const override { return name_; }
  variable_list apply(variable_list&& grads) override;
  void release_variables() override;

  // Links `outputs` to this node, and saves what forward asked for. `inputs` are forward's tensors.
  void finish(const variable_list& inputs, variable_list& outputs, bool records);

  AutogradContext ctx;

 private:
  void mark_changed(const variable_list& inputs, const variable_list& outputs, bool records);

  std::string name_;
  Backward backward_;
};

namespace detail {
// How a Function takes its context: by reference, or, as PyTorch's do, by pointer.
template <typename T, typename... Args>
concept TakesContextPointer = requires(AutogradContext* context, Args&&... args) {
  T::forward(context, std::forward<Args>(args)...);
};
template <typename T, typename... Args>
auto call_forward(AutogradContext& context, Args&&... args) {
  if constexpr (TakesContextPointer<T, Args...>) {
    return T::forward(&context, std::forward<Args>(args)...);
  } else {
    return T::forward(context, std::forward<Args>(args)...);
  }
}

KEYWAY_API std::string type_name(const char* mangled);
// The shared library that has this function stays mapped, whoever closes it.
KEYWAY_API void pin_library_of_function(const void* function) noexcept;

// Whether T is a tensor, or is made of what has tensors in it: optionals, ranges, arrays, pairs and tuples.
template <typename T>
constexpr bool has_tensors() {
  if constexpr (std::is_convertible_v<const T&, const TensorBase&>) {
    return true;
  } else if constexpr (keyway::detail::kIsOptional<T>) {
    return has_tensors<typename T::value_type>();
  } else if constexpr (std::ranges::range<const T>) {
    using Item = std::ranges::range_value_t<const T>;
    if constexpr (std::is_same_v<Item, T>) {  // a path is a range of paths
      return false;
    } else {
      return has_tensors<Item>();
    }
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (has_tensors<std::remove_cvref_t<std::tuple_element_t<I, T>>>() || ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    return false;
  }
}

// The tensors of an argument of forward, in order. An optional tensor that is absent counts as an undefined one.
template <typename T>
void collect_tensors(variable_list& into, const T& argument) {
  if constexpr (!has_tensors<T>()) {
    return;
  } else if constexpr (std::is_convertible_v<const T&, const TensorBase&>) {
    into.emplace_back(static_cast<const TensorBase&>(argument));
  } else if constexpr (keyway::detail::kIsOptional<T>) {
    if (argument) {
      collect_tensors(into, *argument);
    } else if constexpr (std::is_convertible_v<const typename T::value_type&, const TensorBase&>) {
      into.emplace_back();
    }
  } else if constexpr (std::ranges::range<const T>) {
    for (const auto& item : argument) collect_tensors(into, item);
  } else {
    std::apply([&](const auto&... parts) { (collect_tensors(into, parts), ...); }, argument);
  }
}

// Marks the positions of an argument among PyTorch's gradients, which has one for each argument and for each element of
// a list: whether it is that of a tensor.
template <typename T>
void collect_positions(std::vector<bool>& into, const T& argument) {
  if constexpr (!has_tensors<T>()) {
    into.push_back(false);
  } else {
    variable_list tensors;
    collect_tensors(tensors, argument);
    into.insert(into.end(), tensors.size(), true);
  }
}
// Of what backward gave, a gradient for each position, those of tensors. Throws keyway::Error(Autograd) if there is one
// for what is no tensor, or if there are too few; undefined ones behind the last position are left out.
KEYWAY_API variable_list gradients_of_tensors(const std::string& name, const std::vector<bool>& positions,
                                              variable_list gradients);
}  // namespace detail

// T has static forward(AutogradContext&, args...) -> Tensor or variable_list, and static
// backward(AutogradContext&, variable_list) -> variable_list with one gradient for each tensor among args: those of a
// Tensor or TensorBase, and of optionals, ranges, arrays, pairs and tuples of such. An optional tensor has its position
// if it is absent, too. Tensors that a user's own type has inside are not seen.
//
// If they take an AutogradContext* instead, backward's gradients are those of PyTorch: one for each argument, undefined
// for what is no tensor.
template <typename T>
class Function {
 public:
  template <typename... Args>
  static auto apply(Args&&... args) {
    using Result = decltype(detail::call_forward<T>(std::declval<AutogradContext&>(), std::forward<Args>(args)...));
    variable_list inputs;
    (detail::collect_tensors(inputs, args), ...);
    bool records = grad_enabled();
    bool any = false;
    for (const Tensor& input : inputs) any = any || (input.defined() && input.requires_grad());
    records = records && any;
    auto node = make_intrusive<FunctionNode>(detail::type_name(typeid(T).name()), backward_of(args...));
    for (const Tensor& input : inputs) node->add_next_edge(records && input.defined() ? gradient_edge(input) : Edge{});
    variable_list outputs;
    {
      NoGradGuard no_grad;
      if constexpr (std::is_same_v<Result, Tensor>) {
        outputs.push_back(detail::call_forward<T>(node->ctx, std::forward<Args>(args)...));
      } else {
        outputs = detail::call_forward<T>(node->ctx, std::forward<Args>(args)...);
      }
    }
    if (records) keep_backward();
    node->finish(inputs, outputs, records);
    if constexpr (std::is_same_v<Result, Tensor>) {
      return std::move(outputs[0]);
    } else {
      return outputs;
    }
  }

 private:
  template <typename... Args>
  static FunctionNode::Backward backward_of(const Args&... args) {
    if constexpr (std::is_invocable_v<decltype(T::backward), AutogradContext*, variable_list>) {
      std::vector<bool> positions;
      (detail::collect_positions(positions, args), ...);
      return [positions = std::move(positions)](AutogradContext& context, variable_list grads) {
        return detail::gradients_of_tensors(detail::type_name(typeid(T).name()), positions,
                                            T::backward(&context, std::move(grads)));
      };
    } else {
      return &T::backward;
    }
  }
  // A graph may outlive the plug-in that T is of. Asked for before T's first recorded call returns.
  static void keep_backward() noexcept {
    static constinit std::atomic<bool> kept{false};
    if (kept.load(std::memory_order_relaxed)) return;
    detail::pin_library_of_function(reinterpret_cast<const void*>(&T::backward));
    kept.store(true, std::memory_order_relaxed);
  }
};

}  // namespace keyway::inline v1::autograd
