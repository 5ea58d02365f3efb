// Linear: y = x W^T + b. Bilinear: y_k = x1^T W_k x2 + b_k.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::nn {

class LinearOptions {
 public:
  LinearOptions(std::int64_t in_features, std::int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  KEYWAY_OPTION(std::int64_t, in_features);
  KEYWAY_OPTION(std::int64_t, out_features);
  KEYWAY_OPTION(bool, bias) = true;
};

// weight is [out_features, in_features], bias [out_features]; both begin uniform in +-1/sqrt(in_features).
class KEYWAY_API LinearImpl : public Module {
 public:
  LinearImpl(std::int64_t in_features, std::int64_t out_features)
      : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(LinearOptions options);

  void reset_parameters();
  // [..., in_features] to [..., out_features].
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;

  LinearOptions options;
  Tensor weight;
  Tensor bias;  // undefined if there is none
};
using Linear = ModuleHolder<LinearImpl>;

class BilinearOptions {
 public:
  BilinearOptions(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  KEYWAY_OPTION(std::int64_t, in1_features);
  KEYWAY_OPTION(std::int64_t, in2_features);
  KEYWAY_OPTION(std::int64_t, out_features);
  KEYWAY_OPTION(bool, bias) = true;
};

// weight is [out_features, in1_features, in2_features], bias [out_features]; both begin uniform in
// +-1/sqrt(in1_features).
class KEYWAY_API BilinearImpl : public Module {
 public:
  BilinearImpl(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
  explicit BilinearImpl(BilinearOptions options);

  void reset_parameters();
  // [..., in1_features] and [..., in2_features] to [..., out_features].
  Tensor forward(const Tensor& input1, const Tensor& input2);

  BilinearOptions options;
  Tensor weight;
  Tensor bias;  // undefined if there is none
};
using Bilinear = ModuleHolder<BilinearImpl>;

}  // namespace keyway::inline v1::nn
