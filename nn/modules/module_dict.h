// ModuleDict: modules by name, for a module that calls them as it likes.
//
//   x = layers->at<nn::LinearImpl>("first").forward(x);
#pragma once

#include <keyway/nn/module.h>

#include <string>
#include <utility>

namespace keyway::inline v1::nn {

class KEYWAY_API ModuleDictImpl : public Module {
 public:
  ModuleDictImpl() = default;

  // Throws keyway::Error for a name that is there already, or that cannot be one.
  template <std::derived_from<Module> M>
  void insert(std::string name, std::shared_ptr<M> module) {
    register_module(std::move(name), std::move(module));
  }
  template <typename M>
  void insert(std::string name, ModuleHolder<M> holder) {
    insert(std::move(name), holder.ptr());
  }

  std::size_t size() const { return named_children().size(); }
  bool is_empty() const { return size() == 0; }
  bool contains(const std::string& name) const { return named_children().contains(name); }
  // The module of this name. Throws keyway::Error if there is none, or none of class M.
  template <std::derived_from<Module> M = Module>
  M& at(const std::string& name) const {
    M* const module = dynamic_cast<M*>(named_children()[name].get());
    KEYWAY_CHECK_AS(Type, module != nullptr, "module '{}' of {} is a {}", name, this->name(),
                    named_children()[name]->name());
    return *module;
  }
};
using ModuleDict = ModuleHolder<ModuleDictImpl>;

}  // namespace keyway::inline v1::nn
