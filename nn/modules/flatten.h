// Flatten, Unflatten and Identity: other shapes of an input, or none, for Sequential.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/modules/with_options.h>
#include <keyway/nn/option.h>

#include <vector>

namespace keyway::inline v1::nn {

class FlattenOptions {
  KEYWAY_OPTION(std::int64_t, start_dim) = 1;
  KEYWAY_OPTION(std::int64_t, end_dim) = -1;
};

// Makes one dimension of those from start_dim to end_dim: by default, a row of each sample.
KEYWAY_MODULE(Flatten, WithOptions<FlattenOptions>, Tensor forward(const Tensor& input));

class UnflattenOptions {
 public:
  UnflattenOptions(std::int64_t dim, std::vector<std::int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  KEYWAY_OPTION(std::int64_t, dim);
  KEYWAY_OPTION(std::vector<std::int64_t>, sizes);  // one may be -1
};

// Makes dimensions of these sizes of one.
KEYWAY_MODULE(Unflatten, WithOptions<UnflattenOptions>, Tensor forward(const Tensor& input));

KEYWAY_MODULE(Identity, Module, Tensor forward(const Tensor& input));

}  // namespace keyway::inline v1::nn
