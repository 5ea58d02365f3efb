// Flatten, Unflatten and Identity: other shapes of an input, or none, for Sequential.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <vector>

namespace keyway::inline v1::nn {

class FlattenOptions {
  KEYWAY_OPTION(std::int64_t, start_dim) = 1;
  KEYWAY_OPTION(std::int64_t, end_dim) = -1;
};

// Makes one dimension of those from start_dim to end_dim: by default, a row of each sample.
class KEYWAY_API FlattenImpl : public Module {
 public:
  explicit FlattenImpl(FlattenOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);

  FlattenOptions options;
};
using Flatten = ModuleHolder<FlattenImpl>;

class UnflattenOptions {
 public:
  UnflattenOptions(std::int64_t dim, std::vector<std::int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  KEYWAY_OPTION(std::int64_t, dim);
  KEYWAY_OPTION(std::vector<std::int64_t>, sizes);  // one may be -1
};

// Makes dimensions of these sizes of one.
class KEYWAY_API UnflattenImpl : public Module {
 public:
  UnflattenImpl(std::int64_t dim, std::vector<std::int64_t> sizes)
      : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
  explicit UnflattenImpl(UnflattenOptions options_) : options(std::move(options_)) {}
  Tensor forward(const Tensor& input);

  UnflattenOptions options;
};
using Unflatten = ModuleHolder<UnflattenImpl>;

class KEYWAY_API IdentityImpl : public Module {
 public:
  Tensor forward(const Tensor& input) { return input; }
};
using Identity = ModuleHolder<IdentityImpl>;

}  // namespace keyway::inline v1::nn
