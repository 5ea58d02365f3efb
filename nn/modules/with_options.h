// WithOptions: a module that has options and nothing else.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <utility>

namespace keyway::inline v1::nn {

template <typename Options>
class KEYWAY_API WithOptions : public Module {
 public:
  explicit WithOptions(Options options_ = Options()) : options(std::move(options_)) {}
  Options options;
};

// Whether a module may overwrite its input.
class InPlaceOptions {
 public:
  InPlaceOptions(bool inplace = false) : inplace_(inplace) {}  // NOLINT
  KEYWAY_OPTION(bool, inplace);
};

}  // namespace keyway::inline v1::nn
