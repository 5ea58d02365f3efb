// _scaled_dot_product_attention_forward and its gradient: by tensor cores where they take a call (flash_attention.h),
// else by products of matrices between which a kernel goes through the rows of scores once. There the heads of queries
// that share keys are rows of one matrix, so that each example has one product for each head of keys. Scores are in
// memory for a block of examples, heads or queries at a time (attention_blocks.h), and not from a call to its gradient,
// which computes them again.
#include <keyway/backends/cuda/attention_blocks.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/row_values.cuh>
#include <keyway/backends/cuda/kernels/flash_attention.h>
#include <keyway/backends/cuda/kernels/kernels_attention.h>
#include <keyway/backends/cuda/kernels/multiply.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/top_and_sum.cuh>
#include <keyway/backends/cuda/kernels/zeros.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

// Which scores of a row count, by what they are scaled, and what is added to them. Operands of the rows: products of
// queries and keys, the mask or these again, the row's number among those of the block.
template <typename T>
struct Masking {
  using Kind = AttentionMask::Kind;
  Kind kind;
  bool is_causal;
  Opmath<T> scale;
  std::int64_t first_query, queries;  // of the block, of each head

  __device__ Opmath<T> score(const Row<3>& row, std::int64_t i) const {
    using Acc = Opmath<T>;
    const Acc score = scale * row.at<const Acc>(0, i);
    if (is_causal && i > first_query + row.number(2) % queries) return -std::numeric_limits<Acc>::infinity();
    if (kind == Kind::Numbers) return score + opmath(row.at<const T>(1, i));
    if (kind == Kind::Bools && row.at<const std::uint8_t>(1, i) == 0) return -std::numeric_limits<Acc>::infinity();
    return score;
  }
};

// A query that sees nothing has weights of zero, and infinity as its logarithm.
template <typename T>
struct WeightsOfRow {
  Masking<T> masking;
  T* weights;            // of the block's rows, each as long as a row
  Opmath<T>* logsumexp;  // of each of these

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

  __device__ void operator()(const Row<3>& row) const {
    if (row.n() == 0) return;
    const std::int64_t number = row.number(2), first = number * row.n();
    const Acc log_sum = logsumexp[number], mean = expected[number];
    for (std::int64_t i = row.rank(); i < row.n(); i += row.size()) {
      const Acc score = masking.score(row, i);
      const Acc weight = score == -std::numeric_limits<Acc>::infinity() ? Acc(0) : std::exp(score - log_sum);
      const Acc slope = weight == 0 ? Acc(0) : masking.scale * weight * (grads[first + i] - mean);
      weights[first + i] = static_cast<T>(weight);
      gradients[first + i] = static_cast<T>(slope);
    }
  }
};

// `count` row-major matrices of `memory`, from a row of it.
TensorBase matrices_at(const TensorBase& memory, std::int64_t first_row, std::int64_t count, std::int64_t rows,
                       std::int64_t columns) {
  return make_view(memory, {count, rows, columns}, {rows * columns, columns, 1},
                   memory.storage_offset() + first_row * columns);
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
  std::int64_t shared_by = heads / served;
  Device device = query.device();
  ScalarType dtype = query.dtype(), wide = cpp_type_to_scalar_type<Opmath<T>>;

  // For so many arrays of scores, and as many in T if that is another type.
  AttentionBlocks blocks(std::int64_t arrays) const {
    const std::size_t each = element_size(wide) + (dtype == wide ? 0 : element_size(dtype));
    const std::int64_t row_bytes = arrays * keys * static_cast<std::int64_t>(each);
    return {{examples, served, shared_by, queries}, row_bytes, attention_bytes()};
  }
  // Keys that some queries of a block see. The others are left out: what they hold reaches nothing, nor is it reached.
  std::int64_t seen(const AttentionBlock& block) const {
    return is_causal ? std::min(keys, block.queries.first + block.queries.count) : keys;
  }
  // Memory for an array of the scores of each block.
  TensorBase new_scores(const AttentionBlocks& blocks, ScalarType of) const {
    return make_tensor({blocks.most_rows(), keys}, of, device);
  }

  // Matrices of a block: of memory for scores, of a tensor that has a row for each query, and of one that has it for
  // each key, of which those are taken that are seen.
  TensorBase scores_of(const AttentionBlock& block, const TensorBase& memory) const {
    return matrices_at(memory, 0, block.matrices, block.rows, seen(block));
  }
  TensorBase queries_of(const AttentionBlock& block, const TensorBase& tensor, std::int64_t columns) const {
    return matrices_at(tensor, block.first_row, block.matrices, block.rows, columns);
  }
  TensorBase all_keys_of(const AttentionBlock& block, const TensorBase& tensor, std::int64_t columns) const {
    return matrices_at(tensor, block.first_matrix * keys, block.matrices, keys, columns);
  }
  TensorBase keys_of(const AttentionBlock& block, const TensorBase& tensor, std::int64_t columns) const {
    return seen_of(block, all_keys_of(block, tensor, columns));
  }
  TensorBase seen_of(const AttentionBlock& block, const TensorBase& matrices) const {
    return make_view(matrices, {matrices.sizes()[0], seen(block), matrices.sizes()[2]}, matrices.strides(),
                     matrices.storage_offset());
  }

  // Products of queries and keys. What they are scaled by is no factor of a product: one of 0 would hide what is no
  // number.
  void score(const AttentionBlock& block, const TensorBase& scores) const {
    multiply({queries_of(block, query, width), transposed(keys_of(block, key, width)), scores});
  }

  // Calls f(row_space, masking) for the rows of scores of a block, unless there are none.
  template <typename F>
  void with_rows_of(const AttentionBlock& block, const TensorBase& scores, const F& f) const {
    using Kind = typename Masking<T>::Kind;
    if (block.matrices * block.rows == 0) return;
    const std::int64_t of_heads = block.served.count * block.heads.count, of_queries = block.queries.count;
    const std::int64_t width_of_row = seen(block), of_head = of_queries * width_of_row;
    const DimVector sizes{block.examples.count, of_heads, of_queries, width_of_row};
    const TensorBase all =
        make_view(scores, sizes, {of_heads * of_head, of_head, width_of_row, 1}, scores.storage_offset());
    TensorBase added = all;
    Kind kind = Kind::None;
    if (mask.defined()) {
      kind = mask.dtype() == kBool ? Kind::Bools : Kind::Numbers;
      DimVector strides;
      for (std::size_t d = 0; d < 4; ++d) strides.push_back(mask.sizes()[d] == 1 ? 0 : mask.strides()[d]);
      const std::int64_t head = block.served.first * shared_by + block.heads.first;
      added = make_view(mask, sizes, strides,
                        mask.storage_offset() + block.examples.first * strides[0] + head * strides[1] +
                            block.queries.first * strides[2]);
    }
    RowSpace row_space(sizes, 3);
    const Masking<T> masking{kind, is_causal, static_cast<Opmath<T>>(scale), block.queries.first, of_queries};
    f(row_space.tensor(all).tensor(added).number(), masking);
  }
};

template <typename T>
void attend(const Attention<T>& of, const TensorBase& output, const TensorBase& logsumexp) {
  const ContiguousOut out(output), logarithms(logsumexp);
  const AttentionBlocks blocks = of.blocks(1);
  const TensorBase for_scores = of.new_scores(blocks, of.wide);
  const TensorBase for_weights = of.dtype == of.wide ? for_scores : of.new_scores(blocks, of.dtype);
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    const AttentionBlock block = blocks.block(b);
    const TensorBase scores = of.scores_of(block, for_scores), weights = of.scores_of(block, for_weights);
    of.score(block, scores);
    auto* const log_sums = logarithms.data<Opmath<T>>() + block.first_row;
    of.with_rows_of(block, scores, [&](RowSpace& row_space, const Masking<T>& masking) {
      rows_of_values<3>(row_space, WeightsOfRow<T>{masking, static_cast<T*>(weights.data_ptr()), log_sums}, of.device);
    });
    multiply({weights, of.keys_of(block, of.value, of.values), of.queries_of(block, out.tensor(), of.values)});
  }
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
  RowSpace row_space(grad_output.sizes(), 3);
  row_space.tensor(grad_output).tensor(output).number();
  rows<3>(row_space, ExpectedOfRow<T>{static_cast<Opmath<T>*>(result.data_ptr())}, device);
  return result;
}

// The gradient of keys or of values: the sum of what blocks give. Where several have queries of one head of keys, its
// sum is in memory in the type of sums until it is whole.
template <typename T>
class SumOfBlocks {
 public:
  SumOfBlocks(const Attention<T>& of, const AttentionBlocks& blocks, const TensorBase& out)
      : of_(of), out_(out), columns_(out.sizes()[3]) {
    if (blocks.split_keys() && of.dtype != of.wide) sum_ = make_tensor({1, of.keys, columns_}, of.wide, of.device);
  }

  // Adds the product of a matrix, turned, and another one.
  void add(const AttentionBlock& block, const TensorBase& a, const TensorBase& b) const {
    const TensorBase to = of_.all_keys_of(block, out_, columns_), all = sum_.defined() ? sum_ : to;
    const TensorBase sum = of_.seen_of(block, all);
    if (block.begins && sum.numel() < all.numel()) fill_with_zeros(all);
    if (block.begins) {
      multiply({transposed(a), b, sum});
    } else {
      multiply({transposed(a), b, sum, 1, 1, sum});
    }
    if (sum_.defined() && block.ends) copy_elements(sum_, to);
  }

 private:
  const Attention<T>& of_;
  TensorBase out_, sum_;
  std::int64_t columns_;
};

template <typename T>
void attend_backward(const Attention<T>& of, const TensorBase& grad_output, const TensorBase& output,
                     const TensorBase& logsumexp, const Gradients& to) {
  using Acc = Opmath<T>;
  const TensorBase grad = contiguous(grad_output), logarithms = contiguous(logsumexp);
  const TensorBase expected = expected_of<T>(grad_output, output);
  const AttentionBlocks blocks = of.blocks(2);
  const bool in_place = of.dtype == of.wide;
  const TensorBase for_scores = of.new_scores(blocks, of.wide), for_grads = of.new_scores(blocks, of.wide);
  const TensorBase for_weights = in_place ? for_scores : of.new_scores(blocks, of.dtype);
  const TensorBase for_gradients = in_place ? for_grads : of.new_scores(blocks, of.dtype);
  const SumOfBlocks<T> grad_key(of, blocks, to.key.tensor()), grad_value(of, blocks, to.value.tensor());
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    const AttentionBlock block = blocks.block(b);
    const TensorBase scores = of.scores_of(block, for_scores), grads = of.scores_of(block, for_grads);
    const TensorBase weights = of.scores_of(block, for_weights), gradients = of.scores_of(block, for_gradients);
    const TensorBase g = of.queries_of(block, grad, of.values);
    of.score(block, scores);
    multiply({g, transposed(of.keys_of(block, of.value, of.values)), grads});
    of.with_rows_of(block, scores, [&](const RowSpace& row_space, const Masking<T>& masking) {
      const ScoreGradientsOfRow<T> functor{masking,
                                           static_cast<const Acc*>(logarithms.data_ptr()) + block.first_row,
                                           static_cast<const Acc*>(expected.data_ptr()) + block.first_row,
                                           static_cast<const Acc*>(grads.data_ptr()),
                                           static_cast<T*>(weights.data_ptr()),
                                           static_cast<T*>(gradients.data_ptr())};
      rows<3>(row_space, functor, of.device);
    });
    multiply({gradients, of.keys_of(block, of.key, of.width), of.queries_of(block, to.query.tensor(), of.width)});
    grad_key.add(block, gradients, of.queries_of(block, of.query, of.width));
    grad_value.add(block, weights, g);
  }
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

// A tensor for a result that has dense rows: `out` itself if it does, else one that finish() copies to it.
class DenseRowsOut : public operands::ResultBeside<copy_elements> {
 public:
  explicit DenseRowsOut(const TensorBase& out)
      : ResultBeside(out, has_dense_rows(out) ? out : make_tensor(out.sizes(), out.dtype(), out.device())) {}

  AttentionHeads heads() const { return attention_heads(tensor()); }
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
