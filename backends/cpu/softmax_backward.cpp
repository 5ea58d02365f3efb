// Gradients of _softmax and _log_softmax, from their results y and the gradients g of these:
// y (g - sum(g y)) and g - e^y sum(g).
#include <keyway/backends/cpu/kernels_softmax.h>
#include <keyway/backends/cpu/softmax.h>
#include <keyway/core/visit_dtype.h>

namespace keyway::inline v1 {

namespace {

using detail::add_rows;
using detail::kSoftmaxWidth;

template <typename T>
struct SoftmaxGradient {
  using Acc = Opmath<T>;
  static constexpr Acc term(Acc g, Acc y) { return g * y; }
  static Acc result(Acc g, Acc y, Acc sum) { return (g - sum) * y; }
};
template <typename T>
struct LogSoftmaxGradient {
  using Acc = Opmath<T>;
  static constexpr Acc term(Acc g, Acc) { return g; }
  static Acc result(Acc g, Acc y, Acc sum) { return g - decaying_exp(y) * sum; }
};

// T is the type of gradient and result of the forward call, R of its input: T, or half of it.
template <typename F, typename T, typename R>
struct Backward {
  using Acc = Opmath<T>;

  [[gnu::always_inline]] static void line(std::int64_t n, const Panel& panel, std::int64_t j) {
    R* const out = panel.at<R>(0, 0, j);
    const T* const g = panel.at<const T>(1, 0, j);
    const T* const y = panel.at<const T>(2, 0, j);
    const Acc sum = lane_sum<Acc>(n, [=](std::int64_t i) { return F::term(opmath(g[i]), opmath(y[i])); });
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<R>(F::result(opmath(g[i]), opmath(y[i]), sum));
    }
  }

  [[gnu::always_inline]] static void columns(std::int64_t n, const Panel& panel) {
    const auto g = [&](std::int64_t i, std::int64_t j) { return opmath(*panel.at<const T>(1, i, j)); };
    const auto y = [&](std::int64_t i, std::int64_t j) { return opmath(*panel.at<const T>(2, i, j)); };
    Acc sum[kSoftmaxWidth];
    add_rows(n, panel.lines, sum, [&](std::int64_t i, std::int64_t j) { return F::term(g(i, j), y(i, j)); });
    for (std::int64_t i = 0; i < n; ++i) {
      KEYWAY_INDEPENDENT
      for (std::int64_t j = 0; j < panel.lines; ++j) {
        *panel.at<R>(0, i, j) = static_cast<R>(F::result(g(i, j), y(i, j), sum[j]));
      }
    }
  }
};

template <template <typename> typename F>
void backward(const char* name, const TensorBase& grad_output, const TensorBase& output, std::int64_t dim,
              const TensorBase& out) {
  visit_floating(output.dtype(), name, [&]<typename T>() {
    const auto run = [&]<typename R>(std::type_identity<R>) {
      detail::run_softmax<Backward<F<T>, T, R>>({&out, &grad_output, &output}, dim);
    };
    if (out.dtype() == output.dtype()) return run(std::type_identity<T>());
    if constexpr (std::is_same_v<T, float>) {
      if (out.dtype() == kHalf) return run(std::type_identity<Half>());
      run(std::type_identity<BFloat16>());
    }
  });
}

}  // namespace

namespace cpu {

void _softmax_backward_data(const TensorBase& grad_output, const TensorBase& output, std::int64_t dim, ScalarType,
                            TensorBase& out) {
  backward<SoftmaxGradient>("_softmax_backward_data", grad_output, output, dim, out);
}

void _log_softmax_backward_data(const TensorBase& grad_output, const TensorBase& output, std::int64_t dim, ScalarType,
                                TensorBase& out) {
  backward<LogSoftmaxGradient>("_log_softmax_backward_data", grad_output, output, dim, out);
}

}  // namespace cpu

}  // namespace keyway::inline v1
