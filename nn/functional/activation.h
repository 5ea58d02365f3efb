// Activations that are composed of operators.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/tensor.h>

#include <cstdint>

namespace keyway::inline v1::nn::functional {

// x / (1 + |x|).
KEYWAY_API Tensor softsign(const Tensor& input);
// x - tanh(x).
KEYWAY_API Tensor tanhshrink(const Tensor& input);
// Softmax of -x, along `dim`.
KEYWAY_API Tensor softmin(const Tensor& input, std::int64_t dim);
// x where it is positive, else a slope times x: while training one drawn between `lower` and `upper` for each element,
// else the middle of them. Throws keyway::Error if `lower` is greater.
KEYWAY_API Tensor rrelu(const Tensor& input, double lower = 1.0 / 8, double upper = 1.0 / 3, bool training = false,
                        bool inplace = false);
// A sample of classes that gradients pass: softmax((logits + noise) / tau) along `dim`, the less smooth the smaller
// `tau` is (Jang et al., 2017). With `hard` 1 at the greatest and 0 elsewhere, with the gradient of the smooth one.
KEYWAY_API Tensor gumbel_softmax(const Tensor& logits, double tau = 1, bool hard = false, std::int64_t dim = -1);

}  // namespace keyway::inline v1::nn::functional
