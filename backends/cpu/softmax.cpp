// _softmax and _log_softmax. The greatest element of a line is subtracted first, so nothing overflows; sums
// are kept in the accumulation type.
#include <keyway/backends/cpu/kernels_softmax.h>
#include <keyway/backends/cpu/softmax.h>
#include <keyway/core/visit_dtype.h>

#include <cmath>
#include <type_traits>

namespace keyway::inline v1 {

namespace {

using detail::add_rows;
using detail::kSoftmaxWidth;

// Elements T to results R, which are T or float. Exponentials are kept where results go, if these are not
// narrower; else computed twice.
template <typename T, typename R>
struct Softmax {
  using Acc = Opmath<T>;
  static constexpr bool kKeeps = std::is_same_v<R, Acc>;

  [[gnu::always_inline]] static void line(std::int64_t n, const Panel& panel, std::int64_t j) {
    R* const out = panel.at<R>(0, 0, j);
    const T* const x = panel.at<const T>(1, 0, j);
    const Acc top = lane_max<Acc>(n, [x](std::int64_t i) { return opmath(x[i]); });
    if constexpr (kKeeps) {
      KEYWAY_INDEPENDENT
      for (std::int64_t i = 0; i < n; ++i) out[i] = decaying_exp(opmath(x[i]) - top);
      const Acc scale = 1 / lane_sum<Acc>(n, [out](std::int64_t i) { return out[i]; });
      KEYWAY_INDEPENDENT
      for (std::int64_t i = 0; i < n; ++i) out[i] *= scale;
    } else {
      const auto term = [x, top](std::int64_t i) { return decaying_exp(opmath(x[i]) - top); };
      const Acc scale = 1 / lane_sum<Acc>(n, term);
      KEYWAY_INDEPENDENT
      for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(term(i) * scale);
    }
  }

  [[gnu::always_inline]] static void columns(std::int64_t n, const Panel& panel) {
    const std::int64_t lines = panel.lines;
    Acc top[kSoftmaxWidth], sum[kSoftmaxWidth];
    for (std::int64_t j = 0; j < lines; ++j) top[j] = lowest_value<Acc>();
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < lines; ++j) {
        const Acc x = opmath(*panel.at<const T>(1, i, j));
        top[j] = x > top[j] ? x : top[j];
      }
    }
    const auto term = [&](std::int64_t i, std::int64_t j) {
      return decaying_exp(opmath(*panel.at<const T>(1, i, j)) - top[j]);
    };
    add_rows(n, lines, sum, term);
    for (std::int64_t j = 0; j < lines; ++j) sum[j] = 1 / sum[j];
    for (std::int64_t i = 0; i < n; ++i) {
      KEYWAY_INDEPENDENT
      for (std::int64_t j = 0; j < lines; ++j) *panel.at<R>(0, i, j) = static_cast<R>(term(i, j) * sum[j]);
    }
  }
};

template <typename T, typename R>
struct LogSoftmax {
  using Acc = Opmath<T>;

  [[gnu::always_inline]] static void line(std::int64_t n, const Panel& panel, std::int64_t j) {
    R* const out = panel.at<R>(0, 0, j);
    const T* const x = panel.at<const T>(1, 0, j);
    const Acc top = lane_max<Acc>(n, [x](std::int64_t i) { return opmath(x[i]); });
    const Acc log_sum =
        std::log(lane_sum<Acc>(n, [x, top](std::int64_t i) { return decaying_exp(opmath(x[i]) - top); }));
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(opmath(x[i]) - top - log_sum);
  }

  [[gnu::always_inline]] static void columns(std::int64_t n, const Panel& panel) {
    const std::int64_t lines = panel.lines;
    Acc top[kSoftmaxWidth], sum[kSoftmaxWidth];
    for (std::int64_t j = 0; j < lines; ++j) top[j] = lowest_value<Acc>();
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < lines; ++j) {
        const Acc x = opmath(*panel.at<const T>(1, i, j));
        top[j] = x > top[j] ? x : top[j];
      }
    }
    add_rows(n, lines, sum, [&](std::int64_t i, std::int64_t j) {
      return decaying_exp(opmath(*panel.at<const T>(1, i, j)) - top[j]);
    });
    for (std::int64_t j = 0; j < lines; ++j) sum[j] = std::log(sum[j]);
    for (std::int64_t i = 0; i < n; ++i) {
      KEYWAY_INDEPENDENT
      for (std::int64_t j = 0; j < lines; ++j) {
        *panel.at<R>(0, i, j) = static_cast<R>(opmath(*panel.at<const T>(1, i, j)) - top[j] - sum[j]);
      }
    }
  }
};

template <template <typename, typename> typename Op>
void forward(const char* name, const TensorBase& self, std::int64_t dim, const TensorBase& out) {
  visit_floating(self.dtype(), name, [&]<typename T>() {
    if (out.dtype() == self.dtype()) return detail::run_softmax<Op<T, T>>({&out, &self}, dim);
    if constexpr (NarrowFloatType<T>) detail::run_softmax<Op<T, float>>({&out, &self}, dim);
  });
}

}  // namespace

namespace cpu {

// The guard has seen to it that `out` has self's dtype or, with half_to_float, float32.
void _softmax(const TensorBase& self, std::int64_t dim, bool, TensorBase& out) {
  forward<Softmax>("_softmax", self, dim, out);
}

void _log_softmax(const TensorBase& self, std::int64_t dim, bool, TensorBase& out) {
  forward<LogSoftmax>("_log_softmax", self, dim, out);
}

}  // namespace cpu

}  // namespace keyway::inline v1
