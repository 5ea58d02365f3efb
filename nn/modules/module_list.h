// ModuleList: modules by number, for a module that calls them as it likes.
//
//   for (std::size_t i = 0; i < layers->size(); ++i) x = layers->at<nn::LinearImpl>(i).forward(x);
#pragma once

#include <keyway/nn/module.h>

#include <string>
#include <utility>

namespace keyway::inline v1::nn {

// They are named "0", "1", ...
class KEYWAY_API ModuleListImpl : public Module {
 public:
  ModuleListImpl() = default;
  template <typename... Modules>
  explicit ModuleListImpl(Modules... modules) {
    (push_back(std::move(modules)), ...);
  }

  template <std::derived_from<Module> M>
  void push_back(std::shared_ptr<M> module) {
    register_module(std::to_string(size()), std::move(module));
  }
  template <typename M>
  void push_back(ModuleHolder<M> holder) {
    push_back(holder.ptr());
  }

  std::size_t size() const { return named_children().size(); }
  bool is_empty() const { return size() == 0; }
  // The i-th module. Throws keyway::Error if there is none, or none of class M.
  template <std::derived_from<Module> M = Module>
  M& at(std::size_t i) const {
    return child<M>(i);
  }
};
using ModuleList = ModuleHolder<ModuleListImpl>;

}  // namespace keyway::inline v1::nn
