// Dropout: while training, sets elements to zero with probability p and scales the others by 1 / (1 - p). Dropout1d,
// 2d, 3d: whole channels. AlphaDropout, FeatureAlphaDropout: such that mean 0 and variance 1 stay. All throw
// keyway::Error if p is not in [0, 1].
#pragma once

#include <keyway/core/schema/fixed_string.h>
#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::nn {

class DropoutOptions {
 public:
  DropoutOptions(double p = 0.5) : p_(p) {}  // NOLINT
  KEYWAY_OPTION(double, p);
  KEYWAY_OPTION(bool, inplace) = false;
};
using Dropout1dOptions = DropoutOptions;
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

// What all share.
class KEYWAY_API DropoutBase : public Module {
 public:
  void pretty_print(std::ostream& stream) const override;
  DropoutOptions options;

 protected:
  DropoutBase(DropoutOptions options, const char* what);

 private:
  const char* what_;
};

template <FixedString kName>
class KEYWAY_API DropoutOf : public DropoutBase {
 public:
  DropoutOf(DropoutOptions options_ = {}) : DropoutBase(options_, kName.chars) {}  // NOLINT
};

KEYWAY_MODULE(Dropout, DropoutOf<"Dropout">, Tensor forward(const Tensor& input));

// [batch, channels, length] or [channels, length].
KEYWAY_MODULE(Dropout1d, DropoutOf<"Dropout1d">, Tensor forward(const Tensor& input));

// [batch, channels, ...].
KEYWAY_MODULE(Dropout2d, DropoutOf<"Dropout2d">, Tensor forward(const Tensor& input));

// [batch, channels, depth, height, width], or without batch.
KEYWAY_MODULE(Dropout3d, DropoutOf<"Dropout3d">, Tensor forward(const Tensor& input));

// Elements that are dropped get the least value of selu.
KEYWAY_MODULE(AlphaDropout, DropoutOf<"AlphaDropout">, Tensor forward(const Tensor& input));

// The same of whole channels, [batch, channels, ...].
KEYWAY_MODULE(FeatureAlphaDropout, DropoutOf<"FeatureAlphaDropout">, Tensor forward(const Tensor& input));

}  // namespace keyway::inline v1::nn
