// native_layer_norm and its gradient, over rows of `width` neighbours. Statistics are kept, and all sums taken, in the
// accumulation type.
//
// Memory bounds them: a row is read once, or several times, but from the cache after the first. Gradients of weight and
// bias are sums down columns: threads that are neighbours have neighbouring columns, each for the rows of one chunk,
// and the reduction's driver adds up the chunks.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/driver/reduction.cuh>
#include <keyway/backends/cuda/driver/row_values.cuh>
#include <keyway/backends/cuda/kernels/kernels_normalization.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <cmath>

namespace keyway::inline v1::cuda {

namespace {

// Rows whose share of the gradients of weight and bias one thread adds up.
constexpr std::int64_t kRowsOfAChunk = 32;

// Weight and bias, of elements W. Without them nothing is changed, zeros of either sign included.
template <typename W>
struct Affine {
  ArrayOr<W> weight;
  ArrayOr<W> bias;

  Affine(const W* weight_data, const W* bias_data)
      : weight{weight_data, static_cast<W>(1.0f)}, bias{bias_data, static_cast<W>(-0.0f)} {}
  void in(RowSpace& row_space) const { row_space.array(weight.data, sizeof(W)).array(bias.data, sizeof(W)); }
};

// Mean and reciprocal standard deviation of each row.
template <typename Acc>
struct Statistics {
  Acc* mean;
  Acc* rstd;
};

// Operands: out, input, the row's number.
template <typename T, typename W>
struct LayerNorm {
  static constexpr int kWidth = kPieceOf<T>;
  using Acc = Opmath<T>;
  Affine<W> affine;
  Statistics<Acc> statistics;
  Acc eps;

  __device__ void operator()(const Row<3>& row, auto held) const {
    const auto n = static_cast<Acc>(row.n());
    const auto x = values_of(
        row, held, [](T element) { return opmath(element); }, Operand<T>{1});
    const Acc mean = x.template sum<Acc>() / n;
    const auto deviations = x.map([mean](Acc value) { return value - mean; });
    const Acc squares = deviations.map([](Acc d) { return d * d; }).template sum<Acc>();
    const Acc scale = 1 / std::sqrt(squares / n + eps);
    if (row.leads()) {
      statistics.mean[row.number(2)] = mean;
      statistics.rstd[row.number(2)] = scale;
    }
    const auto transformed = [scale](Acc d, W weight, W bias) {
      return d * scale * static_cast<Acc>(opmath(weight)) + static_cast<Acc>(opmath(bias));
    };
    deviations.template write<T>(0, transformed, affine.weight, affine.bias);
  }
};

// An element's g' and x' below.
template <typename Acc>
struct Terms {
  Acc weighed, normal;
};

// With x' = (x - mean) rstd and g' = g weight, the gradient of a row is rstd (g' - mean(g') - x' mean(g' x')).
// Operands: grad_input, grad_out, input, the row's number.
template <typename T, typename W>
struct LayerNormBackward {
  static constexpr int kWidth = kPieceOf<T>;
  using Acc = Opmath<T>;
  Affine<W> affine;
  Statistics<const Acc> statistics;

  __device__ void operator()(const Row<4>& row, auto held) const {
    // A team without a row meets the others, and has no number.
    const bool exists = row.n() > 0;
    const Acc mean = exists ? statistics.mean[row.number(3)] : Acc(0);
    const Acc scale = exists ? statistics.rstd[row.number(3)] : Acc(0);
    const auto n = static_cast<Acc>(row.n());
    const auto term = [mean, scale](T grad, T x, W weight) {
      return Terms<Acc>{opmath(grad) * static_cast<Acc>(opmath(weight)), (opmath(x) - mean) * scale};
    };
    const auto terms = values_of(row, held, term, Operand<T>{1}, Operand<T>{2}, affine.weight);
    // Of g' and of g' x', together.
    const auto add = [](const Terms<Acc>& a, const Terms<Acc>& b) {
      return Terms<Acc>{a.weighed + b.weighed, a.normal + b.normal};
    };
    const auto products = terms.map([](const Terms<Acc>& x) { return Terms<Acc>{x.weighed, x.weighed * x.normal}; });
    const auto [level, slope] = products.fold(Terms<Acc>{Acc(0), Acc(0)}, add, add);
    const Acc mean_level = level / n, mean_slope = slope / n;
    terms.template write<T>(
        0, [&](const Terms<Acc>& x) { return scale * (x.weighed - mean_level - x.normal * mean_slope); });
  }
};

// The sums of g x' and of g over the rows of a chunk, of one column. Operands: the first sum, the chunk, the column.
template <typename T>
struct ColumnsOfChunk {
  using Acc = Opmath<T>;
  const T* grad;
  const T* input;
  Statistics<const Acc> statistics;
  std::int64_t rows, width;
  std::int64_t apart;  // elements from the first sum to the second

  KEYWAY_HD void operator()(const Element<3>& element) const {
    const std::int64_t begin = element.number(1) * kRowsOfAChunk, column = element.number(2);
    const std::int64_t end = begin + kRowsOfAChunk < rows ? begin + kRowsOfAChunk : rows;
    Acc weight = 0, bias = 0;
    for (std::int64_t r = begin; r < end; ++r) {
      const Acc g = opmath(grad[r * width + column]);
      weight += g * ((opmath(input[r * width + column]) - statistics.mean[r]) * statistics.rstd[r]);
      bias += g;
    }
    Acc* const sums = &element.at<Acc>(0);
    sums[0] = weight;
    sums[apart] = bias;
  }
};

// Calls f(Affine) with weight and bias as they are, if they have the dtype of the input, else as they accumulate. Each
// may be undefined.
template <typename T, typename F>
void with_affine(const TensorBase& weight, const TensorBase& bias, const F& f) {
  constexpr ScalarType kInput = cpp_type_to_scalar_type<T>;
  const auto call = [&]<typename W>() {
    const TensorBase w = contiguous_as(weight, cpp_type_to_scalar_type<W>),
                     b = contiguous_as(bias, cpp_type_to_scalar_type<W>);
    f(Affine<W>(data_or_null<const W>(w), data_or_null<const W>(b)));
  };
  const auto is_as_input = [&](const TensorBase& tensor) { return !tensor.defined() || tensor.dtype() == kInput; };
  if (is_as_input(weight) && is_as_input(bias)) return call.template operator()<T>();
  call.template operator()<Opmath<T>>();
}

// Row-major rows of `width`.
TensorBase as_rows(const TensorBase& tensor, std::int64_t rows, std::int64_t width) {
  return make_view(tensor, {rows, width}, {width, 1}, tensor.storage_offset());
}

// Of row-major `grad` and `input`; either result may be undefined.
template <typename T>
void column_sums(const TensorBase& grad, const TensorBase& input, Statistics<const Opmath<T>> statistics,
                 std::int64_t rows, std::int64_t width, const TensorBase& weight_sum, const TensorBase& bias_sum) {
  using Acc = Opmath<T>;
  constexpr ScalarType kAcc = cpp_type_to_scalar_type<Acc>;
  if (width == 0 || (!weight_sum.defined() && !bias_sum.defined())) return;
  const std::int64_t chunks = (rows + kRowsOfAChunk - 1) / kRowsOfAChunk;
  const TensorBase parts = make_tensor({2, chunks, width}, kAcc, input.device());
  if (chunks > 0) {
    const TensorBase first = make_view(parts, {chunks, width}, {width, 1}, 0);
    each<3>(ElementSpace(first.sizes()).tensor(first).coordinate(0).coordinate(1).space(),
            ColumnsOfChunk<T>{data_or_null<const T>(grad), data_or_null<const T>(input), statistics, rows, width,
                              chunks * width},
            input.device());
  }
  const TensorBase sums = make_tensor({2, 1, width}, kAcc, input.device());
  reduce(Sum<Acc>{}, sums, parts, {1});
  std::int64_t at = 0;
  for (const TensorBase* out : {&weight_sum, &bias_sum}) {
    if (out->defined())
      copy_elements(make_view(sums, {width}, {1}, at), make_view(*out, {width}, {1}, out->storage_offset()));
    at += width;
  }
}

}  // namespace

void native_layer_norm(const TensorBase& input, IntArrayRef normalized_shape, const TensorBase& weight,
                       const TensorBase& bias, double eps, TensorBase& out0, TensorBase& out1, TensorBase& out2) {
  const std::int64_t width = checked_numel(normalized_shape), count = out1.numel();
  if (count == 0) return;
  visit_floating(input.dtype(), "native_layer_norm", [&]<typename T>() {
    using Acc = Opmath<T>;
    constexpr ScalarType kAcc = cpp_type_to_scalar_type<Acc>;
    const TensorBase x = contiguous(input);
    const ContiguousOut y(out0), mean(out1, kAcc), rstd(out2, kAcc);
    const TensorBase from = as_rows(x, count, width), to = as_rows(y.tensor(), count, width);
    RowSpace row_space(from.sizes(), 1);
    row_space.tensor(to).tensor(from).number();
    with_affine<T>(weight, bias, [&]<typename W>(const Affine<W>& affine) {
      affine.in(row_space);
      rows_of_values<3>(row_space, LayerNorm<T, W>{affine, {mean.data<Acc>(), rstd.data<Acc>()}, static_cast<Acc>(eps)},
                        input.device());
    });
    y.finish();
    mean.finish();
    rstd.finish();
  });
}

void native_layer_norm_backward(const TensorBase& grad_out, const TensorBase& input, IntArrayRef normalized_shape,
                                const TensorBase& mean, const TensorBase& rstd, const TensorBase& weight,
                                const TensorBase&, ArrayRef<bool>, TensorBase& out0, TensorBase& out1,
                                TensorBase& out2) {
  const std::int64_t width = checked_numel(normalized_shape), count = mean.numel();
  visit_floating(input.dtype(), "native_layer_norm_backward", [&]<typename T>() {
    using Acc = Opmath<T>;
    constexpr ScalarType kAcc = cpp_type_to_scalar_type<Acc>;
    const TensorBase g = contiguous(grad_out), x = contiguous(input);
    const TensorBase m = contiguous_as(mean, kAcc), s = contiguous_as(rstd, kAcc);
    const Statistics<const Acc> statistics{data_or_null<const Acc>(m), data_or_null<const Acc>(s)};
    if (out0.defined() && input.numel() > 0) {
      const ContiguousOut grad_input(out0);
      const TensorBase to = as_rows(grad_input.tensor(), count, width);
      RowSpace row_space(to.sizes(), 1);
      row_space.tensor(to).tensor(as_rows(g, count, width)).tensor(as_rows(x, count, width)).number();
      with_affine<T>(weight, TensorBase(), [&]<typename W>(const Affine<W>& affine) {
        affine.in(row_space);
        rows_of_values<4>(row_space, LayerNormBackward<T, W>{affine, statistics}, input.device());
      });
      grad_input.finish();
    }
    const ContiguousOut weights(out1), biases(out2);
    column_sums<T>(g, x, statistics, count, width, weights.tensor(), biases.tensor());
    weights.finish();
    biases.finish();
  });
}

}  // namespace keyway::inline v1::cuda
