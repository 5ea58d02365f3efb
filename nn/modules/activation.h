// Activations as modules, for Sequential; elsewhere the operators do.
#pragma once

#include <keyway/nn/module.h>

#include <string>

namespace keyway::inline v1::nn {

class KEYWAY_API ReLUImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using ReLU = ModuleHolder<ReLUImpl>;

class KEYWAY_API SiLUImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using SiLU = ModuleHolder<SiLUImpl>;

class KEYWAY_API SigmoidImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using Sigmoid = ModuleHolder<SigmoidImpl>;

class KEYWAY_API TanhImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using Tanh = ModuleHolder<TanhImpl>;

// `approximate` is "none" or "tanh".
class KEYWAY_API GELUImpl : public Module {
 public:
  explicit GELUImpl(std::string approximate = "none") : approximate_(std::move(approximate)) {}
  Tensor forward(const Tensor& input);

 private:
  std::string approximate_;
};
using GELU = ModuleHolder<GELUImpl>;

}  // namespace keyway::inline v1::nn
