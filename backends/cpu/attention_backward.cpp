// _scaled_dot_product_attention_backward: weights are computed again, block by block, from scores and the logarithms of
// their sums. With weights P, gradient G of the result O, and dP = G value^T, the gradient of the scores is
// dS = P (dP - sum(G O)), and those of the arguments are scale dS key, scale dS^T query and P^T G.
#include <keyway/backends/cpu/attention.h>
#include <keyway/backends/cpu/kernels_attention.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/core/dtype/visit_dtype.h>

namespace keyway::inline v1 {

namespace {

using detail::kKeysOfBlock;
using detail::kQueriesOfBlock;

// Sums of G O, row by row.
template <typename T>
struct InnerProductRows {
  Matrix<const T> a, b;
  T* out;
  std::int64_t begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    const T *const x = a.at(r, 0), *const y = b.at(r, 0);
    const std::int64_t x_step = a.column_stride, y_step = b.column_stride;
    out[r] = x_step == 1 && y_step == 1
                 ? lane_sum<T>(a.columns, [=](std::int64_t i) { return x[i] * y[i]; })
                 : lane_sum<T>(a.columns, [=](std::int64_t i) { return x[i * x_step] * y[i * y_step]; });
  }
};

// Scores become P, and dP becomes dS. What is not seen has a weight of zero, and gives none of its own, where the
// query sees what is no number too.
template <typename T>
struct GradientRows {
  detail::ScoreBlock<T> block;
  T* gradients;
  const T* logsumexp;
  const T* expected;  // sum(G O)
  T scale;            // of gradients
  std::int64_t begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    T *const p = block.scores + r * block.keys, *const g = gradients + r * block.keys;
    const std::int64_t n = block.prepare(r);
    const T log_sum = logsumexp[r], mean = expected[r];
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) {
      p[i] = p[i] == lowest_value<T>() ? T(0) : given_decaying_exp(p[i] - log_sum);
      g[i] = p[i] == 0 ? T(0) : scale * p[i] * (g[i] - mean);
    }
    for (std::int64_t i = n; i < block.keys; ++i) p[i] = g[i] = 0;
  }
};

// Heads of keys are at work by themselves, each with some blocks of the queries that it serves: as many as make tasks
// for the threads of a large machine, whatever threads there are. What tasks of one head give is added up in order.
template <typename T>
struct AttentionBackward {
  static constexpr std::int64_t kTasks = 32;
  static constexpr std::int64_t kSums = std::int64_t{1} << 24;  // of tasks beyond the first of each head

  const TensorBase &grad, &query, &key, &value, &mask;
  bool is_causal;
  detail::ScoreScale<T> scale;
  const TensorBase& output;
  const T* logsumexp;
  const TensorBase &grad_query, &grad_key, &grad_value;
  std::int64_t examples = query.sizes()[0], heads = query.sizes()[1], served = key.sizes()[1];
  std::int64_t queries = query.sizes()[2], keys = key.sizes()[2];
  std::int64_t width = query.sizes()[3], values = value.sizes()[3];
  std::int64_t shared_by = served > 0 ? heads / served : 0;
  std::int64_t blocks = shared_by * ((queries + kQueriesOfBlock - 1) / kQueriesOfBlock);
  std::int64_t parts = parts_of_head();
  // Of each part, example and head.
  ScratchArray<T> key_sums = ScratchArray<T>(parts * examples * served * keys * width);
  ScratchArray<T> value_sums = ScratchArray<T>(parts * examples * served * keys * values);

  void run() const {
    const double work = static_cast<double>(queries) * static_cast<double>(keys) * static_cast<double>(width + values);
    const auto grain = static_cast<std::int64_t>(1 + kPartWork / (1 + work));
    parallel_for(0, examples * served * parts, grain, [&](std::int64_t begin, std::int64_t end) {
      const Buffers buffers(*this);
      for (std::int64_t x = begin; x < end; ++x) run_part(x / parts, x % parts, buffers);
    });
    const std::int64_t sum_grain = std::max<std::int64_t>(1, kElementGrain / (1 + keys * (width + values) * parts));
    parallel_for(0, examples * served, sum_grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t x = begin; x < end; ++x) {
        write_sum(key_sums, x, detail::head_of<T>(grad_key, x / served, x % served));
        write_sum(value_sums, x, detail::head_of<T>(grad_value, x / served, x % served));
      }
    });
  }

 private:
  struct Buffers {
    explicit Buffers(const AttentionBackward& of)
        : rows(std::min(of.queries, kQueriesOfBlock)),
          columns(std::min(of.keys, kKeysOfBlock)),
          weights(rows * columns),
          gradients(rows * columns),
          scaled_query(rows * of.width),
          grad_query(rows * of.width),
          expected(rows) {}
    std::int64_t rows, columns;
    ScratchArray<T> weights, gradients, scaled_query, grad_query, expected;
  };

  // As many as there are tasks for and blocks, and room for the sums of.
  std::int64_t parts_of_head() const {
    const std::int64_t all = std::max<std::int64_t>(1, examples * served), sums = all * keys * (width + values);
    const std::int64_t most = std::min({kTasks / all, blocks, kSums / std::max<std::int64_t>(1, sums)});
    return std::max<std::int64_t>(1, most);
  }

  Matrix<T> sums_of(const ScratchArray<T>& sums, std::int64_t of_all, std::int64_t part, std::int64_t columns) const {
    return {sums.data() + (of_all * parts + part) * keys * columns, keys, columns, columns, 1};
  }

  // `of_all`: the head of keys, counted through all examples.
  void run_part(std::int64_t of_all, std::int64_t part, const Buffers& buffers) const {
    const Matrix<T> key_sum = sums_of(key_sums, of_all, part, width),
                    value_sum = sums_of(value_sums, of_all, part, values);
    std::fill_n(key_sum.data, keys * width, T(0));
    std::fill_n(value_sum.data, keys * values, T(0));
    const std::int64_t in_head = blocks / std::max<std::int64_t>(1, shared_by);
    for (std::int64_t b = blocks * part / parts; b < blocks * (part + 1) / parts; ++b) {
      const std::int64_t h = of_all % served * shared_by + b / in_head;
      run_block(of_all / served, h, b % in_head * kQueriesOfBlock, key_sum, value_sum, buffers);
    }
  }

  // Queries from `first` of head h.
  void run_block(std::int64_t n, std::int64_t h, std::int64_t first, const Matrix<T>& key_sum,
                 const Matrix<T>& value_sum, const Buffers& buffers) const {
    const std::int64_t rows = std::min(kQueriesOfBlock, queries - first);
    const auto rows_of = [&](const TensorBase& tensor) {
      const Matrix<const T> all = detail::head_of<const T>(tensor, n, h);
      return all.block(first, 0, rows, all.columns);
    };
    const Matrix<const T> q = detail::scaled(rows_of(query), scale.before, buffers.scaled_query.data()),
                          g = rows_of(grad);
    detail::run_on_this_thread(InnerProductRows<T>{g, rows_of(output), buffers.expected.data()}, rows);
    const auto k = detail::head_of<const T>(key, n, h / shared_by),
               v = detail::head_of<const T>(value, n, h / shared_by);
    const detail::ScoreMask<T> masks(mask, n, h);
    const Matrix<T> query_sum{buffers.grad_query.data(), rows, width, width, 1};
    const std::int64_t end = detail::keys_seen(is_causal, first + rows, keys);
    if (end == 0) std::fill_n(query_sum.data, rows * width, T(0));
    for (std::int64_t j = 0; j < end; j += kKeysOfBlock) {
      const std::int64_t columns = std::min(kKeysOfBlock, end - j);
      const Matrix<const T> k_block = k.block(j, 0, columns, width);
      const Matrix<T> p{buffers.weights.data(), rows, columns, columns, 1};
      const Matrix<T> ds{buffers.gradients.data(), rows, columns, columns, 1};
      gemm(Product<T>{q, k_block.transposed(), p, scale.after});
      gemm(Product<T>{g, v.block(j, 0, columns, values).transposed(), ds});
      const detail::ScoreBlock<T> block{p.data, columns, masks.from(first, j), detail::first_seen(is_causal, first, j)};
      const T* const logarithms = logsumexp + (n * heads + h) * queries + first;
      detail::run_on_this_thread(GradientRows<T>{block, ds.data, logarithms, buffers.expected.data(), scale.after},
                                 rows);
      add_product(p.transposed(), g, value_sum.block(j, 0, columns, values));
      gemm(Product<T>{ds, k_block, query_sum, T(1), j == 0 ? T(0) : T(1), query_sum});
      add_product(ds.transposed(), q, key_sum.block(j, 0, columns, width));
    }
    write(query_sum, scale.before, detail::head_of<T>(grad_query, n, h).block(first, 0, rows, width));
  }

  static void add_product(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& to) {
    gemm(Product<T>{a, b, to, T(1), T(1), to});
  }

  static void write(const Matrix<const T>& from, T factor, const Matrix<T>& to) {
    for (std::int64_t i = 0; i < from.rows; ++i) {
      for (std::int64_t j = 0; j < from.columns; ++j) *to.at(i, j) = static_cast<T>(factor * *from.at(i, j));
    }
  }

  void write_sum(const ScratchArray<T>& sums, std::int64_t of_all, const Matrix<T>& to) const {
    const Matrix<T> total = sums_of(sums, of_all, 0, to.columns);
    for (std::int64_t part = 1; part < parts; ++part) {
      const T* const more = sums_of(sums, of_all, part, to.columns).data;
      for (std::int64_t i = 0; i < keys * to.columns; ++i) total.data[i] += more[i];
    }
    write(total, 1, to);
  }
};

}  // namespace

namespace cpu {

void _scaled_dot_product_attention_backward(const TensorBase& grad_output, const TensorBase& query,
                                            const TensorBase& key, const TensorBase& value, const TensorBase& attn_mask,
                                            bool is_causal, double scale, const TensorBase& output,
                                            const TensorBase& logsumexp, TensorBase& grad_query, TensorBase& grad_key,
                                            TensorBase& grad_value) {
  using detail::widened_operand;
  const TensorBase grad = widened_operand(grad_output), q = widened_operand(query), k = widened_operand(key),
                   v = widened_operand(value), mask = widened_operand(attn_mask), result = widened_operand(output);
  const detail::WideResult for_query(grad_query), for_key(grad_key), for_value(grad_value);
  const TensorBase logarithms = contiguous(logsumexp);
  visit_dtype<DtypeSet{kFloat, kDouble}>(q.dtype(), "_scaled_dot_product_attention_backward", [&]<typename T>() {
    AttentionBackward<T>{grad,
                         q,
                         k,
                         v,
                         mask,
                         is_causal,
                         detail::ScoreScale(static_cast<T>(scale)),
                         result,
                         static_cast<const T*>(logarithms.data_ptr()),
                         for_query.tensor(),
                         for_key.tensor(),
                         for_value.tensor()}
        .run();
  });
  for_query.finish();
  for_key.finish();
  for_value.finish();
}

}  // namespace cpu

}  // namespace keyway::inline v1
