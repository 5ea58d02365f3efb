#include <keyway/nn/functional/normalization.h>
#include <keyway/nn/functional/opmath.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn::functional {

namespace {

void check_more_than_one(std::int64_t count, const char* what, const Tensor& input) {
  KEYWAY_CHECK(count != 1, "training needs more than 1 {}, but the input has shape {}", what, input.sizes());
}

// Elements behind the channels.
std::int64_t spatial_numel(const Tensor& input) {
  std::int64_t count = 1;
  for (const std::int64_t size : input.sizes().slice(2)) count *= size;
  return count;
}

Tensor normalized(const Tensor& input, Tensor running_mean, Tensor running_var, const Tensor& weight,
                  const Tensor& bias, bool by_input, double momentum, double eps) {
  if (running_mean.defined() && running_var.defined()) {
    return std::get<0>(_native_batch_norm_legit(input, if_defined(weight), if_defined(bias), running_mean, running_var,
                                                by_input, momentum, eps));
  }
  KEYWAY_CHECK(by_input, "running_mean and running_var are needed when not training");
  return std::get<0>(_native_batch_norm_legit(input, if_defined(weight), if_defined(bias), true, momentum, eps));
}

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options) {
  if (options.training() && input.dim() >= 2) {
    check_more_than_one(input.size(0) * spatial_numel(input), "value per channel", input);
  }
  return normalized(input, running_mean, running_var, options.weight(), options.bias(), options.training(),
                    options.momentum(), options.eps());
}

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options) {
  KEYWAY_CHECK(input.dim() >= 3, "instance_norm: the input is [batch, channels, ...], not {}", input.sizes());
  if (options.use_input_stats()) check_more_than_one(spatial_numel(input), "spatial element", input);
  const std::int64_t samples = input.size(0), channels = input.size(1);
  const auto of_each = [&](const Tensor& values) { return values.defined() ? values.repeat({samples}) : Tensor(); };
  const Tensor means = of_each(options.running_mean()), variances = of_each(options.running_var());
  std::vector<std::int64_t> rows = input.sizes().vec();
  rows[0] = 1;
  rows[1] = samples * channels;
  const Tensor result =
      normalized(input.reshape(rows), means, variances, of_each(options.weight()), of_each(options.bias()),
                 options.use_input_stats(), options.momentum(), options.eps());
  if (options.use_input_stats() && samples > 0) {
    const NoGradGuard no_grad;
    for (const auto& [running, each] :
         {std::pair(options.running_mean(), means), std::pair(options.running_var(), variances)}) {
      if (running.defined()) running.copy_(each.reshape({samples, channels}).mean(IntArrayRef({0})));
    }
  }
  return result.reshape(input.sizes());
}

Tensor normalize(const Tensor& input, double p, std::int64_t dim, double eps) {
  const Tensor wide = to_opmath(input);
  const Tensor norms = linalg_vector_norm(wide, p, IntArrayRef({dim}), true).clamp(Scalar(eps));
  return wide.div(norms).to(input.dtype());
}

Tensor local_response_norm(const Tensor& input, std::int64_t size, double alpha, double beta, double k) {
  KEYWAY_CHECK(input.dim() >= 3, "local_response_norm: the input has 3 dimensions or more, not {}", input.dim());
  if (input.numel() == 0) return input;
  const Tensor squares = to_opmath(input).square().reshape({input.size(0), 1, input.size(1), spatial_numel(input)});
  const Tensor padded = pad(squares, {0, 0, size / 2, (size - 1) / 2});
  const Tensor means = avg_pool2d(padded, {size, 1}, 1).reshape(input.sizes());
  return input.div(means.mul(alpha).add(k).pow(beta)).to(input.dtype());
}

}  // namespace keyway::inline v1::nn::functional
