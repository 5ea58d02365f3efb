// Dropout: while training, sets elements to zero with probability p and scales the others by 1 / (1 - p).
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::nn {

class DropoutOptions {
 public:
  DropoutOptions(double p = 0.5) : p_(p) {}  // NOLINT
  KEYWAY_OPTION(double, p);
};

class KEYWAY_API DropoutImpl : public Module {
 public:
  DropoutImpl() : DropoutImpl(DropoutOptions()) {}
  DropoutImpl(double p) : DropoutImpl(DropoutOptions(p)) {}  // NOLINT
  // Throws keyway::Error if p is not in [0, 1].
  explicit DropoutImpl(DropoutOptions options);

  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;

  DropoutOptions options;
};
using Dropout = ModuleHolder<DropoutImpl>;

}  // namespace keyway::inline v1::nn
