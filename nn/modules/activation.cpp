#include <keyway/nn/functional/activation.h>
#include <keyway/nn/modules/activation.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

Tensor SigmoidImpl::forward(const Tensor& input) { return sigmoid(input); }
Tensor TanhImpl::forward(const Tensor& input) { return tanh(input); }
Tensor LogSigmoidImpl::forward(const Tensor& input) { return log_sigmoid(input); }
Tensor SoftsignImpl::forward(const Tensor& input) { return functional::softsign(input); }
Tensor TanhshrinkImpl::forward(const Tensor& input) { return functional::tanhshrink(input); }
Tensor ReLUImpl::forward(const Tensor& input) { return options.inplace() ? input.relu_() : relu(input); }
Tensor SiLUImpl::forward(const Tensor& input) { return options.inplace() ? input.silu_() : silu(input); }
Tensor SELUImpl::forward(const Tensor& input) { return options.inplace() ? input.selu_() : selu(input); }
Tensor MishImpl::forward(const Tensor& input) { return options.inplace() ? input.mish_() : mish(input); }
Tensor HardswishImpl::forward(const Tensor& input) { return options.inplace() ? input.hardswish_() : hardswish(input); }
Tensor HardsigmoidImpl::forward(const Tensor& input) {
  return options.inplace() ? input.hardsigmoid_() : hardsigmoid(input);
}
Tensor ReLU6Impl::forward(const Tensor& input) {
  return options.inplace() ? input.hardtanh_(0, 6) : hardtanh(input, 0, 6);
}
Tensor LeakyReLUImpl::forward(const Tensor& input) {
  return options.inplace() ? input.leaky_relu_(options.negative_slope()) : leaky_relu(input, options.negative_slope());
}
Tensor CELUImpl::forward(const Tensor& input) {
  return options.inplace() ? input.celu_(options.alpha()) : celu(input, options.alpha());
}
Tensor ELUImpl::forward(const Tensor& input) {
  return options.inplace() ? input.elu_(options.alpha()) : elu(input, options.alpha());
}
HardtanhImpl::HardtanhImpl(HardtanhOptions options_) : WithOptions(options_) {
  KEYWAY_CHECK(options.min_val() < options.max_val(), "Hardtanh: min_val {} is not below max_val {}", options.min_val(),
               options.max_val());
}
Tensor HardtanhImpl::forward(const Tensor& input) {
  const double low = options.min_val(), high = options.max_val();
  return options.inplace() ? input.hardtanh_(low, high) : hardtanh(input, low, high);
}
Tensor ThresholdImpl::forward(const Tensor& input) {
  const double bound = options.threshold(), value = options.value();
  return options.inplace() ? input.threshold_(bound, value) : threshold(input, bound, value);
}
Tensor RReLUImpl::forward(const Tensor& input) {
  return functional::rrelu(input, options.lower(), options.upper(), is_training(), options.inplace());
}
Tensor GLUImpl::forward(const Tensor& input) { return glu(input, options.dim()); }
Tensor HardshrinkImpl::forward(const Tensor& input) { return hardshrink(input, options.lambda()); }
Tensor SoftshrinkImpl::forward(const Tensor& input) { return softshrink(input, options.lambda()); }
Tensor SoftplusImpl::forward(const Tensor& input) { return softplus(input, options.beta(), options.threshold()); }
Tensor GELUImpl::forward(const Tensor& input) { return gelu(input, options.approximate()); }
Tensor SoftmaxImpl::forward(const Tensor& input) { return softmax(input, options.dim()); }
Tensor LogSoftmaxImpl::forward(const Tensor& input) { return log_softmax(input, options.dim()); }
Tensor SoftminImpl::forward(const Tensor& input) { return functional::softmin(input, options.dim()); }
Tensor Softmax2dImpl::forward(const Tensor& input) {
  KEYWAY_CHECK(input.dim() == 3 || input.dim() == 4, "Softmax2d: the input has 3 or 4 dimensions, not {}", input.dim());
  return softmax(input, -3);
}

PReLUImpl::PReLUImpl(PReLUOptions options_)
    : options(options_), weight(register_parameter("weight", full({options.num_parameters()}, options.init()))) {}
Tensor PReLUImpl::forward(const Tensor& input) { return prelu(input, weight); }

}  // namespace keyway::inline v1::nn
