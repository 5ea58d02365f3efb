// _scaled_dot_product_attention_forward: of a block of queries the greatest score so far, the sum of exp(score -
// greatest) and the values weighed by these are kept while blocks of keys go by.
#include <keyway/backends/cpu/attention.h>
#include <keyway/backends/cpu/kernels_attention.h>
#include <keyway/core/dtype/visit_dtype.h>

namespace keyway::inline v1 {

namespace {

using detail::kKeysOfBlock;
using detail::kQueriesOfBlock;

// Scores become weights that are not divided by their sum yet.
template <typename T>
struct WeightRows {
  detail::ScoreBlock<T> block;
  T* greatest;
  T* sum;
  T* weighed;  // `values` a row
  std::int64_t values;
  bool is_first;  // nothing was weighed yet
  std::int64_t begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    T* const s = block.scores + r * block.keys;
    const std::int64_t n = block.prepare(r);
    const T before = greatest[r], here = lane_max<T>(n, [s](std::int64_t i) { return s[i]; });
    const T top = here > before ? here : before;
    const T shift = top == lowest_value<T>() ? T(0) : top;  // nothing seen so far
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) s[i] = decaying_exp(s[i] - shift);
    for (std::int64_t i = n; i < block.keys; ++i) s[i] = 0;
    const T kept = decaying_exp(before - shift);
    greatest[r] = top;
    sum[r] = sum[r] * kept + lane_sum<T>(n, [s](std::int64_t i) { return s[i]; });
    if (kept == 1 || is_first) return;
    T* const o = weighed + r * values;
    for (std::int64_t i = 0; i < values; ++i) o[i] *= kept;
  }
};

// Divides by the sums. A query that sees nothing gets zeros, and infinity as its logarithm, so that all its weights are
// zeros in the gradient too.
template <typename T>
struct ResultRows {
  const T* greatest;
  const T* sum;
  const T* weighed;
  Matrix<T> out;
  T* logsumexp;
  std::int64_t begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    const T total = sum[r];
    const T scale = total == 0 ? T(0) : 1 / total;
    const T* const o = weighed + r * out.columns;
    T* const to = out.at(r, 0);
    if (out.column_stride == 1) {
      for (std::int64_t i = 0; i < out.columns; ++i) to[i] = static_cast<T>(o[i] * scale);
    } else {
      for (std::int64_t i = 0; i < out.columns; ++i) to[i * out.column_stride] = static_cast<T>(o[i] * scale);
    }
    logsumexp[r] = total == 0 ? std::numeric_limits<T>::infinity() : greatest[r] + std::log(total);
  }
};

template <typename T>
struct AttentionForward {
  const TensorBase &query, &key, &value, &mask;
  bool is_causal;
  detail::ScoreScale<T> scale;
  const TensorBase& output;
  T* logsumexp;
  std::int64_t heads = query.sizes()[1], queries = query.sizes()[2], keys = key.sizes()[2];
  std::int64_t width = query.sizes()[3], values = value.sizes()[3];
  std::int64_t shared_by = key.sizes()[1] > 0 ? heads / key.sizes()[1] : 1;
  std::int64_t blocks = (queries + kQueriesOfBlock - 1) / kQueriesOfBlock;

  void run() const {
    const double work = static_cast<double>(std::min(queries, kQueriesOfBlock)) * static_cast<double>(keys) *
                        static_cast<double>(width + values);
    parallel_for(0, query.sizes()[0] * heads * blocks, static_cast<std::int64_t>(1 + kPartWork / (1 + work)),
                 [&](std::int64_t begin, std::int64_t end) {
                   const Buffers buffers(*this);
                   for (std::int64_t x = begin; x < end; ++x) run_block(x / blocks, x % blocks, buffers);
                 });
  }

 private:
  struct Buffers {
    explicit Buffers(const AttentionForward& of)
        : rows(std::min(of.queries, kQueriesOfBlock)),
          columns(std::min(of.keys, kKeysOfBlock)),
          scores(rows * columns),
          scaled_query(rows * of.width),
          weighed(rows * of.values),
          greatest(rows),
          sum(rows) {}
    std::int64_t rows, columns;
    ScratchArray<T> scores, scaled_query, weighed, greatest, sum;
  };

  // Block `block` of the queries of head `of_all`, counted through all examples.
  void run_block(std::int64_t of_all, std::int64_t block, const Buffers& buffers) const {
    const std::int64_t n = of_all / heads, h = of_all % heads, first = block * kQueriesOfBlock;
    const std::int64_t rows = std::min(kQueriesOfBlock, queries - first);
    const auto k = detail::head_of<const T>(key, n, h / shared_by),
               v = detail::head_of<const T>(value, n, h / shared_by);
    const Matrix<const T> q_rows = detail::head_of<const T>(query, n, h).block(first, 0, rows, width);
    const Matrix<const T> q = detail::scaled(q_rows, scale.before, buffers.scaled_query.data());
    const detail::ScoreMask<T> masks(mask, n, h);
    std::fill_n(buffers.greatest.data(), rows, lowest_value<T>());
    std::fill_n(buffers.sum.data(), rows, T(0));
    const Matrix<T> weighed{buffers.weighed.data(), rows, values, values, 1};
    const std::int64_t end = detail::keys_seen(is_causal, first + rows, keys);
    if (end == 0) std::fill_n(weighed.data, rows * values, T(0));
    for (std::int64_t j = 0; j < end; j += kKeysOfBlock) {
      const std::int64_t columns = std::min(kKeysOfBlock, end - j);
      const Matrix<T> scores{buffers.scores.data(), rows, columns, columns, 1};
      gemm(Product<T>{q, k.block(j, 0, columns, width).transposed(), scores, scale.after});
      const detail::ScoreBlock<T> part{scores.data, columns, masks.from(first, j),
                                       detail::first_seen(is_causal, first, j)};
      detail::run_on_this_thread(
          WeightRows<T>{part, buffers.greatest.data(), buffers.sum.data(), weighed.data, values, j == 0}, rows);
      gemm(Product<T>{scores, v.block(j, 0, columns, values), weighed, T(1), j == 0 ? T(0) : T(1), weighed});
    }
    const auto out = detail::head_of<T>(output, n, h).block(first, 0, rows, values);
    detail::run_on_this_thread(ResultRows<T>{buffers.greatest.data(), buffers.sum.data(), weighed.data, out,
                                             logsumexp + of_all * queries + first},
                               rows);
  }
};

}  // namespace

namespace cpu {

void _scaled_dot_product_attention_forward(const TensorBase& query, const TensorBase& key, const TensorBase& value,
                                           const TensorBase& attn_mask, bool is_causal, double scale,
                                           TensorBase& output, TensorBase& logsumexp) {
  const TensorBase q = detail::widened_operand(query), k = detail::widened_operand(key),
                   v = detail::widened_operand(value), mask = detail::widened_operand(attn_mask);
  const detail::WideResult result(output);
  const ContiguousOut logarithms(logsumexp);
  visit_dtype<DtypeSet{kFloat, kDouble}>(q.dtype(), "_scaled_dot_product_attention_forward", [&]<typename T>() {
    AttentionForward<T>{
        q, k, v, mask, is_causal, detail::ScoreScale(static_cast<T>(scale)), result.tensor(), logarithms.data<T>()}
        .run();
  });
  result.finish();
  logarithms.finish();
}

}  // namespace cpu

}  // namespace keyway::inline v1
