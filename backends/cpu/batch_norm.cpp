// _batch_norm_forward and its gradient: each channel of [N, C, ...] by itself. A channel is gone through once for each
// sum and once for the result, from a cache after the first time where it is not too long for one.
#include <keyway/backends/common/channels.h>
#include <keyway/backends/cpu/kernels_normalization.h>
#include <keyway/backends/cpu/lanes.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/row_loop.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <algorithm>
#include <cmath>

namespace keyway::inline v1 {

namespace {

// Channels that are gone through together where they lie side by side, and rows of them that are added up in T
// before they are in double.
constexpr std::int64_t kSideBySide = 64, kRowsOfASum = 128;

using detail::channels_are_last, detail::channels_as_columns, detail::ChannelLayout;

// Where the plane of channel c in batch b begins.
std::int64_t plane(const ChannelLayout& at, std::int64_t b, std::int64_t c) {
  return (b * at.channels + c) * at.positions;
}

// The sum over the planes of a channel of value(i), i being the index of an element.
template <typename T, typename F>
[[gnu::always_inline]] inline double sum_of_planes(const ChannelLayout& at, std::int64_t c, const F& value) {
  double total = 0;
  for (std::int64_t b = 0; b < at.batches; ++b) {
    const std::int64_t first = plane(at, b, c);
    total += static_cast<double>(lane_sum<T>(at.positions, [&, first](std::int64_t i) { return value(first + i); }));
  }
  return total;
}
template <typename F>
[[gnu::always_inline]] inline void each_of_planes(const ChannelLayout& at, std::int64_t c, const F& f) {
  for (std::int64_t b = 0; b < at.batches; ++b) {
    const std::int64_t first = plane(at, b, c);
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < at.positions; ++i) f(first + i);
  }
}

// Into totals[j] the sum over rows of value(i, j), i being the index of channel c + j in the row, for n channels.
template <typename T, typename F>
[[gnu::always_inline]] inline void sum_of_rows(const ChannelLayout& at, std::int64_t c, std::int64_t n, double* totals,
                                               const F& value) {
  for (std::int64_t j = 0; j < n; ++j) totals[j] = 0;
  for (std::int64_t begin = 0; begin < at.count(); begin += kRowsOfASum) {
    const std::int64_t end = std::min(at.count(), begin + kRowsOfASum);
    T part[kSideBySide] = {};
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t first = r * at.channels + c;
      for (std::int64_t j = 0; j < n; ++j) part[j] += value(first + j, j);
    }
    for (std::int64_t j = 0; j < n; ++j) totals[j] += static_cast<double>(part[j]);
  }
}
template <typename F>
[[gnu::always_inline]] inline void each_of_rows(const ChannelLayout& at, std::int64_t c, std::int64_t n, const F& f) {
  for (std::int64_t r = 0; r < at.count(); ++r) {
    const std::int64_t first = r * at.channels + c;
    KEYWAY_INDEPENDENT
    for (std::int64_t j = 0; j < n; ++j) f(first + j, j);
  }
}

template <typename T>
struct BatchForward {
  ChannelLayout at;
  const T* input;
  const T* weight;  // may be null, as bias
  const T* bias;
  T* out;
  T* mean;
  T* var;
  T eps;
  std::int64_t width;  // of a row, which here is a channel or some side by side
  std::int64_t begin = 0, end = 0;

  [[gnu::always_inline]] T scale(std::int64_t c) const {
    const T rstd = 1 / std::sqrt(var[c] + eps);
    return weight != nullptr ? weight[c] * rstd : rstd;
  }
  [[gnu::always_inline]] T shift(std::int64_t c) const { return bias != nullptr ? bias[c] : T(0); }
};

template <typename T>
struct BatchForwardOfPlanes : BatchForward<T> {
  [[gnu::always_inline]] void row(std::int64_t c) const {
    const T* const x = this->input;
    T* const y = this->out;
    const auto n = static_cast<double>(this->at.count());
    const auto m = static_cast<T>(sum_of_planes<T>(this->at, c, [x](std::int64_t i) { return x[i]; }) / n);
    this->mean[c] = m;
    this->var[c] =
        static_cast<T>(sum_of_planes<T>(this->at, c, [x, m](std::int64_t i) { return (x[i] - m) * (x[i] - m); }) / n);
    const T a = this->scale(c), b = this->shift(c);
    each_of_planes(this->at, c, [=](std::int64_t i) { y[i] = (x[i] - m) * a + b; });
  }
};

template <typename T>
struct BatchForwardSideBySide : BatchForward<T> {
  [[gnu::always_inline]] void row(std::int64_t block) const {
    const std::int64_t c = block * kSideBySide, n = std::min(kSideBySide, this->at.channels - c);
    const T* const x = this->input;
    T* const y = this->out;
    const auto count = static_cast<double>(this->at.count());
    double totals[kSideBySide];
    T m[kSideBySide], a[kSideBySide], b[kSideBySide];
    sum_of_rows<T>(this->at, c, n, totals, [x](std::int64_t i, std::int64_t) { return x[i]; });
    for (std::int64_t j = 0; j < n; ++j) this->mean[c + j] = m[j] = static_cast<T>(totals[j] / count);
    sum_of_rows<T>(this->at, c, n, totals,
                   [x, &m](std::int64_t i, std::int64_t j) { return (x[i] - m[j]) * (x[i] - m[j]); });
    for (std::int64_t j = 0; j < n; ++j) {
      this->var[c + j] = static_cast<T>(totals[j] / count);
      a[j] = this->scale(c + j);
      b[j] = this->shift(c + j);
    }
    each_of_rows(this->at, c, n, [&](std::int64_t i, std::int64_t j) { y[i] = (x[i] - m[j]) * a[j] + b[j]; });
  }
};

// With r = 1 / sqrt(var + eps), x' = (x - mean) r and n elements of a channel, the gradient of the input is
// weight r (g - sum(g) / n - x' sum(g x') / n); those of weight and bias are sum(g x') and sum(g).
template <typename T>
struct BatchBackward {
  ChannelLayout at;
  const T* grad;
  const T* input;
  const T* mean;
  const T* var;
  const T* weight;  // may be null, as the results
  T* grad_input;
  T* grad_weight;
  T* grad_bias;
  T eps;
  std::int64_t width;
  std::int64_t begin = 0, end = 0;

  // What the gradient of the input is made of: factor (g - level - (x - mean) slope).
  struct Terms {
    T factor, level, slope;
  };
  // Of the sums of g and g (x - mean).
  [[gnu::always_inline]] Terms finish(std::int64_t c, double sum, double product) const {
    const T r = 1 / std::sqrt(var[c] + eps);
    const double n = static_cast<double>(at.count());
    if (grad_weight != nullptr) grad_weight[c] = static_cast<T>(product) * r;
    if (grad_bias != nullptr) grad_bias[c] = static_cast<T>(sum);
    return {weight != nullptr ? weight[c] * r : r, static_cast<T>(sum / n), static_cast<T>(product / n) * r * r};
  }
};

template <typename T>
struct BatchBackwardOfPlanes : BatchBackward<T> {
  [[gnu::always_inline]] void row(std::int64_t c) const {
    const T* const g = this->grad;
    const T* const x = this->input;
    T* const to = this->grad_input;
    const T m = this->mean[c];
    const double sum = sum_of_planes<T>(this->at, c, [g](std::int64_t i) { return g[i]; });
    const double product = sum_of_planes<T>(this->at, c, [=](std::int64_t i) { return g[i] * (x[i] - m); });
    const auto [factor, level, slope] = this->finish(c, sum, product);
    if (to == nullptr) return;
    each_of_planes(this->at, c,
                   [=, f = factor, l = level, s = slope](std::int64_t i) { to[i] = f * (g[i] - l - (x[i] - m) * s); });
  }
};

template <typename T>
struct BatchBackwardSideBySide : BatchBackward<T> {
  [[gnu::always_inline]] void row(std::int64_t block) const {
    const std::int64_t c = block * kSideBySide, n = std::min(kSideBySide, this->at.channels - c);
    const T* const g = this->grad;
    const T* const x = this->input;
    T* const to = this->grad_input;
    double sums[kSideBySide], products[kSideBySide];
    T m[kSideBySide], factor[kSideBySide], level[kSideBySide], slope[kSideBySide];
    for (std::int64_t j = 0; j < n; ++j) m[j] = this->mean[c + j];
    sum_of_rows<T>(this->at, c, n, sums, [g](std::int64_t i, std::int64_t) { return g[i]; });
    sum_of_rows<T>(this->at, c, n, products, [=, &m](std::int64_t i, std::int64_t j) { return g[i] * (x[i] - m[j]); });
    for (std::int64_t j = 0; j < n; ++j) {
      const auto terms = this->finish(c + j, sums[j], products[j]);
      factor[j] = terms.factor;
      level[j] = terms.level;
      slope[j] = terms.slope;
    }
    if (to == nullptr) return;
    each_of_rows(this->at, c, n, [&](std::int64_t i, std::int64_t j) {
      to[i] = factor[j] * (g[i] - level[j] - (x[i] - m[j]) * slope[j]);
    });
  }
};

// Runs Planes over channels or Columns over blocks of them.
template <typename Planes, typename Columns, typename Work>
void run_channels(const Work& work, bool side_by_side) {
  if (!side_by_side) return run_rows(Planes{work}, work.at.channels);
  run_rows(Columns{work}, (work.at.channels + kSideBySide - 1) / kSideBySide);
}

std::int64_t row_width(const ChannelLayout& at, bool side_by_side) {
  return at.count() * (side_by_side ? std::min(kSideBySide, at.channels) : 1);
}

constexpr DtypeSet kComputedIn{kFloat, kDouble};

}  // namespace

namespace cpu {

void _batch_norm_forward(const TensorBase& input, const TensorBase& weight, const TensorBase& bias, double eps,
                         TensorBase& out0, TensorBase& out1, TensorBase& out2) {
  const ChannelLayout at(input);
  visit_dtype<kComputedIn>(out1.dtype(), "_batch_norm_forward", [&]<typename T>() {
    constexpr ScalarType kAcc = cpp_type_to_scalar_type<T>;
    const bool last = channels_are_last(at, {&input, &out0}, kAcc), side_by_side = last || at.positions == 1;
    const TensorBase x = last ? channels_as_columns(input, at) : contiguous_as(at.in_planes(input), kAcc);
    const TensorBase w = contiguous_as(weight, kAcc), b = contiguous_as(bias, kAcc);
    const ContiguousOut y(last ? channels_as_columns(out0, at) : at.in_planes(out0), kAcc), mean(out1), var(out2);
    const BatchForward<T> work{at,
                               data_or_null<const T>(x),
                               data_or_null<const T>(w),
                               data_or_null<const T>(b),
                               y.data<T>(),
                               mean.data<T>(),
                               var.data<T>(),
                               static_cast<T>(eps),
                               row_width(at, side_by_side)};
    run_channels<BatchForwardOfPlanes<T>, BatchForwardSideBySide<T>>(work, side_by_side);
    y.finish();
    mean.finish();
    var.finish();
  });
}

void _batch_norm_backward(const TensorBase& grad_out, const TensorBase& input, const TensorBase& mean,
                          const TensorBase& var, const TensorBase& weight, double eps, ArrayRef<bool>, TensorBase& out0,
                          TensorBase& out1, TensorBase& out2) {
  const ChannelLayout at(input);
  visit_dtype<kComputedIn>(mean.dtype(), "_batch_norm_backward", [&]<typename T>() {
    constexpr ScalarType kAcc = cpp_type_to_scalar_type<T>;
    const bool last = channels_are_last(at, {&grad_out, &input, &out0}, kAcc), side_by_side = last || at.positions == 1;
    const auto operand = [&](const TensorBase& x) {
      return last ? channels_as_columns(x, at) : contiguous_as(at.in_planes(x), kAcc);
    };
    const TensorBase g = operand(grad_out), x = operand(input), w = contiguous_as(weight, kAcc);
    const TensorBase m = contiguous(mean), v = contiguous(var);
    const ContiguousOut grad_input(last ? channels_as_columns(out0, at) : at.in_planes(out0), kAcc), grad_weight(out1),
        grad_bias(out2);
    const BatchBackward<T> work{at,
                                data_or_null<const T>(g),
                                data_or_null<const T>(x),
                                data_or_null<const T>(m),
                                data_or_null<const T>(v),
                                data_or_null<const T>(w),
                                grad_input.data<T>(),
                                grad_weight.data<T>(),
                                grad_bias.data<T>(),
                                static_cast<T>(eps),
                                row_width(at, side_by_side)};
    run_channels<BatchBackwardOfPlanes<T>, BatchBackwardSideBySide<T>>(work, side_by_side);
    grad_input.finish();
    grad_weight.finish();
    grad_bias.finish();
  });
}

}  // namespace cpu

}  // namespace keyway::inline v1
