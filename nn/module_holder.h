// ModuleHolder: a module as a value. Copies share one module, as copies of a Tensor share one tensor.
//
//   class NetImpl : public nn::Module { ... Tensor forward(const Tensor& x); };
//   using Net = nn::ModuleHolder<NetImpl>;
//   Net net(784, 10);         // makes a NetImpl(784, 10)
//   Tensor y = net(x);        // net->forward(x)
//
// KEYWAY_MODULE(Name, Parent, members): class NameImpl, a Parent with its constructors and these members besides; and
// its holder, Name.
//
//   KEYWAY_MODULE(Tanh, Module, Tensor forward(const Tensor& input));
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/base/macros.h>
#include <keyway/nn/module_hooks.h>

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace keyway::inline v1::nn {

namespace detail {
// Whether hooks can be called around forward(): it gives a value.
template <typename Impl, typename... Args>
concept CanBeHooked = requires(Impl& module, Args&&... args) {
  module.hooks();
  requires std::is_object_v<decltype(module.forward(std::forward<Args>(args)...))>;
};
}  // namespace detail

template <typename Impl>
class ModuleHolder {
 public:
  using ContainedType = Impl;

  ModuleHolder() requires std::default_initializable<Impl> : impl_(std::make_shared<Impl>()) {}
  // No module: what a member is before it is registered.
  ModuleHolder(std::nullptr_t) {}                                       // NOLINT
  ModuleHolder(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}  // NOLINT
  template <typename First, typename... Rest>
  requires(!std::derived_from<std::remove_cvref_t<First>, ModuleHolder> &&
           std::constructible_from<Impl, First, Rest...>)  //
      explicit ModuleHolder(First&& first, Rest&&... rest)
      : impl_(std::make_shared<Impl>(std::forward<First>(first), std::forward<Rest>(rest)...)) {}

  explicit operator bool() const { return impl_ != nullptr; }
  bool is_empty() const { return impl_ == nullptr; }
  // Throws keyway::Error if there is no module.
  const std::shared_ptr<Impl>& ptr() const {
    KEYWAY_CHECK(impl_ != nullptr, "this module holder is empty: assign it a module first");
    return impl_;
  }
  Impl* get() const { return ptr().get(); }
  Impl* operator->() const { return get(); }
  Impl& operator*() const { return *get(); }

  // forward() of the module, with its hooks around it (module_hooks.h).
  template <typename... Args>
  decltype(auto) operator()(Args&&... args) const {
    Impl& module = *get();
    if constexpr (detail::CanBeHooked<Impl, Args...>) {
      if (const auto* const hooks = module.hooks()) [[unlikely]]
        return detail::call_with_hooks(module, *hooks, std::forward<Args>(args)...);
    }
    return module.forward(std::forward<Args>(args)...);
  }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace keyway::inline v1::nn

#define KEYWAY_MODULE(Name, Parent, ...)        \
  class KEYWAY_API Name##Impl : public Parent { \
   public:                                      \
    using Base = Parent;                        \
    using Base::Base;                           \
    __VA_OPT__(__VA_ARGS__;)                    \
  };                                            \
  using Name = ::keyway::nn::ModuleHolder<Name##Impl>
