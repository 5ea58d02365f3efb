// ParameterList, ParameterDict: parameters by number or by name, for a module that uses them as it likes. A tensor may
// be in them twice.
#pragma once

#include <keyway/nn/module.h>

#include <string>
#include <utility>

namespace keyway::inline v1::nn {

// They are named "0", "1", ...
class KEYWAY_API ParameterListImpl : public Module {
 public:
  ParameterListImpl() = default;
  explicit ParameterListImpl(const std::vector<Tensor>& parameters) {
    for (const Tensor& parameter : parameters) append(parameter);
  }
  // Throws keyway::Error for a tensor that is no leaf, or whose dtype has no gradient.
  void append(Tensor parameter) { register_parameter(std::to_string(size()), std::move(parameter)); }
  std::size_t size() const { return own_parameters().size(); }
  bool is_empty() const { return size() == 0; }
  // The i-th of them. Throws keyway::Error if there is none.
  Tensor operator[](std::size_t i) const { return own_parameters()[std::to_string(i)]; }
};
using ParameterList = ModuleHolder<ParameterListImpl>;

class KEYWAY_API ParameterDictImpl : public Module {
 public:
  ParameterDictImpl() = default;
  // Throws keyway::Error as ParameterList does, and for a name that is there already, or that cannot be one.
  void insert(std::string name, Tensor parameter) { register_parameter(std::move(name), std::move(parameter)); }
  std::size_t size() const { return own_parameters().size(); }
  bool is_empty() const { return size() == 0; }
  bool contains(const std::string& name) const { return own_parameters().contains(name); }
  // The parameter of this name. Throws keyway::Error if there is none.
  Tensor operator[](const std::string& name) const { return own_parameters()[name]; }
};
using ParameterDict = ModuleHolder<ParameterDictImpl>;

}  // namespace keyway::inline v1::nn
