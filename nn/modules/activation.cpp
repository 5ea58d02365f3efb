#include <keyway/nn/modules/activation.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

Tensor ReLUImpl::forward(const Tensor& input) { return relu(input); }
Tensor SiLUImpl::forward(const Tensor& input) { return silu(input); }
Tensor SigmoidImpl::forward(const Tensor& input) { return sigmoid(input); }
Tensor TanhImpl::forward(const Tensor& input) { return tanh(input); }
Tensor GELUImpl::forward(const Tensor& input) { return gelu(input, approximate_); }

}  // namespace keyway::inline v1::nn
