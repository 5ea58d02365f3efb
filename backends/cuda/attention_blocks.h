// AttentionBlocks: how attention whose scores are in memory is shared out, so that those of a block at a time have room
// in a given number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace keyway::inline v1::cuda {

// Bytes of what is as large as scores, unless KEYWAY_CUDA_ATTENTION_BYTES in the environment has another number: enough
// that products of a block keep a device busy. No part of what is free: gradients of keys are sums over blocks, and the
// same call is to have the same blocks, and bits.
inline constexpr std::int64_t kAttentionBytes = std::int64_t{1} << 28;

// The number that `text` has, or kAttentionBytes if it is null or empty. Throws if it is no number from 1.
std::int64_t attention_bytes_of(const char* text);
// Of the environment, which is read once.
std::int64_t attention_bytes();

// Queries of a call: of each example for each head of keys, which several heads of queries in a row share.
struct AttentionQueries {
  std::int64_t examples = 0, served = 0, shared_by = 0, queries = 0;
};

// Some of them, which follow each other as they lie in memory: the scores of each of `matrices` heads of keys are a
// matrix of `rows` rows. Either all queries of a head of keys are there, or it is the only one.
struct AttentionBlock {
  struct Part {
    std::int64_t first = 0, count = 0;
  };
  Part examples, served, heads, queries;  // heads of one head of keys
  std::int64_t first_matrix = 0, matrices = 0;
  std::int64_t first_row = 0, rows = 0;
  bool begins = true, ends = true;  // has the first query of its heads of keys, and the last one
};

// Blocks in the order of their rows. They have as many examples as have room; where one has not, as many heads of keys,
// else heads of queries, else queries; and one query at least.
class AttentionBlocks {
 public:
  // `row_bytes`: what a query of a head takes.
  AttentionBlocks(const AttentionQueries& all, std::int64_t row_bytes, std::int64_t bytes);

  std::int64_t count() const;
  AttentionBlock block(std::int64_t number) const;

  // Rows that a block has at most, of all its matrices.
  std::int64_t most_rows() const;
  // Whether several blocks have queries of one head of keys.
  bool split_keys() const { return at_once_[2] < sizes_[2] || at_once_[3] < sizes_[3]; }

 private:
  std::int64_t across(std::size_t d) const;  // blocks

  std::int64_t sizes_[4];    // examples, heads of keys, heads that share one, queries
  std::int64_t at_once_[4];  // of each, 1 at least; 1 where not all of the next are
};

}  // namespace keyway::inline v1::cuda
