// native_layer_norm and its gradient, over rows of `width` adjacent elements.
#include <keyway/backends/cpu/kernels_normalization.h>
#include <keyway/backends/cpu/lanes.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/backends/cpu/wide_rows.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <cmath>

namespace keyway::inline v1 {

namespace {

// Rows whose weight gradients are added up one after another; the sums of such chunks are added in order.
constexpr std::int64_t kRowsOfAChunk = 64;

std::int64_t width_of(IntArrayRef normalized_shape) { return checked_numel(normalized_shape); }

// Weight and bias may be null.
template <typename T>
struct Forward {
  using Acc = T;
  static constexpr std::size_t kInputs = 1;
  const Acc* weight;
  const Acc* bias;
  Acc* mean;
  Acc* rstd;
  std::int64_t width;
  Acc eps;
  const Acc* input[kInputs] = {};
  Acc* out = nullptr;
  std::int64_t first = 0, begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    const Acc* const x = input[0] + (r - first) * width;
    Acc* const y = out + (r - first) * width;
    const auto n = static_cast<Acc>(width);
    const Acc m = lane_sum<Acc>(width, [x](std::int64_t i) { return x[i]; }) / n;
    const Acc squares = lane_sum<Acc>(width, [x, m](std::int64_t i) {
      const Acc d = x[i] - m;
      return d * d;
    });
    const Acc scale = 1 / std::sqrt(squares / n + eps);
    mean[r] = m;
    rstd[r] = scale;
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < width; ++i) {
      const Acc normal = (x[i] - m) * scale;
      const Acc weighed = weight != nullptr ? normal * weight[i] : normal;
      y[i] = bias != nullptr ? weighed + bias[i] : weighed;
    }
  }
};

// With x' = (x - mean) rstd and g' = g weight, the gradient of a row is
// rstd (g' - mean(g') - x' mean(g' x')); those of weight and bias are the sums of g x' and g over rows.
template <typename T>
struct Backward {
  using Acc = T;
  static constexpr std::size_t kInputs = 2;  // the gradient of the result, and the input
  const Acc* mean;
  const Acc* rstd;
  const Acc* weight;
  Acc* grad_weights;  // a row of `width` for each chunk, or null
  Acc* grad_biases;
  std::int64_t width;
  const Acc* input[kInputs] = {};
  Acc* out = nullptr;  // the gradient of the input
  std::int64_t first = 0, begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    const Acc* const g = input[0] + (r - first) * width;
    const Acc* const x = input[1] + (r - first) * width;
    const Acc m = mean[r], scale = rstd[r];
    const Acc* const w = weight;
    if (out != nullptr) {
      const auto weighed = [g, w](std::int64_t i) { return w != nullptr ? g[i] * w[i] : g[i]; };
      const auto n = static_cast<Acc>(width);
      const Acc level = lane_sum<Acc>(width, weighed) / n;
      const Acc slope = lane_sum<Acc>(width, [=](std::int64_t i) { return weighed(i) * ((x[i] - m) * scale); }) / n;
      Acc* const to = out + (r - first) * width;
      KEYWAY_INDEPENDENT
      for (std::int64_t i = 0; i < width; ++i) {
        to[i] = scale * (weighed(i) - level - (x[i] - m) * scale * slope);
      }
    }
    const std::int64_t chunk = r / kRowsOfAChunk * width;
    if (grad_weights != nullptr) {
      Acc* const to = grad_weights + chunk;
      KEYWAY_INDEPENDENT
      for (std::int64_t i = 0; i < width; ++i) to[i] += g[i] * ((x[i] - m) * scale);
    }
    if (grad_biases != nullptr) {
      Acc* const to = grad_biases + chunk;
      KEYWAY_INDEPENDENT
      for (std::int64_t i = 0; i < width; ++i) to[i] += g[i];
    }
  }
};

// The sum of `chunks` rows of `width`, in order.
template <typename Acc>
void add_chunks(const ScratchArray<Acc>& from, std::int64_t width, const TensorBase& out) {
  if (!out.defined()) return;
  const ContiguousOut to(out, cpp_type_to_scalar_type<Acc>);
  Acc* const sum = to.data<Acc>();
  const auto chunks = width == 0 ? 0 : from.size() / width;
  for (std::int64_t i = 0; i < width; ++i) sum[i] = 0;
  for (std::int64_t c = 0; c < chunks; ++c) {
    for (std::int64_t i = 0; i < width; ++i) sum[i] += from[c * width + i];
  }
  to.finish();
}

}  // namespace

namespace cpu {

void native_layer_norm(const TensorBase& input, IntArrayRef normalized_shape, const TensorBase& weight,
                       const TensorBase& bias, double eps, TensorBase& out0, TensorBase& out1, TensorBase& out2) {
  const std::int64_t width = width_of(normalized_shape);
  visit_floating(input.dtype(), "native_layer_norm", [&]<typename T>() {
    using Acc = Opmath<T>;
    constexpr ScalarType kAcc = cpp_type_to_scalar_type<Acc>;
    const TensorBase x = contiguous(input), w = contiguous_as(weight, kAcc), b = contiguous_as(bias, kAcc);
    const ContiguousOut y(out0), mean(out1, kAcc), rstd(out2, kAcc);
    const Forward<Acc> rows{
        data_or_null<const Acc>(w), data_or_null<const Acc>(b), mean.data<Acc>(), rstd.data<Acc>(), width,
        static_cast<Acc>(eps)};
    run_wide_rows(rows, mean.tensor().numel(), {x}, y.tensor());
    y.finish();
    mean.finish();
    rstd.finish();
  });
}

void native_layer_norm_backward(const TensorBase& grad_out, const TensorBase& input, IntArrayRef normalized_shape,
                                const TensorBase& mean, const TensorBase& rstd, const TensorBase& weight,
                                const TensorBase&, ArrayRef<bool>, TensorBase& out0, TensorBase& out1,
                                TensorBase& out2) {
  const std::int64_t width = width_of(normalized_shape), count = mean.numel();
  visit_floating(input.dtype(), "native_layer_norm_backward", [&]<typename T>() {
    using Acc = Opmath<T>;
    constexpr ScalarType kAcc = cpp_type_to_scalar_type<Acc>;
    const TensorBase g = contiguous(grad_out), x = contiguous(input), w = contiguous_as(weight, kAcc);
    const TensorBase m = contiguous_as(mean, kAcc), s = contiguous_as(rstd, kAcc);
    const ContiguousOut grad_input(out0);
    const std::int64_t cells = (count + kRowsOfAChunk - 1) / kRowsOfAChunk * width;
    const ScratchArray<Acc> weights(out1.defined() ? cells : 0, 0), biases(out2.defined() ? cells : 0, 0);
    const Backward<Acc> rows{static_cast<const Acc*>(m.data_ptr()),
                             static_cast<const Acc*>(s.data_ptr()),
                             data_or_null<const Acc>(w),
                             weights.data(),
                             biases.data(),
                             width};
    run_wide_rows(rows, count, {g, x}, grad_input.tensor(), kRowsOfAChunk);
    grad_input.finish();
    add_chunks(weights, width, out1);
    add_chunks(biases, width, out2);
  });
}

}  // namespace cpu

}  // namespace keyway::inline v1
