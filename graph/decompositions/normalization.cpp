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
  // Of each channel, in float64: sums of float32 may be beyond its range.
  Tensor sum(const Tensor& values) const { return values.sum(others, false, kDouble); }
  Tensor mean(const Tensor& values) const { return values.mean(others, false, kDouble); }
};

ThreeTensors batch_norm_forward(const Tensor& input, const std::optional<Tensor>& weight,
                                const std::optional<Tensor>& bias, double eps) {
  const Tensor x = composite::to_opmath(input);
  const Channels channels(input);
  const Tensor mean = channels.mean(x).to(x.dtype()), centered = x - channels.beside(mean);
  const Tensor var = channels.mean(centered * centered).to(x.dtype()), rstd = (var + eps).rsqrt();
  Tensor result = centered * channels.beside(weight ? weight->to(x.dtype()) * rstd : rstd);
  result = bias ? result + channels.beside(bias->to(x.dtype())) : result + 0;  // no -0
  return {composite::narrowed(result, input.dtype()), mean, var};
}

// Of a shift of all elements of a channel, and of their scale, nothing is left.
ThreeTensors batch_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& var,
                                 const std::optional<Tensor>& weight, double eps, ArrayRef<bool> output_mask) {
  const Tensor x = composite::to_opmath(input), grad = composite::to_opmath(grad_out);
  const Channels channels(input);
  const Tensor rstd = (var + eps).rsqrt(), centered = x - channels.beside(mean), product = grad * centered;
  ThreeTensors grads;
  if (output_mask[0]) {
    const Tensor shift = channels.mean(grad).to(x.dtype());
    const Tensor slope = channels.mean(product).to(x.dtype()) * rstd * rstd;
    const Tensor scale = weight ? weight->to(x.dtype()) * rstd : rstd;
    const Tensor projected = grad - channels.beside(shift) - centered * channels.beside(slope);
    std::get<0>(grads) = composite::narrowed(projected * channels.beside(scale), input.dtype());
  }
  if (output_mask[1]) std::get<1>(grads) = channels.sum(product).to(x.dtype()) * rstd;
  if (output_mask[2]) std::get<2>(grads) = channels.sum(grad).to(x.dtype());
  return grads;
}

Tensor softmax_backward(const Tensor& grad_output, const Tensor& output, std::int64_t dim, ScalarType input_dtype) {
  const Tensor given = composite::to_opmath(grad_output), y = composite::to_opmath(output);
  const Tensor grad = (given - (given * y).sum({dim}, true)) * y;
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
