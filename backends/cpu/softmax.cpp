// _softmax and _log_softmax. The greatest element of a line is subtracted first, so nothing overflows; sums
// of 16-bit elements are kept in float32.
#include <keyway/backends/cpu/kernels_softmax.h>
#include <keyway/backends/cpu/softmax.h>

#include <cmath>

namespace keyway::inline v1 {

namespace {

using detail::add_rows;
using detail::kSoftmaxWidth;

// The greatest element of each of the lines of operand 1 that is a number; -inf if there is none.
template <typename T>
[[gnu::always_inline]] inline void greatest(std::int64_t n, const auto& columns, T* top) {
  const std::int64_t lines = columns.panel.lines;
  for (std::int64_t j = 0; j < lines; ++j) top[j] = lowest_value<T>();
  for (std::int64_t i = 0; i < n; ++i) {
    KEYWAY_INDEPENDENT
    for (std::int64_t j = 0; j < lines; ++j) {
      const T x = columns.template at<const T>(1, i, j);
      top[j] = x > top[j] ? x : top[j];
    }
  }
}

template <typename T>
struct Softmax {
  [[gnu::always_inline]] static void line(std::int64_t n, const Panel& panel, std::int64_t j) {
    T* const out = panel.at<T>(0, 0, j);
    const T* const x = panel.at<const T>(1, 0, j);
    const T top = lane_max<T>(n, [x](std::int64_t i) { return x[i]; });
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) out[i] = decaying_exp(x[i] - top);
    const T scale = 1 / lane_sum<T>(n, [out](std::int64_t i) { return out[i]; });
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) out[i] *= scale;
  }

  [[gnu::always_inline]] static void columns(std::int64_t n, const auto& columns, const auto&) {
    const std::int64_t lines = columns.panel.lines;
    T top[kSoftmaxWidth], sum[kSoftmaxWidth];
    greatest(n, columns, top);
    add_rows(n, lines, sum, [&](std::int64_t i, std::int64_t j) {
      const T value = decaying_exp(columns.template at<const T>(1, i, j) - top[j]);
      columns.template at<T>(0, i, j) = value;
      return value;
    });
    for (std::int64_t j = 0; j < lines; ++j) sum[j] = 1 / sum[j];
    for (std::int64_t i = 0; i < n; ++i) {
      KEYWAY_INDEPENDENT
      for (std::int64_t j = 0; j < lines; ++j) columns.template at<T>(0, i, j) *= sum[j];
    }
  }
};

template <typename T>
struct LogSoftmax {
  [[gnu::always_inline]] static void line(std::int64_t n, const Panel& panel, std::int64_t j) {
    T* const out = panel.at<T>(0, 0, j);
    const T* const x = panel.at<const T>(1, 0, j);
    const T top = lane_max<T>(n, [x](std::int64_t i) { return x[i]; });
    const T log_sum = std::log(lane_sum<T>(n, [x, top](std::int64_t i) { return decaying_exp(x[i] - top); }));
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] - top - log_sum;
  }

  [[gnu::always_inline]] static void columns(std::int64_t n, const auto& columns, const auto& math) {
    const std::int64_t lines = columns.panel.lines;
    T top[kSoftmaxWidth], sum[kSoftmaxWidth];
    greatest(n, columns, top);
    const auto above = [&](std::int64_t i, std::int64_t j) { return columns.template at<const T>(1, i, j) - top[j]; };
    add_rows(n, lines, sum, [&](std::int64_t i, std::int64_t j) { return decaying_exp(above(i, j)); });
    for (std::int64_t j = 0; j < lines; ++j) sum[j] = math.log(sum[j]);
    for (std::int64_t i = 0; i < n; ++i) {
      KEYWAY_INDEPENDENT
      for (std::int64_t j = 0; j < lines; ++j) columns.template at<T>(0, i, j) = above(i, j) - sum[j];
    }
  }
};

}  // namespace

namespace cpu {

// The guard has seen to it that `out` has self's dtype or, with half_to_float, float32.
void _softmax(const TensorBase& self, std::int64_t dim, bool, TensorBase& out) {
  detail::run_softmax<Softmax>(out, dim, self);
}

void _log_softmax(const TensorBase& self, std::int64_t dim, bool, TensorBase& out) {
  detail::run_softmax<LogSoftmax>(out, dim, self);
}

}  // namespace cpu

}  // namespace keyway::inline v1
