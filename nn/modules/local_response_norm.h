// LocalResponseNorm, CrossMapLRN2d: each element over a power of the squares of the channels around it (Krizhevsky et
// al., 2012).
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/modules/with_options.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::nn {

class LocalResponseNormOptions {
 public:
  LocalResponseNormOptions(std::int64_t size) : size_(size) {}  // NOLINT
  KEYWAY_OPTION(std::int64_t, size);
  KEYWAY_OPTION(double, alpha) = 1e-4;
  KEYWAY_OPTION(double, beta) = 0.75;
  KEYWAY_OPTION(double, k) = 1;
};
using CrossMapLRN2dOptions = LocalResponseNormOptions;

// x / (k + alpha * the mean of the squares of `size` channels around each)^beta, of [batch, channels, ...].
KEYWAY_MODULE(LocalResponseNorm, WithOptions<LocalResponseNormOptions>, Tensor forward(const Tensor& input));

// x / (k + alpha / size * the sum of x^2 over `size` channels around)^beta, of [batch, channels, height, width]. An
// even size takes one channel less; the first channel counts for all behind it, as in PyTorch.
KEYWAY_MODULE(CrossMapLRN2d, WithOptions<CrossMapLRN2dOptions>, Tensor forward(const Tensor& input));

}  // namespace keyway::inline v1::nn
