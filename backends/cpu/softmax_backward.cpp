// Gradients of _softmax and _log_softmax, from their results y and the gradients g of these:
// y (g - sum(g y)) and g - e^y sum(g).
#include <keyway/backends/cpu/kernels_softmax.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/softmax.h>

namespace keyway::inline v1 {

namespace {

using detail::add_rows;
using detail::kSoftmaxWidth;

template <typename T>
struct SoftmaxGradient {
  static constexpr T term(T g, T y) { return g * y; }
  static T result(T g, T y, T sum) { return (g - sum) * y; }
};
template <typename T>
struct LogSoftmaxGradient {
  static constexpr T term(T g, T) { return g; }
  static T result(T g, T y, T sum) { return g - given_decaying_exp(y) * sum; }
};

template <typename F, typename T>
struct Backward {
  [[gnu::always_inline]] static void line(std::int64_t n, const Panel& panel, std::int64_t j) {
    T* const out = panel.at<T>(0, 0, j);
    const T* const g = panel.at<const T>(1, 0, j);
    const T* const y = panel.at<const T>(2, 0, j);
    const T sum = lane_sum<T>(n, [=](std::int64_t i) { return F::term(g[i], y[i]); });
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) {
      out[i] = F::result(g[i], y[i], sum);
    }
  }

  [[gnu::always_inline]] static void columns(std::int64_t n, const auto& columns, const auto&) {
    const std::int64_t lines = columns.panel.lines;
    const auto g = [&](std::int64_t i, std::int64_t j) { return columns.template at<const T>(1, i, j); };
    const auto y = [&](std::int64_t i, std::int64_t j) { return columns.template at<const T>(2, i, j); };
    T sum[kSoftmaxWidth];
    add_rows(n, lines, sum, [&](std::int64_t i, std::int64_t j) { return F::term(g(i, j), y(i, j)); });
    for (std::int64_t i = 0; i < n; ++i) {
      KEYWAY_INDEPENDENT
      for (std::int64_t j = 0; j < lines; ++j) {
        columns.template at<T>(0, i, j) = F::result(g(i, j), y(i, j), sum[j]);
      }
    }
  }
};

template <typename T>
using SoftmaxBackward = Backward<SoftmaxGradient<T>, T>;
template <typename T>
using LogSoftmaxBackward = Backward<LogSoftmaxGradient<T>, T>;

}  // namespace

namespace {

// A gradient with strides of its own, that of a sum for one, where the result is dense along the dimension: in order.
TensorBase beside(const TensorBase& grad, const TensorBase& output, std::int64_t dim) {
  if (grad.dim() == 0) return grad;
  const auto d = static_cast<std::size_t>(dim < 0 ? dim + grad.dim() : dim);
  return output.strides()[d] == 1 && grad.strides()[d] != 1 ? contiguous(grad) : grad;
}

}  // namespace

namespace cpu {

void _softmax_backward_data(const TensorBase& grad_output, const TensorBase& output, std::int64_t dim, ScalarType,
                            TensorBase& out) {
  detail::run_softmax<SoftmaxBackward>(out, dim, beside(grad_output, output, dim), output);
}

void _log_softmax_backward_data(const TensorBase& grad_output, const TensorBase& output, std::int64_t dim, ScalarType,
                                TensorBase& out) {
  detail::run_softmax<LogSoftmaxBackward>(out, dim, beside(grad_output, output, dim), output);
}

}  // namespace cpu

}  // namespace keyway::inline v1
