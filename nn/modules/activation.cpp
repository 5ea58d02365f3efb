#include <keyway/nn/modules/activation.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

Tensor ReLUImpl::forward(const Tensor& input) { return relu(input); }
Tensor SiLUImpl::forward(const Tensor& input) { return silu(input); }
Tensor SigmoidImpl::forward(const Tensor& input) { return sigmoid(input); }
Tensor TanhImpl::forward(const Tensor& input) { return tanh(input); }
Tensor GELUImpl::forward(const Tensor& input) { return gelu(input, approximate_); }
Tensor SELUImpl::forward(const Tensor& input) { return selu(input); }
Tensor MishImpl::forward(const Tensor& input) { return mish(input); }
Tensor HardswishImpl::forward(const Tensor& input) { return hardswish(input); }
Tensor HardsigmoidImpl::forward(const Tensor& input) { return hardsigmoid(input); }
Tensor LogSigmoidImpl::forward(const Tensor& input) { return log_sigmoid(input); }
Tensor ReLU6Impl::forward(const Tensor& input) { return hardtanh(input, 0, 6); }
Tensor SoftsignImpl::forward(const Tensor& input) { return input / (input.abs() + 1); }
Tensor TanhshrinkImpl::forward(const Tensor& input) { return input - tanh(input); }
Tensor LeakyReLUImpl::forward(const Tensor& input) { return leaky_relu(input, options.negative_slope()); }
Tensor CELUImpl::forward(const Tensor& input) { return celu(input, options.alpha()); }
Tensor ELUImpl::forward(const Tensor& input) { return elu(input, options.alpha()); }
Tensor GLUImpl::forward(const Tensor& input) { return glu(input, options.dim()); }
Tensor HardshrinkImpl::forward(const Tensor& input) { return hardshrink(input, options.lambda()); }
Tensor SoftshrinkImpl::forward(const Tensor& input) { return softshrink(input, options.lambda()); }
Tensor HardtanhImpl::forward(const Tensor& input) { return hardtanh(input, options.min_val(), options.max_val()); }
Tensor SoftplusImpl::forward(const Tensor& input) { return softplus(input, options.beta(), options.threshold()); }
Tensor SoftmaxImpl::forward(const Tensor& input) { return softmax(input, dim_); }
Tensor LogSoftmaxImpl::forward(const Tensor& input) { return log_softmax(input, dim_); }

PReLUImpl::PReLUImpl(PReLUOptions options_)
    : options(options_), weight(register_parameter("weight", full({options.num_parameters()}, options.init()))) {}
Tensor PReLUImpl::forward(const Tensor& input) { return prelu(input, weight); }

}  // namespace keyway::inline v1::nn
