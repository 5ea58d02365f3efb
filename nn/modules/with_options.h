// WithOptions: a module that has options and nothing else.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <concepts>
#include <utility>

namespace keyway::inline v1::nn {

template <typename Options>
class KEYWAY_API WithOptions : public Module {
 public:
  WithOptions() requires std::default_initializable<Options> : options() {}
  explicit WithOptions(Options options_) : options(std::move(options_)) {}
  // Of what the options' constructor takes.
  template <typename... Args>
  requires std::constructible_from<Options, Args...>
  explicit WithOptions(Args&&... args) : options(std::forward<Args>(args)...) {}

  Options options;
};

// Whether a module may overwrite its input.
class InPlaceOptions {
 public:
  InPlaceOptions(bool inplace = false) : inplace_(inplace) {}  // NOLINT
  KEYWAY_OPTION(bool, inplace);
};

}  // namespace keyway::inline v1::nn
