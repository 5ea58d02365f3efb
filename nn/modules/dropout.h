// Dropout: while training, sets elements to zero with probability p and scales the others by 1 / (1 - p). Dropout1d,
// 2d, 3d: whole channels. AlphaDropout, FeatureAlphaDropout: such that mean 0 and variance 1 stay. All throw
// keyway::Error if p is not in [0, 1].
#pragma once

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

class KEYWAY_API DropoutImpl : public DropoutBase {
 public:
  DropoutImpl(DropoutOptions options_ = {}) : DropoutBase(options_, "Dropout") {}  // NOLINT
  Tensor forward(const Tensor& input);
};
using Dropout = ModuleHolder<DropoutImpl>;

// [batch, channels, length] or [channels, length].
class KEYWAY_API Dropout1dImpl : public DropoutBase {
 public:
  Dropout1dImpl(DropoutOptions options_ = {}) : DropoutBase(options_, "Dropout1d") {}  // NOLINT
  Tensor forward(const Tensor& input);
};
using Dropout1d = ModuleHolder<Dropout1dImpl>;

// [batch, channels, ...].
class KEYWAY_API Dropout2dImpl : public DropoutBase {
 public:
  Dropout2dImpl(DropoutOptions options_ = {}) : DropoutBase(options_, "Dropout2d") {}  // NOLINT
  Tensor forward(const Tensor& input);
};
using Dropout2d = ModuleHolder<Dropout2dImpl>;

// [batch, channels, depth, height, width], or without batch.
class KEYWAY_API Dropout3dImpl : public DropoutBase {
 public:
  Dropout3dImpl(DropoutOptions options_ = {}) : DropoutBase(options_, "Dropout3d") {}  // NOLINT
  Tensor forward(const Tensor& input);
};
using Dropout3d = ModuleHolder<Dropout3dImpl>;

// Elements that are dropped get the least value of selu.
class KEYWAY_API AlphaDropoutImpl : public DropoutBase {
 public:
  AlphaDropoutImpl(DropoutOptions options_ = {}) : DropoutBase(options_, "AlphaDropout") {}  // NOLINT
  Tensor forward(const Tensor& input);
};
using AlphaDropout = ModuleHolder<AlphaDropoutImpl>;

// The same of whole channels, [batch, channels, ...].
class KEYWAY_API FeatureAlphaDropoutImpl : public DropoutBase {
 public:
  FeatureAlphaDropoutImpl(DropoutOptions options_ = {}) : DropoutBase(options_, "FeatureAlphaDropout") {}  // NOLINT
  Tensor forward(const Tensor& input);
};
using FeatureAlphaDropout = ModuleHolder<FeatureAlphaDropoutImpl>;

}  // namespace keyway::inline v1::nn
