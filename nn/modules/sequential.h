// Sequential: modules one behind the other.
//
//   nn::Sequential mlp(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 10));
//   Tensor y = mlp->forward(x);
#pragma once

#include <keyway/nn/module.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::nn {

// Takes any modules whose forward takes a tensor and gives one. They are named "0", "1", ... unless they get a name.
class KEYWAY_API SequentialImpl : public Module {
 public:
  SequentialImpl() = default;
  template <typename... Modules>
  explicit SequentialImpl(Modules... modules) {
    (push_back(std::move(modules)), ...);
  }

  template <typename M>
  requires std::derived_from<M, Module>
  void push_back(std::string name, std::shared_ptr<M> module) {
    M* part = register_module(std::move(name), std::move(module)).get();
    steps_.push_back([part](const Tensor& input) -> Tensor { return part->forward(input); });
  }
  template <typename M>
  void push_back(std::string name, ModuleHolder<M> holder) {
    push_back(std::move(name), holder.ptr());
  }
  template <typename M>
  requires std::derived_from<M, Module>
  void push_back(std::shared_ptr<M> module) { push_back(std::to_string(size()), std::move(module)); }
  template <typename M>
  void push_back(ModuleHolder<M> holder) {
    push_back(holder.ptr());
  }

  std::size_t size() const { return steps_.size(); }
  bool is_empty() const { return steps_.empty(); }
  // The i-th module. Throws keyway::Error if there is none, or none of class M.
  template <std::derived_from<Module> M>
  M& at(std::size_t i) const {
    return child<M>(i);
  }

  Tensor forward(const Tensor& input);

 private:
  std::vector<std::function<Tensor(const Tensor&)>> steps_;
};
using Sequential = ModuleHolder<SequentialImpl>;

}  // namespace keyway::inline v1::nn
