// _batch_norm_forward and its gradient: each channel of [N, C, ...] is a row for a team of threads, as in
// layer_norm.cu, whose elements lie in planes of neighbours. Statistics are kept, and all sums taken, in the
// accumulation type.
#include <keyway/backends/cuda/divisor.h>
#include <keyway/backends/cuda/driver/row_values.cuh>
#include <keyway/backends/cuda/kernels/contiguous_out.h>
#include <keyway/backends/cuda/kernels/kernels_normalization.h>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <cmath>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

// Where the elements of channels are: [N, channels, places], row-major.
struct Planes {
  std::int64_t batches, channels, places;
  Divisor by_places;

  explicit Planes(IntArrayRef sizes)
      : batches(sizes[0]), channels(sizes[1]), places(checked_numel(sizes.slice(2, sizes.size() - 2))) {
    if (is_short()) by_places = Divisor(static_cast<std::uint32_t>(places));
  }

  std::int64_t count() const { return batches * places; }
  // Element i of a channel.
  KEYWAY_HD std::int64_t at(std::int64_t channel, std::int64_t i) const {
    const std::int64_t batch = is_short() ? by_places.quotient(static_cast<std::uint32_t>(i)) : i / places;
    return (batch * channels + channel) * places + (i - batch * places);
  }

 private:
  KEYWAY_HD bool is_short() const { return places > 0 && batches * places <= std::numeric_limits<std::int32_t>::max(); }
};

template <typename Acc>
KEYWAY_HD Acc parameter_of(const Acc* values, std::int64_t channel, Acc otherwise) {
  return values != nullptr ? values[channel] : otherwise;
}

// Operand: the channel's number. Weight and bias may be null.
template <typename T>
struct BatchNorm {
  using Acc = Opmath<T>;
  Planes planes;
  const T* input;
  T* out;
  const Acc* weight;
  const Acc* bias;
  Acc* mean;
  Acc* var;
  Acc eps;

  __device__ void operator()(const Row<1>& row, auto held) const {
    const std::int64_t channel = row.n() > 0 || row.leads() ? row.number(0) : 0;  // there may be no elements
    const auto n = static_cast<Acc>(row.n());
    with_values(
        row, held, [&](std::int64_t i) { return opmath(input[planes.at(channel, i)]); },
        [&](const auto& x) {
          const Acc m = x.template sum<Acc>() / n;
          const auto deviations = x.map([m](Acc value) { return value - m; });
          const Acc v = deviations.map([](Acc d) { return d * d; }).template sum<Acc>() / n;
          if (row.leads()) {
            mean[channel] = m;
            var[channel] = v;
          }
          const Acc scale = parameter_of(weight, channel, Acc(1)) / std::sqrt(v + eps);
          const Acc shift = parameter_of(bias, channel, Acc(0));
          deviations.each(
              [&](std::int64_t i, Acc d) { out[planes.at(channel, i)] = static_cast<T>(d * scale + shift); });
        });
  }
};

// A gradient g and how far its input is from the mean.
template <typename Acc>
struct GradientTerms {
  Acc grad, deviation;
};

// With r = 1 / sqrt(var + eps) and d = x - mean the gradient of the input is
// weight r (g - sum(g) / n - d r^2 sum(g d) / n). Operand: the channel's number. The results may be null, and weight.
template <typename T>
struct BatchNormBackward {
  using Acc = Opmath<T>;
  Planes planes;
  const T* grad;
  const T* input;
  const Acc* mean;
  const Acc* var;
  const Acc* weight;
  T* grad_input;
  Acc* grad_weight;
  Acc* grad_bias;
  Acc eps;

  __device__ void operator()(const Row<1>& row, auto held) const {
    // A team without a row meets the others, and has no number.
    const bool exists = row.n() > 0 || row.leads();
    const std::int64_t channel = exists ? row.number(0) : 0;
    const Acc m = exists ? mean[channel] : Acc(0), r = exists ? 1 / std::sqrt(var[channel] + eps) : Acc(0);
    const auto n = static_cast<Acc>(row.n());
    using Terms = GradientTerms<Acc>;
    with_values(
        row, held,
        [&](std::int64_t i) {
          const std::int64_t at = planes.at(channel, i);
          return Terms{opmath(grad[at]), opmath(input[at]) - m};
        },
        [&](const auto& terms) {
          const auto add = [](const Terms& a, const Terms& b) {
            return Terms{a.grad + b.grad, a.deviation + b.deviation};
          };
          const auto products = terms.map([](const Terms& x) { return Terms{x.grad, x.grad * x.deviation}; });
          const auto [sum, product] = products.fold(Terms{Acc(0), Acc(0)}, add, add);
          if (row.leads() && grad_weight != nullptr) grad_weight[channel] = product * r;
          if (row.leads() && grad_bias != nullptr) grad_bias[channel] = sum;
          if (grad_input == nullptr) return;
          const Acc factor = exists ? parameter_of(weight, channel, Acc(1)) * r : Acc(0);
          const Acc level = sum / n, slope = product / n * r * r;
          terms.each([&](std::int64_t i, const Terms& x) {
            grad_input[planes.at(channel, i)] = static_cast<T>(factor * (x.grad - level - x.deviation * slope));
          });
        });
  }
};

template <typename T>
T* pointer_to(const TensorBase& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.data_ptr()) : nullptr;
}

// Rows of a channel each. Requires: there are channels.
template <typename F>
void each_channel(const Planes& planes, const F& functor, Device on) {
  RowPlaces places({planes.channels, planes.count()}, 1);
  places.number();
  rows_of_values<1>(places, functor, on);
}

}  // namespace

void _batch_norm_forward(const TensorBase& input, const TensorBase& weight, const TensorBase& bias, double eps,
                         TensorBase& out0, TensorBase& out1, TensorBase& out2) {
  const Planes planes(input.sizes());
  if (planes.channels == 0) return;
  visit_floating(input.dtype(), "_batch_norm_forward", [&]<typename T>() {
    using Acc = Opmath<T>;
    constexpr ScalarType kAcc = cpp_type_to_scalar_type<Acc>;
    const TensorBase x = contiguous(input), w = contiguous_as(weight, kAcc), b = contiguous_as(bias, kAcc);
    const ContiguousOut y(out0), mean(out1), var(out2);
    each_channel(planes,
                 BatchNorm<T>{planes, pointer_to<const T>(x), y.data<T>(), pointer_to<const Acc>(w),
                              pointer_to<const Acc>(b), mean.data<Acc>(), var.data<Acc>(), static_cast<Acc>(eps)},
                 input.device());
    y.finish();
    mean.finish();
    var.finish();
  });
}

void _batch_norm_backward(const TensorBase& grad_out, const TensorBase& input, const TensorBase& mean,
                          const TensorBase& var, const TensorBase& weight, double eps, ArrayRef<bool>, TensorBase& out0,
                          TensorBase& out1, TensorBase& out2) {
  const Planes planes(input.sizes());
  if (planes.channels == 0) return;
  visit_floating(input.dtype(), "_batch_norm_backward", [&]<typename T>() {
    using Acc = Opmath<T>;
    constexpr ScalarType kAcc = cpp_type_to_scalar_type<Acc>;
    const TensorBase g = contiguous(grad_out), x = contiguous(input), w = contiguous_as(weight, kAcc);
    const TensorBase m = contiguous(mean), v = contiguous(var);
    const ContiguousOut grad_input(out0), grad_weight(out1), grad_bias(out2);
    each_channel(planes,
                 BatchNormBackward<T>{planes, pointer_to<const T>(g), pointer_to<const T>(x), pointer_to<const Acc>(m),
                                      pointer_to<const Acc>(v), pointer_to<const Acc>(w), grad_input.data<T>(),
                                      grad_weight.data<Acc>(), grad_bias.data<Acc>(), static_cast<Acc>(eps)},
                 input.device());
    grad_input.finish();
    grad_weight.finish();
    grad_bias.finish();
  });
}

}  // namespace keyway::inline v1::cuda
