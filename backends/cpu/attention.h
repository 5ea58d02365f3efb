// Attention in blocks: scores, and weights, are in memory for some queries and some keys at a time, which stay in a
// cache. Both kernels compute a block by two, or five, matrix products and what stands here between them.
//
// Tri Dao, FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning (2023), algorithms 1 and 2.
#pragma once

#include <keyway/backends/cpu/decaying_exp.h>
#include <keyway/backends/cpu/gemm.h>
#include <keyway/backends/cpu/lanes.h>
#include <keyway/backends/cpu/loop.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/row_loop.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/tensor/tensor_base.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace keyway::inline v1::detail {

// Queries and keys of a block: 256 kB of scores in float32.
inline constexpr std::int64_t kQueriesOfBlock = 128;
inline constexpr std::int64_t kKeysOfBlock = 512;

// The matrix of example n and head h, the last two of four dimensions.
template <typename T>
Matrix<T> head_of(const TensorBase& tensor, std::int64_t n, std::int64_t h) {
  Matrix<T> matrix = matrix_of<T>(tensor);
  matrix.data += n * tensor.strides()[0] + h * tensor.strides()[1];
  return matrix;
}

// Runs all rows of `rows`, a struct as run_rows takes, on this thread.
template <typename Rows>
void run_on_this_thread(Rows rows, std::int64_t count) {
  rows.begin = 0;
  rows.end = count;
  kLoopsOf<RowsBody, Rows>[current_level()](&rows, nullptr, 0);
}

// What attention is computed in: float32 for 16-bit floats, in copies.
inline ScalarType wide_dtype(ScalarType dtype) { return dtype == kDouble ? kDouble : kFloat; }
// Bools, and what is not there, as they are.
inline TensorBase widened_operand(const TensorBase& tensor) {
  if (!tensor.defined() || tensor.dtype() == kBool || tensor.dtype() == wide_dtype(tensor.dtype())) return tensor;
  return contiguous_as(tensor, wide_dtype(tensor.dtype()));
}
// A tensor for a result in that dtype: the result itself, or one that finish() rounds to it.
class WideResult : public operands::ResultBeside<copy_elements> {
 public:
  explicit WideResult(const TensorBase& result)
      : ResultBeside(result, result.dtype() == wide_dtype(result.dtype())
                                 ? result
                                 : make_tensor(result.sizes(), wide_dtype(result.dtype()), result.device())) {}
};

// A scale of scores: queries are scaled before they are multiplied, where it is finite. Infinity times a query is no
// number wherever that has a zero, and so comes after the products.
template <typename T>
struct ScoreScale {
  explicit ScoreScale(T scale)
      : before(std::isfinite(scale) ? scale : T(1)), after(std::isfinite(scale) ? T(1) : scale) {}
  T before, after;
};

// A dense copy of a block, times `factor`.
template <typename T>
Matrix<const T> scaled(const Matrix<const T>& block, T factor, T* to) {
  for (std::int64_t i = 0; i < block.rows; ++i) {
    for (std::int64_t j = 0; j < block.columns; ++j) to[i * block.columns + j] = factor * *block.at(i, j);
  }
  return {to, block.rows, block.columns, block.columns, 1};
}

// What is added to the scores of an example and a head, or which of them count; or nothing.
template <typename T>
struct ScoreMask {
  const char* data = nullptr;  // of T, or of bool
  bool is_bool = false;
  std::int64_t row_stride = 0, column_stride = 0;  // in elements

  ScoreMask() = default;
  // `mask` may be undefined, else it has four dimensions, which are broadcast.
  ScoreMask(const TensorBase& mask, std::int64_t n, std::int64_t h) {
    if (!mask.defined()) return;
    const auto stride = [&](std::size_t d) { return mask.sizes()[d] == 1 ? 0 : mask.strides()[d]; };
    is_bool = mask.dtype() == kBool;
    row_stride = stride(2);
    column_stride = stride(3);
    data = static_cast<const char*>(mask.data_ptr()) + (n * stride(0) + h * stride(1)) * mask.itemsize();
  }

  // The mask of a block that begins there.
  ScoreMask from(std::int64_t query, std::int64_t key) const {
    ScoreMask part = *this;
    const std::int64_t itemsize = is_bool ? 1 : static_cast<std::int64_t>(sizeof(T));
    if (data != nullptr) part.data += (query * row_stride + key * column_stride) * itemsize;
    return part;
  }

  // Applies row r to `n` scores.
  [[gnu::always_inline]] void apply(std::int64_t r, T* scores, std::int64_t n) const {
    if (data == nullptr) return;
    if (column_stride == 1) return apply_steps(r, scores, n, [](std::int64_t i) { return i; });
    apply_steps(r, scores, n, [step = column_stride](std::int64_t i) { return i * step; });
  }

 private:
  template <typename Offset>
  [[gnu::always_inline]] void apply_steps(std::int64_t r, T* scores, std::int64_t n, const Offset& offset) const {
    if (is_bool) {
      const auto* const seen = reinterpret_cast<const std::uint8_t*>(data) + r * row_stride;
      for (std::int64_t i = 0; i < n; ++i) {
        scores[i] = seen[offset(i)] != 0 ? scores[i] : -std::numeric_limits<T>::infinity();
      }
    } else {
      const T* const added = reinterpret_cast<const T*>(data) + r * row_stride;
      for (std::int64_t i = 0; i < n; ++i) scores[i] += added[offset(i)];
    }
  }
};

// Scores of a block, row-major, and which of them count.
template <typename T>
struct ScoreBlock {
  T* scores;
  std::int64_t keys;
  ScoreMask<T> mask;
  std::int64_t first_seen;  // keys that the first query of the block sees, each other one sees one more

  // Masks row r. Returns how many of its scores are to be calculated with: those that count and some more that are
  // unseen, so that loops have few odd elements. The others are to become 0.
  [[gnu::always_inline]] std::int64_t prepare(std::int64_t r) const {
    T* const s = scores + r * keys;
    const std::int64_t n = first_seen == kAll ? keys : std::clamp<std::int64_t>(first_seen + r, 0, keys);
    const std::int64_t end = std::min(keys, (n + kLanes - 1) / kLanes * kLanes);
    mask.apply(r, s, n);
    for (std::int64_t i = n; i < end; ++i) s[i] = lowest_value<T>();
    return end;
  }
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
};

// Where what a query sees ends.
inline std::int64_t first_seen(bool is_causal, std::int64_t query, std::int64_t key) {
  return is_causal ? query + 1 - key : ScoreBlock<float>::kAll;
}
// Keys that some of the queries before `end` see.
inline std::int64_t keys_seen(bool is_causal, std::int64_t end, std::int64_t keys) {
  return is_causal ? std::min(end, keys) : keys;
}

}  // namespace keyway::inline v1::detail
