#include <keyway/ops/all.h>
#include <keyway/ops/composite/limits.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/normalization_composites.h>
#include <keyway/ops/normalization_entries.h>

#include <tuple>

namespace keyway::inline v1::composite {

namespace {

using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

// What statistics are kept in: as the parameters, which may be wider than the input.
ScalarType dtype_of_statistics(const Tensor& input, const std::optional<Tensor>& weight) {
  return weight && opmath_dtype(input.dtype()) == weight->dtype() ? weight->dtype() : input.dtype();
}

// One value for each channel, such that it is broadcast over [N, C, ...], in the dtype of `x`.
Tensor by_channel(const Tensor& values, const Tensor& x) {
  DimVector sizes(x.sizes().size() - 1, 1);
  sizes[0] = x.size(1);
  return values.to(x.dtype()).reshape(sizes);
}

Tensor weighed(const Tensor& x, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias) {
  const Tensor scaled = weight ? x * by_channel(*weight, x) : x;
  return bias ? scaled + by_channel(*bias, x) : scaled;
}

// All dimensions but that of channels.
DimVector dims_of_batch(const Tensor& x) {
  DimVector dims;
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    if (d != 1) dims.push_back(d);
  }
  return dims;
}

// `input` by its own statistics, and these, in what it is computed with in.
struct BatchNorm {
  Tensor out, mean, variance;
};
BatchNorm batch_norm_by_itself(const Tensor& input, const std::optional<Tensor>& weight,
                               const std::optional<Tensor>& bias, double eps) {
  if (ops::_batch_norm_forward.has_kernel_for(input.device().type())) {
    const auto parameter = [&](const std::optional<Tensor>& values) -> std::optional<Tensor> {
      if (!values || !values->defined()) return std::nullopt;
      const bool fits = values->dtype() == input.dtype() || values->dtype() == kFloat;
      return (fits ? *values : values->to(input.dtype())).reshape({input.size(1)});
    };
    const auto [out, mean, variance] = keyway::_batch_norm_forward(input, parameter(weight), parameter(bias), eps);
    return {out, mean, variance};
  }
  const Tensor x = to_opmath(input);
  const DimVector dims = dims_of_batch(x);
  const Tensor mean = x.mean(dims), centered = x - by_channel(mean, x);
  const Tensor variance = (centered * centered).mean(dims);
  const Tensor normal = centered * by_channel((variance + eps).rsqrt(), x);
  return {weighed(normal, weight, bias).to(input.dtype()), mean, variance};
}

// Has `part` of it become a statistic of the batch.
void move_towards(Tensor& running, const Tensor& value, double part) {
  running.lerp_(value.detach().to(running.dtype()).reshape(running.sizes()), part);
}

// With the reciprocal standard deviation, in what statistics are kept in.
ThreeTensors results_of(const BatchNorm& normal, const Tensor& input, const std::optional<Tensor>& weight, double eps) {
  const ScalarType kept = dtype_of_statistics(input, weight);
  return {normal.out, normal.mean.to(kept), (normal.variance + eps).rsqrt().to(kept)};
}

// A group's elements as one row: [N, group, C / group * HxW].
Tensor groups_of(const Tensor& input, std::int64_t N, std::int64_t C, std::int64_t HxW, std::int64_t group) {
  return input.reshape({N, group, checked_numel({C / group, HxW})});
}

}  // namespace

ThreeTensors batch_norm_legit(const Tensor& input, const std::optional<Tensor>& weight,
                              const std::optional<Tensor>& bias, Tensor& running_mean, Tensor& running_var,
                              bool training, double momentum, double eps) {
  if (!training) return batch_norm_no_training(input, weight, bias, running_mean, running_var, momentum, eps);
  const BatchNorm normal = batch_norm_by_itself(input, weight, bias, eps);
  ThreeTensors results = results_of(normal, input, weight, eps);
  if (input.numel() == 0) return results;
  for (const Tensor* running : {&running_mean, &running_var}) {
    KEYWAY_CHECK(running->device() == input.device(),
                 "running_mean, running_var and input are on one device, not {}, {} and {}",
                 to_string(running_mean.device()), to_string(running_var.device()), to_string(input.device()));
  }
  const auto count = static_cast<double>(input.numel() / input.size(1));
  running_var.mul_(1);  // if it cannot be written to, neither is the other
  move_towards(running_mean, normal.mean, momentum);
  move_towards(running_var, normal.variance.detach() * (count / (count - 1)), momentum);
  return results;
}

ThreeTensors batch_norm_no_stats(const Tensor& input, const std::optional<Tensor>& weight,
                                 const std::optional<Tensor>& bias, bool, double, double eps) {
  return results_of(batch_norm_by_itself(input, weight, bias, eps), input, weight, eps);
}

// input * scale + shift, with one of each for a channel.
ThreeTensors batch_norm_no_training(const Tensor& input, const std::optional<Tensor>& weight,
                                    const std::optional<Tensor>& bias, const Tensor& running_mean,
                                    const Tensor& running_var, double, double eps) {
  const Tensor x = to_opmath(input);
  const auto in_dtype = [&](const Tensor& values) { return values.to(x.dtype()); };
  Tensor scale = (in_dtype(running_var) + eps).rsqrt();
  if (weight) scale = scale * in_dtype(*weight);
  Tensor shift = -in_dtype(running_mean) * scale;
  if (bias) shift = shift + in_dtype(*bias);
  const Tensor none = keyway::empty({0}, input.options());
  return {keyway::addcmul(by_channel(shift, x), x, by_channel(scale, x)).to(input.dtype()), none, none.clone()};
}

Tensor group_norm(const Tensor& input, std::int64_t num_groups, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, double eps, bool) {
  const std::int64_t positions = checked_numel(input.sizes().slice(2, input.sizes().size() - 2));
  const Tensor x = to_opmath(input);
  const Tensor groups = groups_of(x, input.size(0), input.size(1), positions, num_groups);
  const Tensor normal = std::get<0>(keyway::native_layer_norm(groups, groups.sizes().slice(2, 1), {}, {}, eps));
  return weighed(normal.reshape(input.sizes()), weight, bias).to(input.dtype());
}

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, double eps, bool) {
  return std::get<0>(keyway::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

// Unlike the kernel of native_layer_norm, with gradients of all three results.
ThreeTensors native_group_norm(const Tensor& input, const std::optional<Tensor>& weight,
                               const std::optional<Tensor>& bias, std::int64_t N, std::int64_t C, std::int64_t HxW,
                               std::int64_t group, double eps) {
  const Tensor x = groups_of(to_opmath(input), N, C, HxW, group);
  const Tensor mean = x.mean(IntArrayRef{2}, true), centered = x - mean;
  const Tensor rstd = ((centered * centered).mean(IntArrayRef{2}, true) + eps).rsqrt();
  const Tensor result = weighed((centered * rstd).reshape({N, C, HxW}), weight, bias).reshape(input.sizes());
  const ScalarType kept = dtype_of_statistics(input, weight);
  return {result.to(input.dtype()), mean.squeeze(2).to(kept), rstd.squeeze(2).to(kept)};
}

// With x' the normalised input and h the gradient times the weight, the gradient of the input is
// rstd (h - mean(h) - x' mean(h x')).
ThreeTensors native_group_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                                        const Tensor& rstd, const std::optional<Tensor>& weight, std::int64_t N,
                                        std::int64_t C, std::int64_t HxW, std::int64_t group,
                                        ArrayRef<bool> output_mask) {
  const ScalarType dtype = opmath_dtype(input.dtype()), kept = dtype_of_statistics(input, weight);
  const Tensor grad = grad_out.to(dtype).reshape({N, C, HxW});
  const Tensor scale = rstd.to(dtype).reshape({N, group, 1});
  const Tensor x = groups_of(input.to(dtype), N, C, HxW, group);
  const Tensor normal = (x - mean.to(dtype).reshape({N, group, 1})) * scale;
  ThreeTensors results;
  if (output_mask[0]) {
    const Tensor h = weighed(grad, weight, {}).reshape(x.sizes());
    const Tensor change = h - h.mean(IntArrayRef{2}, true) - normal * (h * normal).mean(IntArrayRef{2}, true);
    std::get<0>(results) = (change * scale).reshape(input.sizes()).to(input.dtype());
  }
  if (output_mask[1]) std::get<1>(results) = (grad * normal.reshape(grad.sizes())).sum(IntArrayRef{0, 2}).to(kept);
  if (output_mask[2]) std::get<2>(results) = grad.sum(IntArrayRef{0, 2}).to(kept);
  return results;
}

Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
                std::optional<double> eps) {
  const Tensor x = to_opmath(input);
  DimVector dims;
  for (std::size_t d = 1; d <= normalized_shape.size(); ++d) dims.push_back(-static_cast<std::int64_t>(d));
  const Tensor normal = x * ((x * x).mean(dims, true) + eps.value_or(epsilon_of(to_real(x.dtype())))).rsqrt();
  return (weight ? normal * *weight : normal).to(input.dtype());
}

}  // namespace keyway::inline v1::composite
