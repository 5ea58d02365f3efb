// AttentionLaunch: what the kernels of attention by tensor cores are told, and how their work is shared out among
// blocks.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

inline constexpr unsigned kAttentionThreads = 128;
inline constexpr int kAttentionRows = 64;    // queries, or keys, of a block: 16 of each warp
inline constexpr int kAttentionWidth = 128;  // of rows, at most

// A tensor [examples, heads, rows, columns] of dense rows of elements of 16 bits. Strides are in elements.
struct AttentionHeads {
  char* data = nullptr;
  std::int64_t example_stride = 0, head_stride = 0, row_stride = 0;
  bool has_pieces = false;  // all rows are of pieces of 16 bytes, at multiples of these
};

// Whether the elements of a row lie side by side.
bool has_dense_rows(const TensorBase& tensor);
// Requires: it has.
AttentionHeads attention_heads(const TensorBase& tensor);

// What is added to scores, or which of them count; broadcast where a stride is 0. Strides are in elements.
struct AttentionMask {
  enum class Kind : std::uint8_t { None, Bools, Numbers };
  Kind kind = Kind::None;
  const char* data = nullptr;
  std::int64_t strides[4] = {};

  AttentionMask() = default;
  // `mask` may be undefined, else it has four dimensions.
  explicit AttentionMask(const TensorBase& mask);
};

struct AttentionLaunch {
  AttentionHeads query, key, value, output;
  AttentionHeads grad_output, grad_query, grad_key, grad_value;  // of the gradient alone
  AttentionMask mask;
  float* logsumexp = nullptr;       // [examples, heads, queries] in order
  const float* expected = nullptr;  // as many: sums of products of grad_output and output
  int heads = 0, shared_by = 1;     // of queries, and how many of them share one of keys
  int queries = 0, keys = 0, width = 0, values = 0;
  float scale = 1;
  bool is_causal = false;
  std::int64_t examples = 0;

  AttentionLaunch() = default;
  // Of its operands alone, which have dense rows.
  AttentionLaunch(const TensorBase& of_query, const TensorBase& of_key, const TensorBase& of_value,
                  const TensorBase& of_mask, bool causal, double by);

  // Blocks of a launch, each of kAttentionRows queries, or keys, of one head.
  static KEYWAY_HD constexpr int tiles(int rows) { return (rows - 1) / kAttentionRows + 1; }
  unsigned blocks_of_queries() const { return blocks(heads, queries); }
  unsigned blocks_of_keys() const { return blocks(heads / shared_by, keys); }

  // What a block has.
  struct Part {
    std::int64_t example;
    int head, first;  // and from which row
  };
  // Neighbours have the same head, so that they find its rows in the cache. Those that take longest come first: the
  // last queries, or the first keys, of a causal call.
  KEYWAY_HD Part queries_of(unsigned block) const {
    Part part = part_of(block, heads, queries);
    if (is_causal) part.first = (tiles(queries) - 1) * kAttentionRows - part.first;
    return part;
  }
  KEYWAY_HD Part keys_of(unsigned block) const { return part_of(block, heads / shared_by, keys); }

  // Keys that some of the queries of a block see, from the first.
  KEYWAY_HD int keys_seen(int first_query) const {
    const int end = is_causal && first_query < keys - kAttentionRows ? first_query + kAttentionRows : keys;
    return end;
  }
  // The first query that sees some of the keys of a block.
  KEYWAY_HD int first_query(int first_key) const { return is_causal ? first_key : 0; }

 private:
  KEYWAY_HD static Part part_of(unsigned block, int heads, int rows) {
    const auto across = static_cast<unsigned>(tiles(rows));
    const unsigned head = block / across, example = head / static_cast<unsigned>(heads);
    return {example, static_cast<int>(head % static_cast<unsigned>(heads)),
            static_cast<int>(block % across) * kAttentionRows};
  }
  unsigned blocks(int of_heads, int rows) const { return static_cast<unsigned>(examples * of_heads * tiles(rows)); }
};

// Whether the kernels take a call: of 16-bit floats, rows of at most kAttentionWidth, of something, and of no more than
// a launch may have.
bool takes_attention(const TensorBase& query, const TensorBase& key, const TensorBase& value);

}  // namespace keyway::inline v1::cuda
