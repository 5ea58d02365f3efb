// _scaled_dot_product_attention_forward and its gradient: by tensor cores where they take a call (flash_attention.h),
// else by products of matrices between which a kernel goes through the rows of scores once. There the heads of queries
// that share keys are rows of one matrix, so that each example has one product for each head of keys. Scores are in
// memory for some examples at a time, and not from a call to its gradient, which computes them again.
#include <keyway/backends/cuda/driver/device_guard.h>
#include <keyway/backends/cuda/driver/row_values.cuh>
#include <keyway/backends/cuda/kernels/contiguous_out.h>
#include <keyway/backends/cuda/kernels/flash_attention.h>
#include <keyway/backends/cuda/kernels/kernels_attention.h>
#include <keyway/backends/cuda/kernels/multiply.h>
#include <keyway/backends/cuda/kernels/top_and_sum.cuh>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

// Scores in memory at a time, where one example has fewer: 256 MB of float32.
constexpr std::int64_t kScores = std::int64_t{1} << 26;

// Which scores of a row count, and what is added to them. Operands of the rows: scores, the mask or scores again, the
// row's number among those of the call.
template <typename T>
struct Masking {
  using Kind = AttentionMask::Kind;
  Kind kind;
  bool is_causal;
  std::int64_t queries;

  __device__ Opmath<T> score(const Row<3>& row, std::int64_t i) const {
    using Acc = Opmath<T>;
    const Acc score = row.at<const Acc>(0, i);
    if (is_causal && i > row.number(2) % queries) return -std::numeric_limits<Acc>::infinity();
    if (kind == Kind::Numbers) return score + opmath(row.at<const T>(1, i));
    if (kind == Kind::Bools && row.at<const std::uint8_t>(1, i) == 0) return -std::numeric_limits<Acc>::infinity();
    return score;
  }
};

// A query that sees nothing has weights of zero, and infinity as its logarithm.
template <typename T>
struct WeightsOfRow {
  Masking<T> masking;
  T* weights;            // of all rows, each as long as a row
  Opmath<T>* logsumexp;  // of each row

  __device__ void operator()(const Row<3>& row, auto held) const {
    using Acc = Opmath<T>;
    const auto scores = values_of(
        row, held, [&](std::int64_t i) { return masking.score(row, i); }, Index());
    const auto all = top_and_sum<Acc>(scores);
    if (row.leads()) {
      logsumexp[row.number(2)] = all.sum == 0 ? std::numeric_limits<Acc>::infinity() : all.top + std::log(all.sum);
    }
    const Acc scale = all.sum == 0 ? Acc(0) : 1 / all.sum;
    if (row.n() == 0) return;
    T* const to = weights + row.number(2) * row.n();
    scores.each([&](std::int64_t i, Acc score) { to[i] = static_cast<T>(std::exp(score - all.top) * scale); });
  }
};

// Sums of products of elements: what a query's weights expect of their gradients. Operands: the gradient of the result,
// the result, the row's number among those of the call.
template <typename T>
struct ExpectedOfRow {
  Opmath<T>* expected;

  __device__ void operator()(const Row<3>& row) const {
    const auto sum = row.sum<Opmath<T>>(
        [&](std::int64_t i) { return opmath(row.at<const T>(0, i)) * opmath(row.at<const T>(1, i)); });
    if (row.leads()) expected[row.number(2)] = sum;
  }
};

// With weights p and their gradients g, those of scores are p (g - expected), here times the scale. What is not seen
// has a weight of zero, and gives none of its own, where the query sees what is no number too.
template <typename T>
struct ScoreGradientsOfRow {
  using Acc = Opmath<T>;
  Masking<T> masking;
  const Acc* logsumexp;
  const Acc* expected;
  const Acc* grads;  // of weights
  T* weights;
  T* gradients;  // of scores
  Acc scale;

  __device__ void operator()(const Row<3>& row) const {
    if (row.n() == 0) return;
    const std::int64_t number = row.number(2), first = number * row.n();
    const Acc log_sum = logsumexp[number], mean = expected[number];
    for (std::int64_t i = row.rank(); i < row.n(); i += row.size()) {
      const Acc score = masking.score(row, i);
      const Acc weight = score == -std::numeric_limits<Acc>::infinity() ? Acc(0) : std::exp(score - log_sum);
      const Acc slope = weight == 0 ? Acc(0) : scale * weight * (grads[first + i] - mean);
      weights[first + i] = static_cast<T>(weight);
      gradients[first + i] = static_cast<T>(slope);
    }
  }
};

// Some examples, as matrices for each head of keys.
struct Part {
  std::int64_t first, examples;  // of the call's
  std::int64_t served;           // heads of keys

  // `tensor` is row-major, of the call's examples, with so many rows for each head of keys.
  TensorBase of(const TensorBase& tensor, std::int64_t rows, std::int64_t columns) const {
    return make_view(tensor, {examples * served, rows, columns}, {rows * columns, columns, 1},
                     tensor.storage_offset() + first * served * rows * columns);
  }
};

TensorBase turned(const TensorBase& matrices) {
  const IntArrayRef sizes = matrices.sizes(), strides = matrices.strides();
  return make_view(matrices, {sizes[0], sizes[2], sizes[1]}, {strides[0], strides[2], strides[1]},
                   matrices.storage_offset());
}

// A call: its operands, row-major, and sizes.
template <typename T>
struct Attention {
  Attention(const TensorBase& of_query, const TensorBase& of_key, const TensorBase& of_value, const TensorBase& of_mask,
            bool causal, double by)
      : query(contiguous(of_query)),
        key(contiguous(of_key)),
        value(contiguous(of_value)),
        mask(of_mask),
        is_causal(causal),
        scale(by) {}

  TensorBase query, key, value, mask;
  bool is_causal;
  double scale;
  std::int64_t examples = query.sizes()[0], heads = query.sizes()[1], queries = query.sizes()[2];
  std::int64_t served = key.sizes()[1], keys = key.sizes()[2], width = query.sizes()[3], values = value.sizes()[3];
  std::int64_t rows = heads / served * queries;  // of queries for each head of keys
  Device device = query.device();
  ScalarType dtype = query.dtype(), wide = cpp_type_to_scalar_type<Opmath<T>>;

  TensorBase new_matrices(const Part& part, ScalarType of) const {
    return make_tensor({part.examples * served, rows, keys}, of, device);
  }

  // Calls f(part) for examples that have few enough scores.
  template <typename F>
  void each_part(const F& f) const {
    const std::int64_t scores = std::max<std::int64_t>(1, heads * queries * keys);
    const std::int64_t at_once = std::max<std::int64_t>(1, kScores / scores);
    for (std::int64_t i = 0; i < examples; i += at_once) f(Part{i, std::min(at_once, examples - i), served});
  }

  TensorBase scores(const Part& part) const {
    const TensorBase result = new_matrices(part, wide);
    const TensorBase q = part.of(query, rows, width), k = turned(part.of(key, keys, width));
    multiply({q, k, result, scale});
    return result;
  }

  // Calls f(places, masking) for the rows of scores, unless there are none.
  template <typename F>
  void with_rows_of(const Part& part, const TensorBase& scores, const F& f) const {
    using Kind = typename Masking<T>::Kind;
    if (part.examples * heads * queries == 0) return;
    const DimVector sizes{part.examples, heads, queries, keys};
    const TensorBase all =
        make_view(scores, sizes, {heads * queries * keys, queries * keys, keys, 1}, scores.storage_offset());
    TensorBase added = all;
    Kind kind = Kind::None;
    if (mask.defined()) {
      kind = mask.dtype() == kBool ? Kind::Bools : Kind::Numbers;
      DimVector strides;
      for (std::size_t d = 0; d < 4; ++d) strides.push_back(mask.sizes()[d] == 1 ? 0 : mask.strides()[d]);
      added = make_view(mask, sizes, strides, mask.storage_offset() + part.first * strides[0]);
    }
    RowPlaces places(sizes, 3);
    f(places.tensor(all).tensor(added).number(), Masking<T>{kind, is_causal, queries});
  }
};

template <typename T>
void attend(const Attention<T>& of, const TensorBase& output, const TensorBase& logsumexp) {
  const ContiguousOut out(output), logarithms(logsumexp);
  of.each_part([&](const Part& part) {
    const TensorBase scores = of.scores(part);
    const TensorBase weights = of.dtype == of.wide ? scores : of.new_matrices(part, of.dtype);
    auto* const log_sums = logarithms.data<Opmath<T>>() + part.first * of.heads * of.queries;
    of.with_rows_of(part, scores, [&](RowPlaces& places, const Masking<T>& masking) {
      rows_of_values<3>(places, WeightsOfRow<T>{masking, static_cast<T*>(weights.data_ptr()), log_sums}, of.device);
    });
    const TensorBase v = part.of(of.value, of.keys, of.values), to = part.of(out.tensor(), of.rows, of.values);
    multiply({weights, v, to});
  });
  out.finish();
  logarithms.finish();
}

// Where gradients go.
struct Gradients {
  ContiguousOut query, key, value;

  void finish() const {
    query.finish();
    key.finish();
    value.finish();
  }
};

// [examples, heads, queries] in order.
template <typename T>
TensorBase expected_of(const TensorBase& grad_output, const TensorBase& output) {
  const Device device = output.device();
  const TensorBase result = make_tensor(output.sizes().slice(0, 3), cpp_type_to_scalar_type<Opmath<T>>, device);
  if (result.numel() == 0) return result;
  RowPlaces places(grad_output.sizes(), 3);
  places.tensor(grad_output).tensor(output).number();
  rows<3>(places, ExpectedOfRow<T>{static_cast<Opmath<T>*>(result.data_ptr())}, device);
  return result;
}

template <typename T>
void attend_backward(const Attention<T>& of, const TensorBase& grad_output, const TensorBase& output,
                     const TensorBase& logsumexp, const Gradients& to) {
  using Acc = Opmath<T>;
  const TensorBase grad = contiguous(grad_output), logarithms = contiguous(logsumexp);
  const TensorBase expected = expected_of<T>(grad_output, output);
  of.each_part([&](const Part& part) {
    const TensorBase scores = of.scores(part), grads = of.new_matrices(part, of.wide);
    const TensorBase g = part.of(grad, of.rows, of.values);
    multiply({g, turned(part.of(of.value, of.keys, of.values)), grads});
    const bool in_place = of.dtype == of.wide;
    const TensorBase weights = in_place ? scores : of.new_matrices(part, of.dtype);
    const TensorBase gradients = in_place ? grads : of.new_matrices(part, of.dtype);
    const std::int64_t first = part.first * of.heads * of.queries;
    of.with_rows_of(part, scores, [&](const RowPlaces& places, const Masking<T>& masking) {
      const ScoreGradientsOfRow<T> functor{masking,
                                           static_cast<const Acc*>(logarithms.data_ptr()) + first,
                                           static_cast<const Acc*>(expected.data_ptr()) + first,
                                           static_cast<const Acc*>(grads.data_ptr()),
                                           static_cast<T*>(weights.data_ptr()),
                                           static_cast<T*>(gradients.data_ptr()),
                                           static_cast<Acc>(of.scale)};
      rows<3>(places, functor, of.device);
    });
    const TensorBase q = part.of(of.query, of.rows, of.width), k = part.of(of.key, of.keys, of.width);
    multiply({gradients, k, part.of(to.query.tensor(), of.rows, of.width)});
    multiply({turned(gradients), q, part.of(to.key.tensor(), of.keys, of.width)});
    multiply({turned(weights), g, part.of(to.value.tensor(), of.keys, of.values)});
  });
  to.finish();
}

// A call by tensor cores. Operands have dense rows, or are copied.
struct FlashAttention {
  FlashAttention(const TensorBase& of_query, const TensorBase& of_key, const TensorBase& of_value,
                 const TensorBase& mask, bool is_causal, double scale)
      : query(dense(of_query)),
        key(dense(of_key)),
        value(dense(of_value)),
        launch(query, key, value, mask, is_causal, scale) {}

  TensorBase query, key, value;
  AttentionLaunch launch;

  static TensorBase dense(const TensorBase& tensor) { return has_dense_rows(tensor) ? tensor : contiguous(tensor); }
  cudaStream_t stream() const { return runtime_stream(cuda_device_guard().get_stream(query.device())); }
};

// A place for a result that has dense rows.
class DenseRowsOut {
 public:
  explicit DenseRowsOut(const TensorBase& out)
      : out_(out), place_(has_dense_rows(out) ? out : make_tensor(out.sizes(), out.dtype(), out.device())) {}

  AttentionHeads heads() const { return attention_heads(place_); }
  void finish() const {
    if (!place_.is_same(out_)) copy_elements(place_, out_);
  }

 private:
  TensorBase out_, place_;
};

void attend_by_tensor_cores(FlashAttention of, const TensorBase& output, const TensorBase& logsumexp) {
  const DenseRowsOut out(output);
  const ContiguousOut logarithms(logsumexp);
  of.launch.output = out.heads();
  of.launch.logsumexp = logarithms.data<float>();
  flash_forward(of.launch, output.dtype(), of.stream());
  out.finish();
  logarithms.finish();
}

void attend_backward_by_tensor_cores(FlashAttention of, const TensorBase& grad_output, const TensorBase& output,
                                     const TensorBase& logsumexp, const TensorBase& grad_query,
                                     const TensorBase& grad_key, const TensorBase& grad_value) {
  const TensorBase grad = FlashAttention::dense(grad_output), logarithms = contiguous(logsumexp);
  const TensorBase expected =
      visit_dtype<kFlashTypes>(output.dtype(), "attention", [&]<typename T>() { return expected_of<T>(grad, output); });
  const DenseRowsOut for_query(grad_query), for_key(grad_key), for_value(grad_value);
  of.launch.grad_output = attention_heads(grad);
  of.launch.logsumexp = static_cast<float*>(logarithms.data_ptr());
  of.launch.expected = static_cast<const float*>(expected.data_ptr());
  of.launch.grad_query = for_query.heads();
  of.launch.grad_key = for_key.heads();
  of.launch.grad_value = for_value.heads();
  flash_backward(of.launch, output.dtype(), of.stream());
  for_query.finish();
  for_key.finish();
  for_value.finish();
}

}  // namespace

void _scaled_dot_product_attention_forward(const TensorBase& query, const TensorBase& key, const TensorBase& value,
                                           const TensorBase& attn_mask, bool is_causal, double scale,
                                           TensorBase& output, TensorBase& logsumexp) {
  if (takes_attention(query, key, value)) {
    return attend_by_tensor_cores({query, key, value, attn_mask, is_causal, scale}, output, logsumexp);
  }
  visit_floating(query.dtype(), "_scaled_dot_product_attention_forward", [&]<typename T>() {
    attend(Attention<T>(query, key, value, attn_mask, is_causal, scale), output, logsumexp);
  });
}

void _scaled_dot_product_attention_backward(const TensorBase& grad_output, const TensorBase& query,
                                            const TensorBase& key, const TensorBase& value, const TensorBase& attn_mask,
                                            bool is_causal, double scale, const TensorBase& output,
                                            const TensorBase& logsumexp, TensorBase& grad_query, TensorBase& grad_key,
                                            TensorBase& grad_value) {
  if (takes_attention(query, key, value)) {
    return attend_backward_by_tensor_cores({query, key, value, attn_mask, is_causal, scale}, grad_output, output,
                                           logsumexp, grad_query, grad_key, grad_value);
  }
  const Gradients to{ContiguousOut(grad_query), ContiguousOut(grad_key), ContiguousOut(grad_value)};
  visit_floating(query.dtype(), "_scaled_dot_product_attention_backward", [&]<typename T>() {
    attend_backward(Attention<T>(query, key, value, attn_mask, is_causal, scale), grad_output, output, logsumexp, to);
  });
}

}  // namespace keyway::inline v1::cuda
