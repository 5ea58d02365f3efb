// _batch_norm_forward and its gradient: each channel of [N, C, ...] is a row, whose elements lie in planes of
// neighbours, or apart and beside those of other channels. Statistics are kept, and all sums taken, in the accumulation
// type.
//
// One team reads a channel where that makes enough threads, in one kernel. Else channels are shared out: a kernel has
// the sums of stretches, one merges them, and one writes.
#include <keyway/backends/common/channels.h>
#include <keyway/backends/cuda/divisor.h>
#include <keyway/backends/cuda/driver/row_values.cuh>
#include <keyway/backends/cuda/kernels/kernels_normalization.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>
#include <keyway/ops/functors/reduction.h>

#include <cmath>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

using keyway::detail::channels_are_last, keyway::detail::channels_as_columns, keyway::detail::ChannelLayout;

// Finds elements of channels.
class Channels {
 public:
  Channels(const ChannelLayout& at, bool last)
      : channels_(at.channels),
        count_(at.count()),
        planes_{last ? count_ : at.positions, last ? 0 : at.channels * at.positions},
        steps_{last ? 1 : at.positions, last ? at.channels : 1} {
    if (is_short()) by_size_ = Divisor(static_cast<std::uint32_t>(planes_.size));
  }

  KEYWAY_HD std::int64_t channels() const { return channels_; }
  // Elements of each.
  KEYWAY_HD std::int64_t count() const { return count_; }
  bool side_by_side() const { return steps_.channel == 1; }
  // Element i of a channel.
  KEYWAY_HD std::int64_t at(std::int64_t channel, std::int64_t i) const {
    const std::int64_t plane = is_short() ? by_size_.quotient(static_cast<std::uint32_t>(i)) : i / planes_.size;
    return plane * planes_.step + channel * steps_.channel + (i - plane * planes_.size) * steps_.position;
  }

 private:
  KEYWAY_HD bool is_short() const { return count_ > 0 && count_ <= std::numeric_limits<std::int32_t>::max(); }

  std::int64_t channels_, count_;
  struct {
    std::int64_t size, step;  // of a channel in one batch; and from one to the next
  } planes_;
  struct {
    std::int64_t channel, position;
  } steps_;
  Divisor by_size_;
};

template <typename Acc>
KEYWAY_HD Acc parameter_of(const Acc* values, std::int64_t channel, Acc otherwise) {
  return values != nullptr ? values[channel] : otherwise;
}

// The moments of values that come one by one. A chunk of them is taken as how far they are from the mean of those
// before, the first ones from the first: what cancels then is not much more than what they add to the result.
template <typename Acc>
class SumsApart {
 public:
  KEYWAY_HD void add(Acc value) {
    if (count_ == 0) origin_ = known_.count > 0 ? known_.mean : value;
    if (!std::isfinite(origin_)) origin_ = 0;
    const Acc apart = value - origin_;
    sum_ += apart;
    squares_ += apart * apart;
    count_ += 1;
    if (count_ == kChunk) end_chunk();
  }
  KEYWAY_HD Moments<Acc> all() {
    if (count_ > 0) end_chunk();
    return known_;
  }

 private:
  static constexpr int kChunk = 64;

  KEYWAY_HD void end_chunk() {
    const Acc mean = sum_ / count_, rest = squares_ - sum_ * mean;
    // Squares beyond the greatest number are what they are.
    const bool is_beyond = std::isinf(squares_) && std::isfinite(sum_);
    known_ = merged(known_, Moments<Acc>{origin_ + mean, is_beyond ? squares_ : rest < 0 ? Acc(0) : rest, count_});
    sum_ = squares_ = count_ = 0;
  }

  Moments<Acc> known_{0, 0, 0};
  Acc origin_ = 0, sum_ = 0, squares_ = 0, count_ = 0;
};

// What both directions are made of: values(channel) calculates an element's, sums(values) sums those of a thread,
// merge() these; finish() writes what a channel has one of, and write() its elements, if writes(). Weight and bias may
// be null.
template <typename T>
struct BatchNorm {
  using Acc = Opmath<T>;
  using Sums = Moments<Acc>;
  Channels elements;
  const T* input;
  T* out;
  const Acc* weight;
  const Acc* bias;
  Acc* mean;
  Acc* var;
  Acc eps;

  static bool writes() { return true; }
  __device__ auto values(std::int64_t channel) const {
    return [this, channel](std::int64_t i) { return opmath(input[elements.at(channel, i)]); };
  }
  template <typename Values>
  __device__ static Sums sums(const Values& x) {
    if constexpr (Values::kHeld) {
      Sums all{0, 0, 0};
      x.each([&](std::int64_t, Acc value) {
        all.mean += value;
        all.count += 1;
      });
      if (all.count > 0) all.mean /= all.count;
      x.each([&](std::int64_t, Acc value) { all.squares += (value - all.mean) * (value - all.mean); });
      return all;
    } else {
      SumsApart<Acc> some;
      x.each([&](std::int64_t, Acc value) { some.add(value); });
      return some.all();
    }
  }
  __device__ static Sums merge(const Sums& a, const Sums& b) { return merged(a, b); }

  __device__ void finish(std::int64_t channel, const Sums& sums) const {
    const Acc v = sums.squares / sums.count;  // NaN, as the mean, of no elements
    mean[channel] = sums.count > 0 ? sums.mean : v;
    var[channel] = v;
  }
  template <typename Values>
  __device__ void write(std::int64_t channel, const Sums& sums, const Values& x) const {
    const Acc m = sums.mean, v = sums.squares / sums.count;
    const Acc scale = parameter_of(weight, channel, Acc(1)) / std::sqrt(v + eps);
    const Acc shift = parameter_of(bias, channel, Acc(0));
    x.each(
        [&](std::int64_t i, Acc value) { out[elements.at(channel, i)] = static_cast<T>((value - m) * scale + shift); });
  }
};

// A gradient g and how far its input is from the mean; or the sums of g and of the product of both.
template <typename Acc>
struct GradientTerms {
  Acc grad, deviation;
};

// With r = 1 / sqrt(var + eps) and d = x - mean the gradient of the input is
// weight r (g - sum(g) / n - d r^2 sum(g d) / n). The results may be null, and weight.
template <typename T>
struct BatchNormBackward {
  using Acc = Opmath<T>;
  using Sums = GradientTerms<Acc>;
  Channels elements;
  const T* grad;
  const T* input;
  const Acc* mean;
  const Acc* var;
  const Acc* weight;
  T* grad_input;
  Acc* grad_weight;
  Acc* grad_bias;
  Acc eps;

  bool writes() const { return grad_input != nullptr; }
  __device__ auto values(std::int64_t channel) const {
    return [this, channel, m = mean[channel]](std::int64_t i) {
      const std::int64_t at = elements.at(channel, i);
      return GradientTerms<Acc>{opmath(grad[at]), opmath(input[at]) - m};
    };
  }
  template <typename Values>
  __device__ static Sums sums(const Values& terms) {
    Sums sums{0, 0};
    terms.each([&](std::int64_t, const GradientTerms<Acc>& x) {
      sums = merge(sums, Sums{x.grad, x.grad * x.deviation});
    });
    return sums;
  }
  __device__ static Sums merge(const Sums& a, const Sums& b) {
    return Sums{a.grad + b.grad, a.deviation + b.deviation};
  }

  __device__ void finish(std::int64_t channel, const Sums& sums) const {
    if (grad_weight != nullptr) grad_weight[channel] = sums.deviation * rstd(channel);
    if (grad_bias != nullptr) grad_bias[channel] = sums.grad;
  }
  template <typename Values>
  __device__ void write(std::int64_t channel, const Sums& sums, const Values& terms) const {
    if (grad_input == nullptr) return;
    const auto n = static_cast<Acc>(elements.count());
    const Acc r = rstd(channel), factor = parameter_of(weight, channel, Acc(1)) * r;
    const Acc level = sums.grad / n, slope = sums.deviation / n * r * r;
    terms.each([&](std::int64_t i, const GradientTerms<Acc>& x) {
      grad_input[elements.at(channel, i)] = static_cast<T>(factor * (x.grad - level - x.deviation * slope));
    });
  }

 private:
  __device__ Acc rstd(std::int64_t channel) const { return 1 / std::sqrt(var[channel] + eps); }
};

// The channel of a row; the first for a team that has none, whose threads meet the others.
__device__ std::int64_t channel_of(const Row<1>& row) { return row.n() > 0 || row.leads() ? row.number(0) : 0; }

template <typename F>
struct WholeChannel {
  F of;

  __device__ void operator()(const Row<1>& row, auto held) const {
    const std::int64_t channel = channel_of(row);
    const auto x = values_of(row, held, of.values(channel), Index());
    const auto sums = row.merge_all(F::sums(x), F::merge);
    if (row.leads()) of.finish(channel, sums);
    of.write(channel, sums, x);
  }
};

// Sums are [stretch, channel]; those of all stretches come last.
template <typename F>
struct SumsOfStretch {
  F of;
  typename F::Sums* sums;

  __device__ void operator()(const Row<1>& row) const {
    const std::int64_t channel = channel_of(row);
    const auto all = row.merge_all(F::sums(values_of(row, Held<0>(), of.values(channel), Index())), F::merge);
    if (row.leads()) sums[row.stretch() * of.elements.channels() + channel] = all;
  }
};
// Rows: the stretches of each channel.
template <typename F>
struct SumsOfChannel {
  F of;
  typename F::Sums* sums;

  __device__ void operator()(const Row<1>& row) const {
    const std::int64_t channel = channel_of(row), channels = of.elements.channels();
    const auto add = [&](const auto& acc, std::int64_t i) { return F::merge(acc, sums[i * channels + channel]); };
    const auto all = row.fold(typename F::Sums{}, add, F::merge);
    if (!row.leads()) return;
    sums[row.n() * channels + channel] = all;
    of.finish(channel, all);
  }
};
template <typename F>
struct WriteStretch {
  F of;
  const typename F::Sums* of_channels;

  __device__ void operator()(const Row<1>& row) const {
    const std::int64_t channel = channel_of(row);
    of.write(channel, of_channels[channel], values_of(row, Held<0>(), of.values(channel), Index()));
  }
};

// Requires: there are channels.
template <typename F>
void each_channel(const F& functor, Device on) {
  using Sums = typename F::Sums;
  const std::int64_t channels = functor.elements.channels();
  RowSpace row_space({channels, functor.elements.count()}, 1);
  row_space.number();
  if (functor.elements.side_by_side()) row_space.side_by_side();
  const std::int64_t stretches = row_space.share();
  if (stretches == 1) return rows_of_values<1>(row_space, WholeChannel<F>{functor}, on);
  const TensorBase memory =
      make_tensor({(stretches + 1) * channels * static_cast<std::int64_t>(sizeof(Sums))}, kByte, on);
  auto* const sums = static_cast<Sums*>(memory.data_ptr());
  rows<1>(row_space, SumsOfStretch<F>{functor, sums}, on);
  RowSpace merged({channels, stretches}, 1);
  merged.number();
  rows<1>(merged, SumsOfChannel<F>{functor, sums}, on);
  if (functor.writes()) rows<1>(row_space, WriteStretch<F>{functor, sums + stretches * channels}, on);
}

}  // namespace

void _batch_norm_forward(const TensorBase& input, const TensorBase& weight, const TensorBase& bias, double eps,
                         TensorBase& out0, TensorBase& out1, TensorBase& out2) {
  const ChannelLayout at(input);
  if (at.channels == 0) return;
  visit_floating(input.dtype(), "_batch_norm_forward", [&]<typename T>() {
    using Acc = Opmath<T>;
    constexpr ScalarType kAcc = cpp_type_to_scalar_type<Acc>;
    const bool last = channels_are_last(at, {&input, &out0}, input.dtype());
    const TensorBase x = last ? channels_as_columns(input, at) : contiguous(at.in_planes(input));
    const TensorBase w = contiguous_as(weight, kAcc), b = contiguous_as(bias, kAcc);
    const ContiguousOut y(last ? channels_as_columns(out0, at) : at.in_planes(out0)), mean(out1), var(out2);
    each_channel(BatchNorm<T>{Channels(at, last), data_or_null<const T>(x), y.data<T>(), data_or_null<const Acc>(w),
                              data_or_null<const Acc>(b), mean.data<Acc>(), var.data<Acc>(), static_cast<Acc>(eps)},
                 input.device());
    y.finish();
    mean.finish();
    var.finish();
  });
}

void _batch_norm_backward(const TensorBase& grad_out, const TensorBase& input, const TensorBase& mean,
                          const TensorBase& var, const TensorBase& weight, double eps, ArrayRef<bool>, TensorBase& out0,
                          TensorBase& out1, TensorBase& out2) {
  const ChannelLayout at(input);
  if (at.channels == 0) return;
  visit_floating(input.dtype(), "_batch_norm_backward", [&]<typename T>() {
    using Acc = Opmath<T>;
    constexpr ScalarType kAcc = cpp_type_to_scalar_type<Acc>;
    const bool last = channels_are_last(at, {&grad_out, &input, &out0}, input.dtype());
    const auto operand = [&](const TensorBase& x) {
      return last ? channels_as_columns(x, at) : contiguous(at.in_planes(x));
    };
    const TensorBase g = operand(grad_out), x = operand(input), w = contiguous_as(weight, kAcc);
    const TensorBase m = contiguous(mean), v = contiguous(var);
    const ContiguousOut grad_input(last ? channels_as_columns(out0, at) : at.in_planes(out0)), grad_weight(out1),
        grad_bias(out2);
    each_channel(BatchNormBackward<T>{Channels(at, last), data_or_null<const T>(g), data_or_null<const T>(x),
                                      data_or_null<const Acc>(m), data_or_null<const Acc>(v),
                                      data_or_null<const Acc>(w), grad_input.data<T>(), grad_weight.data<Acc>(),
                                      grad_bias.data<Acc>(), static_cast<Acc>(eps)},
                 input.device());
    grad_input.finish();
    grad_weight.finish();
    grad_bias.finish();
  });
}

}  // namespace keyway::inline v1::cuda
