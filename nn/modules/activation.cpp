#include <keyway/nn/functional/activation.h>
#include <keyway/nn/modules/activation.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

Tensor SigmoidImpl::forward(const Tensor& input) { return sigmoid(input); }
Tensor TanhImpl::forward(const Tensor& input) { return tanh(input); }
Tensor LogSigmoidImpl::forward(const Tensor& input) { return log_sigmoid(input); }
Tensor SoftsignImpl::forward(const Tensor& input) { return functional::softsign(input); }
Tensor TanhshrinkImpl::forward(const Tensor& input) { return functional::tanhshrink(input); }
Tensor ReLUImpl::forward(const Tensor& input) {
  Tensor x = input;
  return options.inplace() ? relu_(x) : relu(x);
}
Tensor SiLUImpl::forward(const Tensor& input) {
  Tensor x = input;
  return options.inplace() ? silu_(x) : silu(x);
}
Tensor SELUImpl::forward(const Tensor& input) {
  Tensor x = input;
  return options.inplace() ? selu_(x) : selu(x);
}
Tensor MishImpl::forward(const Tensor& input) {
  Tensor x = input;
  return options.inplace() ? mish_(x) : mish(x);
}
Tensor HardswishImpl::forward(const Tensor& input) {
  Tensor x = input;
  return options.inplace() ? hardswish_(x) : hardswish(x);
}
Tensor HardsigmoidImpl::forward(const Tensor& input) {
  Tensor x = input;
  return options.inplace() ? hardsigmoid_(x) : hardsigmoid(x);
}
Tensor ReLU6Impl::forward(const Tensor& input) {
  Tensor x = input;
  return options.inplace() ? hardtanh_(x, 0, 6) : hardtanh(x, 0, 6);
}
Tensor LeakyReLUImpl::forward(const Tensor& input) {
  Tensor x = input;
  return options.inplace() ? leaky_relu_(x, options.negative_slope()) : leaky_relu(x, options.negative_slope());
}
Tensor CELUImpl::forward(const Tensor& input) {
  Tensor x = input;
  return options.inplace() ? celu_(x, options.alpha()) : celu(x, options.alpha());
}
Tensor ELUImpl::forward(const Tensor& input) {
  Tensor x = input;
  return options.inplace() ? elu_(x, options.alpha()) : elu(x, options.alpha());
}
HardtanhImpl::HardtanhImpl(HardtanhOptions options_) : WithOptions(options_) {
  KEYWAY_CHECK(options.min_val() < options.max_val(), "Hardtanh: min_val {} is not below max_val {}", options.min_val(),
               options.max_val());
}
Tensor HardtanhImpl::forward(const Tensor& input) {
  Tensor x = input;
  const double low = options.min_val(), high = options.max_val();
  return options.inplace() ? hardtanh_(x, low, high) : hardtanh(x, low, high);
}
Tensor ThresholdImpl::forward(const Tensor& input) {
  Tensor x = input;
  const double bound = options.threshold(), value = options.value();
  return options.inplace() ? threshold_(x, bound, value) : threshold(x, bound, value);
}
Tensor RReLUImpl::forward(const Tensor& input) {
  return functional::rrelu(input, options.lower(), options.upper(), is_training(), options.inplace());
}
Tensor GLUImpl::forward(const Tensor& input) { return glu(input, options.dim()); }
Tensor HardshrinkImpl::forward(const Tensor& input) { return hardshrink(input, options.lambda()); }
Tensor SoftshrinkImpl::forward(const Tensor& input) { return softshrink(input, options.lambda()); }
Tensor SoftplusImpl::forward(const Tensor& input) { return softplus(input, options.beta(), options.threshold()); }
Tensor GELUImpl::forward(const Tensor& input) { return gelu(input, approximate_); }
Tensor SoftmaxImpl::forward(const Tensor& input) { return softmax(input, dim_); }
Tensor LogSoftmaxImpl::forward(const Tensor& input) { return log_softmax(input, dim_); }
Tensor SoftminImpl::forward(const Tensor& input) { return functional::softmin(input, dim_); }
Tensor Softmax2dImpl::forward(const Tensor& input) {
  KEYWAY_CHECK(input.dim() == 3 || input.dim() == 4, "Softmax2d: the input has 3 or 4 dimensions, not {}", input.dim());
  return softmax(input, -3);
}

PReLUImpl::PReLUImpl(PReLUOptions options_)
    : options(options_), weight(register_parameter("weight", full({options.num_parameters()}, options.init()))) {}
Tensor PReLUImpl::forward(const Tensor& input) { return prelu(input, weight); }

}  // namespace keyway::inline v1::nn
