#include <keyway/graph/decompositions/decompositions.h>

#include <optional>
#include <tuple>

namespace keyway::inline v1::graph::decompositions {
namespace {

using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

// How images [N, C, ...] are normalised by channel.
struct Channels {
  DimVector others;  // all dimensions but that of channels
  DimVector sizes;   // of one number for each channel, beside an image

  explicit Channels(const Tensor& input) {
    for (std::int64_t d = 0; d < input.dim(); ++d) {
      if (d != 1) others.push_back(d);
      sizes.push_back(d == 1 ? input.size(1) : 1);
    }
  }
  Tensor beside(const Tensor& values) const { return values.reshape(sizes); }
};

ThreeTensors batch_norm_forward(const Tensor& input, const std::optional<Tensor>& weight,
                                const std::optional<Tensor>& bias, double eps) {
  const Tensor x = composite::to_opmath(input);
  const Channels channels(input);
  const Tensor mean = x.mean(channels.others), centered = x - channels.beside(mean);
  const Tensor var = (centered * centered).mean(channels.others);
  Tensor result = centered * channels.beside((var + eps).rsqrt());
  if (weight) result = result * channels.beside(weight->to(x.dtype()));
  if (bias) result = result + channels.beside(bias->to(x.dtype()));
  return {composite::narrowed(result, input.dtype()), mean, var};
}

// Of a shift of all elements of a channel, and of their scale, nothing is left.
ThreeTensors batch_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& var,
                                 const std::optional<Tensor>& weight, double eps, ArrayRef<bool> output_mask) {
  const Tensor x = composite::to_opmath(input), grad = composite::to_opmath(grad_out);
  const Channels channels(input);
  const Tensor rstd = (var + eps).rsqrt();
  const Tensor normal = (x - channels.beside(mean)) * channels.beside(rstd);
  ThreeTensors grads;
  if (output_mask[0]) {
    const Tensor along = (grad * normal).mean(channels.others), shift = grad.mean(channels.others);
    const Tensor scale = weight ? rstd * weight->to(x.dtype()) : rstd;
    const Tensor projected = grad - channels.beside(shift) - normal * channels.beside(along);
    std::get<0>(grads) = composite::narrowed(projected * channels.beside(scale), input.dtype());
  }
  if (output_mask[1]) std::get<1>(grads) = (grad * normal).sum(channels.others);
  if (output_mask[2]) std::get<2>(grads) = grad.sum(channels.others);
  return grads;
}

Tensor softmax_backward(const Tensor& grad_output, const Tensor& output, std::int64_t dim, ScalarType input_dtype) {
  const Tensor product = composite::to_opmath(grad_output) * composite::to_opmath(output);
  const Tensor grad = product - composite::to_opmath(output) * product.sum({dim}, true);
  return grad.dtype() == input_dtype ? grad : grad.to(input_dtype);
}

Tensor log_softmax_backward(const Tensor& grad_output, const Tensor& output, std::int64_t dim, ScalarType input_dtype) {
  const Tensor given = composite::to_opmath(grad_output);
  const Tensor grad = given - composite::to_opmath(output).exp() * given.sum({dim}, true);
  return grad.dtype() == input_dtype ? grad : grad.to(input_dtype);
}

}  // namespace

void add_normalization(Decompositions& table) {
  table.set("_batch_norm_backward", &batch_norm_backward);
  table.set("_batch_norm_forward", &batch_norm_forward);
  table.set("_log_softmax_backward_data", &log_softmax_backward);
  table.set("_softmax_backward_data", &softmax_backward);
}

}  // namespace keyway::inline v1::graph::decompositions
