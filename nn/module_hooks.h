// Hooks of a module: functions that are called with what goes into a call, and with what comes out of it.
//
//   const unsigned id = net->register_forward_hook([&](nn::Module&, const auto& inputs, auto& outputs) {
//     features = outputs[0];
//   });
//   net(x);                  // through the holder: net->forward(x) calls no hook
//   net->remove_hook(id);
//
// They see the defined tensors of arguments and results that are a Tensor, an optional or a vector of it, or a tuple or
// pair of these, in order; other arguments go by. What a hook writes into the tensors takes their places. Errors
// (Value): a hook that adds or drops one, or leaves an undefined one.
#pragma once

#include <keyway/core/base/class_kinds.h>
#include <keyway/core/base/macros.h>
#include <keyway/tensor.h>

#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace keyway::inline v1::nn {

class Module;

using ForwardPreHook = std::function<void(Module& module, std::vector<Tensor>& inputs)>;
using ForwardHook =
    std::function<void(Module& module, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs)>;
// Gradients of inputs are undefined where no input requires grad.
using BackwardHook =
    std::function<void(Module& module, std::vector<Tensor>& grad_inputs, const std::vector<Tensor>& grad_outputs)>;

template <typename Hook>
using NumberedHooks = std::vector<std::pair<unsigned, Hook>>;

// All hooks of a module, in the order in which they were registered.
struct ModuleHooks {
  NumberedHooks<ForwardPreHook> forward_pre;
  NumberedHooks<ForwardHook> forward;
  NumberedHooks<BackwardHook> backward;
  unsigned next = 0;
};

namespace detail {

// One call of a module, with the hooks that it had when the call began.
class KEYWAY_API HookedCall {
 public:
  HookedCall(Module& module, const ModuleHooks& hooks);
  ~HookedCall();
  HookedCall(const HookedCall&) = delete;
  HookedCall& operator=(const HookedCall&) = delete;

  void before(std::vector<Tensor>& inputs);
  void after(std::vector<Tensor>& outputs);

 private:
  struct Backward;

  Module& module_;
  ModuleHooks hooks_;
  std::vector<Tensor> inputs_;
  std::shared_ptr<Backward> backward_;  // null: no hook of backward is called
};

// Calls `visit` with the tensors that hooks see.
template <typename T, typename Visit>
void for_each_tensor(T& value, Visit& visit) {
  if constexpr (std::is_same_v<T, Tensor>) {
    if (value.defined()) visit(value);
  } else if constexpr (keyway::detail::kIsOptional<T>) {
    if (value) for_each_tensor(*value, visit);
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
    for (Tensor& tensor : value) for_each_tensor(tensor, visit);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply([&](auto&... parts) { (for_each_tensor(parts, visit), ...); }, value);
  }
}

template <typename T, typename Change>
void change_tensors(T& value, const Change& change) {
  std::vector<Tensor> tensors;
  const auto collect = [&](Tensor& tensor) { tensors.push_back(tensor); };
  for_each_tensor(value, collect);
  change(tensors);
  std::size_t next = 0;
  const auto put_back = [&](Tensor& tensor) { tensor = std::move(tensors[next++]); };
  for_each_tensor(value, put_back);
}

// module.forward(args...), with the hooks around it.
template <typename M, typename... Args>
auto call_with_hooks(M& module, const ModuleHooks& hooks, Args&&... args) {
  HookedCall call(module, hooks);
  std::tuple<std::decay_t<Args>...> inputs(std::forward<Args>(args)...);
  change_tensors(inputs, [&](std::vector<Tensor>& tensors) { call.before(tensors); });
  auto result = std::apply([&](auto&... given) { return module.forward(given...); }, inputs);
  change_tensors(result, [&](std::vector<Tensor>& tensors) { call.after(tensors); });
  return result;
}

}  // namespace detail
}  // namespace keyway::inline v1::nn
