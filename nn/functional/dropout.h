// Dropout of whole channels, and dropout that keeps mean and variance. Each throws keyway::Error if p is not in [0, 1].
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/tensor.h>

namespace keyway::inline v1::nn::functional {

// While training, zeroes whole channels, each with probability p, and divides the others by 1 - p. Inputs are [batch,
// channels, length] or [channels, length]; of dropout2d [batch, channels, ...]; of dropout3d with three dimensions
// more.
KEYWAY_API Tensor dropout1d(const Tensor& input, double p = 0.5, bool training = true, bool inplace = false);
KEYWAY_API Tensor dropout2d(const Tensor& input, double p = 0.5, bool training = true, bool inplace = false);
KEYWAY_API Tensor dropout3d(const Tensor& input, double p = 0.5, bool training = true, bool inplace = false);
// While training, gives each element with probability p the least value of selu, and then scales and shifts all of them
// such that numbers of mean 0 and variance 1 keep these (Klambauer et al., 2017).
KEYWAY_API Tensor alpha_dropout(const Tensor& input, double p = 0.5, bool training = false, bool inplace = false);
// The same of whole channels of an input [batch, channels, ...].
KEYWAY_API Tensor feature_alpha_dropout(const Tensor& input, double p = 0.5, bool training = false,
                                        bool inplace = false);

}  // namespace keyway::inline v1::nn::functional
