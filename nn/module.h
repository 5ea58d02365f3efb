// Module: what has parameters, and parts that have some.
//
//   class NetImpl : public nn::Module {
//    public:
//     NetImpl(std::int64_t inputs, std::int64_t outputs)
//         : hidden(register_module("hidden", nn::Linear(inputs, 64))),
//           output(register_module("output", nn::Linear(64, outputs))) {}
//     Tensor forward(const Tensor& x) { return output(hidden(x).relu()); }
//     nn::Linear hidden, output;
//   };
#pragma once

#include <keyway/nn/module_holder.h>
#include <keyway/nn/state_dict.h>

#include <concepts>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace keyway::inline v1::nn {

// Parameters are trained, buffers only stored with them. Names are paths: "block.0.weight". Not copyable: a
// ModuleHolder is. A module may be used by several threads as long as none of them changes it.
class KEYWAY_API Module : public std::enable_shared_from_this<Module> {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module();

  // The class: "NetImpl".
  std::string name() const;

  // All of this module and, if `recurse`, of its parts; a tensor that occurs at two places once, under its first name.
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> parameters(bool recurse = true) const { return named_parameters(recurse).values(); }
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const { return named_buffers(recurse).values(); }
  // The direct parts.
  const OrderedDict<std::string, std::shared_ptr<Module>>& named_children() const { return children_; }
  std::vector<std::shared_ptr<Module>> children() const { return children_.values(); }
  // The i-th of them. Throws keyway::Error if there is none, or none of class M.
  template <std::derived_from<Module> M>
  M& child(std::size_t i) const {
    KEYWAY_CHECK_AS(Index, i < children_.size(), "{} has {} modules, and none at {}", name(), children_.size(), i);
    Module& part = *children_[i].value();
    if constexpr (std::is_same_v<M, Module>) {
      return part;
    } else {
      M* const module = dynamic_cast<M*>(&part);
      KEYWAY_CHECK_AS(Type, module != nullptr, "module {} of {} is a {}", i, name(), part.name());
      return *module;
    }
  }
  // Calls `visit` for this module and all of its parts, from the outside in.
  void apply(const std::function<void(const std::string& name, Module& module)>& visit, const std::string& name = {});
  void apply(const std::function<void(Module& module)>& visit);

  // Dropout and the like act while training only.
  virtual void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }

  // Forgets the gradients, or sets them to zero.
  void zero_grad(bool set_to_none = true);
  // Moves parameters and buffers, in place: handles of them that others hold stay theirs. Only floating-point and
  // complex ones change their dtype.
  void to(Device device) { convert(TensorOptions(device)); }
  void to(ScalarType dtype) { convert(TensorOptions(dtype)); }
  void to(Device device, ScalarType dtype) { convert(TensorOptions(device).dtype(dtype)); }

  // Parameters and buffers by name; they share memory with the module.
  StateDict state_dict() const;
  // Copies values into parameters and buffers. Throws keyway::Error, which lists every name that is missing or, if
  // `strict`, unexpected, and every shape that differs; then nothing was copied.
  void load_state_dict(const StateDict& state, bool strict = true);

  // Hooks are called when the module is called through a holder, in the order in which they were registered: before
  // forward(), after it, and in backward, when the gradients of its inputs are there, or those of its results where no
  // input requires grad. The numbers are for remove_hook(), which says whether there was such a hook.
  unsigned register_forward_pre_hook(ForwardPreHook hook);
  unsigned register_forward_hook(ForwardHook hook);
  unsigned register_full_backward_hook(BackwardHook hook);
  bool remove_hook(unsigned id);
  // Null: none.
  const ModuleHooks* hooks() const { return hooks_.get(); }

  // One line, or one a part.
  virtual void pretty_print(std::ostream& stream) const;

  // Registers a tensor under a name without dots. An undefined one stands for a part that this module does without, and
  // appears nowhere.
  Tensor register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor register_buffer(std::string name, Tensor tensor);
  template <std::derived_from<Module> M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    add_child(std::move(name), module);
    return module;
  }
  template <typename M>
  ModuleHolder<M> register_module(std::string name, ModuleHolder<M> holder) {
    add_child(std::move(name), holder.ptr());
    return holder;
  }

 protected:
  // All that was registered here, also what occurs twice and what is undefined.
  const OrderedDict<std::string, Tensor>& own_parameters() const { return parameters_; }

 private:
  using Tensors = OrderedDict<std::string, Tensor>;
  void add_child(std::string name, std::shared_ptr<Module> module);
  void check_name(const std::string& name) const;
  Tensors collect(Tensors Module::*own, bool recurse) const;
  void convert(TensorOptions options);
  // Visits every parameter and buffer with its name, also those that occur twice.
  void visit_tensors(const std::function<void(const std::string& name, const Tensor& tensor)>& visit) const;

  Tensors parameters_;
  Tensors buffers_;
  OrderedDict<std::string, std::shared_ptr<Module>> children_;
  std::unique_ptr<ModuleHooks> hooks_;
  bool training_ = true;
};

KEYWAY_API std::ostream& operator<<(std::ostream& stream, const Module& module);
template <typename M>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<M>& holder) {
  return stream << static_cast<const Module&>(*holder);
}

}  // namespace keyway::inline v1::nn
